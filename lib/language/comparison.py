"""The type in which an attribute's value and a literal meet.

In: the kind of the value (what the event holds) and the family of the literal (how it was written).
Out: one of `COMPARISONS`; no entry means that Spark refuses the two types, and then the value acts as NULL for
that predicate. Regenerated from Spark's own analysed plans by tests/spark/test_comparison_table.py.

The same entry holds for `=`, `<`, `<=>`, BETWEEN and IN: Spark's plans agree where all literals are of one family.
The side that is not of type C yet is cast to C, value or literal; a cast that fails gives NULL.
"""

from __future__ import annotations

KINDS = ("integer", "decimal", "double", "text", "boolean", "date", "timestamp", "timestamp_ntz", "list", "other")
COMPARISONS = ("integer", "decimal", "double", "text", "boolean", "date", "timestamp", "timestamp_ntz")

# Departures, all towards the exact answer:
# - decimal: Spark widens both sides to one decimal type of at most 38 digits, and rounds what does not fit
#   (`decimal(38,0) = 1.5` is tested as `= 2`; `cast(v as decimal(38,0))` of the literal). We compare exactly.
# - integer x decimal beyond bigint: Spark folds `bigint < 1e30BD` to TRUE before it looks at the value, NULLs
#   included. We keep NULL undefined.
# - date or timestamp x 'today', 'now', ...: Spark puts the moment of the query in place of such a text literal. Here it
#   is no date, as it is none in a column: an expression means the same every day.
# - binary x text: Spark compares the bytes. Binary is of kind 'other' here and is never compared.
COMPARISON: dict[tuple[str, str], str] = {
    ("integer", "integer"): "integer",
    ("integer", "decimal"): "decimal",
    ("integer", "double"): "double",
    ("integer", "text"): "integer",
    ("decimal", "integer"): "decimal",
    ("decimal", "decimal"): "decimal",
    ("decimal", "double"): "double",
    ("decimal", "text"): "double",
    ("double", "integer"): "double",
    ("double", "decimal"): "double",
    ("double", "double"): "double",
    ("double", "text"): "double",
    ("text", "integer"): "integer",
    ("text", "decimal"): "double",
    ("text", "double"): "double",
    ("text", "text"): "text",
    ("text", "boolean"): "boolean",
    ("text", "date"): "date",
    ("text", "timestamp"): "timestamp",
    ("boolean", "text"): "boolean",
    ("boolean", "boolean"): "boolean",
    ("date", "text"): "date",
    ("date", "date"): "date",
    ("date", "timestamp"): "timestamp",
    ("timestamp", "text"): "timestamp",
    ("timestamp", "date"): "timestamp",
    ("timestamp", "timestamp"): "timestamp",
    # A literal without a zone of its own stays one; only a TIMESTAMP literal, an instant, draws the value to instants.
    ("timestamp_ntz", "text"): "timestamp_ntz",
    ("timestamp_ntz", "date"): "timestamp_ntz",
    ("timestamp_ntz", "timestamp"): "timestamp",
}

# `array_contains` and `arrays_overlap`: kind of an element x family of the literal. Spark casts no texts here.
# An element that cannot be compared with the literal acts as a NULL element, so lists of mixed kinds (in a
# variant) and lists declared of another type follow one rule, and an empty list contains nothing, whatever its type.
# Departures:
# - Spark refuses `arrays_overlap` on decimals of another precision than the literals', and on a mix of decimals
#   with other numbers; we compare as `array_contains` does, since a literal here has a family and no precision.
# - Spark casts an integer literal to float for a list of floats (16777217 is found in a list with 16777216.0), and a
#   list of integers to float for a literal such as 1.5F; we compare both as doubles, as Spark does for scalars.
LIST_COMPARISON: dict[tuple[str, str], str] = {
    ("integer", "integer"): "integer",
    ("integer", "decimal"): "decimal",
    ("integer", "double"): "double",
    ("decimal", "integer"): "decimal",
    ("decimal", "decimal"): "decimal",
    ("decimal", "double"): "double",
    ("double", "integer"): "double",
    ("double", "decimal"): "double",
    ("double", "double"): "double",
    ("text", "text"): "text",
    ("boolean", "boolean"): "boolean",
    ("date", "date"): "date",
    ("date", "timestamp"): "timestamp",
    ("timestamp", "date"): "timestamp",
    ("timestamp", "timestamp"): "timestamp",
    ("timestamp_ntz", "date"): "timestamp_ntz",
    ("timestamp_ntz", "timestamp"): "timestamp",
}

# LIKE, ILIKE and RLIKE see the value as Spark casts it to a string: 1.0 as '1.0', a decimal with its scale,
# a timestamp in the time zone of the index. (Departure: binary is of kind 'other', and undefined.)
LIKE_KINDS = frozenset({"integer", "decimal", "double", "text", "boolean", "date", "timestamp", "timestamp_ntz"})

# A bare attribute: Spark takes text under NOT, AND, OR and IS TRUE (as a cast to boolean) and refuses it only as the
# whole WHERE clause. We take it everywhere (departure), so that an expression means the same wherever it stands.
HOLDS_KINDS = frozenset({"boolean", "text"})
