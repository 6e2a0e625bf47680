"""A forest and events as the files that atree.cpp reads: 32-bit integers, one array a file.

Comes from the generator's arrays, not from Banyan's parser or tables: the two sides share nothing but the workload.
"""

from __future__ import annotations

import os

import numpy as np

from banyan.bench.draw import offsets_of
from banyan.bench.forest import AND, IN, Events, Forest
from banyan.bench.zero import bounds, frequencies, negation_free


def dump(folder: str, forest: Forest, events: Events) -> None:
    """Write the negation-free form of the expressions, and the events."""
    os.makedirs(folder, exist_ok=True)
    forest = negation_free(forest)
    rows = forest.predicates
    low, high = bounds(forest)
    is_set = (rows.operator & ~1) == IN
    pairs = len(events.attribute) / max(1, events.count)
    start, child = _edges(forest, frequencies(forest, pairs))
    arrays = {
        # Values of events may lie outside of those of the rules.
        "sizes": [len(forest.names.attributes), max(forest.values, int(events.value.max(initial=0)) + 1)],
        "attribute": rows.attribute,
        "low": np.where(is_set, 0, low),
        "high": np.where(is_set, -1, high),
        "negated": rows.operator & 1,
        "set_start": rows.starts,
        "set_member": rows.members,
        "is_and": forest.operator == AND,
        "start": start,
        "child": child,
        "level": _levels(forest),
        "expressions": np.bincount(forest.roots, minlength=forest.layers[-1]),
        "event_start": events.starts,
        "event_attribute": events.attribute,
        "event_value": events.value,
    }
    for name, array in arrays.items():
        np.asarray(array).astype(np.int32).tofile(os.path.join(folder, name))


def _edges(forest: Forest, frequency: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct children of each inner node, the one least often true first: that is the access child."""
    parent = np.repeat(np.arange(len(forest.operator)), np.diff(forest.starts))
    order = np.lexsort((forest.children, frequency[forest.children], parent))
    parent, child = parent[order], forest.children[order]
    new = np.ones(len(parent), bool)
    new[1:] = (parent[1:] != parent[:-1]) | (child[1:] != child[:-1])
    return offsets_of(np.bincount(parent[new], minlength=len(forest.operator))), child[new]


def _levels(forest: Forest) -> np.ndarray:
    """One above the highest child."""
    first = forest.predicates.count
    level = np.ones(forest.layers[-1], np.int64)
    for start, end in zip(forest.layers, forest.layers[1:]):
        begins = forest.starts[start - first : end - first]
        if len(begins):
            of_children = level[forest.children[begins[0] : forest.starts[end - first]]]
            level[start:end] = 1 + np.maximum.reduceat(of_children, begins - begins[0])
    return level[first:]
