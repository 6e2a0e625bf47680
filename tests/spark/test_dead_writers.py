"""Writers that died between their commits, readers that are open meanwhile, and logs that are read without Spark."""

import os
import time
from datetime import datetime, timezone
from pathlib import Path

from test_histories import check

from banyan import Index
from banyan.store import log
from banyan.store.tables import PINNED
from banyan.store.versions import Write, find

COLUMNS = "expression_id string, expression string"
ONE = {"a": "x = 1", "b": "x = 1 AND y = 2 AND z = 3", "c": "y = 2 OR z = 3"}
TWO = ONE | {"e": "w = 4 XOR x = 1"}
CROWD = 10_000


def rules(spark, texts):
    return spark.createDataFrame(list(texts.items()), COLUMNS)


def leave_commits(index):
    """What a writer leaves that dies before it publishes: tables without rows on top of the head."""
    dead = Write(index._place, find(index._place))
    for table in ("predicates", "nodes", "edges", "expressions"):
        dead.overwrite(index.table(table).limit(0), table)


def test_rows_read_from_the_log_are_those_of_spark(spark, tmp_path):
    """At every Delta version: appended to, overwritten, marked, restored, across a checkpoint."""
    index = Index.create(spark, str(tmp_path / "index"))
    index.add(rules(spark, ONE))
    leave_commits(index)
    index.replace(rules(spark, {"a": "y = 2"}))
    place = index._place
    for n in range(11):
        row = spark.createDataFrame([(f"{n}", None, n, "r", 1)], place.latest("rejected").schema).coalesce(1)
        place.save(row.write.format("delta").mode("append"), "rejected")
    spark.sql(f"DELETE FROM {place.name('rejected')} WHERE position IN (3, 4)")
    answered = 0
    for table in (*PINNED, "versions"):
        columns = place.latest(table).columns
        for version in place.commits(table, 0):
            found = log.rows(f"{index.where}/{table}", columns, version)
            read = place.read(table, version).toArrow()
            if found is not None:
                answered += 1
                assert sorted(map(str, plain(found))) == sorted(map(str, plain(read))), (table, version)
    assert answered > 20
    assert any("checkpoint" in name for name in os.listdir(f"{index.where}/rejected/_delta_log"))


def plain(table):
    """Rows with times in UTC, of which Spark's files do not say that they are."""

    def told(value):
        aware = isinstance(value, datetime) and value.tzinfo is not None
        return value.astimezone(timezone.utc).replace(tzinfo=None) if aware else value

    return [{name: told(value) for name, value in row.items()} for row in table.to_pylist()]


def test_a_reader_open_during_an_add_keeps_its_version(spark, tmp_path, monkeypatch):
    """Whoever reads between the commits of an add and its publishing sees nothing of it; nor later, unless he opens."""
    writer = Index.create(spark, str(tmp_path / "index"))
    writer.add(rules(spark, ONE))
    reader, publish, seen = Index.open(spark, writer.where), Write.publish, []

    def published(self, *arguments):
        check(reader, ONE, CROWD)
        seen.append(Index.open(spark, writer.where).version)
        return publish(self, *arguments)

    monkeypatch.setattr(Write, "publish", published)
    writer.add(rules(spark, {"e": TWO["e"]}))
    assert seen == [1] and reader.version == 1
    check(reader, ONE, CROWD)
    check(Index.open(spark, writer.where), TWO, CROWD)


def test_dead_writer_then_add(spark, tmp_path):
    index = Index.create(spark, str(tmp_path / "index"))
    index.add(rules(spark, ONE))
    leave_commits(index)
    check(Index.open(spark, index.where), ONE, CROWD)
    assert Index.open(spark, index.where).add(rules(spark, {"e": TWO["e"]})) == 2
    check(Index.open(spark, index.where), TWO, CROWD)


def test_dead_writer_then_the_clock_past_retention_then_open(spark, tmp_path):
    """Delta refuses versions superseded that long ago; the head is one, and is read and written all the same."""
    index = Index.create(spark, str(tmp_path / "index"), retention_days=7)
    index.add(rules(spark, ONE))
    leave_commits(index)
    past = time.time() - 40 * 86_400
    for file in Path(index.where).rglob("*"):
        os.utime(file, (past, past))
    again = Index.open(spark, index.where)
    for _ in range(3):  # reads the tables in threads, which share the session's settings
        check(again, ONE, CROWD)
    assert again.add(rules(spark, {"e": TWO["e"]})) == 2
    check(again, TWO, CROWD)
