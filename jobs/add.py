"""banyan add: more rules, as a new version of an index."""

from __future__ import annotations

import time

from banyan.jobs import arguments, files, running

_EXAMPLES = """
banyan add more.csv ./ads
banyan add today.parquet ./ads --request-id 2025-01-31      (safe to run again: applied once)
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "add",
        "Add rules to an index: a new version, whole or not at all. Earlier versions stay as they are\n"
        "and can be matched against (banyan match --version N).",
        _EXAMPLES,
    )
    arguments.add_rules(parser)
    arguments.add_index(parser)
    parser.add_argument("--request-id", metavar="R", help="name this request: a retry with the same name adds nothing")
    arguments.add_on_error(parser)
    arguments.add_quiet(parser)
    given = parser.parse_args(argv)

    spark = running.started()
    index = running.opened(spark, given)
    rules = files.read_rules(spark, given.rules, given.id, given.expression)
    rules = files.with_ids_as(rules, index.expressions().schema["expression_id"].dataType, given.rules)
    before, start = index.version, time.monotonic()
    version = index.add(rules, given.on_error, given.request_id, running.steps(given.quiet))
    if version <= before:
        print(f"request {given.request_id} is in version {version} already: nothing to do")
    else:
        print(running.summary(index, given.index, time.monotonic() - start))
    return 0
