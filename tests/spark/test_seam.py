"""The one seam for intermediates: with the `table` strategy nothing is cached, checkpointed or asked of an RDD.

Doubles that fail stand in for all of these, as serverless compute refuses them, while an index lives its whole life.
"""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from banyan import Index
from banyan.build import change, loaded
from banyan.store import materialise, tables
from banyan.store.materialise import Scratch
from banyan.store.staged import staged

REFUSED = ("cache", "persist", "unpersist", "checkpoint", "localCheckpoint", "rdd", "createGlobalTempView")
RULES = {
    "one": "a = 1",
    "both": "a = 1 AND b LIKE 'x%'",
    "any": "(a = 1 AND b LIKE 'x%') OR c > 2.5 OR d IS NULL",
    "deep": "a = 2 OR (c > 1 AND (b = 'x' OR (d = 4 AND (a = 3 OR b = 'xy'))))",
}
EVENTS = [(1, 1, "xa", 1.0, 4), (2, 2, None, 3.0, 4), (3, 3, "x", 2.0, None), (4, 1, "y", 1.0, 4)]


@pytest.fixture
def serverless(spark, monkeypatch):
    """The session, in which every one of these fails, and which says that it is not local."""

    def refuse(name):
        def refused(self):
            raise AssertionError(f"DataFrame.{name} is NOT_SUPPORTED_WITH_SERVERLESS")

        return property(refused)

    for name in REFUSED:
        monkeypatch.setattr(type(spark.range(1)), name, refuse(name))
    monkeypatch.setattr(materialise, "is_local", lambda _: False)
    assert Scratch(spark).strategy == "table"
    return spark


def test_the_doubles_fail(serverless):
    for name in REFUSED:
        with pytest.raises(AssertionError, match="NOT_SUPPORTED"):
            getattr(serverless.range(1), name)


@pytest.fixture
def index(serverless, tmp_path, monkeypatch):
    """Made in the way of large changes."""
    index = Index.create(serverless, str(tmp_path / "index"))
    with monkeypatch.context() as patch:
        patch.setattr(change, "SMALL", 0)
        index.add(rules(serverless).where("expression_id <> 'deep'"))
    yield index
    index.release()


def rules(spark):
    return spark.createDataFrame(list(RULES.items()), "expression_id string, expression string")


def events(spark):
    return spark.createDataFrame(EVENTS, "event_id int, a int, b string, c double, d int")


def of_where(spark, names):
    """The pairs as Spark's own WHERE finds them."""
    return {(row[0], name) for name in names for row in events(spark).where(RULES[name]).select("event_id").collect()}


def test_build_and_match_without_cache(serverless, index):
    found = index.match(events(serverless), where="expression_id <> 'both'")
    assert {tuple(row) for row in found.collect()} == of_where(serverless, ["one", "any"])


@pytest.mark.slow
def test_the_rest_of_the_life_of_an_index_without_cache(serverless, index, tmp_path, monkeypatch):
    spark = serverless
    monkeypatch.setattr(loaded, "MOST", 0)  # a small change to tables that are large
    index.add(rules(spark).where("expression_id = 'deep'"))
    found = index.match(events(spark), batch_size=2)
    assert {tuple(row) for row in found.collect()} == of_where(spark, RULES)
    pairs = F.explode(F.create_map(F.lit("a"), "a", F.lit("d"), "d")).alias("name", "value")
    long = events(spark).select("event_id", pairs)
    with pytest.warns(UserWarning, match="no attribute b"):
        written = index.match(
            long, attribute="name", value="value", output="arrays", into=str(tmp_path / "into"),
        )  # fmt: skip
    found = {row["event_id"]: row["expression_ids"] for row in written.collect()}
    assert found == {1: ["one"], 2: ["deep"], 3: ["any"], 4: ["one"]}
    assert "true" in index.explain({"a": 1}, "one")
    index.remove(["any"])
    index.restore(2)
    index.optimize()
    assert index.diff(1).count() == 1


@pytest.mark.slow
def test_an_index_where_nothing_can_be_locked_or_moved(spark, tmp_path, monkeypatch):
    """As in an object store, or a folder of a Connect server elsewhere: only Delta's own commits are there."""
    monkeypatch.setattr(tables, "is_beside", lambda _: False)
    where = str(tmp_path / "index")
    rules = spark.createDataFrame([("one", "a = 1")], "expression_id string, expression string")
    for replace in (False, True):
        with staged(spark, where, replace) as index:
            index.add(rules)
        assert index.expressions().count() == 1 and index.versions().count() == 2
    assert not (tmp_path / "index" / ".lock").exists()
    Index.drop(spark, where)
    assert not Index.exists(spark, where)
