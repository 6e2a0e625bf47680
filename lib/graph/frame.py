"""A version of an index as a GraphFrame: its predicates and nodes are the vertices, its edges the edges.

In: an open index, in a classic session that was started with `banyan.session(graph=True)`. Out: vertices (id, kind,
label, level, use_count, expressions) and edges (src, dst, is_access, arity), from a parent to its child.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from banyan.connect import is_connect
from banyan.errors import SetupError

if TYPE_CHECKING:
    from graphframes import GraphFrame

    from banyan.index import Index

_REMEDY = "pip install 'banyan-spark[graph]', and start Spark with banyan.session(graph=True)"


def graph(index: Index) -> GraphFrame:
    """The whole graph of the version that is open."""
    return framed(index.spark, vertices(index), edges(index))


def vertices(index: Index) -> DataFrame:
    """id, kind ('predicate', 'and', 'or'), label, level, use_count and how many expressions are attached."""
    label = F.concat_ws(" ", "attribute", "operator", F.array_join("literals", ", "))
    leaves = index.table("predicates").select(
        "node_id", F.lit("predicate").alias("kind"), label.alias("label"), F.lit(1).alias("level"), "use_count"
    )
    inners = index.table("nodes").select(
        "node_id", F.col("operator").alias("kind"), F.col("operator").alias("label"), "level", "use_count"
    )
    attached = index.expressions().groupBy("node_id").agg(F.count("*").alias("expressions"))
    found = leaves.unionByName(inners).join(attached, "node_id", "left").fillna(0, ["expressions"])
    return found.withColumnRenamed("node_id", "id")


def edges(index: Index) -> DataFrame:
    """src (the parent), dst (the child), is_access, arity (the number of children of the parent)."""
    return index.table("edges").select(
        F.col("parent_id").alias("src"), F.col("child_id").alias("dst"), "is_access", "arity"
    )


def framed(spark: SparkSession, vertices: DataFrame, edges: DataFrame) -> GraphFrame:
    """A GraphFrame, or SetupError with what is missing for one."""
    if is_connect(spark):
        raise SetupError("GraphFrames needs a classic session: over Spark Connect it has no server side here")
    try:
        from graphframes import GraphFrame
    except ImportError:
        raise SetupError(f"graphs need the Python package graphframes-py: {_REMEDY}") from None
    try:
        return GraphFrame(vertices, edges)
    except Exception as error:
        if "ClassNotFoundException" not in str(error):
            raise
        raise SetupError(f"this Spark was started without the jar of GraphFrames: {_REMEDY}") from None
