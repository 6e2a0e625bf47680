"""The tables of a small index, read whole: what an update asks is then answered without a query.

A query takes most of a second however little it asks, and an update asks about ten; three tables of up to `MOST` rows
are read in the time of one or two, on a local folder in milliseconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

import pyarrow as pa

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
from banyan.store.statements import together

# Rows of the three tables together.
MOST = 100_000


class Loaded:
    """Implements `update.Stored` over rows in memory."""

    def __init__(self, predicates: Iterable[PredicateRow], nodes: Iterable[NodeRow], edges: Iterable[EdgeRow]):
        self._predicates = {row.node_id: row for row in predicates}
        self._nodes = {row.node_id: row for row in nodes}
        self._edges: dict[int, list[EdgeRow]] = defaultdict(list)
        self._parents: dict[int, list[int]] = defaultdict(list)
        for edge in edges:
            self._edges[edge.parent_id].append(edge)
            self._parents[edge.child_id].append(edge.parent_id)
        self._holding: dict[Key, list[NodeRow]] = defaultdict(list)
        for row in self._nodes.values():
            for operand in row.operands:
                self._holding[row.operator, operand].append(row)

    @classmethod
    def of(cls, rows: Callable[[str, Sequence[str]], pa.Table]) -> Loaded:
        """The rows of `predicates`, `nodes` and `edges`; `rows` reads columns of a table."""
        schemas = {"predicates": PREDICATES, "nodes": NODES, "edges": EDGES}
        found = together([partial(rows, name, schema.names) for name, schema in schemas.items()])
        return cls(predicate_rows(found[0]), node_rows(found[1]), edge_rows(found[2]))

    def all(self, table: str) -> list[tuple]:
        """All rows of a table."""
        if table == "edges":
            return [edge for edges in self._edges.values() for edge in edges]
        return list((self._predicates if table == "predicates" else self._nodes).values())

    def rows(self, ids: Collection[int]) -> tuple[dict[int, PredicateRow], dict[int, NodeRow]]:
        return _those(self._predicates, ids), _those(self._nodes, ids)

    def levels(self, ids: Collection[int]) -> dict[int, int]:
        return {i: row.level for i, row in _those(self._nodes, ids).items()}

    def holders(self, keys: Collection[Key]) -> dict[Key, int]:
        return {key: len(self._holding[key]) for key in keys if key in self._holding}

    def holding(self, keys: Collection[Key]) -> Iterable[NodeRow]:
        return {row.node_id: row for key in keys for row in self._holding.get(key, ())}.values()

    def around(self, sets: Collection[tuple[Key, tuple[int, ...]]]) -> Iterable[NodeRow]:
        return {
            row.node_id: row
            for key, members in sets
            for row in self._holding.get(key, ())
            if set(members) <= set(row.operands)
        }.values()

    def inside(self, operands: Collection[int]) -> Iterable[NodeRow]:
        among = Counter(
            row.node_id
            for operand in set(operands)
            for operator in ("and", "or")
            for row in self._holding.get((operator, operand), ())
        )
        return [self._nodes[i] for i, count in among.items() if count == len(self._nodes[i].operands)]

    def above(self, ids: Collection[int]) -> Iterable[tuple[EdgeRow, int]]:
        parents = {parent for child in ids for parent in self._parents.get(child, ())}
        level = {i: row.level for i, row in self._nodes.items()}
        return [(edge, level.get(edge.child_id, 1)) for parent in parents for edge in self._edges[parent]]

    def highest(self, without: Collection[int]) -> int:
        gone = set(without)
        return max((row.level for i, row in self._nodes.items() if i not in gone), default=0)


def _those(rows: Mapping[int, tuple], ids: Collection[int]) -> dict:
    return {i: rows[i] for i in ids if i in rows}
