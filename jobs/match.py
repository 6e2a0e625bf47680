"""banyan match: which rules each event satisfies."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from banyan.jobs import arguments, files, running
from banyan.jobs.tables import table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from banyan.index import Index

_EXAMPLES = """
banyan match events.parquet ./ads --id event_id
banyan match events.csv ./ads --id event_id --output counts --where "tenant = 'acme'" --keep priority
banyan match readings.csv ./alerts --id device --attribute name --value reading      (long form)
banyan match events.parquet ./ads --id event_id --into matches.parquet --version 3
"""
_WHAT = {"pairs": "pairs", "counts": "rules", "arrays": "events"}


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "match",
        "Which rules does each event satisfy? Events are the rows of a file; every column but the id is an attribute\n"
        "(or, with --attribute and --value, there is one row per event and attribute). Prints the first matches,\n"
        "or writes all of them with --into. Columns of csv files are numbers or dates if all their values are.",
        _EXAMPLES,
    )
    parser.add_argument("events", metavar="EVENTS", help="csv, json lines, parquet, Delta folder or table")
    arguments.add_index(parser)
    parser.add_argument(
        "--id", metavar="COL", default="event_id", help="column that names an event (default: event_id)"
    )
    parser.add_argument("--attribute", metavar="COL", help="long form: column with the name of the attribute")
    parser.add_argument("--value", metavar="COL", help="long form: column with the value")
    parser.add_argument("--unpack", metavar="COL", help="column of JSON text or VARIANT whose keys are attributes")
    parser.add_argument(
        "--output",
        choices=("pairs", "counts", "arrays"),
        default="pairs",
        help="pairs (default): event_id, expression_id; counts: events of each rule; arrays: rules of each event",
    )
    parser.add_argument(
        "--engine", choices=("arrow", "sql"), default="arrow", help="arrow (default), or sql: no Python on the data"
    )
    parser.add_argument("--where", metavar="SQL", help="only rules whose own columns satisfy this: \"tenant = 'acme'\"")
    parser.add_argument("--keep", metavar="A,B", help="columns of the rules to carry into the result")
    parser.add_argument("--zeros", action="store_true", help="with --output counts: rules without events too")
    parser.add_argument(
        "--into", metavar="OUT", help="write all: .csv, .json, .parquet; anything else is Delta, appended to"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the file OUT if it is there")
    parser.add_argument("--limit", metavar="N", type=arguments.natural, default=20, help="rows to print (default: 20)")
    arguments.add_version(parser)
    arguments.add_quiet(parser)
    given = parser.parse_args(argv)
    if (given.attribute is None) != (given.value is None):
        parser.error("long-form events need both --attribute and --value")
    if given.zeros and given.output != "counts":
        parser.error("--zeros goes with --output counts")
    if given.keep and given.output == "arrays":
        parser.error("--keep goes with --output pairs or counts")
    kind = files.format_of(given.into) if given.into else None
    if given.overwrite and kind is None:
        parser.error("--overwrite goes with --into FILE.csv, .json or .parquet; a Delta table is appended to")
    if kind:
        files.check_new(given.into, given.overwrite)

    spark = running.started()
    from banyan.store.rules import check_column

    index = running.opened(spark, given)
    if given.into and not kind:
        running.check_place(spark, given.into)
    events = files.read(spark, given.events, infer=True)
    for option in ("id", "attribute", "value", "unpack"):
        if getattr(given, option) is not None:
            check_column(events, getattr(given, option), given.events, f"--{option}")
    if given.unpack is not None:
        events = index.unpack(events, given.unpack)
    start = time.monotonic()
    try:
        found = _match(index, events, given, None if kind else given.into)
        if kind:
            files.write(found, given.into, kind)
            print(f"{given.into}: {files.read(spark, given.into).count():,} {_WHAT[given.output]}")
        elif given.into:
            print(f"{given.into}: {found.count():,} rows")
        else:
            _show(found, given.output, given.limit)
    finally:
        index.release()
    if not given.quiet:
        running.note(f"version {index.version}, {time.monotonic() - start:.1f} s")
    return 0


def _match(index: Index, events: DataFrame, given: argparse.Namespace, into: str | None) -> DataFrame:
    keep = [name.strip() for name in given.keep.split(",")] if given.keep else []
    return index.match(
        events,
        id=given.id,
        attribute=given.attribute,
        value=given.value,
        output=given.output,
        engine=given.engine,
        where=given.where,
        keep=keep,
        zeros=given.zeros,
        into=into,
        progress=False if given.quiet else None,
    )


def _show(found: DataFrame, output: str, limit: int) -> None:
    """The first rows, the busiest rules first where there are counts, and how many there are in all."""
    from pyspark.sql import functions as F

    order = (
        [F.desc("events"), "expression_id"]
        if output == "counts"
        else list(found.columns[: 2 if output == "pairs" else 1])
    )
    rows = found.orderBy(*order).limit(limit).collect()
    total = len(rows) if len(rows) < limit else found.count()
    if rows:
        print(table(found.columns, rows))
    shown = f"; the first {len(rows):,} are shown (--limit N, --into FILE)" if total > len(rows) else ""
    print(f"{total:,} {_WHAT[output]}{shown}")
