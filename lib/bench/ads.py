"""A workload like the display advertisements of the A-Tree paper, from the statistics it publishes (section 6.2).

1 to 56 predicates in an expression, depth 1 to 9, 122 attributes, about 20 of them in an event; sharing falls from
68.76 mentions of a predicate to 2.88 of a sub-expression at level 9, Zipf-like at every level. The data are not public;
what is not told (names, values, mix of operators and depths, shape of the trees) is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from banyan.bench.draw import distinct_rows, pool_size, zipf
from banyan.bench.forest import (
    AND,
    BETWEEN,
    EQ,
    GE,
    LE,
    NOT,
    OR,
    Events,
    Forest,
    Layers,
    Names,
    Predicates,
    without_repeats,
)
from banyan.bench.predicates import predicates

_NAMED = ["channel", "region", "position", "gender", "language", "device", "browser", "category"]


@dataclass(frozen=True)
class Shape:
    """What can be chosen. `depths`: chances of depth 1 to 9; the first `text` of the attributes hold text."""

    attributes: int = 122
    text: int = 90
    values: int = 1000
    pairs: int = 20
    alpha: float = 0.6
    attribute_alpha: float = 0.8
    predicate_sharing: float = 68.76
    top_sharing: float = 2.88
    depths: tuple[float, ...] = (0.03, 0.3, 0.25, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02)
    negated: float = 0.05


DEFAULT = Shape()


def forest(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Forest:
    """`count` expressions."""
    random = np.random.default_rng([seed, 1])
    depth = 1 + random.choice(len(shape.depths), count, p=np.array(shape.depths) / sum(shape.depths))
    top = len(shape.depths)
    # Slots for nodes: first one for each expression, then those for the children of the nodes above. `height` is
    # that of the node a slot asks for, `mentions` how often the slot is in the texts, `taken` the node it got.
    height, mentions = depth, np.ones(count)
    taken = np.full(count, -1)
    grown: list[tuple[int, np.ndarray, np.ndarray, slice]] = []
    for level in range(top, 0, -1):
        here = np.flatnonzero(height == level)
        taken[here], wanted = _drawn(random, mentions[here], _sharing(level, top, shape), shape.alpha)
        if level == 1:
            break
        operator, arity = _nodes(random, wanted, level, shape)
        slots = slice(len(height), len(height) + int(arity.sum()))
        grown.append((level, operator, arity, slots))
        weight = np.bincount(taken[here], mentions[here], wanted)
        below = np.ones(slots.stop - slots.start, np.int64)
        below[np.cumsum(arity) - arity] = level - 1
        height = np.concatenate([height, below])
        mentions = np.concatenate([mentions, np.repeat(weight, arity)])
        taken = np.concatenate([taken, np.full(len(below), -1)])
    layers = Layers(_predicates(random, wanted, shape))
    start = np.zeros(top + 1, np.int64)
    for level, operator, arity, slots in reversed(grown):
        start[level] = layers.ends[-1]
        layers.add(operator, arity, taken[slots] + start[height[slots]])
    return layers.forest(taken[:count] + start[depth], names(shape), shape.values)


def _sharing(height: int, top: int, shape: Shape) -> float:
    """Mentions per different node: from predicates up to the top it falls by the same factor from level to level."""
    share = (height - 1) / max(1, top - 1)
    return shape.predicate_sharing ** (1 - share) * shape.top_sharing**share


def _drawn(random: np.random.Generator, mentions: np.ndarray, sharing: float, alpha: float) -> tuple[np.ndarray, int]:
    """The node that each slot gets, and how many nodes there are."""
    if not len(mentions):
        return np.empty(0, np.int64), 0
    # Mentions multiply on the way down; the draw itself has to share only the rest.
    per_draw = max(1.0, sharing * len(mentions) / mentions.sum())
    size = pool_size(len(mentions), per_draw, alpha)
    used, drawn = np.unique(zipf(random, size, len(mentions), alpha), return_inverse=True)
    return drawn, len(used)


def _nodes(random: np.random.Generator, count: int, level: int, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Operators and arities. The first child is one level below, the others are predicates: so depth and the number of
    predicates stay within the paper's bounds (35 at level 2, up to three more at each of seven levels)."""
    if level == 2:
        arity = np.minimum(35, 1 + random.geometric(0.12, count))
        return random.choice([AND, OR], count), arity
    negated = random.random(count) < shape.negated
    arity = np.where(negated, 1, random.integers(2, 5, count))
    return np.where(negated, NOT, random.choice([AND, OR], count)), arity


def _cardinalities(shape: Shape) -> np.ndarray:
    """How many values each attribute has: from two, such as a gender, to all, such as a category."""
    random = np.random.default_rng(shape.attributes)
    return np.exp(random.uniform(np.log(2), np.log(shape.values), shape.attributes)).astype(np.int64) + 1


def _predicates(random: np.random.Generator, count: int, shape: Shape) -> Predicates:
    """Texts are compared with = and IN and their inverses, numbers mostly with ranges."""
    found = predicates(
        random,
        count,
        lambda size: zipf(random, shape.attributes, size, shape.attribute_alpha),
        lambda size: random.integers(0, shape.values, size),
        shape.values,
        {"=": 3, "IN": 3, "!=": 0.5, "NOT IN": 0.5},
        largest_set=8,
    )
    most = _cardinalities(shape)[found.attribute]
    low, high = found.low % most, found.low % most
    ranged = (found.operator == EQ) & (found.attribute >= shape.text) & (random.random(count) < 0.8)
    operator = np.where(ranged, np.array([LE, GE, BETWEEN])[random.integers(0, 3, count)], found.operator)
    width = np.floor(random.random(count) * most / 5).astype(np.int64)
    high = np.where(operator == BETWEEN, np.minimum(most - 1, low + width), high)
    row = np.repeat(np.arange(count), np.diff(found.starts))
    members = found.members % most[row]
    starts, members, _ = without_repeats(row, members, members, count)
    return Predicates(found.attribute, operator, low, high, starts, members)


def names(shape: Shape = DEFAULT) -> Names:
    labels = [*_NAMED, *(f"a{i}" for i in range(len(_NAMED), shape.attributes))][: shape.attributes]
    return Names(labels, np.arange(shape.attributes) < shape.text)


def events(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Events:
    """`count` sessions; common attributes and values are common here too."""
    random = np.random.default_rng([seed, 2])
    row = np.repeat(np.arange(count), np.clip(random.poisson(shape.pairs, count), 1, shape.attributes))
    attribute = distinct_rows(lambda n: zipf(random, shape.attributes, n, shape.attribute_alpha), row)
    value = np.floor(_cardinalities(shape)[attribute] * random.random(len(row)) ** 2).astype(np.int64)
    return without_repeats(row, attribute, value, count)
