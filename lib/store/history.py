"""What can be done with the versions themselves: go back to one, compare two, forget old ones, free their files."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.columns import ADDED_IN, EXPRESSION, EXPRESSION_ID, NODE_ID
from banyan.errors import ArgumentError, VersionNotFound
from banyan.store.lock import locked
from banyan.store.settings import IndexSettings
from banyan.store.statements import setting, together
from banyan.store.tables import FILES_GONE, PINNED, VERSIONS, Place, is_gone
from banyan.store.versions import Version, Write, by_request, find, listed, write

_RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


def now() -> datetime:
    return datetime.now(timezone.utc)


def restore(place: Place, version: int, request_id: str | None = None) -> Version:
    """A new version with the tables of an old one: Delta's RESTORE, which names files and copies none."""

    def attempt(work: Write) -> Version:
        done = by_request(place, request_id)
        if done is not None:
            return done
        target = find(place, version)
        require_readable(place, target)
        pins = target.table_versions
        moved = [table for table in PINNED if pins[table] != work.head.table_versions[table]]
        together([partial(work.bring_back, table, pins[table]) for table in moved])
        return work.publish(f"restore {version}", target.settings, target.counts, request_id)

    return write(place, attempt)


def diff(place: Place, before: Version, after: Version) -> DataFrame:
    """(expression_id, change, before, after): what was added, removed or changed, with the texts of both sides.

    `changed` is an expression whose text or whose own columns differ.
    """
    old, new = (place.read("expressions", v.table_versions["expressions"]) for v in (before, after))
    if old.schema[EXPRESSION_ID].dataType != new.schema[EXPRESSION_ID].dataType:
        old, new = (f.withColumn(EXPRESSION_ID, F.col(EXPRESSION_ID).cast("string")) for f in (old, new))
    own = sorted({*old.columns, *new.columns} - {EXPRESSION_ID, EXPRESSION, NODE_ID, ADDED_IN})

    def side(frame: DataFrame, name: str) -> DataFrame:
        # As text, and under their names: a column that only one side has, or that has another type, differs.
        columns = [F.col(f"`{c}`").cast("string") if c in frame.columns else F.lit(None).cast("string") for c in own]
        return frame.select(EXPRESSION_ID, F.struct(F.col(EXPRESSION).alias("text"), F.array(*columns)).alias(name))

    both = side(old, "old").join(side(new, "new"), EXPRESSION_ID, "full_outer")
    change = (
        F.when(F.col("old").isNull(), "added")
        .when(F.col("new").isNull(), "removed")
        .when(~F.col("old").eqNullSafe(F.col("new")), "changed")
    )
    return both.select(
        EXPRESSION_ID, change.alias("change"), F.col("old.text").alias("before"), F.col("new.text").alias("after")
    ).where("change IS NOT NULL")


def forget(place: Place, before: int) -> list[int]:
    """Take the versions before a number off the list; which they were. Their files stay until `vacuum`."""
    with locked(place.lock_folder):
        head = find(place)
        if before > head.version:
            raise ArgumentError(
                f"version {head.version} is the newest of {place.where} and stays; forget what is before {head.version}"
            )
        gone = [v.version for v in listed(place) if v.version < before]
        if gone:
            place.spark.sql(f"DELETE FROM {place.name(VERSIONS)} WHERE version < {int(before)}").collect()
    return gone


def vacuum(place: Place, hours: float | None = None) -> Version:
    """Remove the files that no listed version needs and that are older than the index's retention (or `hours`).

    Refused while a listed version needs files of that age: forget it first.
    """

    def attempt(work: Write) -> Version:
        keep = _retention(work.head) if hours is None else timedelta(hours=hours)
        taken = [v for v, until in _superseded(place) if now() - until >= keep]
        if taken:
            after = taken[-1].version + 1
            raise ArgumentError(
                f"vacuum would take the files of {_several([v.version for v in taken])}, which {place.where} still "
                f"lists; forget them first (index.forget(before={after}), banyan forget {place.where} {after})"
            )
        retain = "" if hours is None else f" RETAIN {hours} HOURS"
        with setting(place.spark, _RETENTION_CHECK, "false"):
            together([partial(work.sql, f"VACUUM {place.name(table)}{retain}") for table in (*PINNED, VERSIONS)])
        # Delta may note a vacuum in the log of a table; the head must name what is latest (rule 2).
        return work.publish("vacuum", work.head.settings, work.head.counts) if work.moved() else work.head

    return write(place, attempt)


def optimize(place: Place) -> Version:
    """Compact small files and cluster the tables: the same rows in fewer files, as a new version."""

    def attempt(work: Write) -> Version:
        # `versions` too, of which every write makes a file.
        together([partial(work.sql, f"OPTIMIZE {place.name(table)}") for table in (*PINNED, VERSIONS)])
        if not work.moved():
            return work.head
        return work.publish("optimize", work.head.settings, work.head.counts)

    return write(place, attempt)


def require_readable(place: Place, version: Version) -> None:
    """Raises VersionNotFound if retention has taken what the version needs."""
    if _readable(place, version):
        return
    later = [v for v in listed(place) if v.version > version.version]
    left = next((v.version for v in later if _readable(place, v)), None)
    raise VersionNotFound(
        f"version {version.version} of {place.where} is gone: its files were older than the retention of "
        f"{_retention(version).days} days and have been removed; "
        + ("no version is left" if left is None else f"the oldest one left is version {left}")
    )


def _readable(place: Place, version: Version) -> bool:
    """Whether all tables of a version can be read. Only one that was superseded long ago is looked at."""
    until = next((until for v, until in _superseded(place) if v.version == version.version), None)
    if until is None or now() - until < _retention(version):
        return True

    try:
        together([partial(place.read_through, table, version.table_versions[table]) for table in PINNED])
    except FILES_GONE as error:
        if is_gone(error):
            return False
        raise
    return True


def _superseded(place: Place) -> list[tuple[Version, datetime]]:
    """The listed versions but the head, each with the time from which on its files may have been given up."""
    versions = listed(place)
    return [(v, later.published_at) for v, later in zip(versions, versions[1:])]


def _retention(version: Version) -> timedelta:
    return timedelta(days=IndexSettings.from_map(version.settings).retention_days)


def _several(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"version {numbers[0]}"
    return f"{len(numbers)} versions ({numbers[0]} to {numbers[-1]})"
