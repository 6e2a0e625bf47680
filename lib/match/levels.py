"""Step 3, levels: event sets of nodes from the event sets of their children.

In, for a bucket of parents: the sets of their children, from whatever level, and the edges. Out: the non-empty sets of
the parents. An or-node unites; an and-node intersects, its access child first and then the smaller sets first, and
stops when nothing is left. A child that sent no set has an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from pyroaring import BitMap
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.match.plan import Level


def live_routes(level: Level, nonempty: DataFrame) -> DataFrame:
    """(node_id, to): the sets that live parents ask for. The access child as a join filter.

    A parent is live if it is an or-node with any child in `nonempty` (node_id), or an and-node whose access child is.
    """
    waking = level.edges.where("is_or OR is_access")
    live = waking.join(nonempty.withColumnRenamed("node_id", "child_id"), "child_id", "left_semi")
    parents = live.select("parent_id").distinct()
    asked = level.edges.join(parents, "parent_id", "left_semi")
    return asked.select(F.col("child_id").alias("node_id"), "to").distinct()


def combine(arriving: DataFrame, level: Level, kernel: Callable, schema: str) -> DataFrame:
    """One round: `arriving` (bucket, node_id, events) meets the edges of its bucket."""
    return arriving.groupBy("bucket").cogroup(level.edges.groupBy("to")).applyInArrow(kernel, schema)


def set_kernel(sets: pa.Table, edges: pa.Table) -> pa.Table:
    """The sets of the parents, to be sent on."""
    ids, found = [], []
    for node_id, events in parents(sets, edges):
        ids.append(node_id)
        found.append(events.serialize())
    return pa.table({"node_id": pa.array(ids, pa.int64()), "events": pa.array(found, pa.binary())})


def parents(sets: pa.Table, edges: pa.Table) -> Iterator[tuple[int, BitMap]]:
    """(node_id, events) of every parent that some event satisfies, lower levels first."""
    known = _Sets(sets)
    levels = edges["level"].to_numpy()
    rounds = np.unique(levels)
    for level in rounds:
        at = edges if len(rounds) == 1 else edges.filter(pa.array(levels == level))
        for node_id, events in _level(known, at):
            if level != rounds[-1]:
                known.add(node_id, events)
            yield node_id, events


class _Sets:
    """The sets that came, opened when first asked for, and those made on the way."""

    def __init__(self, sets: pa.Table):
        ids = sets["node_id"].to_numpy()
        order = np.argsort(ids)
        self._ids = ids[order]
        self._order = order
        self._closed = sets["events"].combine_chunks() if len(sets) else None
        self._open: list[BitMap | None] = [None] * len(ids)
        self._made: dict[int, int] = {}

    def add(self, node_id: int, events: BitMap) -> None:
        self._made[node_id] = len(self._open)
        self._open.append(events)

    def places(self, ids: np.ndarray) -> np.ndarray:
        """Where the sets of these nodes are; -1 where there is none."""
        if len(self._ids):
            at = np.searchsorted(self._ids, ids)
            at[at == len(self._ids)] = 0
            places = np.where(self._ids[at] == ids, self._order[at], -1)
        else:
            places = np.full(len(ids), -1)
        if self._made:
            for i in np.flatnonzero(places < 0):
                places[i] = self._made.get(int(ids[i]), -1)
        return places

    def __getitem__(self, place: int) -> BitMap:
        events = self._open[place]
        if events is None:
            events = self._open[place] = BitMap.deserialize(self._closed[place].as_py())
        return events


def _level(known: _Sets, edges: pa.Table) -> Iterator[tuple[int, BitMap]]:
    parent = edges["parent_id"].to_numpy()
    place = known.places(edges["child_id"].to_numpy())
    is_or = edges["is_or"].to_numpy(zero_copy_only=False)
    access = edges["is_access"].to_numpy(zero_copy_only=False)
    arity = edges["arity"].to_numpy()
    there = place >= 0
    # Within a parent the access child comes first.
    order = np.lexsort((~access[there], parent[there]))
    parent, place, is_or, arity = (x[there][order] for x in (parent, place, is_or, arity))
    if not len(parent):
        return
    starts = np.flatnonzero(np.r_[True, parent[1:] != parent[:-1]])
    ends = np.r_[starts[1:], len(parent)]
    # An and-node with a child that has no set is empty: never looked at again.
    possible = is_or[starts] | (ends - starts == arity[starts])
    starts, ends = starts[possible], ends[possible]
    nodes, ors = parent[starts].tolist(), is_or[starts].tolist()
    places = place.tolist()
    union = BitMap.union
    for node_id, unite, start, end in zip(nodes, ors, starts.tolist(), ends.tolist()):
        children = [known[p] for p in places[start:end]]
        if unite:
            yield node_id, union(*children) if len(children) > 1 else children[0]
            continue
        events = children[0]
        rest = children[1:]
        if len(rest) > 1:
            rest.sort(key=len)
        for other in rest:
            events = events & other
            if not events:
                break
        if events:
            yield node_id, events
