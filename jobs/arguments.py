"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from banyan.errors import ArgumentError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from banyan.index import Index
    from banyan.progress import Steps


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


def add_quiet(to: argparse.ArgumentParser) -> None:
    to.add_argument("--quiet", action="store_true", help="no progress on stderr")


def started() -> SparkSession:
    """The Spark session, started on first use."""
    import atexit
    import shutil
    import tempfile

    import banyan

    # Spark makes this folder whether or not it needs it, by default in the user's own.
    warehouse = tempfile.mkdtemp(prefix="banyan-warehouse-")
    atexit.register(shutil.rmtree, warehouse, ignore_errors=True)
    return banyan.session(**{"spark.sql.warehouse.dir": warehouse})


def steps(quiet: bool) -> Steps:
    from banyan.progress import Steps, to_stderr

    return Steps(None if quiet else to_stderr)


def opened(spark: SparkSession, given: argparse.Namespace) -> Index:
    """The index that is named, at the version that is asked for, if any."""
    from banyan.index import Index

    check_place(spark, given.index)
    return Index.open(spark, given.index, getattr(given, "version", None), getattr(given, "timestamp", None))


def check_place(spark: SparkSession, where: str) -> None:
    """Refuses a schema or table where Spark has no lasting catalog: it would be gone with the process."""
    if "/" in where or spark.conf.get("spark.sql.catalogImplementation", "in-memory") != "in-memory":
        return
    if "." not in where or spark.conf.get(f"spark.sql.catalog.{where.partition('.')[0]}", None) is None:
        raise ArgumentError(
            f"{where!r} is a name in a catalog, and this Spark has none that lasts; a folder has a /: ./{where}"
        )


def summary(index: Index, where: str, seconds: float) -> str:
    """What a write has made, in one line."""
    counts = index.stats()
    refused = index.rejected().where(f"rejected_in = {index.version}").count()
    return (
        f"{where}: version {index.version} with {counts['expressions']:,} rules, "
        f"{counts['predicates']:,} predicates and {counts['nodes']:,} nodes, in {seconds:.1f} s"
        + (f"; {refused:,} refused, see table rejected" if refused else "")
    )


def natural(text: str) -> int:
    """The number of an option, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def note(line: str) -> None:
    """A line beside the results."""
    print(line, file=sys.stderr, flush=True)
