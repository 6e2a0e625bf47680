"""A writer that is killed: python killed.py INDEX OPERATION POINT SCRATCH

OPERATION: add, replace, remove, rebuild (an add that takes the way of large changes), restore, analyze, optimize.
POINT: 'before TABLE' or 'after TABLE', a commit to that table; or a number of seconds from the start of the operation.
Ends with SIGKILL, its Spark too; with exit code 0 if the operation was done before that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading

from small_session import small_session

from banyan import Index
from banyan.build import change
from banyan.store.versions import Write

ADDED = {"new1": "a = 1 AND b = 1 AND c = 1", "new2": "(a = 1 OR d = 1) AND NOT (b = 1 AND c = 1)"}
REPLACED = {"r1": "d = 1 OR c = 1", "new1": "a = 1 AND d = 1"}
REMOVED = ["r0", "r2"]


def die() -> None:
    """As when the machine loses power: Python and Java at once."""
    from pyspark import SparkContext

    with contextlib.suppress(Exception):
        os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def hooked(name: str, when: str, table: str) -> None:
    """Make a method of `Write` deadly at its call for a table."""
    method = getattr(Write, name)
    position = {"_save": 1, "_merge": 0, "bring_back": 0}[name]

    def wrapped(self, *arguments, **named):
        if when == "before" and arguments[position] == table:
            die()
        result = method(self, *arguments, **named)
        if when == "after" and arguments[position] == table:
            die()
        return result

    setattr(Write, name, wrapped)


def main(where: str, operation: str, point: str, scratch: str) -> None:
    spark = small_session(scratch)
    index = Index.open(spark, where)
    spark.range(1).count()
    if point.split()[0] in ("before", "after"):
        for name in ("_save", "_merge", "bring_back"):
            hooked(name, *point.split())
    else:
        threading.Timer(float(point), die).start()
    columns = "expression_id string, expression string"
    if operation == "rebuild":
        change.SMALL = 0
    if operation in ("add", "rebuild"):
        index.add(spark.createDataFrame(list(ADDED.items()), columns))
    elif operation == "replace":
        index.replace(spark.createDataFrame(list(REPLACED.items()), columns))
    elif operation == "remove":
        index.remove(REMOVED)
    elif operation == "analyze":
        index.analyze(spark.createDataFrame([(1, 1, 0), (2, 0, 0)], "event_id int, a int, b int"))
    elif operation == "restore":
        index.restore(1)
    else:
        getattr(index, operation)()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
