"""Events that come as JSON: the keys of a JSON text or VARIANT column as attributes.

In: events with such a column, and the names of attributes that rules use. Out: the events with one VARIANT column more
for each of those that they lack. A text that is no JSON object has no keys, so its attributes are absent.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.errors import EventsError
from banyan.language.attributes import attribute_parts

_KEYS = "banyan_keys"


def unpacked(events: DataFrame, column: str, attributes: Iterable[str], case_sensitive: bool) -> DataFrame:
    """The events with a column for each first name of these attributes; the column itself becomes a VARIANT."""
    if column not in events.columns:
        raise EventsError(f"the events have no column {column!r}; they have {', '.join(events.columns)}")
    kind = events.schema[column].dataType
    value = F.col(_quoted(column))
    if isinstance(kind, T.StringType):
        value = F.try_parse_json(value)
    elif not isinstance(kind, T.VariantType):
        raise EventsError(f"column {column!r} is {kind.simpleString()}; what can be unpacked is JSON text or VARIANT")
    there = {name if case_sensitive else name.lower() for name in events.columns}
    wanted = sorted({attribute_parts(attribute)[0] for attribute in attributes} - there)
    keys = F.try_variant_get(value, "$", "map<string,variant>")
    rows = events.withColumns({column: value, _KEYS: keys if case_sensitive else _folded(keys)})
    return rows.select(
        *[F.col(_quoted(name)) for name in events.columns],
        *[F.try_element_at(_KEYS, F.lit(name)).alias(name) for name in wanted],
    )


def _folded(keys: Column) -> Column:
    """Keys without regard to case, as attributes are; where two keys then are one, they stay as they are."""
    lower = F.transform_keys(keys, lambda key, _: F.lower(key))
    names = F.transform(F.map_keys(keys), F.lower)
    return F.when(F.size(F.array_distinct(names)) == F.size(names), lower).otherwise(keys)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
