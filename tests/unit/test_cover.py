"""The sharing rule: which nodes a node has as children. Cases, then what must hold for any."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banyan.build.cover import access_child, cover
from banyan.build.plain import PlainIndex
from banyan.language.parser import parse
from tests.trees import kleene, random_event, random_tree, truth_in


def sets(**candidates: str) -> dict[int, frozenset[int]]:
    """`n50="1 2"` is node 50 over 1 and 2."""
    return {int(name[1:]): frozenset(map(int, text.split())) for name, text in candidates.items()}


@pytest.mark.parametrize(
    ("why", "operands", "candidates", "children"),
    [
        ("no candidates", {1, 2, 3}, {}, [1, 2, 3]),
        ("one covers two", {1, 2, 3}, sets(n50="1 2"), [3, 50]),
        ("the larger gain first", {1, 2, 3, 4}, sets(n50="1 2", n51="1 2 3"), [4, 51]),
        ("two that do not overlap", {1, 2, 3, 4}, sets(n50="1 2", n51="3 4"), [50, 51]),
        ("overlap is allowed", {1, 2, 3, 4, 5}, sets(n50="1 2 3", n51="3 4 5"), [50, 51]),
        ("a pick must cover two: T-B2.3", {1, 2, 3, 4}, sets(n50="1 2 3", n51="3 4"), [4, 50]),
        ("equal gain and size: the smaller id", {1, 2, 3}, sets(n51="2 3", n50="1 2"), [3, 50]),
        ("equal gain: the larger set", {1, 2, 3, 4, 5}, sets(n50="1 2 3", n51="4 5", n52="3 4 5"), [50, 52]),
        ("everything covered, nothing more is picked", {1, 2, 3, 4}, sets(n50="1 2", n51="3 4", n52="2 3"), [50, 51]),
    ],
)
def test_cases(why, operands, candidates, children):
    assert cover(operands, candidates) == children


def test_negative_ids_are_smaller_too():
    """Ids are signed: of two equal candidates the one with the smaller id, not the smaller absolute value."""
    assert cover({1, 2, 3}, {-50: frozenset({1, 2}), 7: frozenset({2, 3})}) == [-50, 3]
    assert cover({-1, -2, -3}, {-(2**63): frozenset({-1, -2}), 2**63 - 1: frozenset({-2, -3})}) == [-(2**63), -3]


@st.composite
def operands_and_candidates(draw):
    operands = draw(st.sets(st.integers(-8, 8), min_size=2, max_size=10))
    proper = st.frozensets(st.sampled_from(sorted(operands)), min_size=1, max_size=len(operands) - 1)
    subsets = draw(st.lists(proper, unique=True, max_size=12))
    ids = draw(st.lists(st.integers(-100, 100).filter(lambda i: abs(i) > 8), unique=True, min_size=12, max_size=12))
    return operands, dict(zip(ids, subsets))


@settings(max_examples=120, deadline=None)
@given(operands_and_candidates(), st.randoms(use_true_random=False))
def test_what_always_holds_of_a_cover(given_sets, rng):
    operands, candidates = given_sets
    children = cover(operands, candidates)
    assert children == sorted(set(children))

    picks = [child for child in children if child in candidates]
    direct = {child for child in children if child not in candidates}
    assert direct.union(*(candidates[pick] for pick in picks)) == operands  # all of them, and nothing else
    assert len(children) <= len(operands) - len(picks)  # each pick stands for at least two
    left = [s - frozenset().union(*(candidates[pick] for pick in picks)) for s in candidates.values()]
    assert all(len(uncovered) < 2 for uncovered in left)  # no candidate that would still have been worth it

    in_another_order = list(candidates.items())
    rng.shuffle(in_another_order)
    assert cover(rng.sample(sorted(operands), len(operands)), dict(in_another_order)) == children


def expanded(index: PlainIndex, node_id: int) -> set[int]:
    """The operands that a node's children stand for."""
    operator, operands = index.nodes[node_id]
    found = set()
    for child in index.children[node_id]:
        found |= {child} if child in operands else expanded(index, child)
    return found


@pytest.mark.parametrize("crowd", [1, 2, 3, 5, 10_000])
def test_any_index_is_its_expressions(crowd):
    """Children stand for exactly the operands, whatever the bound; levels fit; the order of arrival is no matter."""
    rng = Random(crowd)
    covers = 0
    for _ in range(25):
        trees = {i: random_tree(rng, depth=2, names="abcdefg", negations=False) for i in range(25)}
        index = PlainIndex.of_trees(trees, crowd)
        for node_id, (operator, operands) in index.nodes.items():
            children = index.children[node_id]
            assert expanded(index, node_id) == set(operands)
            assert index.level[node_id] == 1 + max(index.level[child] for child in children)
            assert index.level[node_id] >= index.logical_level[node_id]
            for child in set(children) - set(operands):
                covers += 1
                assert index.nodes[child][0] == operator
        assert PlainIndex.of_trees(dict(rng.sample(sorted(trees.items()), 25)), crowd).rows() == index.rows()
        for _ in range(4):
            event = random_event(rng, "abcdefg")
            assert index.match(truth_in(event)) == {i for i, tree in trees.items() if kleene(tree, event)}
    assert bool(covers) is (crowd > 2)  # a set and one around it are two holders already


def test_the_crowd_bound_is_a_property_of_the_operand():
    """With a bound of 3, `a AND b` is a candidate while a or b has fewer than 3 holders, and not after."""
    texts = {1: "a = 1 AND b = 1", 2: "a = 1 AND b = 1 AND c = 1"}
    pair, triple = PlainIndex.build(texts).expressions.values()
    assert pair in PlainIndex.build(texts, crowd=3).children[triple]
    texts[3] = "a = 1 AND x = 1"  # a has three holders now; b, the rarest operand, still has two
    assert pair in PlainIndex.build(texts, crowd=3).children[triple]
    texts[4] = "b = 1 AND y = 1"
    assert pair not in PlainIndex.build(texts, crowd=3).children[triple]
    assert pair in PlainIndex.build(texts, crowd=4).children[triple]
    texts[4] = "b = 1 OR y = 1"  # an or-node is no holder for an and-node
    assert pair in PlainIndex.build(texts, crowd=3).children[triple]


def test_access_child_is_the_one_least_often_true():
    assert access_child("and", [3, 1, 2], {1: 0.5, 2: 0.1, 3: 0.9}) == 2
    assert access_child("and", [3, -1, 2], {-1: 0.5, 2: 0.5, 3: 0.5}) == -1
    assert access_child("or", [1, 2], {1: 0.5, 2: 0.1}) is None


def test_access_children_of_an_index():
    """An equality before a range, a range before a negation, and a cover, being a product, before its operands."""
    texts = {1: "a = 1 AND b > 1", 2: "a = 1 AND b > 1 AND c != 1", 3: "b > 1 AND d != 1"}
    index = PlainIndex.build(texts)
    first, second, third = index.expressions.values()
    attribute = {i: predicate.attribute for i, predicate in index.predicates.items()}
    assert attribute[index.access_child[first]] == "a"
    assert index.access_child[second] == first
    assert attribute[index.access_child[third]] == "b"
    assert all(child in index.children[node_id] for node_id, child in index.access_child.items())


def test_rows_have_the_columns_of_the_tables():
    """Row for row what the tables of an index hold, by hand for one small expression."""
    index = PlainIndex.build({"x": "a = 1 AND (b IN (2, 1) OR c IS NULL)", "y": "c IS NULL", "z": "TRUE"})
    root = index.expressions["x"]
    (inner,) = (i for i, (operator, _) in index.nodes.items() if operator == "or")
    by_attribute = {row[1]: row for row in index.rows()["predicates"]}
    a, b, c = (by_attribute[name][0] for name in "abc")
    assert by_attribute == {
        "a": (a, "a", "=", "integer", ("1",), False, 1, pytest.approx(0.02)),
        "b": (b, "b", "in", "integer", ("1", "2"), False, 1, pytest.approx(0.04)),
        "c": (c, "c", "is null", "", (), True, 2, pytest.approx(0.3)),
    }
    or_frequency = 1 - 0.96 * 0.7
    frequency = {a: 0.02, b: 0.04, c: 0.3, inner: or_frequency}

    def operands(*ids):
        return tuple(sorted(ids)), pytest.approx(tuple(frequency[i] for i in sorted(ids)))

    assert {row[0]: row for row in index.rows()["nodes"]} == {
        inner: (inner, "or", *operands(b, c), 2, 2, 1, None, pytest.approx(or_frequency)),
        root: (root, "and", *operands(a, inner), 3, 3, 1, a, pytest.approx(0.02 * or_frequency)),
    }
    assert set(index.rows()["edges"]) == {
        (inner, b, 2, "or", 2, False),
        (inner, c, 2, "or", 2, False),
        (root, a, 3, "and", 2, True),
        (root, inner, 3, "and", 2, False),
    }


def test_an_index_of_constants_alone_has_no_rows():
    index = PlainIndex.build({1: "TRUE", 2: "FALSE", 3: "NULL"})
    assert index.rows() == {"predicates": [], "nodes": [], "edges": []}
    assert index.match(truth_in({})) == {1}
    assert PlainIndex.of_trees({4: parse("a = 1")}).depth == 1
    assert PlainIndex.build({}).match(truth_in({})) == set()
