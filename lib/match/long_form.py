"""Long-form events (a row per event and attribute) put together, as functions that workers run.

Two steps: `grouper` puts the rows of a partition together, where those of one event mostly stand side by side already,
so that Spark then shuffles a row per event; `together` puts what is left of an event together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa

# Rows that are put together at a time before they are shuffled.
STRETCH = 200_000


def grouper(
    known: Mapping[str, int], case_sensitive: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """(event_id[, key], name, value) -> (event_id[, key], attributes, values): one row per event and stretch.

    known: the numbers of the attributes that rules use; others are left out, and so are NULL values.
    """

    def group(arriving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting, rows = [], 0
        for batch in arriving:
            waiting.append(batch)
            rows += len(batch)
            if rows >= STRETCH:
                yield _grouped(pa.Table.from_batches(waiting), known, case_sensitive)
                waiting, rows = [], 0
        if waiting:
            yield _grouped(pa.Table.from_batches(waiting), known, case_sensitive)

    return group


def together(arriving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per event from all rows of a partition (rows of one event are in one partition).

    repeated: the number of an attribute that the event has two values for.
    """
    batches = list(arriving)
    if not batches:
        return
    table = pa.Table.from_batches(batches).combine_chunks()
    code, ids = _events(table)
    lists = table["attributes"].combine_chunks()
    code = np.repeat(code, lists.value_lengths().to_numpy())
    code, number, columns = _by_event(code, lists.flatten().to_numpy(), table["values"].combine_chunks().flatten(), ids)
    same = (code[1:] == code[:-1]) & (number[1:] == number[:-1])
    repeated = np.full(len(ids), -1, np.int32)
    repeated[code[1:][same]] = number[1:][same]
    columns["repeated"] = pa.array(repeated, mask=repeated < 0)
    yield pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


# What is known of a copy after one reading: of each file (a worker may have several, or a part of one).
SURVEYED = "file string, events long, without_id long, repeating long, attributes array<int>"


def survey(arriving: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """(file, without_id, repeating, attributes), a row per event -> SURVEYED."""
    counts: dict[str, list[int]] = {}
    found: dict[str, np.ndarray] = {}
    for batch in arriving:
        files = batch.column("file").dictionary_encode()
        code = files.indices.to_numpy()
        columns = [
            np.ones(len(batch)),
            *(batch.column(n).to_numpy(zero_copy_only=False) for n in ("without_id", "repeating")),
        ]
        lists = batch.column("attributes")
        owner = code[np.repeat(np.arange(len(batch)), lists.value_lengths().fill_null(0).to_numpy())]
        numbers = lists.flatten().to_numpy()
        for i, file in enumerate(files.dictionary.to_pylist()):
            more = [int(column[code == i].sum()) for column in columns]
            counts[file] = [a + b for a, b in zip(counts.get(file, (0, 0, 0)), more)]
            found[file] = np.union1d(found.get(file, numbers[:0]), numbers[owner == i])
    rows = [
        {"file": file, "events": a, "without_id": b, "repeating": c, "attributes": found[file].tolist()}
        for file, (a, b, c) in counts.items()
    ]
    if rows:
        yield pa.RecordBatch.from_pylist(rows, _SURVEYED)


_SURVEYED = pa.schema(
    [
        ("file", pa.string()),
        *((n, pa.int64()) for n in ("events", "without_id", "repeating")),
        ("attributes", pa.list_(pa.int32())),
    ]
)


def _grouped(table: pa.Table, known: Mapping[str, int], case_sensitive: bool) -> pa.RecordBatch:
    names = table["name"].combine_chunks().dictionary_encode()
    texts = names.dictionary.to_pylist()
    numbers = np.array([*(known.get(_folded(text, case_sensitive), -1) for text in texts), -1], np.int32)
    number = numbers[names.indices.fill_null(len(texts)).to_numpy()]
    code, ids = _events(table)
    values = table["value"].combine_chunks()
    usable = (number >= 0) & values.is_valid().to_numpy(zero_copy_only=False)
    _, _, columns = _by_event(code[usable], number[usable], values.filter(pa.array(usable)), ids)
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _folded(name: str, case_sensitive: bool) -> str:
    """The first part of a path without regard to case, as in the rules."""
    first, dot, rest = name.partition(".")
    return name if case_sensitive else first.lower() + dot + rest


def _events(table: pa.Table) -> tuple[np.ndarray, pa.Table]:
    """Which event each row is of, by number, and the id of each event."""
    names = ["event_id", "key"] if "key" in table.column_names else ["event_id"]
    codes = table[names[-1]].combine_chunks().dictionary_encode(null_encoding="encode")
    code = codes.indices.to_numpy(zero_copy_only=False)
    first = np.full(len(codes.dictionary), -1, np.int64)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    return code, table.select(names).take(pa.array(first)).combine_chunks()


def _by_event(
    code: np.ndarray, number: np.ndarray, values: pa.Array, ids: pa.Table
) -> tuple[np.ndarray, np.ndarray, dict[str, pa.Array]]:
    """Event and attribute of each value in the order of events, and the columns: ids, attributes, values."""
    order = np.lexsort((number, code))
    code, number = code[order], number[order].astype(np.int32, copy=False)
    offsets = pa.array(np.searchsorted(code, np.arange(len(ids) + 1)), pa.int32())
    columns = {name: ids[name].combine_chunks() for name in ids.column_names}
    columns["attributes"] = pa.ListArray.from_arrays(offsets, pa.array(number))
    columns["values"] = pa.ListArray.from_arrays(offsets, values.take(pa.array(order)))
    return code, number, columns
