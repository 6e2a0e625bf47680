"""Match only what is new: the events that came into a Delta table since the last run, each exactly once.

A run is planned (versions of the events, batches) and written down before it begins. A batch is one commit to the
table of matches, under an identity that is the batch's own: Delta passes over a commit it has seen. A run that was
killed goes on at the batch it was in, against the version of the index it began with.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from banyan.errors import EventsError, VersionNotFound
from banyan.follow.runs import Run, Runs
from banyan.index import Index
from banyan.match.target import Target
from banyan.progress import Steps
from banyan.store.delta import CHANGE, COMMIT, DeltaTable

ON_ERROR = ("fail", "skip")
BATCH = 2**18


class Matched(NamedTuple):
    """What a call of `match_new` did. `run`: its number; None if nothing was new. `passed_over`: changes of events that
    are no new ones (updates, deletes), and events of batches that were skipped."""

    run: int | None
    index_version: int | None
    batches: int
    events: int
    matches: int
    passed_over: int


def match_new(
    spark: SparkSession,
    events: str,
    index: str,
    into: str,
    id: str = "event_id",
    runs: str | None = None,
    job: str | None = None,
    after_version: int | None = None,
    batch_size: int = BATCH,
    on_error: str = "fail",
    unpack: str | None = None,
    steps: Steps | None = None,
    **options: Any,
) -> Matched:
    """Match the events that a Delta table has got since the last run, and append the matches to another, each once.

    events: a Delta folder or table with its change data feed on. New are the rows that commits inserted; the first run
        takes all there are, or those after a version of it (`after_version`).
    runs: the Delta table that remembers what was done; beside the matches unless given. job: a name in it, for two jobs
        between the same tables. on_error: "fail", or "skip" a batch whose ids are NULL or repeated.
    unpack: a column of JSON text or VARIANT whose keys are attributes. options: as of `Index.match`.
    """
    source, target = DeltaTable(spark, events), DeltaTable(spark, into)
    source.require_feed()
    place = Index.open(spark, index).where
    log = Runs(
        spark, runs or f"{target.name.rstrip('/')}_runs", job or f"{source.name} > {target.name}", source.name, place
    )
    with log.alone():
        run, opened = _run(log, source, spark, index, id, after_version, batch_size)
        if run is None:
            return Matched(None, None, 0, 0, 0, 0)
        work = _Work(spark, source, into, id, on_error, unpack, options, steps or Steps())
        try:
            return work.all(log, run, opened)
        finally:
            opened.release()


def _run(
    log: Runs, source: DeltaTable, spark: SparkSession, index: str, id: str, after_version: int | None, size: int
) -> tuple[Run | None, Index]:
    """The run to do: the last one if it did not come to its end, else a new one, if there is anything new."""
    last, state = log.last()
    if last is not None and state != "done":
        try:
            return last, Index.open(spark, index, version=last.index_version)
        except VersionNotFound:
            # Batches that are in stay in; the others have not been matched against any version.
            return last, Index.open(spark, index)
    opened = Index.open(spark, index)
    start = last.to_version if last else after_version
    head = source.version()
    if start is not None and head <= start:
        return None, opened
    batches, passed_over = _whole(source, head, size) if start is None else _fed(source, start + 1, head, size)
    return log.plan(last, start, head, opened.version, batches, passed_over), opened


def _whole(source: DeltaTable, version: int, size: int) -> tuple[list[dict], int]:
    """Batches of all rows there are."""
    return _parts({"version": version}, source.at(version).count(), size), 0


def _fed(source: DeltaTable, first: int, last: int, size: int) -> tuple[list[dict], int]:
    """Batches of what the commits inserted: several commits in one as far as they are small, a large one in parts."""
    counted = source.changes(first, last).groupBy(COMMIT, CHANGE).count().orderBy(COMMIT).collect()
    inserted = [(row[COMMIT], row["count"]) for row in counted if row[CHANGE] == "insert"]
    passed_over = sum(row["count"] for row in counted if row[CHANGE] in ("update_postimage", "delete"))
    # A commit that deletes may bring rows of before again: an id would then be twice in a batch of several commits.
    together = not any(row[CHANGE] == "delete" for row in counted)
    batches: list[dict] = []
    for commit, rows in inserted:
        if together and batches and batches[-1]["parts"] == 1 and batches[-1]["rows"] + rows <= size:
            batches[-1] |= {"last": commit, "rows": batches[-1]["rows"] + rows}
        else:
            batches += _parts({"first": commit, "last": commit}, rows, size)
    return batches, passed_over


def _parts(what: dict, rows: int, size: int) -> list[dict]:
    parts = -(-rows // size)
    return [{**what, "part": part, "parts": parts, "rows": rows // parts} for part in range(parts)]


class _Work(NamedTuple):
    spark: SparkSession
    source: DeltaTable
    into: str
    id: str
    on_error: str
    unpack: str | None
    options: dict[str, Any]
    steps: Steps

    def all(self, log: Runs, run: Run, index: Index) -> Matched:
        """Do what is left of a run."""
        start, before = time.monotonic(), run.done
        events = matches = passed_over = 0
        for batch in run.batches[run.done :]:
            began = time.monotonic()
            try:
                found, note = self.one(run, batch, index), None
            except EventsError as error:
                if self.on_error != "skip":
                    log.finish(run, "failed", index.version, start, note=f"batch {run.done + 1}: {error}")
                    raise EventsError(
                        f"{error}\n  Nothing of this batch was written ({_named(batch)} of {self.source.name}); the "
                        'next run begins with it. on_error="skip" (--on-error skip) passes over it.'
                    ) from None
                found, note = 0, str(error)
            skipped = batch["rows"] if note else 0
            run = log.batch(
                run, index.version, began, rows_read=batch["rows"], rows_written=found, passed_over=skipped, note=note
            )
            events, matches, passed_over = events + batch["rows"], matches + found, passed_over + skipped
        log.finish(run, "done", index.version, start, rows_read=events, rows_written=matches)
        return Matched(run.run, index.version, run.done - before, events, matches, passed_over)

    def one(self, run: Run, batch: dict, index: Index) -> int:
        """Match one batch and append what it gives; how many rows that is."""
        once = (run.writer, run.number + run.done + 1)
        target = Target(self.spark, self.into, once, {"run": run.run, "index_version": index.version})
        written = target.rows_written()
        if written is None:
            with self.steps.step(f"batch {run.done + 1} of {len(run.batches)}"):
                index.match(self.rows(batch, index), id=self.id, into=target, progress=False, **self.options)
            written = target.rows_written() or 0
        return written

    def rows(self, batch: dict, index: Index) -> DataFrame:
        """The events of a batch: the same rows at every reading."""
        rows = (
            self.source.at(batch["version"])
            if "version" in batch
            else self.source.inserted(batch["first"], batch["last"])
        )
        if batch["parts"] > 1:
            rows = rows.where(F.pmod(F.xxhash64(f"`{self.id}`"), F.lit(batch["parts"])) == batch["part"])
        return rows if self.unpack is None else index.unpack(rows, self.unpack)


def _named(batch: dict) -> str:
    commits = f"version {batch['version']}" if "version" in batch else f"commits {batch['first']} to {batch['last']}"
    return commits + (f", part {batch['part'] + 1} of {batch['parts']}" if batch["parts"] > 1 else "")
