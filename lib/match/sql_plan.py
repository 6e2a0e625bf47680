"""A version of an index made ready for the SQL engine: its predicates as intervals of values, its edges by level.

Made once per version and `where`, by the relations of `sql/match/` whose header says "once per version".
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from banyan.columns import EXPRESSION_ID
from banyan.match import sql_files
from banyan.match.prune import needed
from banyan.normal.ids import TRUE_ID
from banyan.store.materialise import Scratch

LEAVES = 1


class Edges(NamedTuple):
    """The edges of one round, in the order of their parents; their children, and the levels that these are on."""

    name: str
    edges: DataFrame
    children: DataFrame
    below: frozenset[int]


class SqlPlan(NamedTuple):
    """`frames`: the relations that a batch reads, by their names. `levels`: nodes that have parents, by level; `top`:
    all others. `parts`: which kinds of predicates there are. `set_count`: event sets that a block can give to joins."""

    attributes: dict[str, int]
    like: frozenset[int]
    frames: dict[str, DataFrame]
    levels: dict[int, Edges]
    top: Edges | None
    parts: frozenset[str]
    set_count: int


def make(scratch: Scratch, tables: dict[str, DataFrame], where: str | Column | None, keep: list[str]) -> SqlPlan:
    expressions, predicates, edges = (tables[name] for name in ("expressions", "predicates", "edges"))
    if where is not None:
        expressions = expressions.where(where)
    expressions = scratch.keep(expressions.select("node_id", EXPRESSION_ID, *keep))
    if where is not None:
        ids = needed(scratch, expressions.select("node_id").distinct(), edges)
        edges = edges.join(ids.withColumnRenamed("node_id", "parent_id"), "parent_id", "left_semi")
        predicates = predicates.join(ids, "node_id", "left_semi")
    used = (
        predicates.groupBy("attribute")
        .agg(F.count("*").alias("count"), F.collect_set("operator").alias("operators"))
        .orderBy("attribute")
        .collect()
    )
    operators = {operator for row in used for operator in row["operators"]}
    parts = {
        "shared": operators & {"is null", "is not null", "not <=>"},
        "patterns": {operator for operator in operators if operator.endswith("like")},
        "refusals": {operator for operator in operators if operator.startswith("not array")},
    }
    attributes = {row["attribute"]: number for number, row in enumerate(used)}
    frames = {
        "expressions": expressions,
        "predicates": predicates,
        "attributes": scratch.spark.createDataFrame(list(attributes.items()), "attribute string, number int"),
        "comparison": scratch.spark.sql(sql_files.comparison()),
    }
    for name in ("literals", "ends", "tests", "bounds", "lanes", "shared", "patterns", "refusals"):
        frames[name] = sql_files.run(scratch.spark, name, frames)
        # What no predicate needs is never read.
        if parts.get(name, name != "literals"):
            frames[name] = scratch.materialise(frames[name], name)
    levels, top, internal = _levels(scratch, edges)
    inside = edges.select(F.col("child_id").alias("node_id")).unionByName(predicates.select("node_id")).distinct()
    roots = expressions.select("node_id").distinct()
    carriers = roots.join(inside, "node_id", "left_semi").unionByName(roots.where(F.col("node_id") == TRUE_ID))
    frames["carriers"] = scratch.materialise(carriers, "carriers")
    return SqlPlan(
        attributes=attributes,
        like=frozenset(
            attributes[row["attribute"]] for row in used if any(o.endswith("like") for o in row["operators"])
        ),
        frames=frames,
        levels=levels,
        top=top,
        parts=frozenset(name for name, some in parts.items() if some),
        set_count=internal + sum(row["count"] for row in used),
    )


def _levels(scratch: Scratch, edges: DataFrame) -> tuple[dict[int, Edges], Edges | None, int]:
    """The rounds, the last one, and how many nodes have parents."""
    has_parents = edges.select(F.col("child_id").alias("parent_id"), F.lit(True).alias("internal")).distinct()
    of_child = edges.select(F.col("parent_id").alias("child_id"), F.col("parent_level").alias("child_level")).distinct()
    spread = scratch.keep(
        edges.join(has_parents, "parent_id", "left")
        .join(of_child, "child_id", "left")
        .select("*", F.coalesce("internal", F.lit(False)).alias("inside"))
        .drop("internal")
    )
    rows = (
        spread.groupBy("inside", "parent_level", F.coalesce("child_level", F.lit(LEAVES)).alias("child_level"))
        .agg(F.count_distinct("parent_id").alias("parents"))
        .collect()
    )
    columns = ("parent_id", "child_id", "parent_operator", "arity", "is_access")

    def below(inside: bool, level: int | None = None) -> frozenset[int]:
        return frozenset(r["child_level"] for r in rows if r["inside"] == inside and level in (None, r["parent_level"]))

    def round_of(name: str, which: Column, levels: frozenset[int]) -> Edges:
        # In this order once for all batches, so that combining sets moves none of them.
        found = spread.where(which).select(*columns).repartition("parent_id").sortWithinPartitions("parent_id")
        found = scratch.materialise(found, "edges")
        # From a file: Spark sends what is joined with it to the cores once, however often a round reads it.
        children = scratch.write(found.select(F.col("child_id").alias("node_id")).distinct(), "children")
        return Edges(name, found, children, levels)

    levels = {
        level: round_of(f"level {level}", F.col("inside") & (F.col("parent_level") == level), below(True, level))
        for level in sorted({row["parent_level"] for row in rows if row["inside"]})
    }
    top = round_of("top", ~F.col("inside"), below(False))
    return levels, top if top.below else None, has_parents.count()
