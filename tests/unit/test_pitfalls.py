"""The traps of the papers, by number (X-1 ...). Where it helps, a test first falls into the trap to show it is one."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import product
from math import prod
from random import Random

import pytest

from banyan.build.cover import cover
from banyan.build.plain import PlainIndex
from banyan.language.evaluate import evaluate_predicate
from banyan.language.parser import parse
from banyan.language.tree import INVERSE, And, Not, Or, Predicate, Tree, Xnor, Xor
from banyan.normal.canonical import Canonical
from banyan.normal.ids import FALSE_ID, TRUE_ID, Ids
from tests.trees import kleene, leaf, random_event, random_tree, truth_in

A, B, C = leaf("a"), leaf("b"), leaf("c")
WORD = 2**64


def paper_id(tree: Tree, ids: dict[str, int]) -> int:
    """The paper's arithmetic: AND is +, OR is *, NOT, XOR and XNOR work on the bits."""
    if isinstance(tree, Predicate):
        return ids[tree.attribute]
    below = [paper_id(operand, ids) for operand in (tree.operands if isinstance(tree, (And, Or)) else tree)]
    if isinstance(tree, And):
        return sum(below) % WORD
    if isinstance(tree, Or):
        return prod(below) % WORD
    if isinstance(tree, Not):
        return ~below[0] % WORD
    return (below[0] ^ below[1] if isinstance(tree, Xor) else ~(below[0] ^ below[1])) % WORD


def node_ids(*trees: Tree) -> list[int]:
    canonical = Canonical()
    return [canonical.add(tree) for tree in trees]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (And((A, Not(A))), Xnor(B, B)),
        (Xor(A, A), Not(And((A, Not(A))))),
        (And((A, Not(And((A, B))))), Not(B)),
    ],
)
def test_x1_id_arithmetic_merges_different_expressions(one, other):
    """X-1: the paper's ids are equal whatever the ids of the predicates, though some event tells the two apart."""
    rng = Random(1)
    for _ in range(100):
        ids = {name: rng.randrange(WORD) for name in "ab"}
        assert paper_id(one, ids) == paper_id(other, ids)
    events = [dict(zip("ab", values)) for values in product((0, 1), repeat=2)]
    assert any(kleene(one, event) is not kleene(other, event) for event in events)

    assert len(set(node_ids(one, other))) == 2
    index = PlainIndex.of_trees({"one": one, "other": other})
    for event in events:
        expected = {name for name, tree in (("one", one), ("other", other)) if kleene(tree, event)}
        assert index.match(truth_in(event)) == expected


def test_x2_equal_meaning_is_not_equal_children():
    """X-2: (A and B) or C and (A or C) and (B or C) have one id in the paper, but different children to count."""
    one, other = Or((And((A, B)), C)), And((Or((A, C)), Or((B, C))))
    assert paper_id(one, {"a": 3, "b": 5, "c": 7}) == paper_id(other, {"a": 3, "b": 5, "c": 7})

    index = PlainIndex.of_trees({1: one, 2: other})
    assert index.expressions[1] != index.expressions[2]
    for expression_id, tree in ((1, one), (2, other)):
        alone = PlainIndex.of_trees({expression_id: tree})
        # What either brings is counted as its own, so that the other can go without a trace.
        assert {i: index.use_count[i] for i in alone.nodes} == {i: alone.use_count[i] for i in alone.nodes}


def test_x2_repeated_operands_do_not_change_the_id():
    """X-2: (P1 P2 P3)(P3 P4) has Id3 twice in the paper and is another expression than P1 P2 P3 P4 there."""
    p1, p2, p3, p4 = map(leaf, ("p1", "p2", "p3", "p4"))
    overlapping, flat = And((And((p1, p2, p3)), And((p3, p4)))), And((p1, p2, p3, p4))
    ids = {"p1": 11, "p2": 13, "p3": 17, "p4": 19}
    assert paper_id(overlapping, ids) != paper_id(flat, ids)
    assert len(set(node_ids(overlapping, flat))) == 1


def test_x3_products_of_ids_lose_their_bits():
    """X-3: an OR of 64 random 64-bit ids is 0 every second time; hashes of operand lists stay apart."""
    rng = Random(3)
    zeros = sum(prod(rng.randrange(WORD) for _ in range(64)) % WORD == 0 for _ in range(200))
    assert 60 < zeros < 140

    ids = Ids()
    nodes = [tuple(sorted(rng.randrange(-(2**63), 2**63) for _ in range(64))) for _ in range(2_000)]
    assert len({ids.of_node("or", operands) for operands in nodes}) == 2_000


def test_x3_no_hash_is_one_of_the_reserved_ids():
    """X-3: 0 absorbs and 1 is neutral in the paper's products; here they are FALSE and TRUE, and nothing else is."""
    for bits, seed in product((1, 2, 4, 8), range(20)):
        ids = Ids(seed, bits)
        found = {ids.of_node("or", (i, i + 1)) for i in range(50)} | {
            ids.of_predicate(leaf(f"a{i}")) for i in range(50)
        }
        assert not found & {TRUE_ID, FALSE_ID}


def test_x3_small_ids_do_not_add_up():
    """X-3: 2 * 3 = 6 and 2 + 3 = 5: nodes of different operators and operands differ, even for small operand ids."""
    ids = Ids()
    contents = [(operator, (i, j)) for operator in ("and", "or") for i in range(20) for j in range(i + 1, 20)]
    assert len({ids.of_node(*content) for content in contents}) == len(contents)


def greediest(operands: set[int], existing: dict[int, set[int]]) -> int:
    """The paper's reorganise as printed: the node with the largest intersection, subset or not."""
    return max(existing, key=lambda node_id: len(existing[node_id] & operands))


def test_x4_only_subsets_cover():
    """X-4: P1 and P2 and P9 shares two operands with P1 and P2 and P3, but must not become its child."""
    assert greediest({1, 2, 3}, {50: {1, 2, 9}, 51: {4, 5}}) == 50  # the trap

    index = PlainIndex.build({1: "p1 = 1 AND p2 = 1 AND p9 = 1", 2: "p1 = 1 AND p2 = 1 AND p3 = 1"})
    assert all(set(index.children[i]) == set(operands) for i, (_, operands) in index.nodes.items())
    assert index.match(truth_in({"p1": 1, "p2": 1, "p3": 1})) == {2}


def test_x4_only_the_same_operator_covers():
    """X-4: P1 or P2 is no child of P1 and P2 and P3."""
    assert cover({1, 2, 3}, {50: frozenset({1, 2})}) == [3, 50]  # cover trusts its candidates

    index = PlainIndex.build({1: "p1 = 1 OR p2 = 1", 2: "p1 = 1 AND p2 = 1 AND p3 = 1"})
    assert set(index.children[index.expressions[2]]) == set(index.nodes[index.expressions[2]][1])
    assert index.match(truth_in({"p1": 1, "p3": 1})) == {1}


X6 = {
    "three": "(p1 = 1 OR p2 = 1) AND (p3 = 1 OR p4 = 1) AND (p5 = 1 OR p6 = 1)",
    "two": "(p1 = 1 OR p2 = 1) AND (p3 = 1 OR p4 = 1)",
}


def x6_wrong(index: PlainIndex) -> int:
    """Wrong answers of 2,000 random events, with random access children and a shuffled queue."""
    rng, wrong = Random(6), 0
    trees = {name: parse(text) for name, text in X6.items()}
    for _ in range(2_000):
        event = random_event(rng, [f"p{i}" for i in range(1, 7)])
        expected = {name for name, tree in trees.items() if kleene(tree, event)}
        wrong += index.match(truth_in(event), shuffle=rng) != expected
    return wrong


def test_x6_levels_rise_when_a_newcomer_comes_in_between():
    """X-6: the and of three ors first, then the and of two of them: the first must move a level up."""
    index = PlainIndex.build(X6)
    three, two = index.expressions["three"], index.expressions["two"]
    assert two in index.children[three]
    assert (index.level[two], index.level[three]) == (3, 4)
    stale = replace(index, level={**index.level, three: index.logical_level[three]})
    assert x6_wrong(stale) > 20  # the trap, with the level it had before
    assert x6_wrong(index) == 0


def test_x6_levels_rise_all_the_way_up():
    """X-6: what stands above a node that rose rises too."""
    before = PlainIndex.build({"three": X6["three"], "top": f"(({X6['three']}) OR q = 1) AND r = 1"})
    after = PlainIndex.build({**X6, "top": f"(({X6['three']}) OR q = 1) AND r = 1"})
    assert (before.depth, after.depth) == (5, 6)
    for index in (before, after):
        for node_id, children in index.children.items():
            assert index.level[node_id] == 1 + max(index.level[child] for child in children)


def test_x6_random_indexes_with_random_access_children():
    """X-6: neither the choice of access children nor the order within a level changes what matches."""
    rng, checks = Random(66), 0
    for _ in range(60):
        trees = {i: random_tree(rng, depth=3, names="abcdef", negations=i % 3 == 0) for i in range(8)}
        index = PlainIndex.of_trees(trees)
        for _ in range(15):
            event = random_event(rng, "abcdef")
            expected = {i for i, tree in trees.items() if kleene(tree, event)}
            assert index.match(truth_in(event)) == expected
            assert index.match(truth_in(event), shuffle=rng) == expected
            checks += len(expected)
    assert checks > 500


def as_printed(index: PlainIndex, event: dict[str, int]) -> set:
    """Algorithm 6 with the blocks where the paper prints them: operand and report inside `if operands are empty`."""
    received: dict[int, list[bool]] = {}
    found: set[int] = set()
    queue = [i for i, predicate in index.predicates.items() if truth_in(event)(predicate)]
    for node_id in queue:
        if node_id in index.nodes:
            operator, operands = index.nodes[node_id]
            needed = len(operands) if operator == "and" else 1
            if len(received[node_id]) < needed:
                continue
        for parent_id, (_, operands) in index.nodes.items():
            if node_id in operands and parent_id not in received:
                received[parent_id] = [True]
                queue.append(parent_id)
                found.add(node_id)
    return {expression_id for expression_id, root in index.expressions.items() if root in found}


def test_x9_every_operand_arrives_and_roots_report():
    """X-9: as printed, a root without parents never reports and an and-node hears of its first operand only."""
    texts = {"or": "a = 1 OR b = 1", "and": "c = 1 AND d = 1 AND e = 1", "leaf": "f = 1"}
    event = dict.fromkeys("abcdef", 1)
    index = PlainIndex.build(texts)
    assert as_printed(index, event) == set()  # the trap
    assert index.match(truth_in(event)) == set(texts)


@pytest.mark.parametrize("text", ["a = 1 AND a = 1 AND b = 1", "(a = 1 AND b = 1) AND (b = 1 AND a = 1) AND a IN (1)"])
def test_x9_arity_counts_distinct_children(text):
    """X-9: an and-node that waits for its children must count each once, or it waits forever."""
    index = PlainIndex.build({1: text})
    assert {(operator, arity) for _, _, _, operator, arity, _ in index.rows()["edges"]} == {("and", 2)}
    assert index.match(truth_in({"a": 1, "b": 1})) == {1}


def test_x10_undefined_is_not_false_before_negations_are_gone():
    """X-10: taking undefined for false first is wrong in about one case of eight; after negation removal in none."""
    rng, naive_wrong, wrong, total = Random(10), 0, 0, 4_000
    for _ in range(total // 10):
        tree = random_tree(rng, depth=3)
        index = PlainIndex.of_trees({1: tree})
        for _ in range(10):
            event = random_event(rng)
            matches = kleene(tree, event) is True
            naive_wrong += (kleene(tree, dict.fromkeys("abcde", 0) | event) is True) != matches
            wrong += (index.match(truth_in(event)) == {1}) != matches
    assert 0.05 < naive_wrong / total < 0.3
    assert wrong == 0


SOME = {"in": ("1", "2"), "between": ("1", "2"), "is null": (), "holds": ()}


@pytest.mark.parametrize("operator", INVERSE)
def test_x10_a_predicate_and_its_inverse_are_undefined_together(operator):
    """X-10: of an absent attribute neither is true, but for the four operators that are never undefined."""
    operands = SOME.get(operator.removeprefix("not "), ("1",))
    predicate = Predicate("a", operator, "text" if operator.endswith("like") else "integer", operands)
    inverse = predicate._replace(operator=INVERSE[operator])
    truths = {evaluate_predicate(predicate, None, None), evaluate_predicate(inverse, None, None)}
    never_undefined = operator in ("is null", "is not null", "<=>", "not <=>")
    assert truths == ({True, False} if never_undefined else {None})


@pytest.mark.parametrize("operator", ["=", "!=", "<", ">=", "<=", ">", "between", "not between", "in", "not in", "<=>"])
def test_x10_nan_satisfies_a_predicate_or_its_inverse(operator):
    """X-10: in Python every comparison with NaN fails; here NaN is a value above all numbers, as in Spark."""
    operands = ("1.0", "2.0") if operator.endswith(("in", "between")) else ("1.0",)
    predicate = Predicate("a", operator, "double", operands)
    nan = float("nan")
    truth = evaluate_predicate(predicate, nan, None)
    assert truth is (operator in ("!=", ">", ">=", "not between", "not in"))
    assert evaluate_predicate(predicate._replace(operator=INVERSE[operator]), nan, None) is not truth


def test_x11_p_or_not_p_is_no_tautology():
    """X-11: undefined is no match, so P or not P must stay; P and not P may become FALSE."""
    index = PlainIndex.build({"either": "a = 1 OR NOT a = 1", "both": "a = 1 AND NOT a = 1", "true": "TRUE"})
    assert index.expressions["either"] not in (TRUE_ID, FALSE_ID)
    assert index.expressions["both"] == FALSE_ID
    assert index.match(truth_in({})) == {"true"}
    assert index.match(truth_in({"a": 0})) == index.match(truth_in({"a": 1})) == {"either", "true"}


def test_x21_expressions_report_from_any_kind_of_node():
    """X-21: a leaf, an inner node below others and a root can all carry expressions, several on one node too."""
    texts = {
        "leaf": "a = 1",
        "leaf again": "1 = a",
        "inner": "a = 1 AND b = 1",
        "inner again": "b = 1 AND a = 1",
        "root": "(a = 1 AND b = 1) OR c = 1",
        "constant": "TRUE",
        "never": "FALSE",
    }
    index = PlainIndex.build(texts)
    assert len(index.level) == 5
    assert index.match(truth_in({"a": 1, "b": 1})) == set(texts) - {"never"}
    assert index.match(truth_in({"a": 1})) == {"leaf", "leaf again", "constant"}
    assert index.match(truth_in({"c": 1})) == {"root", "constant"}
    assert index.match(truth_in({})) == {"constant"}


@pytest.mark.parametrize("words", list(product(("XOR", "XNOR"), repeat=3)))
def test_x23_xor_and_xnor_fold_from_the_left(words):
    """X-23: both are binary; a chain is ((a . b) . c) . d, whichever of the two each dot is."""
    step = {"XOR": lambda x, y: x != y, "XNOR": lambda x, y: x == y}
    text = "a = 1" + "".join(f" {word} {name} = 1" for word, name in zip(words, "bcd"))
    index = PlainIndex.build({1: text})
    for values in product((0, 1), repeat=4):
        folded = reduce(lambda x, wy: step[wy[0]](x, wy[1]), zip(words, map(bool, values[1:])), bool(values[0]))
        assert (index.match(truth_in(dict(zip("abcd", values)))) == {1}) is folded
        # One operand undefined makes the whole chain so.
        assert index.match(truth_in(dict(zip("abc", values)))) == set()


def test_x23_a_chain_of_xnor_is_not_all_equal():
    """X-23: three equal operands do not make a XNOR b XNOR c true if they are false: (F = F) = F is F."""
    index = PlainIndex.build({1: "a = 1 XNOR b = 1 XNOR c = 1"})
    assert index.match(truth_in({"a": 0, "b": 0, "c": 0})) == set()
    assert index.match(truth_in({"a": 1, "b": 1, "c": 1})) == {1}
