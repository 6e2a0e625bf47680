"""Levels: a leaf is on level 1, a node one above its highest child.

The parser knows the level of a node over its *operands*; only where a cover put another node in between does the real
level differ, for that node and whatever stands above it. So the work here is to raise those, from below, a round for
each level of what is raised. Where after a few rounds the edges still above are few, one pass in topological order on
the driver does the rest: a rule of depth 1,000 does not cost 1,000 rounds.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.store.local import frame_of
from banyan.store.materialise import Scratch

# Edges that the driver may hold (five numbers each), and rounds after which it is asked to.
FEW = 1_000_000
ROUNDS = 2


def raised(scratch: Scratch, shaped: DataFrame, few: int = FEW, rounds: int = ROUNDS) -> DataFrame | None:
    """(node_id, level) of the nodes whose level is not their `level` so far; None if there are none.

    shaped: node_id, logical_level, level, operands, children. A level so far is one above the highest *logical* level
    of a child: where it is above the node's own logical level, that has to be told upwards.
    """
    edges = shaped.select(
        F.col("node_id").alias("parent_id"),
        F.explode("children").alias("child_id"),
        F.col("level").alias("parent_level"),
        "logical_level",
        F.size("operands").alias("size"),
    )
    higher = None
    moved = scratch.materialise(shaped.where("level > logical_level").select("node_id", "level"), "moved")
    turn = 0
    while not moved.isEmpty():
        if turn >= rounds:
            known = _highest(higher, moved)
            above = _above(shaped, edges, known, moved, few)
            if above is not None:
                return scratch.materialise(_highest(known, frame_of(scratch.spark, _tail(above))), "raised")
        if turn > 0:
            higher = scratch.materialise(_highest(higher, moved), "raised")
        told = moved.select(F.col("node_id").alias("child_id"), (F.col("level") + 1).alias("at_least"))
        rising = edges.join(told, "child_id").groupBy(F.col("parent_id").alias("node_id"))
        rising = rising.agg(F.max("at_least").alias("level"), F.max("parent_level").alias("before"))
        if higher is not None:
            known = higher.withColumnRenamed("level", "known")
            rising = rising.join(known, "node_id", "left").withColumn("before", F.coalesce("known", "before"))
        moved = scratch.materialise(rising.where("level > before").select("node_id", "level"), "moved")
        turn += 1
    return higher


def _highest(higher: DataFrame | None, moved: DataFrame) -> DataFrame:
    both = moved if higher is None else higher.unionByName(moved)
    return both.groupBy("node_id").agg(F.max("level").alias("level"))


def _above(shaped: DataFrame, edges: DataFrame, known: DataFrame, moved: DataFrame, few: int) -> pa.Table | None:
    """The edges of all nodes that can still move, with what is known of the levels so far; None if they are many."""
    # Whatever stands above a node has a logical level that is not below the node's.
    lowest = moved.join(shaped.select("node_id", "logical_level"), "node_id").agg(F.min("logical_level")).first()[0]
    high = edges.where(F.col("logical_level") >= lowest).drop("parent_level")
    if high.count() > few:
        return None
    now = shaped.join(known.withColumnRenamed("level", "known"), "node_id", "left").select(
        "node_id", F.coalesce("known", "level").alias("level")
    )
    for side in ("child", "parent"):
        of_side = now.select(F.col("node_id").alias(f"{side}_id"), F.col("level").alias(f"{side}_level"))
        high = high.join(of_side, f"{side}_id", "left")
    # A child that is no inner node is a leaf.
    return high.withColumn("child_level", F.coalesce("child_level", F.lit(1))).toArrow()


def _tail(edges: pa.Table) -> pa.Table:
    """The same in one pass: a parent comes after its children in the order of (logical level, number of operands)."""
    parent = edges["parent_id"].to_numpy()
    order = np.lexsort((parent, edges["size"].to_numpy(), edges["logical_level"].to_numpy()))
    levels: dict[int, int] = {}
    before: dict[int, int] = {}
    columns = [
        edges[name].to_numpy()[order].tolist() for name in ("parent_id", "child_id", "parent_level", "child_level")
    ]
    for parent_id, child_id, parent_level, child_level in zip(*columns):
        before[parent_id] = parent_level
        at_least = levels.get(child_id, child_level) + 1
        levels[parent_id] = max(levels.get(parent_id, parent_level), at_least)
    changed = [(node_id, level) for node_id, level in levels.items() if level != before[node_id]]
    return pa.table(
        {
            "node_id": pa.array([node_id for node_id, _ in changed], pa.int64()),
            "level": pa.array([level for _, level in changed], pa.int32()),
        }
    )
