"""Rules as people have them: their columns under the names an index wants, JSON trees as text.

In: any frame with an id and an expression per row. Out: the same rows with `expression_id`, `expression` (text) and
whatever else they had.
"""

from __future__ import annotations

import difflib

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.columns import EXPRESSION, EXPRESSION_ID
from banyan.errors import ArgumentError


def as_rules(rows: DataFrame, id: str, expression: str, name: str) -> DataFrame:
    """Rows as rules. A JSON tree may be text, a VARIANT or a struct; it goes on as its text."""
    for column, target, option in ((id, EXPRESSION_ID, "--id"), (expression, EXPRESSION, "--expression")):
        check_column(rows, column, name, option)
        if column != target and target in rows.columns:
            raise ArgumentError(f"{name} has a column {target} beside {column}; rename one of them")
    rows = rows.withColumnsRenamed({id: EXPRESSION_ID, expression: EXPRESSION})
    if isinstance(rows.schema[EXPRESSION].dataType, (T.VariantType, T.StructType, T.MapType)):
        rows = rows.withColumn(EXPRESSION, F.to_json(EXPRESSION))
    return rows


def check_column(frame: DataFrame, column: str, name: str, option: str) -> None:
    """Raises if the rows have no such column; names the nearest, and the option that would name another."""
    if column in frame.columns:
        return
    near = difflib.get_close_matches(column.lower(), [one.lower() for one in frame.columns], 1)
    hint = next((f"; did you mean {one}?" for one in frame.columns if near and one.lower() == near[0]), "")
    shown = ", ".join(frame.columns[:20]) + (", ..." if len(frame.columns) > 20 else "")
    raise ArgumentError(f"{name} has no column {column!r}{hint}\n  It has {shown}; {option} names another one.")
