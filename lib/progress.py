"""Long work shows itself: named steps with their times, and a bar for batches on a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


class Steps:
    """Times named steps; tells them through `say` as they end (None: keeps quiet)."""

    def __init__(self, say: Callable[[str], None] | None = None):
        self._say = say
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        taken = time.monotonic() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + taken
        if self._say is not None:
            self._say(f"  {name:<24}{taken:8.1f} s")


def to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def bar(items: Iterable[Item], total: int, unit: str, shown: bool | None = None) -> Iterable[Item]:
    """`items` with a progress bar on stderr. By default only on a terminal and for more than one item."""
    if shown is None:
        shown = sys.stderr.isatty() and total > 1
    if not shown:
        return items
    from tqdm import tqdm

    return tqdm(items, total=total, unit=unit, file=sys.stderr, leave=False)
