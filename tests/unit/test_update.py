"""Updates: after any history of adds, removes and replaces the tables equal those of a fresh build of the survivors."""

from itertools import permutations
from random import Random

import pytest
from plain_store import PlainStore
from texts import random_text

from banyan.build.loaded import Loaded
from banyan.build.update import Collision, changes
from banyan.errors import DamagedIndex
from banyan.language.parser import parse
from banyan.normal.canonical import Canonical
from banyan.normal.ids import Ids


@pytest.mark.parametrize("crowd", [10_000, 3, 5])
@pytest.mark.parametrize("seed", range(80))
def test_any_history_equals_a_fresh_build(seed, crowd):
    rng = Random(f"{seed}/{crowd}")
    names = "abcdefghij"[: rng.choice((4, 6, 10))]
    store = PlainStore(crowd)
    for _ in range(22):
        batch = {}
        for _ in range(rng.choice((1, 1, 2, 5, 12))):
            key = f"e{rng.randint(0, 40)}"
            if key in store.texts and rng.random() < 0.55:
                batch[key] = None
            else:
                batch[key] = random_text(rng, names)
        store.replace(batch)
        assert store.tables() == store.fresh()
    store.replace(dict.fromkeys(store.texts))
    assert store.tables() == {"predicates": [], "nodes": [], "edges": []}


@pytest.mark.parametrize("seed", range(20))
def test_loaded_rows_answer_as_plain_ones_do(seed):
    """`Loaded` finds by maps what `PlainStore` finds by looking at every row."""
    rng = Random(seed)
    plain = PlainStore()
    plain.replace({f"e{i}": random_text(rng, "abcdefgh") for i in range(30)})
    loaded = Loaded(plain.predicates.values(), plain.nodes.values(), plain.edges.values())
    nodes = list(plain.nodes.values())
    ids = rng.sample([*plain.nodes, *plain.predicates], 12) + [12345]
    keys = [(row.operator, row.operands[0]) for row in rng.sample(nodes, 6)] + [("or", 1)]
    sets = [((row.operator, row.operands[-1]), row.operands[-2:]) for row in nodes[:10]]
    leaves = rng.sample(list(plain.predicates), 7)
    assert loaded.rows(ids) == plain.rows(ids) and loaded.levels(ids) == plain.levels(ids)
    assert loaded.holders(keys) == {key: count for key, count in plain.holders(keys).items() if count}
    assert set(loaded.holding(keys)) == set(plain.holding(keys))
    assert set(loaded.around(sets)) == set(plain.around(sets))
    assert set(loaded.inside(leaves)) == set(plain.inside(leaves))
    assert set(loaded.above(ids)) == set(plain.above(ids))
    assert loaded.highest(ids) == max((row.level for row in nodes if row.node_id not in ids), default=0)


def test_a_deep_chain_moves_as_a_whole():
    """One more level at the bottom of a rule of depth 300 moves every level above it, and back again."""
    deep = (
        "".join(f"x{i} = 1 {'OR' if i % 2 else 'AND'} (" for i in range(300)) + "p = 1 AND q = 1 AND r = 1" + ")" * 300
    )
    store = PlainStore()
    store.replace({"deep": deep})
    before = store.tables()
    store.replace({"pair": "p = 1 AND q = 1"})
    assert store.tables() == store.fresh()
    assert max(row.level for row in store.nodes.values()) == 303
    store.replace({"pair": None})
    assert store.tables() == store.fresh() == before


# Figure 6 of the A-Tree paper.
OR_123, OR_56, OR_78 = "(p1 = 1 OR p2 = 1 OR p3 = 1)", "(p5 = 1 OR p6 = 1)", "(p7 = 1 OR p8 = 1)"
FIGURE_6 = {
    "S1": f"{OR_123} AND p4 = 1 AND {OR_56}",
    "S2": f"{OR_56} AND {OR_78}",
    "S3": f"{OR_123} OR p4 = 1",
    "S4": f"{OR_123} AND p4 = 1",
    "S5": f"{OR_78} AND {OR_56}",
    "S6": f"NOT {OR_78}",
}


def size(store):
    """Nodes, leaves among them; edges; the highest level."""
    nodes = len(store.predicates) + len(store.nodes)
    return nodes, len(store.edges), max((row.level for row in store.nodes.values()), default=1)


def test_b2_6_sizes_after_each_insert():
    """T-B2.6: one insert after the other, in the paper's order and in others."""
    store, sizes = PlainStore(), []
    for name, text in FIGURE_6.items():
        store.replace({name: text})
        assert store.tables() == store.fresh()
        sizes.append(size(store))
    assert sizes == [(9, 8, 3), (13, 12, 3), (14, 14, 3), (15, 15, 4), (15, 15, 4), (18, 17, 4)]
    for order in list(permutations(FIGURE_6))[::24]:
        other = PlainStore()
        for name in order:
            other.replace({name: FIGURE_6[name]})
        assert other.tables() == store.tables()


def test_b2_7_deletes():
    """T-B2.7: S2 goes and S5, the same node, stays; S4 goes and S1 takes over its children; then S1 goes.

    After that or(1,2,3) is nobody's operand: it goes too (15 nodes), where the paper keeps it for S3 (16).
    """
    store, sizes = PlainStore(), []
    store.replace(FIGURE_6)
    for name in ("S2", "S4", "S1"):
        store.replace({name: None})
        assert store.tables() == store.fresh()
        sizes.append(size(store)[0])
    assert sizes == [18, 17, 15]


def test_x6_levels_rise_and_fall():
    """X-6: the and of three ors, then the and of two of them; what stands above moves up, and down again."""
    ors = [f"(p{i} = 1 OR p{i + 1} = 1)" for i in (1, 3, 5)]
    three, two = " AND ".join(ors), " AND ".join(ors[:2])
    store = PlainStore()
    store.replace({"three": three, "top": f"(({three}) OR q = 1) AND r = 1"})
    before = store.tables()
    assert size(store)[2] == 5
    store.replace({"two": two})
    assert store.tables() == store.fresh() and size(store)[2] == 6
    store.replace({"two": None})
    assert store.tables() == store.fresh() == before


def test_what_is_not_around_the_change_is_not_touched():
    store = PlainStore()
    store.replace({f"r{i}": f"a{i} = 1 AND b{i} = 2 AND (c{i} = 3 OR d{i} = 4)" for i in range(200)})
    change = store.replace({"new": "a7 = 1 AND b7 = 2"})
    touched = {row.node_id for row in change.nodes.inserted} | {row.node_id for row in change.predicates.inserted}
    # The new node, the one around it, and the two predicates that are used once more.
    assert len(touched) == 4 and len(change.edges.inserted) == 4
    assert change.nodes.deleted == change.edges.deleted
    again = store.replace({"same": "b7 = 2 AND a7 = 1"})
    assert [len(part.inserted) for part in again] == [0, 1, 0]


def test_a_collision_with_what_is_stored_is_seen():
    """Four bits for twenty predicates: some id is taken by another content."""
    store = PlainStore(id_bits=4)
    with pytest.raises((Collision, AssertionError)):
        for i in range(20):
            store.replace({f"r{i}": f"a{i} = 1"})


def test_use_counts_that_do_not_add_up_are_named():
    canonical = Canonical(Ids())
    root = canonical.add(parse("a = 1"))
    with pytest.raises(DamagedIndex, match="use counts do not add up"):
        changes(Loaded((), (), ()), canonical, {}, {root: 1})
