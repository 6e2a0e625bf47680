"""BEGen of the BE-Tree paper: conjunctions spawned from base events, with a chosen probability to match.

An event is one of `100 / match_percent` base events (attribute = value pairs). An expression keeps some pairs of one
base, and turns a share of them into other operators that the base's value still satisfies. So an event matches the
expressions of its base, and others by chance. (The paper's Table II allows `<` and `>` of the value itself, which does
not satisfy it; here they are strict.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from banyan.bench.draw import distinct_rows, offsets_of, zipf
from banyan.bench.forest import (
    AND,
    BETWEEN,
    EQ,
    GE,
    GT,
    IN,
    LE,
    LT,
    NE,
    NOT_IN,
    Events,
    Forest,
    Layers,
    Predicates,
    numbered,
    without_repeats,
)

CLASSES = {
    "min": [EQ],
    "low": [EQ, IN],
    "med": [LT, LE, EQ, GE, GT, IN, BETWEEN],
    "high": [LT, LE, EQ, GE, GT, IN, BETWEEN, NE, NOT_IN],
}


@dataclass(frozen=True)
class Shape:
    """What can be chosen; the defaults are those of the paper's Table III. `width`: of BETWEEN, a share of the values;
    `equality`: share of pairs that stay as they are; `alpha`: Zipf of attributes."""

    attributes: int = 400
    values: int = 48
    size: int = 7
    pairs: int = 15
    width: float = 0.12
    equality: float = 0.3
    operators: str = "med"
    match_percent: float = 1.0
    alpha: float = 0.0
    largest_set: int = 6


DEFAULT = Shape()


def _bases(seed: int, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng([seed, 1])
    count = max(1, round(100 / shape.match_percent))
    pairs = min(shape.pairs, shape.attributes)
    row = np.repeat(np.arange(count), pairs)
    attribute = distinct_rows(lambda size: zipf(random, shape.attributes, size, shape.alpha), row)
    return attribute.reshape(count, pairs), random.integers(0, shape.values, (count, pairs))


def events(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Events:
    """`count` events: base events, each as often as any other, in random order."""
    attribute, value = _bases(seed, shape)
    which = np.random.default_rng([seed, 2]).permutation(np.arange(count) % len(attribute))
    row = np.repeat(which, attribute.shape[1])
    slot = np.tile(np.arange(attribute.shape[1]), count)
    return without_repeats(
        np.repeat(np.arange(count), attribute.shape[1]), attribute[row, slot], value[row, slot], count
    )


def forest(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Forest:
    """`count` expressions, the same number of each base."""
    attribute, value = _bases(seed, shape)
    random = np.random.default_rng([seed, 3])
    base = np.arange(count) % len(attribute)
    kept = random.random((count, attribute.shape[1])) < shape.size / attribute.shape[1]
    kept[np.arange(count), random.integers(0, attribute.shape[1], count)] |= ~kept.any(axis=1)
    row, slot = np.nonzero(kept)
    rows = _spawned(random, attribute[base[row], slot], value[base[row], slot], shape)
    layers = Layers(rows)
    arity = np.bincount(row, minlength=count)
    # A conjunction of one is its predicate.
    several = arity > 1
    starts = offsets_of(arity)
    roots = starts[:-1].copy()
    inner = np.flatnonzero(np.repeat(several, arity))
    roots[several] = layers.add(np.full(several.sum(), AND), arity[several], inner)
    return layers.forest(roots, numbered(shape.attributes), shape.values)


def _spawned(random: np.random.Generator, attribute: np.ndarray, value: np.ndarray, shape: Shape) -> Predicates:
    """A predicate for each pair that its value satisfies."""
    count, top = len(value), shape.values - 1
    codes = np.array(CLASSES[shape.operators])
    operator = np.where(random.random(count) < shape.equality, EQ, codes[random.integers(0, len(codes), count)])
    # At the ends of the domain there is nothing strictly above or below.
    operator = np.where((operator == LT) & (value == top), LE, operator)
    operator = np.where((operator == GT) & (value == 0), GE, operator)
    share = random.random(count)
    above = value + 1 + np.floor(share * (top - value)).astype(np.int64)
    below = np.floor(share * value).astype(np.int64)
    other = (value + 1 + np.floor(share * top).astype(np.int64)) % shape.values
    width = max(1, round(shape.width * shape.values))
    start = np.clip(value - np.floor(share * width).astype(np.int64), 0, None)
    end = np.minimum(top, np.maximum(value, start + width - 1))
    low = np.select(
        [operator == LT, operator == LE, operator == GT, operator == GE, operator == NE, operator == BETWEEN],
        [np.minimum(above, top), np.minimum(above, top), below, below, other, start],
        value,
    )
    is_set = (operator == IN) | (operator == NOT_IN)
    most = max(2, min(shape.largest_set, top))
    sizes = np.where(is_set, random.integers(2, most + 1, count), 0)
    starts = offsets_of(sizes)
    owner = np.repeat(np.arange(count), sizes)
    # Distances from the value, none of them 0 unless it is to be a member.
    members = distinct_rows(lambda size: random.integers(1, shape.values, size), owner)
    first = starts[:-1][operator == IN]
    members[first] = 0
    members = (members + value[owner]) % shape.values
    return Predicates(attribute, operator, low, np.where(operator == BETWEEN, end, low), starts, members)
