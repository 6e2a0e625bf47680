"""The level kernel: event sets of parents from those of their children, against Python's own sets."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pyarrow as pa
import pytest
from pyroaring import BitMap

from banyan.match.levels import parents, set_kernel


class Parent(NamedTuple):
    node_id: int
    level: int
    operator: str
    children: tuple[int, ...]
    access: int | None = None


def edge_table(nodes: list[Parent], rng: Random | None = None, chunks: int = 1) -> pa.Table:
    """One row per edge, in any order, as a round of a match has them."""
    rows = [
        (node.node_id, child, node.operator == "or", len(node.children), child == node.access, node.level)
        for node in nodes
        for child in node.children
    ]
    if rng is not None:
        rng.shuffle(rows)
    types = {
        "parent_id": pa.int64(),
        "child_id": pa.int64(),
        "is_or": pa.bool_(),
        "arity": pa.int32(),
        "is_access": pa.bool_(),
        "level": pa.int32(),
    }
    columns = zip(*rows) if rows else [()] * len(types)
    table = pa.table([pa.array(c, t) for c, t in zip(columns, types.values())], names=list(types))
    return _in_chunks(table, chunks)


def set_table(sets: dict[int, set[int]], chunks: int = 1) -> pa.Table:
    ids = pa.array(list(sets), pa.int64())
    events = pa.array([BitMap(events).serialize() for events in sets.values()], pa.binary())
    return _in_chunks(pa.table({"node_id": ids, "events": events}), chunks)


def _in_chunks(table: pa.Table, chunks: int) -> pa.Table:
    if chunks < 2 or len(table) < chunks:
        return table
    step = -(-len(table) // chunks)
    return pa.concat_tables([table.slice(start, step) for start in range(0, len(table), step)])


def naive(sets: dict[int, set[int]], nodes: list[Parent]) -> dict[int, set[int]]:
    """The same by Python sets: only non-empty ones, a missing child being empty."""
    known, made = dict(sets), {}
    for node in sorted(nodes, key=lambda node: node.level):
        children = [known.get(child, set()) for child in node.children]
        events = set.union(*children) if node.operator == "or" else set.intersection(*children)
        if events:
            known[node.node_id] = made[node.node_id] = events
    return made


def computed(sets: pa.Table, edges: pa.Table) -> dict[int, set[int]]:
    found = [(node_id, set(events)) for node_id, events in parents(sets, edges)]
    assert len(dict(found)) == len(found)  # every parent once
    return dict(found)


X, Y, Z, W = {1, 2, 3}, {2, 3, 4}, {3, 70_000}, {9}


@pytest.mark.parametrize(
    ("why", "node", "events"),
    [
        ("or unites", Parent(50, 2, "or", (1, 2, 3)), X | Y | Z),
        ("and intersects", Parent(50, 2, "and", (1, 2, 3), 2), {3}),
        ("a child without a set is empty: or", Parent(50, 2, "or", (1, 99)), X),
        ("a child without a set is empty: and", Parent(50, 2, "and", (1, 99), 1), None),
        ("the access child has no set", Parent(50, 2, "and", (1, 99), 99), None),
        ("nothing in common", Parent(50, 2, "and", (1, 2, 4), 4), None),
        ("no child has a set", Parent(50, 2, "or", (98, 99)), None),
    ],
)
def test_one_parent(why, node, events):
    sets = {1: X, 2: Y, 3: Z, 4: W}
    assert computed(set_table(sets), edge_table([node])) == ({} if events is None else {50: events})


def test_the_tail_evaluates_several_levels_together():
    """Children made on the way, leaves under a high node, a hole of two levels between."""
    nodes = [
        Parent(60, 5, "and", (50, 51, 1), 51),
        Parent(50, 2, "or", (1, 2)),
        Parent(51, 3, "and", (50, 3), 3),
        Parent(52, 3, "and", (50, 4), 4),
        Parent(61, 6, "or", (52, 60)),
    ]
    found = computed(set_table({1: X, 2: Y, 3: Z, 4: W}), edge_table(nodes))
    assert found == {50: {1, 2, 3, 4}, 51: {3}, 60: {3}, 61: {3}}
    assert list(found) == [50, 51, 60, 61]  # lower levels first


def test_inputs_are_not_changed():
    """An or-node with one child hands on that child's set; its siblings' parents must not see it change."""
    nodes = [Parent(50, 2, "or", (1, 99)), Parent(51, 2, "or", (1, 2)), Parent(60, 3, "and", (50, 2), 50)]
    found = dict(parents(set_table({1: X, 2: Y}), edge_table(nodes)))
    assert {node_id: set(events) for node_id, events in found.items()} == {50: X, 51: X | Y, 60: X & Y}


@pytest.mark.parametrize("sets", [{}, {7: {1}}])
def test_nothing_to_do(sets):
    assert computed(set_table(sets), edge_table([])) == {}
    assert computed(set_table(sets), edge_table([Parent(50, 2, "or", (1, 2))])) == {}


def test_nodes_with_many_children():
    rng = Random(5)
    leaves = {i: set(rng.sample(range(2_000), 1_990)) for i in range(1, 400)}
    nodes = [
        Parent(1_000, 2, "or", tuple(leaves)),
        Parent(1_001, 2, "and", tuple(range(1, 60)), 30),
        Parent(1_002, 2, "and", tuple(leaves), 1),
        Parent(1_003, 2, "or", (*range(1, 30), *range(-500, 0))),
        Parent(1_004, 2, "and", (*range(1, 30), -1), 1),
    ]
    found = computed(set_table(leaves), edge_table(nodes, rng))
    assert found == naive(leaves, nodes)
    assert {1_000, 1_001, 1_003} <= set(found) and 1_004 not in found


def random_graph(rng: Random) -> tuple[dict[int, set[int]], list[Parent]]:
    """Leaves of which some have no set, and parents on up to six levels with children on any lower one."""
    new_id = iter(rng.sample(range(-(2**40), 2**40), 200))
    by_level: list[list[int]] = [[next(new_id) for _ in range(rng.randint(1, 15))]]
    events = rng.choice((3, 40, 100_000))
    sets = {i: {rng.randrange(events) for _ in range(rng.randint(1, 30))} for i in by_level[0] if rng.random() < 0.8}
    nodes = []
    for level in range(2, rng.randint(2, 7) + 1):
        below = [i for ids in by_level for i in ids]
        ids = []
        for _ in range(rng.randint(1, 12)):
            children = tuple(rng.sample(below, min(len(below), rng.choice((1, 2, 2, 3, 4, 12)))))
            operator = rng.choice(("and", "or"))
            access = rng.choice(children) if operator == "and" else None
            ids.append(next(new_id))
            nodes.append(Parent(ids[-1], level, operator, children, access))
        by_level.append(ids)
    return sets, nodes


def test_random_graphs_in_one_round():
    rng, made = Random(7), 0
    for _ in range(400):
        sets, nodes = random_graph(rng)
        found = computed(set_table(sets, rng.randint(1, 3)), edge_table(nodes, rng, rng.randint(1, 3)))
        assert found == naive(sets, nodes)
        made += len(found)
    assert made > 2_000


def test_random_graphs_level_by_level_are_the_same():
    """Round after round, with the sets of all lower levels sent on, gives what one round gives."""
    rng = Random(8)
    for _ in range(100):
        sets, nodes = random_graph(rng)
        known = dict(sets)
        for level in range(2, 8):
            edges = edge_table([node for node in nodes if node.level == level], rng)
            made = set_kernel(set_table(known), edges)
            assert made.schema == pa.schema({"node_id": pa.int64(), "events": pa.binary()})
            pairs = zip(made["node_id"].to_pylist(), made["events"].to_pylist())
            known.update((node_id, set(BitMap.deserialize(events))) for node_id, events in pairs)
        assert known == {**sets, **naive(sets, nodes)}
