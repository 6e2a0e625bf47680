"""Versions: how a write becomes visible, whole or not at all.

The rules, which any other implementation must keep:

1. A version is a row of `versions`; it names the Delta version of every other table. Readers read nothing else.
2. After every publish the head row names the *latest* Delta version of every table. What a dead writer left on top is
   brought back with RESTORE (references only) before the next write begins.
3. Every commit carries the writer's build id as userMetadata. Before publishing, the history of each table must show
   nothing foreign after the head's pin; otherwise the work is begun again.
4. Publishing is one MERGE that inserts the row if neither its number nor its request id is there. It succeeded only if
   one row was inserted: a loser who comes late gets no exception.
5. On a local folder a writer holds the lock of the folder from before its first commit until published.
"""

from __future__ import annotations

import getpass
import random
import socket
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter
from pyspark.sql import functions as F

from banyan.errors import ArgumentError, Conflict, IndexNotFound, VersionNotFound
from banyan.store.local import frame_of
from banyan.store.lock import locked
from banyan.store.statements import signed, together
from banyan.store.tables import PINNED, VERSIONS, Place, clustering

RETRIES = 5

Result = TypeVar("Result")


class Version(NamedTuple):
    """A row of `versions`."""

    version: int
    parent: int | None
    table_versions: dict[str, int]
    settings: dict[str, str]
    counts: dict[str, int]
    build_id: str
    request_id: str | None
    published_at: datetime
    published_by: str
    operation: str


class LostRace(Exception):
    """Another writer published first, or left commits among ours. Never reaches a user."""


def find(place: Place, version: int | None = None, timestamp: datetime | str | None = None) -> Version:
    """The head, or the version of that number, or the last one published by that time."""
    known = listed(place)
    found = [v for v in known if version is None or v.version == int(version)]
    if timestamp is not None:
        until = _instant(place, timestamp)
        found = [v for v in found if v.published_at <= until]
    if found:
        return found[-1]
    asked = f"version {version}" if version is not None else f"version at {timestamp}"
    if not known:
        raise VersionNotFound(f"{place.where} has no version at all: its creation was not finished; create it again")
    raise VersionNotFound(
        f"{place.where} has no {asked}: it has versions {known[0].version} to {known[-1].version}, the oldest "
        f"published at {known[0].published_at:%Y-%m-%d %H:%M:%S.%f} UTC"
    )


def _instant(place: Place, timestamp: datetime | str) -> datetime:
    """A time as Spark reads it, in the session's time zone unless it names one."""
    micros = place.spark.range(1).select(F.unix_micros(F.lit(timestamp).try_cast("timestamp"))).first()[0]
    if micros is None:
        raise ArgumentError(f"{timestamp!r} is not a time; write it as '2026-01-31 12:00:00'")
    return datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=micros)


def listed(place: Place) -> list[Version]:
    """All published versions, oldest first."""
    rows = place.rows(VERSIONS, Version._fields).to_pylist()
    return [_version(row) for row in sorted(rows, key=lambda row: row["version"])]


def require(place: Place) -> None:
    if not place.exists(VERSIONS):
        raise IndexNotFound(f"there is no index at {place.where}; make one with Index.create or `banyan build`")


class Write:
    """One attempt at a new version, made under the lock from the head `head`."""

    def __init__(self, place: Place, head: Version):
        self.place = place
        self.head = head
        self.number = head.version + 1
        self.build_id = uuid.uuid4().hex
        # The Delta version of each table when we began: commits after it must be ours.
        self._base = dict(head.table_versions)

    def table(self, name: str) -> DataFrame:
        """A table as the head has it."""
        return self.place.read(name, self.head.table_versions[name])

    def rows(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Columns of a small table as the head has it."""
        return self.place.rows(name, columns, self.head.table_versions[name])

    def append(self, frame: DataFrame, table: str) -> None:
        """Put rows in beside those that are there."""
        self._save(frame.write.mode("append").option("mergeSchema", "true"), table)

    def overwrite(self, frame: DataFrame, table: str) -> None:
        """Put rows in the place of all that are there."""
        # With a condition, a true one: a plain overwrite ends the clustering, and saying it again is one more commit.
        writer = frame.write.mode("overwrite").option("replaceWhere", "true").option("mergeSchema", "true")
        self._save(writer, table)

    def retype(self, frame: DataFrame, table: str) -> None:
        """Overwrite the table and take the frame's types; comments and properties stay."""
        comments = {field.name: field.metadata for field in self.place.latest(table).schema.fields}
        frame = frame.select(*[F.col(f"`{c}`").alias(c, metadata=comments.get(c, {})) for c in frame.columns])
        self._save(frame.write.mode("overwrite").option("overwriteSchema", "true"), table)
        columns = clustering(table)
        if columns:
            # Such an overwrite ends the clustering.
            self.sql(f"ALTER TABLE {self.place.name(table)} CLUSTER BY ({', '.join(columns)})")

    def change(self, table: str, key: str, deleted: list[int], inserted: pa.Table) -> tuple[int, int]:
        """Delete the rows with these keys and insert those, in one commit; how many rows went and came."""
        spark = self.place.spark
        if not deleted:
            if len(inserted):
                self.append(frame_of(spark, inserted).coalesce(1), table)
            return 0, len(inserted)
        # A source row is either a key to delete by or, where `gone` is NULL and so matches nothing, a row to insert.
        gone = pa.table({"gone": pa.array(deleted, pa.int64())})
        columns = ", ".join(inserted.column_names)
        values = ", ".join(f"s.{name}" for name in inserted.column_names)
        source = pa.concat_tables([gone, inserted], promote_options="default")
        return self._merge(
            table,
            frame_of(spark, source).coalesce(1),
            f"ON t.{key} = s.gone WHEN MATCHED THEN DELETE "
            f"WHEN NOT MATCHED AND s.gone IS NULL THEN INSERT ({columns}) VALUES ({values})",
        )

    def delete(self, table: str, key: str, ids: DataFrame) -> int:
        """Delete the rows with these keys; how many went."""
        return self._merge(table, ids, f"ON t.{key} = s.{key} WHEN MATCHED THEN DELETE")[0]

    def sql(self, text: str) -> DataFrame:
        """Run a statement that commits; its commits carry the build id (rule 3)."""
        with signed(self.place.spark, self.build_id):
            return self.place.spark.sql(text)

    def _save(self, writer: DataFrameWriter, table: str) -> None:
        writer = writer.format("delta").option("compression", "zstd").option("userMetadata", self.build_id)
        self.place.save(writer, table)

    def _merge(self, table: str, source: DataFrame, clauses: str) -> tuple[int, int]:
        view = f"banyan_{table}_{self.build_id}"
        source.createOrReplaceTempView(view)
        try:
            done = self.sql(f"MERGE INTO {self.place.name(table)} t USING {view} s {clauses}").first()
        finally:
            self.place.spark.catalog.dropTempView(view)
        return done["num_deleted_rows"], done["num_inserted_rows"]

    def repair(self) -> None:
        """Rule 2: bring back every table on which somebody left commits without publishing them."""
        pins, left = self.head.table_versions, []
        for table, commits in self._commits().items():
            self._base[table] = max(commits)
            if max(commits) != pins[table]:
                left.append(table)
        together([partial(self.bring_back, table, pins[table]) for table in left])

    def moved(self) -> bool:
        """Whether a table has commits after the head's pin."""
        pins = self.head.table_versions
        return any(max(commits) != pins[table] for table, commits in self._commits().items())

    def bring_back(self, table: str, version: int) -> None:
        """Make the table what it was at a Delta version: a commit that names files and copies none."""
        with signed(self.place.spark, self.build_id):
            self.place.bring_back(table, version)

    def publish(self, operation: str, settings: dict, counts: dict, request_id: str | None = None) -> Version:
        pins = {}
        for table, commits in self._commits().items():
            # Rule 3. A table of a new index has no base: it is ours from its first commit on.
            base = self._base.get(table, max(commits))
            if any(by != self.build_id for version, by in commits.items() if version > base):
                raise LostRace(table)
            pins[table] = max(commits)
        now = datetime.now(timezone.utc)
        row = Version(
            version=self.number,
            parent=self.head.version if self.number else None,
            table_versions=pins,
            settings={k: str(v) for k, v in settings.items()},
            counts=counts,
            build_id=self.build_id,
            request_id=request_id,
            published_at=max(now, self.head.published_at + timedelta(microseconds=1)),
            published_by=f"{getpass.getuser()}@{socket.gethostname()}",
            operation=operation,
        )
        self._insert(row)
        return row

    def _insert(self, row: Version) -> None:
        """Rule 4."""
        rows = self.place.spark.createDataFrame([tuple(row)], self.place.latest(VERSIONS).schema)
        once = "ON t.version = s.version OR t.request_id = s.request_id WHEN NOT MATCHED THEN INSERT *"
        try:
            _, inserted = self._merge(VERSIONS, rows, once)
        except PySparkException as error:
            # A conflict, or an outcome we cannot know: the table itself says whether our row is in.
            if not self._published():
                raise LostRace(VERSIONS) from error
            inserted = 1
        if inserted != 1 and not self._published():
            raise LostRace(VERSIONS)

    def _commits(self) -> dict[str, dict[int, str | None]]:
        """For each table its Delta versions since we began, the latest always among them, and who made them."""
        found = together([partial(self.place.commits, table, self._base.get(table, -1)) for table in PINNED])
        return dict(zip(PINNED, found))

    def _published(self) -> bool:
        return any(version.build_id == self.build_id for version in listed(self.place))


def write(place: Place, attempt: Callable[[Write], Result], retries: int = RETRIES) -> Result:
    """Run `attempt` on the head under the rules above, again from the new head where another writer was faster."""
    for turn in range(retries + 1):
        with locked(place.lock_folder):
            work = Write(place, find(place))
            try:
                work.repair()
                return attempt(work)
            except LostRace as lost:
                if turn == retries:
                    raise Conflict(_rival(place, work, str(lost), retries)) from None
        time.sleep(random.uniform(0.5, 1.5) * 2**turn / 2)
    raise AssertionError("unreachable")


def _rival(place: Place, work: Write, table: str, retries: int) -> str:
    """Who was faster."""
    head = find(place)
    if head.version == work.head.version:
        return f"gave up after {retries + 1} attempts: somebody else keeps writing to {place.name(table)}; run it again"
    return (
        f"gave up after {retries + 1} attempts: {head.published_by} published version {head.version} of {place.where} "
        f"({head.operation}) first; run it again"
    )


def by_request(place: Place, request_id: str | None) -> Version | None:
    """The version that a request made already, if it did."""
    if request_id is None:
        return None
    return next((version for version in listed(place) if version.request_id == request_id), None)


def first(place: Place, settings: dict, retention_days: int) -> Version:
    """Make the tables and publish version 0, the empty index. The caller holds the lock."""
    together([partial(place.create, table, retention_days) for table in PINNED])
    empty = Version(-1, None, {}, {}, {}, "", None, datetime.fromtimestamp(0, timezone.utc), "", "")
    work = Write(place, empty)
    # `versions` is made last: without it there is no index, so a create that dies half-way leaves none.
    place.create(VERSIONS, retention_days)
    counts = dict.fromkeys(("expressions", "predicates", "nodes", "edges", "levels"), 0)
    return work.publish("create", settings, counts)


def _version(row: dict[str, Any]) -> Version:
    published = row["published_at"]
    # Spark hands out aware timestamps; in its files they are UTC without saying so.
    published = published.astimezone(timezone.utc) if published.tzinfo else published.replace(tzinfo=timezone.utc)
    maps = {name: dict(row[name]) for name in ("table_versions", "settings", "counts")}
    return Version(**(row | maps | {"published_at": published}))
