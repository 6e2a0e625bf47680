"""From what the command was given to points, or to the files of a workload."""

from __future__ import annotations

import argparse
import dataclasses
import os

from banyan.bench import files, plan
from banyan.bench.point import PARTS, Spec
from banyan.bench.workloads import MODULES, Workload, named, read
from banyan.errors import ArgumentError

_SIZES = 100_000, 32_768


def points(given: argparse.Namespace, only: tuple[str, ...] | None) -> list[Spec]:
    """The points of a run; `only`: some of their parts."""
    if given.full:
        found = plan.full()
        if given.groups:
            known = list(dict.fromkeys(spec.group for spec in found))
            chosen = given.groups.split(",")
            for group in chosen:
                if group not in known:
                    raise ArgumentError(f"there is no group {group!r}; there are {', '.join(known)}")
            found = [spec for spec in found if spec.group in chosen]
    elif given.workload or given.expressions or given.events or given.set:
        found = [_one(given, only or PARTS)]
    else:
        found = plan.short()
    found = [dataclasses.replace(spec, seed=given.seed, repeat=given.repeat) for spec in found]
    if only is None:
        return found
    some = [dataclasses.replace(spec, parts=tuple(p for p in PARTS if p in only and p in spec.parts)) for spec in found]
    return [spec for spec in some if spec.parts]


def _one(given: argparse.Namespace, parts: tuple[str, ...]) -> Spec:
    made = workload(given)
    expressions, events = given.expressions or _SIZES[0], given.events or _SIZES[1]
    return Spec(
        "point",
        "point",
        expressions,
        events,
        made.name,
        read(made.name, given.set),
        given.seed,
        tuple(part for part in PARTS if part in parts),
        yardstick_events=events if expressions <= _SIZES[0] else min(events, 2_048),
        pairs_events=given.pairs_events or min(events, 32_768),
        deep_events=min(events, 32_768),
        keeping=given.keeping,
        changes=min(given.changes, expressions),
    )


def workload(given: argparse.Namespace) -> Workload:
    """The workload that is named, with its parameters."""
    name = given.workload or "default"
    if name not in MODULES:
        raise ArgumentError(f"there is no workload {name!r}; there are {', '.join(MODULES)}")
    return named(name, given.seed, **read(name, given.set))


def write(given: argparse.Namespace, folder: str, ending: str, wide: bool) -> list[str]:
    """Write the files of a workload; their paths."""
    made = workload(given)
    os.makedirs(folder, exist_ok=True)
    rules, events = (os.path.join(folder, f"{name}.{ending}") for name in ("rules", "events"))
    forest = made.forest(given.expressions or _SIZES[0])
    files.write_rules(rules, forest)
    files.write_events(events, made.events(given.events or _SIZES[1]), forest.names, wide)
    return [rules, events]
