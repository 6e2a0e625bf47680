"""The command `banyan`: finds the job that is asked for and turns errors into messages and exit codes.

Exit codes: 0 done, 1 the data or the index is not as it must be, 2 the command was called wrongly, 130 Ctrl-C.
Nothing here imports Spark: `banyan --help` answers at once.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from banyan import __version__
from banyan.errors import BanyanError

COMMANDS = {
    "build": "make an index from a file of rules",
    "add": "add rules to an index: a new version",
    "replace": "put rules in the place of those with the same ids: a new version",
    "remove": "take rules out: a new version",
    "check": "read rules without writing anything; list what is wrong with them",
    "match": "which rules does each event satisfy",
    "sql": "the match of a version written out as plain SQL",
    "views": "views of an index for analysts, and ready queries over them",
    "explain": "why one event satisfies one rule, or does not",
    "versions": "the published versions of an index",
    "diff": "which rules came, went and changed between two versions",
    "restore": "go back to an earlier version: a new version",
    "forget": "take old versions off the list",
    "vacuum": "remove files that no version needs",
    "match-new": "match what is new in a Delta table since the last run, exactly once",
    "follow": "keep an index in step with a Delta table of rules",
    "maintain": "optimize, forget and vacuum in one, for a job at night",
    "analyze": "fit an index to a sample of the events it will meet: a new version",
    "optimize": "compact an index that many changes have scattered",
    "stats": "the size of an index, and how much its rules share",
    "bench": "how fast it is on this machine, beside the ways of others",
    "demo": "a first look: 336,776 flights, 10,020 rules",
}

_FIRST_STEPS = """\
first steps:
  banyan demo                                        see it work
  banyan check rules.csv                             rules.csv: expression_id, expression, any columns of yours
  banyan build rules.csv ./ads                       an index in the folder ./ads
  banyan match events.parquet ./ads --id event_id    which rules does each event satisfy

files: .csv (with a header), .json or .jsonl (JSON lines), .parquet, a Delta folder, or the name of a table.
banyan COMMAND --help tells more, with examples.
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    command, rest = _command(argv)
    job = importlib.import_module(f"banyan.jobs.{command.replace('-', '_')}")
    try:
        with _warnings_as_lines(), _terminated_as_exit():
            return job.main(rest) or 0
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except BrokenPipeError:
        # The reader of our output, `head` say, has seen enough. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (BanyanError, OSError) as error:
        _say(str(error))
        return 1
    except Exception as error:
        message = _spark_message(error)
        if message is None:
            raise
        _say(message)
        return 1


def _command(argv: list[str]) -> tuple[str, list[str]]:
    if argv and argv[0] in COMMANDS:
        return argv[0], argv[1:]
    parser = argparse.ArgumentParser(
        prog="banyan",
        usage="banyan COMMAND ... [--help]",
        description="An index of WHERE clauses on Spark: store rules, ask which of them each row of a table satisfies.",
        epilog="commands:\n" + "\n".join(f"  {n:<11}{text}" for n, text in COMMANDS.items()) + "\n\n" + _FIRST_STEPS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"banyan {__version__}")
    if not argv:
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    if argv[0].startswith("-"):
        parser.parse_args(argv)
    near = difflib.get_close_matches(argv[0], COMMANDS, 1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(COMMANDS)}"
    parser.error(f"there is no command {argv[0]!r}{hint}")


def _say(message: str) -> None:
    print(f"banyan: {message}", file=sys.stderr, flush=True)


def _spark_message(error: Exception) -> str | None:
    """The essence of an error of Spark's; None for any other, which is a bug and shows where it happened."""
    if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
        return None
    # The first lines tell; after them come the query plan and the Java stack.
    text = str(getattr(error, "java_exception", None) or error).split("JVM stacktrace:")[0]
    noise = ("\tat ", "'", "+-", "==", "Driver stacktrace")
    told = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(noise)]
    return "Spark says: " + "\n  ".join(line[:500] for line in told[:3])


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Our warnings as one line each; those of libraries are for their developers."""

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if category.__module__.partition(".")[0] == "banyan":
            for line in str(message).splitlines():
                _say(f"warning: {line}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


@contextmanager
def _terminated_as_exit() -> Iterator[None]:
    """A scheduler ends a job with SIGTERM: leave as after an error, so that temporary folders are removed."""

    def leave(*_: object) -> None:
        raise SystemExit(143)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
