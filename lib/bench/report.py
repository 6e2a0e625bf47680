"""The report of a run: one HTML file that needs nothing else, and one JSON with all points."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from typing import Any

from banyan.bench import sections
from banyan.bench.bench import path_of
from banyan.bench.point import Spec

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2733; max-width: 960px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.7em; margin-bottom: .2em; }
h2 { font-size: 1.25em; margin-top: 2em; border-bottom: 1px solid #d5dce3; }
h3 { font-size: 1em; margin: 1.2em 0 .2em; } p.note, p.none, span.note { color: #5c6b73; font-size: .9em; }
table { border-collapse: collapse; width: 100%; font-size: .88em; margin: .6em 0; }
th, td { padding: .3em .55em; text-align: right; border-bottom: 1px solid #e6ebf0; vertical-align: top; }
th { color: #5c6b73; font-weight: 600; } th:first-child, td:first-child { text-align: left; }
code { font: .85em ui-monospace, monospace; background: #f2f5f8; padding: .1em .3em; overflow-wrap: anywhere; }
span.note { white-space: nowrap; } span.told { color: #5c6b73; font-size: .9em; }
td code { display: inline-block; text-align: left; } .wide { overflow-x: auto; }
.pair { display: flex; flex-wrap: wrap; gap: 12px; } svg { max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: #33414f; } svg text.axis { fill: #5c6b73; }
svg line.grid { stroke: #e3e9ef; } .failed { color: #a3182c; }
"""


def write(out: str, specs: Sequence[Spec]) -> list[dict[str, Any]]:
    """Write `out`/bench.json and `out`/bench.html from the points that are there; those points."""
    points = []
    for spec in specs:
        try:
            with open(path_of(out, spec), encoding="utf-8") as file:
                points.append(json.load(file))
        except FileNotFoundError:
            continue
    _put(os.path.join(out, "bench.json"), json.dumps({"points": points}, indent=1))
    _put(os.path.join(out, "bench.html"), page(points))
    return points


def _put(path: str, text: str) -> None:
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


def page(points: Sequence[dict[str, Any]]) -> str:
    """The report as HTML."""
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>Banyan benchmark</title><style>{_STYLE}</style>"]
    parts.append("<h1>Banyan benchmark</h1>" + _head(points))
    for title, note, section in sections.ALL:
        body = section(points)
        if body:
            parts.append(f"<h2>{title}</h2><p class=note>{note}</p>{body}")
    return "\n".join(parts) + "\n</html>\n"


def _head(points: Sequence[dict[str, Any]]) -> str:
    if not points:
        return "<p class=none>No point is measured yet.</p>"
    found = max(points, key=lambda point: len(point["machine"]))["machine"]
    days = sorted({point["when"][:10] for point in points if point["when"]})
    seeds = sorted({point["spec"]["seed"] for point in points})
    java = found.get("java", "").replace('"', "")
    lines = [
        f"{found['cpu']}, {found['cores']} cores, {found['memory_gb']} GB, {found['system']}",
        f"Banyan {found['banyan']}, Spark {found.get('spark', '-')} on {found.get('master', '-')} "
        f"with a heap of {found.get('heap', '-')}, {java}, Python {found['python']}",
        f"{' to '.join(dict.fromkeys((days[0], days[-1]))) if days else ''}; seed {', '.join(map(str, seeds))}; "
        f"{len(points)} points in {sum(point['took_s'] for point in points) / 60:.0f} minutes",
    ]
    return "<p>" + "<br>".join(html.escape(line) for line in lines) + "</p>"
