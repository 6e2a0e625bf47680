"""banyan replace: rules put in the place of those with the same ids, as a new version of an index."""

from __future__ import annotations

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan replace mended.csv ./ads
banyan replace today.parquet ./ads --request-id 2025-01-31      (safe to run again: applied once)
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "replace",
        "Put rules into an index, in the place of those with the same ids where there are any: a new version,\n"
        "whole or not at all. Rules that the file does not name stay.",
        _EXAMPLES,
    )
    arguments.add_rules(parser)
    arguments.add_index(parser)
    arguments.add_request_id(parser)
    arguments.add_on_error(parser)
    arguments.add_quiet(parser)
    return running.put(parser.parse_args(argv), "replace")
