"""The sections of the report: each takes all points and gives HTML, or nothing where nothing of it was measured."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from banyan.bench.plan import SWEEPS, sweep_point
from banyan.bench.plots import bars, lines, short

Point = dict[str, Any]


def _figure(point: Point, part: str, *keys: str) -> Any:
    """A figure of a point, None where it was not measured."""
    found = point["figures"].get(part)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _cell(value: Any, digits: int = 0) -> str:
    if value is None:
        return "-"
    return f"{value:,.{digits}f}" if isinstance(value, (int, float)) else html.escape(str(value))


def _spread(found: dict[str, Any] | None, digits: int = 0) -> str:
    """Median, and below it the extremes of so many runs."""
    if not found or found["median"] is None:
        return "-"
    runs = len(found["runs"])
    extremes = f"{found['min']:,.{digits}f} to {found['max']:,.{digits}f} in {runs}" if runs > 1 else "one run"
    return f"{found['median']:,.{digits}f}<br><span class=note>{extremes}</span>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    return f"<div class=wide><table><tr>{titles}</tr>{body}</table></div>" if body else ""


def _with(points: Sequence[Point], part: str, key: str | None = None) -> list[Point]:
    return [p for p in points if part in p["figures"] and (key is None or _figure(p, part, key) is not None)]


def _is_sweep(point: Point) -> bool:
    return point["spec"]["name"].startswith("sweep-")


def _name(point: Point) -> str:
    return html.escape(point["spec"]["name"])


def matching(points: Sequence[Point]) -> str:
    rows = []
    for point in [p for p in _with(points, "match") if not _is_sweep(p)]:
        stick = _figure(point, "yardstick", "events_per_s", "median")
        ratio = _figure(point, "yardstick", "ratio")
        rows.append(
            (
                f"{_name(point)}<br><span class=note>{html.escape(point['told'])}</span>",
                _cell(point["spec"]["expressions"]),
                _cell(point["spec"]["events"]),
                _spread(_figure(point, "match", "events_per_s")),
                _cell(stick),
                f"{ratio:.2f} x" if ratio else "-",
                _cell(_figure(point, "match", "matches_per_event"), 1),
                "yes" if _figure(point, "yardstick", "agrees") else "-",
            )
        )
    head = ("point", "expressions", "events", "events/s", "C++, events/s", "ratio", "matches/event", "same matches")
    return _table(head, rows)


def growth(points: Sequence[Point]) -> str:
    default = [p for p in points if p["spec"]["workload"] == "default" and not p["spec"]["settings"]]

    def by(axis: str, part: str, *keys: str) -> list[tuple[float, float]]:
        best: dict[float, tuple[float, float]] = {}
        for point in default:
            value = _figure(point, part, *keys)
            if value:
                size = point["spec"]["expressions"]
                # Of one size the run with most events counts.
                best[size] = max(best.get(size, (0, 0)), (point["spec"][axis], value))
        return [(size, value) for size, (_, value) in best.items()]

    over = {
        "Banyan on Spark": by("events", "match", "events_per_s", "median"),
        "the paper's matching, C++": by("events", "yardstick", "events_per_s", "median"),
        "a query of all rules (scaled)": by("events", "today", "columns", "events_per_s_scaled"),
        "a Python function (scaled)": by("events", "today", "function", "events_per_s_scaled"),
    }
    plot = lines(over, "expressions", "events/s", True, True, size=(900, 380)) if over["Banyan on Spark"] else ""
    sizes = [p["spec"]["expressions"] for p in default]
    common = max(set(sizes), key=sizes.count) if sizes else 0
    of_events = [
        (p["spec"]["events"], _figure(p, "match", "seconds", "median"))
        for p in _with(default, "match")
        if p["spec"]["expressions"] == common
    ]
    if len(of_events) > 1:
        plot += f"<h3>Seconds against events, {common:,} expressions</h3>"
        plot += lines({"Banyan on Spark": of_events}, "events", "seconds", True, True, size=(900, 280))
    return plot


def stages(points: Sequence[Point]) -> str:
    rows = {}
    for point in [p for p in _with(points, "match") if not _is_sweep(p)]:
        events = point["spec"]["events"]
        found = {name: seconds / events * 1e6 for name, seconds in point["figures"]["match"]["stages_s"].items()}
        rows[point["spec"]["name"]] = found
    table = []
    for point in _with(points, "match", "shuffled"):
        moved = point["figures"]["match"]["shuffled"]
        if not _is_sweep(point):
            cells = (short(moved["shuffle_rows"]), short(moved["shuffle_bytes"]), short(moved["spilled_bytes"]))
            counted = ", ".join(f"{k} {short(v)}" for k, v in (_figure(point, "match", "counted") or {}).items())
            table.append((_name(point), *cells, counted or "-"))
    plot = bars(rows, "us an event") if rows else ""
    return plot + _table(("point", "rows shuffled", "bytes shuffled", "bytes spilled", "counted by the match"), table)


def sweeps(points: Sequence[Point]) -> str:
    by_name = {point["spec"]["name"]: point for point in points}
    out = []
    for sweep in SWEEPS:
        found = [(value, by_name.get(sweep_point(sweep, value).name)) for value in sweep.values]
        found = [(value, point) for value, point in found if point is not None and "match" in point["figures"]]
        if len(found) < 2:
            continue
        log = sweep.parameter in ("attributes", "values")
        ticks = [value for value, _ in found]
        speed = {
            "Banyan": [(v, _figure(p, "match", "events_per_s", "median")) for v, p in found],
            "C++": [(v, _figure(p, "yardstick", "events_per_s", "median")) for v, p in found],
        }
        cost = [(v, _figure(p, "yardstick", "ns_per_element")) for v, p in found]
        size = 460, 300
        out.append(f"<h3>{sweep.title}</h3><div class=pair>")
        out.append(lines(speed, sweep.title, "events/s", log, True, ticks, size))
        out.append(lines({"ns per edge and element": cost}, sweep.title, "ns", log, False, ticks, size) + "</div>")
        known = [value for _, value in cost if value]
        steps = [max(a, b) / min(a, b) for a, b in zip(known, known[1:])]
        told = f"Between neighbours the cost differs at most {max(steps):.1f} x. " if steps else ""
        if sweep.few_from is not None:
            told += f"From {sweep.few_from:g} on with a tenth of the expressions. "
        # A group may hold the default point, which stands for all sweeps.
        group = next((p["spec"]["group"] for v, p in found if p["spec"]["name"] != "sweep-default"), "")
        out.append(f"<p class=note>{told}<code>banyan bench --full --groups {group}</code></p>")
    return "".join(out)


def building(points: Sequence[Point]) -> str:
    rows = []
    for point in [p for p in _with(points, "build") if not _is_sweep(p)]:
        build = point["figures"]["build"]
        steps = ", ".join(f"{name} {seconds:.1f}" for name, seconds in build["steps_s"].items())
        rows.append(
            (
                f"{_name(point)}<br><span class=note>{html.escape(steps)}</span>",
                _cell(point["spec"]["expressions"]),
                _cell(build["seconds"], 1),
                _cell(build["optimize_s"], 1),
                _cell(build["bytes_per_expression"], 0),
                _cell(build["bytes"]["texts"] / point["spec"]["expressions"], 0),
                *(_cell(build["stats"].get(name)) for name in ("predicates", "nodes", "edges")),
            )
        )
    head = (
        "point",
        "expressions",
        "build, s",
        "compact, s",
        "bytes/expr.",
        "text/expr.",
        "predicates",
        "nodes",
        "edges",
    )
    parsing = [
        (_name(p), _cell(_figure(p, "parse", "parse_us"), 1), _cell(_figure(p, "parse", "canonical_us"), 1))
        for p in _with(points, "parse")
    ]
    head_of_parsing = ("point", "parse, us an expression, one core", "canonical form, us more")
    return _table(head, rows) + _table(head_of_parsing, parsing)


def small_changes(points: Sequence[Point]) -> str:
    rows = []
    for point in _with(points, "changes"):
        for name, found in point["figures"]["changes"].items():
            build = _figure(point, "build", "seconds")
            share = f"{found['seconds'] / build:.2f}" if build else "-"
            cells = (_cell(found["seconds"], 1), share, _cell(found["bytes_written"] / 1e6, 1))
            rows.append((f"{_name(point)}: {name} {found['expressions']:,}", *cells))
    return _table(("point", "seconds", "of the build", "MB written"), rows)


def written_pairs(points: Sequence[Point]) -> str:
    rows = []
    for point in _with(points, "pairs"):
        found = point["figures"]["pairs"]
        rows.append(
            (
                _name(point) + (f", {html.escape(found['where'])}" if found["where"] else ""),
                _cell(found["events"]),
                _cell(found["rows"]),
                _spread(found["rows_per_s"]),
                _spread(found["plain_rows_per_s"]),
                _cell(found["share_of_plain"], 2),
            )
        )
    return _table(("point", "events", "rows", "rows/s", "plain table, rows/s", "share"), rows)


def ways_of_today(points: Sequence[Point]) -> str:
    rows = []
    names = {"columns": "all rules as columns of one query", "function": "a Python function per row over all rules"}
    for point in _with(points, "today"):
        found = point["figures"]["today"]
        ours = _figure(point, "match", "events_per_s", "median")
        for name, title in names.items():
            scaled = found[name]["events_per_s_scaled"]
            sample = f"{found['rules']:,} rules, {found['events']:,} events"
            factor = f"{ours / scaled:,.0f} x" if ours and scaled else "-"
            rows.append(
                (f"{_name(point)}: {title}", sample, _spread(found[name]["seconds"], 2), _cell(scaled, 1), factor)
            )
    return _table(("point", "sample", "seconds", "events/s, scaled", "Banyan is faster by"), rows)


def deep_rules(points: Sequence[Point]) -> str:
    rows = []
    for point in _with(points, "deep"):
        found = point["figures"]["deep"]
        cells = (_spread(found["without_s"], 2), _spread(found["with_s"], 2), f"{found['ratio']:.2f} x")
        rows.append((_name(point), _cell(found["events"]), *cells))
    return _table(("point", "events", "without them, s", "with them, s", "ratio"), rows)


def memory(points: Sequence[Point]) -> str:
    rows = []
    for point in points:
        peak = point["memory_bytes"].get("peak", {})
        if peak.get("all") and not _is_sweep(point):
            cells = [_cell(peak[kind] / 1e9, 2) for kind in ("driver", "jvm", "workers", "all")]
            rows.append((_name(point), *cells))
    return _table(("point", "driver, GB", "JVM, GB", "Python workers, GB", "all at once, GB"), rows)


def commands(points: Sequence[Point]) -> str:
    rows = [(_name(p), f"<code>{html.escape(p['command'])}</code>") for p in points if not _is_sweep(p)]
    return _table(("point", "command that measures it alone"), rows)


def failures(points: Sequence[Point]) -> str:
    rows = [
        (_name(p), html.escape(part), f"<span class=failed>{html.escape(why)}</span>")
        for p in points
        for part, why in p["failed"].items()
    ]
    return _table(("point", "part", "why"), rows)


ALL: tuple[tuple[str, str, Callable[[Sequence[Point]], str]], ...] = (
    ("Failed", "Parts that ended with an error.", failures),
    (
        "Matching",
        "Counts of the events that satisfy each expression; warm, medians of the runs that count. C++: the A-Tree "
        "paper's matching, one event at a time on one core, reading not counted. Same matches: both find as many.",
        matching,
    ),
    (
        "How it grows",
        "Default workload. The ways of today are measured on a sample and scaled in proportion.",
        growth,
    ),
    (
        "Cost per stage",
        "Microseconds an event, medians; what is shuffled by the last run. Points differ in their numbers of events.",
        stages,
    ),
    (
        "Pairs written to Delta",
        "Beside it Spark writing as many rows of two plain columns in the same run.",
        written_pairs,
    ),
    ("Building", "From text in parquet to a published version; bytes of the index on disk, texts left out.", building),
    ("Small changes", "Seconds, also as a share of the build, and bytes written.", small_changes),
    (
        "What users do today",
        "On a sample, scaled in proportion to all rules, which flatters them.",
        ways_of_today,
    ),
    (
        "One deep rule",
        "The same match without and with a chain of 64 XORs and a rule of depth 1,000, in turns.",
        deep_rules,
    ),
    (
        "Sweeps of the paper's Table 3",
        "ABE-Gen with the paper's mix of operators, one parameter varied at a time. Cost: nanoseconds per edge plus "
        "element of the sets that edges carry.",
        sweeps,
    ),
    ("Peak memory", "Resident, sampled twice a second; pages that forked workers share count for each.", memory),
    ("Commands", "Each figure can be had again.", commands),
)
