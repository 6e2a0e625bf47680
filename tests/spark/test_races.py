"""Writers that race, for real: several processes, each with several writers, on one index folder.

Every success is told with its version; replayed in that order they must give exactly what the index holds.
A small race here; `make test-races` runs three processes with nine writers until 63 writes have succeeded.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_histories import check

from banyan import Index

CHILD = str(Path(__file__).parents[1] / "children" / "racing.py")
PROCESSES, WRITERS, WRITES = (3, 3, 7) if os.environ.get("BANYAN_RACES") else (2, 1, 2)


def test_writers_of_several_processes_on_one_folder(spark, tmp_path):
    where = str(tmp_path / "index")
    Index.create(spark, where)
    reader = Index.open(spark, where)
    children = [
        subprocess.Popen(
            [sys.executable, CHILD, where, str(i), str(WRITERS), str(WRITES), str(tmp_path / f"child{i}")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(PROCESSES)
    ]
    told = []
    for child in children:
        out, err = child.communicate(timeout=3_000)
        assert child.returncode == 0, err
        told += [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert len(told) == PROCESSES * WRITERS * WRITES
    assert sorted(line["version"] for line in told) == list(range(1, len(told) + 1))
    texts: dict[str, str] = {}
    for line in sorted(told, key=lambda line: line["version"]):
        if line["kind"] == "add":
            assert not texts.keys() & line["keys"]
        for key in line["keys"]:
            texts.pop(key, None)
        texts |= line["texts"]
    index = Index.open(spark, where)
    check(index, texts, 10_000)
    for version in (1, len(told) // 2):
        assert Index.open(spark, where, version=version).expressions().count() == next(
            line["counts"]["expressions"] for line in told if line["version"] == version
        )
    # What was open before all this has not moved.
    assert reader.version == 0 and reader.expressions().isEmpty()


def test_two_processes_on_one_folder_take_turns(tmp_path):
    """The lock of a folder, held by another process until it is killed."""
    from banyan.errors import Conflict
    from banyan.store.lock import locked

    hold = "import sys, time\nfrom banyan.store.lock import locked\n"
    hold += "with locked(sys.argv[1]):\n    print('held', flush=True)\n    time.sleep(60)\n"
    other = subprocess.Popen([sys.executable, "-c", hold, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "held\n"
    with pytest.raises(Conflict, match=f"locked by process {other.pid} for 0 s"), locked(str(tmp_path), patience=0.2):
        pass
    other.kill()
    other.wait()
    with locked(str(tmp_path), patience=5):
        pass
