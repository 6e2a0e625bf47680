"""banyan restore: an index as it was at an earlier version, as a new one."""

from __future__ import annotations

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan restore ./ads 3
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "restore",
        "Make an index what it was at version N. That is a new version, which names the old files and copies none;\n"
        "all versions in between stay.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    parser.add_argument("number", metavar="N", type=int, help="the version to go back to")
    arguments.add_request_id(parser)
    given = parser.parse_args(argv)

    index = running.opened(running.started(), given)
    return running.written(given, index, lambda: index.restore(given.number, given.request_id))
