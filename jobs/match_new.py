"""banyan match-new: matches of the events that are new in a Delta table since the last run."""

from __future__ import annotations

import argparse

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan match-new main.web.events main.ads --id event_id --into main.web.matches
banyan match-new ./tables/events ./ads --id event_id --into ./tables/matches --where "tenant = 'acme'"
banyan match-new ./tables/events ./ads --into ./tables/matches --unpack payload     (attributes inside a JSON column)
"""


def parser() -> argparse.ArgumentParser:
    made = arguments.parser(
        "match-new",
        "Match the events that have come into a Delta table since the last run, and append the matches to another,\n"
        "each exactly once: a run that was killed goes on at the batch it was in. The first run takes all events.\n"
        "The table needs its change data feed (delta.enableChangeDataFeed = true); new are the rows it calls inserts.",
        _EXAMPLES,
    )
    made.add_argument("events", metavar="EVENTS", help="Delta folder or table")
    arguments.add_index(made)
    made.add_argument("--into", metavar="OUT", required=True, help="Delta folder or table to append the matches to")
    made.add_argument("--id", metavar="COL", default="event_id", help="column that names an event (default: event_id)")
    made.add_argument("--attribute", metavar="COL", help="long form: column with the name of the attribute")
    made.add_argument("--value", metavar="COL", help="long form: column with the value")
    made.add_argument("--unpack", metavar="COL", help="column of JSON text or VARIANT whose keys are attributes")
    made.add_argument(
        "--output",
        choices=("pairs", "arrays"),
        default="pairs",
        help="pairs (default): event_id, expression_id; arrays: rules of each event",
    )
    made.add_argument("--where", metavar="SQL", help="only rules whose own columns satisfy this: \"tenant = 'acme'\"")
    made.add_argument("--keep", metavar="A,B", help="columns of the rules to carry into the result")
    made.add_argument(
        "--after-version", metavar="N", type=int, help="first run: only events that came after this Delta version"
    )
    made.add_argument(
        "--batch-size", metavar="N", type=arguments.natural, default=2**18, help="events a commit (default: 262,144)"
    )
    made.add_argument(
        "--on-error",
        choices=("fail", "skip"),
        default="fail",
        help="a batch with ids that are NULL or repeated: fail (default), or skip it and note that",
    )
    arguments.add_runs(made, "OUT_runs")
    arguments.add_quiet(made)
    return made


def main(argv: list[str]) -> int:
    parsing = parser()
    given = parsing.parse_args(argv)
    if (given.attribute is None) != (given.value is None):
        parsing.error("long-form events need both --attribute and --value")
    if given.keep and given.output == "arrays":
        parsing.error("--keep goes with --output pairs")

    spark = running.started()
    for name in (given.index, given.events, given.into):
        running.check_place(spark, name)
    from banyan.follow.match_new import match_new

    done = match_new(
        spark,
        given.events,
        given.index,
        given.into,
        given.id,
        given.runs,
        given.job,
        given.after_version,
        given.batch_size,
        given.on_error,
        given.unpack,
        running.steps(given.quiet),
        attribute=given.attribute,
        value=given.value,
        output=given.output,
        where=given.where,
        keep=[name.strip() for name in given.keep.split(",")] if given.keep else [],
    )
    if done.run is None:
        print(f"{given.into}: nothing new in {given.events}")
        return 0
    over = f"; {done.passed_over:,} changes passed over" if done.passed_over else ""
    print(
        f"{given.into}: run {done.run}, {done.events:,} events in {done.batches:,} batches against version "
        f"{done.index_version}, {done.matches:,} rows{over}"
    )
    return 0
