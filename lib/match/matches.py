"""Step 5, matches: the sets of nodes that carry expressions, as counts, pairs or arrays.

Sets are counted or unfolded where they are made: at a million expressions those of one batch would be gigabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from pyroaring import BitMap
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.columns import EVENT_ID, EVENTS, EXPRESSION_ID, EXPRESSION_IDS
from banyan.match.levels import parents
from banyan.normal.ids import TRUE_ID

COUNTED = "node_id long, events long"
UNFOLDED = "node_id long, numbers array<int>"


def _counted(sets: Iterator[tuple[int, BitMap]]) -> pa.Table:
    ids, counts = [], []
    for node_id, events in sets:
        ids.append(node_id)
        counts.append(len(events))
    return pa.table({"node_id": pa.array(ids, pa.int64()), "events": pa.array(counts, pa.int64())})


def _unfolded(sets: Iterator[tuple[int, BitMap]]) -> pa.Table:
    ids, lengths, numbers = [], [0], array("I")
    for node_id, events in sets:
        ids.append(node_id)
        numbers.extend(events.to_array())
        lengths.append(len(numbers))
    flat = pa.array(np.frombuffer(numbers, np.uint32).view(np.int32)) if numbers else pa.array([], pa.int32())
    lists = pa.ListArray.from_arrays(pa.array(lengths, pa.int32()), flat)
    return pa.table({"node_id": pa.array(ids, pa.int64()), "numbers": lists})


def final_kernel(counting: bool) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """The last round: parents that send nothing on."""
    finish = _counted if counting else _unfolded

    def final(sets: pa.Table, edges: pa.Table) -> pa.Table:
        return finish(parents(sets, edges))

    return final


def carried(sets: DataFrame, carriers: DataFrame, counting: bool) -> DataFrame:
    """Sets of leaves and of nodes with parents that carry expressions themselves."""
    finish = _counted if counting else _unfolded

    def open_sets(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            pairs = zip(batch.column("node_id").to_pylist(), batch.column("events").to_pylist())
            yield from finish((node_id, BitMap.deserialize(events)) for node_id, events in pairs).to_batches()

    mine = sets.join(carriers, "node_id", "left_semi").select("node_id", "events")
    return mine.mapInArrow(open_sets, COUNTED if counting else UNFOLDED)


def of_everyone(expressions: DataFrame, total: int, counting: bool) -> DataFrame:
    """The expressions that are TRUE."""
    true = expressions.where(F.col("node_id") == TRUE_ID).select("node_id").distinct()
    if counting:
        return true.select("node_id", F.lit(total).cast("long").alias("events"))
    return true.select("node_id", F.expr(f"sequence(0, {total - 1})").alias("numbers"))


def pairs(unfolded: DataFrame, expressions: DataFrame, ids: DataFrame, keep: list[str]) -> DataFrame:
    """(event_id, expression_id, ...). ids: number, event_id."""
    return (
        unfolded.join(expressions, "node_id")
        .select(F.explode("numbers").alias("number"), EXPRESSION_ID, *keep)
        .join(F.broadcast(ids), "number")
        .select(EVENT_ID, EXPRESSION_ID, *keep)
    )


def arrays(unfolded: DataFrame, expressions: DataFrame, ids: DataFrame) -> DataFrame:
    """(event_id, expression_ids): one row per event, sorted; an empty array where nothing matched."""
    found = (
        unfolded.join(expressions.select("node_id", EXPRESSION_ID), "node_id")
        .select(F.explode("numbers").alias("number"), EXPRESSION_ID)
        .groupBy("number")
        .agg(F.sort_array(F.collect_list(EXPRESSION_ID)).alias(EXPRESSION_IDS))
    )
    none = F.array().cast(found.schema[EXPRESSION_IDS].dataType)
    return ids.join(found, "number", "left").select(EVENT_ID, F.coalesce(EXPRESSION_IDS, none).alias(EXPRESSION_IDS))


def counts(counted: DataFrame, expressions: DataFrame, keep: list[str], zeros: bool) -> DataFrame:
    """(expression_id, events, ...)."""
    summed = counted.groupBy("node_id").agg(F.sum("events").alias(EVENTS))
    joined = expressions.join(summed, "node_id", "left" if zeros else "inner")
    return joined.select(EXPRESSION_ID, F.coalesce(EVENTS, F.lit(0).cast("long")).alias(EVENTS), *keep)
