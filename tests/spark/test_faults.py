"""Writers that die, for real: a child process is killed with SIGKILL in the midst of a write.

After each: the index opens at the version before or the whole new one, matches, takes the next write, and its tables
equal a fresh build. A handful here; `make test-faults` kills at every named point and at random times (all of them, or
with BANYAN_FAULTS=3/10 the third tenth).
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from test_histories import check

from banyan import Index
from banyan.match.missing import MissingAttributeWarning

CHILD = str(Path(__file__).parents[1] / "children" / "killed.py")
START = {f"r{i}": f"a = 1 AND b = 1 AND x{i} = 1 OR c = {i}" for i in range(4)}
ADDED = {"new1": "a = 1 AND b = 1 AND c = 1", "new2": "(a = 1 OR d = 1) AND NOT (b = 1 AND c = 1)"}
REPLACED = {"r1": "d = 1 OR c = 1", "new1": "a = 1 AND d = 1"}
REMOVED = ["r0", "r2"]
COLUMNS = "expression_id string, expression string"
BEFORE = START | {"again": "b = 1 AND a = 1"}
AFTER = {
    "add": BEFORE | ADDED,
    "rebuild": BEFORE | ADDED,
    "replace": BEFORE | REPLACED,
    "remove": {key: text for key, text in BEFORE.items() if key not in REMOVED},
    "restore": START,
    "optimize": BEFORE,
    "analyze": BEFORE,
}
TABLES = ("predicates", "nodes", "edges", "expressions", "versions")
CHOSEN = os.environ.get("BANYAN_FAULTS", "")
WRITES = ("add", "rebuild", "replace", "remove", "restore")
EVERY_POINT = [(o, f"{when} {t}") for o in WRITES for t in TABLES for when in ("before", "after")]
ANALYZE = [("analyze", f"{when} {t}") for t in ("frequencies", "nodes", "versions") for when in ("before", "after")]
AT_RANDOM = [(o, f"{Random(f'{o}{i}').uniform(0.1, 6):.2f}") for o in AFTER for i in range(4)]
HANDFUL = [("replace", "after nodes"), ("add", "before versions")]


def kills():
    every = EVERY_POINT + ANALYZE + AT_RANDOM
    if not CHOSEN:
        return HANDFUL
    part, parts = map(int, CHOSEN.split("/")) if "/" in CHOSEN else (1, 1)
    return every[part - 1 :: parts]


@pytest.fixture(scope="module")
def place(spark, tmp_path_factory):
    """An index at version 2: START, then one more."""
    where = str(tmp_path_factory.mktemp("faults") / "index")
    index = Index.create(spark, where)
    index.add(spark.createDataFrame(list(START.items()), COLUMNS))
    index.add(spark.createDataFrame([("again", "b = 1 AND a = 1")], COLUMNS))
    return where


def killed(where, operation, point, scratch):
    """Runs the child to its death; whether it lived to the end."""
    command = [sys.executable, CHILD, where, operation, point, str(scratch)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == 0


@pytest.mark.filterwarnings(f"ignore::{MissingAttributeWarning.__module__}.MissingAttributeWarning")
@pytest.mark.parametrize(("operation", "point"), kills())
def test_a_killed_writer_leaves_the_index_whole(spark, place, tmp_path, operation, point):
    start = Index.open(spark, place).version
    lived = killed(place, operation, point, tmp_path)
    index = Index.open(spark, place)
    new = index.version == start + 1
    assert new or (index.version == start and not lived)
    if "versions" in point:
        assert new == point.startswith("after")
    check(index, AFTER[operation] if new else BEFORE, 10_000)
    events = spark.createDataFrame([(1, 1, 1, 1), (2, 1, 0, 3)], "event_id int, a int, b int, c int")
    found = {tuple(row) for row in index.match(events, where="expression_id IN ('again', 'r3')").collect()}
    assert found == {(1, "again"), (2, "r3")} if "again" in (AFTER[operation] if new else BEFORE) else {(2, "r3")}
    index.release()
    # The next write cleans up after the dead one, and the index is as it was before, for the next to kill.
    now = AFTER[operation] if new else BEFORE
    coming = {key: text for key, text in BEFORE.items() if now.get(key) != text} | {"mark": f"mark = {index.version}"}
    index.replace(spark.createDataFrame(list(coming.items()), COLUMNS))
    check(index, now | coming, 10_000)
    index.remove([key for key in now | coming if key not in BEFORE])
    check(index, BEFORE, 10_000)
