"""Random predicates of a given mix of operators, as the generators draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from banyan.bench.draw import ROUNDS, distinct_rows, offsets_of
from banyan.bench.forest import BETWEEN, IN, NOT_BETWEEN, NOT_IN, OPERATORS, Predicates

EVERY = dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "IN", "NOT IN", "BETWEEN"), 1.0)


def predicates(
    random: np.random.Generator,
    count: int,
    attribute: Callable[[int], np.ndarray],
    value: Callable[[int], np.ndarray],
    values: int,
    mix: Mapping[str, float] = EVERY,
    width: float = 0.2,
    largest_set: int = 5,
    distinct: bool = True,
) -> Predicates:
    """`count` predicates. attribute, value: draw that many. mix: weights of operators. width: of BETWEEN, at most, as a
    share of the values. distinct: draw again what is there already, as far as there are enough different ones."""
    codes = np.array([OPERATORS.index(name) for name in mix])
    weights = np.array(list(mix.values()), float)

    def draw(size: int) -> list[np.ndarray]:
        operator = codes[random.choice(len(codes), size, p=weights / weights.sum())]
        low = value(size)
        high = np.minimum(values - 1, low + random.integers(0, max(1, round(width * values)), size))
        is_range = (operator == BETWEEN) | (operator == NOT_BETWEEN)
        return [attribute(size), operator, low, np.where(is_range, high, low)]

    columns = draw(count)
    again = _repeated(columns) if distinct else []
    for _ in range(ROUNDS):
        if not len(again):
            break
        for column, fresh in zip(columns, draw(len(again))):
            column[again] = fresh
        again = _repeated(columns)
    return Predicates(*columns, *_sets(random, columns[1], columns[2], values, largest_set))


def _repeated(columns: list[np.ndarray]) -> np.ndarray:
    """The places of predicates that are there already. Sets differ by their members, which come later."""
    order = np.lexsort(columns)
    same = np.ones(len(order) - 1, bool) if len(order) else np.zeros(0, bool)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    again = order[1:][same]
    return again[(columns[1][again] & ~1) != IN]


def _sets(
    random: np.random.Generator, operator: np.ndarray, low: np.ndarray, values: int, largest: int
) -> tuple[np.ndarray, np.ndarray]:
    """starts and members: sets of two or more, one of them `low`; a set of one would be an equality."""
    largest = min(largest, values)
    is_set = (operator == IN) | (operator == NOT_IN)
    sizes = np.where(is_set, random.integers(min(2, largest), largest + 1, len(operator)), 0)
    starts = offsets_of(sizes)
    row = np.repeat(np.arange(len(operator)), sizes)
    fixed = starts[:-1][is_set]

    def draw(size: int) -> np.ndarray:
        return random.integers(0, values, size)

    members = distinct_rows(draw, row)
    # `low` in the first place, unless another member is `low` already.
    there = np.zeros(len(operator), bool)
    there[row[members == low[row]]] = True
    free = fixed[~there[is_set]]
    members[free] = low[row[free]]
    return starts, members
