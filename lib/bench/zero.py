"""The negation-free form of a forest, and how often its nodes are expected to be true.

The paper's zero suppression filter, on arrays: every node is kept in the polarities that are asked for, a NOT becomes
the other polarity of its child, XOR and XNOR become an OR of two ANDs. After it only what is true needs to flow.
"""

from __future__ import annotations

import numpy as np

from banyan.bench.draw import offsets_of
from banyan.bench.forest import AND, IN, NOT, OR, XOR, Forest, Layers, Predicates


def negation_free(forest: Forest) -> Forest:
    """The same expressions with AND and OR only; an event satisfies the same ones of them."""
    asked = _asked(forest)
    total = forest.layers[-1]
    first = forest.predicates.count
    # The new number of each node, as it is and negated.
    new = np.full((total, 2), -1, np.int64)
    predicates = _polarities(forest.predicates, asked[:first], new)
    layers = Layers(predicates)
    for start, end in zip(forest.layers, forest.layers[1:]):
        _layer(forest, start, end, asked, new, layers)
    return layers.forest(new[forest.roots, 0], forest.names, forest.values)


def _asked(forest: Forest) -> np.ndarray:
    """Which nodes are needed as they are (column 0) and negated (column 1)."""
    first = forest.predicates.count
    asked = np.zeros((forest.layers[-1], 2), bool)
    asked[forest.roots, 0] = True
    for start, end in reversed(list(zip(forest.layers, forest.layers[1:]))):
        arity = np.diff(forest.starts[start - first : end - first + 1])
        operator = np.repeat(forest.operator[start - first : end - first], arity)
        children = forest.children[forest.starts[start - first] : forest.starts[end - first]]
        for polarity in (0, 1):
            wanted = np.repeat(asked[start:end, polarity], arity)
            straight, both = operator <= OR, operator >= XOR
            asked[children[wanted & (straight | both)], polarity] = True
            asked[children[wanted & ((operator == NOT) | both)], 1 - polarity] = True
    return asked


def _polarities(rows: Predicates, asked: np.ndarray, new: np.ndarray) -> Predicates:
    plain, inverse = np.flatnonzero(asked[:, 0]), np.flatnonzero(asked[:, 1])
    new[plain, 0] = np.arange(len(plain))
    new[inverse, 1] = np.arange(len(plain), len(plain) + len(inverse))
    taken = np.concatenate([plain, inverse])
    operator = np.concatenate([rows.operator[plain], rows.operator[inverse] ^ 1])
    lengths = np.diff(rows.starts)[taken]
    starts = offsets_of(lengths)
    places = np.arange(starts[-1]) - np.repeat(starts[:-1] - rows.starts[taken], lengths)
    return Predicates(rows.attribute[taken], operator, rows.low[taken], rows.high[taken], starts, rows.members[places])


def _layer(forest: Forest, start: int, end: int, asked: np.ndarray, new: np.ndarray, layers: Layers) -> None:
    first = forest.predicates.count
    operator = forest.operator[start - first : end - first]
    begins = forest.starts[start - first : end - first]
    arity = np.diff(forest.starts[start - first : end - first + 1])
    # Two layers: the ANDs that XOR and XNOR need below them, then the nodes themselves.
    for polarity in (0, 1):
        here = np.flatnonzero(asked[start:end, polarity] & (operator == NOT))
        new[start + here, polarity] = new[forest.children[begins[here]], 1 - polarity]
    pairs = [np.flatnonzero(asked[start:end, polarity] & (operator >= XOR)) for polarity in (0, 1)]
    halves = [_halves(forest, operator, begins, here, polarity, new) for polarity, here in enumerate(pairs)]
    below = np.concatenate([half.ravel() for half in halves])
    count = len(below) // 2
    ands = layers.add(np.full(count, AND), np.full(count, 2), below) if count else np.empty(0, np.int64)
    operators, arities, children, places = [], [], [], []
    for polarity in (0, 1):
        here = np.flatnonzero(asked[start:end, polarity] & (operator <= OR))
        operators.append(operator[here] if polarity == 0 else AND + OR - operator[here])
        arities.append(arity[here])
        offsets = offsets_of(arity[here])
        at = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - begins[here], arity[here])
        children.append(new[forest.children[at], polarity])
        places.append(here)
    at = 0
    for here in pairs:
        operators.append(np.full(len(here), OR))
        arities.append(np.full(len(here), 2))
        children.append(ands[at : at + 2 * len(here)])
        at += 2 * len(here)
    made = layers.add(np.concatenate(operators), np.concatenate(arities), np.concatenate(children))
    for (polarity, here), ids in zip(
        ((0, places[0]), (1, places[1]), (0, pairs[0]), (1, pairs[1])),
        np.split(made, np.cumsum([len(places[0]), len(places[1]), len(pairs[0])])),
    ):
        new[start + here, polarity] = ids


def _halves(
    forest: Forest, operator: np.ndarray, begins: np.ndarray, here: np.ndarray, polarity: int, new: np.ndarray
) -> np.ndarray:
    """Per node the operands of its two ANDs: of XOR (a, not b) and (not a, b), of XNOR (a, b) and (not a, not b)."""
    a, b = forest.children[begins[here]], forest.children[begins[here] + 1]
    # A negated XNOR is an XOR.
    differ = ((operator[here] == XOR) == (polarity == 0)).astype(np.int64)
    return np.stack([new[a, 0], new[b, differ], new[a, 1], new[b, 1 - differ]], axis=1)


def frequencies(forest: Forest, pairs: float) -> np.ndarray:
    """The expected share of events that satisfy each node, as if everything were independent and values uniform.

    pairs: attributes an event has on average. The forest is negation-free.
    """
    rows = forest.predicates
    there = min(1.0, pairs / max(1, len(forest.names.attributes)))
    width = np.clip(bounds_width(forest), 0, forest.values) / forest.values
    found = np.empty(forest.layers[-1])
    found[: rows.count] = np.where(rows.operator & 1, 1 - width, width) * there
    first = rows.count
    for start, end in zip(forest.layers, forest.layers[1:]):
        begins = forest.starts[start - first : end - first]
        of_children = found[forest.children[forest.starts[start - first] : forest.starts[end - first]]]
        if not len(begins):
            continue
        at = begins - begins[0]
        both = np.exp(np.add.reduceat(np.log(np.maximum(of_children, 1e-30)), at))
        either = 1 - np.exp(np.add.reduceat(np.log1p(-np.minimum(of_children, 1 - 1e-12)), at))
        found[start:end] = np.where(forest.operator[start - first : end - first] == AND, both, either)
    return found


def bounds(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest value of each predicate or, of a negated one, of its inverse; sets have none."""
    rows = forest.predicates
    kind = rows.operator & ~1
    top = np.iinfo(np.int32).max
    # By the pair: = and !=, < and >=, > and <=, IN, BETWEEN, LIKE.
    low = np.select([kind == 2, kind == 4], [-top, rows.low + 1], rows.low)
    high = np.select([kind == 0, kind == 2, kind == 4], [rows.low, rows.low - 1, top], rows.high)
    return low, high


def bounds_width(forest: Forest) -> np.ndarray:
    """How many of the values satisfy each predicate or, of a negated one, its inverse."""
    rows = forest.predicates
    low, high = bounds(forest)
    ranges = np.minimum(high, forest.values - 1) - np.maximum(low, 0) + 1
    return np.where((rows.operator & ~1) == IN, np.diff(rows.starts), np.maximum(ranges, 0))
