"""Jobs and streams that are killed, for real: a child process gets SIGKILL in the midst of one, and this one goes on.

After each: no match is missing and none is there twice. One kill of a match job and a stream in `make test`;
`make test-jobs` and `make test-stream` kill at every named point and at random times.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import functions as F

from banyan import Index
from banyan.jobs.cli import main

CHILDREN = Path(__file__).parents[1] / "children"
sys.path.insert(0, str(CHILDREN))
from following import work  # noqa: E402

COLUMNS = "expression_id string, expression string"
RULES = {
    "low": "x < 3",
    "both": "x = 1 AND y >= 2",
    "none": "x = 1 AND x = 2",
    "text": "s LIKE 'a%' OR y = 0",
    "absent": "s IS NULL",
}
LATER = {"odd": "x IN (1, 3)"}
COMMITS = 4
MATCHES = [f"{when} {what}" for what in ("plan 1", "append 1", "append 3", "batch 3") for when in ("before", "after")]
STREAMS = [f"{when} append {n}" for n in (1, 2, 4) for when in ("before", "after")]
FOLLOWS = [f"{when} {what} 1" for what in ("plan", "replace", "remove") for when in ("before", "after")]


def at_random(kind, longest, count=2):
    return [f"{Random(f'{kind}{i}').uniform(0.5, longest):.2f}" for i in range(count)]


def chosen(name, handful, everything):
    """A handful in `make test`; all of them where the environment names these tests."""
    return everything if name in os.environ.get("BANYAN_FOLLOWING", "").split() else handful


def rules_frame(spark, rules):
    return spark.createDataFrame(list(rules.items()), COLUMNS)


def expected(spark, events, rules):
    """What Spark's own WHERE says: (event, rule) pairs."""
    found = F.array_compact(F.array(*[F.when(F.expr(text), F.lit(key)) for key, text in rules.items()]))
    return Counter(tuple(row) for row in events.select("event_id", F.explode(found)).collect())


@pytest.fixture(scope="module")
def world(spark, tmp_path_factory):
    """An index at version 1, and events in commits of 20 rows, a file each."""
    folder = str(tmp_path_factory.mktemp("world"))
    index = Index.create(spark, f"{folder}/index")
    index.add(rules_frame(spark, RULES))
    spark.sql(
        f"CREATE TABLE delta.`{folder}/events` (event_id BIGINT, x INT, y INT, s STRING) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    for commit in range(COMMITS):
        rows = spark.range(commit * 20, commit * 20 + 20, numPartitions=1).selectExpr(
            "id AS event_id",
            "cast(id % 5 AS int) x",
            "cast(id % 3 AS int) y",
            "element_at(array('ab', 'b', NULL), cast(id % 3 AS int) + 1) s",
        )
        rows.write.format("delta").mode("append").save(f"{folder}/events")
    return folder


@pytest.fixture
def folder(world, tmp_path):
    """A copy of it, to be worked on."""
    shutil.copytree(world, tmp_path / "world")
    return str(tmp_path / "world")


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def killed(kind, point, folder, scratch):
    """Runs the child to its death; whether it lived to the end."""
    command = [sys.executable, str(CHILDREN / "following.py"), kind, point, folder, str(scratch / "scratch")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == 0


def read(spark, path):
    """The rows of a Delta table, counted; none if it was not made yet."""
    if not os.path.isdir(f"{path}/_delta_log"):
        return Counter()
    return Counter(tuple(row) for row in spark.read.format("delta").load(path).collect())


def appends(spark, path):
    """How many commits of ours the matches have."""
    history = spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()
    return len([row for row in history if "banyan" in (row["userMetadata"] or "")])


def match_goes_on(spark, folder, kind):
    """Begin the killed match again, after the index has moved on, and check what comes out of it."""
    before = read(spark, f"{folder}/{kind}")
    planned = read(spark, f"{folder}/{kind}_runs")
    work(spark, kind, folder)
    # A run that was begun stays at the version of the index that it began with.
    events = spark.read.format("delta").load(f"{folder}/events")
    assert read(spark, f"{folder}/{kind}") == expected(spark, events, RULES if planned else RULES | LATER)
    assert before <= read(spark, f"{folder}/{kind}") and appends(spark, f"{folder}/{kind}") == COMMITS
    runs = spark.read.format("delta").load(f"{folder}/{kind}_runs").groupBy("run", "step").count().collect()
    assert {tuple(row) for row in runs} == {(1, "planned", 1), (1, "batch", COMMITS), (1, "done", 1)}
    # Nothing is new: nothing is done.
    work(spark, kind, folder)
    assert appends(spark, f"{folder}/{kind}") == COMMITS
    return before


def stream_goes_on(spark, folder, kind):
    """The same for a stream."""
    path = f"{folder}/{kind}"
    before = read(spark, path)
    done = appends(spark, path) if before else 0
    work(spark, kind, folder)
    # A batch is a commit's file: those that were in before keep their version, the others begin with the newest.
    events = spark.read.format("delta").load(f"{folder}/events")
    wanted = expected(spark, events.where(F.col("event_id") < done * 20), RULES)
    wanted += expected(spark, events.where(F.col("event_id") >= done * 20), RULES | ({} if kind == "pinned" else LATER))
    assert read(spark, path) == wanted
    assert before <= wanted and appends(spark, path) == COMMITS
    return before


def move_on(spark, folder):
    Index.open(spark, f"{folder}/index").add(rules_frame(spark, LATER))


@pytest.mark.parametrize("point", ["after append 2"])
def test_a_killed_job_and_a_killed_stream_match_each_event_once(spark, folder, tmp_path, point):
    """Both in one process, which dies when each has its second batch in and has not yet written that down."""
    assert not killed("match stream", point, folder, tmp_path)
    move_on(spark, folder)
    assert match_goes_on(spark, folder, "match") and stream_goes_on(spark, folder, "stream")


MATCH_KILLS = [
    *(("match", point) for point in MATCHES + at_random("match", 12)),
    *(("snapshot", point) for point in ("before append 2", "after append 2")),
]
STREAM_KILLS = [
    *(("stream", point) for point in STREAMS + at_random("stream", 15)),
    *(("pinned", point) for point in ("before append 2", "after append 2")),
]


@pytest.mark.parametrize(("kind", "point"), chosen("jobs", [], MATCH_KILLS))
def test_a_killed_match_goes_on_at_the_batch_it_was_in(spark, folder, tmp_path, kind, point):
    lived = killed(kind, point, folder, tmp_path)
    move_on(spark, folder)
    assert match_goes_on(spark, folder, kind) or not lived


@pytest.mark.parametrize(("kind", "point"), chosen("stream", [], STREAM_KILLS))
def test_a_killed_stream_matches_each_event_once(spark, folder, tmp_path, kind, point):
    lived = killed(kind, point, folder, tmp_path)
    move_on(spark, folder)
    assert stream_goes_on(spark, folder, kind) or not lived


def followed(spark, folder):
    """The rules of the index and those of the table."""
    index = Index.open(spark, f"{folder}/followed")
    table = spark.read.format("delta").load(f"{folder}/rules")
    return (
        {tuple(row) for row in index.expressions().select("expression_id", "expression", "team").collect()},
        {tuple(row) for row in table.collect()},
    )


@pytest.fixture
def table(spark, tmp_path):
    """A folder with a table of rules."""
    spark.sql(
        f"CREATE TABLE delta.`{tmp_path}/rules` (expression_id STRING, expression STRING, team STRING) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    spark.sql(
        f"INSERT INTO delta.`{tmp_path}/rules` VALUES ('a', 'x = 1', 't'), ('b', 'y = 2', 't'), ('c', 'x = 3', 't')"
    )
    return str(tmp_path)


def changed(spark, folder):
    name = f"delta.`{folder}/rules`"
    spark.sql(f"INSERT INTO {name} VALUES ('d', 'x = 1 AND y = 2', 'u'), ('gone', 'x = 9', 'u')")
    spark.sql(f"UPDATE {name} SET expression_id = 'moved' WHERE expression_id = 'a'")
    spark.sql(f"UPDATE {name} SET team = 'v' WHERE expression_id = 'c'")
    spark.sql(f"DELETE FROM {name} WHERE expression_id IN ('b', 'gone')")


def test_the_commands_keep_an_index_in_step_and_match_what_is_new(spark, table, world, capsys):
    rules, index = f"{table}/rules", f"{table}/followed"
    assert main(["follow", rules, index, "--create", "--quiet"]) == 0
    assert main(["follow", rules, index, "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "version 1, 3 put in, 0 taken out" in out and f"nothing new in {rules}; version 1 stays" in out
    changed(spark, table)
    spark.sql(f"INSERT INTO delta.`{rules}` VALUES ('bad', 'x >', 'u')")
    assert main(["follow", rules, index, "--quiet"]) == 0
    assert "version 3, 3 put in, 2 taken out; 1 refused, see table rejected" in capsys.readouterr().out
    in_index, in_table = followed(spark, table)
    assert in_index == {row for row in in_table if row[0] != "bad"}

    match = ["match-new", f"{world}/events", index, "--into", f"{table}/matches", "--keep", "team", "--quiet"]
    assert main([*match, "--after-version", "2"]) == 0
    assert "run 1, 40 events in 1 batches against version 3, " in capsys.readouterr().out
    events = spark.read.format("delta").load(f"{world}/events").where("event_id >= 40")
    good = {key: text for key, text, _ in in_index}
    assert Counter(row[:2] for row in read(spark, f"{table}/matches").elements()) == expected(spark, events, good)
    assert main(match) == 0
    assert "nothing new in" in capsys.readouterr().out


@pytest.mark.skipif("jobs" not in os.environ.get("BANYAN_FOLLOWING", ""), reason="make test-jobs")
def test_maintenance_keeps_what_can_be_opened(spark, folder, capsys):
    index = Index.open(spark, f"{folder}/index")
    index.add(rules_frame(spark, LATER))
    assert main(["maintain", index.where, "--keep-days", "1"]) == 0
    assert "0 versions forgotten" in capsys.readouterr().out
    # A week later all but the newest one are old.
    from banyan.follow.maintenance import first_kept

    assert first_kept(spark, index.where, -7) == Index.open(spark, index.where).version
    assert {
        row[0] for row in Index.open(spark, index.where, version=2).expressions().select("expression_id").collect()
    } == set(RULES | LATER)


def test_a_table_without_a_change_feed_is_refused_with_the_remedy(spark, tmp_path, capsys):
    spark.range(1).write.format("delta").save(f"{tmp_path}/plain")
    assert main(["match-new", f"{tmp_path}/plain", f"{tmp_path}/index", "--into", f"{tmp_path}/m"]) == 1
    assert "ALTER TABLE" in capsys.readouterr().err
    assert main(["follow", f"{tmp_path}/nothing", f"{tmp_path}/index"]) == 1
    assert "there is no Delta table" in capsys.readouterr().err


@pytest.mark.parametrize("point", chosen("jobs", [], FOLLOWS + at_random("follow", 8)))
def test_a_killed_follow_is_done_by_the_next(spark, table, tmp_path, point):
    Index.create(spark, f"{table}/followed")
    work(spark, "follow", table)
    changed(spark, table)
    killed("follow", point, table, tmp_path)
    work(spark, "follow", table)
    in_index, in_table = followed(spark, table)
    assert in_index == in_table
    # Each request of the run was applied once.
    requests = [row[0] for row in Index.open(spark, f"{table}/followed").versions().select("request_id").collect()]
    assert sorted(one.rpartition("/")[2] for one in requests if one) == ["remove", "replace", "replace"]


@pytest.mark.skipif("jobs" not in os.environ.get("BANYAN_FOLLOWING", ""), reason="make test-jobs")
def test_events_that_cannot_be_used_stop_the_job_or_are_skipped(spark, folder, capsys):
    spark.sql(f"INSERT INTO delta.`{folder}/events` VALUES (NULL, 1, 1, 'a')")
    spark.sql(f"INSERT INTO delta.`{folder}/events` VALUES (900, 1, 1, 'a')")
    spark.sql(f"UPDATE delta.`{folder}/events` SET x = 2 WHERE event_id = 0")
    match = [
        "match-new",
        f"{folder}/events",
        f"{folder}/index",
        "--into",
        f"{folder}/m",
        "--batch-size",
        "1",
        "--quiet",
    ]
    match += ["--after-version", "4"]
    assert main(match) == 1 and main(match) == 1
    err = capsys.readouterr().err
    assert "NULL in the id column" in err and "--on-error skip" in err
    assert main([*match, "--on-error", "skip"]) == 0
    assert "run 1, 2 events in 2 batches" in capsys.readouterr().out
    assert {row[0] for row in read(spark, f"{folder}/m")} == {900}
    runs = spark.read.format("delta").load(f"{folder}/m_runs")
    assert runs.where("step = 'failed'").count() == 2
    assert runs.where("step = 'batch' AND note IS NOT NULL").select("passed_over").first()[0] == 1


@pytest.mark.skipif("jobs" not in os.environ.get("BANYAN_FOLLOWING", ""), reason="make test-jobs")
def test_a_table_that_is_overwritten_brings_new_events(spark, folder):
    """An overwrite deletes and inserts: the ids come again, each commit in a batch of its own."""
    work(spark, "match", folder)
    events = spark.read.format("delta").load(f"{folder}/events")
    for _ in range(2):
        events.where("event_id < 5").write.format("delta").mode("overwrite").save(f"{folder}/events")
    work(spark, "match", folder)
    found = read(spark, f"{folder}/match")
    assert {count for (event, _), count in found.items() if event < 5} == {3}
    assert {count for (event, _), count in found.items() if event >= 5} == {1}


@pytest.mark.skipif("jobs" not in os.environ.get("BANYAN_FOLLOWING", ""), reason="make test-jobs")
@pytest.mark.parametrize("seed", range(3))
def test_an_index_that_follows_equals_its_table_after_any_history(spark, table, seed):
    rng, name = Random(seed), f"delta.`{table}/rules`"
    Index.create(spark, f"{table}/followed")
    for turn in range(5):
        for _ in range(rng.randint(1, 4)):
            key, other = rng.sample("abcdef", 2)
            there = spark.sql(f"SELECT 1 FROM {name} WHERE expression_id = '{other}'").first()
            spark.sql(
                rng.choice(
                    [
                        f"DELETE FROM {name} WHERE expression_id = '{key}'",
                        f"UPDATE {name} SET expression = 'x = {rng.randint(1, 99)}' WHERE expression_id = '{key}'",
                        f"UPDATE {name} SET expression_id = '{other}' WHERE expression_id = '{key}' AND {not there}",
                        f"MERGE INTO {name} t USING (SELECT '{key}' k) s ON t.expression_id = s.k "
                        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN "
                        f"INSERT (expression_id, expression, team) VALUES (s.k, 'y = {turn}', 'm')",
                    ]
                )
            )
        if turn == 3:  # somebody else takes a rule out; --whole brings it in step again
            Index.open(spark, f"{table}/followed").remove(["a"], missing="ignore")
        argv = ["follow", f"{table}/rules", f"{table}/followed", "--quiet", *(["--whole"] if turn == 3 else [])]
        assert main(argv) == 0
        in_index, in_table = followed(spark, table)
        assert in_index == in_table
