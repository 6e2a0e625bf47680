"""One event as the evaluator wants it: a mapping from an attribute's canonical path to a Python value.

In: a dict as JSON gives it, or a row of a DataFrame. Attributes are found as matching finds them: the first part
whatever its case (unless the index is case-sensitive), struct fields whatever their case, keys of maps exactly.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from banyan.errors import EventsError
from banyan.language.attributes import attribute_parts
from banyan.language.evaluate import Single

if TYPE_CHECKING:
    from pyspark.sql import Row
    from pyspark.sql import types as T


class Exact(dict):
    """The entries of a map or a variant: their keys differ by case, where the fields of a struct do not."""


def values_of(event: Mapping[str, Any], attributes: Iterable[str], case_sensitive: bool) -> dict[str, Any]:
    """The value of each attribute; None where the event has none."""
    return {name: _value(event, attribute_parts(name), case_sensitive) for name in attributes}


def _value(event: Mapping[str, Any], parts: tuple[str, ...], case_sensitive: bool) -> Any:
    value = _entry(event, parts[0], case_sensitive)
    for part in parts[1:]:
        if isinstance(value, list):
            # A field of a list of structs is the list of that field, as in Spark.
            value = [_entry(one, part, False) if isinstance(one, Mapping) else None for one in value]
        else:
            value = _entry(value, part, False) if isinstance(value, Mapping) else None
    return value


def _entry(mapping: Mapping[str, Any], name: str, exact: bool) -> Any:
    if name in mapping or exact or isinstance(mapping, Exact):
        return mapping.get(name)
    close = [key for key in mapping if key.lower() == name.lower()]
    if len(close) > 1:
        raise EventsError(f"the event has several values for {name!r}: {', '.join(close)}; keep one")
    return mapping[close[0]] if close else None


def event_of(row: Row, schema: T.StructType) -> dict[str, Any]:
    """A collected row as an event."""
    return {field.name: _from_spark(value, field.dataType) for field, value in zip(schema.fields, row)}


def _from_spark(value: Any, kind: T.DataType) -> Any:
    """What Python's types do not tell of a value is put back from its type in Spark."""
    name = kind.typeName()
    if value is None:
        return None
    if name == "float":
        return Single(value)
    if name == "timestamp":
        # Spark hands timestamps out as naive local time.
        return value.astimezone(datetime.timezone.utc)
    if name == "struct":
        return {field.name: _from_spark(one, field.dataType) for field, one in zip(kind.fields, value)}
    if name == "map":
        return Exact((key, _from_spark(one, kind.valueType)) for key, one in value.items())
    if name == "array":
        return [_from_spark(one, kind.elementType) for one in value]
    return _exact(value.toPython()) if name == "variant" else value


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return Exact((key, _exact(one)) for key, one in value.items())
    return [_exact(one) for one in value] if isinstance(value, list) else value
