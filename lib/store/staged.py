"""An index that appears when it is whole.

A build on a local folder happens in a hidden folder beside it and is moved into place at the end, so that a build that
fails or is interrupted leaves nothing, and one that replaces an index leaves the old one until the new one is there.
Delta names its files relative to the table, so a table can be moved. A kill in the instant of the move leaves no index.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from banyan.errors import IndexExists
from banyan.index import Index
from banyan.progress import Steps
from banyan.store.lock import locked
from banyan.store.tables import PINNED, VERSIONS, Place


@contextmanager
def staged(
    spark: SparkSession, where: str, replace: bool, steps: Steps | None = None, **settings: Any
) -> Iterator[Index]:
    """A new, empty index to fill; at the end of the block it is the index at `where`."""
    steps = steps or Steps()
    place = Place(spark, where)
    there = Index.exists(spark, where)
    if there and not replace:
        raise IndexExists(f"there is an index at {place.where} already; add to it, or replace it (--replace)")
    if place.lock_folder is None:
        yield from _in_place(spark, where, there, steps, settings)
        return
    parent = os.path.dirname(place.where)
    made = next((folder for folder in _parents(parent) if not os.path.isdir(folder)), None)
    os.makedirs(parent, exist_ok=True)
    hidden = tempfile.mkdtemp(prefix=f".{os.path.basename(place.where)}-", dir=parent)
    try:
        with steps.step("create"):
            index = Index.create(spark, hidden, **settings)
        yield index
        with locked(place.lock_folder):
            if not replace and place.exists(VERSIONS):
                raise IndexExists(f"somebody made an index at {place.where} meanwhile; add to it, or replace it")
            place.drop()
            # `versions` last: without it there is no index.
            for table in (*PINNED, VERSIONS):
                os.rename(f"{hidden}/{table}", f"{place.where}/{table}")
    except BaseException:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _parents(folder: str) -> list[str]:
    """The folder and those above it, from the top."""
    above = [folder]
    while os.path.dirname(above[-1]) != above[-1]:
        above.append(os.path.dirname(above[-1]))
    return above[::-1]


def _in_place(spark: SparkSession, where: str, there: bool, steps: Steps, settings: dict[str, Any]) -> Iterator[Index]:
    """In a schema or an object store nothing can be moved: the old one goes first, and a failed build is dropped."""
    if there:
        Index.drop(spark, where)
    with steps.step("create"):
        index = Index.create(spark, where, **settings)
    try:
        yield index
    except BaseException:
        Index.drop(spark, where)
        raise
