"""What the commands do around the library: start Spark, open an index, tell what was done."""

from __future__ import annotations

import argparse
import atexit
import logging
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from banyan.errors import ArgumentError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from banyan.index import Index
    from banyan.progress import Steps


def started() -> SparkSession:
    """The Spark session, started on first use, quiet, and gone without a trace after Ctrl-C."""
    from pyspark.logger import PySparkLogger

    import banyan

    # PySpark logs every error of a query, stack and all, before it raises it; once is enough.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
    # Spark makes this folder whether or not it needs it, by default in the user's own.
    warehouse = tempfile.mkdtemp(prefix="banyan-warehouse-")
    atexit.register(shutil.rmtree, warehouse, ignore_errors=True)
    with _interruptible():
        return banyan.session(**{"spark.sql.warehouse.dir": warehouse})


@contextmanager
def _interruptible() -> Iterator[None]:
    """Start Spark so that Ctrl-C ends a command cleanly, at any moment.

    While Spark starts, Ctrl-C waits: a JVM that has not yet found its Python would stay behind for ever. From then on
    it raises KeyboardInterrupt, in place of PySpark's own handler, which calls Java from within the call of Java that
    it interrupts and fails loudly. What py4j has to say about the interrupted call is not for the user either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting = []
    signal.signal(signal.SIGINT, lambda *_: waiting.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _interrupt)
        if waiting:
            _interrupt()


def _interrupt(*_: object) -> None:
    logging.disable(logging.CRITICAL)
    raise KeyboardInterrupt


def steps(quiet: bool) -> Steps:
    from banyan.progress import Steps, to_stderr

    return Steps(None if quiet else to_stderr)


def opened(spark: SparkSession, given: argparse.Namespace) -> Index:
    """The index that is named, at the version that is asked for, if any."""
    from banyan.index import Index

    check_place(spark, given.index)
    return Index.open(spark, given.index, getattr(given, "version", None), getattr(given, "timestamp", None))


def check_place(spark: SparkSession, where: str) -> None:
    """Refuses a schema or table where Spark has no lasting catalog: it would be gone with the process."""
    if "/" in where or spark.conf.get("spark.sql.catalogImplementation", "in-memory") != "in-memory":
        return
    if "." not in where or spark.conf.get(f"spark.sql.catalog.{where.partition('.')[0]}", None) is None:
        raise ArgumentError(
            f"{where!r} is a name in a catalog, and this Spark has none that lasts; a folder has a /: ./{where}"
        )


def put(given: argparse.Namespace, operation: str) -> int:
    """Add or replace the rules of a file; the exit code."""
    from banyan.jobs import files

    spark = started()
    index = opened(spark, given)
    rules = files.read_rules(spark, given.rules, given.id, given.expression)
    rules = files.with_ids_as(rules, index.expressions().schema["expression_id"].dataType, given.rules)
    told = steps(given.quiet)
    return written(given, index, lambda: getattr(index, operation)(rules, given.on_error, given.request_id, told))


def written(given: argparse.Namespace, index: Index, write: Callable[[], int]) -> int:
    """Run what makes a version, and tell what it made; the exit code."""
    before, start = index.version, time.monotonic()
    version = write()
    if version > before:
        print(summary(index, given.index, time.monotonic() - start))
    elif getattr(given, "request_id", None) is not None:
        print(f"request {given.request_id} is in version {version} already: nothing to do")
    else:
        print(f"{given.index}: version {version} stays as it is")
    return 0


def summary(index: Index, where: str, seconds: float) -> str:
    """What a write has made, in one line."""
    counts = index.stats()
    refused = index.rejected().where(f"rejected_in = {index.version}").count()
    return (
        f"{where}: version {index.version} with {counts['expressions']:,} rules, "
        f"{counts['predicates']:,} predicates and {counts['nodes']:,} nodes, in {seconds:.1f} s"
        + (f"; {refused:,} refused, see table rejected" if refused else "")
    )


def note(line: str) -> None:
    """A line beside the results."""
    print(line, file=sys.stderr, flush=True)
