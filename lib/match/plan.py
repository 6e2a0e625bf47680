"""A version of an index made ready for matching: which predicates and edges are needed, and in which bucket they are.

Made once per version and `where`, kept by the index, used by every batch. Parents are spread over buckets by their id,
predicates by their attribute. Three kinds of inner nodes: those with parents are evaluated level by level; the few that
stand highest, where only few edges are left, together in one last round (the *tail*); those without parents all at the
end, where their sets are counted or unfolded and never sent on.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from banyan.columns import EXPRESSION, EXPRESSION_ID
from banyan.language.comparison import COMPARISON, LIST_COMPARISON
from banyan.match.prune import needed
from banyan.store.materialise import Scratch

# Edges below which the remaining levels are evaluated in one round by one worker.
TAIL = 100_000


class Level(NamedTuple):
    """The edges of one round: to, parent_id, child_id, is_or, arity, is_access, level. `routes`: (node_id, to)."""

    name: str
    edges: DataFrame
    routes: DataFrame
    count: int


class Plan(NamedTuple):
    attributes: dict[str, int]
    predicates: DataFrame
    predicate_count: int
    patterns: DataFrame | None
    types: set[str]
    buckets: list[int]
    levels: list[Level]
    final: Level | None
    carriers: DataFrame
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
    buckets = bucket_keys(bucket_count)

    has_parents = scratch.keep(edges.select(F.col("child_id").alias("node_id")).distinct())
    inner = has_parents.select(F.col("node_id").alias("parent_id"), F.lit(True).alias("internal"))
    spread = scratch.keep(_spread(edges.join(inner, "parent_id", "left"), buckets), bucket_count)
    rows = spread.groupBy("internal", "level").count().collect()
    internal = {row["level"]: row["count"] for row in rows if row["internal"]}
    terminal = sum(row["count"] for row in rows if not row["internal"])

    used = (
        predicates.groupBy("attribute")
        .agg(F.count("*").alias("count"), F.collect_set("family").alias("families"), F.max(_is_pattern()).alias("like"))
        .orderBy("attribute")
        .collect()
    )
    attributes = {row["attribute"]: number for number, row in enumerate(used)}
    families = {family for row in used for family in row["families"]}
    types = {meeting for table in (COMPARISON, LIST_COMPARISON) for (_, f), meeting in table.items() if f in families}
    numbered = scratch.keep(_numbered(scratch, predicates, attributes, types, buckets), bucket_count)
    roots = expressions.select("node_id").distinct()
    inside = has_parents.unionByName(numbered.select("node_id")).distinct()
    return Plan(
        attributes=attributes,
        predicates=numbered,
        predicate_count=sum(row["count"] for row in used),
        patterns=scratch.keep(_patterns(numbered)) if any(row["like"] for row in used) else None,
        types=types,
        buckets=buckets,
        levels=_levels(scratch, spread.where("internal"), internal, buckets, tail),
        final=_level(scratch, "final", spread.where("NOT internal"), terminal),
        carriers=scratch.keep(roots.join(inside, "node_id", "left_semi")),
        expressions=expressions,
        edge_count=sum(internal.values()) + terminal,
    )


def bucket_keys(count: int) -> list[int]:
    """`count` numbers that Spark's hash sends to `count` different partitions: no bucket waits behind another."""
    slots: dict[int, int] = {}
    for key in range(count * 64):
        slots.setdefault(spark_hash(key) % count, key)
    return [slots[slot] for slot in range(count)] if len(slots) == count else list(range(count))


def spark_hash(value: int) -> int:
    """What Spark's `hash` gives for an INT: Murmur3 of four bytes, seed 42."""
    mask = 0xFFFFFFFF
    mixed = value * 0xCC9E2D51 & mask
    mixed = (mixed << 15 | mixed >> 17) & mask
    digest = 42 ^ (mixed * 0x1B873593 & mask)
    digest = (digest << 13 | digest >> 19) & mask
    digest = (digest * 5 + 0xE6546B64 & mask) ^ 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        digest ^= digest >> shift
        digest = digest * factor & mask
    return digest - (1 << 32) if digest >> 31 else digest


def _spread(edges: DataFrame, buckets: list[int]) -> DataFrame:
    return edges.select(
        _bucket(F.pmod(F.col("parent_id"), F.lit(len(buckets))), buckets).alias("to"),
        "parent_id",
        "child_id",
        (F.col("parent_operator") == "or").alias("is_or"),
        "arity",
        "is_access",
        F.col("parent_level").alias("level"),
        F.coalesce("internal", F.lit(False)).alias("internal"),
    )


def _bucket(slot: Column, buckets: list[int]) -> Column:
    return F.element_at(F.array(*[F.lit(b).cast("int") for b in buckets]), slot.cast("int") + 1)


def _numbered(
    scratch: Scratch, predicates: DataFrame, attributes: dict[str, int], types: set[str], buckets: list[int]
) -> DataFrame:
    """The predicates with the number of their attribute, their bucket, and their literals in every type."""
    numbers = scratch.spark.createDataFrame(list(attributes.items()), "attribute string, number int")
    rows = predicates.join(F.broadcast(numbers), "attribute").select(
        _bucket(F.col("number") % len(buckets), buckets).alias("to"),
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


def _patterns(predicates: DataFrame) -> DataFrame:
    """attribute, patterns: array<struct<pattern, operator, text>> of the attributes that LIKE and its kin test."""
    return (
        predicates.where("pattern IS NOT NULL")
        .select("attribute", "pattern", _positive().alias("operator"), F.col("literals")[0].alias("text"))
        .distinct()
        .groupBy("attribute")
        .agg(F.collect_list(F.struct("pattern", "operator", "text")).alias("patterns"))
    )


def _levels(
    scratch: Scratch, internal: DataFrame, counts: dict[int, int], buckets: list[int], tail: int
) -> list[Level]:
    names, above = sorted(counts), 0
    in_tail = []
    while names and above + counts[names[-1]] <= tail:
        above += counts[names[-1]]
        in_tail.append(names.pop())
    found = [_level(scratch, f"level {n}", internal.where(F.col("level") == n), counts[n]) for n in names]
    if in_tail:
        alone = internal.where(F.col("level") >= min(in_tail)).withColumn("to", F.lit(buckets[0]).cast("int"))
        low, high = min(in_tail), max(in_tail)
        name = f"level {low}" if low == high else f"levels {low}-{high}"
        found.append(_level(scratch, name, scratch.keep(alone, 1), above))
    return found


def _level(scratch: Scratch, name: str, edges: DataFrame, count: int) -> Level | None:
    if not count:
        return None
    # A child made within the same round (in the tail) needs no route, but a route to nothing does no harm.
    routes = scratch.keep(edges.select(F.col("child_id").alias("node_id"), "to").distinct())
    return Level(name, edges, routes, count)


def check_columns(expressions: DataFrame, names: list[str]) -> None:
    from banyan.errors import ArgumentError

    own = (EXPRESSION_ID, EXPRESSION)
    for name in names:
        if name not in expressions.columns or name in own:
            columns = [c for c in expressions.columns if c not in own]
            raise ArgumentError(
                f"keep: the expressions have no column {name!r} of yours; they have {', '.join(columns)}"
            )
