"""Step 0, numbers: the events are copied once, cut into batches, and numbered 0..n-1 within each batch.

Everything after this reads only the copy: numbers that Spark makes on the fly differ from one evaluation to the next,
and an id read at another evaluation than its number would give silent wrong matches. An event's number is its place in
the copy: the file's offset in the batch plus the row's index in the file, both of which never change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.errors import EventsError
from banyan.language.attributes import attribute_parts
from banyan.match.attributes import Form, Found, normalised, quoted, resolve
from banyan.match.long_form import SURVEYED, grouper, survey, together
from banyan.store.materialise import Scratch

SHOWN = 5
# Names of long-form attributes that are looked through for one near a missing one.
NAMES = 10_000


class Copy(NamedTuple):
    """The copy of the events. `forms`: for wide events how column `c<i>` holds attribute number i; for long-form events
    the form of all values is under -1, and the columns are `attributes` and `values`. `found`: the numbers of the
    attributes that the events have; `names`: for long-form events, what their attributes are called; `files`: how many
    events each file of the copy has, where they were counted."""

    path: str
    id_type: T.DataType
    forms: dict[int, Form]
    found: set[int]
    names: list[str] | None = None
    files: dict[str, int] | None = None


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
    form, normal = normalised(Found(F.col(quoted(value)), events.schema[value].dataType))
    spark, id_type = scratch.spark, events.schema[id].dataType
    # A complex id has no dictionary in Arrow: it is told apart by its text.
    by_text = [F.to_json(F.struct("event_id")).alias("key")] if isinstance(id_type, (T.StructType, T.ArrayType)) else []
    rows = events.select(event_id, F.col(quoted(attribute)).alias("name"), normal.alias("value"))
    rows = rows.select("*", *by_text)
    of_event = [
        T.StructField("event_id", id_type),
        *([T.StructField("key", T.StringType())] if by_text else []),
        T.StructField("attributes", T.ArrayType(T.IntegerType())),
        T.StructField("values", T.ArrayType(rows.schema["value"].dataType)),
    ]
    known = {".".join(attribute_parts(text)): number for text, number in attributes.items()}
    # Rows of one event mostly stand together: put together where they are, a twentieth of the rows is shuffled.
    grouped = (
        rows.mapInArrow(grouper(known, case_sensitive), T.StructType(of_event))
        .repartition(partitions(spark), "key" if by_text else "event_id")
        .mapInArrow(together, T.StructType([*of_event, T.StructField("repeated", T.IntegerType())]))
        .drop("key")  # if there is one
    )
    path = _write(scratch, grouped, batch_size)
    surveyed = _survey(scratch, path)
    found = {number for row in surveyed for number in row["attributes"]}
    names = None
    if len(found) < len(attributes):
        names = [row[0] for row in events.select(attribute).distinct().limit(NAMES).collect() if row[0] is not None]
    files: dict[str, int] = {}
    for row in surveyed:
        files[row["file"]] = files.get(row["file"], 0) + row["events"]
    copy = Copy(path, id_type, {-1: form}, found, names, files)
    if any(row["without_id"] for row in surveyed):
        _check_ids(scratch, copy, id, unique=True)
    if any(row["repeating"] for row in surveyed):
        _refuse_repeated(scratch, copy, attributes)
    return copy


def _survey(scratch: Scratch, path: str) -> list[Row]:
    """All that has to be known of a copy of long-form events, in one reading."""
    rows = scratch.spark.read.parquet(path).select(
        F.col("_metadata.file_path").alias("file"),
        F.col("event_id").isNull().alias("without_id"),
        F.col("repeated").isNotNull().alias("repeating"),
        "attributes",
    )
    return rows.mapInArrow(survey, SURVEYED).collect()


def _refuse_repeated(scratch: Scratch, copy: Copy, attributes: Mapping[str, int]) -> None:
    numbers = {number: text for text, number in attributes.items()}
    rows = scratch.spark.read.parquet(copy.path).where("repeated IS NOT NULL").select("event_id", "repeated")
    shown = ", ".join(f"{row['event_id']} ({numbers[row['repeated']]})" for row in rows.limit(SHOWN).collect())
    if shown:
        raise EventsError(f"events with two values for one attribute: {shown}; keep one row each, or use a list")


def batches(scratch: Scratch, copy: Copy, size: int) -> list[Batch]:
    """Whole files of the copy, put together up to `size` events."""
    files = copy.files
    if files is None:
        copied = scratch.spark.read.parquet(copy.path).select(F.col("_metadata.file_path").alias("file"))
        files = dict(tuple(row) for row in copied.groupBy("file").count().collect())
    found: list[Batch] = []
    offsets: dict[str, int] = {}
    total = 0
    for file, count in sorted(files.items()):
        if offsets and total + count > size:
            found.append(Batch(tuple(offsets), offsets, total))
            offsets, total = {}, 0
        offsets[file] = total
        total += count
    if offsets:
        found.append(Batch(tuple(offsets), offsets, total))
    return found


def numbered(scratch: Scratch, copy: Copy, batch: Batch) -> DataFrame:
    """The rows of a batch with `number`."""
    offsets = F.create_map(*[F.lit(x) for file, offset in batch.offsets.items() for x in (file, offset)])
    rows = scratch.spark.read.parquet(*batch.files)
    number = F.element_at(offsets, F.col("_metadata.file_path")) + F.col("_metadata.row_index")
    return rows.select("*", number.cast("int").alias("number"))


def partitions(spark: SparkSession) -> int:
    """Tasks that share a step: as many as Spark's own shuffles."""
    return max(2, int(spark.conf.get("spark.sql.shuffle.partitions", "2")))


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
    rows = scratch.spark.read.parquet(copy.path).select("event_id")
    rows = (rows.where("event_id IS NULL") if unique else rows).groupBy("event_id").count()
    bad = rows.where("event_id IS NULL" if unique else "event_id IS NULL OR count > 1")
    shown = bad.orderBy(F.col("event_id").isNotNull(), F.desc("count"), "event_id").limit(SHOWN + 1).collect()
    if shown and shown[0]["event_id"] is None:
        count = shown[0]["count"]
        has = "events have" if count > 1 else "event has"
        raise EventsError(f"{count} {has} NULL in the id column {id!r}; give each an id")
    if shown:
        names = ", ".join(f"{row['event_id']} ({row['count']} times)" for row in shown[:SHOWN])
        raise EventsError(f"ids in column {id!r} that stand for more than one event: {names}; make them unique")
