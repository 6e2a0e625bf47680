"""A call of `match`: checks what is asked, prepares the plan once, runs the batches, hands out the result."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from banyan.columns import EVENT_ID, EXPRESSION_ID
from banyan.connect import setting
from banyan.errors import ArgumentError
from banyan.match import events as numbers
from banyan.match import matches, missing, plan, small_plan, sql_engine
from banyan.match.run import in_time_zone, run_batch
from banyan.match.target import Target
from banyan.progress import Steps, bar
from banyan.store.materialise import Scratch

if TYPE_CHECKING:
    from banyan.index import Index

OUTPUTS = ("pairs", "counts", "arrays")
ENGINES = ("arrow", "sql")
# Events times edges that one batch may hold: sets of a batch then stay within a few gigabytes.
BATCH_WORK = 2**16 * 8_000_000
# Predicates and edges up to which the driver makes the plan: about a million rules of 16 predicates, for which it takes
# a gigabyte. Nothing travels between rounds then: of 100,000 rules 19,000 events/s where rounds by level take 12,000.
# Like the threshold of a broadcast join, and settable like it.
SMALL, SMALL_SETTING = 10_000_000, "spark.banyan.driverPlan"
LARGEST, SMALLEST = 2**18, 2**12


class Matcher:
    """Matches against one version; keeps its plans between calls."""

    def __init__(self, index: Index):
        self._index = index
        self._spark = index.spark
        self._plans: dict[tuple, plan.Plan] = {}
        self._missing: dict[str, int] = {}
        self._scratch: list[Scratch] = []

    def release(self) -> None:
        self._plans.clear()
        while self._scratch:
            self._scratch.pop().release()

    def plan(self, where: str | Column | None, keep: list[str]) -> plan.Plan:
        key = (where, tuple(keep)) if where is None or isinstance(where, str) else None
        if key not in self._plans or key is None:
            tables = {name: self._index.table(name) for name in ("expressions", "predicates", "edges")}
            plan.check_columns(tables["expressions"], keep)
            if where is not None:
                _check_where(tables["expressions"], where)
            made = self._made(tables, where, keep)
            if key is None:
                return made
            self._plans[key] = made
        return self._plans[key]

    def _made(self, tables: dict[str, DataFrame], where: str | Column | None, keep: list[str]) -> plan.Plan:
        scratch, buckets = self._new_scratch(), numbers.partitions(self._spark)
        if self._index.size > _driver_plan(self._spark):
            return plan.make(scratch, tables, where, keep, buckets)
        kept = tables["expressions"] if where is None else scratch.keep(tables["expressions"].where(where))
        return small_plan.make(scratch, self._index.rows, kept.select("node_id", EXPRESSION_ID, *keep), buckets)

    def match(
        self,
        events: DataFrame,
        id: str,
        attribute: str | None,
        value: str | None,
        output: str,
        engine: str,
        where: str | Column | None,
        keep: list[str],
        zeros: bool,
        into: str | Target | None,
        batch_size: int | None,
        steps: Steps,
        progress: bool | None,
    ) -> DataFrame:
        _check_arguments(output, engine, attribute, value, zeros, keep)
        if engine == "sql":
            return sql_engine.match(
                self, events, id, attribute, value, output, where, keep, zeros, into, batch_size, steps, progress
            )
        settings = self._index.settings
        scratch = self._new_scratch()
        try:
            with in_time_zone(self._spark, settings.time_zone):
                with steps.step("plan"):
                    ready = self.plan(where, keep)
                size = batch_size or max(SMALLEST, min(LARGEST, BATCH_WORK // max(1, ready.edge_count)))
                with steps.step("numbers"):
                    known, case = ready.attributes, settings.case_sensitive
                    if attribute is None:
                        copy = numbers.copy_wide(scratch, events, id, known, case, size)
                    else:
                        copy = numbers.copy_long(scratch, events, id, attribute, value, known, case, size)
                    self._warn_of_missing(scratch, ready, copy, missing.paths(events, id))
                    batches = numbers.batches(scratch, copy, size)
                call = Call(self._spark, scratch, ready, copy, output, keep, zeros)
                run = bar(enumerate(batches), len(batches), "batch", progress)
                target = Target(self._spark, into) if isinstance(into, str) else into
                if target is not None and output != "counts" and not target.in_one:
                    return call.written(run, target, steps)
                found = call.whole(run, steps)
                if target is None:
                    return found
                table = target.append(found, 0)
                # A stream does this for weeks.
                scratch.release()
                self._scratch.remove(scratch)
                return table
        except BaseException:
            # Whatever went wrong, Ctrl-C included: nothing of this match stays behind.
            scratch.release()
            raise

    def _warn_of_missing(self, scratch: Scratch, ready: plan.Plan, copy: numbers.Copy, names: list[str]) -> None:
        lacking = [name for name, number in ready.attributes.items() if number not in copy.found]
        # The same attributes are missing from batch after batch of a scheduled job: they are looked up once.
        new = [name for name in lacking if name not in self._missing]
        if new:
            tables = {name: self._index.table(name) for name in ("expressions", "predicates", "edges")}
            self._missing |= missing.rules_using(scratch, tables, new)
        if lacking:
            known = copy.names if copy.names is not None else names
            said = missing.lines({name: self._missing[name] for name in lacking}, known)
            warnings.warn("\n".join(said), missing.MissingAttributeWarning, stacklevel=4)

    def _new_scratch(self) -> Scratch:
        scratch = Scratch(self._spark)
        self._scratch.append(scratch)
        return scratch


class Call(NamedTuple):
    """One call of match, its events copied and its plan ready."""

    spark: SparkSession
    scratch: Scratch
    plan: plan.Plan
    copy: numbers.Copy
    output: str
    keep: list[str]
    zeros: bool

    def whole(self, run: Iterable[tuple[int, numbers.Batch]], steps: Steps) -> DataFrame:
        """The result of all batches, as one frame."""
        if self.output == "counts":
            counted = [self.spark.createDataFrame([], matches.COUNTED)]
            for _, batch in run:
                found = run_batch(self.scratch, self.plan, self.copy, batch, True, steps)
                with steps.step("final"):
                    counted.append(self.scratch.materialise(found, "counted"))
            return matches.counts(_union(counted), self.plan.expressions, self.keep, self.zeros)
        parts = [self._of_batch(run_batch(self.scratch, self.plan, self.copy, b, False, steps), b) for _, b in run]
        return _union(parts) if parts else self._nothing()

    def written(self, run: Iterable[tuple[int, numbers.Batch]], target: Target, steps: Steps) -> DataFrame:
        """The target, after every batch was appended to it; a batch's sets are freed when it is in."""
        table = target.append(self._nothing(), 0)
        for number, batch in run:
            own = Scratch(self.spark)
            try:
                found = run_batch(own, self.plan, self.copy, batch, False, steps)
                with steps.step("write"):
                    table = target.append(self._of_batch(found, batch), number + 1)
            finally:
                own.release()
        self.scratch.release()
        return table

    def _of_batch(self, found: DataFrame, batch: numbers.Batch) -> DataFrame:
        ids = numbers.numbered(self.scratch, self.copy, batch).select("number", F.col("event_id").alias(EVENT_ID))
        return self._named(found, ids)

    def _nothing(self) -> DataFrame:
        none = F.lit(None).cast(self.copy.id_type).alias(EVENT_ID)
        ids = self.spark.createDataFrame([], "number int").select("number", none)
        return self._named(self.spark.createDataFrame([], matches.UNFOLDED), ids)

    def _named(self, found: DataFrame, ids: DataFrame) -> DataFrame:
        if self.output == "pairs":
            return matches.pairs(found, self.plan.expressions, ids, self.keep)
        return matches.arrays(found, self.plan.expressions, ids)


def _driver_plan(spark: SparkSession) -> int:
    given = setting(spark, SMALL_SETTING) or str(SMALL)
    if not given.isdecimal():
        raise ArgumentError(f"{SMALL_SETTING} is a number of predicates and edges (0: never), not {given!r}")
    return int(given)


def _union(frames: list[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)


def _check_where(expressions: DataFrame, where: str | Column) -> None:
    try:
        _ = expressions.where(where).schema
    except AnalysisException as error:
        columns = ", ".join(expressions.columns)
        first = str(error).splitlines()[0]
        raise ArgumentError(f"where={where!r} does not fit the expressions, which have {columns}: {first}") from None


def _check_arguments(
    output: str, engine: str, attribute: str | None, value: str | None, zeros: bool, keep: list[str]
) -> None:
    if output not in OUTPUTS:
        raise ArgumentError(f"output is one of {', '.join(OUTPUTS)}; not {output!r}")
    if engine not in ENGINES:
        raise ArgumentError(f"engine is one of {', '.join(ENGINES)}; not {engine!r}")
    if (attribute is None) != (value is None):
        raise ArgumentError("long-form events need both: attribute= and value= name two columns")
    if zeros and output != "counts":
        raise ArgumentError("zeros=True goes with output='counts'")
    if keep and output == "arrays":
        raise ArgumentError("keep goes with output='pairs' or 'counts'")
