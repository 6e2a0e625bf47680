"""Step 5, matches: the sets of nodes that carry expressions, as counts, pairs or arrays.

Sets are counted or unfolded where they are made: at a million expressions those of one batch would be gigabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain

import numpy as np
import pyarrow as pa
from pyroaring import BitMap
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.columns import EVENT_ID, EVENTS, EXPRESSION_ID, EXPRESSION_IDS
from banyan.match.buckets import Bucket, read
from banyan.match.levels import Sets, intersection, intersection_size, union, union_size
from banyan.normal.ids import TRUE_ID
from banyan.packed import Kernel, unpack

COUNTED = "node_id long, events long"
UNFOLDED = "node_id long, numbers array<int>"


# Events whose sets a worker has at a time: as many as one container of a set. Of 262,144 events at 100,000 rules the
# sets then take 0.4 GB instead of 1.4, and the time of all at once: 3.2 s instead of 3.0.
SLICE = 1 << 16
# Numbers that one batch of rows unfolds to at the most, or nearly.
CHUNK = 1 << 22


def final_kernel(total: int, counting: bool) -> Kernel:
    """The function a worker runs over its buckets of the last round: parents that nobody asks for their sets, and
    children that carry expressions themselves."""
    finish = _counted if counting else _unfolded

    def final(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for tables in unpack(batches).values():
            bucket = read(tables)
            for start, count, these in _slices(tables, total):
                yield from finish(bucket, Sets(bucket, these, count), start)

    return final


def _slices(tables: dict[str, list[pa.Table]], total: int) -> Iterator[tuple[int, int, dict[str, list[pa.Table]]]]:
    """(number of the first event, how many, the tables with only these, numbered from 0): up to `SLICE` events at a
    time, where all their values are here and no sets come from elsewhere."""
    if total <= SLICE or tables.get("sets"):
        yield 0, total, tables
        return
    for start in range(0, total, SLICE):
        count = min(SLICE, total - start)
        yield start, count, tables | {"values": [only(start, count, piece) for piece in tables.get("values", ())]}


def only(start: int, count: int, values: pa.Table) -> pa.Table:
    """The values that these events have, with these events, numbered from 0."""
    lists = values["events"].combine_chunks()
    flat = lists.flatten().to_numpy() - start
    here = (flat >= 0) & (flat < count)
    ends = np.cumsum(lists.value_lengths().to_numpy())
    offsets = np.concatenate(([0], np.concatenate(([0], np.cumsum(here)))[ends]))
    events = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(flat[here], pa.int32()))
    values = values.set_column(values.column_names.index("events"), "events", events)
    return values.filter(pa.array(np.diff(offsets) > 0))


def _carried(bucket: Bucket, sets: Sets) -> Iterator[tuple[int, BitMap]]:
    """(node_id, events) of the other nodes that carry expressions and that some event satisfies."""
    ids = np.concatenate((bucket.leaves["node_id"].to_numpy(), bucket.inner, bucket.parents))
    for slot, node_id in zip(bucket.carried.tolist(), ids[bucket.carried].tolist()):
        events = sets[slot]
        if events is not None:
            yield node_id, events


def _counted(bucket: Bucket, sets: Sets, _: int) -> Iterator[pa.RecordBatch]:
    parents, counts = array("q"), array("q")
    for parent, count in sets.results(union_size, intersection_size):
        parents.append(parent)
        counts.append(count)
    ids = array("q", bucket.parents[np.frombuffer(parents, np.int64)].tobytes() if parents else b"")
    for node_id, events in _carried(bucket, sets):
        ids.append(node_id)
        counts.append(len(events))
    columns = [pa.array(np.frombuffer(x, np.int64) if x else [], pa.int64()) for x in (ids, counts)]
    yield pa.RecordBatch.from_arrays(columns, ["node_id", "events"])


def _unfolded(bucket: Bucket, sets: Sets, first: int) -> Iterator[pa.RecordBatch]:
    ids, lengths, numbers = [], [0], array("I")
    known = bucket.parents.tolist()
    found = ((known[parent], events) for parent, events in sets.results(union, intersection))
    for node_id, events in chain(found, _carried(bucket, sets)):
        ids.append(node_id)
        numbers.extend(events.to_array())
        lengths.append(len(numbers))
        if len(numbers) > CHUNK:
            yield _lists(ids, lengths, numbers, first)
            ids, lengths, numbers = [], [0], array("I")
    yield _lists(ids, lengths, numbers, first)


def _lists(ids: list[int], lengths: list[int], numbers: array, first: int) -> pa.RecordBatch:
    flat = pa.array(np.frombuffer(numbers, np.uint32).view(np.int32) + np.int32(first) if numbers else [], pa.int32())
    lists = pa.ListArray.from_arrays(pa.array(lengths, pa.int32()), flat)
    return pa.RecordBatch.from_arrays([pa.array(ids, pa.int64()), lists], ["node_id", "numbers"])


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
