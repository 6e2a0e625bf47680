"""banyan vacuum: remove the files that no version needs any more."""

from __future__ import annotations

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan vacuum ./ads
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "vacuum",
        "Remove files that no listed version of an index needs and that are older than its retention\n"
        "(30 days, or what it was created with). Versions that are listed stay whole: where one needs files\n"
        "of that age, nothing is done; banyan forget takes it off the list.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    given = parser.parse_args(argv)

    index = running.opened(running.started(), given)
    return running.written(given, index, index.vacuum)
