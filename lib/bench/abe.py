"""ABE-Gen of the A-Tree paper: arbitrary Boolean expressions that share parts, all parameters of its Table 3.

From the root down: draw the operator of each node; AND and OR have `children` children, NOT one, XOR and XNOR two; at
depth `depth` stands a predicate. Children are drawn Zipf-like from a pool of sub-expressions. A pool is sized so that
at the paper's default (alpha 0.6) a draw meets each sub-expression 4.33 times on average; over two layers that makes
the 18.35 of the predicates. With alpha 0 nothing is drawn twice on purpose, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from banyan.bench import workload
from banyan.bench.draw import distinct_rows, pool_size, zipf
from banyan.bench.forest import Events, Forest, Layers, numbered
from banyan.bench.predicates import EVERY, predicates

# The paper gives its sharing ratios at this alpha.
REFERENCE = 0.6


@dataclass(frozen=True)
class Shape:
    """What can be chosen; the defaults are the paper's. `mix`: shares of AND, OR, NOT, XOR, XNOR.

    Not in Table 3, and our choice where the paper is silent: attribute_alpha (Zipf of the predicates' attributes), the
    mix of the predicates' operators (all alike), the width of BETWEEN and the size of sets.
    """

    depth: int = 3
    children: int = 4
    alpha: float = 0.6
    attributes: int = 1000
    values: int = 100
    pairs: int = 20
    mix: tuple[float, ...] = (0.4, 0.4, 0.1, 0.05, 0.05)
    attribute_alpha: float = 0.0
    sub_sharing: float = 4.33
    predicate_sharing: float = 18.35
    between_width: float = 0.2
    largest_set: int = 5
    operators: dict[str, float] = field(default_factory=lambda: dict(EVERY))


DEFAULT = Shape()


def forest(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Forest:
    """`count` expressions."""
    random = np.random.default_rng(seed)
    arities = np.array([shape.children, shape.children, 1, 2, 2])
    drawn: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    wanted = count
    for height in range(shape.depth, 1, -1):
        operator = random.choice(5, wanted, p=shape.mix)
        arity = arities[operator]
        per_draw = shape.sub_sharing if height > 2 else shape.predicate_sharing / shape.sub_sharing
        children, wanted = _children(random, arity, per_draw, shape.alpha)
        drawn.append((operator, arity, children))
    if shape.depth == 1:
        # The expressions are predicates, drawn from a pool as the leaves of deeper ones are.
        one_each = np.ones(count, np.int64)
        roots, wanted = _children(random, one_each, shape.predicate_sharing / shape.sub_sharing, shape.alpha)
    layers = Layers(
        predicates(
            random,
            wanted,
            lambda size: zipf(random, shape.attributes, size, shape.attribute_alpha),
            lambda size: random.integers(0, shape.values, size),
            shape.values,
            shape.operators,
            shape.between_width,
            shape.largest_set,
            distinct=shape.alpha > 0,
        )
    )
    below = 0
    for operator, arity, children in reversed(drawn):
        roots = layers.add(operator, arity, children + below)
        below = int(roots[0]) if len(roots) else below
    return layers.forest(roots, numbered(shape.attributes), shape.values)


def _children(random: np.random.Generator, arity: np.ndarray, sharing: float, alpha: float) -> tuple[np.ndarray, int]:
    """Which of the nodes below each slot takes, and how many such nodes there are: those that some slot takes."""
    slots = int(arity.sum())
    if alpha == 0:
        return np.arange(slots), slots
    size = pool_size(slots, sharing, REFERENCE)
    row = np.repeat(np.arange(len(arity)), arity)
    taken = distinct_rows(lambda count: zipf(random, size, count, alpha), row)
    used, taken = np.unique(taken, return_inverse=True)
    return taken, len(used)


def events(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Events:
    """`count` events, each with `shape.pairs` attributes, all values equally likely."""
    plain = workload.Shape(attributes=shape.attributes, values=shape.values, pairs=shape.pairs)
    return workload.events(count, seed, plain)
