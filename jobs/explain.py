"""banyan explain: why one event satisfies one rule, or does not."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from banyan.errors import ArgumentError
from banyan.jobs import arguments, files, running

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql import types as T

_EXAMPLES = """
banyan explain ./ads campaign-7 --event '{"age": 31, "country": "DE"}'
banyan explain ./ads campaign-7 --events events.parquet --id event_id --event-id 4711
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "explain",
        "Why does an event satisfy a rule, or not? Prints the tree of the rule with true, false or undefined at\n"
        "each node, and the value that decided it. Give the event as JSON, or name a row of a file.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    parser.add_argument("expression_id", metavar="EXPRESSION_ID", help="the id of the rule")
    parser.add_argument("--event", metavar="JSON", type=_event, help="the event as a JSON object")
    parser.add_argument("--events", metavar="FILE", help="the file that holds the event")
    parser.add_argument(
        "--id", metavar="COL", default="event_id", help="its column that names an event (default: event_id)"
    )
    parser.add_argument("--event-id", metavar="X", help="the id of the event")
    arguments.add_version(parser)
    given = parser.parse_args(argv)
    if (given.event is None) == (given.events is None):
        parser.error("give the event: --event '{\"age\": 31}', or --events FILE --id COL --event-id X")
    if given.events is not None and given.event_id is None:
        parser.error("--events needs --event-id X, the id of the event to explain")

    spark = running.started()
    index = running.opened(spark, given)
    rules = index.expressions().where(_is(index.expressions().schema["expression_id"], given.expression_id))
    rule = rules.select("expression_id", "expression").first()
    if rule is None:
        raise ArgumentError(f"version {index.version} of {given.index} has no rule {given.expression_id!r}")
    event = given.event if given.events is None else _row(spark, given)
    print(f"{rule['expression_id']}: {rule['expression']}")
    print(index.explain(event, rule["expression_id"]))
    return 0


def _event(text: str) -> dict[str, Any]:
    try:
        event = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from None
    if not isinstance(event, dict):
        raise argparse.ArgumentTypeError('the event is a JSON object: {"age": 31}')
    return event


def _row(spark: SparkSession, given: argparse.Namespace) -> dict[str, Any]:
    from banyan.explain.event import event_of
    from banyan.store.rules import check_column

    events = files.read(spark, given.events, infer=True)
    check_column(events, given.id, given.events, "--id")
    rows = events.where(_is(events.schema[given.id], given.event_id)).limit(2).collect()
    if len(rows) != 1:
        number = "no row" if not rows else "more than one row"
        raise ArgumentError(f"{given.events} has {number} with {given.id} = {given.event_id}")
    event = event_of(rows[0], events.schema)
    del event[given.id]
    return event


def _is(field: T.StructField, text: str) -> Column:
    """Whether a column is what was given as text; false, and no error, if it cannot be."""
    from pyspark.sql import functions as F

    return F.col(f"`{field.name}`") == F.lit(text).try_cast(field.dataType)
