"""The match: for each batch of events the steps of the A-Tree's matching, on sets of events.

0 numbers -> 1 values -> 2 leaves and 3 levels, round by round from below -> 4 tail -> 5 matches. What flows between
rounds is (node, event set), packed; only non-empty sets flow. Sets of leaves do not flow: the values are a hundredth of
their size, so each bucket of parents gets the values and tests its leaves itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from banyan.errors import ArgumentError
from banyan.match import events as numbers
from banyan.match import matches
from banyan.match.levels import level_kernel
from banyan.match.plan import Plan
from banyan.match.values import GATHERED, as_types, gatherer
from banyan.packed import PACKED, frugal, pack
from banyan.progress import Steps
from banyan.store.materialise import Scratch

_TIME_ZONE = "spark.sql.session.timeZone"


def run_batch(
    scratch: Scratch, plan: Plan, copy: numbers.Copy, batch: numbers.Batch, counting: bool, steps: Steps
) -> DataFrame:
    """(node_id, events) or (node_id, numbers) of the nodes that carry expressions; the last round not yet run."""
    with steps.step("values"):
        values = scratch.materialise(_values(scratch, plan, copy, batch), "values")
    sets: list[DataFrame] = []
    for round, name in enumerate(plan.rounds):
        with steps.step(name):
            arriving = _arriving(plan, round, values, sets)
            made = arriving.mapInArrow(frugal(level_kernel(batch.size)), PACKED)
            sets.append(scratch.materialise(made, name.replace(" ", "_")))
    schema = matches.COUNTED if counting else matches.UNFOLDED
    arriving = _arriving(plan, len(plan.rounds), values, sets)
    results = [arriving.mapInArrow(frugal(matches.final_kernel(batch.size, counting)), schema)]
    if batch.size:
        results.append(matches.of_everyone(plan.expressions, batch.size, counting))
    return _union(results)


def _values(scratch: Scratch, plan: Plan, copy: numbers.Copy, batch: numbers.Batch) -> DataFrame:
    """Step 1: the values of a batch with their events, cast by Spark to whatever they can be compared as."""
    rows = numbers.numbered(scratch, copy, batch).drop("event_id", "repeated")
    values = as_types(rows.mapInArrow(gatherer(copy.forms), GATHERED), plan.types, plan.patterns is not None)
    if plan.patterns is not None:
        values = _with_hits(values, plan.patterns)
    return values.mapInArrow(_packed_values, PACKED)


def _packed_values(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    arrived = list(batches)
    if arrived:
        yield from pack(0, 0, "values", pa.Table.from_batches(arrived))


def _with_hits(values: DataFrame, patterns: DataFrame) -> DataFrame:
    """hits: the patterns that match the value, each distinct value tested once by Spark itself."""
    # Empty rather than NULL: Spark's Arrow writer takes quadratic time over lists that are NULL row after row.
    tested = F.expr(
        "coalesce(transform(filter(patterns, p -> CASE p.operator WHEN 'like' THEN text LIKE p.text "
        "WHEN 'ilike' THEN text ILIKE p.text ELSE text RLIKE p.text END), p -> p.pattern), array())"
    )
    return values.join(F.broadcast(patterns), "attribute", "left").withColumn("hits", tested).drop("patterns", "text")


def _arriving(plan: Plan, round: int, values: DataFrame, sets: list[DataFrame]) -> DataFrame:
    """All that the buckets of a round need, each in a partition of its own: plan, values, sets from below."""
    rows = [plan.buckets.where(F.col("round") == round)]
    if round in plan.with_leaves:
        everywhere = F.explode(F.array(*[F.lit(key).cast("int") for key in plan.keys]))
        rows.append(values.select(F.lit(round).alias("round"), everywhere.alias("to"), "part", "data"))
    rows += [below.where(F.col("round") == round) for below in sets]
    return _union(rows).repartition(len(plan.keys), "to")


def _union(frames: list[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)


@contextlib.contextmanager
def in_time_zone(spark: SparkSession, time_zone: str) -> Iterator[None]:
    """The session in the time zone of the index, in which texts and dates are cast to timestamps."""
    before = spark.conf.get(_TIME_ZONE)
    if before != time_zone:
        try:
            spark.conf.set(_TIME_ZONE, time_zone)
        except Exception as error:  # serverless fixes some settings
            raise ArgumentError(
                f"the index reads timestamps in {time_zone}, and this Spark keeps its own time zone, {before}; "
                f"build the index with time_zone={before!r}, or match where the time zone can be set"
            ) from error
    try:
        yield
    finally:
        if before != time_zone:
            spark.conf.set(_TIME_ZONE, before)
