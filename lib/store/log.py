"""The Delta log of a table on a local folder, and the rows of a small table, read without Spark.

A query takes most of a second however little it asks; this takes milliseconds. It reads what Delta's protocol says a
reader must, and for anything beyond that (a deletion vector, a feature it does not know) says None: then Spark reads.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

# Of the features that a reader must know, those that change nothing for files without a deletion vector.
_KNOWN = {"deletionVectors", "timestampNtz"}
_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\.parquet")
_OTHER_CHECKPOINT = re.compile(r"\d{20}\.checkpoint\..+\.(parquet|json)")


def exists(folder: str) -> bool:
    """Whether there is a table in this folder."""
    log = _log(folder)
    return os.path.isdir(log) and any(map(_COMMIT.fullmatch, os.listdir(log)))


def commits(folder: str, since: int) -> dict[int, str | None]:
    """The versions from `since` on, the latest always among them, each with its userMetadata."""
    found: dict[int, str | None] = {}
    versions = _versions(folder)
    for version in sorted(v for v in versions if v >= since or v == max(versions)):
        infos = [action["commitInfo"] for action in _actions(folder, version) if "commitInfo" in action]
        found[version] = infos[0].get("userMetadata") if infos else None
    return found


def rows(folder: str, columns: Sequence[str], version: int | None = None) -> pa.Table | None:
    """These columns of the table at a version (the latest unless given); None if this takes Spark."""
    paths = files(folder, version)
    if paths is None:
        return None
    # Spark writes timestamps as INT96, whose nanoseconds would not hold what Spark's microseconds do.
    parts = [pq.ParquetFile(f"{folder}/{path}", coerce_int96_timestamp_unit="us") for path in paths]
    if any(set(columns) - set(part.schema_arrow.names) for part in parts):
        return None  # a column that came later: its type is in the log only
    if not parts:
        return pa.table({name: pa.array([], pa.null()) for name in columns})
    return pa.concat_tables([part.read(list(columns)) for part in parts])


def files(folder: str, version: int | None = None) -> list[str] | None:
    """The data files of the table at a version, as paths inside the folder; None if not these files alone say it."""
    version = max(_versions(folder)) if version is None else version
    protocol: dict[str, Any] = {}
    # A file and its deletion vector: by these two an entry of the log is known.
    live: dict[tuple[str, str], dict[str, Any]] = {}
    for action in _replayed(folder, version):
        protocol = action.get("protocol") or protocol
        for kind in ("add", "remove"):
            file = action.get(kind)
            if file:
                vector = file.get("deletionVector") or {}
                key = file["path"], json.dumps([vector.get(k) for k in ("storageType", "pathOrInlineDv", "offset")])
                live.pop(key, None)
                if kind == "add":
                    live[key] = file
    beyond = set(protocol.get("readerFeatures") or ()) - _KNOWN
    if not protocol or beyond or protocol["minReaderVersion"] not in (1, 3):
        return None
    paths = [unquote(path) for path, _ in live]
    if any(file.get("deletionVector") or file.get("partitionValues") for file in live.values()):
        return None
    return None if any(os.path.isabs(path) or ":" in path for path in paths) else paths


def _replayed(folder: str, version: int) -> Iterator[dict[str, Any]]:
    """What the log says up to a version, from its last checkpoint on; nothing if part of it is in another form."""
    names = os.listdir(_log(folder))
    if any(map(_OTHER_CHECKPOINT.fullmatch, names)):
        return
    checkpoints = [int(found[1]) for found in map(_CHECKPOINT.fullmatch, names) if found]
    start = max((v for v in checkpoints if v <= version), default=-1)
    if {f"{at:020}.json" for at in range(start + 1, version + 1)} - set(names):
        return
    if start >= 0:
        table = pq.read_table(f"{_log(folder)}/{start:020}.checkpoint.parquet", columns=["protocol", "add"])
        for row in table.to_pylist():
            yield {key: value for key, value in row.items() if value}
    for at in range(start + 1, version + 1):
        yield from _actions(folder, at)


def _actions(folder: str, version: int) -> Iterator[dict[str, Any]]:
    path = Path(f"{_log(folder)}/{version:020}.json")
    # Only the checkpoint of a version may be left; a commit that old is nobody's unfinished work.
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if line:
            yield json.loads(line)


def _versions(folder: str) -> set[int]:
    return {int(name[:20]) for name in os.listdir(_log(folder)) if name[:20].isdigit()}


def _log(folder: str) -> str:
    return f"{folder}/_delta_log"
