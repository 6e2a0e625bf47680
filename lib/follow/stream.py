"""Match a stream: each micro-batch is one commit to the table of matches, once, however often Spark begins it again.

Spark writes down what a batch holds before it hands it out, and hands out the same rows under the same number after a
restart; the commit carries that number and a name that lives with the checkpoint, and Delta passes over what it has
seen. An index opened at a version stays there; else each batch begins with the newest one.
"""

from __future__ import annotations

import uuid
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from banyan.errors import ArgumentError
from banyan.index import Index
from banyan.match.target import Target

_WRITER = "banyan-writer"


def match_stream(
    index: Index,
    events: DataFrame,
    checkpoint: str,
    into: str,
    id: str,
    trigger: dict[str, Any] | None,
    unpack: str | None,
    options: dict[str, Any],
) -> StreamingQuery:
    """The running query."""
    if not events.isStreaming:
        raise ArgumentError("match_stream takes a stream (spark.readStream...); index.match takes a table")
    unknown = sorted(set(options) - {"attribute", "value", "output", "engine", "where", "keep", "zeros", "batch_size"})
    if unknown:
        raise ArgumentError(f"match_stream has no option {', '.join(unknown)}; see Index.match")
    version = index.version if index.is_pinned else None
    each = _Batches(index.where, version, into, writer_of(events.sparkSession, checkpoint), id, unpack, options)
    query = events.writeStream.foreachBatch(each).option("checkpointLocation", checkpoint)
    return query.trigger(**(trigger or {"processingTime": "0 seconds"})).start()


def writer_of(spark: SparkSession, checkpoint: str) -> str:
    """The name under which a stream writes. It is kept in the checkpoint: a new one counts its batches from 0 again,
    and under the old name they would be passed over."""
    path = f"{checkpoint.rstrip('/')}/{_WRITER}"
    try:
        found = spark.read.text(path).collect()
    except AnalysisException as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
        found = []
    if not found:
        spark.createDataFrame([(f"banyan-{uuid.uuid4().hex}",)], "value string").write.mode("overwrite").text(path)
        found = spark.read.text(path).collect()
    return found[0][0]


class _Batches:
    """What Spark calls with each batch. Over Connect it is sent to the server: plain values only."""

    def __init__(
        self,
        where: str,
        version: int | None,
        into: str,
        writer: str,
        id: str,
        unpack: str | None,
        options: dict[str, Any],
    ):
        self._where = where
        self._version = version
        self._into = into
        self._writer = writer
        self._id = id
        self._unpack = unpack
        self._options = options
        self._index: Index | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_index": None}

    def __call__(self, batch: DataFrame, number: int) -> None:
        index = self._newest(batch.sparkSession)
        note = {"index_version": index.version}
        target = Target(batch.sparkSession, self._into, (self._writer, number), note)
        if target.rows_written() is not None:
            return
        events = batch if self._unpack is None else index.unpack(batch, self._unpack)
        index.match(events, id=self._id, into=target, progress=False, **self._options)

    def _newest(self, spark: SparkSession) -> Index:
        """The index for this batch; its plans stay from batch to batch as long as its version does."""
        if self._index is None:
            self._index = Index.open(spark, self._where, version=self._version)
        elif self._version is None:
            self._index.refresh()
        return self._index
