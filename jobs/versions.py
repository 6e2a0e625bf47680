"""banyan versions: the published versions of an index."""

from __future__ import annotations

import json

from banyan.jobs import arguments, running
from banyan.jobs.tables import instant, table

_EXAMPLES = """
banyan versions ./ads
banyan versions ./ads --json
"""
_COLUMNS = ("version", "published_at", "operation", "expressions", "predicates", "nodes", "request_id", "published_by")


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "versions",
        "The published versions of an index, newest first. Any of them can be asked:\n"
        "banyan match ... --version N, or --timestamp T with a time as it is printed here.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object per version")
    given = parser.parse_args(argv)

    rows = running.opened(running.started(), given).versions().collect()
    versions = [{**row.asDict(), **row["counts"], "published_at": instant(row["published_at"])} for row in rows]
    if given.json:
        for version in versions:
            print(json.dumps({name: version[name] for name in _COLUMNS}))
    else:
        shown = [name for name in _COLUMNS if name != "request_id" or any(v["request_id"] for v in versions)]
        print(table(shown, [[version[name] for name in shown] for version in versions]))
    return 0
