"""Workloads as files that any tool can read: parquet, or csv if the name ends so.

Rules are expression_id and expression. Events are in long form (event_id, attribute, value: a row for each attribute an
event has) or wide (event_id and a column for each attribute, NULL where it is absent).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from banyan.bench.forest import Events, Forest, Names
from banyan.bench.texts import stretches, value_text

# Several row groups, so that Spark reads a file with all cores.
ROW_GROUPS = 16
_RULES = pa.schema([("expression_id", pa.int64()), ("expression", pa.string())])


def write_rules(path: str, forest: Forest) -> None:
    """The expressions with their numbers."""

    def tables() -> Iterable[pa.Table]:
        at = 0
        for texts in stretches(forest):
            yield pa.table([pa.array(np.arange(at, at + len(texts))), texts.cast(pa.string())], schema=_RULES)
            at += len(texts)

    _write(path, _RULES, tables(), len(forest.roots))


def write_events(path: str, events: Events, names: Names, wide: bool = False) -> None:
    """The events with their numbers."""
    table = wide_table(events, names) if wide else long_table(events, names)
    _write(path, table.schema, [table], len(table))


def long_table(events: Events, names: Names) -> pa.Table:
    """event_id, attribute, value; values are numbers, or all are text if some attribute holds text."""
    labels = pa.array(names.attributes)
    attribute = pa.DictionaryArray.from_arrays(pa.array(events.attribute.astype(np.int32)), labels)
    return pa.table(
        {
            "event_id": pa.array(np.repeat(np.arange(events.count), np.diff(events.starts))),
            "attribute": attribute.cast(pa.string()),
            "value": _values(events.value, names.is_text[events.attribute], names.digits),
        }
    )


def wide_table(events: Events, names: Names) -> pa.Table:
    """event_id and the attributes, each a column of numbers or of texts."""
    row = np.repeat(np.arange(events.count), np.diff(events.starts))
    order = np.argsort(events.attribute, kind="stable")
    ends = np.searchsorted(events.attribute[order], np.arange(len(names.attributes) + 1))
    columns: dict[str, pa.Array] = {"event_id": pa.array(np.arange(events.count))}
    for number, name in enumerate(names.attributes):
        mine = order[ends[number] : ends[number + 1]]
        values, absent = np.zeros(events.count, np.int64), np.ones(events.count, bool)
        values[row[mine]], absent[row[mine]] = events.value[mine], False
        if names.is_text[number]:
            held = _values(values, np.ones(events.count, bool), names.digits).to_pylist()
            columns[name] = pa.array([None if a else v for a, v in zip(absent.tolist(), held)], pa.string())
        else:
            columns[name] = pa.array(values, mask=absent)
    return pa.table(columns)


def _values(values: np.ndarray, is_text: np.ndarray, digits: int) -> pa.Array:
    if not is_text.any():
        return pa.array(values.astype(np.int64))
    held = (value_text(v, digits) if t else str(v) for v, t in zip(values.tolist(), is_text.tolist()))
    return pa.array(list(held), pa.string())


def _write(path: str, schema: pa.Schema, tables: Iterable[pa.Table], rows: int) -> None:
    if path.endswith(".csv"):
        with csv.CSVWriter(path, schema) as writer:
            for table in tables:
                writer.write_table(table)
        return
    with pq.ParquetWriter(path, schema) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(1000, rows // ROW_GROUPS))
