"""What can be wrong with the expressions of an add, found all at once and before anything is written."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.build.parse import COLLISION
from banyan.columns import EXPRESSION, EXPRESSION_ID, RESERVED
from banyan.errors import ArgumentError, RulesError

SHOWN = 20
_ID_TYPES = (T.StringType, T.IntegralType, T.DecimalType, T.DateType)
PROBLEM = "expression_id string, expression string, position int, reason string"


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
    if not isinstance(columns[EXPRESSION_ID], _ID_TYPES):
        raise ArgumentError(
            f"column {EXPRESSION_ID!r} is {columns[EXPRESSION_ID].simpleString()}; "
            "ids are texts, whole numbers, decimals or dates: cast yours"
        )
    taken = [name for name in columns if name.lower() in RESERVED]
    if taken:
        raise ArgumentError(f"column {taken[0]!r} is one of the index's own; rename yours")


def check_id_type(rules: DataFrame, stored: DataFrame) -> None:
    mine, theirs = rules.schema[EXPRESSION_ID].dataType, stored.schema[EXPRESSION_ID].dataType
    if mine != theirs:
        raise ArgumentError(
            f"expression ids of this index are {theirs.simpleString()}, those given are {mine.simpleString()}: "
            f"cast them, df.withColumn('{EXPRESSION_ID}', col('{EXPRESSION_ID}').cast('{theirs.simpleString()}'))"
        )


def problems(parsed: DataFrame, stored: DataFrame) -> DataFrame:
    """(expression_id as text, expression, position, reason) of every row that must not go in. `stored` has the ids."""
    rows = parsed.select(EXPRESSION_ID, EXPRESSION, "position", "reason")
    repeated = (
        rows.groupBy(EXPRESSION_ID).count().where("count > 1").select(EXPRESSION_ID, F.lit(True).alias("repeated"))
    )
    there = stored.select(EXPRESSION_ID, F.lit(True).alias("there"))
    why = (
        F.when(F.col(EXPRESSION_ID).isNull(), F.lit("the expression id is NULL"))
        .when(F.col("reason") != COLLISION, F.col("reason"))
        .when(F.col("repeated"), F.lit("the expression id is given more than once"))
        .when(F.col("there"), F.lit("the expression id is in the index already"))
    )
    return (
        rows.join(repeated, EXPRESSION_ID, "left")
        .join(there, EXPRESSION_ID, "left")
        .withColumn("reason", why)
        .where(F.col("reason").isNotNull())
        .select(F.col(EXPRESSION_ID).cast("string").alias(EXPRESSION_ID), EXPRESSION, "position", "reason")
    )


def refuse(found: DataFrame, total: int) -> None:
    """Raise with the first of them, in the order of their ids."""
    rows = found.orderBy(EXPRESSION_ID, "position").limit(SHOWN).collect()
    lines = [_line(row) for row in rows]
    more = f"\n  ... and {total - len(rows)} more" if total > len(rows) else ""
    raise RulesError(
        f"{total} expression{'s' if total > 1 else ''} cannot go in; nothing was written:\n"
        + "\n".join(lines)
        + more
        + '\nMend them, or add the good ones with on_error="quarantine" (--on-error quarantine).',
        [tuple(row) for row in rows],
        total,
    )


def _line(row: Row) -> str:
    text = row[EXPRESSION] or ""
    at = f" at position {row['position']}" if row["position"] is not None else ""
    start = max(0, (row["position"] or 0) - 30)
    shown = ("..." if start else "") + text[start : start + 60].replace("\n", " ")
    shown += "..." if len(text) > start + 60 else ""
    return f"  {row[EXPRESSION_ID]!s}: {row['reason']}{at}" + (f"\n      {shown}" if text else "")


def bad_patterns(spark: SparkSession, patterns: list[str]) -> frozenset[str]:
    """Those that are no regular expressions to Java. One query if all are good, else by halving."""
    if not patterns:
        return frozenset()
    try:
        frame = spark.createDataFrame([(p,) for p in patterns], "pattern string")
        frame.select(F.expr("'' RLIKE pattern")).collect()
        return frozenset()
    except Exception:  # not PySparkException: an error of Java's in a task comes untranslated
        if len(patterns) == 1:
            return frozenset(patterns)
    half = len(patterns) // 2
    return bad_patterns(spark, patterns[:half]) | bad_patterns(spark, patterns[half:])
