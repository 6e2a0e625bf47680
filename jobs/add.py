"""banyan add: more rules, as a new version of an index."""

from __future__ import annotations

from banyan.jobs import arguments, running

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
    arguments.add_request_id(parser)
    arguments.add_on_error(parser)
    arguments.add_quiet(parser)
    return running.put(parser.parse_args(argv), "add")
