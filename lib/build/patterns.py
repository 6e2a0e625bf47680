"""Regular expressions that only Java can judge: which of those in the texts it refuses, and whose texts they are."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from banyan.errors import ExpressionError
from banyan.normal.canonical import Canonical


def bad_patterns(spark: SparkSession, patterns: list[str]) -> frozenset[str]:
    """Those that are no regular expressions to Java. One query if all are good, else by halving."""
    if not patterns:
        return frozenset()
    try:
        frame = spark.createDataFrame([(p,) for p in patterns], "pattern string")
        frame.select(F.expr("'' RLIKE pattern")).collect()
        return frozenset()
    except Exception as error:
        if not is_pattern_error(error):
            raise
        if len(patterns) == 1:
            return frozenset(patterns)
    half = len(patterns) // 2
    return bad_patterns(spark, patterns[:half]) | bad_patterns(spark, patterns[half:])


def is_pattern_error(error: Exception) -> bool:
    """Whether it is Java that refuses a regular expression, and not a full disk or a lost executor.

    Depending on where Spark meets the pattern this is an error of Spark's own or Java's, untranslated.
    """
    told = str(error)
    return "INVALID_PARAMETER_VALUE.PATTERN" in told or "PatternSyntaxException" in told


def refuse_patterns(canonical: Canonical, root: int, bad: frozenset[str], text: str) -> None:
    """Raise ExpressionError if the expression uses a regular expression that Java refuses."""
    for node_id in canonical.below(root, set()):
        predicate = canonical.predicates.get(node_id)
        if predicate is not None and predicate.operator.endswith("rlike") and predicate.operands[0] in bad:
            pattern = predicate.operands[0]
            raise ExpressionError(
                f"{pattern!r} is not a regular expression that Java accepts", text, max(0, text.find(pattern))
            )
