"""banyan analyze: fit an index to the events it will meet."""

from __future__ import annotations

from banyan.jobs import arguments, files, running

_EXAMPLES = """
banyan analyze events.parquet ./ads
banyan analyze long.csv ./ads --id user --attribute name --value value
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "analyze",
        "Look at a sample of events: how often their attributes have which values. An AND is then woken by the part\n"
        "of it that these events satisfy least often. A new version with the same answers, faster where the guess\n"
        "without a sample was wrong. What was seen is kept (table frequencies) and holds for later changes too.",
        _EXAMPLES,
    )
    parser.add_argument("events", metavar="EVENTS", help="a sample: csv, json lines, parquet, Delta folder or table")
    arguments.add_index(parser)
    parser.add_argument("--id", metavar="COL", default="event_id", help="column of the event ids (default: event_id)")
    parser.add_argument("--attribute", metavar="COL", help="long form: column with the names of attributes")
    parser.add_argument("--value", metavar="COL", help="long form: column with their values")
    arguments.add_request_id(parser)
    arguments.add_quiet(parser)
    given = parser.parse_args(argv)
    if (given.attribute is None) != (given.value is None):
        parser.error("long-form events need both --attribute and --value")

    from banyan.store.rules import check_column

    spark = running.started()
    index = running.opened(spark, given)
    events = files.read(spark, given.events, infer=True)
    for column, option in ((given.id, "--id"), (given.attribute, "--attribute"), (given.value, "--value")):
        if column is not None:
            check_column(events, column, given.events, option)
    told = running.steps(given.quiet)

    def analyze() -> int:
        return index.analyze(events, given.id, given.attribute, given.value, given.request_id, told)

    return running.written(given, index, analyze)
