"""Where the tables of an index are, and how they are made and read.

An index lives in a folder (a name with a `/`: any path Spark can write) or in a schema (`catalog.schema`).
The definition of each table is a file of `tables/`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib import resources

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from banyan.errors import ArgumentError
from banyan.store import log

PINNED = ("expressions", "predicates", "nodes", "edges", "frequencies", "rejected")
VERSIONS = "versions"
_HISTORY = 100
# How Delta and Spark say that there is no table in a folder.
_NO_TABLE = {
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_PATH_DOES_NOT_EXIST",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_TABLE_ONLY_OPERATION",
    "PATH_NOT_FOUND",
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


class Place:
    """The folder or schema of an index: names of tables, reading, writing."""

    def __init__(self, spark: SparkSession, where: str):
        if not where or "`" in where:
            raise ArgumentError(f"an index is named by a folder ('./ads') or a schema ('main.ads'), not {where!r}")
        self.spark = spark
        self.is_folder = "/" in where
        self.where = _absolute(where) if self.is_folder else where
        if not self.is_folder and not re.fullmatch(r"\w+(\.\w+)?", where):
            raise ArgumentError(f"{where!r} is neither a path (with a '/') nor a schema ('schema', 'catalog.schema')")

    def name(self, table: str) -> str:
        """The table's name in SQL."""
        return f"delta.`{self.where}/{table}`" if self.is_folder else f"{self.where}.{table}"

    @property
    def lock_folder(self) -> str | None:
        """The local folder to lock while writing; elsewhere Delta's own commit decides between writers."""
        return self.where if self.is_folder and "://" not in self.where else None

    def exists(self, table: str) -> bool:
        if self.lock_folder is not None:
            return log.exists(f"{self.where}/{table}")
        if self.is_folder:
            try:
                self.spark.read.format("delta").load(f"{self.where}/{table}")
            except PySparkException as error:
                if error.getCondition() in _NO_TABLE:
                    return False
                raise
            return True
        return self.spark.catalog.tableExists(self.name(table))

    def create(self, table: str, retention_days: int) -> None:
        """Make the table, empty, also where a create that died left one of that name."""
        properties = ", ".join(f"'{k}' = '{v.format(days=retention_days)}'" for k, v in _PROPERTIES.items())
        text = definition(table).format(table=self.name(table), properties=properties)
        self.spark.sql(text.replace("CREATE TABLE", "CREATE OR REPLACE TABLE", 1))

    def read(self, table: str, version: int) -> DataFrame:
        """The table as it was at a Delta version."""
        reader = self.spark.read.format("delta").option("versionAsOf", int(version))
        return reader.load(f"{self.where}/{table}") if self.is_folder else reader.table(self.name(table))

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

    def save(self, writer: DataFrameWriter, table: str) -> None:
        if self.is_folder:
            writer.save(f"{self.where}/{table}")
        else:
            writer.saveAsTable(self.name(table))


def definition(table: str) -> str:
    """The SQL that makes a table, with {table} and {properties} to fill in."""
    text = resources.files("banyan.tables").joinpath(f"{table}.sql").read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def _absolute(where: str) -> str:
    where = where.rstrip("/") or "/"
    if re.match(r"[a-zA-Z][\w+.-]*:", where):
        return where[len("file:") :].replace("//", "", 1) if where.startswith("file:") else where
    return os.path.abspath(os.path.expanduser(where))
