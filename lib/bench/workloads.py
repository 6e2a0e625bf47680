"""The workloads by name, each with its shape: what can be chosen, and the papers' defaults."""

from __future__ import annotations

import dataclasses
import difflib
from types import ModuleType
from typing import Any, NamedTuple

from banyan.bench import abe, ads, be, contracts, opindex, workload
from banyan.bench.forest import Events, Forest
from banyan.errors import ArgumentError

# The events of the default workload have had a seed of their own from the start; figures stay comparable.
_EVENT_SEEDS = {"default": 6}
MODULES: dict[str, ModuleType] = {
    "default": workload,
    "abe": abe,
    "be": be,
    "opindex": opindex,
    "contracts": contracts,
    "ads": ads,
}


class Workload(NamedTuple):
    """A generator with its shape and seed."""

    name: str
    shape: Any
    seed: int

    def forest(self, count: int) -> Forest:
        return MODULES[self.name].forest(count, self.seed, self.shape)

    def events(self, count: int) -> Events:
        return MODULES[self.name].events(count, self.seed + _EVENT_SEEDS.get(self.name, 0), self.shape)

    def told(self) -> str:
        """Name, seed, and what differs from the defaults."""
        changed = changes(self)
        return f"{self.name}, seed {self.seed}" + "".join(f", {name} {value}" for name, value in changed.items())


def named(name: str, seed: int = 1, **chosen: Any) -> Workload:
    """A workload by its name, with what is chosen in place of the defaults."""
    if name not in MODULES:
        raise ArgumentError(f"there is no workload {name!r}; there are {', '.join(MODULES)}")
    default = MODULES[name].DEFAULT
    known = [field.name for field in dataclasses.fields(default)]
    for key in chosen:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
            raise ArgumentError(f"workload {name} has no {key!r}; {hint}")
    return Workload(name, dataclasses.replace(default, **chosen), seed)


def changes(given: Workload) -> dict[str, Any]:
    """What differs from the defaults of the workload."""
    default = MODULES[given.name].DEFAULT
    pairs = ((field.name, getattr(given.shape, field.name)) for field in dataclasses.fields(default))
    return {name: value for name, value in pairs if value != getattr(default, name)}


def read(name: str, settings: list[str]) -> dict[str, Any]:
    """`key=value` texts as what the shape of the workload holds."""
    default = MODULES[name].DEFAULT
    found = {}
    for text in settings:
        key, equals, value = text.partition("=")
        old = getattr(default, key, None)
        try:
            if not equals:
                raise ValueError
            if isinstance(old, dict):
                raise ArgumentError(f"--set {key}=... cannot be given here; from Python it can")
            if isinstance(old, tuple):
                found[key] = tuple(float(part) for part in value.split("/"))
            else:
                found[key] = type(old)(value) if old is not None else value
        except ValueError:
            raise ArgumentError(f"--set {text}: give name=value, such as {_example(default)}") from None
    return found


def _example(default: Any) -> str:
    field = dataclasses.fields(default)[0]
    return f"{field.name}={getattr(default, field.name)}"
