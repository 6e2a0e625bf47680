"""What the sections of the report are made of: figures of points, cells, tables."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

Point = dict[str, Any]


def figure(point: Point, part: str, *keys: str) -> Any:
    """A figure of a point, None where it was not measured."""
    found = point["figures"].get(part)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def cell(value: Any, digits: int = 0) -> str:
    if value is None:
        return "-"
    return f"{value:,.{digits}f}" if isinstance(value, (int, float)) else html.escape(str(value))


def spread(found: dict[str, Any] | None, digits: int = 0) -> str:
    """Median, and below it the extremes of so many runs."""
    if not found or found["median"] is None:
        return "-"
    runs = len(found["runs"])
    extremes = f"{found['min']:,.{digits}f} to {found['max']:,.{digits}f} in {runs}" if runs > 1 else "one run"
    return f"{found['median']:,.{digits}f}<br><span class=note>{extremes}</span>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in rows)
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    return f"<div class=wide><table><tr>{titles}</tr>{body}</table></div>" if body else ""


def having(points: Sequence[Point], part: str, key: str | None = None) -> list[Point]:
    return [p for p in points if part in p["figures"] and (key is None or figure(p, part, key) is not None)]


def is_sweep(point: Point) -> bool:
    return point["spec"]["name"].startswith("sweep-")


def named(point: Point) -> str:
    return html.escape(point["spec"]["name"])
