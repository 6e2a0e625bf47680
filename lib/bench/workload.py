"""The default workload of the A-Tree paper's generator, in its plainest form: AND and OR only.

Depth 3 with 4 children: a root over four sub-expressions over four predicates each, AND or OR at random, drawn
Zipf-like (0.6) from pools sized so that a predicate is mentioned 18.35 times and a sub-expression 4.33 times on
average, over 1,000 attributes with 100 values; events have 20 attributes. Figures that name no workload are of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from banyan.bench import files
from banyan.bench.draw import offsets_of, subsets, zipf
from banyan.bench.forest import BETWEEN, EQ, GE, LE, NE, Events, Forest, Layers, Predicates, numbered
from banyan.bench.texts import texts


@dataclass(frozen=True)
class Shape:
    """What can be chosen; the defaults are the paper's."""

    attributes: int = 1000
    values: int = 100
    children: int = 4
    alpha: float = 0.6
    pairs: int = 20
    predicate_sharing: float = 18.35
    sub_sharing: float = 4.33


DEFAULT = Shape()


def forest(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Forest:
    """`count` expressions."""
    random = np.random.default_rng(seed)
    children = shape.children
    subs = max(1, int(count * children / shape.sub_sharing))
    rows = max(1, int(count * children * children / shape.predicate_sharing))
    attribute = random.integers(0, shape.attributes, rows)
    operator = random.integers(0, 6, rows)
    low = random.integers(0, shape.values, rows)
    high = np.minimum(shape.values - 1, low + random.integers(0, 20, rows))
    high = np.where(operator == 5, np.minimum(shape.values - 1, low + 2), high)
    code = np.array([EQ, LE, GE, BETWEEN, NE, BETWEEN])[operator]
    layers = Layers(Predicates(attribute, code, low, high, np.zeros(rows + 1, np.int64), np.empty(0, np.int64)))
    of_sub = np.sort(zipf(random, rows, subs * children, shape.alpha).reshape(subs, children), axis=1)
    layers.add(random.integers(0, 2, subs), np.full(subs, children), of_sub.ravel())
    of_root = np.sort(zipf(random, subs, count * children, shape.alpha).reshape(count, children), axis=1)
    roots = layers.add(random.integers(0, 2, count), np.full(count, children), of_root.ravel() + rows)
    return layers.forest(roots, numbered(shape.attributes), shape.values)


def events(count: int, seed: int = 7, shape: Shape = DEFAULT) -> Events:
    """`count` events, each with `shape.pairs` attributes, all values equally likely."""
    random = np.random.default_rng(seed)
    attribute = subsets(random, shape.attributes, count, shape.pairs)
    value = random.integers(0, shape.values, attribute.size)
    return Events(offsets_of(np.full(count, attribute.shape[1])), attribute.ravel(), value)


def expressions(count: int, seed: int = 1, shape: Shape = DEFAULT) -> list[str]:
    """`count` expression texts."""
    return texts(forest(count, seed, shape))


def write_rules(path: str, count: int, seed: int = 1, shape: Shape = DEFAULT) -> None:
    """A parquet file of expression_id and expression."""
    files.write_rules(path, forest(count, seed, shape))


def write_events(path: str, count: int, seed: int = 7, shape: Shape = DEFAULT) -> None:
    """A parquet file in long form: event_id, attribute, value."""
    files.write_events(path, events(count, seed, shape), numbered(shape.attributes))
