"""The commands as tasks of a scheduler that knows named parameters only: Databricks calls a wheel with --name=value.

Each function here is an entry point of the wheel; conf/resources says which job calls which, with what.
"""

from __future__ import annotations

import os
import sys

from banyan.jobs import cli

# The named parameters that a command takes by their place.
PLACES = {
    "build": ("rules", "index"),
    "follow": ("rules", "index"),
    "match-new": ("events", "index"),
    "maintain": ("index",),
}


def build() -> None:
    run("build", sys.argv[1:])


def follow() -> None:
    run("follow", sys.argv[1:])


def match_new() -> None:
    run("match-new", sys.argv[1:])


def maintain() -> None:
    run("maintain", sys.argv[1:])


def run(command: str, given: list[str]) -> None:
    """Run a command; the process ends only if it fails, because some schedulers take every exit for a failure."""
    argv, scratch = arguments(command, given)
    if scratch:
        os.environ["BANYAN_SCRATCH"] = scratch
    code = cli.main(argv)
    if code:
        raise SystemExit(code)


def arguments(command: str, given: list[str]) -> tuple[list[str], str]:
    """The arguments of the command, and the scratch folder. Empty and 'false' leave out, 'true' is a bare option."""
    named = dict(one.removeprefix("--").partition("=")[::2] for one in given)
    places = [named.pop(name, "") for name in PLACES[command]]
    scratch = named.pop("scratch", "")
    options = [
        f"--{name}" if value == "true" else f"--{name}={value}"
        for name, value in named.items()
        if value not in ("", "false")
    ]
    # After -- a name that begins with a dash is no option.
    return [command, *options, "--", *places], scratch
