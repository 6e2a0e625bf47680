"""Peak memory of a process and all that it started, by what they are: driver, JVM, Python workers.

Sampled from /proc twice a second, so a short peak may be missed; resident memory, in which pages that forked workers
share count for each of them. Where there is no /proc nothing is found.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EVERY_S = 0.5


def resident(root: int) -> dict[str, int]:
    """Bytes of the process `root` ('driver') and of its descendants ('jvm', 'workers', 'other')."""
    parents, names = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                    # The name is in parentheses, and may hold some itself.
                    before, _, after = file.read().rpartition(")")
            except OSError:  # ended in between
                continue
            parents[int(entry)], names[int(entry)] = int(after.split()[1]), before.partition("(")[2]
    found = {"driver": 0, "jvm": 0, "workers": 0, "other": 0}
    for process in parents:
        kind = _kind(process, root, parents, names)
        if kind is not None:
            found[kind] += _resident(process)
    return found


def _kind(process: int, root: int, parents: dict[int, int], names: dict[int, str]) -> str | None:
    if process == root:
        return "driver"
    at, under_java = parents.get(process), False
    while at is not None and at != root:
        under_java = under_java or names.get(at) == "java"
        at = parents.get(at)
    if at is None:
        return None
    if names[process] == "java":
        return "jvm"
    return "workers" if under_java else "other"


def _resident(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


class Peaks(dict):
    """Bytes at the peak of each kind, and of 'all' together."""

    def see(self, now: dict[str, int]) -> None:
        for kind, value in (now | {"all": sum(now.values())}).items():
            self[kind] = max(self.get(kind, 0), value)


@contextmanager
def peaks() -> Iterator[Peaks]:
    """The peaks of what runs inside; complete when it ends."""
    found, done = Peaks(), threading.Event()
    if not os.path.isdir("/proc/self"):
        yield found
        return

    def sample() -> None:
        while True:
            found.see(resident(os.getpid()))
            if done.wait(EVERY_S):
                return

    thread = threading.Thread(target=sample, name="memory", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()
