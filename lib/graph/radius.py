"""The blast radius of predicates: every expression above them, whatever lies between.

To be asked before an attribute is renamed, retired or comes with other values: these are the rules that it moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from banyan.columns import EXPRESSION_ID
from banyan.errors import ArgumentError
from banyan.graph.frame import edges, framed, vertices

if TYPE_CHECKING:
    from banyan.index import Index

# Every node above carries its distance to each of them.
MOST = 1_000


def blast_radius(index: Index, where: str | Column, most: int = MOST) -> DataFrame:
    """(expression_id, predicate_id, steps): the expressions above each predicate that satisfies `where`.

    where: a condition over the columns of `predicates`, such as "attribute = 'country'". steps: edges of the shortest
    way down; 0 where the predicate is the whole expression.
    """
    rows = index.table("predicates").where(where).select("node_id").limit(most + 1).collect()
    if len(rows) > most:
        raise ArgumentError(f"where={where!r} holds for more than {most:,} predicates; ask for fewer, or give most=")
    landmarks = [row["node_id"] for row in rows]
    if not landmarks:
        nothing = F.lit(0).cast("long").alias("predicate_id"), F.lit(0).alias("steps")
        return index.expressions().limit(0).select(EXPRESSION_ID, *nothing)
    graph = framed(index.spark, vertices(index).select("id"), edges(index).select("src", "dst"))
    found = graph.shortestPaths(landmarks)
    above = found.select(F.col("id").alias("node_id"), F.explode("distances").alias("predicate_id", "steps"))
    return index.expressions().select("node_id", EXPRESSION_ID).join(above, "node_id").drop("node_id")
