"""Where the tables of an index are, and how they are made and read.

An index lives in a folder (a name with a `/`: any path Spark can write) or in a schema (`catalog.schema`).
The definition of each table is a file of `tables/`.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from importlib import resources
from typing import TypeVar

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F

from banyan.connect import is_beside
from banyan.errors import ArgumentError
from banyan.store import log
from banyan.store.statements import setting

PINNED = ("expressions", "predicates", "nodes", "edges", "frequencies", "rejected")
VERSIONS = "versions"
RUNS = "runs"  # of the jobs that follow tables; no part of a version

Result = TypeVar("Result")

_HISTORY = 100
# How Delta and Spark say that there is no table in a folder.
_NO_TABLE = {
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_PATH_DOES_NOT_EXIST",
    "DELTA_TABLE_NOT_FOUND",
    "PATH_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
}

# Retention is how long files that no newer version needs are kept; deletion vectors keep small updates from rewriting
# files. The log is not cleaned up by age: where a writer died on top of an old head, the head is no longer the latest
# Delta version, and what Delta's clean-up takes then is the head's own entry.
_PROPERTIES = {
    "delta.enableExpiredLogCleanup": "false",
    "delta.enableDeletionVectors": "true",
    "delta.deletedFileRetentionDuration": "interval {days} days",
    "delta.logRetentionDuration": "interval {days} days",
}

_ALLOWING = threading.Lock()
_BEYOND_RETENTION = "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION"
_ENFORCED = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"
# A file or a version that is gone is told by PySpark, or, where a task met it, by Java. Its words or its condition:
FILES_GONE = (PySparkException, Py4JError)
_GONE = ("NOT_EXIST", "NOT_FOUND", "FileNotFound", "RETENTION", "TRUNCATED", "FILE_READ", "READ_FILE")


def is_gone(error: Exception) -> bool:
    """Whether an error says that retention has taken what was to be read."""
    told = isinstance(error, PySparkException) and error.getCondition() or str(error)
    return any(word in told for word in _GONE)


class Place:
    """The folder or schema of an index: names of tables, reading, writing."""

    def __init__(self, spark: SparkSession, where: str):
        if not where or "`" in where:
            raise ArgumentError(f"an index is named by a folder ('./ads') or a schema ('main.ads'), not {where!r}")
        self.spark = spark
        self.is_folder = "/" in where
        self.where = absolute(where) if self.is_folder else where
        if not self.is_folder and not re.fullmatch(r"\w+(\.\w+)?", where):
            raise ArgumentError(f"{where!r} is neither a path (with a '/') nor a schema ('schema', 'catalog.schema')")
        if self.is_folder and not is_beside(spark) and not re.match(r"/|[a-zA-Z][\w+.-]*:", where):
            raise ArgumentError(
                f"{where!r} is relative to a folder here, and Spark is elsewhere: give the path it has there"
            )
        # Databricks mounts stores under these; locks do not reach through.
        stored = re.match(r"[a-zA-Z][\w+.-]*:|/(Volumes|Workspace|dbfs)/", self.where)
        self._lockable = self.is_folder and not stored and is_beside(spark)

    def name(self, table: str) -> str:
        """The table's name in SQL."""
        return f"delta.`{self.where}/{table}`" if self.is_folder else f"{self.where}.{table}"

    @property
    def lock_folder(self) -> str | None:
        """The local folder to lock while writing; elsewhere Delta's own commit decides between writers."""
        return self.where if self._lockable else None

    def exists(self, table: str) -> bool:
        """Whether the table is there and has rows. (One without is what a creation or a drop that died can leave.)"""
        if self.lock_folder is not None:
            return log.exists(f"{self.where}/{table}") and len(self.rows(table, ["version"])) > 0
        try:
            return not self.latest(table).limit(1).isEmpty()
        except PySparkException as error:
            if error.getCondition() in _NO_TABLE:
                return False
            raise

    def create(self, table: str, retention_days: int) -> None:
        """Make the table, empty, also where a create that died left one of that name."""
        self.spark.sql(create_text(table, self.name(table), retention_days, "CREATE OR REPLACE TABLE"))

    def read(self, table: str, version: int) -> DataFrame:
        """The table as it was at a Delta version."""

        def read() -> DataFrame:
            reader = self.spark.read.format("delta").option("versionAsOf", int(version))
            return reader.load(f"{self.where}/{table}") if self.is_folder else reader.table(self.name(table))

        return self.long_ago(read)

    def bring_back(self, table: str, version: int) -> None:
        """Make the table what it was at a Delta version: a commit that names files and copies none."""
        self.long_ago(lambda: self.spark.sql(f"RESTORE TABLE {self.name(table)} TO VERSION AS OF {int(version)}"))

    def long_ago(self, read: Callable[[], Result]) -> Result:
        """Run what reads an old Delta version.

        Delta refuses one that was superseded longer ago than the retention, even while all its files are there, as
        those of a head are on which a writer died: only `vacuum` takes files, and it asks the list of versions.
        """
        try:
            return read()
        except PySparkException as error:
            if error.getCondition() != _BEYOND_RETENTION:
                raise
            # One at a time: of two threads the first to end would set it back under the other.
            with _ALLOWING, setting(self.spark, _ENFORCED, "false"):
                return read()

    def read_through(self, table: str, version: int) -> None:
        """Read every file of the table as it was at a Delta version. Raises one of FILES_GONE where one is gone."""
        frame = self.read(table, version)
        frame.agg(F.max(F.hash(frame.columns[0]))).collect()  # a count would be answered by the log alone

    def latest(self, table: str) -> DataFrame:
        return self.spark.table(self.name(table))

    def rows(self, table: str, columns: Sequence[str], version: int | None = None) -> pa.Table:
        """These columns of a table that is small, at a Delta version or as it is now."""
        if self.lock_folder is not None:
            found = log.rows(f"{self.where}/{table}", columns, version)
            if found is not None:
                return found
        frame = self.latest(table) if version is None else self.read(table, version)
        return frame.select(*[f"`{name}`" for name in columns]).toArrow()

    def commits(self, table: str, since: int) -> dict[int, str | None]:
        """The Delta versions from `since` on, the latest always among them, each with its userMetadata."""
        if self.lock_folder is not None:
            return log.commits(f"{self.where}/{table}", since)
        rows = self.spark.sql(f"DESCRIBE HISTORY {self.name(table)} LIMIT {_HISTORY}").collect()
        return {row["version"]: row["userMetadata"] for row in rows}

    def drop(self) -> None:
        """Remove the tables. The caller holds the lock."""
        # `versions` first: without it there is no index.
        runs = [RUNS] if self.lock_folder is not None or self.exists(RUNS) else []
        for table in (VERSIONS, *PINNED, *runs):
            if self.lock_folder is not None:
                shutil.rmtree(f"{self.where}/{table}", ignore_errors=True)
            elif self.is_folder:
                self.spark.sql(f"DELETE FROM {self.name(table)}")
            else:
                self.spark.sql(f"DROP TABLE IF EXISTS {self.name(table)}")

    def save(self, writer: DataFrameWriter, table: str) -> None:
        if self.is_folder:
            writer.save(f"{self.where}/{table}")
        else:
            writer.saveAsTable(self.name(table))


def definition(table: str) -> str:
    """The SQL that makes a table, with {table} and {properties} to fill in."""
    text = resources.files("banyan.tables").joinpath(f"{table}.sql").read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def create_text(table: str, name: str, retention_days: int, verb: str = "CREATE TABLE") -> str:
    """The SQL that makes a table under a name."""
    properties = ", ".join(f"'{k}' = '{v.format(days=retention_days)}'" for k, v in _PROPERTIES.items())
    return definition(table).format(table=name, properties=properties).replace("CREATE TABLE", verb, 1)


def clustering(table: str) -> list[str]:
    """The columns that a table is clustered by."""
    found = re.search(r"CLUSTER BY \((.*)\)", definition(table))
    return [name.strip() for name in found[1].split(",")] if found else []


def absolute(where: str) -> str:
    """A folder's full path; an address of a store as it is."""
    where = where.rstrip("/") or "/"
    if re.match(r"[a-zA-Z][\w+.-]*:", where):
        return where[len("file:") :].replace("//", "", 1) if where.startswith("file:") else where
    return os.path.abspath(os.path.expanduser(where))
