"""banyan bench: how fast it is on this machine, beside the paper's matching in C++ and what users do today."""

from __future__ import annotations

import os

from banyan.jobs import arguments

_EXAMPLES = """
banyan bench                                              (under 10 minutes)
banyan bench --full                                       (all sweeps, within 150 minutes; goes on where it was stopped)
banyan bench --full --groups 1m,sweep-depth
banyan bench --expressions 20000 --events 8192 --only build,match,yardstick
banyan bench --workload abe --set depth=4 --set alpha=0.8 --expressions 10000
banyan bench --workload ads --expressions 100000 --write ./ads-workload --format csv
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "bench",
        "Measures parsing, building, matching and small changes on a workload of the papers, and in the same run the\n"
        "paper's matching in C++ (where there is a compiler) and the ways of today. Writes JSON and an HTML report\n"
        "with plots, says what it does on stderr, and needs the machine for itself to mean anything.",
        _EXAMPLES,
    )
    parser.add_argument("--full", action="store_true", help="all sizes and sweeps, resumed where they were stopped")
    parser.add_argument("--again", action="store_true", help="with --full: measure anew what is there already")
    parser.add_argument("--groups", metavar="A,B", help="with --full: only these groups of points")
    parser.add_argument(
        "--only",
        metavar="A,B",
        help="only these parts: parse, build, match, pairs, yardstick, today, deep, changes",
    )
    parser.add_argument("--workload", metavar="NAME", help="default, abe, be, opindex, contracts or ads: one point")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the workload (repeatable)"
    )
    parser.add_argument("--expressions", metavar="N", type=arguments.natural, help="how many: one point")
    parser.add_argument("--events", metavar="N", type=arguments.natural, help="how many: one point")
    parser.add_argument("--seed", metavar="N", type=arguments.natural, default=1, help="(default: 1)")
    parser.add_argument("--repeat", metavar="N", type=arguments.natural, default=3, help="warm runs (default: 3)")
    parser.add_argument(
        "--changes", metavar="N", type=arguments.natural, default=1_000, help="to add, replace, remove (default: 1000)"
    )
    parser.add_argument("--pairs-events", metavar="N", type=arguments.natural, help="events whose pairs are written")
    parser.add_argument("--keeping", metavar="N", type=arguments.natural, default=1, help="pairs of 1 in N expressions")
    parser.add_argument("--write", metavar="FOLDER", help="only write the workload's rules and events there")
    parser.add_argument("--format", choices=("parquet", "csv"), default="parquet", help="of --write")
    parser.add_argument("--wide", action="store_true", help="with --write: events with a column for each attribute")
    parser.add_argument("--out", metavar="FOLDER", default="bench-out", help="JSON and report (default: bench-out)")
    arguments.add_quiet(parser)
    given = parser.parse_args(argv)

    from banyan.bench import choose, plan, run
    from banyan.bench.point import PARTS
    from banyan.progress import to_stderr

    only = tuple(given.only.split(",")) if given.only else None
    for part in only or ():
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; there are {', '.join(PARTS)}")
    one = given.workload or given.expressions or given.events or given.set
    if given.full and (one or given.write):
        parser.error("--full brings its own workloads and sizes")
    if given.groups and not given.full:
        parser.error("--groups goes with --full")
    if given.write:
        for path in choose.write(given, given.write, given.format, given.wide):
            print(path)
        return 0
    specs = choose.points(given, only)
    say = None if given.quiet else to_stderr
    shown = plan.full() if given.full else None
    failed = run.run(specs, given.out, given.full and not given.again, say, shown)
    print(f"{os.path.join(given.out, 'bench.json')}\n{os.path.join(given.out, 'bench.html')}")
    return 1 if failed else 0
