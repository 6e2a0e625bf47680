"""The upkeep of an index, for a job at night: compact, forget what is older than its retention, free files.

What a version needs may be taken as soon as its successor is older than the retention; versions of that age are taken
off the list first, so that none is listed that cannot be opened.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from pyspark.sql import SparkSession

from banyan.index import Index
from banyan.store import history, versions
from banyan.store.tables import Place


class Maintained(NamedTuple):
    """`version`: the newest one now; `forgotten`: the versions taken off the list."""

    version: int
    forgotten: list[int]


def maintain(spark: SparkSession, index: str, keep_days: int | None = None) -> Maintained:
    """Optimize, forget, vacuum. keep_days: keep versions that long instead of as long as the files are kept."""
    opened = Index.open(spark, index)
    days = opened.settings.retention_days if keep_days is None else min(keep_days, opened.settings.retention_days)
    opened.optimize()
    forgotten = opened.forget(first_kept(opened.spark, opened.where, days))
    return Maintained(opened.vacuum(), forgotten)


def first_kept(spark: SparkSession, where: str, days: int) -> int:
    """The oldest version that was the newest one at some time in the last days."""
    listed = versions.listed(Place(spark, where))
    since = history.now() - timedelta(days=days)
    return next((v.version for v, later in zip(listed, listed[1:]) if later.published_at > since), listed[-1].version)
