"""banyan demo: a first look, on real data."""

from __future__ import annotations

import os
import shutil
import sys

from banyan.jobs import arguments, running

_EXAMPLES = """
banyan demo
banyan demo --where /tmp/look
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "demo",
        "A walk of two or three minutes: the flights of a year as events, 10,020 rules; build, match, explain,\n"
        "a second version, and the first one asked again. Leaves the index, the flights and the rules behind,\n"
        "to go on with. Running it again makes them anew.",
        _EXAMPLES,
    )
    parser.add_argument("--where", metavar="FOLDER", default="./banyan-demo", help="(default: ./banyan-demo)")
    given = parser.parse_args(argv)

    where = os.path.normpath(given.where)
    print(
        f"Banyan demo: which of 10,020 rules does each flight of a year satisfy? (All files go to {where}.)", flush=True
    )
    spark = running.started()
    from banyan.demo.show import show

    show(spark, where, lambda line: print(line, flush=True), _command())
    return 0


def _command() -> str:
    """How this command is called from here: `banyan` where that finds it, else by its path."""
    this, found = os.path.abspath(sys.argv[0]), shutil.which("banyan")
    if os.path.basename(this) != "banyan" or (found is not None and os.path.samefile(found, this)):
        return "banyan"
    return os.path.relpath(this)
