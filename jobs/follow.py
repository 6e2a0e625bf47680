"""banyan follow: an index kept in step with a Delta table of rules, by the table's change data feed."""

from __future__ import annotations

import argparse

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan follow main.crm.rules main.ads                       (as often as you like; nothing new, nothing done)
banyan follow ./tables/rules ./ads --create
banyan follow ./tables/rules ./ads --whole                  (all rules afresh; what the table lacks goes out)
"""


def parser() -> argparse.ArgumentParser:
    made = arguments.parser(
        "follow",
        "Bring an index in step with a Delta table of rules: what came into the table and what changed goes in, what\n"
        "is gone goes out. The first run takes all rules, each later one the changes since; a run that was killed is\n"
        "done by the next. The table needs its change data feed (delta.enableChangeDataFeed = true).",
        _EXAMPLES,
    )
    arguments.add_rules(made)
    arguments.add_index(made)
    made.add_argument("--create", action="store_true", help="make the index if there is none")
    made.add_argument("--whole", action="store_true", help="take all rules, and take out what the table does not have")
    made.add_argument(
        "--on-error",
        choices=("fail", "quarantine"),
        default="quarantine",
        help="quarantine (default): refused rules go to the table `rejected`; fail: one bad rule and nothing is done",
    )
    arguments.add_reading(made)
    arguments.add_runs(made, "with the index")
    arguments.add_quiet(made)
    return made


def main(argv: list[str]) -> int:
    given = parser().parse_args(argv)

    spark = running.started()
    running.check_place(spark, given.index)
    from banyan.follow.rules import follow
    from banyan.index import Index

    if given.create and not Index.exists(spark, given.index):
        Index.create(spark, given.index, time_zone=given.time_zone, case_sensitive=given.case_sensitive)
    done = follow(
        spark,
        given.rules,
        given.index,
        given.id,
        given.expression,
        given.on_error,
        given.whole,
        given.runs,
        given.job,
        running.steps(given.quiet),
    )
    if done.run is None:
        print(f"{given.index}: nothing new in {given.rules}; version {done.index_version} stays")
    else:
        refused = f"; {done.refused:,} refused, see table rejected" if done.refused else ""
        print(f"{given.index}: version {done.index_version}, {done.put:,} put in, {done.removed:,} taken out{refused}")
    return 0
