"""Keep an index in step with a Delta table of rules: what its change data feed says came, changed and went.

A run takes the net change since the last one: for each id the last thing that happened to it. Rules that are there go
in (`replace`), those that are gone go out (`remove`), each under a request id of the run: applied once, however often
the run is begun.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from banyan.columns import EXPRESSION_ID
from banyan.errors import BanyanError, SourceError
from banyan.follow.runs import Run, Runs, beside
from banyan.index import Index
from banyan.progress import Steps
from banyan.store.delta import CHANGE, COMMIT, DeltaTable
from banyan.store.rules import as_rules

_GONE = "banyan_gone"


class Followed(NamedTuple):
    """What a call of `follow` did. `run`: its number; None if nothing had changed."""

    run: int | None
    index_version: int
    put: int
    removed: int
    refused: int


def follow(
    spark: SparkSession,
    rules: str,
    index: str,
    id: str = "expression_id",
    expression: str = "expression",
    on_error: str = "quarantine",
    whole: bool = False,
    runs: str | None = None,
    job: str | None = None,
    steps: Steps | None = None,
) -> Followed:
    """Bring an index in step with a Delta table of rules that has its change data feed on.

    The first run puts all rules in and removes nothing; later ones apply what has changed. whole: instead of the
        changes, take all rules, and remove what the table does not have.
    on_error: "quarantine" (refused rules go to `rejected`, an id keeps its old rule) or "fail" (nothing is written).
    runs: the Delta table that remembers what was done; with the index unless given. job: a name in it.
    """
    source = DeltaTable(spark, rules)
    source.require_feed()
    opened = Index.open(spark, index)
    log = Runs(spark, runs or beside(opened.where), job or f"{source.name} > index", source.name, opened.where)
    with log.alone():
        last, state = log.last()
        if last is not None and state == "done" and opened.version < last.index_version:
            raise SourceError(
                f"{opened.where} is not the index that was followed so far: it was at version {last.index_version} and "
                f"is at {opened.version}. whole=True (--whole) brings it in step"
            )
        if state == "unfinished":
            run = last
        else:
            whole = whole or (state == "failed" and last.batches[0]["whole"])
            start = None if whole or last is None else last.after_version if state == "failed" else last.to_version
            head = source.version()
            if start is not None and head <= start:
                return Followed(None, opened.version, 0, 0, 0)
            run = log.plan(last, start, head, opened.version, [{"whole": whole, "on_error": on_error}])
        return _apply(log, run, source, opened, (id, expression), steps)


def _apply(
    log: Runs, run: Run, source: DeltaTable, index: Index, names: tuple[str, str], steps: Steps | None
) -> Followed:
    began, how = time.monotonic(), run.batches[0]
    coming, going = _net(source, run, names)
    if how["whole"]:
        going = index.expressions().select(EXPRESSION_ID).join(coming, EXPRESSION_ID, "left_anti")
    request = f"{run.writer}/{run.run}"
    try:
        put = removed = refused = 0
        before = index.version
        if not coming.isEmpty():
            version = index.replace(coming, how["on_error"], f"{request}/replace", steps)
            put = coming.count()
            refused = index.rejected().where(F.col("rejected_in") == version).count()
        if going is not None and not going.isEmpty():
            count = index.expressions().join(going, EXPRESSION_ID, "left_semi").count()
            index.remove(going, "ignore", f"{request}/remove", steps)
            removed = count
    except BanyanError as error:
        log.finish(run, "failed", before, began, note=str(error)[:2000])
        raise
    counts = {"rows_read": put + removed, "rows_written": put - refused + removed, "passed_over": refused}
    log.finish(run, "done", index.version, began, **counts)
    return Followed(run.run, index.version, put - refused, removed, refused)


def _net(source: DeltaTable, run: Run, names: tuple[str, str]) -> tuple[DataFrame, DataFrame | None]:
    """The rules that came or changed, as they are now, and the ids of those that are gone."""
    if run.after_version is None:
        return as_rules(source.at(run.to_version), *names, source.name), None
    changes = source.changes(run.after_version + 1, run.to_version)
    # An id that an update has given away is gone, like one that was deleted, unless the same commit has it again.
    gone = F.col(CHANGE).isin("delete", "update_preimage")
    order = Window.partitionBy(f"`{names[0]}`").orderBy(F.desc(COMMIT), gone)
    last = changes.withColumn(_GONE, gone).withColumn("banyan_last", F.rank().over(order)).where("banyan_last = 1")
    own = source.own_columns(changes)
    coming = last.where(~F.col(_GONE)).select(*[f"`{name}`" for name in own])
    going = last.where(_GONE).select(F.col(f"`{names[0]}`").alias(EXPRESSION_ID)).distinct()
    return as_rules(coming, *names, source.name), going
