"""Tree to text: what is written is read back to the same tree."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banyan.language.attributes import attribute_text
from banyan.language.literals import Refused, decimal_text
from banyan.language.parser import parse
from banyan.language.patterns import like_pattern
from banyan.language.render import predicate_sql, tree_sql
from banyan.language.settings import Settings
from banyan.language.tree import INVERSE, And, Constant, Not, Or, Predicate, Xnor, Xor

WRITTEN = [
    (Predicate("a", "=", "integer", ("1",)), "a = 1"),
    (Predicate("in", "!=", "decimal", ("1.5",)), "`in` != 1.5BD"),
    (Predicate("date.x", "<", "double", ("1000.0",)), "`date`.x < 1000.0D"),
    (Predicate("a", "not <=>", "boolean", ("true",)), "a IS DISTINCT FROM TRUE"),
    (Predicate("a", "holds", "boolean", ()), "a"),
    (Predicate("a", "fails", "boolean", ()), "NOT a"),
    (Predicate("a", "is not null", "", ()), "a IS NOT NULL"),
    (Predicate("a", "not in", "text", ("it's", "\n\0\\")), r"a NOT IN ('it\'s', '\n\u0000\\')"),
    (Predicate("a", "=", "text", ("${x}$",)), r"a = '\u0024{x}$'"),
    (
        Predicate("a", "between", "date", ("2024-01-01", "2024-02-01")),
        "a BETWEEN DATE '2024-01-01' AND DATE '2024-02-01'",
    ),
    (
        Predicate("a", ">", "timestamp", ("2024-01-01T00:00:00.000000Z",)),
        "a > TIMESTAMP '2024-01-01T00:00:00.000000Z'",
    ),
    (Predicate("a", "not arrays_overlap", "integer", ("1", None)), "NOT arrays_overlap(a, array(1, NULL))"),
]


@pytest.mark.parametrize("predicate, text", WRITTEN)
def test_written(predicate, text):
    assert predicate_sql(predicate) == text


@pytest.mark.parametrize(
    "text, spark",
    [
        ("a XOR b", "((a) <> (b))"),
        ("a XNOR NOT b", "((a) = (NOT b))"),
        ("(a OR b) XOR c AND d", "((a OR b) <> (c AND d))"),
        ("a XOR b XOR c", "((((a) <> (b))) <> (c))"),
        ("NOT (a XOR b) OR c", "NOT (((a) <> (b))) OR c"),
    ],
)
def test_xor_for_spark(text, spark):
    assert tree_sql(parse(text), xor="spark") == spark


# -- round trip ------------------------------------------------------------------------------------------------


def is_pattern(text):
    try:
        return like_pattern(text) is not None
    except Refused:
        return False


LITERALS = {
    "integer": st.integers(-(2**63), 2**63 - 1).map(str),
    "decimal": st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-(10**20), max_value=10**20).map(
        decimal_text
    ),
    "double": st.floats(allow_nan=False, allow_infinity=False).map(lambda value: repr(value) if value else "0.0"),
    "text": st.text(),
    "boolean": st.sampled_from(["true", "false"]),
    "date": st.dates(date(1, 1, 1)).map(date.isoformat),
    "timestamp": st.datetimes(datetime(1, 1, 1)).map(lambda t: t.isoformat(timespec="microseconds") + "Z"),
}
ORDER = {"integer": int, "double": float, "decimal": Decimal}
NAMES = st.lists(
    st.text(min_size=1) | st.sampled_from("a age IN date Timestamp case array_contains r 1a 1e3 null".split()),
    min_size=1,
    max_size=3,
).map(attribute_text)


@st.composite
def predicates(draw):
    name = draw(NAMES)
    operator = draw(st.sampled_from(sorted(set(INVERSE) - {"fails", "not array_contains", "not arrays_overlap"})))
    if operator in ("is null", "is not null"):
        return Predicate(name, operator, "", ())
    if operator == "holds":
        return Predicate(name, operator, "boolean", ())
    if operator.endswith("like"):
        texts = st.text() if operator.endswith("rlike") else st.text("ab%_\\'\n").filter(is_pattern)
        return Predicate(name, operator, "text", (draw(texts),))
    family = draw(st.sampled_from(sorted(LITERALS)))
    several = operator.endswith(("in", "between", "arrays_overlap"))
    size = (2 if operator != "arrays_overlap" else 1, 2 if "between" in operator else 5) if several else (1, 1)
    if family == "boolean" and several:
        size = (size[0], 2)
    operands = draw(st.lists(LITERALS[family], min_size=size[0], max_size=size[1], unique=True))
    if "between" not in operator:
        operands.sort(key=ORDER.get(family))
    if operator == "arrays_overlap" and draw(st.booleans()):
        operands.append(None)
    return Predicate(name, operator, family, tuple(operands))


def nodes(children):
    several = st.lists(children, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        st.builds(Not, children),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Xor, children, children),
        st.builds(Xnor, children, children),
    )


TREES = st.recursive(predicates() | st.builds(Constant, st.sampled_from([True, False, None])), nodes, max_leaves=12)


@settings(max_examples=400, deadline=None)
@given(TREES)
def test_round_trip(tree):
    assert parse(tree_sql(tree), Settings(case_sensitive=True)) == tree


@pytest.mark.parametrize("make", [Not, lambda t: And((Constant(True), t)), lambda t: Xor(t, Constant(True))])
def test_deep_trees_are_written(make):
    tree = Constant(False)
    for level in range(999):
        tree = make(tree) if level % 2 or make is Not else Or((tree, Constant(None)))
    text = tree_sql(tree)
    assert tree_sql(parse(text, Settings(max_depth=2000))) == text
    assert tree_sql(tree, xor="spark").count("(") == tree_sql(tree, xor="spark").count(")")


def test_doubles_at_the_edge():
    for value in (5e-324, math.nextafter(math.inf, 0), 2.2250738585072014e-308):
        tree = Predicate("a", "=", "double", (repr(value),))
        assert parse(predicate_sql(tree)) == tree
