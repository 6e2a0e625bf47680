"""Beyond one machine: builds and matches on two executors, of which one is killed with SIGKILL in the midst of it.

What comes out is compared with Spark's own WHERE, and the tables with those of the plain build. `make test-cluster`.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path
from random import Random

import oracle
import pyarrow as pa
import pytest

from banyan import Index
from banyan.bench import workload
from banyan.build import change
from banyan.build.plain import PlainIndex
from banyan.language.parser import parse
from banyan.match import call, plan
from banyan.progress import Steps
from banyan.store.materialise import Scratch, is_local

COLUMNS = "expression_id long, expression string"
pytestmark = pytest.mark.filterwarnings("ignore:the events have no attribute")


class Deadly(Steps):
    """Steps of which one, at its start, costs an executor its life. `killed`: the process that died."""

    def __init__(self, spark, name: str, turn: int = 1):
        super().__init__()
        self._spark, self._name, self._turn, self.killed = spark, name, turn, None

    def step(self, name):
        if name.startswith(self._name):
            self._turn -= 1
            if self._turn == 0:
                self.killed = kill_executor(self._spark)
        return super().step(name)


def executors(spark) -> list[int]:
    """The processes of the executors, children of our JVM and of nobody else's."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == spark.sparkContext._gateway.proc.pid and b"CoarseGrainedExecutorBackend" in command:
            found.append(int(folder.name))
    return found


def kill_executor(spark) -> int:
    until = time.monotonic() + 60
    while len(executors(spark)) < 2 and time.monotonic() < until:
        time.sleep(0.5)
    victim = executors(spark)[0]
    os.kill(victim, signal.SIGKILL)
    return victim


@pytest.fixture(scope="module")
def texts():
    rng = Random(11)
    return {i: oracle.random_expression(rng, rng.choice((0, 1, 2, 3))) for i in range(240)}


@pytest.fixture(scope="module")
def events(cluster):
    return oracle.events_df(cluster, oracle.random_events(Random(12), 300))


@pytest.fixture(scope="module")
def expected(cluster, events, texts):
    return oracle.oracle_matches(cluster, events, {i: parse(text) for i, text in texts.items()})


@pytest.fixture(scope="module")
def index(cluster, tmp_path_factory, texts):
    """Built by the executors, one of which dies while nodes are made unique."""
    index = Index.create(cluster, str(tmp_path_factory.mktemp("index") / "index"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(change, "SMALL", 0)
        deadly = Deadly(cluster, "sharing")
        index.add(cluster.createDataFrame(list(texts.items()), COLUMNS), steps=deadly)
    assert deadly.killed is not None
    return index


def pairs(frame):
    rows = [(row["event_id"], row["expression_id"]) for row in frame.collect()]
    assert len(rows) == len(set(rows)), "a match was reported twice"
    return set(rows)


def test_this_is_a_cluster(cluster):
    assert len(executors(cluster)) == 2
    assert not is_local(cluster) and Scratch(cluster).strategy == "table"


def test_tables_are_those_of_a_plain_build(index, texts):
    for table, rows in PlainIndex.build(texts).rows().items():
        found = [tuple(tuple(v) if isinstance(v, list) else v for v in row) for row in index.table(table).collect()]
        assert sorted(found) == sorted(tuple(row) for row in rows), table


def test_matches_are_those_of_where(index, events, expected):
    assert pairs(index.match(events)) == expected
    counts = {row["expression_id"]: row["events"] for row in index.match(events, output="counts").collect()}
    assert counts == Counter(expression_id for _, expression_id in expected)


@pytest.mark.parametrize("step, turn", [("values", 2), ("level", 1)])
def test_an_executor_that_dies_in_a_match_costs_nothing_but_time(cluster, index, events, expected, step, turn):
    index.release()
    deadly = Deadly(cluster, step, turn)
    found = index.match(events, batch_size=100, steps=deadly)
    assert deadly.killed is not None and deadly.killed not in executors(cluster)
    assert pairs(found) == expected


def test_an_executor_that_dies_before_the_result_is_read(cluster, index, events, expected):
    found = index.match(events, batch_size=100)
    kill_executor(cluster)
    assert pairs(found) == expected
    assert pairs(found) == expected


def test_matches_written_while_an_executor_dies_are_there_once(cluster, index, events, expected, tmp_path):
    index.release()
    deadly = Deadly(cluster, "write", 2)
    assert pairs(index.match(events, batch_size=100, into=str(tmp_path / "out"), steps=deadly)) == expected
    assert deadly.killed is not None


def test_small_updates_on_the_cluster(cluster, index, texts):
    more = {1000: "i = 1 AND s = 'a' AND l > 3", 1001: texts[7]}
    index.add(cluster.createDataFrame(list(more.items()), COLUMNS))
    index.remove([3])
    now = {i: text for i, text in (texts | more).items() if i != 3}
    for table, rows in PlainIndex.build(now).rows().items():
        assert index.table(table).count() == len(list(rows)), table


def test_nobody_holds_all_edges(cluster, tmp_path, monkeypatch):
    """Of a match, neither the driver nor the one bucket that a worker has at a time: a fraction each."""
    workload.write_rules(str(tmp_path / "rules.parquet"), 4000)
    workload.write_events(str(tmp_path / "events.parquet"), 2000)
    index = Index.create(cluster, str(tmp_path / "index"))
    index.add(cluster.read.parquet(str(tmp_path / "rules.parquet")))
    total = index.table("edges").count()
    fetched = []
    frame = type(cluster.range(1))
    for name in ("collect", "toArrow"):
        inner = getattr(frame, name)
        monkeypatch.setattr(frame, name, lambda self, inner=inner: fetched.append(inner(self)) or fetched[-1])
    # The last levels of a small index are few edges and would all go to one bucket.
    monkeypatch.setattr(plan.make, "__defaults__", (0,))
    monkeypatch.setattr(call, "SMALL", 0)
    found = index.match(
        cluster.read.parquet(str(tmp_path / "events.parquet")), attribute="attribute", value="value", output="counts"
    )
    assert max(map(len, fetched)) < total / 10
    assert found.count() > 0
    held = Counter()
    for row in index._matcher.plan(None, []).buckets.where("part = 'children'").collect():
        held[row["round"], row["to"]] += len(pa.ipc.open_stream(row["data"]).read_all())
    assert sum(held.values()) == total
    assert len(held) >= 8 and max(held.values()) < total / 3
