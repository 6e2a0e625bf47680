"""banyan optimize: the same index in fewer files."""

from __future__ import annotations

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan optimize ./ads
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "optimize",
        "Compact the small files that many small changes leave, and cluster the tables: a new version with the\n"
        "same rules and the same answers, faster to read.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    given = parser.parse_args(argv)

    index = running.opened(running.started(), given)
    return running.written(given, index, index.optimize)
