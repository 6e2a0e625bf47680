"""banyan forget: take old versions off the list, so that vacuum may free their files."""

from __future__ import annotations

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan forget ./ads 12         versions before 12 can no longer be opened
banyan vacuum ./ads            and their files, once older than the retention, are removed
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "forget",
        "Take the versions before N off the list of an index: they can no longer be opened or restored,\n"
        "and banyan vacuum may remove what only they need.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    parser.add_argument("number", metavar="N", type=int, help="the oldest version to keep")
    given = parser.parse_args(argv)

    gone = running.opened(running.started(), given).forget(given.number)
    several = "version" if len(gone) == 1 else "versions"
    print(f"{given.index}: {len(gone):,} {several} forgotten; {given.number} is the oldest one left")
    return 0
