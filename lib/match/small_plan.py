"""The plan of an index that the driver can hold: one round, in which each bucket has all that stands below its nodes.

A shared node is then evaluated in several buckets, which costs less than to send its set to all that ask for it. And
numpy makes this plan in a fraction of the time that Spark's joins take: nodes are numbered once (leaves first, then
parents from below), and everything after that is arrays indexed by these numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from banyan.build.rows import EDGES, PREDICATES
from banyan.match.buckets import packed_tables
from banyan.match.plan import Plan, meetings, numbered, patterns_of
from banyan.packed import bucket_keys, nothing
from banyan.store.local import frame_of
from banyan.store.materialise import Scratch

Rows = Callable[[str, list[str]], pa.Table]
# The order of leaves in a bucket: each attribute, operator and family is one stretch.
_ASKED = ("attribute", "operator", "family", "node_id")


def make(scratch: Scratch, rows: Rows, expressions: DataFrame, bucket_count: int) -> Plan:
    """rows: reads columns of a table of the version; expressions: node_id and what else matches need."""
    predicates = _typed(rows, "predicates", PREDICATES, "node_id", "attribute", "operator", "family", "literals")
    predicates = predicates.sort_by([(name, "ascending") for name in _ASKED]).combine_chunks()
    edges = _typed(rows, "edges", EDGES, "parent_id", "child_id", "parent_operator", "is_access", "parent_level")
    graph = _Graph.of(predicates["node_id"].to_numpy(), edges)
    found = expressions.select("node_id").distinct().toArrow()["node_id"]
    roots = pc.index_in(found, pa.array(graph.ids)).drop_null().to_numpy()

    leaf_count = len(predicates)
    wanted = graph.below(roots)[0][:leaf_count]
    predicates = predicates.filter(pa.array(wanted))
    attributes = {name: n for n, name in enumerate(sorted(predicates["attribute"].unique().to_pylist()))}
    types = meetings(predicates["family"].unique().to_pylist())
    leaves = numbered(scratch, frame_of(scratch.spark, predicates), attributes, types).toArrow()
    # Spark hands rows back in any order.
    numbers = pc.index_in(leaves["node_id"], predicates["node_id"].combine_chunks()).to_numpy()
    leaves = leaves.take(pa.array(np.argsort(numbers))).combine_chunks()
    like = bool(pc.any(pc.ends_with(predicates["operator"], "like")).as_py())

    keys = bucket_keys(bucket_count)
    batches = [
        batch
        for slot, key in enumerate(keys)
        for batch in packed_tables(
            0, key, graph.bucket(roots[graph.ids[roots] % len(keys) == slot], leaves, np.flatnonzero(wanted))
        )
    ]
    return Plan(
        attributes=attributes,
        patterns=scratch.keep(patterns_of(frame_of(scratch.spark, leaves))) if like else None,
        types=types,
        keys=keys,
        rounds=[],
        with_leaves={0},
        buckets=frame_of(scratch.spark, pa.Table.from_batches([nothing(), *batches])),
        expressions=expressions,
        edge_count=len(edges),
    )


def _typed(rows: Rows, table: str, schema: pa.Schema, *columns: str) -> pa.Table:
    """Columns without a row have no type of their own."""
    found, chosen = rows(table, list(columns)), pa.schema([schema.field(name) for name in columns])
    return found.cast(chosen) if len(found) else chosen.empty_table()


class _Graph(NamedTuple):
    """Nodes by number: the leaves in their order, then the parents by level and id. `parent` and `child` are the edges,
    sorted by parent, the access child first; `starts`: where the edges of each level begin, and their end."""

    leaves: int
    ids: np.ndarray
    is_or: np.ndarray
    level: np.ndarray
    parent: np.ndarray
    child: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, leaf_ids: np.ndarray, edges: pa.Table) -> _Graph:
        known = edges["parent_id"].combine_chunks().dictionary_encode()
        code, parents = known.indices.to_numpy(), known.dictionary.to_numpy()
        level = np.zeros(len(parents), np.int32)
        level[code] = edges["parent_level"].to_numpy()
        is_or = np.zeros(len(parents), bool)
        is_or[code] = pc.equal(edges["parent_operator"], "or").to_numpy()
        order = np.lexsort((parents, level))
        number = np.empty(len(parents), np.int64)
        number[order] = np.arange(len(parents)) + len(leaf_ids)
        ids = np.concatenate((leaf_ids, parents[order]))
        parent = number[code]
        child = pc.index_in(edges["child_id"], pa.array(ids)).to_numpy()
        by_parent = np.argsort(parent * 2 + ~edges["is_access"].to_numpy(), kind="stable")
        parent = parent[by_parent]
        at_level = level[order][parent - len(leaf_ids)]
        starts = np.flatnonzero(np.r_[len(parent) > 0, np.diff(at_level) != 0])
        return cls(
            leaves=len(leaf_ids),
            ids=ids,
            is_or=is_or[order],
            level=level[order],
            parent=parent,
            child=child[by_parent],
            starts=np.r_[starts, len(parent)],
        )

    def below(self, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which nodes are these or stand below them, and which edges are among these."""
        mark, among = np.zeros(len(self.ids), bool), np.zeros(len(self.parent), bool)
        mark[roots] = True
        for start, end in reversed(list(zip(self.starts[:-1].tolist(), self.starts[1:].tolist()))):
            among[start:end] = mark[self.parent[start:end]]
            mark[self.child[start:end][among[start:end]]] = True
        return mark, among

    def bucket(self, roots: np.ndarray, leaves: pa.Table, leaf_numbers: np.ndarray) -> dict[str, pa.Table]:
        """The tables of the bucket of these roots; see `buckets.tables`. leaf_numbers: of each row of `leaves`."""
        mark, among = self.below(roots)
        parent, child = self.parent[among], self.child[among]
        slot = np.cumsum(mark) - 1
        parents = np.flatnonzero(mark[self.leaves :])
        # Other roots are nobody's child here, and are results anyway.
        is_child = np.zeros(len(self.ids), bool)
        is_child[child] = True
        carried = roots[is_child[roots] | (roots < self.leaves)]
        return {
            "leaves": leaves.filter(pa.array(mark[leaf_numbers])),
            "inner": pa.table({"node_id": pa.array([], pa.int64())}),
            "parents": pa.table(
                {
                    "node_id": self.ids[self.leaves :][parents],
                    "is_or": pa.array(self.is_or[parents]),
                    "level": pa.array(self.level[parents]),
                    "arity": pa.array(
                        np.bincount(slot[parent], minlength=mark.sum())[mark[: self.leaves].sum() :], pa.int32()
                    ),
                }
            ),
            "children": pa.table({"slot": pa.array(slot[child], pa.int32())}),
            "carried": pa.table({"slot": pa.array(np.sort(slot[carried]), pa.int32())}),
            "wanted": _NOBODY,
        }


_NOBODY = pa.table(
    {name: pa.array([], kind) for name, kind in (("round", pa.int32()), ("to", pa.int32()), ("parent", pa.int64()))}
)
