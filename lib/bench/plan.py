"""Which points a run of the benchmark has: the short form, the full one, or one point that the caller describes."""

from __future__ import annotations

from typing import Any, NamedTuple

from banyan.bench.abe import DEFAULT
from banyan.bench.point import PARTS, Spec

_SWEPT = ("build", "match", "yardstick")
# Texts of deep and broad expressions are long: a tenth of the expressions.
FEW, MANY = 10_000, 100_000


class Sweep(NamedTuple):
    """One parameter of ABE-Gen, all others at their defaults. `few_from`: from this value on with few expressions."""

    parameter: str
    title: str
    values: tuple[float, ...]
    few_from: float | None = None


SWEEPS = (
    Sweep("depth", "depth of the expressions", (1, 2, 3, 4, 5, 6), 5),
    Sweep("children", "children of AND and OR", (2, 4, 6, 8, 10, 12), 10),
    Sweep("attributes", "attributes", (30, 100, 300, 1000, 3000, 10_000)),
    Sweep("values", "values of an attribute", (3, 10, 30, 100, 300, 1000)),
    Sweep("pairs", "attributes of an event", (5, 10, 15, 20, 25, 30)),
    Sweep("alpha", "Zipf of sub-expressions", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    Sweep("attribute_alpha", "Zipf of attributes", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
)


def sweep_point(sweep: Sweep, value: float) -> Spec:
    """The point of one value. The default of every parameter is one and the same point."""
    if value == getattr(DEFAULT, sweep.parameter):
        return Spec("sweep-default", "sweep-pairs", MANY, 32_768, "abe", parts=_SWEPT)
    few = sweep.few_from is not None and value >= sweep.few_from
    name = f"sweep-{sweep.parameter}-{value:g}"
    settings = {sweep.parameter: value}
    return Spec(name, f"sweep-{sweep.parameter}", FEW if few else MANY, 32_768, "abe", settings, parts=_SWEPT)


def short() -> list[Spec]:
    """What tells most in under ten minutes."""
    # Under names of their own: they do not take the place of the full run's.
    first = Spec(
        "short-100k",
        "100k",
        100_000,
        262_144,
        parts=PARTS,
        budget_s=60.0,
        pairs_events=8_192,
        deep_events=8_192,
        today_rules=200,
        today_events=1_024,
    )
    return [
        first,
        Spec("short-10k", "10k", 10_000, 32_768, parts=_SWEPT),
        Spec("short-abe-10k", "10k", 10_000, 32_768, "abe", parts=_SWEPT),
    ]


def full() -> list[Spec]:
    """The sizes that count, how it grows with expressions and with events, the other workloads, and all sweeps."""
    matched = ("build", "match")
    million: dict[str, Any] = {"keeping": 50, "pairs_events": 65_536, "yardstick_events": 2_048}
    parts_of_million = ("build", "match", "pairs", "yardstick", "changes")
    points = [
        Spec("default-100k", "100k", 100_000, 262_144, parts=PARTS, yardstick_events=262_144),
        *(Spec(f"events-{n}", "100k", 100_000, n, parts=matched) for n in (32_768, 65_536, 131_072)),
        Spec("default-1m", "1m", 1_000_000, 262_144, parts=parts_of_million, **million),
        Spec("scale-1m", "1m", 1_000_000, 65_536, parts=matched, **million),
        *(Spec(f"scale-{n // 1000}k", "scale", n, 65_536, parts=_SWEPT) for n in (10_000, 30_000, 300_000)),
        Spec("abe-100k", "abe", 100_000, 262_144, "abe", parts=_SWEPT),
        *(Spec(f"{name}-100k", "papers", 100_000, 32_768, name, parts=_SWEPT) for name in ("be", "opindex")),
        *(Spec(f"{name}-100k", "papers", 100_000, 32_768, name, parts=_SWEPT) for name in ("contracts", "ads")),
    ]
    seen = {point.name for point in points}
    for sweep in SWEEPS:
        for value in sweep.values:
            point = sweep_point(sweep, value)
            if point.name not in seen:
                seen.add(point.name)
                points.append(point)
    # Points of a group stand together, whichever sweep has brought them first.
    groups = dict.fromkeys(point.group for point in points)
    return [point for group in groups for point in points if point.group == group]
