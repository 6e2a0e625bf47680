"""A version of an index made ready for matching: its nodes spread over rounds and buckets.

Made once per version and `where`, kept by the index, used by every batch. Parents are spread over buckets by their id.
Three kinds of rounds: nodes with parents are evaluated level by level; the few that stand highest, where only few edges
are left, together (the *tail*); those without parents all in the last round, where their sets are counted or unfolded
and never sent on. Each bucket holds its own edges and predicates, nobody holds all.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.columns import EXPRESSION, EXPRESSION_ID
from banyan.language.comparison import COMPARISON, LIST_COMPARISON
from banyan.match.buckets import CARRIED, EDGE, LEAF, WANTED, packer
from banyan.match.prune import needed
from banyan.packed import PACKED, bucket_keys
from banyan.store.materialise import Scratch

# Edges below which the remaining levels are evaluated in one round by one worker.
TAIL = 100_000


class Plan(NamedTuple):
    """buckets: packed tables by (round, to); keys: the values of `to`; rounds: the names of all but the last."""

    attributes: dict[str, int]
    patterns: DataFrame | None
    types: set[str]
    keys: list[int]
    rounds: list[str]
    with_leaves: set[int]
    buckets: DataFrame
    expressions: DataFrame
    edge_count: int


def make(
    scratch: Scratch,
    tables: dict[str, DataFrame],
    where: str | Column | None,
    keep: list[str],
    bucket_count: int,
    tail: int = TAIL,
) -> Plan:
    expressions = tables["expressions"]
    if where is not None:
        expressions = expressions.where(where)
    expressions = expressions.select("node_id", EXPRESSION_ID, *keep)
    predicates, edges = tables["predicates"], tables["edges"]
    if where is not None:
        expressions = scratch.keep(expressions)
        ids = needed(scratch, expressions.select("node_id").distinct(), edges)
        edges = edges.join(ids.withColumnRenamed("node_id", "parent_id"), "parent_id", "left_semi")
        predicates = predicates.join(ids, "node_id", "left_semi")
    keys = bucket_keys(bucket_count)

    used = (
        predicates.groupBy("attribute")
        .agg(F.count("*").alias("count"), F.collect_set("family").alias("families"), F.max(_is_pattern()).alias("like"))
        .orderBy("attribute")
        .collect()
    )
    attributes = {row["attribute"]: number for number, row in enumerate(used)}
    types = meetings({family for row in used for family in row["families"]})
    leaves = scratch.keep(numbered(scratch, predicates, attributes, types))

    has_parents = edges.select(F.col("child_id").alias("parent_id")).distinct().withColumn("internal", F.lit(True))
    spread = scratch.keep(
        edges.join(has_parents, "parent_id", "left").select(
            "parent_id",
            "child_id",
            (F.col("parent_operator") == "or").alias("is_or"),
            "is_access",
            F.col("parent_level").alias("level"),
            F.coalesce("internal", F.lit(False)).alias("internal"),
        )
    )
    counts = spread.groupBy("internal", "level").count().collect()
    names, round_of = _rounds({row["level"]: row["count"] for row in counts if row["internal"]}, tail)
    placed = scratch.keep(_placed(spread, names, round_of, keys))
    roots = expressions.select("node_id").distinct()
    rows = scratch.write(_bucket_rows(placed, leaves, roots, len(names), keys), "buckets")
    return Plan(
        attributes=attributes,
        patterns=scratch.keep(patterns_of(leaves)) if any(row["like"] for row in used) else None,
        types=types,
        keys=keys,
        rounds=names,
        with_leaves={row["round"] for row in rows.where(F.col("tag") == LEAF).select("round").distinct().collect()},
        buckets=scratch.materialise(
            rows.groupBy("round", "to").applyInArrow(packer(leaves.drop("node_id").columns), PACKED), "packed"
        ),
        expressions=expressions,
        edge_count=sum(row["count"] for row in counts),
    )


def _rounds(counts: dict[int, int], tail: int) -> tuple[list[str], dict[int, int]]:
    """The names of the rounds before the last, and the round of each level. counts: edges by level."""
    levels, above, in_tail = sorted(counts), 0, []
    while levels and above + counts[levels[-1]] <= tail:
        above += counts[levels[-1]]
        in_tail.append(levels.pop())
    names = [f"level {level}" for level in levels]
    round_of = {level: round for round, level in enumerate(levels)}
    if in_tail:
        low, high = min(in_tail), max(in_tail)
        round_of |= dict.fromkeys(in_tail, len(names))
        names.append(f"level {low}" if low == high else f"levels {low}-{high}")
    return names, round_of


def _placed(spread: DataFrame, names: list[str], round_of: dict[int, int], keys: list[int]) -> DataFrame:
    """The edges with the round and the bucket of their parents."""
    last, tail_from = len(names), min((level for level, r in round_of.items() if r == len(names) - 1), default=0)
    round, to = F.lit(last), _bucket("parent_id", keys)
    if round_of:
        # Levels of the rounds before the tail, lowest first; the rest is the tail, in one bucket.
        lower = sorted(level for level, r in round_of.items() if level < tail_from)
        of_level = F.lit(last - 1)
        for level in lower:
            of_level = F.when(F.col("level") == level, round_of[level]).otherwise(of_level)
        several = sum(1 for r in round_of.values() if r == last - 1) > 1
        round = F.when(F.col("internal"), of_level).otherwise(last)
        if several:
            to = F.when(F.col("internal") & (F.col("level") >= tail_from), F.lit(keys[0])).otherwise(to)
    return spread.select(
        round.cast("int").alias("round"), to.cast("int").alias("to"), "parent_id", "child_id", "is_or", "is_access",
        "level", "internal",
    )  # fmt: skip


def _bucket_rows(placed: DataFrame, leaves: DataFrame, roots: DataFrame, last: int, keys: list[int]) -> DataFrame:
    """What each (round, to) has to know, a row a fact; see `buckets`."""
    leaf_columns = leaves.drop("node_id").columns
    edge = placed.select(
        "round", "to", F.lit(EDGE).alias("tag"), F.col("parent_id").alias("node_id"), "child_id", "is_or", "is_access",
        "level",
    )  # fmt: skip
    # Where a node's set is made, and where it is wanted: in later rounds, and in the last if it carries expressions.
    made = placed.where("internal").select(
        F.col("parent_id").alias("node_id"), F.col("round").alias("made_round"), F.col("to").alias("made_to")
    ).distinct()  # fmt: skip
    own = roots.select("node_id", F.lit(last).alias("round"), _bucket("node_id", keys).alias("to"))
    inner_carriers = own.join(made.select("node_id"), "node_id", "left_semi")
    asked = placed.select(F.col("child_id").alias("node_id"), "round", "to").distinct()
    wanted = (
        made.join(asked.unionByName(inner_carriers).distinct(), "node_id")
        .where(F.col("round") != F.col("made_round"))
        .select(
            F.col("made_round").alias("round"), F.col("made_to").alias("to"), F.lit(WANTED).alias("tag"), "node_id",
            F.col("round").alias("dest_round"), F.col("to").alias("dest_to"),
        )
    )  # fmt: skip
    leaf_carriers = own.join(leaves.select("node_id"), "node_id", "left_semi")
    leaf = (
        asked.unionByName(leaf_carriers).distinct().join(leaves, "node_id")
        .select("round", "to", F.lit(LEAF).alias("tag"), "node_id", *leaf_columns)
    )  # fmt: skip
    carried = inner_carriers.unionByName(leaf_carriers).select("round", "to", F.lit(CARRIED).alias("tag"), "node_id")
    rows = edge
    for more in (wanted, leaf, carried):
        rows = rows.unionByName(more, allowMissingColumns=True)
    # Spark's Arrow writer takes quadratic time over lists that are NULL row after row.
    lists = [f.name for f in rows.schema.fields if isinstance(f.dataType, T.ArrayType)]
    return rows.withColumns({name: F.coalesce(name, F.array().cast(rows.schema[name].dataType)) for name in lists})


def meetings(families: Collection[str]) -> set[str]:
    """The types in which values can meet literals of these families."""
    return {meeting for table in (COMPARISON, LIST_COMPARISON) for (_, f), meeting in table.items() if f in families}


def _bucket(column: str, keys: list[int]) -> Column:
    slot = F.pmod(F.col(column), F.lit(len(keys))).cast("int")
    return F.element_at(F.array(*[F.lit(key).cast("int") for key in keys]), slot + 1)


def numbered(scratch: Scratch, predicates: DataFrame, attributes: dict[str, int], types: set[str]) -> DataFrame:
    """The predicates with the number of their attribute, and their literals in every type."""
    numbers = scratch.spark.createDataFrame(list(attributes.items()), "attribute string, number int")
    rows = predicates.join(F.broadcast(numbers), "attribute").select(
        "node_id",
        F.col("number").alias("attribute"),
        "operator",
        "family",
        # A Boolean attribute standing alone is a comparison with TRUE.
        F.when(F.col("operator").isin("holds", "fails"), F.array(F.lit("true")))
        .otherwise(F.col("literals"))
        .alias("literals"),
    )
    made = [_cast_literals(name).alias(f"as_{name}") for name in sorted(types) if name not in ("text", "decimal")]
    pattern = F.when(_is_pattern(), F.xxhash64(_positive(), F.col("literals")[0]))
    return rows.select("*", *made, pattern.alias("pattern"))


def _positive() -> Column:
    return F.regexp_replace("operator", "^not ", "")


def _cast_literals(name: str) -> Column:
    """The literals as array<bigint> (or double) of one comparison type; NULL elements where a text cannot be cast."""
    family = F.col("family")

    def each(*families: str, cast) -> Column:
        return F.when(family.isin(*families), F.transform("literals", cast))

    day, moment = (lambda x: F.unix_date(x).cast("long")), F.unix_micros
    epoch = F.expr("TIMESTAMP_NTZ '1970-01-01 00:00:00'")
    casts = {
        "integer": each("integer", "text", cast=lambda x: x.try_cast("bigint")),
        "double": each("integer", "decimal", "double", "text", cast=lambda x: x.try_cast("double")),
        "boolean": each("boolean", "text", cast=lambda x: x.try_cast("boolean").cast("int").cast("long")),
        "date": each("date", "text", cast=lambda x: day(x.try_cast("date"))),
        "timestamp": F.when(
            family == "date", F.transform("literals", lambda x: moment(x.try_cast("date").cast("timestamp")))
        ).when(family.isin("timestamp", "text"), F.transform("literals", lambda x: moment(x.try_cast("timestamp")))),
        "timestamp_ntz": each(
            "date", "text", cast=lambda x: F.timestamp_diff("MICROSECOND", epoch, x.try_cast("timestamp_ntz"))
        ),
    }
    return casts[name]


def _is_pattern() -> Column:
    return F.col("operator").endswith("like")


def patterns_of(predicates: DataFrame) -> DataFrame:
    """attribute, patterns: array<struct<pattern, operator, text>> of the attributes that LIKE and its kin test."""
    return (
        predicates.where("pattern IS NOT NULL")
        .select("attribute", "pattern", _positive().alias("operator"), F.col("literals")[0].alias("text"))
        .distinct()
        .groupBy("attribute")
        .agg(F.collect_list(F.struct("pattern", "operator", "text")).alias("patterns"))
    )


def check_columns(expressions: DataFrame, names: list[str]) -> None:
    from banyan.errors import ArgumentError

    own = (EXPRESSION_ID, EXPRESSION)
    for name in names:
        if name not in expressions.columns or name in own:
            columns = [c for c in expressions.columns if c not in own]
            raise ArgumentError(
                f"keep: the expressions have no column {name!r} of yours; they have {', '.join(columns)}"
            )
