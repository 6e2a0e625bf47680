"""One writer at a time on a local folder.

Delta's commit on `file:` paths is a check and a rename, guarded only inside one JVM: two processes can both be told
"committed". So a writer holds an OS lock, which the kernel frees when the process dies, however it dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

from banyan.errors import Conflict

PATIENCE = 600.0


@contextlib.contextmanager
def locked(folder: str | None, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of an index folder (None: nothing to lock), waiting at most `patience` seconds for it."""
    if folder is None:
        yield
        return
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ".lock"), "a+") as file:
        _acquire(file, folder, patience)
        try:
            file.truncate(0)
            file.write(f"process {os.getpid()}\n")
            file.flush()
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


def _acquire(file, folder: str, patience: float) -> None:
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                file.seek(0)
                holder = file.read().strip() or "another process"
                raise Conflict(
                    f"{folder} has been locked by {holder} for {patience:.0f} s; wait for it to finish, or end it"
                ) from None
            time.sleep(0.05)
