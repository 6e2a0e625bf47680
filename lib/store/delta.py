"""A Delta table beside the index's own: its version, its rows at one, what changed between two, writing to it.

Named by a folder (a name with a `/`) or as a table of a catalog. Everything is read at versions that are given, so a
run that is repeated reads the same rows.
"""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, Row, SparkSession
from pyspark.sql import functions as F

from banyan.errors import SourceError
from banyan.store.tables import absolute

CHANGE, COMMIT = "_change_type", "_commit_version"
_ADDED_BY_FEED = (CHANGE, COMMIT, "_commit_timestamp")


class DeltaTable:
    """One table, by folder or name."""

    def __init__(self, spark: SparkSession, name: str):
        self.spark = spark
        self.is_folder = "/" in name
        self.name = absolute(name) if self.is_folder else name

    @property
    def sql(self) -> str:
        return f"delta.`{self.name}`" if self.is_folder else self.name

    def exists(self) -> bool:
        try:
            return self.spark.sql(f"DESCRIBE DETAIL {self.sql}").first()["format"] == "delta"
        except PySparkException as error:
            if any(word in str(error) for word in ("NOT_FOUND", "DELTA_", "NOT_EXIST")):
                return False
            raise

    def history(self, commits: int) -> list[Row]:
        """The last commits, the newest first."""
        return self.spark.sql(f"DESCRIBE HISTORY {self.sql} LIMIT {commits}").collect()

    def version(self) -> int:
        return self.history(1)[0]["version"]

    def latest(self) -> DataFrame:
        if self.is_folder:
            return self.spark.read.format("delta").load(self.name)
        return self.spark.table(self.name)

    def save(self, writer: DataFrameWriter) -> DataFrame:
        """The table after a write."""
        if self.is_folder:
            writer.save(self.name)
        else:
            writer.saveAsTable(self.name)
        return self.latest()

    def require_feed(self) -> None:
        """Raises unless the table records its changes, without which nobody can say what is new in it."""
        if not self.exists():
            raise SourceError(f"there is no Delta table {self.name}")
        properties = self.spark.sql(f"DESCRIBE DETAIL {self.sql}").first()["properties"]
        if properties.get("delta.enableChangeDataFeed") != "true":
            raise SourceError(
                f"{self.name} keeps no record of its changes; turn its change data feed on:\n"
                f"  ALTER TABLE {self.sql} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)"
            )

    def at(self, version: int) -> DataFrame:
        """The rows as of a version."""
        reader = self.spark.read.format("delta").option("versionAsOf", version)
        return reader.load(self.name) if self.is_folder else reader.table(self.name)

    def changes(self, first: int, last: int) -> DataFrame:
        """The rows that the commits `first` to `last` inserted, updated and deleted, with what and which commit."""
        reader = self.spark.read.format("delta").option("readChangeFeed", "true")
        reader = reader.option("startingVersion", first).option("endingVersion", last)
        try:
            return reader.load(self.name) if self.is_folder else reader.table(self.name)
        except PySparkException as error:
            why = str(error).splitlines()[0]
            raise SourceError(f"the changes {first} to {last} of {self.name} cannot be read: {why}") from None

    def inserted(self, first: int, last: int) -> DataFrame:
        """The rows that these commits brought."""
        return self.changes(first, last).where(F.col(CHANGE) == "insert").drop(*_ADDED_BY_FEED)

    def own_columns(self, changes: DataFrame) -> list[str]:
        """The columns of the table itself among those of its changes."""
        return [name for name in changes.columns if name not in _ADDED_BY_FEED]
