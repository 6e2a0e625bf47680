"""What the Spark build runs on workers and on the driver, without Spark, against the plain index."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from banyan.build.cover import _cover_batches
from banyan.build.levels import _tail
from banyan.build.parse import parser
from banyan.build.plain import PlainIndex
from banyan.language.parser import parse
from banyan.language.render import tree_sql
from banyan.language.settings import DEFAULT
from banyan.normal.ids import Ids
from tests.trees import random_tree


def random_indexes(count: int):
    rng = Random(12)
    for _ in range(count):
        trees = {i: random_tree(rng, depth=3, names="abcdef", negations=i % 4 == 0) for i in range(30)}
        yield {i: tree_sql(tree) for i, tree in trees.items()}


def test_parsed_batches_hold_every_node_once():
    """The rows a worker makes of its texts are the logical nodes of the index, and each text has its node."""
    for texts in random_indexes(10):
        index = PlainIndex.build(texts)
        batch = pa.RecordBatch.from_pydict({"expression": list(texts.values())})
        (read,) = parser(DEFAULT, Ids())(iter([batch]))
        assert read["node_id"].to_pylist() == list(index.expressions.values())
        assert set(read["reason"].to_pylist()) == {None}
        made = [row for rows in read["made"].to_pylist() for row in rows]
        assert len({row["node_id"] for row in made}) == len(made) == len(index.level)
        for row in made:
            node_id = row["node_id"]
            assert (row["level"], row["frequency"]) == (index.logical_level[node_id], index.frequency[node_id])
            if row["operands"] is None:
                predicate = (row["attribute"], row["operator"], row["family"], tuple(row["literals"]))
                assert predicate == index.predicates[node_id]
            else:
                assert (row["operator"], tuple(row["operands"])) == index.nodes[node_id]
                assert row["operand_frequencies"] == [index.frequency[operand] for operand in row["operands"]]


def test_bad_texts_are_told_apart_from_good_ones():
    batch = pa.RecordBatch.from_pydict({"expression": ["a = 1", "a = ", None, "a = 1 AND"]})
    (read,) = parser(DEFAULT, Ids())(iter([batch]))
    assert [node_id is None for node_id in read["node_id"].to_pylist()] == [False, True, True, True]
    assert [reason is None for reason in read["reason"].to_pylist()] == [True, False, False, False]
    assert read["position"].to_pylist()[1] == 3  # where the text ends, but for spaces


def test_covers_of_a_worker():
    """Given all nodes of an operator that share an operand, subsets or not, a worker finds the same children."""
    found = 0
    for texts in random_indexes(10):
        index = PlainIndex.build(texts)
        rows = [
            {
                "node_id": node_id,
                "operator": operator,
                "operands": list(operands),
                "operand_frequencies": [index.frequency[operand] for operand in operands],
                "others": [
                    {"node_id": i, "operands": list(others), "frequency": index.frequency[i]}
                    for i, (other, others) in index.nodes.items()
                    if other == operator and i != node_id and set(others) & set(operands)
                ],
            }
            for node_id, (operator, operands) in index.nodes.items()
        ]
        (covers,) = _cover_batches(iter([pa.RecordBatch.from_pylist(rows)]))
        children = {row["node_id"]: row["children"] for row in covers.to_pylist()}
        access = {row["node_id"]: row["access_child"] for row in covers.to_pylist()}
        expected = {i: index.children[i] for i in index.nodes if set(index.children[i]) != set(index.nodes[i][1])}
        assert children == expected
        assert access == {i: index.access_child.get(i) for i in expected}
        found += len(expected)
    assert found > 50


def test_levels_of_the_driver():
    """Edges between inner nodes with the logical levels: the nodes that stand higher, and where."""
    found = 0
    for texts in random_indexes(20):
        index = PlainIndex.build(texts)
        edges = [(i, child) for i, children in index.children.items() for child in children if child in index.nodes]
        table = pa.table(
            {
                "parent_id": pa.array([parent for parent, _ in edges], pa.int64()),
                "child_id": pa.array([child for _, child in edges], pa.int64()),
                "parent_level": pa.array([index.logical_level[parent] for parent, _ in edges], pa.int32()),
                "child_level": pa.array([index.logical_level[child] for _, child in edges], pa.int32()),
                "size": pa.array([len(index.nodes[parent][1]) for parent, _ in edges], pa.int32()),
            }
        )
        raised = _tail(table).to_pylist()
        assert {row["node_id"]: row["level"] for row in raised} == {
            i: index.level[i] for i in index.nodes if index.level[i] != index.logical_level[i]
        }
        found += len(raised)
    assert found > 50


def test_the_texts_of_these_tests_are_their_trees():
    for texts in random_indexes(2):
        for text in texts.values():
            assert tree_sql(parse(text)) == text
