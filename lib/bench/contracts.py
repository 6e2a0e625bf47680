"""The generator of the Dewey and Interval paper (SIGMOD'10): advertising contracts as AND/OR trees of conjunctions.

The root is an AND, and AND and OR alternate; a node has 2 children with 0.7, 3 with 0.2, 1 and 4 with the rest; a leaf
is a conjunction of IN and NOT IN tests. The paper's statistics of real contracts (sizes of conjunctions, attributes,
values) are not given: Zipf takes their place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from banyan.bench.draw import distinct_rows, offsets_of, zipf
from banyan.bench.forest import AND, EQ, IN, NE, NOT_IN, OR, Events, Forest, Layers, Names, Predicates, without_repeats


@dataclass(frozen=True)
class Shape:
    """What can be chosen. `leaf`: chance to end between the depths; the paper can be read as 0 (1 and 4 children have
    0.05 each) or as 0.05 (they have 0.05 together). `sizes`: chances of conjunctions of 1, 2, ... tests."""

    min_depth: int = 1
    max_depth: int = 3
    leaf: float = 0.05
    sizes: tuple[float, ...] = (0.5, 0.3, 0.2)
    attributes: int = 30
    values: int = 12
    largest_set: int = 4
    negated: float = 0.1
    alpha: float = 1.0
    pairs: int = 20


DEFAULT = Shape()


def forest(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Forest:
    """`count` expressions."""
    random = np.random.default_rng([seed, 1])
    arities = _arities(random, count, shape)
    leaves = sum(int((arity == 0).sum()) for arity in arities)
    layers, conjunctions = _conjunctions(random, leaves, shape)
    # From the deepest up: each depth hands its nodes to the one above, in order.
    made, at = np.empty(0, np.int64), leaves
    for depth in range(len(arities) - 1, -1, -1):
        arity = arities[depth]
        nodes = np.empty(len(arity), np.int64)
        ends = arity == 0
        nodes[ends] = conjunctions[at - ends.sum() : at]
        at -= int(ends.sum())
        operator = AND if depth % 2 == 0 else OR
        inner = arity[~ends]
        nodes[~ends] = layers.add(np.full(len(inner), operator), inner, made)
        made = nodes
    names = [f"a{i}" for i in range(shape.attributes)]
    return layers.forest(made, Names(names, np.ones(shape.attributes, bool)), shape.values)


def _arities(random: np.random.Generator, count: int, shape: Shape) -> list[np.ndarray]:
    """Numbers of children, depth by depth from the roots; 0 is a leaf."""
    one_or_four = (0.1 - shape.leaf) / 2
    found, wanted = [], count
    for depth in range(shape.max_depth + 1):
        if depth == shape.max_depth:
            arity = np.zeros(wanted, np.int64)
        else:
            arity = random.choice(5, wanted, p=[shape.leaf, one_or_four, 0.7, 0.2, one_or_four])
            if depth < max(1, shape.min_depth):
                arity[arity == 0] = 2
        found.append(arity)
        wanted = int(arity.sum())
    return found


def _conjunctions(random: np.random.Generator, count: int, shape: Shape) -> tuple[Layers, np.ndarray]:
    sizes = 1 + random.choice(len(shape.sizes), count, p=np.array(shape.sizes) / sum(shape.sizes))
    row = np.repeat(np.arange(count), sizes)
    attribute = distinct_rows(lambda n: zipf(random, shape.attributes, n, shape.alpha), row)
    members_of = random.integers(1, shape.largest_set + 1, len(row))
    negated = random.random(len(row)) < shape.negated
    starts = offsets_of(members_of)
    owner = np.repeat(np.arange(len(row)), members_of)
    members = distinct_rows(lambda n: zipf(random, shape.values, n, shape.alpha), owner)
    low = members[starts[:-1]]
    # A set of one is an equality.
    one = members_of == 1
    operator = np.where(one, np.where(negated, NE, EQ), np.where(negated, NOT_IN, IN))
    in_sets = ~one[owner]
    layers = Layers(
        Predicates(attribute, operator, low, low, offsets_of(np.where(one, 0, members_of)), members[in_sets])
    )
    several = sizes > 1
    found = offsets_of(sizes)[:-1].copy()
    found[several] = layers.add(np.full(several.sum(), AND), sizes[several], np.flatnonzero(several[row]))
    return layers, found


def events(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Events:
    """`count` visits: attributes and values as the contracts draw them."""
    random = np.random.default_rng([seed, 2])
    row = np.repeat(np.arange(count), min(shape.pairs, shape.attributes))
    attribute = distinct_rows(lambda n: zipf(random, shape.attributes, n, shape.alpha), row)
    return without_repeats(row, attribute, zipf(random, shape.values, len(row), shape.alpha), count)
