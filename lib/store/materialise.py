"""The one place that cuts lineage: an intermediate result is computed once and read from its copy from then on.

Two strategies. `local` keeps blocks in the executors (fast, gone when an executor dies: only on local[*]);
`table` writes parquet into the scratch folder and reads it back (any cluster, Connect, serverless).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
import weakref

from pyspark.sql import DataFrame, SparkSession

from banyan.connect import is_beside, is_connect, setting
from banyan.errors import ArgumentError


class Scratch:
    """A folder of intermediate results, removed by `release`, at the latest when the process ends."""

    def __init__(self, spark: SparkSession, folder: str | None = None, strategy: str | None = None):
        self.spark = spark
        self.strategy = strategy or ("local" if is_local(spark) else "table")
        if self.strategy not in ("local", "table"):
            raise ArgumentError(f"strategy is 'local' or 'table', not {strategy!r}")
        # The variable is for platforms that refuse settings they do not know.
        folder = folder or setting(spark, "spark.banyan.scratch") or os.environ.get("BANYAN_SCRATCH")
        if folder is None and not is_one_machine(spark):
            raise ArgumentError(
                "on a cluster Banyan needs a scratch folder that every executor can write: "
                "set spark.banyan.scratch or BANYAN_SCRATCH (a volume or an object-store path)"
            )
        self._local = folder is None or "://" not in folder
        self.folder = f"{folder}/{uuid.uuid4().hex}" if folder else tempfile.mkdtemp(prefix="banyan-")
        self._counter = 0
        self._blocks: list[DataFrame] = []
        self._finalizer = weakref.finalize(self, _remove, self.folder) if self._local else None

    def path(self, name: str) -> str:
        """A fresh path in the scratch folder."""
        self._counter += 1
        return f"{self.folder}/{self._counter:04d}_{name}"

    def materialise(self, frame: DataFrame, name: str) -> DataFrame:
        """`frame`, computed now; whatever is built on the result starts from there."""
        if self.strategy == "local":
            return frame.localCheckpoint(eager=True)
        return self.write(frame, name)

    def keep(self, frame: DataFrame, buckets: int | None = None) -> DataFrame:
        """`frame` for many readings, until released; with `buckets` it stays partitioned by its column `to`.

        A cached frame remembers how it is partitioned, so that joining it batch after batch moves only the other side.
        """
        if buckets is not None:
            frame = frame.repartition(buckets, "to")
        if self.strategy == "table":
            return self.write(frame, "kept")
        frame = frame.persist()  # lazily: the first reading fills it
        self._blocks.append(frame)
        return frame

    def write(self, frame: DataFrame, name: str) -> DataFrame:
        """`frame` as parquet in the scratch folder: for what is large, or must be the same rows at every reading."""
        path = self.path(name)
        frame.write.option("compression", "lz4_raw").parquet(path)
        return self.spark.read.schema(frame.schema).parquet(path)

    def release(self) -> None:
        while self._blocks:
            self._blocks.pop().unpersist()
        if self._finalizer is not None:
            self._finalizer()


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def is_local(spark: SparkSession) -> bool:
    """Whether driver and executors are one process, which this process drives: what it holds cannot be lost alone."""
    return not is_connect(spark) and is_one_machine(spark) and "cluster" not in setting(spark, "spark.master")


def is_one_machine(spark: SparkSession) -> bool:
    """Whether driver, executors and this process see the same files."""
    return is_beside(spark) and setting(spark, "spark.master").startswith("local")
