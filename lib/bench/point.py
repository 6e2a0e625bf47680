"""A point of the benchmark: one workload at one size, and what is measured on it.

In: a Spec, which is also what its JSON begins with. Out: a dict of figures, one entry a part. A point with the same
Spec measures the same thing; that is what resuming goes by.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from banyan.bench.workloads import Workload, named

# In the order in which they run; `changes` and `deep` leave the index as they found it.
PARTS = ("parse", "build", "match", "pairs", "yardstick", "today", "deep", "changes")


@dataclass(frozen=True)
class Spec:
    """`group`: points of a group share a process.

    budget_s: the runs that count stop after so long, with one of them at least. pairs_events, keeping: of the pairs
    written, from how many events and by 1 in how many expressions.
    """

    name: str
    group: str
    expressions: int
    events: int
    workload: str = "default"
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    parts: tuple[str, ...] = ("build", "match", "yardstick")
    warm: int = 2
    repeat: int = 3
    budget_s: float = 300.0
    yardstick_events: int = 32_768
    pairs_events: int = 32_768
    keeping: int = 1
    deep_events: int = 32_768
    today_rules: int = 500
    today_events: int = 2_048
    changes: int = 1_000

    @property
    def made(self) -> Workload:
        return named(self.workload, self.seed, **self.settings)

    def command(self) -> str:
        """The command that measures this point alone."""
        words = [f"banyan bench --expressions {self.expressions} --events {self.events} --seed {self.seed}"]
        if self.workload != "default":
            words.append(f"--workload {self.workload}")
        words += [f"--set {key}={_written(value)}" for key, value in self.settings.items()]
        words.append(f"--only {','.join(self.parts)}")
        for option, value in (("pairs-events", self.pairs_events), ("keeping", self.keeping)):
            if "pairs" in self.parts and value != getattr(Spec, option.replace("-", "_")):
                words.append(f"--{option} {value}")
        return " ".join(words)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {"parts": list(self.parts)}

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Spec:
        settings = {k: tuple(v) if isinstance(v, list) else v for k, v in given["settings"].items()}
        return cls(**(given | {"parts": tuple(given["parts"]), "settings": settings}))

    def rules(self) -> tuple:
        """What decides the index: points that agree in it use one."""
        of_events = {"pairs"} if self.workload in ("default", "abe") else set()
        chosen = tuple(sorted((k, str(v)) for k, v in self.settings.items() if k not in of_events))
        return self.expressions, self.workload, self.seed, chosen


def _written(value: Any) -> str:
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)


def spread(values: list[float], digits: int = 3) -> dict[str, Any]:
    """The median with the extremes, and all values in the order they were measured."""
    if not values:
        return {"median": None, "min": None, "max": None, "runs": []}
    found = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return {name: round(value, digits) for name, value in found.items()} | {"runs": [round(v, digits) for v in values]}


def repeated(run: Callable[[], float], warm: int, repeat: int, budget_s: float) -> tuple[list[float], list[float]]:
    """Seconds of the warm-up runs and of those that count."""
    cold = [run() for _ in range(warm)]
    counted: list[float] = []
    while len(counted) < repeat and (not counted or sum(counted) < budget_s):
        counted.append(run())
    return cold, counted
