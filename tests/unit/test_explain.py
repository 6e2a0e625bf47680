"""Explanations: what is printed for an expression and an event, with casts that are made up."""

from __future__ import annotations

import datetime

import pytest

from banyan.errors import EventsError
from banyan.explain.event import Exact, event_of, values_of
from banyan.explain.why import why
from banyan.language.evaluate import Single
from banyan.language.parser import parse


class NoCasts:
    """Every cast fails; no pattern is found."""

    def cast(self, value, target):
        return None

    def rlike(self, value, pattern):
        return False

    ilike = rlike


def told(text: str, event: dict, case_sensitive: bool = False) -> str:
    return why(parse(text), event, NoCasts(), case_sensitive)


def test_the_whole_of_one():
    event = {"dep_delay": 47, "carrier": "UA", "month": 1}
    assert told("dep_delay > 30 AND (carrier IN ('UA', 'AA') OR NOT (month = 2)) AND dep_time IS NULL", event) == (
        "true: the event matches\n"
        "  true       AND\n"
        "  true         dep_delay > 30             dep_delay = 47\n"
        "  true         OR\n"
        "  true           carrier IN ('AA', 'UA')  carrier = 'UA'\n"
        "  true           NOT\n"
        "  false            month = 2              month = 1\n"
        "  true         dep_time IS NULL           dep_time is absent"
    )


@pytest.mark.parametrize(
    "text, event, first",
    [
        ("a = 1", {"a": 1}, "true: the event matches"),
        ("a = 1", {"a": 2}, "false: the event does not match"),
        ("a = 1", {}, "undefined: the event does not match (an attribute is absent)"),
        ("a = 1", {"a": None}, "undefined: the event does not match (an attribute is absent)"),
        ("a = 1", {"a": "x"}, "undefined: the event does not match (the value cannot be compared)"),
        ("array_contains(a, 1)", {"a": [2, None]}, "undefined: the event does not match (the list has a NULL in it)"),
        ("NULL", {}, "undefined: the event does not match (NULL)"),
        ("a = 1 XOR b = 1", {"a": 1, "b": 2}, "true: the event matches"),
        ("a = 1 XNOR b = 1", {"a": 1}, "undefined: the event does not match (an attribute is absent)"),
    ],
)
def test_the_first_line(text, event, first):
    assert told(text, event).splitlines()[0] == first


@pytest.mark.parametrize(
    "text, event, line",
    [
        ("a > 1.50", {"a": 2.5}, "a > 1.5  a = 2.5"),
        ("a = 'it''s'", {"a": "it's"}, r"a = 'it\'s'  a = 'it\'s'"),
        ("flag", {"flag": True}, "flag  flag = TRUE"),
        ("array_contains(a, 1)", {"a": [1, None, "x"]}, "array_contains(a, 1)  a = [1, NULL, 'x']"),
        ("a = 'x'", {"a": "y" * 1000}, "a = 'x'  a = '" + "y" * 57 + "...'"),
        ("a = 1", {"a": "x"}, "a = 1  a = 'x'  (the value cannot be compared)"),
    ],
)
def test_the_line_of_a_predicate(text, event, line):
    assert told(text, event).splitlines()[1].split(maxsplit=1)[1] == line


def test_long_lists_are_shortened():
    text = told(f"a IN ({', '.join(map(str, range(10_000)))})", {"a": 3})
    assert "a IN (0, 1, 2, 3, 4, 5, 6, 7, ... 9,992 more)  a = 3" in text
    text = told(f"arrays_overlap(a, array({', '.join(map(str, range(20)))}))", {"a": [3]})
    assert ", ... 12 more))  a = [3]" in text


def test_of_many_operands_those_that_decided_are_shown():
    lines = told(" AND ".join(f"a > {i}" for i in range(300)), {"a": 147}).splitlines()
    assert len(lines) == 13
    assert lines[2].split() == ["false", "a", ">", "147", "a", "=", "147"]
    assert lines[-1].strip() == "... and 290 more: 147 true, 143 false"


def test_a_thousand_levels_do_not_exhaust_the_stack():
    text = told("NOT (a = 1 AND " * 500 + "TRUE" + ")" * 500, {"a": 1})
    assert "[level 999]" in text
    assert max(map(len, text.splitlines())) < 120


def test_attributes_are_found_as_matching_finds_them():
    event = {"Age": 1, "user": {"Name": "Ann"}, "tags": Exact({"A": 2}), "items": [{"Price": 3}, None], "a.b": 4}
    names = ["age", "user.name", "tags.a", "tags.A", "items.price", "`a.b`", "user.name.x", "nobody"]
    assert list(values_of(event, names, False).values()) == [1, "Ann", None, 2, [3, None], 4, None, None]
    assert values_of(event, ["age", "Age", "user.name"], True) == {"age": None, "Age": 1, "user.name": "Ann"}


def test_two_attributes_that_differ_by_case_are_refused():
    with pytest.raises(EventsError, match="several values for 'age': Age, AGE"):
        values_of({"Age": 1, "AGE": 2}, ["age"], False)


def test_a_row_of_spark_keeps_its_types():
    types = pytest.importorskip("pyspark.sql.types")
    schema = types.StructType(
        [
            types.StructField("small", types.FloatType()),
            types.StructField("at", types.TimestampType()),
            types.StructField("wall", types.TimestampNTZType()),
            types.StructField("map", types.MapType(types.StringType(), types.FloatType())),
            types.StructField("of", types.ArrayType(types.StructType([types.StructField("x", types.FloatType())]))),
        ]
    )
    moment = datetime.datetime(2024, 1, 1, 12)
    event = event_of(types.Row(0.5, moment, moment, {"k": 0.5}, [types.Row(0.5)]), schema)
    assert type(event["small"]) is Single
    assert event["at"].tzinfo is datetime.timezone.utc and event["at"] == moment.astimezone()
    assert event["wall"] == moment and event["wall"].tzinfo is None
    assert type(event["map"]) is Exact and type(event["map"]["k"]) is Single
    assert type(event["of"][0]["x"]) is Single
