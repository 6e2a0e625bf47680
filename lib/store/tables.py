"""Where the tables of an index are, and how they are made and read.

An index lives in a folder (a name with a `/`: any path Spark can write) or in a schema (`catalog.schema`).
The definition of each table is a file of `tables/`.
"""

from __future__ import annotations

import json
import os
import re
from importlib import resources
from pathlib import Path

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from banyan.connect import is_beside
from banyan.errors import ArgumentError

PINNED = ("expressions", "predicates", "nodes", "edges", "frequencies", "rejected")
VERSIONS = "versions"
RUNS = "runs"  # of the jobs that follow tables; no part of a version
_HISTORY = 100

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
        """Whether the table is there; in a folder one without rows, which is what a drop can leave, does not count."""
        if self.is_folder:
            try:
                return not self.spark.sql(f"SELECT 1 FROM {self.name(table)} LIMIT 1").isEmpty()
            except Exception as error:
                if "DELTA" in str(error) or "PATH_NOT_FOUND" in str(error) or "NOT_FOUND" in str(error):
                    return False
                raise
        return self.spark.catalog.tableExists(self.name(table))

    def create(self, table: str, retention_days: int) -> None:
        """Make the table, empty, also where a create that died left one of that name."""
        self.spark.sql(create_text(table, self.name(table), retention_days, "CREATE OR REPLACE TABLE"))

    def read(self, table: str, version: int) -> DataFrame:
        """The table as it was at a Delta version."""
        reader = self.spark.read.format("delta").option("versionAsOf", int(version))
        return reader.load(f"{self.where}/{table}") if self.is_folder else reader.table(self.name(table))

    def latest(self, table: str) -> DataFrame:
        return self.spark.table(self.name(table))

    def commits(self, table: str, since: int) -> dict[int, str | None]:
        """The Delta versions from `since` on, the latest always among them, each with its userMetadata."""
        if self.lock_folder is not None:
            return _logged(f"{self.where}/{table}/_delta_log", since)
        rows = self.spark.sql(f"DESCRIBE HISTORY {self.name(table)} LIMIT {_HISTORY}").collect()
        return {row["version"]: row["userMetadata"] for row in rows}

    def save(self, writer: DataFrameWriter, table: str) -> None:
        if self.is_folder:
            writer.save(f"{self.where}/{table}")
        else:
            writer.saveAsTable(self.name(table))


def _logged(folder: str, since: int) -> dict[int, str | None]:
    """The same from the log itself: milliseconds, where DESCRIBE HISTORY takes half a second a table."""
    versions = {int(name[:20]) for name in os.listdir(folder) if name[:20].isdigit()}
    found: dict[int, str | None] = {}
    for version in sorted(v for v in versions if v >= since or v == max(versions)):
        path = f"{folder}/{version:020}.json"
        # Only the checkpoint of a version may be left; a commit that old is nobody's unfinished work.
        lines = Path(path).read_text("utf-8").splitlines() if os.path.exists(path) else []
        infos = [json.loads(line)["commitInfo"] for line in lines if line.startswith('{"commitInfo"')]
        found[version] = infos[0].get("userMetadata") if infos else None
    return found


def definition(table: str) -> str:
    """The SQL that makes a table, with {table} and {properties} to fill in."""
    text = resources.files("banyan.tables").joinpath(f"{table}.sql").read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def create_text(table: str, name: str, retention_days: int, verb: str = "CREATE TABLE") -> str:
    """The SQL that makes a table under a name."""
    properties = ", ".join(f"'{k}' = '{v.format(days=retention_days)}'" for k, v in _PROPERTIES.items())
    return definition(table).format(table=name, properties=properties).replace("CREATE TABLE", verb, 1)


def absolute(where: str) -> str:
    """A folder's full path; an address of a store as it is."""
    where = where.rstrip("/") or "/"
    if re.match(r"[a-zA-Z][\w+.-]*:", where):
        return where[len("file:") :].replace("//", "", 1) if where.startswith("file:") else where
    return os.path.abspath(os.path.expanduser(where))
