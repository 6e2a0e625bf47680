"""banyan remove: rules taken out, as a new version of an index."""

from __future__ import annotations

from banyan.jobs import arguments, files, running

_EXAMPLES = """
banyan remove ./ads --ids r17 r18
banyan remove ./ads --file gone.csv --missing ignore
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "remove",
        "Remove rules from an index: a new version, whole or not at all. Earlier versions keep them\n"
        "(banyan restore brings them back).",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--ids", metavar="ID", nargs="+", help="the ids of the rules")
    which.add_argument("--file", metavar="FILE", help="csv, json lines, parquet or Delta with an id per row")
    parser.add_argument("--id", metavar="COL", default="expression_id", help="column of the ids in FILE")
    parser.add_argument(
        "--missing",
        choices=("fail", "ignore"),
        default="fail",
        help="fail (default): an id that is not there, and nothing is written; ignore: pass over it",
    )
    arguments.add_request_id(parser)
    arguments.add_quiet(parser)
    given = parser.parse_args(argv)

    spark = running.started()
    from banyan.store.rules import check_column

    index = running.opened(spark, given)
    if given.file is None:
        ids = spark.createDataFrame([(i,) for i in given.ids], "expression_id string")
    else:
        ids = files.read(spark, given.file)
        check_column(ids, given.id, given.file, "--id")
        ids = ids.select(ids[given.id].alias("expression_id"))
    ids = files.with_ids_as(ids, index.expressions().schema["expression_id"].dataType, given.file or "--ids")
    steps = running.steps(given.quiet)
    return running.written(given, index, lambda: index.remove(ids, given.missing, given.request_id, steps))
