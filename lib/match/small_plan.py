"""The plan of a small index, made on the driver: one round, in which each bucket has all that stands below its nodes.

A shared node is then evaluated in several buckets, which costs less than to send its set to all that ask for it. For an
index of a few thousand rules Spark takes ten times as long to plan its joins as the driver takes for all of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from banyan.build.rows import EDGES, PREDICATES
from banyan.match.buckets import Edges, packed_tables, tables
from banyan.match.plan import Plan, meetings, numbered, patterns_of
from banyan.packed import bucket_keys, nothing
from banyan.store.local import frame_of
from banyan.store.materialise import Scratch

Rows = Callable[[str, list[str]], pa.Table]


def make(scratch: Scratch, rows: Rows, expressions: DataFrame, bucket_count: int) -> Plan:
    """rows: reads columns of a table of the version; expressions: node_id and what else matches need."""
    found = _typed(rows, "edges", EDGES, "parent_id", "child_id", "parent_operator", "is_access", "parent_level")
    edges = Edges(
        found["parent_id"].to_numpy(),
        found["child_id"].to_numpy(),
        pc.equal(found["parent_operator"], "or").to_numpy(),
        found["is_access"].to_numpy(),
        found["parent_level"].to_numpy(),
    )
    predicates = _typed(rows, "predicates", PREDICATES, "node_id", "attribute", "operator", "family", "literals")
    roots = expressions.select("node_id").distinct().toArrow()["node_id"].to_numpy()
    roots = roots[np.isin(roots, np.concatenate((edges.parent, predicates["node_id"].to_numpy())))]

    predicates = predicates.filter(pa.array(np.isin(predicates["node_id"].to_numpy(), _below(edges, roots)[0])))
    names = sorted(set(predicates["attribute"].to_pylist()))
    attributes = {name: number for number, name in enumerate(names)}
    types = meetings(predicates["family"].unique().to_pylist())
    leaves_frame = numbered(scratch, frame_of(scratch.spark, predicates.combine_chunks()), attributes, types)
    leaves = leaves_frame.toArrow().combine_chunks()
    like = bool(pc.any(pc.ends_with(predicates["operator"], "like")).as_py())

    keys = bucket_keys(bucket_count)
    batches = _buckets(edges, leaves, roots, keys)
    return Plan(
        attributes=attributes,
        patterns=scratch.keep(patterns_of(frame_of(scratch.spark, leaves))) if like else None,
        types=types,
        keys=keys,
        rounds=[],
        with_leaves={0},
        buckets=frame_of(scratch.spark, pa.Table.from_batches([nothing(), *batches])),
        expressions=expressions,
        edge_count=len(edges.parent),
    )


def _typed(rows: Rows, table: str, schema: pa.Schema, *columns: str) -> pa.Table:
    """Columns without a row have no type of their own."""
    found, chosen = rows(table, list(columns)), pa.schema([schema.field(name) for name in columns])
    return found.cast(chosen) if len(found) else chosen.empty_table()


def _buckets(edges: Edges, leaves: pa.Table, roots: np.ndarray, keys: list[int]) -> Iterator[pa.RecordBatch]:
    leaf_ids = leaves["node_id"].to_numpy()
    for slot, key in enumerate(keys):
        own = roots[roots % len(keys) == slot]
        below, among = _below(edges, own)
        mine = Edges(*(column[among] for column in edges))
        # The others are no child here, and are results anyway.
        carried = own[np.isin(own, mine.child) | np.isin(own, leaf_ids)]
        yield from packed_tables(0, key, tables(mine, leaves.filter(pa.array(np.isin(leaf_ids, below))), carried))


def _below(edges: Edges, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nodes and everything below them, and which edges are among these."""
    below, among = roots, np.zeros(len(edges.parent), bool)
    order = np.argsort(-edges.level, kind="stable")
    starts = np.flatnonzero(np.r_[len(order) > 0, np.diff(edges.level[order]) != 0])
    for at in np.split(order, starts[1:]) if len(order) else ():
        among[at] = np.isin(edges.parent[at], below)
        below = np.union1d(below, edges.child[at[among[at]]])
    return below, among
