"""What a sample of events looks like: for each attribute the share of events that have it, and its commonest values.

Events are read as `match` reads them. Values are told in the form in which literals are written in the canonical form
of rules; those too long to be a literal that anybody compares with are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from banyan.build.rows import FREQUENCIES
from banyan.errors import EventsError
from banyan.match import events as numbers
from banyan.match.attributes import CODE, VARIANT, Form
from banyan.store.materialise import Scratch

# Of each attribute: enough to tell what is common, few enough to go to every worker.
VALUES = 200
LONGEST = 200
_FILE = 2**18
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def frequencies(
    scratch: Scratch,
    events: DataFrame,
    id: str,
    attribute: str | None,
    value: str | None,
    attributes: Mapping[str, int],
    case_sensitive: bool,
) -> pa.Table:
    """The rows of the table `frequencies` for these attributes (by number) of these events."""
    if attribute is None:
        copy = numbers.copy_wide(scratch, events, id, attributes, case_sensitive, _FILE)
    else:
        copy = numbers.copy_long(scratch, events, id, attribute, value, attributes, case_sensitive, _FILE)
    rows = scratch.spark.read.parquet(copy.path)
    total = rows.count()
    if not total:
        raise EventsError("there are no events to analyze")
    found = _counted(_long(rows, copy.forms)).toArrow()
    name_of = {number: name for name, number in attributes.items()}
    names = [name_of[number] for number in found["number"].to_pylist()]
    values = found["value"].to_pylist()
    shares = [count / total for count in found["count"].to_pylist()]
    # An attribute that no event has is known to be absent, which is more than not being known.
    never = sorted(set(attributes) - set(names))
    columns = (names + never, values + [None] * len(never), shares + [0.0] * len(never))
    types = (pa.string(), pa.string(), pa.float64())
    return pa.table({c: pa.array(column, kind) for c, column, kind in zip(FREQUENCIES, columns, types)})


def _long(rows: DataFrame, forms: Mapping[int, Form]) -> DataFrame:
    """(number, value): a row with NULL for each attribute that an event has, and one for each value of it."""
    if -1 in forms:
        single = rows.select(F.explode(F.arrays_zip("attributes", "values")).alias("one"))
        single = single.select(F.col("one.attributes").alias("number"), F.col("one.values").alias("normal"))
        return single.select("number", F.explode(_told(F.col("normal"), forms[-1])).alias("value"))
    if not forms:
        return rows.select(F.lit(0).alias("number"), F.lit("").alias("value")).limit(0)
    none = F.array().cast("array<struct<number:int,value:string>>")
    told = []
    for number, form in forms.items():
        pairs = F.transform(_told(F.col(f"c{number}"), form), partial(_pair, number))
        told.append(F.when(F.col(f"c{number}").isNotNull(), pairs).otherwise(none))
    return rows.select(F.explode(F.concat(*told)).alias("pair")).select("pair.number", "pair.value")


def _pair(number: int, text: Column) -> Column:
    return F.struct(F.lit(number).alias("number"), text.alias("value"))


def _told(column: Column, form: Form) -> Column:
    """An array: NULL, for the attribute as a whole, and the texts of its values."""
    if form.kind == "list":
        texts = F.transform(column, lambda element: _text(element, form.element))
    else:
        texts = F.array(_text(column, form.kind))
    texts = F.array_distinct(F.filter(texts, lambda text: F.length(text) <= LONGEST))
    return F.concat(F.array(F.lit(None).cast("string")), texts)


def _text(column: Column, kind: str) -> Column:
    """The text of a value in the form in which it goes on; NULL if it is nothing to compare with."""
    if kind == VARIANT:
        whole = _text(column["l"], "integer")
        for name in ("boolean", "date", "timestamp", "other"):
            whole = F.when(column["kind"] == CODE[name], _text(column["l"], name)).otherwise(whole)
        return F.coalesce(column["t"], column["d"].cast("string"), whole)
    if kind == "boolean":
        return F.when(column == 1, "true").otherwise("false")
    if kind == "date":
        return F.date_from_unix_date(column.cast("int")).cast("string")
    if kind in ("timestamp", "timestamp_ntz"):
        # An instant in UTC, whatever the session's time zone.
        text = F.timestamp_add("MICROSECOND", column, F.expr(_EPOCH)).cast("string")
        fraction = F.rpad(F.substring(text, 21, 6), 6, "0")
        return F.concat(F.translate(F.substring(text, 1, 19), " ", "T"), F.lit("."), fraction, F.lit("Z"))
    if kind in ("other", "list"):
        return F.lit(None).cast("string")
    return column.cast("string")


def _counted(told: DataFrame) -> DataFrame:
    """(number, value, count): each attribute as a whole, and its commonest values."""
    # Of values that are equally common, as all are of a measured number, any will do, but not the least of them.
    order = Window.partitionBy("number").orderBy(F.col("value").isNotNull(), F.desc("count"), F.xxhash64("value"))
    counted = told.groupBy("number", "value").count()
    return counted.withColumn("place", F.row_number().over(order)).where(f"place <= {VALUES + 1}").drop("place")
