"""banyan check: what is wrong with rules, without writing anything."""

from __future__ import annotations

from banyan.jobs import arguments, files, running

_EXAMPLES = """
banyan check rules.csv
banyan check rules.csv --events events.parquet --strict
"""


def main(argv: list[str]) -> int:
    parser = arguments.parser(
        "check",
        "Read all rules and write nothing. Lists the rules that cannot be read, with the place and the reason,\n"
        "ids given twice, and what looks like a mistake: rules that mean the same, rules that no event can\n"
        "satisfy, and, with --events, attributes that rules use and the events lack. Exit code 1 if a rule is bad.",
        _EXAMPLES,
    )
    arguments.add_rules(parser)
    parser.add_argument("--events", metavar="FILE", help="events to compare the attributes with")
    parser.add_argument("--strict", action="store_true", help="exit code 1 for warnings too")
    parser.add_argument(
        "--limit", metavar="N", type=arguments.natural, default=20, help="findings of a kind to list (default: 20)"
    )
    arguments.add_reading(parser)
    given = parser.parse_args(argv)

    spark = running.started()
    rules = files.read_rules(spark, given.rules, given.id, given.expression)
    events = files.read(spark, given.events, infer=True) if given.events else None
    from banyan.build.check import check_columns
    from banyan.build.lint import lint
    from banyan.match.missing import missing_attributes
    from banyan.store.settings import IndexSettings

    check_columns(rules)
    settings = IndexSettings(time_zone=given.time_zone, case_sensitive=given.case_sensitive).language
    found = lint(rules, settings)
    missing = missing_attributes(found.uses, events, "", given.case_sensitive) if events is not None else []
    same = [f"{', '.join(ids[:10])}{', ...' if len(ids) > 10 else ''} mean the same" for ids in found.same]
    _section("bad", [finding.pointed() for finding in found.bad], found.bad_count, given.limit)
    _section("warnings", [finding.pointed() for finding in found.warnings], found.warning_count, given.limit)
    _section("same meaning", same, len(same), given.limit)
    _section("missing attributes", missing, len(missing), given.limit)
    warned = found.warning_count + len(same) + len(missing)
    print(f"{given.rules}: {found.rules:,} rules, {found.bad_count:,} bad, {warned:,} warnings")
    return 1 if found.bad_count or (given.strict and warned) else 0


def _section(title: str, lines: list[str], total: int, limit: int) -> None:
    if not lines:
        return
    print(f"{title}:")
    for line in lines[:limit]:
        print("  " + line.replace("\n", "\n  "))
    shown = min(limit, len(lines))
    print(f"  ... and {total - shown:,} more\n" if total > shown else "")
