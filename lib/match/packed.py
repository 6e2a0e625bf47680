"""Arrow tables in the rows of a frame: how plans, values and event sets travel.

A row is one piece of a table on its way to a bucket of a round; Spark moves a few large rows, and workers read the
pieces without copying. A row per node instead cost two thirds of a match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

# round, to: which bucket of which round this is for. part: which of its tables.
PACKED = "round int, to int, part string, data binary"
_SCHEMA = pa.schema([("round", pa.int32()), ("to", pa.int32()), ("part", pa.string()), ("data", pa.binary())])
# Bytes that a piece has at the most, or nearly: a row must fit the memory of a task several times.
PIECE = 16 << 20


def pack(round: int, to: int, part: str, table: pa.Table) -> Iterator[pa.RecordBatch]:
    """The rows that carry a table, each a batch of its own. An empty table is not sent."""
    if not len(table):
        return
    step = max(1, int(len(table) * PIECE / max(table.nbytes, PIECE)))
    for start in range(0, len(table), step):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table.slice(start, step).combine_chunks())
        data = sink.getvalue().to_pybytes()
        yield pa.RecordBatch.from_pydict({"round": [round], "to": [to], "part": [part], "data": [data]}, _SCHEMA)


def nothing() -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], _SCHEMA)


def unpack(batches: Iterable[pa.RecordBatch]) -> dict[int, dict[str, list[pa.Table]]]:
    """For each bucket (`to`) among the rows its tables by part, in pieces."""
    found: dict[int, dict[str, list[pa.Table]]] = {}
    for batch in batches:
        to, part, data = batch.column("to"), batch.column("part"), batch.column("data")
        for i in range(len(batch)):
            table = pa.ipc.open_stream(data[i].as_buffer()).read_all()
            found.setdefault(to[i].as_py(), {}).setdefault(part[i].as_py(), []).append(table)
    return found
