"""The comparison tables, made again from Spark's own analysed plans: one cell, one assertion per operator."""

from __future__ import annotations

import re

import pytest

from banyan.language.comparison import COMPARISON, HOLDS_KINDS, KINDS, LIKE_KINDS, LIST_COMPARISON
from banyan.language.tree import FAMILIES

pytestmark = pytest.mark.classic("asks Spark's analyser itself, in the JVM")

COLUMNS = {
    "integer": ("TINYINT", "SMALLINT", "INT", "BIGINT"),
    "decimal": ("DECIMAL(10,2)", "DECIMAL(38,0)"),
    "double": ("FLOAT", "DOUBLE"),
    "text": ("STRING",),
    "boolean": ("BOOLEAN",),
    "date": ("DATE",),
    "timestamp": ("TIMESTAMP",),
    "timestamp_ntz": ("TIMESTAMP_NTZ",),
    "list": ("ARRAY<INT>", "ARRAY<STRING>"),
    "other": ("STRUCT<x: INT>", "MAP<STRING, INT>", "VARIANT", "INTERVAL DAY TO SECOND"),
}
# Only bytes are compared with text by Spark and not by us: see the departures in comparison.py.
LITERALS = {
    "integer": ("5", "5000000000", "5S"),
    "decimal": ("1.5", "7.25BD"),
    "double": ("1.5D", "1e3", "1.5F"),
    "text": ("'5'",),
    "boolean": ("TRUE",),
    "date": ("DATE '2024-01-31'",),
    "timestamp": ("TIMESTAMP '2024-01-31 10:00:00'",),
}
FORMS = {
    "=": "c = {0}",
    "<": "c < {0}",
    "mirrored": "{0} >= c",
    "<=>": "c <=> {0}",
    # What Spark makes of BETWEEN, which its analysed plan hides: each bound is coerced by itself.
    "between": "c >= {0} AND c <= {0}",
    "in": "c IN ({0}, {0})",
}
# The literal stands beside the list: (array<int>, int).
LIST_FORMS = {"contains": "array_contains(c, {0})", "overlap": "arrays_overlap(c, array({0}, NULL))"}


def analysed(spark, column: str, expressions: list[str]) -> list:
    """Each expression over a column c of that type as Spark's analyser leaves it, None where it refuses the types.

    The analyser itself, without the check that turns a refusal into an exception: one plan for all of a column's cells.
    """
    spark.createDataFrame([], f"c {column}").createOrReplaceTempView("comparison_table")
    state = spark._jsparkSession.sessionState()
    select = ", ".join(f"({expression}) AS x" for expression in expressions)
    plan = state.analyzer().execute(state.sqlParser().parsePlan(f"SELECT {select} FROM comparison_table"))
    nodes = [plan.projectList().apply(n) for n in range(len(expressions))]
    return [node if node.resolved() else None for node in nodes]


def types_compared(node) -> set[str]:
    """The types of both sides of the first comparison in an expression."""
    pending = [node]
    while pending:
        node = pending.pop(0)
        children = [node.children().apply(n) for n in range(node.children().size())]
        if node.nodeName() in _COMPARES:
            return {child.dataType().simpleString() for child in children}
        pending += children
    raise AssertionError("no comparison")


_COMPARES = {
    *("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "In"),
    *("ArrayContains", "ArraysOverlap"),
}


def comparison_of(types: set[str]) -> str:
    """The type both sides were cast to, in our words."""
    types = {re.sub(r"^array<(.*)>$", r"\1", name) for name in types}
    assert len(types) == 1, types
    (name,) = types
    if name in ("tinyint", "smallint", "int", "bigint"):
        return "integer"
    if name in ("float", "double"):
        return "double"
    return "decimal" if name.startswith("decimal") else {"string": "text"}.get(name, name)


def comparisons(spark, column: str, forms: dict[str, str]) -> dict[tuple[str, str, str], str | None]:
    """(form, family, literal) -> what Spark compares the column and the literal as."""
    cells = [(name, family, literal) for name in forms for family in FAMILIES for literal in LITERALS[family]]
    nodes = analysed(spark, column, [forms[name].format(literal) for name, _, literal in cells])
    return {cell: node and comparison_of(types_compared(node)) for cell, node in zip(cells, nodes, strict=True)}


@pytest.mark.parametrize("kind", KINDS)
def test_comparison(spark, kind):
    for column in COLUMNS[kind]:
        for (name, family, literal), found in comparisons(spark, column, FORMS).items():
            expected = COMPARISON.get((kind, family))
            # An order between whole numbers and 1.5 is asked of whole numbers, with the bound moved.
            if (kind, family) == ("integer", "decimal") and name not in ("=", "<=>", "in"):
                expected = "integer"
            assert found == expected, (column, name, literal)


@pytest.mark.parametrize("kind", KINDS)
def test_list_comparison(spark, kind):
    for column in COLUMNS[kind]:
        for (name, family, literal), found in comparisons(spark, f"ARRAY<{column}>", LIST_FORMS).items():
            if name == "overlap" and found is None and "decimal" in (kind, family):
                continue  # Spark's refusal depends on the number of digits: a departure.
            assert found == LIST_COMPARISON.get((kind, family)), (column, name, literal)


@pytest.mark.parametrize("kind", KINDS)
def test_patterns_and_bare_attributes(spark, kind):
    patterns = [f"c {operator} 'a'" for operator in ("LIKE", "ILIKE", "RLIKE")]
    bare = ["NOT c", "c AND TRUE", "c OR FALSE", "c IS TRUE", "c IS NOT FALSE"]
    for column in COLUMNS[kind]:
        if column in ("VARIANT", "INTERVAL DAY TO SECOND"):
            continue  # A variant is seen as the scalar it holds; an interval is of no kind we compare.
        accepted = [node is not None for node in analysed(spark, column, patterns + bare)]
        assert accepted == [kind in LIKE_KINDS] * len(patterns) + [kind in HOLDS_KINDS] * len(bare), column


def test_departures_are_still_needed(spark):
    """What Spark does where we stay exact. If one of these fails, a departure can go."""
    row = spark.sql(
        """SELECT CAST(2 AS DECIMAL(38,0)) = 1.5BD AS rounds_the_literal,
                  i < 1e30BD AS true_of_null,
                  array_contains(array(CAST(16777216 AS FLOAT)), 16777217) AS as_float
           FROM VALUES (CAST(NULL AS INT)) AS t(i)"""
    ).first()
    assert tuple(row) == (True, True, True)
