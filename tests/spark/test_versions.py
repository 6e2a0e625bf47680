"""The versions of an index: going back, comparing, forgetting, freeing files; writers that died, and retention."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from test_dead_writers import leave_commits
from test_histories import check

from banyan import Index
from banyan.errors import ArgumentError, Conflict, RulesError, VersionNotFound
from banyan.store import history
from banyan.store.versions import write

COLUMNS = "expression_id string, expression string"
ONE = {"a": "x = 1", "b": "x = 1 AND y = 2 AND z = 3", "c": "y = 2 OR z = 3"}
TWO = ONE | {"b": "x = 1 AND y = 2", "d": "x = 1 AND y = 2 AND w = 4"}
THREE = {key: text for key, text in TWO.items() if key != "a"}
FOUR = ONE | {"e": "w = 4 XOR x = 1"}
CROWD = 10_000


def rules(spark, texts):
    return spark.createDataFrame(list(texts.items()), COLUMNS)


def data_files(where):
    """Of all tables but `versions`, which every write adds to."""
    return {path for path in Path(where).rglob("*.parquet") if not {"_delta_log", "versions"} & set(path.parts)}


@pytest.fixture(scope="module")
def index(spark, tmp_path_factory):
    """Version 1 holds ONE, 2 TWO, 3 THREE. The tests below go on from there, in their order."""
    index = Index.create(spark, str(tmp_path_factory.mktemp("life") / "index"))
    assert index.add(rules(spark, ONE)) == 1
    assert index.replace(rules(spark, {key: TWO[key] for key in "bd"})) == 2
    assert index.remove(["a"]) == 3
    check(index, THREE, CROWD)
    return index


def test_in_sql_by_version_and_by_time(spark, index):
    """As docs/versions.md says: the row of `versions` names the Delta version of each table."""
    listed = f"delta.`{index.where}/versions`"
    times = {row["version"]: row["published_at"] for row in spark.sql(f"SELECT * FROM {listed}").collect()}
    for version, texts in ((1, ONE), (2, TWO), (3, THREE)):
        by_version = f"version = {version}"
        by_time = f"published_at <= TIMESTAMP '{times[version]}'"
        for which in (by_version, by_time):
            pin = spark.sql(
                f"SELECT max_by(table_versions['expressions'], version) FROM {listed} WHERE {which}"
            ).first()[0]
            rows = spark.sql(
                f"SELECT expression_id, expression FROM delta.`{index.where}/expressions` VERSION AS OF {pin}"
            ).collect()
            assert dict(map(tuple, rows)) == texts
        assert Index.open(spark, index.where, timestamp=times[version]).version == version
        assert Index.open(spark, index.where, timestamp=str(times[version])).version == version
    with pytest.raises(VersionNotFound, match="no version at 2001-01-01: it has versions 0 to 3"):
        Index.open(spark, index.where, timestamp="2001-01-01")
    with pytest.raises(ArgumentError, match="'yesterday-ish' is not a time"):
        Index.open(spark, index.where, timestamp="yesterday-ish")


def test_removing_what_is_not_there(spark, index):
    with pytest.raises(
        RulesError, match=r"2 ids cannot be removed; nothing was written:\n  a: there is no expr"
    ) as told:
        index.remove(["a", "b", "nobody"])
    assert told.value.total == 2
    with pytest.raises(ArgumentError, match="given as a list"):
        index.remove("a")
    with pytest.raises(ArgumentError, match="missing is 'fail' or 'ignore'"):
        index.remove(["a"], missing="perhaps")
    assert Index.open(spark, index.where).version == 3


def test_diff(index):
    found = {row["expression_id"]: tuple(row)[1:] for row in index.diff(1).collect()}
    assert found == {
        "a": ("removed", ONE["a"], None),
        "b": ("changed", ONE["b"], TWO["b"]),
        "d": ("added", None, TWO["d"]),
    }
    assert {(row[0], row[1]) for row in index.diff(3, 2).collect()} == {("a", "added")}
    assert index.diff(2, 2).isEmpty()


def test_restore_then_add(spark, index):
    """Going back copies nothing; what is written next goes on from there; a reader keeps its version."""
    reader = Index.open(spark, index.where)
    before = data_files(index.where)
    assert index.restore(1, request_id="back") == 4
    assert data_files(index.where) == before
    check(index, ONE, CROWD)
    assert index.restore(1, request_id="back") == 4
    assert index.add(rules(spark, {"e": FOUR["e"]})) == 5
    check(index, FOUR, CROWD)
    assert reader.version == 3
    check(reader, THREE, CROWD)
    operations = [row["operation"] for row in index.versions().collect()]
    assert operations == ["add", "restore 1", "remove", "replace", "add", "create"]


def test_optimize_changes_files_and_no_rows(spark, index):
    events = spark.createDataFrame([(1, 1, 2, 4), (2, 0, 2, 4)], "event_id int, x int, y int, w int")
    with pytest.warns(UserWarning, match="no attribute z"):
        before = {tuple(row) for row in index.match(events).collect()}
    assert before == {(1, "a"), (1, "c"), (2, "c"), (2, "e")}
    assert index.optimize() == 6
    check(index, FOUR, CROWD)
    with pytest.warns(UserWarning, match="no attribute z"):
        assert {tuple(row) for row in index.match(events).collect()} == before
    index.release()


def test_forget_and_vacuum(spark, index, monkeypatch):
    """A dead writer's commits lie on top of the head when vacuum comes, long after."""
    assert index.forget(before=3) == [0, 1, 2]
    with pytest.raises(VersionNotFound, match="has no version 1: it has versions 3 to 6"):
        Index.open(spark, index.where, version=1)
    with pytest.raises(ArgumentError, match="version 6 is the newest .* and stays"):
        index.forget(before=7)
    late = datetime.now(timezone.utc) + timedelta(days=31)
    monkeypatch.setattr(history, "now", lambda: late)
    with pytest.raises(ArgumentError, match=r"would take the files of 3 versions \(3 to 5\).*forget\(before=6\)"):
        index.vacuum()
    check(Index.open(spark, index.where, version=3), THREE, CROWD)
    assert index.forget(before=6) == [3, 4, 5]
    leave_commits(index)
    check(Index.open(spark, index.where), FOUR, CROWD)
    before = len(data_files(index.where))
    # The files must go now, not in 31 days; the versions that are listed must not.
    history.vacuum(index._place, hours=0)
    assert len(data_files(index.where)) < before
    again = Index.open(spark, index.where)
    check(again, FOUR, CROWD)
    again.remove(["e"])
    check(again, ONE, CROWD)


def test_a_version_that_retention_has_taken(spark, index, monkeypatch):
    """Somebody else's VACUUM has removed the files of a listed version: opening it says so, and names what is left."""
    index = Index.open(spark, index.where)
    old = index.version
    index.replace(rules(spark, {"a": "x = 2 AND y = 2"}))
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    try:
        for table in ("predicates", "nodes", "edges", "expressions"):
            spark.sql(f"VACUUM delta.`{index.where}/{table}` RETAIN 0 HOURS")
    finally:
        spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    late = datetime.now(timezone.utc) + timedelta(days=31)
    monkeypatch.setattr(history, "now", lambda: late)
    with pytest.raises(VersionNotFound, match=f"version {old} .* is gone: .*the oldest one left is version {old + 1}"):
        Index.open(spark, index.where, version=old)
    with pytest.raises(VersionNotFound, match="is gone"):
        index.restore(old)
    check(Index.open(spark, index.where), ONE | {"a": "x = 2 AND y = 2"}, CROWD)


def test_a_rival_that_keeps_writing_is_named(spark, index):
    """Commits of somebody else among ours: begun again, then given up, and the index is as it was."""
    index = Index.open(spark, index.where)
    before = {row["expression_id"]: row["expression"] for row in index.expressions().collect()}
    turns = []

    def attempt(work):
        turns.append(work.number)
        rival = index.table("expressions").write.format("delta").mode("overwrite").option("userMetadata", "a rival")
        index._place.save(rival, "expressions")
        return work.publish("add", work.head.settings, work.head.counts)

    with pytest.raises(Conflict, match="gave up after 2 attempts: somebody else keeps writing to .*expressions"):
        write(index._place, attempt, retries=1)
    assert turns == [index.version + 1] * 2
    check(Index.open(spark, index.where), before, CROWD)
