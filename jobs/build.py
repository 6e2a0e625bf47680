"""banyan build: an index from a file of rules."""

from __future__ import annotations

import argparse
import time

from banyan.jobs import arguments, files, running

_EXAMPLES = """
banyan build rules.csv ./ads
banyan build rules.parquet ./ads --replace --on-error quarantine
banyan build segments.csv ./segments --id name --expression condition --time-zone Europe/Berlin
"""


def parser() -> argparse.ArgumentParser:
    made = arguments.parser(
        "build",
        "Make an index from a file of rules: one row per rule, with an id, an expression such as\n"
        "\"age >= 18 AND country IN ('DE', 'FR')\", and any columns of yours (tenant, priority, ...),\n"
        "which are kept and can filter a match. The index appears when it is whole.",
        _EXAMPLES,
    )
    arguments.add_rules(made)
    arguments.add_index(made)
    made.add_argument("--replace", action="store_true", help="replace the index that is there, all versions of it")
    arguments.add_on_error(made)
    arguments.add_reading(made)
    arguments.add_quiet(made)
    return made


def main(argv: list[str]) -> int:
    given = parser().parse_args(argv)

    spark = running.started()
    running.check_place(spark, given.index)
    rules = files.read_rules(spark, given.rules, given.id, given.expression)
    from banyan.store.staged import staged

    start, steps = time.monotonic(), running.steps(given.quiet)
    settings = {"time_zone": given.time_zone, "case_sensitive": given.case_sensitive}
    with staged(spark, given.index, given.replace, steps, **settings) as index:
        index.add(rules, given.on_error, steps=steps)
        summary = running.summary(index, given.index, time.monotonic() - start)
    print(summary)
    return 0
