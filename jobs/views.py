"""banyan views: views of an index for analysts, and ready queries over them."""

from __future__ import annotations

from banyan.jobs import arguments, running
from banyan.jobs.tables import table

_EXAMPLES = """
banyan views main.ads analytics                        make the views in schema analytics
banyan views ./ads analytics --print > views.sql       write the statements that make them
banyan views ./ads --query rules_equal_to_each_other   ask a ready query
banyan views ./ads --queries                           what can be asked
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "views",
        "Views of a version of an index for analysts: the rules with their canonical texts, the tests they share,\n"
        "the versions. With --query: one of the ready queries over them, answered here.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    parser.add_argument("schema", metavar="SCHEMA", nargs="?", help="where to make the views")
    parser.add_argument("--print", action="store_true", help="write the statements to stdout instead of running them")
    parser.add_argument("--query", metavar="NAME", help="ask a ready query and print the answer")
    parser.add_argument("--queries", action="store_true", help="list the ready queries")
    parser.add_argument("--limit", metavar="N", type=arguments.natural, default=100, help="rows to show (100)")
    arguments.add_version(parser)
    given = parser.parse_args(argv)
    if given.schema is None and not (given.query or given.queries or given.print):
        parser.error("name a SCHEMA for the views, or --query, --queries or --print")

    from banyan.explain import views

    if given.queries:
        rows = [(name, sql.splitlines()[0].removeprefix("-- ")) for name, sql in views.queries().items()]
        print(table(("query", "answers"), rows))
        return 0
    asked = views.query(given.query) if given.query else None
    spark = running.started()
    index = running.opened(spark, given)
    if asked is not None:
        index.create_views()
        found = spark.sql(asked)
        rows = found.limit(given.limit).collect()
        print(table(found.columns, [["" if value is None else value for value in row] for row in rows]))
    elif given.print:
        print("\n\n".join(statement + ";" for statement in views.statements(index, given.schema)))
    else:
        running.check_place(spark, f"{given.schema}.x" if "." not in given.schema else given.schema)
        print("\n".join(index.create_views(given.schema)))
    return 0
