"""Expressions as arrays: what every generator makes, before it is text.

Predicates are numbered from 0, inner nodes after them, children before their parents. From this come the texts, and,
without a detour over Banyan's parser and builder, the files that the yardstick reads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from banyan.bench.draw import offsets_of

AND, OR, NOT, XOR, XNOR = range(5)
# In pairs, so that the inverse of an operator is its code with the last bit flipped.
OPERATORS = ("=", "!=", "<", ">=", ">", "<=", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN", "LIKE", "NOT LIKE")
EQ, NE, LT, GE, GT, LE, IN, NOT_IN, BETWEEN, NOT_BETWEEN, LIKE, NOT_LIKE = range(12)


class Predicates(NamedTuple):
    """`low` and `high`: the operand, or the two of BETWEEN. Sets: of predicate i `members[starts[i]:starts[i + 1]]`.

    LIKE is a prefix of values written with a fixed number of digits, so it is also the range low to high.
    """

    attribute: np.ndarray
    operator: np.ndarray
    low: np.ndarray
    high: np.ndarray
    starts: np.ndarray
    members: np.ndarray

    def __len__(self) -> int:
        return len(self.attribute)

    @property
    def count(self) -> int:
        return len(self.attribute)


class Names(NamedTuple):
    """How attributes are called, and which of them hold text; `digits` is the length of such texts (0: as is)."""

    attributes: list[str]
    is_text: np.ndarray
    digits: int = 0


class Forest(NamedTuple):
    """`operator`, `starts` and `children` are those of inner nodes; node number p + i is the i-th of them.

    `layers`: the node number at which each layer ends, predicates first; a node's children are in layers below its own.
    `roots`: the node of each expression.
    """

    predicates: Predicates
    operator: np.ndarray
    starts: np.ndarray
    children: np.ndarray
    layers: tuple[int, ...]
    roots: np.ndarray
    names: Names
    values: int


class Events(NamedTuple):
    """Of event i: attributes and values `[starts[i]:starts[i + 1]]`."""

    starts: np.ndarray
    attribute: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    def first(self, count: int) -> Events:
        """Only the first events."""
        count = min(count, self.count)
        end = self.starts[count]
        return Events(self.starts[: count + 1], self.attribute[:end], self.value[:end])


def without_repeats(row: np.ndarray, attribute: np.ndarray, value: np.ndarray, count: int) -> Events:
    """Events whose attributes are unique: of a repeated one the first stays."""
    order = np.lexsort((attribute, row))
    first = np.ones(len(order), bool)
    first[1:] = (row[order][1:] != row[order][:-1]) | (attribute[order][1:] != attribute[order][:-1])
    kept = np.sort(order[first])
    return Events(offsets_of(np.bincount(row[kept], minlength=count)), attribute[kept], value[kept])


class Layers:
    """A forest while it grows from below."""

    def __init__(self, predicates: Predicates):
        self.predicates = predicates
        self.ends = [predicates.count]
        self._operators: list[np.ndarray] = []
        self._arities: list[np.ndarray] = []
        self._children: list[np.ndarray] = []

    def add(self, operator: np.ndarray, arity: np.ndarray, children: np.ndarray) -> np.ndarray:
        """A layer of nodes above all those that are there; their numbers."""
        start = self.ends[-1]
        self.ends.append(start + len(operator))
        self._operators.append(operator.astype(np.int8))
        self._arities.append(arity)
        self._children.append(children)
        return np.arange(start, self.ends[-1])

    def forest(self, roots: np.ndarray, names: Names, values: int) -> Forest:
        none = [np.empty(0, np.int64)]
        return Forest(
            self.predicates,
            np.concatenate(self._operators or none).astype(np.int8),
            offsets_of(np.concatenate(self._arities or none)),
            np.concatenate(self._children or none),
            tuple(self.ends),
            roots,
            names,
            values,
        )


def numbered(attributes: int) -> Names:
    """a0, a1, ..., all of them numbers."""
    return Names([f"a{i}" for i in range(attributes)], np.zeros(attributes, bool))


def occurrences(forest: Forest) -> np.ndarray:
    """How often each node is mentioned in the texts."""
    times = np.bincount(forest.roots, minlength=forest.layers[-1]).astype(np.float64)
    first = forest.predicates.count
    for start, end in reversed(list(zip(forest.layers, forest.layers[1:]))):
        nodes = slice(forest.starts[start - first], forest.starts[end - first])
        arity = np.diff(forest.starts[start - first : end - first + 1])
        times += np.bincount(forest.children[nodes], np.repeat(times[start:end], arity), minlength=len(times))
    return times


def sharing(forest: Forest) -> list[float]:
    """Mentions per different node that is mentioned, layer by layer from the predicates."""
    times = occurrences(forest)
    found = []
    for start, end in zip((0, *forest.layers), forest.layers):
        layer = times[start:end]
        found.append(float(layer.sum() / max(1, np.count_nonzero(layer))))
    return found
