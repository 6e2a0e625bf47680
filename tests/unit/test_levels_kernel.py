"""The level kernel: event sets of parents from those of their children, against Python's own sets."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pyarrow as pa
import pytest
from pyroaring import BitMap

from banyan.match import matches
from banyan.match.buckets import CARRIED, EDGE, LEAF, WANTED, packer
from banyan.match.levels import level_kernel
from banyan.match.matches import final_kernel
from banyan.packed import pack, unpack


class Parent(NamedTuple):
    node_id: int
    level: int
    operator: str
    children: tuple[int, ...]
    access: int | None = None


FACTS = pa.schema(
    [
        *((name, pa.int32()) for name in ("round", "to", "tag")),
        *((name, pa.int64()) for name in ("node_id", "child_id")),
        *((name, pa.bool_()) for name in ("is_or", "is_access")),
        *((name, pa.int32()) for name in ("level", "dest_round", "dest_to", "attribute")),
        *((name, pa.string()) for name in ("operator", "family")),
    ]
)
LEAF_COLUMNS = ["attribute", "operator", "family"]


def bucket(
    nodes: list[Parent],
    rng: Random | None = None,
    wanted: dict[int, list[tuple[int, int]]] | None = None,
    carried: tuple[int, ...] = (),
    absent: tuple[int, ...] = (),
) -> list[pa.RecordBatch]:
    """The packed tables of a bucket with these parents, from facts in any order. `absent`: children that are leaves
    which only events without the attribute satisfy."""
    facts: list[dict] = [
        {
            "tag": EDGE,
            "node_id": node.node_id,
            "child_id": child,
            "is_or": node.operator == "or",
            "is_access": child == node.access,
            "level": node.level,
        }
        for node in nodes
        for child in node.children
    ]
    facts += [
        {"tag": WANTED, "node_id": node_id, "dest_round": round, "dest_to": to}
        for node_id, places in (wanted or {}).items()
        for round, to in places
    ]
    facts += [{"tag": CARRIED, "node_id": node_id} for node_id in carried]
    facts += [
        {"tag": LEAF, "node_id": node_id, "attribute": 0, "operator": "is null", "family": ""} for node_id in absent
    ]
    if rng is not None:
        rng.shuffle(facts)
    table = pa.Table.from_pylist([{"round": 0, "to": 0, **fact} for fact in facts], FACTS)
    packed = packer(LEAF_COLUMNS)((pa.scalar(0), pa.scalar(0)), table)
    return packed.to_batches()


def arriving(sets: dict[int, set[int]], pieces: int = 1) -> list[pa.RecordBatch]:
    ids = list(sets)
    found = []
    for start in range(pieces):
        own = ids[start::pieces]
        events = [BitMap(sets[i]).serialize() for i in own]
        table = pa.table({"node_id": pa.array(own, pa.int64()), "events": pa.array(events, pa.binary())})
        found += pack(0, 0, "sets", table)
    return found


def naive(sets: dict[int, set[int]], nodes: list[Parent]) -> dict[int, set[int]]:
    """The same by Python sets: only non-empty ones, a missing child being empty."""
    known, made = dict(sets), {}
    for node in sorted(nodes, key=lambda node: node.level):
        children = [known.get(child, set()) for child in node.children]
        events = set.union(*children) if node.operator == "or" else set.intersection(*children)
        if events:
            known[node.node_id] = made[node.node_id] = events
    return made


def computed(sets, nodes, rng=None, pieces=1, total=100_000, **more) -> dict[int, set[int]]:
    """What the last round makes of the sets of other rounds: those asked for, as a plan sends no others."""
    asked = {child for node in nodes for child in node.children}
    # All of them are looked at: parents that are children here, too, carry expressions.
    more["carried"] = (*more.get("carried", ()), *(node.node_id for node in nodes if node.node_id in asked))
    asked |= set(more["carried"])
    sent = {i: events for i, events in sets.items() if i in asked}
    batches = [*bucket(nodes, rng, **more), *arriving(sent, pieces)]
    found = [
        (node_id, set(numbers))
        for batch in final_kernel(total, False)(iter(batches))
        for node_id, numbers in zip(batch.column("node_id").to_pylist(), batch.column("numbers").to_pylist())
    ]
    assert len(dict(found)) == len(found)  # every node once
    counts = {
        node_id: count
        for batch in final_kernel(total, True)(iter(batches))
        for node_id, count in zip(batch.column("node_id").to_pylist(), batch.column("events").to_pylist())
    }
    assert counts == {node_id: len(events) for node_id, events in found}
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
    assert computed(sets, [node]) == ({} if events is None else {50: events})


def test_the_tail_evaluates_several_levels_together():
    """Children made on the way, leaves under a high node, a hole of two levels between."""
    nodes = [
        Parent(60, 5, "and", (50, 51, 1), 51),
        Parent(50, 2, "or", (1, 2)),
        Parent(51, 3, "and", (50, 3), 3),
        Parent(52, 3, "and", (50, 4), 4),
        Parent(61, 6, "or", (52, 60)),
    ]
    found = computed({1: X, 2: Y, 3: Z, 4: W}, nodes)
    assert found == {50: {1, 2, 3, 4}, 51: {3}, 60: {3}, 61: {3}}


def test_inputs_are_not_changed():
    """An or-node with one child hands on that child's set; its siblings' parents must not see it change."""
    nodes = [Parent(50, 2, "or", (1, 99)), Parent(51, 2, "or", (1, 2)), Parent(60, 3, "and", (50, 2), 50)]
    assert computed({1: X, 2: Y}, nodes) == {50: X, 51: X | Y, 60: X & Y}


@pytest.mark.parametrize("sets", [{}, {7: {1}}])
def test_nothing_to_do(sets):
    assert computed(sets, []) == {}
    assert computed(sets, [Parent(50, 2, "or", (1, 2))]) == {}


def test_children_that_carry_expressions_themselves():
    """An inner node that has parents elsewhere, a leaf, and one without a set; the leaf also under a parent here."""
    nodes = [Parent(50, 2, "and", (1, 9), 1)]
    found = computed({1: X, 2: Y}, nodes, carried=(2, 3, 9), absent=(9,), total=5)
    assert found == {50: X, 2: Y, 9: {0, 1, 2, 3, 4}}


def test_many_events_are_taken_in_slices(monkeypatch):
    nodes = [Parent(50, 2, "or", (8, 9))]
    batches = bucket(nodes, carried=(9,), absent=(8, 9))
    monkeypatch.setattr(matches, "SLICE", 2)
    counts, numbers = [], {}
    for counted in final_kernel(5, True)(iter(batches)):
        counts += zip(counted["node_id"].to_pylist(), counted["events"].to_pylist())
    for unfolded in final_kernel(5, False)(iter(batches)):
        for node_id, some in zip(unfolded["node_id"].to_pylist(), unfolded["numbers"].to_pylist()):
            numbers.setdefault(node_id, []).extend(some)
    assert sorted(counts) == [(i, n) for i in (9, 50) for n in (1, 2, 2)]
    assert numbers == {50: [0, 1, 2, 3, 4], 9: [0, 1, 2, 3, 4]}


def test_sets_go_where_they_are_wanted():
    nodes = [Parent(50, 2, "or", (1, 2)), Parent(51, 2, "and", (1, 4), 4), Parent(52, 2, "and", (1, 2), 1)]
    wanted = {50: [(1, 0), (1, 7), (2, 7)], 51: [(1, 0)], 52: [(2, 7)]}
    batches = [*bucket(nodes, wanted=wanted), *arriving({1: X, 2: Y, 4: W})]
    sent = {}
    for batch in level_kernel(10)(iter(batches)):
        for to, parts in unpack([batch]).items():
            for table in parts["sets"]:
                opened = [set(BitMap.deserialize(events)) for events in table["events"].to_pylist()]
                sent[batch.column("round")[0].as_py(), to] = dict(zip(table["node_id"].to_pylist(), opened))
    assert sent == {(1, 0): {50: X | Y}, (1, 7): {50: X | Y}, (2, 7): {50: X | Y, 52: X & Y}}


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
    found = computed(leaves, nodes, rng)
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
        found = computed(sets, nodes, rng, rng.randint(1, 3))
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
            known |= computed(known, [node for node in nodes if node.level == level], rng)
        assert known == {**sets, **naive(sets, nodes)}
