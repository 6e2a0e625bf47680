"""The index: the one class a user meets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from banyan.build import change
from banyan.columns import EXPRESSION_ID
from banyan.errors import ArgumentError, IndexExists
from banyan.match import sample
from banyan.match.call import Matcher
from banyan.match.run import in_time_zone
from banyan.match.target import Target
from banyan.match.unpack import unpacked
from banyan.progress import Steps
from banyan.store import history, versions
from banyan.store.lock import locked
from banyan.store.materialise import Scratch
from banyan.store.settings import IndexSettings
from banyan.store.tables import PINNED, VERSIONS, Place
from banyan.store.versions import Version

if TYPE_CHECKING:
    from graphframes import GraphFrame


class Index:
    """An index of Boolean expressions, open at one published version.

    `where` is a folder ('./ads', any path Spark can write) or a schema ('catalog.schema').
    """

    def __init__(self, place: Place, version: Version, pinned: bool = False):
        self._place = place
        self._version = version
        self._pinned = pinned
        self._matcher: Matcher | None = None

    # --- making, opening, dropping ---

    @classmethod
    def create(cls, spark: SparkSession, where: str, **settings: Any) -> Index:
        """A new, empty index. Settings, fixed from then on: time_zone ('UTC'), case_sensitive (False), max_length
        (1,000,000), max_depth (1,000), max_operands (100,000), retention_days (30)."""
        try:
            chosen = replace(IndexSettings(), **settings)
        except TypeError:
            known = ", ".join(IndexSettings.__dataclass_fields__)
            unknown = ", ".join(sorted(set(settings) - set(IndexSettings.__dataclass_fields__)))
            raise ArgumentError(f"an index has no setting {unknown}; it has {known}") from None
        place = Place(spark, where)
        with locked(place.lock_folder):
            if place.exists(VERSIONS):
                raise IndexExists(f"there is an index at {place.where} already; open it, or drop it first")
            if not place.is_folder:
                spark.sql(f"CREATE SCHEMA IF NOT EXISTS {place.where}")
            return cls(place, versions.first(place, chosen.to_map(), chosen.retention_days))

    @classmethod
    def open(
        cls, spark: SparkSession, where: str, version: int | None = None, timestamp: datetime | str | None = None
    ) -> Index:
        """The index at its newest version, or as it was at a version or a time. What is opened does not move."""
        if version is not None and timestamp is not None:
            raise ArgumentError("give a version or a timestamp, not both")
        place = Place(spark, where)
        versions.require(place)
        found = versions.find(place, version, timestamp)
        pinned = version is not None or timestamp is not None
        if pinned:
            history.require_readable(place, found)
        return cls(place, found, pinned)

    @staticmethod
    def exists(spark: SparkSession, where: str) -> bool:
        return Place(spark, where).exists(VERSIONS)

    @staticmethod
    def drop(spark: SparkSession, where: str) -> None:
        """Remove the index, all versions of it. Raises IndexNotFound if there is none."""
        place = Place(spark, where)
        versions.require(place)
        with locked(place.lock_folder):
            place.drop()

    # --- what is in it ---

    @property
    def spark(self) -> SparkSession:
        return self._place.spark

    @property
    def where(self) -> str:
        return self._place.where

    @property
    def version(self) -> int:
        return self._version.version

    @property
    def is_pinned(self) -> bool:
        """Whether it was opened at a version or a time, and so stays there."""
        return self._pinned

    @property
    def settings(self) -> IndexSettings:
        return IndexSettings.from_map(self._version.settings)

    def table(self, name: str) -> DataFrame:
        """One of the tables, as this version has it."""
        if name not in PINNED:
            raise ArgumentError(f"an index has the tables {', '.join(PINNED)}; not {name!r}")
        return self._place.read(name, self._version.table_versions[name])

    def table_sql(self, name: str) -> str:
        """The same table in SQL: its name and its Delta version."""
        return f"{self._place.name(name)} VERSION AS OF {self._version.table_versions[name]}"

    def rows(self, name: str, columns: list[str]) -> pa.Table:
        """Columns of one of the tables, as this version has it, for where it is small."""
        return self._place.rows(name, columns, self._version.table_versions[name])

    @property
    def size(self) -> int:
        """Predicates and edges of this version."""
        return self._version.counts["predicates"] + self._version.counts["edges"]

    def expressions(self) -> DataFrame:
        """expression_id, expression, node_id, added_in and the user's own columns."""
        return self.table("expressions")

    def rejected(self) -> DataFrame:
        """What adds with on_error='quarantine' refused: expression_id, expression, position, reason, rejected_in."""
        return self.table("rejected")

    def versions(self) -> DataFrame:
        """All published versions, newest first."""
        return self._place.latest(VERSIONS).orderBy(F.desc("version"))

    def stats(self) -> dict[str, Any]:
        """Rows of each table, levels, and how much is shared."""
        counts = dict(self._version.counts)
        edges = self.table("edges")
        mentions = edges.groupBy().agg(F.count("*")).first()[0]
        uses = self.table("predicates").agg(F.sum("use_count")).first()[0] or 0
        counts["predicate_uses"] = uses
        counts["edges"] = mentions
        return {"where": self.where, "version": self.version, **counts}

    # --- changing it ---

    def add(
        self, rules: DataFrame, on_error: str = "fail", request_id: str | None = None, steps: Steps | None = None
    ) -> int:
        """Add expressions: a DataFrame with expression_id, expression and any columns of yours. The new version.

        on_error: "fail" (one bad expression and nothing is written) or "quarantine" (bad ones go to `rejected`).
        request_id: an add with the same one is applied once, however often it is retried.
        """
        self._writable()
        self._moved(change.add(self._place, rules, on_error, request_id, steps))
        return self.version

    def replace(
        self, rules: DataFrame, on_error: str = "fail", request_id: str | None = None, steps: Steps | None = None
    ) -> int:
        """Put expressions in, in the place of those with the same ids where there are any. The new version.

        With on_error="quarantine" an id whose new text is bad keeps its old one.
        """
        self._writable()
        self._moved(change.replace(self._place, rules, on_error, request_id, steps))
        return self.version

    def remove(
        self,
        ids: DataFrame | Iterable[Any],
        missing: str = "fail",
        request_id: str | None = None,
        steps: Steps | None = None,
    ) -> int:
        """Remove expressions: a DataFrame with expression_id, or a list of ids. The new version.

        missing: "fail" (an id that is not there, and nothing is written) or "ignore".
        """
        self._writable()
        self._moved(change.remove(self._place, ids, missing, request_id, steps))
        return self.version

    def analyze(
        self,
        events: DataFrame,
        id: str = "event_id",
        attribute: str | None = None,
        value: str | None = None,
        request_id: str | None = None,
        steps: Steps | None = None,
    ) -> int:
        """Choose access children by how often attributes and values occur in these events, a sample. The new version.

        Matches stay the same and take less. What is seen is kept in `frequencies` and holds for later changes too;
        the attributes are those that the rules use now. events, id, attribute, value: as in `match`.
        """
        self._writable()
        head = versions.find(self._place)
        used = self._place.read("predicates", head.table_versions["predicates"]).select("attribute").distinct()
        attributes = {name: number for number, name in enumerate(sorted(row[0] for row in used.collect()))}
        scratch = Scratch(self.spark)
        try:
            with (steps or Steps()).step("sample"):
                case = self.settings.case_sensitive
                seen = sample.frequencies(scratch, events, id, attribute, value, attributes, case)
        finally:
            scratch.release()
        self._moved(change.analyze(self._place, seen, request_id, steps))
        return self.version

    # --- its versions ---

    def restore(self, version: int, request_id: str | None = None) -> int:
        """Make the index what it was at a version: a new version that names the old files and copies none."""
        self._writable()
        self._moved(history.restore(self._place, version, request_id))
        return self.version

    def diff(self, before: int, after: int | None = None) -> DataFrame:
        """(expression_id, change, before, after): what was 'added', 'removed' or 'changed' between two versions.

        `changed` is an expression whose text or whose own columns differ. `after`: this version unless given.
        """
        new = self._version if after is None else versions.find(self._place, after)
        return history.diff(self._place, versions.find(self._place, before), new)

    def forget(self, before: int) -> list[int]:
        """Take the versions before this number off the list; which they were. `vacuum` then frees their files."""
        self._writable()
        return history.forget(self._place, before)

    def vacuum(self) -> int:
        """Remove files that no listed version needs and that are older than the retention. The newest version.

        Refused while a listed version needs files of that age: forget it first.
        """
        self._writable()
        self._moved(history.vacuum(self._place))
        return self.version

    def optimize(self) -> int:
        """Compact small files and cluster the tables: the same rows in fewer files. The newest version."""
        self._writable()
        self._moved(history.optimize(self._place))
        return self.version

    def _writable(self) -> None:
        if self._pinned:
            raise ArgumentError(
                f"this index is open at version {self.version}, to be read; open it without a version to write"
            )

    def _moved(self, version: Version) -> None:
        self.release()
        self._version = version

    # --- asking it ---

    def match(
        self,
        events: DataFrame,
        id: str = "event_id",
        attribute: str | None = None,
        value: str | None = None,
        output: str = "pairs",
        engine: str = "arrow",
        where: str | Column | None = None,
        keep: list[str] | None = None,
        zeros: bool = False,
        into: str | Target | None = None,
        batch_size: int | None = None,
        steps: Steps | None = None,
        progress: bool | None = None,
    ) -> DataFrame:
        """Which expressions each event satisfies.

        events: one row per event, any column but `id` an attribute; or, with `attribute` and `value` naming two
            columns, one row per event and attribute.
        output: "pairs" (event_id, expression_id), "counts" (expression_id, events) or "arrays" (event_id,
            expression_ids: one row per event).
        where: only expressions whose own columns satisfy this SQL; keep: such columns to carry into the result.
        zeros: counts of 0 too. into: a Delta folder or table to append to, batch by batch; that table is returned.
        """
        if self._matcher is None:
            self._matcher = Matcher(self)
        return self._matcher.match(
            events,
            id,
            attribute,
            value,
            output,
            engine,
            where,
            keep or [],
            zeros,
            into,
            batch_size,
            steps or Steps(),
            progress,
        )

    def match_stream(
        self,
        events: DataFrame,
        checkpoint: str,
        into: str,
        id: str = "event_id",
        trigger: dict[str, Any] | None = None,
        unpack: str | None = None,
        **options: Any,
    ) -> StreamingQuery:
        """Match a stream of events into a Delta folder or table, each micro-batch exactly once across restarts.

        An index opened at a version matches against that one; else each batch begins with the newest version.
        trigger: as of writeStream.trigger, such as {"availableNow": True}. unpack: a column of JSON text or VARIANT
            whose keys are attributes. options: as of `match`.
        """
        from banyan.follow.stream import match_stream

        return match_stream(self, events, checkpoint, into, id, trigger, unpack, options)

    def unpack(self, events: DataFrame, column: str) -> DataFrame:
        """The events with the keys of a column of JSON text or VARIANT as attributes, as far as the rules use them."""
        used = [row[0] for row in self.table("predicates").select("attribute").distinct().collect()]
        return unpacked(events, column, used, self.settings.case_sensitive)

    def refresh(self) -> int:
        """Move on to the newest version, if it is not open at one that was asked for. The version."""
        if not self._pinned:
            newest = versions.find(self._place)
            if newest.version != self.version:
                self._moved(newest)
        return self.version

    def match_sql(self, events_table: str, **arguments: Any) -> str:
        """The match of this version as one plain SQL query over a table of events: common table expressions, one per
        level, for a spark-sql shell or a SQL warehouse without this package.

        arguments: id, attribute, value, output, where, keep, zeros, as of `match`. The session that runs it must be in
        the index's time zone; ids should be unique, which a query cannot refuse.
        """
        from banyan.match.sql_view import match_sql

        with in_time_zone(self.spark, self.settings.time_zone):
            return match_sql(self, events_table, **arguments)

    def match_view(self, name: str, events_table: str, temporary: bool = False, **arguments: Any) -> str:
        """Create (or replace) a view that is the match of this version; the SQL it was made from.

        Events that come into the table are matched when the view is read; rules added later are not in it.
        """
        sql = self.match_sql(events_table, **arguments)
        kind = "TEMPORARY VIEW" if temporary else "VIEW"
        # A view remembers the time zone of the session that made it.
        with in_time_zone(self.spark, self.settings.time_zone):
            self.spark.sql(f"CREATE OR REPLACE {kind} {name} AS\n{sql}")
        return sql

    def create_views(self, schema: str | None = None) -> list[str]:
        """Create (or replace) views of this version for analysts; their names. None: temporary views.

        expression_texts, expression_predicates, predicate_uses, node_sharing, published_versions, expression_history:
        see docs/sql.md, which also has the ready queries over them.
        """
        from banyan.explain.views import create

        return create(self, schema)

    def explain(self, event: dict[str, Any], expression_id: Any) -> str:
        """Why an event satisfies an expression or not: its tree, with the value and the outcome at each node."""
        from banyan.explain.why import explain

        rows = self.expressions().where(F.col(EXPRESSION_ID) == F.lit(expression_id)).select("expression").collect()
        if not rows:
            raise ArgumentError(f"version {self.version} of {self.where} has no expression {expression_id!r}")
        return explain(self.spark, rows[0]["expression"], event, self.settings)

    def graph(self) -> GraphFrame:
        """The nodes and edges of this version as a GraphFrame (banyan-spark[graph]); see also `banyan.graph`."""
        from banyan.graph.frame import graph

        return graph(self)

    def release(self) -> None:
        """Free what matching has put aside. Results of earlier matches that were not read yet are gone with it."""
        if self._matcher is not None:
            self._matcher.release()
            self._matcher = None

    def __repr__(self) -> str:
        counts = self._version.counts
        return f"Index({self.where!r}, version {self.version}, {counts.get('expressions', 0):,} expressions)"
