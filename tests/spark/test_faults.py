"""Writers that die, for real: a child process is killed with SIGKILL in the midst of a write.

After each: the index opens at the version before or the whole new one, matches, takes the next write, and its tables
equal a fresh build. A handful here; `make test-faults` kills at every named point and at random times (all of them, or
with BANYAN_FAULTS=3/10 the third tenth).
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from test_histories import check

import banyan
from banyan.match.missing import MissingAttributeWarning

CHILD = str(Path(__file__).parents[1] / "children" / "killed.py")
START = {f"r{i}": f"a = 1 AND b = 1 AND x{i} = 1 OR c = {i}" for i in range(4)} | {"again": "b = 1 AND a = 1"}
COLUMNS = "expression_id string, expression string"
TABLES = ("predicates", "nodes", "edges", "expressions", "versions")
CHOSEN = os.environ.get("BANYAN_FAULTS", "")
WRITES = ("add", "rebuild", "replace", "remove", "restore")
EVERY_POINT = [(o, f"{when} {t}") for o in WRITES for t in TABLES for when in ("before", "after")]
ANALYZE = [("analyze", f"{when} {t}") for t in ("frequencies", "nodes", "versions") for when in ("before", "after")]
AT_RANDOM = [
    (o, f"{Random(f'{o}{i}').uniform(0.1, 6):.2f}") for o in (*WRITES, "analyze", "optimize") for i in range(4)
]
HANDFUL = [("replace", "after nodes"), ("add", "before versions")]


def mark(version):
    """A rule that changes every table, so that a restore has something to bring back in each."""
    return {"mark": f"mark = {version} AND (c = 1 OR d = 1)"}


def kills():
    every = EVERY_POINT + ANALYZE + AT_RANDOM
    if not CHOSEN:
        return HANDFUL
    part, parts = map(int, CHOSEN.split("/")) if "/" in CHOSEN else (1, 1)
    return every[part - 1 :: parts]


class Index:
    """The index that is written to, what it must hold, and a child process that has started ahead of its order."""

    def __init__(self, spark, folder):
        self.spark, self.folder, self.where, self.texts = spark, folder, str(folder / "index"), dict(START)
        index = banyan.Index.create(spark, self.where)
        index.add(spark.createDataFrame(list(START.items()), COLUMNS))
        index.add(spark.createDataFrame(list(mark(index.version).items()), COLUMNS))
        self.texts |= mark(1)
        self.count, self.left = 0, len(kills())
        self.ahead = None
        self.start()

    def start(self):
        self.count, self.left = self.count + 1, self.left - 1
        scratch = self.folder / f"child{self.count}"
        with open(f"{scratch}.err", "w", encoding="utf-8") as err:
            command = [sys.executable, CHILD, self.where, str(scratch)]
            self.ahead = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=err, text=True)
        self.errors = Path(f"{scratch}.err")

    def killed(self, order):
        """Give the order to a child, which dies of it; whether it lived to the end."""
        child, errors, self.ahead = self.ahead, self.errors, None
        if self.left:
            self.start()  # the next one, meanwhile
        child.communicate(json.dumps(order) + "\n", timeout=600)
        assert child.returncode in (0, -signal.SIGKILL), errors.read_text("utf-8")
        return child.returncode == 0


@pytest.fixture(scope="module")
def index(spark, tmp_path_factory):
    index = Index(spark, tmp_path_factory.mktemp("faults"))
    yield index
    if index.ahead is not None:
        index.ahead.communicate("")  # without an order it just ends


def ordered(operation, texts, count):
    """What the child is to do, and what the index then holds."""
    if operation in ("add", "rebuild"):
        rules = {f"new{count}": "a = 1 AND b = 1 AND c = 1", f"or{count}": "(a = 1 OR d = 1) AND NOT (b = 1 AND c = 1)"}
        return {"rules": rules}, texts | rules
    if operation == "replace":
        rules = {"r1": f"d = 1 OR c = {count}", f"new{count}": "a = 1 AND d = 1"}
        return {"rules": rules}, texts | rules
    if operation == "remove":
        ids = ["r0", "r2"]
        return {"ids": ids}, {key: text for key, text in texts.items() if key not in ids}
    return {}, dict(START) if operation == "restore" else texts


@pytest.mark.filterwarnings(f"ignore::{MissingAttributeWarning.__module__}.MissingAttributeWarning")
@pytest.mark.parametrize(("operation", "point"), kills())
def test_a_killed_writer_leaves_the_index_whole(spark, index, operation, point):
    start = banyan.Index.open(spark, index.where).version
    order, after = ordered(operation, index.texts, start)
    lived = index.killed(order | {"operation": operation, "point": point})
    now = banyan.Index.open(spark, index.where)
    new = now.version == start + 1
    assert new or (now.version == start and not lived)
    assert not lived or point[0].isdigit()
    if "versions" in point:
        assert new == point.startswith("after")
    texts = after if new else index.texts
    check(now, texts, 10_000)
    events = spark.createDataFrame([(1, 1, 1, 1), (2, 1, 0, 3)], "event_id int, a int, b int, c int")
    found = {tuple(row) for row in now.match(events, where="expression_id IN ('again', 'r3')").collect()}
    assert found == {(1, "again"), (2, "r3")}
    now.release()
    # The next write cleans up after the dead one.
    coming = mark(now.version) | {key: START[key] for key in START if key not in texts}
    now.replace(spark.createDataFrame(list(coming.items()), COLUMNS))
    index.texts = texts | coming
    check(now, index.texts, 10_000, quick=True)
