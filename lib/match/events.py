"""Step 0, numbers: the events are copied once, cut into batches, and numbered 0..n-1 within each batch.

Everything after this reads only the copy: numbers that Spark makes on the fly differ from one evaluation to the next,
and an id read at another evaluation than its number would give silent wrong matches. An event's number is its place in
the copy: the file's offset in the batch plus the row's index in the file, both of which never change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.errors import EventsError
from banyan.language.attributes import attribute_parts
from banyan.match.attributes import Form, Found, normalised, resolve
from banyan.store.materialise import Scratch

SHOWN = 5
# Names of long-form attributes that are looked through for one near a missing one.
NAMES = 10_000


class Copy(NamedTuple):
    """The copy of the events. `forms`: for wide events how column `c<i>` holds attribute number i; for long-form events
    the form of all values is under -1, and the columns are `attributes` and `values`. `found`: the numbers of the
    attributes that the events have; `names`: for long-form events, what their attributes are called."""

    path: str
    id_type: T.DataType
    forms: dict[int, Form]
    found: set[int]
    names: list[str] | None = None


class Batch(NamedTuple):
    """Some files of the copy; `offsets`: the number of the first row of each."""

    files: tuple[str, ...]
    offsets: dict[str, int]
    size: int


def copy_wide(
    scratch: Scratch, events: DataFrame, id: str, attributes: Mapping[str, int], case_sensitive: bool, batch_size: int
) -> Copy:
    """Copy the id and the attributes that rules use."""
    event_id = _id_column(events, id)
    columns, forms = [event_id], {}
    schema = events.schema  # over Connect each asking is a copy
    for attribute, number in attributes.items():
        found = resolve(schema, attribute_parts(attribute), case_sensitive)
        if found is not None:
            forms[number], column = normalised(found)
            columns.append(column.alias(f"c{number}"))
    path = _write(scratch, events.select(*columns), batch_size)
    copy = Copy(path, events.schema[id].dataType, forms, set(forms))
    _check_ids(scratch, copy, id, unique=False)
    return copy


def copy_long(
    scratch: Scratch,
    events: DataFrame,
    id: str,
    attribute: str,
    value: str,
    attributes: Mapping[str, int],
    case_sensitive: bool,
    batch_size: int,
) -> Copy:
    """Copy long-form events, one row per (event, attribute, value), as one row per event."""
    event_id = _id_column(events, id)
    for name in (attribute, value):
        if name not in events.columns:
            raise EventsError(f"the events have no column {name!r}; they have {', '.join(events.columns)}")
    if not isinstance(events.schema[attribute].dataType, T.StringType):
        raise EventsError(f"column {attribute!r} must be text: the names of attributes")
    form, normal = normalised(Found(F.col(f"`{value}`"), events.schema[value].dataType))
    name = F.col(f"`{attribute}`")
    if not case_sensitive:
        # The first part of a path is folded, as in the rules.
        name = F.concat(
            F.lower(F.substring_index(name, ".", 1)), F.expr(f"substr(`{attribute}`, instr(`{attribute}`, '.'))")
        )
        name = F.when(F.instr(F.col(f"`{attribute}`"), ".") > 0, name).otherwise(F.lower(F.col(f"`{attribute}`")))
    spark = scratch.spark
    known = spark.createDataFrame(
        [(".".join(attribute_parts(text)), number) for text, number in attributes.items()], "name string, number int"
    )
    rows = (
        events.select(event_id, name.alias("name"), normal.alias("value"))
        .join(F.broadcast(known), "name", "left")
        # A complex id has no dictionary in Arrow: it is told apart by its text.
        .select("event_id", _key(events.schema[id].dataType).alias("key"), "number", "value")
    )
    schema = T.StructType(
        [
            T.StructField("event_id", events.schema[id].dataType),
            T.StructField("attributes", T.ArrayType(T.IntegerType())),
            T.StructField("values", T.ArrayType(rows.schema["value"].dataType)),
            T.StructField("repeated", T.IntegerType()),
        ]
    )
    grouped = rows.repartition("key").mapInArrow(_together, schema)
    path = _write(scratch, grouped, batch_size)
    numbers = {number: text for text, number in attributes.items()}
    there = spark.read.parquet(path).select(F.explode("attributes").alias("number")).distinct().collect()
    found = {row["number"] for row in there}
    names = None
    if len(found) < len(attributes):
        names = [row[0] for row in events.select(attribute).distinct().limit(NAMES).collect() if row[0] is not None]
    copy = Copy(path, events.schema[id].dataType, {-1: form}, found, names)
    _check_ids(scratch, copy, id, unique=True)
    twice = spark.read.parquet(path).where("repeated IS NOT NULL").select("event_id", "repeated").limit(SHOWN).collect()
    if twice:
        shown = ", ".join(f"{row['event_id']} ({numbers[row['repeated']]})" for row in twice)
        raise EventsError(f"events with two values for one attribute: {shown}; keep one row each, or use a list")
    return copy


def batches(scratch: Scratch, copy: Copy, size: int) -> list[Batch]:
    """Whole files of the copy, put together up to `size` events."""
    files = (
        scratch.spark.read.parquet(copy.path)
        .select(F.col("_metadata.file_path").alias("file"))
        .groupBy("file")
        .count()
        .orderBy("file")
        .collect()
    )
    found: list[Batch] = []
    offsets: dict[str, int] = {}
    total = 0
    for row in files:
        if offsets and total + row["count"] > size:
            found.append(Batch(tuple(offsets), offsets, total))
            offsets, total = {}, 0
        offsets[row["file"]] = total
        total += row["count"]
    if offsets:
        found.append(Batch(tuple(offsets), offsets, total))
    return found


def numbered(scratch: Scratch, copy: Copy, batch: Batch) -> DataFrame:
    """The rows of a batch with `number`."""
    offsets = F.create_map(*[F.lit(x) for file, offset in batch.offsets.items() for x in (file, offset)])
    rows = scratch.spark.read.parquet(*batch.files)
    number = F.element_at(offsets, F.col("_metadata.file_path")) + F.col("_metadata.row_index")
    return rows.select("*", number.cast("int").alias("number"))


def _write(scratch: Scratch, rows: DataFrame, batch_size: int) -> str:
    path = scratch.path("events")
    rows.write.option("compression", "lz4_raw").option("maxRecordsPerFile", batch_size).parquet(path)
    return path


def _id_column(events: DataFrame, id: str):
    if id not in events.columns:
        raise EventsError(
            f"the events have no column {id!r}; they have {', '.join(events.columns)}. Name yours: id='...'"
        )
    kind = events.schema[id].dataType
    if isinstance(kind, (T.MapType, T.VariantType)):
        raise EventsError(f"column {id!r} is {kind.simpleString()}, which cannot tell events apart; cast it to text")
    return F.col("`" + id.replace("`", "``") + "`").alias("event_id")


def _check_ids(scratch: Scratch, copy: Copy, id: str, unique: bool) -> None:
    rows = scratch.spark.read.parquet(copy.path).groupBy("event_id").count()
    bad = rows.where("event_id IS NULL" if unique else "event_id IS NULL OR count > 1")
    shown = bad.orderBy(F.col("event_id").isNotNull(), F.desc("count"), "event_id").limit(SHOWN + 1).collect()
    if shown and shown[0]["event_id"] is None:
        count = shown[0]["count"]
        has = "events have" if count > 1 else "event has"
        raise EventsError(f"{count} {has} NULL in the id column {id!r}; give each an id")
    if shown:
        names = ", ".join(f"{row['event_id']} ({row['count']} times)" for row in shown[:SHOWN])
        raise EventsError(f"ids in column {id!r} that stand for more than one event: {names}; make them unique")


def _key(kind: T.DataType):
    if isinstance(kind, (T.StructType, T.ArrayType)):
        return F.to_json(F.struct("event_id"))
    return F.col("event_id")


def _together(arriving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per event from all rows of a partition (rows of one event are in one partition)."""
    rows = list(arriving)
    if not rows:
        return
    table = pa.Table.from_batches(rows).combine_chunks()
    codes = table["key"].combine_chunks().dictionary_encode(null_encoding="encode")
    code = codes.indices.to_numpy(zero_copy_only=False)
    first = np.full(len(codes.dictionary), -1, np.int64)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    usable = pc.and_(table["number"].is_valid(), table["value"].is_valid()).to_numpy(zero_copy_only=False)
    code, table, ids = code[usable], table.filter(pa.array(usable)), table["event_id"].take(pa.array(first))
    number = table["number"].to_numpy(zero_copy_only=False)
    order = np.lexsort((number, code))
    code, number = code[order], number[order]
    same = (code[1:] == code[:-1]) & (number[1:] == number[:-1])
    repeated = np.full(len(first), -1, np.int32)
    repeated[code[1:][same]] = number[1:][same]
    offsets = pa.array(np.searchsorted(code, np.arange(len(first) + 1)), pa.int32())
    values = table["value"].combine_chunks().take(pa.array(order))
    yield pa.RecordBatch.from_arrays(
        [
            ids.combine_chunks(),
            pa.ListArray.from_arrays(offsets, pa.array(number, pa.int32())),
            pa.ListArray.from_arrays(offsets, values),
            pa.array(repeated, pa.int32(), mask=repeated < 0),
        ],
        ["event_id", "attributes", "values", "repeated"],
    )
