"""The expression tree: what the parser makes and everything after it reads.

A predicate is four strings' worth of facts and says its own canonical form: two texts that mean the same
predicate (`a = 1`, `1 = a`, `a IN (1, 1)`, `a BETWEEN 1 AND 1`) give equal `Predicate`s.
NamedTuples, because the parser makes twenty of them per expression and a frozen dataclass costs four times as much.
"""

from __future__ import annotations

from typing import NamedTuple, Union


class Predicate(NamedTuple):
    """One test of one attribute.

    attribute: canonical path, parts joined by dots, a part in back-ticks unless it is a plain identifier.
    operator: a key of `INVERSE`.
    family: the family of the literals ('integer', 'decimal', 'double', 'text', 'boolean', 'date', 'timestamp'),
        or '' where the operator takes none.
    operands: the literals as canonical text, sorted and distinct for sets; None stands for NULL
        (only in the list of `arrays_overlap`).
    """

    attribute: str
    operator: str
    family: str
    operands: tuple[str | None, ...]


class Constant(NamedTuple):
    """TRUE, FALSE or NULL (None)."""

    value: bool | None


class Not(NamedTuple):
    operand: Tree


class And(NamedTuple):
    operands: tuple[Tree, ...]


class Or(NamedTuple):
    operands: tuple[Tree, ...]


class Xor(NamedTuple):
    left: Tree
    right: Tree


class Xnor(NamedTuple):
    left: Tree
    right: Tree


Tree = Union[Predicate, Constant, Not, And, Or, Xor, Xnor]  # noqa: UP007 (3.10 has no | on forward names)

# Every operator and its inverse, which is undefined exactly where the operator is. `<=>` and `is null` (and their
# inverses) are never undefined. `holds` is a Boolean attribute standing alone; `fails` is NOT of it.
_PAIRS = (
    ("=", "!="),
    ("in", "not in"),
    ("<", ">="),
    ("<=", ">"),
    ("between", "not between"),
    ("<=>", "not <=>"),
    ("is null", "is not null"),
    ("holds", "fails"),
    ("like", "not like"),
    ("ilike", "not ilike"),
    ("rlike", "not rlike"),
    ("array_contains", "not array_contains"),
    ("arrays_overlap", "not arrays_overlap"),
)
INVERSE = {a: b for x, y in _PAIRS for a, b in ((x, y), (y, x))}

# Predicates that are true of an event without the attribute.
TRUE_WHEN_ABSENT = frozenset({"is null", "not <=>"})

FAMILIES = ("integer", "decimal", "double", "text", "boolean", "date", "timestamp")
