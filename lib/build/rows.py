"""The rows of `predicates`, `nodes` and `edges`, in the column order of tables/*.sql."""

from __future__ import annotations

from typing import NamedTuple

from banyan.language.tree import TRUE_WHEN_ABSENT, Predicate


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
