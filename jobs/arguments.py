"""Arguments that several commands share."""

from __future__ import annotations

import argparse


def parser(command: str, description: str, examples: str) -> argparse.ArgumentParser:
    """A parser whose help ends with examples, one a line."""
    lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    made = argparse.ArgumentParser(
        prog=f"banyan {command}",
        description=description,
        epilog=f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return made


def add_index(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "index", metavar="INDEX", help="folder of the index (with a /: ./ads) or its schema (catalog.schema)"
    )


def add_rules(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "rules", metavar="RULES", help="csv, json lines, parquet or Delta with an id and an expression per row"
    )
    to.add_argument("--id", metavar="COL", default="expression_id", help="column of the ids (default: expression_id)")
    to.add_argument(
        "--expression", metavar="COL", default="expression", help="column of the expressions (default: expression)"
    )


def add_on_error(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--on-error",
        choices=("fail", "quarantine"),
        default="fail",
        help="fail (default): one bad rule and nothing is written; quarantine: bad ones go to the table `rejected`",
    )


def add_request_id(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--request-id", metavar="R", help="name this request: a retry with the same name changes nothing more"
    )


def add_reading(to: argparse.ArgumentParser) -> None:
    """How texts are read: settings that an index keeps."""
    to.add_argument(
        "--time-zone", metavar="ZONE", default="UTC", help="zone of timestamps that name none (default: UTC)"
    )
    to.add_argument("--case-sensitive", action="store_true", help="Age and age are two attributes")


def add_version(to: argparse.ArgumentParser) -> None:
    which = to.add_mutually_exclusive_group()
    which.add_argument("--version", metavar="N", type=int, help="the index as it was at version N")
    which.add_argument("--timestamp", metavar="T", help="the index as it was at a time: '2025-01-31 12:00:00'")


def add_runs(to: argparse.ArgumentParser, default: str) -> None:
    """Where a scheduled job remembers what it has done."""
    to.add_argument("--runs", metavar="TABLE", help=f"Delta table that remembers what was done (default: {default})")
    to.add_argument("--job", metavar="NAME", help="name in that table (default: from what is read and written)")


def add_quiet(to: argparse.ArgumentParser) -> None:
    to.add_argument("--quiet", action="store_true", help="no progress on stderr")


def natural(text: str) -> int:
    """The number of an option, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)
