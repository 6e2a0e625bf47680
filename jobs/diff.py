"""banyan diff: which rules came, went and changed between two versions."""

from __future__ import annotations

import json

from banyan.jobs import arguments, running
from banyan.jobs.tables import table

_EXAMPLES = """
banyan diff ./ads 3            from version 3 to the newest
banyan diff ./ads 3 5 --json
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "diff",
        "Which rules were added, removed or changed (text or columns of yours) between two versions of an index.",
        _EXAMPLES,
    )
    arguments.add_index(parser)
    parser.add_argument("before", metavar="FROM", type=int, help="the version to compare from")
    parser.add_argument("after", metavar="TO", type=int, nargs="?", help="the version to compare to (the newest)")
    parser.add_argument("--limit", metavar="N", type=arguments.natural, default=100, help="rows to show (100)")
    parser.add_argument("--json", action="store_true", help="one JSON object per rule, all of them")
    given = parser.parse_args(argv)

    found = running.opened(running.started(), given).diff(given.before, given.after)
    if given.json:
        for row in found.orderBy("expression_id").toLocalIterator():
            print(json.dumps(row.asDict(), default=str))
        return 0
    counts = {row["change"]: row["count"] for row in found.groupBy("change").count().collect()}
    rows = found.orderBy("expression_id").limit(given.limit).collect()
    if rows:
        print(table(found.columns, [["" if value is None else value for value in row] for row in rows]))
    print(", ".join(f"{counts.get(change, 0):,} {change}" for change in ("added", "removed", "changed")))
    return 0
