"""The rows of `predicates`, `nodes` and `edges`, in the column order of tables/*.sql."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from banyan.language.tree import TRUE_WHEN_ABSENT, Predicate
from banyan.normal.frequencies import Frequencies

if TYPE_CHECKING:
    from banyan.store.versions import Write


class PredicateRow(NamedTuple):
    node_id: int
    attribute: str
    operator: str
    family: str
    literals: tuple[str | None, ...]
    true_when_absent: bool
    use_count: int
    expected_frequency: float

    @classmethod
    def of(cls, node_id: int, predicate: Predicate, use_count: int, frequency: float) -> PredicateRow:
        attribute, operator, family, literals = predicate
        absent = operator in TRUE_WHEN_ABSENT
        return cls(node_id, attribute, operator, family, literals, absent, use_count, frequency)

    @property
    def predicate(self) -> Predicate:
        return Predicate(self.attribute, self.operator, self.family, self.literals)


class NodeRow(NamedTuple):
    node_id: int
    operator: str
    operands: tuple[int, ...]
    operand_frequencies: tuple[float, ...]
    logical_level: int
    level: int
    use_count: int
    access_child: int | None
    expected_frequency: float


class EdgeRow(NamedTuple):
    parent_id: int
    child_id: int
    parent_level: int
    parent_operator: str
    arity: int
    is_access: bool


def edges_of(node_id: int, operator: str, level: int, children: list[int], access_child: int | None) -> list[EdgeRow]:
    """The edges of a node to its children."""
    return [EdgeRow(node_id, child, level, operator, len(children), child == access_child) for child in children]


# As Arrow, to hand rows to Spark. Types are those of tables/*.sql.
PREDICATES = pa.schema(
    [
        ("node_id", pa.int64()),
        ("attribute", pa.string()),
        ("operator", pa.string()),
        ("family", pa.string()),
        ("literals", pa.list_(pa.string())),
        ("true_when_absent", pa.bool_()),
        ("use_count", pa.int64()),
        ("expected_frequency", pa.float32()),
    ]
)
NODES = pa.schema(
    [
        ("node_id", pa.int64()),
        ("operator", pa.string()),
        ("operands", pa.list_(pa.int64())),
        ("operand_frequencies", pa.list_(pa.float32())),
        ("logical_level", pa.int32()),
        ("level", pa.int32()),
        ("use_count", pa.int64()),
        ("access_child", pa.int64()),
        ("expected_frequency", pa.float32()),
    ]
)
EDGES = pa.schema(
    [
        ("parent_id", pa.int64()),
        ("child_id", pa.int64()),
        ("parent_level", pa.int32()),
        ("parent_operator", pa.string()),
        ("arity", pa.int32()),
        ("is_access", pa.bool_()),
    ]
)

# The columns of `frequencies`.
FREQUENCIES = ("attribute", "value", "share")


def frequencies_of(work: Write) -> Frequencies | None:
    """What an analysis of events saw, as the head has it."""
    return frequencies_in(work.rows("frequencies", FREQUENCIES))


def frequencies_in(table: pa.Table) -> Frequencies | None:
    """The same from rows of that table; None if there are none."""
    return Frequencies(zip(*(table[name].to_pylist() for name in FREQUENCIES))) if len(table) else None


def to_arrow(rows: Sequence[tuple], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows)) or [()] * len(schema)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, schema)], schema=schema)


def predicate_rows(table: pa.Table) -> Iterator[PredicateRow]:
    for row in _tuples(table, PREDICATES):
        yield PredicateRow(*row[:4], tuple(row[4]), *row[5:])


def node_rows(table: pa.Table) -> Iterator[NodeRow]:
    for row in _tuples(table, NODES):
        yield NodeRow(*row[:2], tuple(row[2]), tuple(row[3]), *row[4:])


def edge_rows(table: pa.Table) -> Iterator[EdgeRow]:
    return itertools.starmap(EdgeRow, _tuples(table, EDGES))


def _tuples(table: pa.Table, schema: pa.Schema) -> Iterator[tuple]:
    return zip(*(table[name].to_pylist() for name in schema.names))
