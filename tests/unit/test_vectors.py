"""The worked examples of the A-Tree paper, by name: A4 (three values), B1 (negation removal), B2 (the tree itself).

Two differ from the paper on purpose, and say so: T-B2.3 (no pick that covers a single operand) and the third delete of
T-B2.7 (a node that is nobody's operand goes).
"""

from __future__ import annotations

from itertools import permutations

import pytest

from banyan.build.plain import PlainIndex
from banyan.language.evaluate import evaluate
from banyan.language.parser import parse
from banyan.normal.canonical import Canonical
from tests.trees import truth_in

P, Q = "age > 60", "weight > 100"


@pytest.mark.parametrize(
    ("name", "text", "event", "truth"),
    [
        ("T-A4.1", f"NOT ({P} OR {Q})", {"age": 50, "weight": 90}, True),
        ("T-A4.1", f"NOT ({P} OR {Q})", {"age": 50}, None),
        ("T-A4.1", f"NOT ({P} OR {Q})", {}, None),
        ("T-A4.1", f"NOT ({P} OR {Q})", {"age": 70}, False),
        ("T-A4.2", f"{P} OR NOT {P}", {}, None),
        ("T-A4.2", f"{P} XNOR {P}", {}, None),
        ("T-A4.2", f"{P} XNOR {P}", {"age": 1}, True),
        ("T-A4.3", f"{P} AND {Q}", {"age": 50}, False),
        ("T-A4.3", f"NOT ({P} AND {Q})", {"age": 50}, True),
        ("T-A4.4", f"{P} XOR {Q}", {"age": 70}, None),
        ("T-A4.5", "age != 5", {}, None),
        ("T-A4.5", "NOT (age = 5)", {}, None),
    ],
)
def test_a4_three_values(name, text, event, truth):
    """An event matches where the expression is true, and only there: not where it is false, nor where undefined."""
    assert evaluate(parse(text), event, None) is truth
    assert PlainIndex.build({name: text}).match(truth_in(event)) == ({name} if truth else set())


def test_b1_1_negation_removal():
    """T-B1.1: not((age > 60) or (weight > 100)) -> (age <= 60) and (weight <= 100)."""
    canonical = Canonical()
    negated = canonical.add(parse("NOT ((age > 60) OR (weight > 100))"))
    assert negated == canonical.add(parse("age <= 60 AND weight <= 100"))
    assert canonical.nodes[negated].operator == "and"
    assert {canonical.predicates[o].operator for o in canonical.nodes[negated].operands} == {"<="}


# Figure 6. Pi is `pi = 1`, so that P9 = not P7 is `p7 != 1`. Figure 4 is S1 and S2 alone.
P1, P2, P3, P4, P5, P6, P7, P8 = (f"p{i} = 1" for i in range(1, 9))
OR_123, OR_56, OR_78 = f"({P1} OR {P2} OR {P3})", f"({P5} OR {P6})", f"({P7} OR {P8})"
FIGURE_6 = {
    "S1": f"{OR_123} AND {P4} AND {OR_56}",
    "S2": f"{OR_56} AND {OR_78}",
    "S3": f"{P1} OR {P2} OR {P3} OR {P4}",
    "S4": f"{OR_123} AND {P4}",
    "S5": f"{OR_78} AND {OR_56}",
    "S6": f"NOT {OR_78}",
}
FIGURE_4 = {name: FIGURE_6[name] for name in ("S1", "S2")}


def only(*names: str) -> dict[str, str]:
    return {name: FIGURE_6[name] for name in names}


def node(text: str) -> int:
    """The id of an expression's node."""
    return Canonical().add(parse(text))


def size(index: PlainIndex) -> tuple[int, int, int]:
    """Nodes (leaves and inner nodes), edges, highest level."""
    return len(index.level), index.edge_count, index.depth


def children(index: PlainIndex, text: str) -> set[int]:
    return set(index.children[node(text)])


def test_b2_1_ids_do_not_depend_on_the_order_of_operands():
    """T-B2.1: both spellings are one node with the children {P1 or P2 or P3, P4, P5 or P6}."""
    one, other = f"{OR_123} AND {P4} AND {OR_56}", f"{P4} AND ({P3} OR {P2} OR {P1}) AND ({P6} OR {P5})"
    index = PlainIndex.build({1: one, 2: other})
    assert index.expressions[1] == index.expressions[2]
    assert children(index, one) == {node(OR_123), node(P4), node(OR_56)}


def test_b2_2_a_newcomer_uses_what_is_there():
    """T-B2.2: P1 or P2 or P3 or P4 in the index of Fig. 4 -> {node(P1 or P2 or P3), P4}: 1 node and 2 edges more."""
    before, after = PlainIndex.build(FIGURE_4), PlainIndex.build(only("S1", "S2", "S3"))
    assert children(after, FIGURE_6["S3"]) == {node(OR_123), node(P4)}
    assert len(after.level) - len(before.level) == 1
    assert after.edge_count - before.edge_count == 2


def test_b2_2_the_three_shapes_of_figure_5_are_one():
    """T-B2.2: ((P1 or P2) or P3) or P4, the flat form and (P1 or P2 or P3) or P4 are one node; alone it is flat."""
    shapes = [f"(({P1} OR {P2}) OR {P3}) OR {P4}", f"{P1} OR {P2} OR {P3} OR {P4}", f"{OR_123} OR {P4}"]
    index = PlainIndex.build(dict(enumerate(shapes)))
    assert len(set(index.expressions.values())) == 1
    assert size(index) == (5, 4, 2)


def test_b2_3_no_pick_for_a_single_operand():
    """T-B2.3: P1P2P3P4 beside P1P2P3 and P3P4 -> {P1P2P3, P4} (the paper: {P1P2P3, P3P4}, as many edges)."""
    texts = [f"{P1} AND {P2} AND {P3}", f"{P3} AND {P4}", f"{P1} AND {P2} AND {P3} AND {P4}"]
    index = PlainIndex.build(dict(enumerate(texts)))
    assert children(index, texts[2]) == {node(texts[0]), node(P4)}


def test_b2_4_an_old_node_uses_the_newcomer():
    """T-B2.4: with S4, S1 becomes S4 and (P5 or P6): it loses 2 edges and gains 1; its level goes from 3 to 4."""
    before, after = PlainIndex.build(FIGURE_4), PlainIndex.build(only("S1", "S2", "S4"))
    s1 = node(FIGURE_6["S1"])
    assert children(before, FIGURE_6["S1"]) == {node(OR_123), node(P4), node(OR_56)}
    assert children(after, FIGURE_6["S1"]) == {node(FIGURE_6["S4"]), node(OR_56)}
    assert children(after, FIGURE_6["S4"]) == {node(OR_123), node(P4)}
    assert (before.level[s1], after.level[s1]) == (3, 4)


def test_b2_5_walk_through():
    """T-B2.5: P1, P9, P10 true -> {S3, S6} in 6 visits of 18: P1, P9, P10, then or(1,2,3), S6, then S3."""
    index = PlainIndex.build(FIGURE_6)
    truth = truth_in({"p1": 1, "p7": 0, "p8": 0})
    visited, _ = index.visit(truth)
    assert index.match(truth) == {"S3", "S6"}
    assert len(index.level) == 18
    assert set(visited[:3]) == {node(P1), node("p7 != 1"), node("p8 != 1")}
    assert set(visited[3:5]) == {node(OR_123), node(FIGURE_6["S6"])}
    assert visited[5:] == [node(FIGURE_6["S3"])]
    # Whether P2 to P6 are false or undefined makes no difference.
    assert index.match(truth_in({f"p{i}": int(i == 1) for i in range(1, 9)})) == {"S3", "S6"}


def test_b2_5_access_children_of_figure_6():
    """T-B2.5: S4's access child is P4 (or(1,2,3) wakes only S3); S6 has one of P9 and P10, the other only stores."""
    index = PlainIndex.build(FIGURE_6)
    assert index.access_child[node(FIGURE_6["S4"])] == node(P4)
    assert index.access_child[node(FIGURE_6["S6"])] in (node("p7 != 1"), node("p8 != 1"))


def test_b2_6_sizes_after_each_insert():
    """T-B2.6: nodes 9, 13, 14, 15, 15, 18; edges 8, 12, 14, 15, 15, 17; highest level 3, 3, 3, 4, 4, 4."""
    names = list(FIGURE_6)
    sizes = [size(PlainIndex.build(only(*names[: i + 1]))) for i in range(6)]
    assert [nodes for nodes, _, _ in sizes] == [9, 13, 14, 15, 15, 18]
    assert [edges for _, edges, _ in sizes] == [8, 12, 14, 15, 15, 17]
    assert [level for _, _, level in sizes] == [3, 3, 3, 4, 4, 4]


def test_b2_6_without_sharing_of_subsets():
    """T-B2.6: without reorganise and self-adjust 18 nodes and 20 edges."""
    assert size(PlainIndex.build(FIGURE_6, crowd=1))[:2] == (18, 20)


def test_b2_6_any_order_gives_the_same_index():
    """T-B2.6: 18 nodes and 17 edges in every order; here even row for row."""
    rows = PlainIndex.build(FIGURE_6).rows()
    for order in list(permutations(FIGURE_6))[::24]:
        index = PlainIndex.build(only(*order))
        assert size(index) == (18, 17, 4)
        assert index.rows() == rows


@pytest.mark.parametrize(
    ("true", "false", "matched"),
    [
        ("1 4", "2 3 5 6 7 8", {"S3", "S4", "S6"}),
        ("1 4 5", "2 3 6 7 8", {"S1", "S3", "S4", "S6"}),
        ("5 7", "", {"S2", "S5"}),
        ("", "1 2 3 4 5 6 7 8", {"S6"}),
        ("", "", set()),
        ("", "7", set()),
        ("4", "", {"S3"}),
    ],
)
def test_b2_7_events(true, false, matched):
    """T-B2.7: the events of Fig. 6, what is neither true nor false being undefined."""
    event = dict.fromkeys((f"p{i}" for i in true.split()), 1) | dict.fromkeys((f"p{i}" for i in false.split()), 0)
    assert PlainIndex.build(FIGURE_6).match(truth_in(event)) == matched


def test_b2_7_deletes():
    """T-B2.7: 18 nodes without S2 (S5 is the same node), 17 without S4, then 15 and 12 edges without S1 (paper: 16)."""
    everything = {f"p{i}": int(i <= 6) for i in range(1, 9)} | {"p7": 1}

    without_s2 = PlainIndex.build(only("S1", "S3", "S4", "S5", "S6"))
    assert len(without_s2.level) == 18
    assert "S5" in without_s2.match(truth_in(everything))

    without_s4 = PlainIndex.build(only("S1", "S3", "S5", "S6"))
    assert len(without_s4.level) == 17
    assert children(without_s4, FIGURE_6["S1"]) == {node(OR_123), node(P4), node(OR_56)}
    assert "S1" in without_s4.match(truth_in(everything))

    # or(1,2,3) is nobody's operand any more, so it goes and S3 has its four predicates as children.
    without_s1 = PlainIndex.build(only("S3", "S5", "S6"))
    assert size(without_s1) == (15, 12, 3)
    assert node(OR_123) not in without_s1.level
    assert without_s1.match(truth_in(everything)) == {"S3", "S5"}


def test_b2_7_use_counts():
    """T-B2.7: a use is an expression or a logical parent: S2's node has two, or(5,6) has S1 and S2 = S5."""
    index = PlainIndex.build(FIGURE_6)
    assert index.use_count[node(FIGURE_6["S2"])] == 2
    assert index.use_count[node(OR_56)] == 2
    assert index.use_count[node(P4)] == 3  # S1, S3 and S4, whatever stands between
    assert index.use_count[node(FIGURE_6["S4"])] == 1  # S1 uses it physically only
