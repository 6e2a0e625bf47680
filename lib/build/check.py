"""What can be wrong with the expressions of an add, found all at once and before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.build.parse import COLLISION, POSITION, REASON
from banyan.columns import EXPRESSION, EXPRESSION_ID, RESERVED
from banyan.errors import ArgumentError, RulesError

SHOWN = 20
_ID_TYPES = (T.StringType, T.IntegralType, T.DecimalType, T.DateType)
REJECTED = "expression_id string, expression string, position int, reason string, rejected_in long"

NULL_ID = "the expression id is NULL"
REPEATED = "the expression id is given more than once"
THERE = "the expression id is in the index already"
NOT_THERE = "there is no expression with this id"


def check_columns(rules: DataFrame) -> None:
    """The columns an add needs, with types it can use."""
    columns = {field.name: field.dataType for field in rules.schema.fields}
    for name in (EXPRESSION_ID, EXPRESSION):
        if name not in columns:
            raise ArgumentError(
                f"the expressions have no column {name!r}; they have {', '.join(columns)}. "
                f"Rename yours: df.withColumnRenamed('...', '{name}')"
            )
    if not isinstance(columns[EXPRESSION], T.StringType):
        raise ArgumentError(f"column {EXPRESSION!r} must be text, not {columns[EXPRESSION].simpleString()}")
    check_id_column(rules)
    taken = [name for name in columns if name.lower() in RESERVED]
    if taken:
        raise ArgumentError(f"column {taken[0]!r} is one of the index's own; rename yours")


def check_id_column(rows: DataFrame) -> None:
    columns = {field.name: field.dataType for field in rows.schema.fields}
    if EXPRESSION_ID not in columns:
        raise ArgumentError(f"there is no column {EXPRESSION_ID!r}; there are {', '.join(columns)}")
    if not isinstance(columns[EXPRESSION_ID], _ID_TYPES):
        raise ArgumentError(
            f"column {EXPRESSION_ID!r} is {columns[EXPRESSION_ID].simpleString()}; "
            "ids are texts, whole numbers, decimals or dates: cast yours"
        )


def ids_frame(spark: SparkSession, ids: Iterable[Any], known: DataFrame) -> DataFrame:
    """Ids given as Python values, as a frame with the type of the index's own."""
    if isinstance(ids, (str, bytes)):
        raise ArgumentError(f"ids are given as a list or a DataFrame, not as {ids!r}: write [{ids!r}]")
    field = known.schema[EXPRESSION_ID]
    try:
        return spark.createDataFrame([(i,) for i in ids], T.StructType([field]))
    except (PySparkTypeError, PySparkValueError) as error:
        raise ArgumentError(f"expression ids of this index are {field.dataType.simpleString()}: {error}") from None


def check_types(rules: DataFrame, stored: DataFrame) -> None:
    """Columns that the index has already keep their types."""
    theirs = {field.name.lower(): field.dataType for field in stored.schema.fields}
    for field in rules.schema.fields:
        there = theirs.get(field.name.lower(), field.dataType)
        if there != field.dataType:
            what = "expression ids" if field.name == EXPRESSION_ID else f"column {field.name!r}"
            raise ArgumentError(
                f"{what} of this index: {there.simpleString()}, those given: {field.dataType.simpleString()}; "
                f"cast them, df.withColumn('{field.name}', col('{field.name}').cast('{there.simpleString()}'))"
            )


def problems(parsed: DataFrame, stored: DataFrame | None, operation: str = "add") -> DataFrame:
    """(expression_id as text, expression, position, reason) of every row that must not go in. `stored` has the ids."""
    rows = parsed.select(EXPRESSION_ID, EXPRESSION, F.col(POSITION).alias("position"), F.col(REASON).alias("reason"))
    repeated = (
        rows.groupBy(EXPRESSION_ID).count().where("count > 1").select(EXPRESSION_ID, F.lit(True).alias("repeated"))
    )
    rows = rows.join(repeated, EXPRESSION_ID, "left")
    why = (
        F.when(F.col(EXPRESSION_ID).isNull(), F.lit(NULL_ID))
        .when(F.col("reason") != COLLISION, F.col("reason"))
        .when(F.col("repeated"), F.lit(REPEATED))
    )
    if stored is not None and operation == "add":
        rows = rows.join(stored.select(EXPRESSION_ID, F.lit(True).alias("there")), EXPRESSION_ID, "left")
        why = why.when(F.col("there"), F.lit(THERE))
    return _told(rows.withColumn("reason", why).where(F.col("reason").isNotNull()))


def unknown(ids: DataFrame, stored: DataFrame, missing: str) -> DataFrame:
    """The same for ids that are to be removed."""
    if missing == "ignore":
        bad = ids.where(F.col(EXPRESSION_ID).isNull())
    else:
        bad = ids.join(stored.select(EXPRESSION_ID), EXPRESSION_ID, "left_anti")
    why = F.when(F.col(EXPRESSION_ID).isNull(), F.lit(NULL_ID)).otherwise(F.lit(NOT_THERE))
    text, position = F.lit(None).cast("string"), F.lit(None).cast("int")
    return _told(bad.select(EXPRESSION_ID, text.alias(EXPRESSION), position.alias("position"), why.alias("reason")))


def _told(rows: DataFrame) -> DataFrame:
    return rows.select(F.col(EXPRESSION_ID).cast("string").alias(EXPRESSION_ID), EXPRESSION, "position", "reason")


def first(found: DataFrame) -> list[tuple]:
    """The first of them, in the order of their ids."""
    return [tuple(row) for row in found.orderBy(EXPRESSION_ID, "position").limit(SHOWN).collect()]


def refuse(rows: Sequence[tuple], total: int, operation: str) -> None:
    """Raise with the first of them. rows: (expression_id as text, expression, position, reason)."""
    several = "s" if total > 1 else ""
    more = f"\n  ... and {total - len(rows)} more" if total > len(rows) else ""
    if operation == "remove":
        title = f"{total} id{several} cannot be removed; nothing was written:\n"
        remedy = '\nLeave them out, or pass over what is not there with missing="ignore" (--missing ignore).'
    else:
        title = f"{total} expression{several} cannot go in; nothing was written:\n"
        remedy = f'\nMend them, or {operation} the good ones with on_error="quarantine" (--on-error quarantine).'
    raise RulesError(title + "\n".join(_line(*row) for row in rows) + more + remedy, list(rows), total)


def _line(expression_id: str | None, text: str | None, position: int | None, reason: str) -> str:
    text = text or ""
    at = f" at position {position}" if position is not None else ""
    start = max(0, (position or 0) - 30)
    shown = ("..." if start else "") + text[start : start + 60].replace("\n", " ")
    shown += "..." if len(text) > start + 60 else ""
    named = "NULL" if expression_id is None else expression_id
    return f"  {named}: {reason}{at}" + (f"\n      {shown}" if text else "")
