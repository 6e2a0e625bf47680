"""banyan maintain: the upkeep of an index, for a job at night."""

from __future__ import annotations

import argparse

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan maintain ./ads
banyan maintain main.ads --keep-days 7
"""


def parser() -> argparse.ArgumentParser:
    made = arguments.parser(
        "maintain",
        "Compact an index, take versions off the list that are older than its retention, and free the files that\n"
        "only they needed: banyan optimize, forget and vacuum in one.",
        _EXAMPLES,
    )
    arguments.add_index(made)
    made.add_argument(
        "--keep-days", metavar="N", type=arguments.natural, help="keep versions that long (default: the retention)"
    )
    return made


def main(argv: list[str]) -> int:
    given = parser().parse_args(argv)

    spark = running.started()
    running.check_place(spark, given.index)
    from banyan.follow.maintenance import maintain

    done = maintain(spark, given.index, given.keep_days)
    print(f"{given.index}: version {done.version}, {len(done.forgotten):,} versions forgotten")
    return 0
