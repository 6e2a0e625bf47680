"""Rows as a table of plain text."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

WIDEST = 80


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns under their names, numbers to the right."""
    rows = list(rows)
    cells = [list(columns)] + [[text(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    right = [bool(rows) and all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(columns))]

    def line(parts: Sequence[str]) -> str:
        return "  ".join(p.rjust(w) if r else p.ljust(w) for p, w, r in zip(parts, widths, right)).rstrip()

    return "\n".join([line(cells[0]), line(["-" * width for width in widths]), *map(line, cells[1:])])


def text(value: Any) -> str:
    """A value in one line; what is long is cut."""
    if value is None:
        return "NULL"
    if isinstance(value, datetime.datetime):
        return instant(value)
    if isinstance(value, list):
        more = f", ... {len(value) - 10:,} more" if len(value) > 10 else ""
        value = "[" + ", ".join(text(one) for one in value[:10]) + more + "]"
    shown = " ".join(str(value).split())
    return shown if len(shown) <= WIDEST else shown[: WIDEST - 3] + "..."


def instant(moment: datetime.datetime) -> str:
    """In UTC, to the microsecond: what is printed here can be given to --timestamp."""
    utc = moment.astimezone(datetime.timezone.utc)
    return utc.replace(tzinfo=None).isoformat(" ") + "Z"
