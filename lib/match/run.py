"""The match: for each batch of events the steps of the A-Tree's matching, on sets of events.

0 numbers -> 1 values -> 2 leaves -> 3 levels, from below -> 4 tail -> 5 matches. What flows is (node, event set); only
non-empty sets flow.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from banyan.errors import ArgumentError
from banyan.match import events as numbers
from banyan.match import matches
from banyan.match.leaves import SETS, leaf_kernel
from banyan.match.levels import combine, live_routes, set_kernel
from banyan.match.plan import Level, Plan
from banyan.match.values import GATHERED, as_types, gatherer
from banyan.progress import Steps
from banyan.store.materialise import Scratch

# Route tables up to this many rows are broadcast; beyond, sets are joined with them by a shuffle.
BROADCAST_ROWS = 20_000_000
# Below this share of non-empty leaves the access children are asked before sets are sent.
SELECTIVE = 0.5
_TIME_ZONE = "spark.sql.session.timeZone"


def run_batch(
    scratch: Scratch, plan: Plan, copy: numbers.Copy, batch: numbers.Batch, counting: bool, steps: Steps
) -> DataFrame:
    """(node_id, events) or (node_id, numbers) of the nodes that carry expressions; the last round not yet run."""
    with steps.step("leaves"):
        leaves = scratch.materialise(_leaves(scratch, plan, copy, batch), "leaves")
        nonempty = leaves.count()
    made = [leaves]
    for level in plan.levels:
        with steps.step(level.name):
            arriving = _arriving(level, made, nonempty < SELECTIVE * plan.predicate_count)
            made.append(scratch.materialise(combine(arriving, level, set_kernel, SETS), level.name.replace(" ", "_")))
    results = []
    if plan.final is not None:
        arriving = _arriving(plan.final, made, nonempty < SELECTIVE * plan.predicate_count)
        schema = matches.COUNTED if counting else matches.UNFOLDED
        results.append(combine(arriving, plan.final, matches.final_kernel(counting), schema))
    results.append(matches.carried(_union(made), plan.carriers, counting))
    if batch.size:
        results.append(matches.of_everyone(plan.expressions, batch.size, counting))
    return _union(results)


def _leaves(scratch: Scratch, plan: Plan, copy: numbers.Copy, batch: numbers.Batch) -> DataFrame:
    """Steps 1 and 2."""
    rows = numbers.numbered(scratch, copy, batch).drop("event_id", "repeated")
    values = as_types(rows.mapInArrow(gatherer(copy.forms), GATHERED), plan.types, plan.patterns is not None)
    if plan.patterns is not None:
        values = _with_hits(values, plan.patterns)
    buckets = len(plan.buckets)
    slot = F.element_at(F.array(*[F.lit(b).cast("int") for b in plan.buckets]), F.col("attribute") % buckets + 1)
    values = values.withColumn("bucket", slot).repartition(buckets, "bucket")
    return values.groupBy("bucket").cogroup(plan.predicates.groupBy("to")).applyInArrow(leaf_kernel(batch.size), SETS)


def _with_hits(values: DataFrame, patterns: DataFrame) -> DataFrame:
    """hits: the patterns that match the value, each distinct value tested once by Spark itself."""
    tested = F.expr(
        "transform(filter(patterns, p -> CASE p.operator WHEN 'like' THEN text LIKE p.text "
        "WHEN 'ilike' THEN text ILIKE p.text ELSE text RLIKE p.text END), p -> p.pattern)"
    )
    return values.join(F.broadcast(patterns), "attribute", "left").withColumn("hits", tested).drop("patterns", "text")


def _arriving(level: Level, made: list[DataFrame], selective: bool) -> DataFrame:
    """(bucket, node_id, events): the sets that parents of a level ask for, sent to the buckets of those parents."""
    sets = _union(made)
    routes = live_routes(level, sets.select("node_id")) if selective else level.routes
    if level.count <= BROADCAST_ROWS:
        routes = F.broadcast(routes)
    return sets.join(routes, "node_id").select(F.col("to").alias("bucket"), "node_id", "events")


def _union(frames: list[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)


@contextlib.contextmanager
def settings_of(spark: SparkSession, time_zone: str) -> Iterator[None]:
    """The session as a match needs it: the index's time zone for casts, and no plan changes between rounds."""
    before: dict[str, str] = {}
    try:
        for key, value in {_TIME_ZONE: time_zone, "spark.sql.adaptive.enabled": "false"}.items():
            old = spark.conf.get(key)
            try:
                spark.conf.set(key, value)
            except Exception as error:
                # Serverless fixes some settings. Without the second the loop is right, only slower.
                if key == _TIME_ZONE and old != value:
                    raise ArgumentError(
                        f"the index reads timestamps in {time_zone}, and this Spark keeps its own time zone, {old}; "
                        f"build the index with time_zone={old!r}, or match where the time zone can be set"
                    ) from error
                continue
            before[key] = old
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)
