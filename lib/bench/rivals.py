"""What Banyan is held against in the same run: the paper's matching in C++, and what users do on Spark today.

The two ways of today are measured on a sample of rules and events and scaled in proportion, which flatters them: a
query of more columns costs more than in proportion to plan. That they are scaled is said with every figure.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from banyan.bench import files, texts
from banyan.bench.forest import Forest
from banyan.bench.parts import counted
from banyan.bench.point import repeated, spread
from banyan.bench.yardstick import run as yardstick_run
from banyan.bench.zero import negation_free
from banyan.errors import BanyanError

if TYPE_CHECKING:
    from banyan.bench.bench import Bench


class WrongAnswer(BanyanError):
    """Two ways to match found different numbers of matches: a bug, and the figures mean nothing."""


def yardstick(bench: Bench) -> dict[str, Any]:
    """The paper's matching on one core, and whether it finds as many matches as Banyan."""
    spec = bench.spec
    if yardstick_run.compiler() is None:
        return {"left_out": "no C++ compiler"}
    # The spread needs several runs; those on all events take long enough to be steady.
    events = bench.some_events(min(spec.yardstick_events, spec.events))
    found = yardstick_run.measure(bench.forest, events, max(1, min(3, spec.repeat)), bench.programs)
    bench.tell(f"yardstick: {found.events_per_s:,.0f} events/s on one core")
    agreed = _agreed(bench, "match", events.count, found.matches)
    made = {
        "events": found.events,
        "seconds": spread(found.seconds),
        "events_per_s": spread([found.events / seconds for seconds in found.seconds], 1),
        "matches": found.matches,
        "agrees": agreed,
        "edges": found.edges,
        "sets_combined": found.sets,
        "elements_per_event": round(found.work / found.events, 1),
    }
    if "pairs" in bench.figures:
        made["pairs_agree"] = _pairs_agree(bench)
    if "match" in bench.figures:
        ours = bench.figures["match"]["events_per_s"]["median"]
        made["ratio"] = round(ours / found.events_per_s, 3)
        edges = bench.figures["build"]["stats"]["edges"] if "build" in bench.figures else found.edges
        work = edges + found.work / found.events * spec.events
        made["ns_per_element"] = round(bench.figures["match"]["seconds"]["median"] / work * 1e9, 3)
    return made


def _agreed(bench: Bench, part: str, events: int, matches: int) -> bool:
    """True, or WrongAnswer."""
    if events == bench.spec.events and part in bench.figures:
        ours = bench.figures[part]["matches"]
    else:
        ours = counted(bench, bench.index, bench.events_of("check", events))
    return _equal(bench, events, ours, matches)


def _equal(bench: Bench, events: int, ours: int, matches: int) -> bool:
    if ours != matches:
        raise WrongAnswer(
            f"{bench.spec.name}: Banyan finds {ours:,} matches of {events:,} events, the yardstick {matches:,}; "
            f"{bench.spec.command()} shows it"
        )
    return True


def _pairs_agree(bench: Bench) -> bool:
    spec, forest = bench.spec, bench.forest
    kept = forest._replace(roots=forest.roots[:: spec.keeping])
    events = bench.some_events(spec.pairs_events)
    found = yardstick_run.measure(kept, events, 1, bench.programs)
    return _equal(bench, events.count, bench.figures["pairs"]["rows"], found.matches)


def today(bench: Bench) -> dict[str, Any]:
    """All rules as columns of one query, and a Python function over all rules for each row."""
    spec = bench.spec
    rules = np.linspace(0, spec.expressions - 1, min(spec.today_rules, spec.expressions)).astype(np.int64)
    events = bench.made.events(min(spec.today_events, spec.events))
    path = f"{bench.folder}/wide.parquet"
    files.write_events(path, events, bench.names, wide=True)
    forest = bench.forest
    runs = {"columns": _columns(bench, path, forest, rules), "function": _function(bench, path, forest, rules)}
    found: dict[str, Any] = {"rules": len(rules), "events": events.count, "scaled_to": spec.expressions}
    totals = set()
    for name, run in runs.items():
        matches: list[int] = []

        def timed(run: Callable[[], int] = run, matches: list[int] = matches) -> float:
            start = time.monotonic()
            matches.append(run())
            return time.monotonic() - start

        _, seconds = repeated(timed, 1, min(2, spec.repeat), spec.budget_s)
        scaled = events.count / statistics.median(seconds) * len(rules) / spec.expressions
        bench.tell(f"{name}: {scaled:,.1f} events/s, scaled from {len(rules):,} to {spec.expressions:,} rules")
        totals |= set(matches)
        found[name] = {"seconds": spread(seconds), "events_per_s_scaled": round(scaled, 2)}
    if len(totals) > 1:
        raise WrongAnswer(f"{spec.name}: columns and function find different numbers of matches: {sorted(totals)}")
    return found | {"matches": totals.pop()}


def _columns(bench: Bench, path: str, forest: Forest, rules: np.ndarray) -> Callable[[], int]:
    conditions = texts.texts(forest, texts.SPARK, rules)

    def run() -> int:
        from pyspark.sql import functions as F

        columns = [F.count_if(F.expr(text)).alias(f"r{i}") for i, text in enumerate(conditions)]
        return sum(bench.spark.read.parquet(path).agg(*columns).first())

    return run


def _function(bench: Bench, path: str, forest: Forest, rules: np.ndarray) -> Callable[[], int]:
    sources = python_rules(forest, rules)

    def run() -> int:
        from pyspark.sql import functions as F

        count = F.udf(counter(sources), "int")
        frame = bench.spark.read.parquet(path)
        return frame.select(count(F.struct(*frame.columns)).alias("n")).groupBy().sum("n").first()[0]

    return run


def python_rules(forest: Forest, rules: np.ndarray) -> list[str]:
    """The expressions at these places as Python, over the dict `e` of an event."""
    return texts.texts(negation_free(forest), texts.PYTHON, rules)


def counter(sources: list[str]) -> Callable[[Any], int]:
    """A function of a row: how many of the rules it satisfies. The rules are compiled once per worker."""
    compiled: list[Callable[[dict], bool]] = []

    def count(row: Any) -> int:
        if not compiled:
            nan = {"nan": float("nan")}
            compiled.extend(eval(f"lambda e: {source}", nan) for source in sources)
        event = {name: value for name, value in row.asDict().items() if value is not None}
        return sum(1 for rule in compiled if rule(event))

    return count
