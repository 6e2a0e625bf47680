"""What is measured on an index that is there: counts, pairs, the rule of depth 1,000, small changes.

Each function takes a Bench and gives a dict of figures. Counts of matches are held against those of the yardstick.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import numpy as np
import pyarrow.parquet as pq

from banyan.bench import texts
from banyan.bench.point import repeated, spread
from banyan.bench.shuffled import Shuffled
from banyan.columns import EXPRESSION_ID
from banyan.progress import Steps
from banyan.store.tables import PINNED

if TYPE_CHECKING:
    from banyan.bench.bench import Bench
    from banyan.index import Index

XORS, DEPTH = 64, 1_000
# Ids of expressions that a part brings, above those of the workload.
OWN_IDS = 10**12


def build(bench: Bench) -> dict[str, Any]:
    """From text in parquet to a published version, then compacted."""
    from banyan.index import Index

    rules = bench.spark.read.parquet(bench.rules_path)
    if bench.spec.keeping > 1:
        rules = rules.selectExpr("*", f"{EXPRESSION_ID} % {bench.spec.keeping} AS slot")
    steps, start = Steps(bench.say), time.monotonic()
    index = bench.index = Index.create(bench.spark, bench.index_path)
    index.add(rules, steps=steps)
    seconds = time.monotonic() - start
    start = time.monotonic()
    index.optimize()
    optimized = time.monotonic() - start
    stats = index.stats()
    sizes = live_bytes(index)
    return {
        "seconds": round(seconds, 2),
        "steps_s": {name: round(value, 2) for name, value in steps.seconds.items()},
        "optimize_s": round(optimized, 2),
        "bytes": sizes,
        "bytes_per_expression": round(sum(v for k, v in sizes.items() if k != "texts") / bench.spec.expressions, 1),
        "stats": {name: value for name, value in stats.items() if isinstance(value, int)},
    }


def live_bytes(index: Index) -> dict[str, int]:
    """Bytes of the files that the head needs, table by table; the texts of the expressions apart from their table."""
    found = {"texts": 0}
    for table in PINNED:
        files = [unquote(urlparse(path).path) for path in index.table(table).inputFiles()]
        found[table] = sum(os.path.getsize(file) for file in files)
        if table == "expressions":
            for file in files:
                found["texts"] += _column_bytes(file, "expression")
            found[table] -= found["texts"]
    return found


def _column_bytes(file: str, column: str) -> int:
    with pq.ParquetFile(file) as parquet:
        groups = [parquet.metadata.row_group(i) for i in range(parquet.metadata.num_row_groups)]
    columns = (group.column(i) for group in groups for i in range(group.num_columns))
    return sum(c.total_compressed_size for c in columns if c.path_in_schema == column)


def match(bench: Bench) -> dict[str, Any]:
    """Counts of all events, warm."""
    spec, taken, shuffles = bench.spec, [], []
    seen = Shuffled(bench.spark)
    total = 0

    def run() -> float:
        nonlocal total
        steps, start = Steps(), time.monotonic()
        total = counted(bench, bench.index, bench.events_path, steps)
        seconds = time.monotonic() - start
        taken.append(steps)
        shuffles.append(seen.since())
        bench.tell(f"match {len(taken)}: {seconds:.1f} s, {spec.events / seconds:,.0f} events/s ({_shown(steps)})")
        return seconds

    cold, warm = repeated(run, spec.warm, spec.repeat, spec.budget_s)
    names = dict.fromkeys(name for steps in taken for name in steps.seconds)
    stages = {name: statistics.median(s.seconds.get(name, 0.0) for s in taken[len(cold) :]) for name in names}
    stages["result"] = max(0.0, statistics.median(warm) - sum(stages.values()))
    found = {
        "seconds": spread(warm),
        "warm_up_s": [round(seconds, 2) for seconds in cold],
        "events_per_s": spread([spec.events / seconds for seconds in warm], 1),
        "stages_s": {name: round(value, 3) for name, value in stages.items()},
        "matches": total,
        "matches_per_event": round(total / spec.events, 2),
        "shuffled": shuffles[-1],
    }
    # What the match itself counts of its work, where it does.
    counts = getattr(taken[-1], "counts", None)
    return found | ({"counted": dict(counts)} if counts else {})


def counted(bench: Bench, index: Index, path: str, steps: Steps | None = None) -> int:
    """How many pairs match: the sum of the counts."""
    rows = index.match(
        bench.spark.read.parquet(path),
        id="event_id",
        attribute="attribute",
        value="value",
        output="counts",
        steps=steps,
        progress=False,
    )
    return rows.groupBy().sum("events").first()[0] or 0


def _shown(steps: Steps) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in steps.seconds.items())


def pairs(bench: Bench) -> dict[str, Any]:
    """Pairs written to Delta, and beside it Spark writing as many rows of two plain columns."""
    spec, spark = bench.spec, bench.spark
    path = bench.events_of("pairs", spec.pairs_events)
    where = "slot = 0" if spec.keeping > 1 else None
    target = f"{bench.folder}/matches"
    rows = 0

    def ours() -> float:
        nonlocal rows
        shutil.rmtree(target, ignore_errors=True)
        start = time.monotonic()
        found = bench.index.match(
            spark.read.parquet(path),
            id="event_id",
            attribute="attribute",
            value="value",
            where=where,
            into=target,
            progress=False,
        )
        seconds = time.monotonic() - start
        rows = found.count()
        bench.tell(f"pairs: {rows:,} rows in {seconds:.1f} s, {rows / seconds:,.0f} rows/s")
        return seconds

    def plain() -> float:
        shutil.rmtree(target, ignore_errors=True)
        start = time.monotonic()
        # The same two columns: events in runs, expressions in no order.
        each = max(1, rows // max(1, spec.pairs_events))
        made = spark.range(rows).selectExpr(
            f"id div {each} AS event_id", f"pmod(xxhash64(id), {spec.expressions}) AS expression_id"
        )
        made.write.format("delta").save(target)
        seconds = time.monotonic() - start
        bench.tell(f"plain: {rows:,} rows in {seconds:.1f} s, {rows / seconds:,.0f} rows/s")
        return seconds

    _, our_s = repeated(ours, 1, min(2, spec.repeat), spec.budget_s)
    _, plain_s = repeated(plain, 1, min(2, spec.repeat), spec.budget_s)
    shutil.rmtree(target, ignore_errors=True)
    bench.index.release()
    return {
        "events": spec.pairs_events,
        "where": where,
        "rows": rows,
        "seconds": spread(our_s),
        "rows_per_s": spread([rows / seconds for seconds in our_s], 0),
        "plain_seconds": spread(plain_s),
        "plain_rows_per_s": spread([rows / seconds for seconds in plain_s], 0),
        "share_of_plain": round(statistics.median(plain_s) / statistics.median(our_s), 3) if rows else None,
    }


def deep(bench: Bench) -> dict[str, Any]:
    """The same match with and without a chain of 64 XORs and a rule of depth 1,000, in turns."""
    from banyan.index import Index

    spec, before = bench.spec, bench.index.version
    columns = "expression_id long, expression string" + (", slot long" if spec.keeping > 1 else "")
    rules = [(OWN_IDS + i, text) for i, text in enumerate(deep_rules(bench.names.attributes, bench.values))]
    rows = [(*rule, 0) if spec.keeping > 1 else rule for rule in rules]
    bench.index.add(bench.spark.createDataFrame(rows, columns))
    path = bench.events_of("deep", spec.deep_events)
    indexes = {
        "without": Index.open(bench.spark, bench.index_path, version=before),
        "with": Index.open(bench.spark, bench.index_path),
    }
    taken: dict[str, list[float]] = {name: [] for name in indexes}
    for turn in range(2 + spec.repeat):
        for name, index in indexes.items():
            start = time.monotonic()
            counted(bench, index, path)
            if turn >= 2:
                taken[name].append(time.monotonic() - start)
    for index in indexes.values():
        index.release()
    bench.index.remove([OWN_IDS, OWN_IDS + 1])
    ratio = statistics.median(taken["with"]) / statistics.median(taken["without"])
    bench.tell(f"deep rules: {ratio:.2f} x the time")
    return {
        "events": spec.deep_events,
        "without_s": spread(taken["without"]),
        "with_s": spread(taken["with"]),
        "ratio": round(ratio, 3),
    }


def deep_rules(names: list[str], values: int) -> list[str]:
    """A chain of 64 XORs, and a rule in which AND and OR alternate a thousand levels deep."""
    tests = [f"{names[i % len(names)]} >= {values // 2 + i % max(1, values // 2)}" for i in range(DEPTH)]
    chain = " XOR ".join(f"({test})" for test in tests[: XORS + 1])
    nested = tests[DEPTH - 1]
    for i in range(DEPTH - 2, -1, -1):
        nested = f"{tests[i]} {'AND' if i % 2 else 'OR'} ({nested})"
    return [chain, nested]


def changes(bench: Bench) -> dict[str, Any]:
    """Add, replace and remove some expressions; the index is then as it was."""
    spec, count = bench.spec, bench.spec.changes
    first, second = (texts.texts(bench.other(turn).forest(count)) for turn in (1_000, 2_000))
    ids = range(OWN_IDS, OWN_IDS + count)

    def frame(rules: list[str]):
        made = bench.spark.createDataFrame(list(zip(ids, rules)), "expression_id long, expression string")
        return made.selectExpr("*", "0L AS slot") if spec.keeping > 1 else made

    operations: dict[str, Callable[[Steps], Any]] = {
        "add": lambda steps: bench.index.add(frame(first), steps=steps),
        "replace": lambda steps: bench.index.replace(frame(second), steps=steps),
        "remove": lambda steps: bench.index.remove(list(ids), steps=steps),
    }
    found = {}
    for name, operation in operations.items():
        steps, before, start = Steps(), _bytes(bench.index_path), time.monotonic()
        operation(steps)
        seconds, written = time.monotonic() - start, _bytes(bench.index_path) - before
        bench.tell(f"{name} {count:,}: {seconds:.1f} s, {written / 1e6:.1f} MB written ({_shown(steps)})")
        found[name] = {
            "expressions": count,
            "seconds": round(seconds, 2),
            "steps_s": {step: round(value, 2) for step, value in steps.seconds.items()},
            "bytes_written": written,
        }
    return found


def _bytes(folder: str) -> int:
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def parse(bench: Bench) -> dict[str, Any]:
    """Microseconds for one expression on one core, texts never seen before: to a tree, and to its canonical form."""
    from banyan.language.parser import parse as to_tree
    from banyan.normal.canonical import Canonical

    places = np.arange(min(5_000, bench.spec.expressions))
    found = texts.texts(bench.forest, only=places)
    start = time.process_time()
    trees = [to_tree(text) for text in found]
    parsed = time.process_time()
    canonical = Canonical()
    for tree in trees:
        canonical.add(tree)
    done = time.process_time()
    return {
        "expressions": len(found),
        "parse_us": round((parsed - start) / len(found) * 1e6, 1),
        "canonical_us": round((done - parsed) / len(found) * 1e6, 1),
    }
