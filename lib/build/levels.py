"""Levels: a leaf is on level 1, a node one above its highest child.

The parser knows the level of a node over its *operands*; only where a cover put another node in between does the real
level differ, for that node and whatever stands above it. So the work here is to raise those, from below. Where the
edges still above are few, one pass in topological order on the driver does the rest: a rule of depth 1,000 does not
cost 1,000 rounds.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from banyan.store.local import frame_of
from banyan.store.materialise import Scratch

# Edges that the driver may hold (three numbers each).
FEW = 1_000_000


def raised(spark: SparkSession, scratch: Scratch, inners: DataFrame, edges: DataFrame, few: int = FEW) -> DataFrame:
    """(node_id, level) of the inner nodes whose level is not the logical one.

    inners: node_id, level (logical), size; edges: parent_id, child_id, physical, children that are inner nodes or not.
    """
    logical = inners.select("node_id", F.col("level"), "size")
    between = (
        edges.join(logical.select(F.col("node_id").alias("child_id"), F.col("level").alias("child_level")), "child_id")
        .join(
            logical.select(F.col("node_id").alias("parent_id"), F.col("level").alias("parent_level"), "size"),
            "parent_id",
        )
        .select("parent_id", "child_id", "parent_level", "child_level", "size")
    )
    between = scratch.materialise(between, "between")
    threshold = _threshold(between, few)
    low = between.where(F.col("parent_level") < threshold)
    current = _rounds(scratch, low)
    high = between.where(F.col("parent_level") >= threshold)
    if current is not None:
        start = current.select(F.col("node_id").alias("child_id"), F.col("level").alias("raised_level"))
        high = high.join(F.broadcast(start), "child_id", "left").withColumn(
            "child_level", F.coalesce("raised_level", "child_level")
        )
    tail = _tail(high.select("parent_id", "child_id", "parent_level", "child_level", "size").toArrow())
    above = frame_of(spark, tail)
    return above if current is None else current.unionByName(above)


def _threshold(between: DataFrame, few: int) -> int:
    """The lowest level from which on the edges are few."""
    rows = between.groupBy("parent_level").count().collect()
    threshold = max((row["parent_level"] for row in rows), default=1) + 1
    total = 0
    for row in sorted(rows, key=lambda row: -row["parent_level"]):
        total += row["count"]
        if total > few:
            break
        threshold = row["parent_level"]
    return threshold


def _rounds(scratch: Scratch, low: DataFrame) -> DataFrame | None:
    """Raise parents above their children until nothing moves; None if nothing did."""
    if low.isEmpty():
        return None
    # child_level and parent_level are the logical levels at first: lower bounds that only ever rise.
    levels, round_number = None, 0
    while True:
        edges = low
        if levels is not None:
            for side in ("child", "parent"):
                known = levels.select(F.col("node_id").alias(f"{side}_id"), F.col("level").alias(f"{side}_now"))
                edges = edges.join(F.broadcast(known), f"{side}_id", "left").withColumn(
                    f"{side}_level", F.coalesce(f"{side}_now", f"{side}_level")
                )
        moved = (
            edges.where("child_level >= parent_level")
            .groupBy(F.col("parent_id").alias("node_id"))
            .agg((F.max("child_level") + 1).alias("level"))
        )
        moved = scratch.materialise(moved, f"moved_{round_number}")
        if moved.isEmpty():
            return levels
        if levels is not None:
            moved = moved.unionByName(levels).groupBy("node_id").agg(F.max("level").alias("level"))
            moved = scratch.materialise(moved, f"levels_{round_number}")
        levels = moved
        round_number += 1


def _tail(edges: pa.Table) -> pa.Table:
    """The same in one pass: a parent comes after its children in the order of (logical level, number of operands)."""
    parent = edges["parent_id"].to_numpy()
    order = np.lexsort((parent, edges["size"].to_numpy(), edges["parent_level"].to_numpy()))
    levels: dict[int, int] = {}
    logical: dict[int, int] = {}
    columns = [
        edges[name].to_numpy()[order].tolist() for name in ("parent_id", "child_id", "parent_level", "child_level")
    ]
    for parent_id, child_id, parent_level, child_level in zip(*columns):
        logical[parent_id] = parent_level
        at_least = levels.get(child_id, child_level) + 1
        levels[parent_id] = max(levels.get(parent_id, parent_level), at_least)
    changed = [(node_id, level) for node_id, level in levels.items() if level != logical[node_id]]
    return pa.table(
        {
            "node_id": pa.array([node_id for node_id, _ in changed], pa.int64()),
            "level": pa.array([level for _, level in changed], pa.int32()),
        }
    )
