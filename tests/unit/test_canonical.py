"""The canonical form: which texts are one node, which are not, and that it means what the expression means."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banyan.build.plain import PlainIndex
from banyan.language.parser import parse
from banyan.language.settings import Settings
from banyan.language.tree import And, Constant, Not, Or, Tree, Xnor, Xor
from banyan.normal.canonical import Canonical
from banyan.normal.ids import FALSE_ID, TRUE_ID, Ids
from tests.trees import kleene, leaf, random_event, random_tree, shuffled, trees, truth_in


def root(text: str) -> int:
    return Canonical().add(parse(text))


SAME = {
    "one predicate": [
        "a = 1",
        "1 = a",
        "a == 1",
        "A = 01",
        "`a` = 1",
        "a IN (1)",
        "a IN (1, 1)",
        "a BETWEEN 1 AND 1",
        "NOT a != 1",
        "NOT (NOT (a = 1))",
        "! (a <> 1)",
        "NOT a NOT IN (1)",
    ],
    "repeated operands": ["a = 1", "a = 1 AND a = 1", "a = 1 OR 1 = a", "(a = 1 AND a = 1) OR a = 1"],
    "order and nesting of AND": [
        "a = 1 AND b = 2 AND c = 3",
        "c = 3 AND a = 1 AND b = 2",
        "a = 1 AND (b = 2 AND c = 3)",
        "(a = 1 AND b = 2) AND (c = 3 AND b = 2)",
        "NOT (a != 1 OR b != 2 OR c != 3)",
        "NOT (a != 1 OR NOT (b = 2 AND c = 3))",
    ],
    "order and nesting of OR": [
        "a = 1 OR b = 2 OR c = 3",
        "(c = 3 OR b = 2) OR a = 1",
        "NOT (a != 1 AND b != 2 AND NOT c = 3)",
    ],
    "flattening after a fold": [
        "a = 1 AND b = 2 AND c = 3",
        "((a = 1 AND b = 2) OR FALSE) AND c = 3",
        "((a = 1 AND b = 2) OR (d = 4 AND NOT d = 4)) AND c = 3",
        "(a = 1 AND b = 2 OR a = 1 AND b = 2) AND c = 3",
        "((a = 1 AND b = 2) XOR FALSE) AND c = 3",
    ],
    "XOR": [
        "a = 1 XOR b = 2",
        "b = 2 XOR a = 1",
        "NOT (a = 1 XNOR b = 2)",
        "(a = 1 AND NOT b = 2) OR (NOT a = 1 AND b = 2)",
        "NOT a = 1 XOR NOT b = 2",
        "NOT a = 1 XNOR b = 2",
    ],
    "XNOR": ["a = 1 XNOR b = 2", "NOT (b = 2 XOR a = 1)", "(a = 1 AND b = 2) OR (a != 1 AND b != 2)"],
    "inverses": ["a NOT BETWEEN 1 AND 9", "NOT a BETWEEN 1 AND 9"],
    "sets": ["a IN (3, 1, 2)", "a IN (1, 2, 3, 2)", "NOT a NOT IN (2, 3, 1)"],
    "decimals": ["a = 1.0", "a = 1.00", "a IN (1.0, 1.000)"],
    "asking for NULL": ["a IS NULL", "a <=> NULL", "NOT a IS NOT NULL", "a IS NOT DISTINCT FROM NULL"],
    "asking for TRUE": ["a IS TRUE", "a <=> TRUE", "NOT a IS NOT TRUE"],
    "constants that do not matter": ["a = 1", "a = 1 AND TRUE", "a = 1 OR FALSE", "a = 1 OR NULL", "a = 1 XOR FALSE"],
    "FALSE": [
        "FALSE",
        "NULL",
        "NOT NULL",
        "NOT TRUE",
        "a = NULL",
        "NOT a = NULL",
        "a = 1 AND FALSE",
        "a = 1 AND NULL",
        "a = 1 AND a != 1",
        "(a = 1 AND b = 2) AND (c = 3 AND NOT a = 1)",
        "a IS NULL AND a IS NOT NULL",
        "(a = 1 AND NOT a = 1) OR NULL",
        "a = 1 XOR a = 1",
        "a = 1 XOR NULL",
        "NOT (a = 1 XNOR NULL)",
    ],
    "TRUE": ["TRUE", "NOT FALSE", "a = 1 OR TRUE", "TRUE XOR FALSE", "NOT (FALSE AND a = 1)", "NOT (a = 1 AND FALSE)"],
}


@pytest.mark.parametrize("group", SAME)
def test_these_are_one_node(group):
    assert {text: root(text) for text in SAME[group]} == dict.fromkeys(SAME[group], root(SAME[group][0]))


@pytest.mark.parametrize(("text", "node_id"), [("NULL", FALSE_ID), ("FALSE", FALSE_ID), ("TRUE", TRUE_ID)])
def test_constants_have_the_reserved_ids(text, node_id):
    assert root(text) == node_id


@pytest.mark.parametrize(
    "texts",
    [
        ["a = 1", "a = 1.0", "a = 1e0", "a = '1'", "a = 2", "b = 1", "a.b = 1", "`a.b` = 1"],
        ["a < 1", "a <= 1", "a > 1", "a >= 1", "a = 1", "a != 1", "a <=> 1", "a IS DISTINCT FROM 1"],
        ["a = 1 AND b = 1", "a = 1 OR b = 1", "a = 1 XOR b = 1", "a = 1 XNOR b = 1", "a = 1 AND NOT b = 1"],
        ["a = 1 AND b = 1 AND c = 1", "a = 1 AND b = 1", "a = 1 AND (b = 1 OR c = 1)", "a = 1 AND b = 1 OR c = 1"],
        ["a = 1 OR NOT a = 1", "TRUE", "FALSE", "a = 1", "a IS NULL OR a IS NOT NULL"],
        ["a BETWEEN 1 AND 2", "a BETWEEN 2 AND 1", "a IN (1, 2)", "a BETWEEN 1 AND 3"],
        ["a LIKE '1'", "a ILIKE '1'", "a RLIKE '1'", "a NOT LIKE '1'"],
        ["a IN ('b', 'c')", "a IN ('bc')", "a IN ('b,c')", "a IN ('', 'bc')"],
        ["a", "NOT a", "a IS TRUE", "a IS NOT FALSE", "a = TRUE"],
        ["array_contains(a, 1)", "arrays_overlap(a, array(1))", "arrays_overlap(a, array(1, NULL))", "a = 1"],
    ],
)
def test_these_are_different_nodes(texts):
    assert len({root(text) for text in texts}) == len(texts)


def test_case_matters_only_where_it_is_told_to():
    sensitive = Settings(case_sensitive=True)
    assert root("Age = 1") == root("age = 1")
    assert Canonical().add(parse("Age = 1", sensitive)) != Canonical().add(parse("age = 1", sensitive))


@settings(max_examples=100, deadline=None)
@given(trees, st.randoms(use_true_random=False))
def test_the_order_of_operands_does_not_matter(tree, rng):
    assert Canonical().add(tree) == Canonical().add(shuffled(rng, tree))


def test_what_was_added_before_does_not_matter():
    rng = Random(1)
    memory = Canonical()
    for _ in range(500):
        tree = random_tree(rng, depth=4)
        assert memory.add(tree) == Canonical().add(tree)


def test_trees_that_nobody_else_holds():
    """Sub-expressions are remembered by their address; an address may be used again once a tree is gone."""
    rng = Random(2)
    for _ in range(200):
        seed = rng.randrange(2**32)
        held = random_tree(Random(seed), depth=4)
        # Not inside the assert, which would hold the tree.
        node_id = Canonical().add(random_tree(Random(seed), depth=4))
        assert node_id == Canonical().add(held)


def true_nodes(canonical: Canonical, event: dict) -> dict[int, bool]:
    """Every node two-valued, undefined leaves as false. Operands are made before the nodes that have them."""
    truth = truth_in(event)
    true = {TRUE_ID: True, FALSE_ID: False}
    true.update((i, truth(predicate) is True) for i, predicate in canonical.predicates.items())
    for node_id, node in canonical.nodes.items():
        true[node_id] = (all if node.operator == "and" else any)(true[operand] for operand in node.operands)
    return true


ASSIGNMENTS = 120


@settings(max_examples=200, deadline=None)
@given(trees, st.integers(0, 2**32))
def test_two_values_after_negation_removal_are_three_before(tree, seed):
    """24,000 assignments: the root is true over nodes in which undefined is false exactly when the tree is true."""
    canonical = Canonical()
    node_id = canonical.add(tree)
    rng = Random(seed)
    for _ in range(ASSIGNMENTS):
        event = random_event(rng)
        assert true_nodes(canonical, event)[node_id] is (kleene(tree, event) is True), event


@settings(max_examples=150, deadline=None)
@given(trees)
def test_what_always_holds_of_canonical_nodes(tree):
    """At least two operands, sorted and distinct; no AND in AND, no OR in OR, no constant below a root."""
    canonical = Canonical()
    node_id = canonical.add(tree)
    for reached in canonical.below(node_id, set()):
        if reached in canonical.predicates:
            continue
        operator, operands, level = canonical.nodes[reached]
        assert len(operands) >= 2
        assert list(operands) == sorted(set(operands))
        assert not {TRUE_ID, FALSE_ID} & set(operands)
        inner = [canonical.nodes[operand] for operand in operands if operand in canonical.nodes]
        assert all(node.operator != operator for node in inner)
        assert level == 1 + max([1, *(node.level for node in inner)])


@pytest.mark.parametrize("kind", [Xor, Xnor])
def test_a_chain_of_xor_grows_by_a_constant_per_operand(kind):
    """64 operands: 2 leaves, and 2 ors of 2 ands, for each; the expanded tree would have 2 ** 64 leaves."""
    chain: Tree = leaf("x0")
    for i in range(1, 64):
        chain = kind(chain, leaf(f"x{i}")) if i % 2 else kind(leaf(f"x{i}"), chain)
    index = PlainIndex.of_trees({1: chain})
    assert len(index.predicates) == 128
    assert len(index.nodes) <= 6 * 64
    assert index.edge_count <= 12 * 64

    rng = Random(3)
    for _ in range(20):
        event = {f"x{i}": rng.randrange(2) for i in range(64)}
        assert (index.match(truth_in(event)) == {1}) is kleene(chain, event)


def test_a_chain_of_xor_as_text():
    index = PlainIndex.build({1: " XOR ".join(f"x{i} = 1" for i in range(64))})
    assert len(index.level) <= 8 * 64
    assert index.match(truth_in({f"x{i}": int(i == 7) for i in range(64)})) == {1}
    assert index.match(truth_in({f"x{i}": int(i in (7, 9)) for i in range(64)})) == set()


@pytest.mark.parametrize("kind", [And, Or])
def test_shared_operands_of_nested_xor_stay_shared(kind):
    """Both sides mention what is below, level after level: 40 levels would be 2 ** 40 without a memo."""
    tree: Tree = leaf("x")
    for i in range(40):
        one, other = leaf(f"y{i}"), leaf(f"z{i}")
        tree = Xor(kind((tree, one)), other)
    assert len(PlainIndex.of_trees({1: tree}).level) <= 12 * 40


def test_a_thousand_levels():
    depth = 999
    text = "x999 = 1"
    for i in reversed(range(depth)):
        text = f"x{i} = 1 {'AND' if i % 2 else 'OR'} ({text})"
    index = PlainIndex.build({1: text})
    assert index.depth == depth + 1
    assert len(index.level) == 2 * depth + 1
    assert index.match(truth_in({f"x{i}": i % 2 for i in range(depth)})) == set()
    assert index.match(truth_in({f"x{i}": i % 2 for i in range(depth + 1)})) == {1}
    assert index.match(truth_in({"x0": 1})) == {1}


def test_a_thousand_nots():
    assert root("NOT " * 1_000 + "a = 1") == root("a = 1")
    assert root("NOT (" * 499 + "a = 1" + ")" * 499) == root("a != 1")


def test_a_thousand_parentheses_that_flatten():
    text = "x0 = 1"
    for i in range(1, 1_000):
        text = f"({text} AND x{i} = 1)"
    index = PlainIndex.build({1: text})
    assert (len(index.predicates), len(index.nodes), index.edge_count) == (1_000, 1, 1_000)


def test_constants_deep_below_fold_all_the_way_up():
    tree: Tree = Constant(None)
    for i in range(200):
        tree = And((tree, leaf(f"x{i}"))) if i % 2 else Or((And((tree, leaf(f"x{i}"))), Not(Constant(True))))
    assert Canonical().add(tree) == FALSE_ID
    assert Canonical().add(Not(tree)) != TRUE_ID  # NOT of undefined is no match either


@pytest.mark.parametrize("seed", range(40))
def test_collisions_are_reported(seed):
    """With ids of 8 bits: a collision is reported exactly when two different contents have one id."""
    ids = Ids(seed, bits=8)
    canonical = Canonical(ids)
    leaves = [leaf(f"a{i}") for i in range(6)]
    pairs = list(combinations(leaves, 2))[:8]
    for pair in pairs:
        canonical.add(And(pair))
        canonical.add(Or(pair))
    contents = {ids.of_predicate(p): ("leaf", p) for pair in pairs for p in pair}
    distinct = len(contents) == len({p for pair in pairs for p in pair})
    for operator in ("and", "or"):
        for pair in pairs:
            content = (operator, tuple(sorted(map(ids.of_predicate, pair))))
            node_id = ids.of_node(*content)
            distinct &= contents.setdefault(node_id, content) == content
    assert (canonical.collision is None) is distinct


def test_more_contents_than_ids_must_collide():
    canonical = Canonical(Ids(0, bits=8))
    canonical.add(And(tuple(leaf(f"a{i}") for i in range(300))))
    assert canonical.collision is not None


def test_no_collision_among_many_nodes_of_64_bits():
    canonical = Canonical()
    for i in range(3_000):
        canonical.add(Or((leaf(f"a{i}"), And((leaf(f"b{i % 50}"), leaf(f"c{i % 70}"))))))
    assert canonical.collision is None
    assert len(canonical) == 3_000 + 50 + 70 + 350 + 3_000


def test_a_collision_rebuilds_with_the_next_seed():
    """Seeds are tried until all ids differ; which one it was changes the ids, not what matches."""
    texts = {i: f"a{i} = 1 AND (b{i} = 1 OR c = 1)" for i in range(4)}
    narrow, wide = PlainIndex.build(texts, id_bits=8), PlainIndex.build(texts)
    while narrow.seed == 0:  # until there was something to rebuild
        texts[len(texts)] = f"a{len(texts)} = 1"
        narrow, wide = PlainIndex.build(texts, id_bits=8), PlainIndex.build(texts)
    assert (len(narrow.level), narrow.edge_count) == (len(wide.level), wide.edge_count)
    event = {"a0": 1, "a2": 1, "b2": 1, "c": 0}
    assert narrow.match(truth_in(event)) == wide.match(truth_in(event)) == {2}


@pytest.mark.parametrize(
    ("text", "node_id"),
    [
        ("a = 1", 8_754_342_263_156_957_313),
        ("a = 1 AND b = 'x'", -6_508_820_657_692_093_717),
        ("a = 1 OR b = 'x'", 5_872_324_019_420_031_334),
    ],
)
def test_ids_are_the_same_on_every_machine(text, node_id):
    """An index outlives the process that made it. If these change, so must the format of an index."""
    assert root(text) == node_id
