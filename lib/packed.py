"""Arrow tables in the rows of a frame: how the nodes of a build, plans, values and event sets travel.

A row is one piece of a table on its way to a bucket of a round; Spark moves a few large rows, and workers read the
pieces without copying. A row per node instead cost two thirds of a match.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa

# What a worker runs over the rows of its partition.
Kernel = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

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


def scattered(part: str, ids: np.ndarray, table: pa.Table, keys: list[int], round: int = 0) -> Iterator[pa.RecordBatch]:
    """The rows of a table on their way to the buckets of these node ids, one for each row."""
    slot = np.mod(ids, len(keys))
    order = np.argsort(slot, kind="stable")
    bounds = np.searchsorted(slot[order], np.arange(len(keys) + 1))
    table = table.combine_chunks().take(pa.array(order))
    for key, start, end in zip(keys, bounds[:-1].tolist(), bounds[1:].tolist()):
        yield from pack(round, key, part, table.slice(start, end - start))


def frugal(kernel: Kernel) -> Kernel:
    """The kernel, which gives the memory it took back to the machine when it is through.

    Workers wait for their next task with all that they ever took: of four that took turns at a match against a million
    rules, two sat on 8 GB.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from kernel(batches)
        finally:
            pa.default_memory_pool().release_unused()
            with contextlib.suppress(OSError, AttributeError):  # another C library than GNU's
                ctypes.CDLL(None).malloc_trim(0)

    return run


def bucket_keys(count: int) -> list[int]:
    """`count` numbers that Spark's hash sends to `count` different partitions: no bucket waits behind another."""
    slots: dict[int, int] = {}
    for key in range(count * 64):
        slots.setdefault(spark_hash(key) % count, key)
    return [slots[slot] for slot in range(count)] if len(slots) == count else list(range(count))


def spark_hash(value: int) -> int:
    """What Spark's `hash` gives for an INT: Murmur3 of four bytes, seed 42."""
    mask = 0xFFFFFFFF
    mixed = value * 0xCC9E2D51 & mask
    mixed = (mixed << 15 | mixed >> 17) & mask
    digest = 42 ^ (mixed * 0x1B873593 & mask)
    digest = (digest << 13 | digest >> 19) & mask
    digest = (digest * 5 + 0xE6546B64 & mask) ^ 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        digest ^= digest >> shift
        digest = digest * factor & mask
    return digest - (1 << 32) if digest >> 31 else digest
