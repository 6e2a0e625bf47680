"""Which nodes the kept expressions need: from their nodes down the edges."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.store.local import frame_of
from banyan.store.materialise import Scratch

# Edges that the driver may hold, to walk the few high levels of deep rules in one go.
FEW = 1_000_000


def needed(scratch: Scratch, roots: DataFrame, edges: DataFrame, few: int = FEW) -> DataFrame:
    """(node_id) of the roots and of everything below them."""
    counts = {row["parent_level"]: row["count"] for row in edges.groupBy("parent_level").count().collect()}
    levels, total = sorted(counts), 0
    while levels and total + counts[levels[-1]] <= few:
        total += counts[levels.pop()]
    lowest = levels[-1] + 1 if levels else 0
    found = scratch.materialise(
        roots.unionByName(_walk(scratch, roots, edges.where(F.col("parent_level") >= lowest))).distinct(), "needed"
    )
    for level in reversed(levels):
        parents = found.withColumnRenamed("node_id", "parent_id")
        below = edges.where(F.col("parent_level") == level).join(parents, "parent_id", "left_semi")
        found = scratch.materialise(
            found.unionByName(below.select(F.col("child_id").alias("node_id"))).distinct(), f"needed_{level}"
        )
    return found


def _walk(scratch: Scratch, roots: DataFrame, edges: DataFrame) -> DataFrame:
    """The same on the driver, for few edges: highest parents first."""
    table = edges.orderBy(F.desc("parent_level")).select("parent_id", "child_id").toArrow()
    tops = roots.join(edges.select(F.col("parent_id").alias("node_id")).distinct(), "node_id", "left_semi")
    reached = {row["node_id"] for row in tops.collect()}
    for parent, child in zip(table["parent_id"].to_pylist(), table["child_id"].to_pylist()):
        if parent in reached:
            reached.add(child)
    return frame_of(scratch.spark, pa.table({"node_id": pa.array(sorted(reached), pa.int64())}))
