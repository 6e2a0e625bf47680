"""Expected frequencies of predicates, from a sample of events and without one."""

import pytest

from banyan.language.parser import parse
from banyan.language.tree import Predicate
from banyan.normal.canonical import Canonical
from banyan.normal.frequencies import RAREST, Frequencies
from banyan.normal.frequency import of_predicate

# 80% of events have a country, nearly all of them DE or FR; half have an age; nobody has a fax; 40% have tags.
SEEN = Frequencies(
    [
        ("country", "DE", 0.6),
        ("country", "FR", 0.15),
        ("country", None, 0.8),
        *(("age", str(age), 0.05) for age in range(10, 20)),
        ("age", None, 0.5),
        ("fax", None, 0.0),
        ("tags", "new", 0.3),
        ("tags", "sale", 0.3),
        ("tags", None, 0.4),
        ("member", "true", 0.1),
        ("member", "false", 0.9),
        ("member", None, 1.0),
        ("price", "1.50", 0.5),
        ("price", None, 0.5),
        ("day", "2026-01-31", 0.25),
        ("day", "2026-02-01", 0.75),
        ("day", None, 1.0),
    ]
)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("country = 'DE'", 0.6),
        ("country != 'DE'", 0.2),
        ("country = 'IT'", 0.05),  # what is left, and no more than the rarest value that is listed
        ("country IN ('DE', 'FR')", 0.75),
        ("country IS NULL", 0.2),
        ("country IS NOT NULL", 0.8),
        ("country <=> 'DE'", 0.6),
        ("NOT (country <=> 'DE')", 0.4),
        ("country LIKE 'D%'", 0.08),  # the guess for LIKE, of the events that have a country
        ("age < 15", 0.25),
        ("age >= 15", 0.25),
        ("age <= 15.5", 0.3),
        ("age BETWEEN 10 AND 12", 0.15),
        ("age NOT BETWEEN 10 AND 12", 0.35),
        ("age = 12", 0.05),
        ("fax = 1", RAREST),
        ("fax IS NULL", 1.0),
        ("array_contains(tags, 'new')", 0.3),
        ("arrays_overlap(tags, array('new', 'sale'))", 0.4),  # at most those that have tags
        ("member", 0.1),
        ("NOT member", 0.9),
        ("price = 1.5", 0.5),
        ("day < DATE '2026-02-01'", 0.25),
    ],
)
def test_a_sample_tells(text, share):
    canonical = Canonical(frequencies=SEEN)
    assert canonical.frequencies[canonical.add(parse(text))] == pytest.approx(share)


def test_what_no_sample_tells_is_guessed():
    unknown = Predicate("colour", "=", "text", ("red",))
    assert of_predicate(unknown, SEEN) == of_predicate(unknown) == of_predicate(unknown, Frequencies())


def test_the_order_of_the_rows_is_nothing():
    rows = [("a", str(i / 7), 0.1 / 3) for i in range(30)] + [("a", None, 1.0)]
    predicate = parse("a < 2.5")
    assert Frequencies(rows).of(predicate) == Frequencies(rows[::-1]).of(predicate)
