"""The plan that the driver makes: each bucket decides its own roots, from tables that name children by slots."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from banyan.build.plain import PlainIndex
from banyan.build.rows import EDGES, to_arrow
from banyan.match.buckets import read, stretches
from banyan.match.small_plan import _Graph
from banyan.packed import pack, unpack
from tests.trees import random_tree


def decided(tables: dict[str, pa.Table], true: set[int]) -> dict[int, bool]:
    """Whether each root of a bucket is true where these leaves are; asked of what a worker reads."""
    (pieces,) = unpack(b for part, table in tables.items() for b in pack(0, 7, part, table)).values()
    bucket = read(pieces)
    assert not len(bucket.inner) and not bucket.wanted
    ids = [*bucket.leaves["node_id"].to_pylist(), *bucket.parents.tolist()]
    first = len(bucket.leaves)
    value = [i in true for i in ids[:first]]
    asked = set()
    for begin, end in stretches(bucket):
        for parent in range(begin, end):
            children = bucket.children[bucket.starts[parent] : bucket.starts[parent + 1]].tolist()
            assert max(children) < first + begin  # all on levels below
            asked.update(children)
            value.append((any if bucket.is_or[parent] else all)([value[child] for child in children]))
    carried = bucket.carried.tolist()
    assert len(set(carried)) == len(carried)
    found = [slot for slot in range(first, len(ids)) if slot not in asked] + carried
    assert len(set(found)) == len(found)
    return {ids[slot]: value[slot] for slot in found}


@pytest.mark.parametrize("buckets", [1, 2, 5])
def test_every_root_is_decided_once(buckets):
    rng = Random(buckets)
    for _ in range(12):
        trees = {i: random_tree(rng, depth=rng.choice((0, 1, 2, 3)), names="abcdef") for i in range(30)}
        index = PlainIndex.of_trees(trees)
        edges = index.rows()["edges"]
        rng.shuffle(edges)
        leaves = rng.sample(sorted(index.predicates), len(index.predicates))
        graph = _Graph.of(np.array(leaves, np.int64), to_arrow(edges, EDGES))
        of_rules = {node for node in index.expressions.values() if node in index.level}
        some = rng.sample(sorted(of_rules), len(of_rules) * 2 // 3)  # the rest is left out by a `where`
        number = {node_id: n for n, node_id in enumerate(graph.ids.tolist())}
        roots = np.array([number[i] for i in some])
        wanted = np.flatnonzero(graph.below(roots)[0][: len(leaves)])
        rows = pa.table({"node_id": pa.array(graph.ids[wanted]), "attribute": pa.array(wanted)})
        true = {leaf for leaf in leaves if rng.random() < 0.6}
        true_predicates = {index.predicates[leaf] for leaf in true}
        _, true_nodes = index.visit(true_predicates.__contains__)
        found: dict[int, bool] = {}
        for slot in range(buckets):
            own = roots[graph.ids[roots] % buckets == slot]
            if len(own):
                more = decided(graph.bucket(own, rows, wanted), true)
                assert not more.keys() & found.keys()
                found |= more
        assert found == {node_id: node_id in true_nodes for node_id in some}


def test_access_children_come_first():
    """A worker intersects in the order of the slots."""
    index = PlainIndex.build({1: "a = 1 AND b > 1 AND c != 1", 2: "d > 1 AND (a = 1 OR b = 2)"})
    graph = _Graph.of(np.array(sorted(index.predicates)), to_arrow(index.rows()["edges"], EDGES))
    for node_id, access in index.access_child.items():
        at = np.flatnonzero(graph.ids[graph.parent] == node_id)
        assert graph.ids[graph.child[at[0]]] == access
