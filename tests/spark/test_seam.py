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


def test_the_life_of_an_index_without_cache(serverless, tmp_path, monkeypatch):
    spark = serverless
    index = Index.create(spark, str(tmp_path / "index"))
    rules = spark.createDataFrame(list(RULES.items()), "expression_id string, expression string")
    with monkeypatch.context() as patch:
        patch.setattr(change, "SMALL", 0)  # the way of large changes
        index.add(rules.where("expression_id <> 'deep'"))
    monkeypatch.setattr(loaded, "MOST", 0)  # a small change to tables that are large
    index.add(rules.where("expression_id = 'deep'"))
    events = spark.createDataFrame(EVENTS, "event_id int, a int, b string, c double, d int")
    expected = {
        (row["event_id"], name)
        for name, text in RULES.items()
        for row in events.where(text).select("event_id").collect()
    }
    found = index.match(events, batch_size=2)
    assert {tuple(row) for row in found.collect()} == expected
    long = events.select("event_id", F.explode(F.create_map(F.lit("a"), "a", F.lit("d"), "d")).alias("name", "value"))
    with pytest.warns(UserWarning, match="no attribute b"):
        counts = index.match(
            long, attribute="name", value="value", output="counts", where="expression_id <> 'both'",
            into=str(tmp_path / "into"),
        )  # fmt: skip
    assert {tuple(row) for row in counts.collect()} == {("one", 2), ("any", 1), ("deep", 1)}
    index.release()


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
