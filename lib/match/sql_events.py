"""Step 0 for the SQL engine: the events copied once, each with its values as an array; numbered as for the other one.

Only SQL touches the rows, also where long-form events are put together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.errors import EventsError
from banyan.language.attributes import attribute_parts
from banyan.match import events as numbers
from banyan.match import sql_files, sql_values
from banyan.store.materialise import Scratch


def copy_wide(
    scratch: Scratch,
    events: DataFrame,
    id: str,
    attributes: Mapping[str, int],
    like: Collection[int],
    case_sensitive: bool,
    batch_size: int,
) -> numbers.Copy:
    """One row per event in, one out: event_id, values."""
    event_id = numbers._id_column(events, id)
    found = sql_values.sources(events.schema, attributes, case_sensitive)
    rows = events.alias("e").select(event_id, F.expr(sql_values.values_sql(found, like)).alias("values"))
    copy = numbers.Copy(numbers._write(scratch, rows, batch_size), events.schema[id].dataType, {}, set(found))
    numbers._check_ids(scratch, copy, id, unique=False)
    return copy


def copy_long(
    scratch: Scratch,
    events: DataFrame,
    id: str,
    attribute: str,
    value: str,
    attributes: Mapping[str, int],
    like: Collection[int],
    case_sensitive: bool,
    batch_size: int,
) -> numbers.Copy:
    """One row per event and attribute in, one per event out."""
    numbers._id_column(events, id)
    check_long(events, attribute, value)
    spark, kind = scratch.spark, events.schema[id].dataType
    known = spark.createDataFrame(known_names(attributes), "name string, number int")
    rows = sql_files.run(
        spark,
        "gathered",
        {"events": events, "known": known},
        **long_texts(events.schema, id, attribute, value, bool(like), case_sensitive),
    )
    copy = numbers.Copy(numbers._write(scratch, rows.drop("key"), batch_size), kind, {}, set())
    numbers._check_ids(scratch, copy, id, unique=True)
    numbers._refuse_repeated(scratch, copy, attributes)
    copied = spark.read.parquet(copy.path)
    there = copied.select(F.explode("values.attribute").alias("number")).distinct().collect()
    found = {row["number"] for row in there}
    names = None
    if len(found) < len(attributes):
        some = events.select(attribute).distinct().limit(numbers.NAMES).collect()
        names = [row[0] for row in some if row[0] is not None]
    return copy._replace(found=found, names=names)


def check_long(events: DataFrame, attribute: str, value: str) -> None:
    for name in (attribute, value):
        if name not in events.columns:
            raise EventsError(f"the events have no column {name!r}; they have {', '.join(events.columns)}")
    if not isinstance(events.schema[attribute].dataType, T.StringType):
        raise EventsError(f"column {attribute!r} must be text: the names of attributes")


def known_names(attributes: Mapping[str, int]) -> list[tuple[str, int]]:
    """The attributes as long-form events name them."""
    return [(".".join(attribute_parts(text)), number) for text, number in attributes.items()]


def long_texts(
    schema: T.StructType, id: str, attribute: str, value: str, like: bool, case_sensitive: bool
) -> dict[str, str]:
    """What `gathered` has to know of the columns of long-form events."""
    event_id, name = f"e.{sql_values.name_sql(id)}", f"e.{sql_values.name_sql(attribute)}"
    if not case_sensitive:
        # The first part of a path is folded, as in the rules.
        first = f"substring_index({name}, '.', 1)"
        name = f"concat(lower({first}), substr({name}, length({first}) + 1))"
    source = sql_values.Source(f"e.{sql_values.name_sql(value)}", schema[value].dataType)
    return {
        "id": event_id,
        "key": key_sql(schema, id),
        "attribute_name": name,
        "value": sql_values.value_sql("k.number", source, like),
    }


def key_sql(schema: T.StructType, id: str) -> str:
    """The id as something to group and sort by: a complex one is told apart by its text."""
    event_id = f"e.{sql_values.name_sql(id)}"
    complex = isinstance(schema[id].dataType, (T.StructType, T.ArrayType))
    return f"to_json(struct({event_id}))" if complex else event_id
