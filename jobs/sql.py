"""banyan sql: the match of a version, written out as plain SQL."""

from __future__ import annotations

from banyan.jobs import arguments, files, running

_EXAMPLES = """
banyan sql ./ads events.parquet > match.sql           run it: spark-sql -f match.sql
banyan sql main.ads main.web.events --id event_id --output counts --where "tenant = 'acme'"
banyan sql main.ads main.web.events --view main.web.matches > view.sql
"""
_FORMATS = {".parquet": "parquet", ".json": "json", ".jsonl": "json"}


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "sql",
        "The match of a version of an index, written out as one plain SQL query over a table of events. It runs in\n"
        "a spark-sql shell with Delta or a SQL warehouse, without Banyan, and stays at the version it was written for.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    parser.add_argument("events", metavar="EVENTS", help="table, Delta folder, parquet or json lines")
    parser.add_argument("--id", metavar="COL", default="event_id", help="column that names an event (event_id)")
    parser.add_argument("--attribute", metavar="COL", help="long form: column with the name of the attribute")
    parser.add_argument("--value", metavar="COL", help="long form: column with the value")
    parser.add_argument("--output", choices=("pairs", "counts", "arrays"), default="pairs", help="as of banyan match")
    parser.add_argument("--where", metavar="SQL", help="only rules whose own columns satisfy this")
    parser.add_argument("--keep", metavar="A,B", help="columns of the rules to carry into the result")
    parser.add_argument("--zeros", action="store_true", help="with --output counts: rules without events too")
    parser.add_argument("--view", metavar="NAME", help="write the statement that makes a view of this name")
    arguments.add_version(parser)
    given = parser.parse_args(argv)

    spark = running.started()
    index = running.opened(spark, given)
    keep = [name.strip() for name in given.keep.split(",")] if given.keep else []
    sql = index.match_sql(
        table_of(given.events),
        id=given.id,
        attribute=given.attribute,
        value=given.value,
        output=given.output,
        where=given.where,
        keep=keep,
        zeros=given.zeros,
    )
    print(f"-- Matches of version {index.version} of {index.where}, written by banyan sql.")
    print(f"SET TIME ZONE '{index.settings.time_zone}';")
    print((f"CREATE OR REPLACE VIEW {given.view} AS\n" if given.view else "") + sql + ";")
    return 0


def table_of(events: str) -> str:
    """How SQL names the events: a table as it is, a file or folder by its format."""
    import os

    if "/" not in events and not any(events.endswith(ending) for ending in _FORMATS):
        return events
    path = events if "://" in events else os.path.abspath(events)
    format = next((name for ending, name in _FORMATS.items() if events.rstrip("/").endswith(ending)), "delta")
    if files.format_of(events) == "csv":
        from banyan.errors import ArgumentError

        raise ArgumentError(f"{events}: SQL cannot read the header of a csv file; make it parquet or a table first")
    return f"{format}.`{path}`"
