"""A bucket of a round: the parents it decides, and all it has to know for that, made once per plan.

In, row by row from Spark: edges, the predicates among the children, where the sets made here are wanted, which children
carry expressions themselves. Out: tables of numbers. A bucket numbers its children: first the leaves, then inner nodes
that come from other rounds, then its own parents; an edge is then one small number, and a batch of events finds
everything sorted and resolved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from banyan.packed import nothing, pack

# What a row that Spark hands in speaks of.
EDGE, LEAF, WANTED, CARRIED = range(4)


class Bucket(NamedTuple):
    """`children` of parent i are slots `children[starts[i]:starts[i + 1]]`, the access child first; parents stand in
    the order of their levels. `wanted`: for each (round, bucket) the parents whose sets are wanted there."""

    leaves: pa.Table
    inner: np.ndarray
    parents: np.ndarray
    is_or: np.ndarray
    level: np.ndarray
    starts: np.ndarray
    children: np.ndarray
    carried: np.ndarray
    wanted: dict[tuple[int, int], np.ndarray]


def packer(leaf_columns: list[str]):
    """The function a worker runs over the rows of one (round, to)."""

    def packed(key: tuple, rows: pa.Table) -> pa.Table:
        round, to = (int(k.as_py()) for k in key)
        tag = rows["tag"].to_numpy()

        def of(kind: int, *names: str) -> list[np.ndarray]:
            here = rows.filter(pa.array(tag == kind))
            return [here[name].to_numpy(zero_copy_only=False) if len(here) else _NONE[name] for name in names]

        edges = Edges(*of(EDGE, "node_id", "child_id", "is_or", "is_access", "level"))
        leaves = rows.filter(pa.array(tag == LEAF)).select(["node_id", *leaf_columns])
        made = tables(edges, leaves, of(CARRIED, "node_id")[0], *of(WANTED, "node_id", "dest_round", "dest_to"))
        return pa.Table.from_batches([nothing(), *packed_tables(round, to, made)])

    return packed


def packed_tables(round: int, to: int, made: Mapping[str, pa.Table]) -> Iterator[pa.RecordBatch]:
    for part, table in made.items():
        yield from pack(round, to, part, table)


class Edges(NamedTuple):
    """Parallel arrays."""

    parent: np.ndarray
    child: np.ndarray
    is_or: np.ndarray
    is_access: np.ndarray
    level: np.ndarray


_NOBODY = np.zeros(0, np.int64)


def tables(
    edges: Edges,
    leaves: pa.Table,
    carried: np.ndarray,
    wanted: np.ndarray = _NOBODY,
    round: np.ndarray = _NOBODY,
    to: np.ndarray = _NOBODY,
) -> dict[str, pa.Table]:
    """The tables of a bucket: its edges; the predicates among their children; nodes that carry expressions but that
    another one here has as a child, or that are leaves; which parents are wanted in which bucket of which round."""
    # Sorted by what they are asked about, so that each attribute, operator and family is one stretch.
    leaves = leaves.sort_by([(name, "ascending") for name in ("attribute", "operator", "family", "node_id")])
    leaf_ids = leaves["node_id"].to_numpy()
    order = np.lexsort((~edges.is_access.astype(bool), edges.parent, edges.level))
    parent, child, is_or, _, level = (column[order] for column in edges)
    change = np.flatnonzero(np.r_[len(parent) > 0, parent[1:] != parent[:-1]])
    parents = parent[change]
    inner = np.setdiff1d(np.unique(np.r_[child, carried]), np.r_[leaf_ids, parents])
    slots = _Slots(leaf_ids, inner, parents)
    place = slots.of(wanted) - len(leaf_ids) - len(inner)
    return {
        "leaves": leaves,
        "inner": pa.table({"node_id": inner}),
        "parents": pa.table(
            {
                "node_id": parents,
                "is_or": pa.array(is_or[change].astype(bool)),
                "level": pa.array(level[change].astype(np.int32)),
                "arity": pa.array(np.diff(np.r_[change, len(parent)]).astype(np.int32)),
            }
        ),
        "children": pa.table({"slot": pa.array(slots.of(child).astype(np.int32))}),
        "carried": pa.table({"slot": pa.array(np.sort(slots.of(carried)).astype(np.int32))}),
        "wanted": pa.table({"round": pa.array(round, pa.int32()), "to": pa.array(to, pa.int32()), "parent": place}),
    }


_NONE = {
    **{name: np.zeros(0, np.int64) for name in ("node_id", "child_id", "level", "dest_round", "dest_to")},
    **{name: np.zeros(0, bool) for name in ("is_or", "is_access")},
}


class _Slots:
    """The number of each child."""

    def __init__(self, *ids: np.ndarray):
        every = np.concatenate(ids)
        self._order = np.argsort(every, kind="stable")
        self._ids = every[self._order]

    def of(self, ids: np.ndarray) -> np.ndarray:
        return self._order[np.searchsorted(self._ids, ids)]


def read(tables: Mapping[str, list[pa.Table]]) -> Bucket:
    """The bucket that `packer` made."""

    def column(part: str, name: str, kind: type) -> np.ndarray:
        pieces = [table[name].to_numpy(zero_copy_only=False) for table in tables.get(part, ())]
        return np.concatenate(pieces) if pieces else np.zeros(0, kind)

    arity = column("parents", "arity", np.int32)
    round, to, parent = (column("wanted", name, np.int64) for name in ("round", "to", "parent"))
    places = sorted(set(zip(round.tolist(), to.tolist())))
    leaves = tables.get("leaves")
    return Bucket(
        leaves=pa.concat_tables(leaves).combine_chunks() if leaves else pa.table({"node_id": pa.array([], pa.int64())}),
        inner=column("inner", "node_id", np.int64),
        parents=column("parents", "node_id", np.int64),
        is_or=column("parents", "is_or", bool),
        level=column("parents", "level", np.int32),
        starts=np.concatenate(([0], np.cumsum(arity, dtype=np.int64))),
        children=column("children", "slot", np.int32),
        carried=column("carried", "slot", np.int32),
        wanted={(r, t): parent[(round == r) & (to == t)] for r, t in places},
    )


def stretches(bucket: Bucket) -> Iterator[tuple[int, int]]:
    """(first, end) of the parents of each level, from below."""
    at = np.flatnonzero(np.r_[len(bucket.level) > 0, np.diff(bucket.level) != 0]).tolist()
    yield from zip(at, [*at[1:], len(bucket.level)])
