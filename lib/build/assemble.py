"""From the nodes that the parsers made to the rows of `predicates`, `nodes` and `edges`.

In: packed nodes, each sent several times, and the node of each expression. Out: three frames with the columns of the
tables. What always holds: the result is a function of the *set* of expressions, not of their history.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from banyan.build import rounds
from banyan.build.cover import CROWD
from banyan.build.levels import raised
from banyan.build.parse import MADE
from banyan.build.rows import EDGES, NODES, PREDICATES
from banyan.columns import NODE_ID
from banyan.packed import PACKED, bucket_keys, frugal
from banyan.progress import Steps
from banyan.store.materialise import Scratch

# Bytes of packed nodes whose homes are one bucket: a worker then takes a few hundred megabytes at the most.
BUCKET = 32 << 20
# Raised nodes that every executor may hold.
BROADCAST = 2_000_000


class Rows(NamedTuple):
    predicates: DataFrame
    nodes: DataFrame
    edges: DataFrame


class Nodes:
    """All nodes of a set of expressions, each once and at home in its bucket. made: the parsers' columns."""

    def __init__(self, scratch: Scratch, made: DataFrame):
        self._scratch = scratch
        self._keys = bucket_keys(_bucket_count(scratch, made))
        sent = made.select(NODE_ID, MADE).mapInArrow(rounds.scatter(self._keys), PACKED)
        self._sent = [scratch.materialise(sent, "scattered")]
        self._round("unique", rounds.unique)

    def collide(self) -> bool:
        """Whether two different nodes have one id."""
        return not self._sent[-1].where("part = 'collision'").isEmpty()

    def assemble(self, steps: Steps, crowd: int = CROWD) -> Rows:
        """Covers, edges, levels, access children and use counts."""
        with steps.step("sharing"):
            self._round("rarest", rounds.rarest(crowd))
            self._round("asking", rounds.asking)
            self._round("around", rounds.around)
            schema = from_arrow_schema(rounds.SHAPED)
            shaped = self._scratch.write(self._arriving("shape", rounds.shape, schema), "shaped")
        with steps.step("levels"):
            higher = raised(self._scratch, shaped)
            if higher is not None:
                few = higher.count() <= BROADCAST
                higher = higher.withColumnRenamed("level", "raised")
                shaped = shaped.join(F.broadcast(higher) if few else higher, "node_id", "left")
                shaped = shaped.withColumn("level", F.coalesce("raised", "level")).drop("raised")
        schema = from_arrow_schema(PREDICATES)
        edges = shaped.select(
            F.col("node_id").alias("parent_id"),
            F.explode("children").alias("child_id"),
            F.col("level").alias("parent_level"),
            F.col("operator").alias("parent_operator"),
            F.size("children").alias("arity"),
            "access_child",
        )
        is_access = (F.col("child_id") == F.col("access_child")).alias("is_access")
        return Rows(
            predicates=self._arriving("predicates", rounds.predicates, schema),
            nodes=shaped.select(*NODES.names),
            edges=edges.select(*EDGES.names[:-1], F.coalesce(is_access, F.lit(False)).alias("is_access")),
        )

    def _round(self, name: str, step) -> None:
        """Run a round; what it makes travels to the rounds after it."""
        self._sent.append(self._scratch.materialise(self._arriving(name, step, PACKED), name))

    def _arriving(self, name: str, step, schema) -> DataFrame:
        """What a round makes of the parts it reads, each bucket in a partition of its own."""
        frame = self._sent[0]
        for more in self._sent[1:]:
            frame = frame.unionByName(more)
        frame = frame.where(F.col("part").isin(*rounds.PARTS[name]))
        kernel = frugal(rounds.in_buckets(step, self._keys))
        return frame.repartition(len(self._keys), "to").mapInArrow(kernel, schema)


def _bucket_count(scratch: Scratch, made: DataFrame) -> int:
    size = made.agg(F.sum(F.length(MADE))).first()[0] or 0
    return max(2, int(scratch.spark.conf.get("spark.sql.shuffle.partitions", "2")), -(-size // BUCKET))
