"""Forests as text: for Banyan, for Spark SQL, which has no XOR, and for Python.

Joined by Arrow, layer by layer, so that a million expressions take seconds; the roots, which are most of the text, are
joined a stretch at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from banyan.bench.draw import offsets_of
from banyan.bench.forest import (
    AND,
    BETWEEN,
    EQ,
    IN,
    LIKE,
    NE,
    NOT,
    NOT_BETWEEN,
    NOT_IN,
    OPERATORS,
    OR,
    XNOR,
    XOR,
    Forest,
)

STRETCH = 50_000


class Dialect(NamedTuple):
    """The words between operands; `bare`: whether a predicate stands without parentheses."""

    words: dict[int, str]
    bare: bool


BANYAN = Dialect({AND: " AND ", OR: " OR ", NOT: "NOT ", XOR: " XOR ", XNOR: " XNOR "}, True)
# In SQL's logic <> and = of two conditions are undefined where either is, as XOR and XNOR are.
SPARK = Dialect({AND: " AND ", OR: " OR ", NOT: "NOT ", XOR: " <> ", XNOR: " = "}, False)
# For forests without negation: what is undefined may then count as false.
PYTHON = Dialect({AND: " and ", OR: " or "}, False)


def texts(forest: Forest, dialect: Dialect = BANYAN, only: np.ndarray | None = None) -> list[str]:
    """The expressions, all of them or those at the places in `only`."""
    return [text for part in stretches(forest, dialect, only) for text in part.to_pylist()]


def stretches(forest: Forest, dialect: Dialect = BANYAN, only: np.ndarray | None = None) -> Iterator[pa.Array]:
    """The expressions in stretches of some ten thousand."""
    roots = forest.roots if only is None else forest.roots[only]
    needed = _needed(forest, roots) if only is not None else None
    known = _predicates(forest, dialect, needed)
    # Text of the last layer is made a stretch at a time, and forgotten.
    for start, end in zip(forest.layers[:-1], forest.layers[1:-1]):
        ids = np.arange(start, end)
        wanted = ids if needed is None else ids[needed[start:end]]
        made = _joined(forest, known, wanted, dialect)
        if len(wanted) < len(ids):
            places = np.full(len(ids), -1)
            places[wanted - start] = np.arange(len(wanted))
            made = made.take(pa.array(places, mask=places < 0))
        made = pc.binary_join_element_wise(*(_text(part) for part in ("(", made, ")", "")))
        known = pa.concat_arrays([known, made])
    for at in range(0, len(roots), STRETCH):
        yield _roots(forest, known, roots[at : at + STRETCH], dialect)


def _text(part: str | pa.Array) -> pa.Scalar | pa.Array:
    return pa.scalar(part, pa.large_string()) if isinstance(part, str) else part


def _needed(forest: Forest, roots: np.ndarray) -> np.ndarray:
    needed = np.zeros(forest.layers[-1], bool)
    needed[roots] = True
    first = forest.predicates.count
    for start, end in reversed(list(zip(forest.layers, forest.layers[1:]))):
        of_nodes = slice(forest.starts[start - first], forest.starts[end - first])
        parents = np.repeat(needed[start:end], np.diff(forest.starts[start - first : end - first + 1]))
        needed[forest.children[of_nodes][parents]] = True
    return needed


def _roots(forest: Forest, known: pa.Array, roots: np.ndarray, dialect: Dialect) -> pa.Array:
    low = roots < len(known)
    if not low.any():
        return _joined(forest, known, roots, dialect)
    of_low = known.take(pa.array(roots[low]))
    inner = pa.array(roots[low] >= forest.predicates.count)
    # Inner nodes are kept in parentheses, and an expression needs none around it.
    of_low = pc.if_else(inner, pc.utf8_slice_codeunits(of_low, 1, -1), of_low)
    if low.all():
        return of_low
    of_high = _joined(forest, known, roots[~low], dialect)
    order = np.empty(len(roots), np.int64)
    order[np.flatnonzero(low)] = np.arange(low.sum())
    order[np.flatnonzero(~low)] = np.arange(low.sum(), len(roots))
    return pa.concat_arrays([of_low, of_high]).take(pa.array(order))


def _joined(forest: Forest, known: pa.Array, nodes: np.ndarray, dialect: Dialect) -> pa.Array:
    """The texts of inner nodes from those of their children, without parentheses around them."""
    inner = nodes - forest.predicates.count
    lengths = forest.starts[inner + 1] - forest.starts[inner]
    offsets = offsets_of(lengths)
    places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - forest.starts[inner], lengths)
    children = known.take(pa.array(forest.children[places]))
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), children)
    operator = forest.operator[inner].astype(np.int64)
    words = pa.array([dialect.words.get(code, "") for code in range(5)], pa.large_string())
    joined = pc.binary_join(lists, words.take(pa.array(operator)))
    if NOT in dialect.words and (operator == NOT).any():
        before = pa.array(np.where(operator == NOT, dialect.words[NOT], "").tolist(), pa.large_string())
        joined = pc.binary_join_element_wise(before, joined, _text(""))
    return joined


def _predicates(forest: Forest, dialect: Dialect, needed: np.ndarray | None) -> pa.Array:
    rows = forest.predicates
    write = _python if dialect is PYTHON else _sql
    names, is_text, digits = forest.names
    sets: list[list[int] | None] = [None] * rows.count
    for i in np.flatnonzero((rows.operator == IN) | (rows.operator == NOT_IN)).tolist():
        sets[i] = rows.members[rows.starts[i] : rows.starts[i + 1]].tolist()
    texts_of = is_text.tolist()

    def literal(attribute: int, value: int) -> str:
        return f"'{value_text(value, digits)}'" if texts_of[attribute] else str(value)

    made: list[str | None] = []
    wanted = needed.tolist() if needed is not None else [True] * rows.count
    columns = (rows.attribute.tolist(), rows.operator.tolist(), rows.low.tolist(), rows.high.tolist(), sets, wanted)
    for attribute, operator, low, high, members, there in zip(*columns):
        if not there:
            made.append(None)
            continue
        text = write(names[attribute], operator, low, high, members, lambda v, a=attribute: literal(a, v), digits)
        made.append(text if dialect.bare else f"({text})")
    return pa.array(made, pa.large_string())


def value_text(value: int, digits: int) -> str:
    """How a value of a text attribute is written."""
    return f"{value:0{digits}d}" if digits else f"v{value}"


def _sql(name: str, operator: int, low: int, high: int, members: list[int] | None, literal, digits: int) -> str:
    word = OPERATORS[operator]
    if members is not None:
        return f"{name} {word} ({', '.join(map(literal, members))})"
    if operator in (BETWEEN, NOT_BETWEEN):
        return f"{name} {word} {literal(low)} AND {literal(high)}"
    if operator >= LIKE:
        return f"{name} {word} '{_prefix(low, high, digits)}%'"
    return f"{name} {word} {literal(low)}"


def _prefix(low: int, high: int, digits: int) -> str:
    """The digits that all numbers from low to high share: 1200 to 1299 of six digits is 0012."""
    return f"{low:0{digits}d}"[: digits - len(str(high - low + 1)) + 1]


def _python(name: str, operator: int, low: int, high: int, members: list[int] | None, literal, digits: int) -> str:
    """Over a dict of an event; false where the attribute is absent, which is what the default value is chosen for."""
    first = literal(members[0] if members else low)
    absent = first if operator in (NE, NOT_IN, NOT_BETWEEN) else "nan"
    if operator >= LIKE:
        prefix = _prefix(low, high, digits)
        negated = "not " if operator > LIKE else ""
        return f"{negated}e.get('{name}', {repr(prefix) if negated else repr('')}).startswith('{prefix}')"
    value = f"e.get('{name}', {absent})"
    if members is not None:
        return f"{value} {'in' if operator == IN else 'not in'} {{{', '.join(map(literal, members))}}}"
    if operator in (BETWEEN, NOT_BETWEEN):
        return f"{'' if operator == BETWEEN else 'not '}{literal(low)} <= {value} <= {literal(high)}"
    return f"{value} {'==' if operator == EQ else OPERATORS[operator]} {literal(low)}"
