"""`python -m banyan.bench` (`make bench`): parse, build and match the paper's default workload on this machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from banyan.bench import workload
from banyan.progress import Steps, to_stderr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from banyan.index import Index


def main(argv: list[str] | None = None) -> int:
    given = _arguments().parse_args(argv)
    report = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "workload": f"{given.expressions:,} expressions, {given.events:,} events, seed {given.seed}",
    }
    to_stderr(f"{report['workload']} on {report['machine']}")
    folder = tempfile.mkdtemp(prefix="banyan-bench-")
    try:
        rules, events = f"{folder}/rules.parquet", f"{folder}/events.parquet"
        workload.write_rules(rules, given.expressions, given.seed)
        workload.write_events(events, given.events)
        report["parse"] = _parse(given.seed)
        report |= _spark(folder, rules, events, given)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(given.out, exist_ok=True)
    path = os.path.join(given.out, f"bench-{given.expressions}-{given.events}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
    to_stderr(f"written to {path}")
    return 0


def _parse(seed: int) -> dict[str, float]:
    """Microseconds for one 16-predicate expression on one core, texts never seen before."""
    from banyan.language.parser import parse
    from banyan.normal.canonical import Canonical

    texts = workload.expressions(5_000, seed)
    start = time.process_time()
    trees = [parse(text) for text in texts]
    parsed = time.process_time()
    canonical = Canonical()
    for tree in trees:
        canonical.add(tree)
    done = time.process_time()
    found = {
        "parse_us": round((parsed - start) / len(texts) * 1e6, 1),
        "canonical_us": round((done - parsed) / len(texts) * 1e6, 1),
    }
    to_stderr(f"parse: {found['parse_us']} us an expression, canonical form: {found['canonical_us']} us")
    return found


def _spark(folder: str, rules: str, events: str, given: argparse.Namespace) -> dict:
    import banyan

    spark = banyan.session("banyan-bench")
    index = banyan.Index.create(spark, f"{folder}/index")
    to_stderr("build:")
    steps = Steps(to_stderr)
    start = time.monotonic()
    index.add(spark.read.parquet(rules), steps=steps)
    build = time.monotonic() - start
    to_stderr(f"  {'in all':<24}{build:8.1f} s")
    changes = _changes(spark, index, given) if given.changes else {}
    runs, stages = [], {}
    for turn in range(given.repeat + 2):
        # The JVM and the workers need two rounds to warm up; they are shown and not counted.
        taken = Steps()
        start = time.monotonic()
        rows = index.match(
            spark.read.parquet(events),
            id="event_id",
            attribute="attribute",
            value="value",
            output="counts",
            steps=taken,
        )
        total = rows.groupBy().sum("events").first()[0]
        seconds = time.monotonic() - start
        shown = ", ".join(f"{name} {value:.1f}" for name, value in taken.seconds.items())
        to_stderr(f"match {turn + 1}: {seconds:.1f} s, {given.events / seconds:,.0f} events/s ({shown})")
        if turn >= 2:
            runs.append(seconds)
            stages = taken.seconds
    spark.stop()
    return changes | {
        "build_s": round(build, 1),
        "build_steps_s": {name: round(value, 1) for name, value in steps.seconds.items()},
        "match_events_per_s": round(given.events / statistics.median(runs)),
        "match_s": [round(seconds, 1) for seconds in runs],
        "match_stages_s": {name: round(value, 1) for name, value in stages.items()},
        "matches_per_event": round(total / given.events, 1),
    }


def _changes(spark: SparkSession, index: Index, given: argparse.Namespace) -> dict:
    """Seconds and bytes written to add, replace and remove `given.changes` expressions; the index is then as before."""
    count = given.changes
    columns = "expression_id long, expression string"
    first, second = (workload.expressions(count, given.seed + turn) for turn in (1_000, 2_000))
    ids = range(given.expressions, given.expressions + count)
    operations = {
        "add": lambda steps: index.add(spark.createDataFrame(list(zip(ids, first)), columns), steps=steps),
        "replace": lambda steps: index.replace(spark.createDataFrame(list(zip(ids, second)), columns), steps=steps),
        "remove": lambda steps: index.remove(list(ids), steps=steps),
    }
    found = {}
    for name, operation in operations.items():
        steps, before, start = Steps(), _bytes(index.where), time.monotonic()
        operation(steps)
        seconds, written = time.monotonic() - start, _bytes(index.where) - before
        shown = ", ".join(f"{step} {value:.1f}" for step, value in steps.seconds.items())
        to_stderr(f"{name} {count:,}: {seconds:.1f} s, {written / 1e6:.1f} MB written ({shown})")
        found[name] = {"expressions": count, "s": round(seconds, 1), "bytes_written": written}
    return {"changes": found, "index_bytes": before}


def _bytes(folder: str) -> int:
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m banyan.bench", description=__doc__)
    parser.add_argument("--expressions", type=int, default=100_000, help="how many rules (default: 100000)")
    parser.add_argument("--events", type=int, default=262_144, help="how many events (default: 262144)")
    parser.add_argument("--changes", type=int, default=1_000, help="rules to add, replace and remove (default: 1000)")
    parser.add_argument("--repeat", type=int, default=3, help="warm runs to take the median of (default: 3)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="bench-out", help="folder for the JSON (default: bench-out)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
