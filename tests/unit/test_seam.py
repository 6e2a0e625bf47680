"""What only a classic session has is named nowhere but where a classic session is made, or must be had."""

from __future__ import annotations

import re
from pathlib import Path

import banyan

CLASSIC = re.compile(
    r"\._jvm\b|\._jdf\b|\.rdd\b|\._sc\b|\.sparkContext\b|\.(cache|persist|unpersist|checkpoint)\(|localCheckpoint"
)
LIBRARY = Path(banyan.__file__).parent
# These start Spark; the seam decides by what the session is; the benchmark reads Spark's own counters where it has any.
ALLOWED = {"bench/shuffled.py", "connect.py", "spark_session.py", "store/materialise.py"}


def test_classic_only_calls_stay_in_their_rooms():
    files = [file for folder in (LIBRARY, LIBRARY.parent / "jobs") for file in folder.rglob("*.py")]
    assert len(files) > 50
    found = {
        f"{file.relative_to(LIBRARY.parent)}: {line.strip()}"
        for file in files
        if file.relative_to(LIBRARY.parent).as_posix().removeprefix("lib/") not in ALLOWED
        for line in file.read_text("utf-8").splitlines()
        if CLASSIC.search(line)
    }
    assert not found
