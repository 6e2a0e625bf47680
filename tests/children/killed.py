"""A writer that is killed: python killed.py INDEX SCRATCH, and its order as a line of JSON on stdin.

operation: add, replace, remove, rebuild (an add that takes the way of large changes), restore (to version 1), analyze,
optimize; rules, ids: what with. point: 'before TABLE' or 'after TABLE', a commit to that table; or a number of seconds
from the start of the operation. Ends with SIGKILL, its Spark too; with exit code 0 if it was done before that.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading

from small_session import small_session

from banyan import Index
from banyan.build import change
from banyan.store.versions import Write


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


def main(where: str, scratch: str) -> None:
    spark = small_session(scratch)
    spark.range(1).count()
    line = sys.stdin.readline()
    if not line:
        return
    order = json.loads(line)
    operation, point = order["operation"], order["point"]
    index = Index.open(spark, where)
    if point.split()[0] in ("before", "after"):
        for name in ("_save", "_merge", "bring_back"):
            hooked(name, *point.split())
    else:
        threading.Timer(float(point), die).start()
    rules = list(order.get("rules", {}).items())
    frame = spark.createDataFrame(rules, "expression_id string, expression string")
    if operation == "rebuild":
        change.SMALL = 0
    if operation in ("add", "rebuild"):
        index.add(frame)
    elif operation == "replace":
        index.replace(frame)
    elif operation == "remove":
        index.remove(order["ids"])
    elif operation == "analyze":
        index.analyze(spark.createDataFrame([(1, 1, 0), (2, 0, 0)], "event_id int, a int, b int"))
    elif operation == "restore":
        index.restore(1)
    else:
        index.optimize()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
