"""The sections of the report: each takes all points and gives HTML, or nothing where nothing of it was measured."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from banyan.bench.cells import Point, cell, figure, having, is_sweep, named, spread, table
from banyan.bench.plan import SWEEPS, sweep_point
from banyan.bench.plots import bars, lines, short


def matching(points: Sequence[Point]) -> str:
    rows = []
    for point in [p for p in having(points, "match") if not is_sweep(p)]:
        stick = figure(point, "yardstick", "events_per_s", "median")
        ratio = figure(point, "yardstick", "ratio")
        rows.append(
            (
                f"{named(point)}<br><span class=told>{html.escape(point['told'])}</span>",
                cell(point["spec"]["expressions"]),
                cell(point["spec"]["events"]),
                spread(figure(point, "match", "events_per_s")),
                cell(stick),
                f"{ratio:.2f} x" if ratio else "-",
                cell(figure(point, "match", "matches_per_event"), 1),
                "yes" if figure(point, "yardstick", "agrees") else "-",
            )
        )
    head = ("point", "expressions", "events", "events/s", "C++, events/s", "ratio", "matches/event", "same matches")
    return table(head, rows)


def growth(points: Sequence[Point]) -> str:
    default = [p for p in points if p["spec"]["workload"] == "default" and not p["spec"]["settings"]]

    def by(axis: str, part: str, *keys: str) -> list[tuple[float, float]]:
        best: dict[float, tuple[float, float]] = {}
        for point in default:
            value = figure(point, part, *keys)
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
        (p["spec"]["events"], figure(p, "match", "seconds", "median"))
        for p in having(default, "match")
        if p["spec"]["expressions"] == common
    ]
    if len(of_events) > 1:
        plot += f"<h3>Seconds against events, {common:,} expressions</h3>"
        plot += lines(
            {"Banyan on Spark": of_events}, "events", "seconds", True, True, sorted(x for x, _ in of_events), (900, 280)
        )
    return plot


def stages(points: Sequence[Point]) -> str:
    rows = {}
    for point in [p for p in having(points, "match") if not is_sweep(p)]:
        events = point["spec"]["events"]
        found = {name: seconds / events * 1e6 for name, seconds in point["figures"]["match"]["stages_s"].items()}
        rows[point["spec"]["name"]] = found
    moves = []
    for point in having(points, "match", "shuffled"):
        moved = point["figures"]["match"]["shuffled"]
        if not is_sweep(point):
            cells = (short(moved["shuffle_rows"]), short(moved["shuffle_bytes"]), short(moved["spilled_bytes"]))
            sets, elements = (figure(point, "yardstick", k) for k in ("sets_combined", "elements_per_event"))
            work = (short(sets), short(elements * point["spec"]["events"])) if sets else ("-", "-")
            counted = ", ".join(f"{k} {short(v)}" for k, v in (figure(point, "match", "counted") or {}).items())
            moves.append((named(point), *cells, *work, counted or "-"))
    plot = bars(rows, "us an event") if rows else ""
    head = (
        "point",
        "rows shuffled",
        "bytes shuffled",
        "bytes spilled",
        "sets combined",
        "elements",
        "counted by the match",
    )
    return plot + table(head, moves)


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
        speed: dict[str, list[tuple[float, float]]] = {}
        for value, point in found:
            size = short(point["spec"]["expressions"])
            for name, part in (("Banyan", "match"), ("C++", "yardstick")):
                speed_of = figure(point, part, "events_per_s", "median")
                speed.setdefault(f"{name}, {size} expressions", []).append((value, speed_of))
        cost = [(v, figure(p, "yardstick", "ns_per_element")) for v, p in found]
        size = 460, 300
        out.append(f"<h3>{sweep.title}</h3><div class=pair>")
        out.append(lines(speed, sweep.title, "events/s", log, True, ticks, size))
        out.append(lines({"ns per edge and element": cost}, sweep.title, "ns", log, False, ticks, size) + "</div>")
        known = [value for _, value in cost if value]
        steps = [max(a, b) / min(a, b) for a, b in zip(known, known[1:])]
        told = f"Between neighbours the cost differs at most {max(steps):.1f} x. " if steps else ""
        # A group may hold the default point, which stands for all sweeps.
        group = next((p["spec"]["group"] for v, p in found if p["spec"]["name"] != "sweep-default"), "")
        out.append(f"<p class=note>{told}<code>banyan bench --full --groups {group}</code></p>")
    return "".join(out)


def building(points: Sequence[Point]) -> str:
    rows = []
    for point in [p for p in having(points, "build") if not is_sweep(p) and not figure(p, "build", "taken_over")]:
        build = point["figures"]["build"]
        steps = ", ".join(f"{name} {seconds:.1f}" for name, seconds in build["steps_s"].items())
        rows.append(
            (
                f"{named(point)}<br><span class=told>{html.escape(steps)}</span>",
                cell(point["spec"]["expressions"]),
                cell(build["seconds"], 1),
                cell(build["optimize_s"], 1),
                cell(build["bytes_per_expression"], 0),
                cell(build["bytes"]["texts"] / point["spec"]["expressions"], 0),
                *(cell(build["stats"].get(name)) for name in ("predicates", "nodes", "edges")),
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
        (named(p), cell(figure(p, "parse", "parse_us"), 1), cell(figure(p, "parse", "canonical_us"), 1))
        for p in having(points, "parse")
    ]
    head_of_parsing = ("point", "parse, us an expression, one core", "canonical form, us more")
    return table(head, rows) + table(head_of_parsing, parsing)


def small_changes(points: Sequence[Point]) -> str:
    rows = []
    for point in having(points, "changes"):
        for name, found in point["figures"]["changes"].items():
            build = figure(point, "build", "seconds")
            share = f"{found['seconds'] / build:.2f}" if build else "-"
            cells = (cell(found["seconds"], 1), share, cell(found["bytes_written"] / 1e6, 1))
            rows.append((f"{named(point)}: {name} {found['expressions']:,}", *cells))
    return table(("point", "seconds", "of the build", "MB written"), rows)


def written_pairs(points: Sequence[Point]) -> str:
    rows = []
    for point in having(points, "pairs"):
        found = point["figures"]["pairs"]
        rows.append(
            (
                named(point) + (f", {html.escape(found['where'])}" if found["where"] else ""),
                cell(found["events"]),
                cell(found["rows"]),
                spread(found["rows_per_s"]),
                spread(found["plain_rows_per_s"]),
                cell(found["share_of_plain"], 2),
            )
        )
    return table(("point", "events", "rows", "rows/s", "plain table, rows/s", "share"), rows)


def ways_of_today(points: Sequence[Point]) -> str:
    rows = []
    names = {"columns": "all rules as columns of one query", "function": "a Python function per row over all rules"}
    for point in having(points, "today"):
        found = point["figures"]["today"]
        ours = figure(point, "match", "events_per_s", "median")
        for name, title in names.items():
            scaled = found[name]["events_per_s_scaled"]
            sample = f"{found['rules']:,} rules, {found['events']:,} events"
            factor = f"{ours / scaled:,.0f} x" if ours and scaled else "-"
            rows.append(
                (f"{named(point)}: {title}", sample, spread(found[name]["seconds"], 2), cell(scaled, 1), factor)
            )
    return table(("point", "sample", "seconds", "events/s, scaled", "Banyan is faster by"), rows)


def deep_rules(points: Sequence[Point]) -> str:
    rows = []
    for point in having(points, "deep"):
        found = point["figures"]["deep"]
        cells = (spread(found["without_s"], 2), spread(found["with_s"], 2), f"{found['ratio']:.2f} x")
        rows.append((named(point), cell(found["events"]), *cells))
    return table(("point", "events", "without them, s", "with them, s", "ratio"), rows)


def memory(points: Sequence[Point]) -> str:
    rows = []
    for point in points:
        peak = point["memory_bytes"].get("peak", {})
        if peak.get("all") and not is_sweep(point):
            cells = [cell(peak[kind] / 1e9, 2) for kind in ("driver", "jvm", "workers", "all")]
            rows.append((named(point), *cells))
    return table(("point", "driver, GB", "JVM, GB", "Python workers, GB", "all at once, GB"), rows)


def commands(points: Sequence[Point]) -> str:
    rows = [(named(p), f"<code>{html.escape(p['command'])}</code>") for p in points if not is_sweep(p)]
    return table(("point", "command that measures it alone"), rows)


def failures(points: Sequence[Point]) -> str:
    rows = [
        (named(p), html.escape(part), f"<span class=failed>{html.escape(why)}</span>")
        for p in points
        for part, why in p["failed"].items()
    ]
    return table(("point", "part", "why"), rows)


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
        "Microseconds an event, medians; what the last run shuffled. Sets combined, and the elements in them: the work "
        "of a match by sets (a set for each edge whose child some event satisfies), as the yardstick counts it.",
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
