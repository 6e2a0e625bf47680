"""Communities of expressions that share structure: those that are worth putting in the same bucket, or on one machine.

Two expressions are near each other if they share nodes. What nearly everybody shares says nothing (`country = 'DE'`),
so nodes with many parents are left out. `connected` is exact: no two communities share a node that was left in.
`labels` (label propagation) also cuts what hangs together by a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.columns import EXPRESSION_ID
from banyan.errors import ArgumentError
from banyan.graph.frame import edges, framed, vertices

if TYPE_CHECKING:
    from banyan.index import Index

METHODS = ("labels", "connected")
# A node with more parents than this is everybody's.
CROWD = 50
ROUNDS = 8


class Sent(NamedTuple):
    """Sets that a match sends to buckets of parents if parents are spread by their ids, and if by their communities;
    the share of the edges that the fullest bucket then has."""

    by_id: int
    by_community: int
    fullest: float


def communities(index: Index, method: str = "labels", crowd: int = CROWD, rounds: int = ROUNDS) -> DataFrame:
    """(expression_id, community): a community goes by the smallest id of its nodes.

    Expressions that are TRUE or FALSE have no node, and no row here.
    """
    found = of_nodes(index, method, crowd, rounds)
    return index.expressions().select("node_id", EXPRESSION_ID).join(found, "node_id").drop("node_id")


def of_nodes(index: Index, method: str = "labels", crowd: int = CROWD, rounds: int = ROUNDS) -> DataFrame:
    """(node_id, community) of every node that is left in."""
    if method not in METHODS:
        raise ArgumentError(f"method is one of {', '.join(METHODS)}; not {method!r}")
    all_edges = edges(index).select("src", "dst")
    crowded = all_edges.groupBy(F.col("dst").alias("id")).count().where(F.col("count") > crowd).select("id")
    nodes = vertices(index).select("id").join(crowded, "id", "left_anti")
    kept = all_edges.join(crowded.withColumnRenamed("id", "dst"), "dst", "left_anti")
    # A crowded inner node would still hold its children together: it is gone with all its edges.
    kept = kept.join(crowded.withColumnRenamed("id", "src"), "src", "left_anti").select("src", "dst")
    graph = framed(index.spark, nodes, kept)
    if method == "connected":
        labelled = graph.connectedComponents(algorithm="graphx").withColumnRenamed("component", "label")
    else:
        labelled = graph.labelPropagation(maxIter=rounds)
    named = labelled.groupBy("label").agg(F.min("id").alias("community"))
    return labelled.join(named, "label").select(F.col("id").alias("node_id"), "community")


def sent(index: Index, found: DataFrame, buckets: int) -> Sent:
    """What placing parents by their communities would save. found: (node_id, community), as `of_nodes` gives it.

    A set goes once to each bucket that has a parent of its node; a parent without a community is placed by its id.
    """
    placed = edges(index).join(found.withColumnRenamed("node_id", "src"), "src", "left")
    key = F.coalesce("community", "src")
    spread = placed.select(
        "dst",
        F.pmod("src", F.lit(buckets)).alias("by_id"),
        F.pmod(F.xxhash64(key), F.lit(buckets)).alias("by_community"),
    )
    counts = spread.agg(F.count_distinct("dst", "by_id"), F.count_distinct("dst", "by_community"), F.count("*")).first()
    fullest = spread.groupBy("by_community").count().agg(F.max("count")).first()[0] or 0
    return Sent(counts[0], counts[1], fullest / max(1, counts[2]))
