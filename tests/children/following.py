"""A job or stream that is killed: python following.py KIND POINT FOLDER SCRATCH

KIND: match, snapshot (match from the first event on), stream, pinned (stream at version 1), follow; or "match stream",
both in one process, of which the match is held at the point and the stream dies there.
POINT: 'before WHAT N' or 'after WHAT N', the N-th time that it is done: 'plan' and 'batch' are rows of the table of
runs, 'append' is a commit to the matches, 'replace' and 'remove' are versions of the index; or a number of seconds.
Ends with SIGKILL, its Spark too; with exit code 0 if the work was done before that.
"""

from __future__ import annotations

import os
import sys
import threading

from killed import die
from small_session import small_session

from banyan import Index
from banyan.follow.match_new import match_new
from banyan.follow.rules import follow
from banyan.follow.runs import Runs
from banyan.match.target import Target

WORK = {"plan": Runs, "batch": Runs, "append": Target, "replace": Index, "remove": Index}


def hooked(when: str, what: str, count: int) -> None:
    """Make a piece of work deadly at its n-th time."""
    kind, times = WORK[what], []
    method = getattr(kind, what)

    def wrapped(self, *arguments, **named):
        times.append(what)
        if when == "before" and len(times) == count:
            die()
        result = method(self, *arguments, **named)
        if when == "after" and len(times) == count:
            die()
        return result

    setattr(kind, what, wrapped)


def held_and_killed(spark, point: str, folder: str) -> None:
    """The match comes to the point and waits there; then the stream comes to it and all ends."""
    when, _, count = point.split()
    method, times, reached = Target.append, [], threading.Event()

    def wrapped(self, *arguments, **named):
        times.append(1)
        last = len(times) in (int(count), 2 * int(count))
        if not last or when == "after":
            result = method(self, *arguments, **named)
        if len(times) == 2 * int(count):
            die()
        if last:
            reached.set()
            threading.Event().wait()
        return result

    def match() -> None:
        try:
            work(spark, "match", folder)
        finally:  # it is held, so it cannot end but by an error
            os._exit(3)

    Target.append = wrapped
    threading.Thread(target=match, daemon=True).start()
    reached.wait()
    work(spark, "stream", folder)


def work(spark, kind: str, folder: str) -> None:
    """All of a job, the same in the child that is killed and in the process that begins it again."""
    index, events = f"{folder}/index", f"{folder}/events"
    if kind in ("match", "snapshot"):
        start = 0 if kind == "match" else None
        match_new(spark, events, index, f"{folder}/{kind}", after_version=start, batch_size=20)
    elif kind in ("stream", "pinned"):
        opened = Index.open(spark, index, version=1 if kind == "pinned" else None)
        stream = spark.readStream.format("delta").option("maxFilesPerTrigger", 1).load(events)
        places = f"{folder}/{kind}_checkpoint", f"{folder}/{kind}"
        opened.match_stream(stream, *places, trigger={"availableNow": True}).awaitTermination()
    else:
        follow(spark, f"{folder}/rules", f"{folder}/followed")


def main(kind: str, point: str, folder: str, scratch: str) -> None:
    spark = small_session(scratch)
    spark.range(1).count()
    if kind == "match stream":
        held_and_killed(spark, point, folder)
    elif point.split()[0] in ("before", "after"):
        when, what, count = point.split()
        hooked(when, what, int(count))
    else:
        threading.Timer(float(point), die).start()
    work(spark, kind, folder)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
