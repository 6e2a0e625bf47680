"""The tables of the head as an update asks them (`update.Stored`): each question is one or two queries.

Answers come to the driver, so an update is for small changes; one whose neighbourhood is not small says so with
`TooLarge`, and the index is built afresh instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from banyan.build.rows import (
    EDGES,
    NODES,
    PREDICATES,
    EdgeRow,
    NodeRow,
    PredicateRow,
    edge_rows,
    node_rows,
    predicate_rows,
)
from banyan.build.update import Key
from banyan.store.local import frame_of

# Rows that one answer may have: the driver holds a few answers of this size at once (about 1 kB a row).
MOST = 1_000_000
# Edges of the highest levels that are fetched in one go, so that a rule of depth 1,000 does not cost 1,000 queries.
TAIL = 200_000


class TooLarge(Exception):
    """The neighbourhood of a change is too large for the driver. Never reaches a user."""


class Tables:
    """Implements `update.Stored` over the tables of one version."""

    def __init__(self, spark: SparkSession, table: Callable[[str], DataFrame], most: int = MOST, tail: int = TAIL):
        self._spark = spark
        self._table = table
        self._most = most
        self._tail_size = tail
        self._tail: _Tail | None = None

    def rows(self, ids: Collection[int]) -> tuple[dict[int, PredicateRow], dict[int, NodeRow]]:
        wanted = F.broadcast(self._ids(ids, "node_id"))
        leaves = self._fetched(self._table("predicates").join(wanted, "node_id", "left_semi"), PREDICATES)
        inners = self._fetched(self._table("nodes").join(wanted, "node_id", "left_semi"), NODES)
        return {row.node_id: row for row in predicate_rows(leaves)}, {row.node_id: row for row in node_rows(inners)}

    def levels(self, ids: Collection[int]) -> dict[int, int]:
        wanted = F.broadcast(self._ids(ids, "node_id"))
        found = self._table("nodes").select("node_id", "level").join(wanted, "node_id", "left_semi").toArrow()
        return dict(zip(found["node_id"].to_pylist(), found["level"].to_pylist()))

    def holders(self, keys: Collection[Key]) -> dict[Key, int]:
        held = self._table("nodes").select("operator", F.explode("operands").alias("operand"))
        found = held.join(self._keys(keys), ["operator", "operand"], "left_semi").groupBy("operator", "operand").count()
        return {(row["operator"], row["operand"]): row["count"] for row in found.collect()}

    def holding(self, keys: Collection[Key]) -> Iterable[NodeRow]:
        held = self._held().join(self._keys(keys), ["operator", "operand"], "left_semi")
        return node_rows(self._fetched(held.select("row.*").distinct(), NODES))

    def around(self, sets: Collection[tuple[Key, tuple[int, ...]]]) -> Iterable[NodeRow]:
        lookup = frame_of(
            self._spark,
            pa.table(
                {
                    "operator": pa.array([key[0] for key, _ in sets], pa.string()),
                    "operand": pa.array([key[1] for key, _ in sets], pa.int64()),
                    "members": pa.array([members for _, members in sets], pa.list_(pa.int64())),
                }
            ),
        )
        found = (
            self._held()
            .join(F.broadcast(lookup), ["operator", "operand"])
            .where(F.size(F.array_except("members", "row.operands")) == 0)
        )
        return node_rows(self._fetched(found.select("row.*").distinct(), NODES))

    def inside(self, operands: Collection[int]) -> Iterable[NodeRow]:
        wanted = F.broadcast(self._ids(operands, "operand"))
        found = (
            self._held()
            .join(wanted, "operand", "left_semi")
            .groupBy("row.node_id")
            .agg(F.count("*").alias("among"), F.first("row").alias("row"))
            .where(F.col("among") == F.size("row.operands"))
        )
        return node_rows(self._fetched(found.select("row.*"), NODES))

    def above(self, ids: Collection[int]) -> Iterable[tuple[EdgeRow, int]]:
        if self._tail is None:
            self._tail = _Tail.of(self._table("edges"), self._tail_size, self.levels)
        found = self._tail.above(ids)
        if self._tail.lowest > 2:
            edges = self._table("edges").where(F.col("parent_level") < self._tail.lowest)
            parents = edges.join(F.broadcast(self._ids(ids, "child_id")), "child_id", "left_semi").select("parent_id")
            all_of_them = edges.join(F.broadcast(parents.distinct()), "parent_id", "left_semi")
            rows = list(edge_rows(self._fetched(all_of_them, EDGES)))
            levels = self.levels({edge.child_id for edge in rows}) if rows else {}
            found += [(edge, levels.get(edge.child_id, 1)) for edge in rows]
        return found

    def highest(self, without: Collection[int]) -> int:
        gone = F.broadcast(self._ids(without, "node_id"))
        return self._table("nodes").join(gone, "node_id", "left_anti").agg(F.max("level")).first()[0] or 0

    def _held(self) -> DataFrame:
        """(operator, operand, row): one row per node and operand."""
        nodes = self._table("nodes").select(*NODES.names)
        return nodes.select("operator", F.explode("operands").alias("operand"), F.struct(*NODES.names).alias("row"))

    def _ids(self, ids: Collection[int], name: str) -> DataFrame:
        return frame_of(self._spark, pa.table({name: pa.array(list(ids), pa.int64())}))

    def _keys(self, keys: Collection[Key]) -> DataFrame:
        operators, operands = [key[0] for key in keys], [key[1] for key in keys]
        table = pa.table({"operator": pa.array(operators, pa.string()), "operand": pa.array(operands, pa.int64())})
        return F.broadcast(frame_of(self._spark, table))

    def _fetched(self, rows: DataFrame, schema: pa.Schema) -> pa.Table:
        table = rows.select(*schema.names).limit(self._most + 1).toArrow()
        if len(table) > self._most:
            raise TooLarge
        return table


class _Tail:
    """The edges of the highest levels, as many levels as stay within a number of edges: `lowest` and up."""

    def __init__(self, lowest: int, edges: list[EdgeRow], levels: Mapping[int, int]):
        self.lowest = lowest
        self._levels = levels
        self._of_parent: dict[int, list[EdgeRow]] = defaultdict(list)
        self._parents: dict[int, list[int]] = defaultdict(list)
        for edge in edges:
            self._of_parent[edge.parent_id].append(edge)
            self._parents[edge.child_id].append(edge.parent_id)

    @classmethod
    def of(cls, edges: DataFrame, most: int, levels: Callable[[Collection[int]], dict[int, int]]) -> _Tail:
        counts = {row["parent_level"]: row["count"] for row in edges.groupBy("parent_level").count().collect()}
        lowest, total = max(counts, default=1) + 1, 0
        for level in sorted(counts, reverse=True):
            total += counts[level]
            if total > most:
                break
            lowest = level
        rows = list(edge_rows(edges.where(F.col("parent_level") >= lowest).toArrow())) if lowest in counts else []
        return cls(lowest, rows, levels({edge.child_id for edge in rows}) if rows else {})

    def above(self, ids: Collection[int]) -> list[tuple[EdgeRow, int]]:
        parents = {parent for child in ids for parent in self._parents.get(child, ())}
        return [(e, self._levels.get(e.child_id, 1)) for parent in parents for e in self._of_parent[parent]]
