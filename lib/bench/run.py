"""A run of the benchmark: every group in a process of its own, what is there already passed over, a report at the end.

A process that dies, of memory say, costs the point it was at, which is noted as failed, and no other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

from banyan.bench import report
from banyan.bench.bench import done, machine, path_of, save
from banyan.bench.point import Spec


def run(
    specs: list[Spec],
    out: str,
    resume: bool,
    say: Callable[[str], None] | None,
    shown: list[Spec] | None = None,
) -> int:
    """Measure the points; write `out`/bench.json and bench.html. How many points have failed parts.

    shown: the points of the report, these and those that earlier runs have left; only these unless given.
    """
    shown = shown or specs
    os.makedirs(out, exist_ok=True)
    start, total = time.monotonic(), len(specs)
    left = [spec for spec in specs if not (resume and done(out, spec))]
    if say and len(left) < total:
        say(f"{total - len(left)} of {total} points are in {out}/points already")
    for spec in left:
        # An old figure must not pass for a new one.
        if os.path.exists(path_of(out, spec)):
            os.remove(path_of(out, spec))
    for group in dict.fromkeys(spec.group for spec in left):
        pending = [spec for spec in left if spec.group == group]
        while pending:
            code = _process(pending, out, say is None)
            missing = [spec for spec in pending if not os.path.exists(path_of(out, spec))]
            if missing:
                save(out, missing[0], _died(missing[0], code))
            pending = missing[1:]
        report.write(out, shown)
        if say:
            ready = sum(os.path.exists(path_of(out, spec)) for spec in specs)
            say(f"{ready} of {total} points, {(time.monotonic() - start) / 60:.0f} min; report: {out}/bench.html")
    names = {spec.name for spec in specs}
    points = report.write(out, shown)
    return sum(1 for point in points if point["failed"] and point["spec"]["name"] in names)


def _process(specs: list[Spec], out: str, quiet: bool) -> int:
    command = [sys.executable, "-m", "banyan.bench.child", out, *(["--quiet"] if quiet else [])]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    try:
        child.communicate(json.dumps([spec.to_json() for spec in specs]))
    finally:
        # After Ctrl-C or SIGTERM the child ends with us, and its JVM with it.
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
    return child.returncode


def _died(spec: Spec, code: int) -> dict:
    return {
        "spec": spec.to_json(),
        "command": spec.command(),
        "told": spec.made.told(),
        "when": "",
        "took_s": 0,
        "machine": machine(),
        "figures": {},
        "memory_bytes": {},
        "failed": {"process": f"the process ended with code {code} before this point was done"},
    }
