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

import contextlib
import getpass
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import NamedTuple, TypeVar

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, Row
from pyspark.sql import functions as F

from banyan.errors import Conflict, IndexNotFound, VersionNotFound
from banyan.store.local import frame_of
from banyan.store.lock import locked
from banyan.store.tables import PINNED, VERSIONS, Place

_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
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
    rows = place.latest(VERSIONS)
    if version is not None:
        rows = rows.where(F.col("version") == int(version))
    if timestamp is not None:
        rows = rows.where(F.col("published_at") <= F.lit(timestamp).cast("timestamp"))
    found = rows.orderBy(F.desc("version")).limit(1).collect()
    if found:
        return _version(found[0])
    listed = place.latest(VERSIONS).agg(F.min("version"), F.max("version"), F.min("published_at")).first()
    asked = f"version {version}" if version is not None else f"version at {timestamp}"
    raise VersionNotFound(
        f"{place.where} has no {asked}: it has versions {listed[0]} to {listed[1]}, the oldest published at {listed[2]}"
    )


def listed(place: Place) -> list[Version]:
    """All published versions, oldest first."""
    return [_version(row) for row in sorted(place.latest(VERSIONS).collect(), key=lambda row: row["version"])]


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

    def append(self, frame: DataFrame, table: str) -> None:
        self._save(frame.write.mode("append").option("mergeSchema", "true"), table)

    def overwrite(self, frame: DataFrame, table: str) -> None:
        self._save(frame.write.mode("overwrite").option("mergeSchema", "true"), table)

    def retype(self, frame: DataFrame, table: str, clustered_by: str) -> None:
        """Overwrite the table and take the frame's types; comments and properties stay, clustering is renewed."""
        comments = {field.name: field.metadata for field in self.place.latest(table).schema.fields}
        frame = frame.select(*[F.col(f"`{c}`").alias(c, metadata=comments.get(c, {})) for c in frame.columns])
        self._save(frame.write.mode("overwrite").option("overwriteSchema", "true"), table)
        self.sql(f"ALTER TABLE {self.place.name(table)} CLUSTER BY ({clustered_by})")

    def change(self, table: str, key: str, deleted: list[int], inserted: pa.Table) -> tuple[int, int]:
        """Delete the rows with these keys and insert those, in one commit; how many rows went and came."""
        spark = self.place.spark
        if not deleted:
            if len(inserted):
                self.append(frame_of(spark, inserted), table)
            return 0, len(inserted)
        # A source row is either a key to delete by or, where `gone` is NULL and so matches nothing, a row to insert.
        gone = pa.table({"gone": pa.array(deleted, pa.int64())})
        columns = ", ".join(inserted.column_names)
        values = ", ".join(f"s.{name}" for name in inserted.column_names)
        source = pa.concat_tables([gone, inserted], promote_options="default")
        return self._merge(
            table,
            frame_of(spark, source),
            f"ON t.{key} = s.gone WHEN MATCHED THEN DELETE "
            f"WHEN NOT MATCHED AND s.gone IS NULL THEN INSERT ({columns}) VALUES ({values})",
        )

    def delete(self, table: str, key: str, ids: DataFrame) -> int:
        """Delete the rows with these keys; how many went."""
        return self._merge(table, ids, f"ON t.{key} = s.{key} WHEN MATCHED THEN DELETE")[0]

    def sql(self, text: str) -> DataFrame:
        return self.place.spark.sql(text)

    def _save(self, writer: DataFrameWriter, table: str) -> None:
        self.place.save(writer.format("delta").option("compression", "zstd"), table)

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
        for table, commits in self._commits().items():
            self._base[table] = max(commits)
            pin = self.head.table_versions[table]
            if max(commits) != pin:
                self.bring_back(table, pin)

    def moved(self) -> bool:
        """Whether a table has commits after the head's pin."""
        pins = self.head.table_versions
        return any(max(commits) != pins[table] for table, commits in self._commits().items())

    def bring_back(self, table: str, version: int) -> None:
        """Make the table what it was at a Delta version: a commit that names files and copies none."""
        self.sql(f"RESTORE TABLE {self.place.name(table)} TO VERSION AS OF {version}").collect()

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
        with ThreadPoolExecutor(len(PINNED)) as pool:
            found = pool.map(lambda table: self.place.commits(table, self._base.get(table, -1)), PINNED)
            return dict(zip(PINNED, found))

    def _published(self) -> bool:
        return not self.place.latest(VERSIONS).where(F.col("build_id") == self.build_id).isEmpty()


def write(place: Place, attempt: Callable[[Write], Result], retries: int = RETRIES) -> Result:
    """Run `attempt` on the head under the rules above, again from the new head where another writer was faster."""
    for turn in range(retries + 1):
        with locked(place.lock_folder):
            work = Write(place, find(place))
            try:
                with _signed(work):
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
    rows = place.latest(VERSIONS).where(F.col("request_id") == request_id).collect()
    return _version(rows[0]) if rows else None


def first(place: Place, settings: dict, retention_days: int) -> Version:
    """Make the tables and publish version 0, the empty index. The caller holds the lock."""
    with ThreadPoolExecutor(len(PINNED)) as pool:
        list(pool.map(lambda table: place.create(table, retention_days), PINNED))
    empty = Version(-1, None, {}, {}, {}, "", None, datetime.fromtimestamp(0, timezone.utc), "", "")
    work = Write(place, empty)
    # `versions` is made last: without it there is no index, so a create that dies half-way leaves none.
    place.create(VERSIONS, retention_days)
    counts = dict.fromkeys(("expressions", "predicates", "nodes", "edges", "levels"), 0)
    with _signed(work):
        return work.publish("create", settings, counts)


# The signature is a setting of the session, which all threads of a process may share.
_SIGNING = threading.RLock()


@contextlib.contextmanager
def _signed(work: Write) -> Iterator[None]:
    """Commits made inside carry the build id (rule 3)."""
    conf = work.place.spark.conf
    with _SIGNING:
        before = conf.get(_USER_METADATA, None)
        conf.set(_USER_METADATA, work.build_id)
        try:
            yield
        finally:
            if before is None:
                conf.unset(_USER_METADATA)
            else:
                conf.set(_USER_METADATA, before)


def _version(row: Row) -> Version:
    values = row.asDict()
    published = values["published_at"]
    # Spark hands timestamps out as naive local time.
    values["published_at"] = published.astimezone(timezone.utc)
    return Version(**{field: values[field] for field in Version._fields})
