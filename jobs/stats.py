"""banyan stats: the size of an index."""

from __future__ import annotations

import json

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan stats ./ads
banyan stats ./ads --version 3 --json
"""
_MEANING = {
    "where": "",
    "version": "",
    "expressions": "rules",
    "predicates": "different predicates, the leaves",
    "predicate_uses": "uses of them, by rules and nodes",
    "nodes": "different ANDs and ORs above them",
    "edges": "from those to what they join",
    "levels": "height of the tallest rule",
}


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "stats", "The size of an index: how many rules, and how much of their text they share.", _EXAMPLES
    )
    arguments.add_index(parser)
    arguments.add_version(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    given = parser.parse_args(argv)

    stats = running.opened(running.started(), given).stats()
    if given.json:
        print(json.dumps(stats))
        return 0
    cells = {name: f"{stats[name]:,}" if isinstance(stats[name], int) else str(stats[name]) for name in stats}
    width = max(len(cell) for name, cell in cells.items() if name != "where")
    for name in (*_MEANING, *(name for name in stats if name not in _MEANING)):
        value = cells[name] if name == "where" else cells[name].rjust(width)
        print(f"{name.replace('_', ' '):<16}{value}  {_MEANING.get(name, '')}".rstrip())
    return 0
