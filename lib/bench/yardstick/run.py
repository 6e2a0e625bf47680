"""Compile the yardstick on demand and run it: how fast the paper's matching is, and how many matches it finds."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from typing import NamedTuple

from banyan.bench.forest import Events, Forest
from banyan.bench.yardstick.dump import dump
from banyan.errors import SetupError

_FLAGS = ("-O3", "-march=native", "-std=c++17")


class Measured(NamedTuple):
    """`work`: the children that are true, summed over edges and events: the elements of the sets that a match by sets
    has to combine. `sets`: how many sets those are, all events taken together. `edges`: of the tree it ran on."""

    events: int
    seconds: list[float]
    matches: int
    visits: int
    work: int
    sets: int
    edges: int

    @property
    def events_per_s(self) -> float:
        return self.events / statistics.median(self.seconds)


def compiler() -> str | None:
    """The C++ compiler: that of $CXX, or the first that is there."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    return None


def compiled(folder: str) -> str:
    """The program, compiled into `folder` unless it is there."""
    name = compiler()
    if name is None:
        raise SetupError("there is no C++ compiler (set CXX, or install g++): the yardstick cannot be compiled")
    source = importlib.resources.files("banyan.bench.yardstick").joinpath("atree.cpp").read_bytes()
    # Another source, compiler or machine gives another program.
    kind = hashlib.sha256(source + " ".join((name, *_FLAGS, *os.uname())).encode()).hexdigest()[:12]
    program = os.path.join(os.path.abspath(folder), f"atree-{kind}")
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        made = f"{program}.{os.getpid()}"
        command = [name, *_FLAGS, "-x", "c++", "-", "-o", made]
        done = subprocess.run(command, input=source, capture_output=True)
        if done.returncode:
            raise SetupError(f"{name} does not compile the yardstick: {done.stderr.decode(errors='replace')[:500]}")
        os.replace(made, program)
    return program


def measure(forest: Forest, events: Events, runs: int = 3, folder: str | None = None) -> Measured:
    """Run the yardstick on one core. `folder` keeps the compiled program."""
    with tempfile.TemporaryDirectory(prefix="banyan-yardstick-") as scratch:
        program = compiled(folder or scratch)
        dump(f"{scratch}/workload", forest, events)
        done = subprocess.run(
            [program, f"{scratch}/workload", str(events.count), str(runs)], capture_output=True, text=True
        )
    if done.returncode:
        raise SetupError(f"the yardstick ended with {done.returncode}: {done.stderr[:500]}")
    *lines, last = [json.loads(line) for line in done.stdout.splitlines()]
    return Measured(
        lines[0]["events"],
        [line["seconds"] for line in lines],
        lines[0]["matches"],
        lines[0]["visits"],
        last["work"],
        last["sets"],
        last["edges"],
    )
