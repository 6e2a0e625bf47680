"""Step 1, values: which events have which value.

In: the numbered rows of a batch. Out: one row per (attribute, value) and partition with the numbers of its events, and
beside the value what Spark casts it to for every type it can meet a literal in. Each distinct value is cast once, by
Spark: Python's own casts differ ('1d', ' 10 ', '1_0', 'inf').
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from banyan.match.attributes import CODE, CODED, VARIANT, Form

# What a row speaks of: a scalar's value, an element of a list, or a fact about a list.
SCALAR, ELEMENT, LIST, FILLED, HAS_NULL = range(5)

GATHERED = "attribute int, part byte, kind byte, l long, d double, t string, events array<int>"


def gatherer(forms: dict[int, Form]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function a worker runs over the rows of its partition."""

    def gather(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        heap = _Heap()
        for batch in batches:
            numbers = batch.column("number").to_numpy()
            if -1 in forms:
                lists = batch.column("attributes")
                owner = numbers[pc.list_parent_indices(lists).to_numpy()]
                heap.column(lists.flatten().to_numpy(), batch.column("values").flatten(), owner, forms[-1])
            else:
                for number, form in forms.items():
                    column = batch.column(f"c{number}")
                    if column.null_count < len(column):
                        heap.column(np.full(len(column), number, np.int32), column, numbers, form)
        yield from heap.grouped()

    return gather


class _Heap:
    """Single values as they come, by part and kind, until all are there to be grouped."""

    def __init__(self):
        self._chunks: dict[tuple[int, str], list[tuple]] = {}

    def column(self, attributes: np.ndarray, values: pa.Array, numbers: np.ndarray, form: Form) -> None:
        if values.null_count:
            valid = values.is_valid()
            keep = valid.to_numpy(zero_copy_only=False)
            attributes, numbers, values = attributes[keep], numbers[keep], values.filter(valid)
        if not len(values):
            return
        if form.kind == VARIANT:
            self._variants(attributes, values, numbers, SCALAR)
        elif form.kind == "list":
            self._lists(attributes, values, numbers, form.element)
        else:
            self._put(SCALAR, form.kind, attributes, values, numbers)

    def _variants(self, attributes: np.ndarray, values: pa.StructArray, numbers: np.ndarray, part: int) -> None:
        kinds = values.field("kind").to_numpy(zero_copy_only=False)
        for code in np.unique(kinds):
            here = kinds == code
            mask, kind = pa.array(here), CODED[code]
            if kind == "list" and part == SCALAR:
                self._lists(attributes[here], values.field("list").filter(mask), numbers[here], VARIANT)
            elif kind in ("list", "other"):
                whole = pa.array(np.ones(int(here.sum()), np.int64))
                self._put(part, "other", attributes[here], whole, numbers[here])
            else:
                field = {"double": "d", "float": "d", "text": "t", "decimal": "t"}.get(kind, "l")
                self._put(part, kind, attributes[here], values.field(field).filter(mask), numbers[here])

    def _lists(self, attributes: np.ndarray, values: pa.ListArray, numbers: np.ndarray, element: str) -> None:
        parents = pc.list_parent_indices(values).to_numpy()
        elements = values.flatten()
        valid = elements.is_valid().to_numpy(zero_copy_only=False)
        for part, rows in (
            (LIST, np.arange(len(values))),
            (FILLED, np.unique(parents)),
            (HAS_NULL, np.unique(parents[~valid])),
        ):
            self._put(part, "list", attributes[rows], pa.array(np.zeros(len(rows), np.int64)), numbers[rows])
        attributes, numbers = attributes[parents][valid], numbers[parents][valid]
        elements = elements.filter(pa.array(valid))
        if element == VARIANT:
            self._variants(attributes, elements, numbers, ELEMENT)
        else:
            self._put(ELEMENT, element, attributes, elements, numbers)

    def _put(self, part: int, kind: str, attributes: np.ndarray, values: pa.Array, numbers: np.ndarray) -> None:
        if len(values):
            self._chunks.setdefault((part, kind), []).append((attributes, values, numbers))

    def grouped(self) -> Iterator[pa.RecordBatch]:
        while self._chunks:
            (part, kind), chunks = self._chunks.popitem()
            attributes = np.concatenate([chunk[0] for chunk in chunks])
            numbers = np.concatenate([chunk[2] for chunk in chunks]).astype(np.int32)
            values = pa.chunked_array([chunk[1] for chunk in chunks]).combine_chunks()
            yield _grouped(part, kind, attributes, values, numbers)


def _grouped(part: int, kind: str, attributes: np.ndarray, values: pa.Array, numbers: np.ndarray) -> pa.RecordBatch:
    """One row per distinct (attribute, value)."""
    code, distinct = _codes(values)
    order = _order(attributes, code)
    attributes, code = attributes[order], code[order]
    starts = np.flatnonzero(np.r_[True, (attributes[1:] != attributes[:-1]) | (code[1:] != code[:-1])])
    rows = len(starts)
    shown = distinct.take(pa.array(code[starts]))
    empty = {
        name: pa.nulls(rows, kind_) for name, kind_ in (("l", pa.int64()), ("d", pa.float64()), ("t", pa.string()))
    }
    empty[{pa.int64(): "l", pa.float64(): "d"}.get(shown.type, "t")] = shown
    offsets = pa.array(np.r_[starts, len(code)], pa.int32())
    return pa.RecordBatch.from_arrays(
        [
            pa.array(attributes[starts], pa.int32()),
            pa.array(np.full(rows, part, np.int8)),
            pa.array(np.full(rows, CODE[kind], np.int8)),
            empty["l"],
            empty["d"],
            empty["t"],
            pa.ListArray.from_arrays(offsets, pa.array(numbers[order])),
        ],
        ["attribute", "part", "kind", "l", "d", "t", "events"],
    )


def _codes(values: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """Small numbers for values, and the values the numbers stand for."""
    if values.type == pa.float64():
        # By their bits: -0.0 equals 0.0, but as text, which LIKE sees, it differs. One NaN for all.
        array = values.to_numpy(zero_copy_only=False)
        bits = np.where(np.isnan(array), np.nan, array).view(np.int64)
        encoded = pa.array(bits).dictionary_encode()
        distinct = encoded.dictionary.to_numpy().view(np.float64)
        return encoded.indices.to_numpy(zero_copy_only=False), pa.array(distinct, from_pandas=False)
    encoded = values.dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary


def _order(attributes: np.ndarray, code: np.ndarray) -> np.ndarray:
    span = int(code.max()) + 1
    return np.argsort(attributes.astype(np.int64) * span + code, kind="stable")


def as_types(frame: DataFrame, types: set[str], with_text: bool) -> DataFrame:
    """Beside each value what it is in every type of `types`; NULL where it cannot be cast. `text`: what LIKE sees."""

    def kind(*names: str) -> Column:
        return F.col("kind").isin(*(CODE[name] for name in names))

    # Only of their own kind: a huge integer is no date, and ANSI arithmetic would raise on it.
    day = F.expr(f"date_from_unix_date(cast(if(kind = {CODE['date']}, l, NULL) AS int))")
    epoch = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
    ntz = F.expr(f"timestampadd(MICROSECOND, if(kind = {CODE['timestamp_ntz']}, l, NULL), {epoch})")
    is_text, whole, double, text = kind("text"), F.col("l"), F.col("d"), F.col("t")
    made = {
        "integer": F.when(kind("integer"), whole).when(is_text, text.try_cast("bigint")),
        "double": F.when(kind("double", "float"), double)
        .when(kind("integer"), whole.cast("double"))
        .when(kind("decimal", "text"), text.try_cast("double")),
        "boolean": F.when(kind("boolean"), whole).when(is_text, text.try_cast("boolean").cast("int").cast("long")),
        "date": F.when(kind("date"), whole).when(is_text, F.unix_date(text.try_cast("date")).cast("long")),
        "timestamp": F.when(kind("timestamp"), whole)
        .when(kind("date"), F.unix_micros(day.cast("timestamp")))
        .when(kind("timestamp_ntz"), F.unix_micros(ntz.cast("timestamp")))
        .when(is_text, F.unix_micros(text.try_cast("timestamp"))),
        "timestamp_ntz": F.when(kind("timestamp_ntz"), whole),
    }
    columns = [made[name].alias(f"as_{name}") for name in made if name in types]
    if with_text:
        seen = (
            F.when(kind("text", "decimal"), text)
            .when(kind("integer"), whole.cast("string"))
            .when(kind("double"), double.cast("string"))
            .when(kind("float"), double.cast("float").cast("string"))
            .when(kind("boolean"), (whole == 1).cast("string"))
            .when(kind("date"), day.cast("string"))
            .when(kind("timestamp"), F.timestamp_micros(whole).cast("string"))
            .when(kind("timestamp_ntz"), ntz.cast("string"))
        )
        columns.append(seen.alias("text"))
    return frame.select("*", *columns)
