"""What the Spark build runs on workers and on the driver, without Spark, against the plain index."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from banyan.build import rounds
from banyan.build.cover import CROWD
from banyan.build.levels import _tail
from banyan.build.parse import MADE, PATTERNS, POSITION, REASON, parser
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
        assert set(read[REASON].to_pylist()) == {None}
        first, *others = read[MADE].to_pylist()
        assert set(others) == {b""}
        made = pa.ipc.open_stream(first).read_all().to_pylist()
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
    assert [reason is None for reason in read[REASON].to_pylist()] == [True, False, False, False]
    assert read[POSITION].to_pylist()[1] == 3  # where the text ends, but for spaces


def test_the_first_row_that_meets_a_regular_expression_has_it():
    batch = pa.RecordBatch.from_pydict({"expression": ["a = 1", "a RLIKE 'x'", "a RLIKE 'x' OR NOT b RLIKE 'y'"]})
    (read,) = parser(DEFAULT, Ids())(iter([batch]))
    assert read[PATTERNS].to_pylist() == [[], ["x"], ["y"]]


def through_the_rounds(texts: dict, crowd: int, ids: Ids, buckets: int, batches: int) -> dict[str, list[dict]]:
    """What the rounds make of texts that several parsers have read: the rows of `shape` and of `predicates`, and
    the ids that two nodes have."""
    expressions, keys = list(texts.values()), list(range(10, 10 + buckets))
    cuts = [expressions[i::batches] for i in range(batches)]
    parsed = [next(parser(DEFAULT, ids)(iter([pa.RecordBatch.from_pydict({"expression": cut})]))) for cut in cuts]
    sent = list(rounds.scatter(keys)(iter(parsed)))

    def arriving(name, step):
        here = (batch for batch in sent if batch.column("part")[0].as_py() in rounds.PARTS[name])
        return list(rounds.in_buckets(step, keys)(here))

    for name in ("unique", "rarest", "asking", "around"):
        sent += arriving(name, rounds.rarest(crowd) if name == "rarest" else getattr(rounds, name))
    collisions = [
        i
        for batch in sent
        if batch.column("part")[0].as_py() == "collision"
        for i in pa.ipc.open_stream(batch.column("data")[0].as_py()).read_all()["node_id"].to_pylist()
    ]
    rows = {"collision": collisions}
    for name in ("shape", "predicates"):
        rows[name] = [row for batch in arriving(name, getattr(rounds, name)) for row in batch.to_pylist()]
    return rows


@pytest.mark.parametrize("crowd", [CROWD, 3])
@pytest.mark.parametrize("buckets", [1, 3])
def test_the_rounds_make_the_plain_index(crowd, buckets):
    """Whatever the number of parsers and of buckets: the same nodes, children, access children and use counts."""
    covers = 0
    for texts in random_indexes(8):
        index = PlainIndex.build(texts, crowd=crowd)
        made = through_the_rounds(texts, crowd, Ids(), buckets, batches=3)
        assert not made["collision"]
        assert {row["node_id"] for row in made["shape"]} == set(index.nodes)
        for row in made["shape"]:
            i = row["node_id"]
            children = index.children[i]
            assert (row["operator"], tuple(row["operands"])) == index.nodes[i]
            assert row["operand_frequencies"] == [index.frequency[operand] for operand in row["operands"]]
            assert row["children"] == children
            assert (row["use_count"], row["access_child"]) == (index.use_count[i], index.access_child.get(i))
            assert (row["logical_level"], row["expected_frequency"]) == (index.logical_level[i], index.frequency[i])
            assert row["level"] == 1 + max(index.logical_level[child] for child in children)
            covers += row["children"] != row["operands"]
        found = [tuple(tuple(v) if isinstance(v, list) else v for v in row.values()) for row in made["predicates"]]
        assert sorted(found) == [tuple(row) for row in index.rows()["predicates"]]
    assert covers > 10


def test_two_nodes_with_one_id_are_told():
    """With ids of few bits some node shares its id with another, of its kind or not, read by one parser or by two."""
    told = 0
    for texts in random_indexes(6):
        made = through_the_rounds(texts, CROWD, Ids(bits=9), buckets=2, batches=len(texts))
        alone = [through_the_rounds({0: text}, CROWD, Ids(bits=9), 1, 1) for text in texts.values()]
        content = {}
        for one in alone:
            for row in one["shape"] + one["predicates"]:
                key = (row["operator"], *(str(row.get(name)) for name in ("operands", "attribute", "literals")))
                content.setdefault(row["node_id"], set()).add(key)
        assert set(made["collision"]) == {i for i, contents in content.items() if len(contents) > 1}
        told += len(made["collision"])
    assert told > 10


def test_stretches_of_pairs(monkeypatch):
    monkeypatch.setattr(rounds, "_PAIRS", 10)
    lengths = np.array([3, 0, 7, 1, 25, 2, 0])
    assert list(rounds._stretches(lengths)) == [(0, 3), (3, 4), (4, 5), (5, 7)]


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
                "logical_level": pa.array([index.logical_level[parent] for parent, _ in edges], pa.int32()),
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
