"""How often attributes have a value, and which, as `analyze` saw it in a sample of events.

In: the rows of the table `frequencies`. Out: for a predicate the share of events expected to satisfy it; None where the
sample says nothing. A pure function of the two, so that an index does not depend on what it held before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from banyan.language.tree import INVERSE, Predicate

# What no event of the sample has is rare, not impossible.
RAREST = 1e-6
# One row: attribute, a value of it or None for the attribute as a whole, share of events.
Row = tuple[str, "str | None", float]


class _Attribute(NamedTuple):
    """`present`: the share of events that have it; `texts`: of those with a value; `numbers`: the same by number."""

    present: float
    texts: dict[str, float]
    numbers: dict[float, float]


class Frequencies:
    """The frequencies of a sample, or none at all."""

    def __init__(self, rows: Iterable[Row] = ()):
        self._attributes: dict[str, _Attribute] = {}
        # Sorted: a sum of floats depends on the order, and must be the same wherever it is made.
        for attribute, value, share in sorted(rows, key=lambda row: (row[0], row[1] is not None, row[1] or "")):
            if value is None:
                self._attributes[attribute] = _Attribute(share, {}, {})
            else:
                _, texts, numbers = self._attributes[attribute]
                texts[value] = share
                number = _number(value)
                if number is not None:
                    numbers[number] = numbers.get(number, 0.0) + share

    def of(self, predicate: Predicate) -> float | None:
        """The share of events expected to satisfy the predicate; None if the sample does not tell."""
        seen = self._attributes.get(predicate.attribute)
        if seen is None:
            return None
        operator = predicate.operator
        if operator in ("is null", "not <=>"):
            share = 1.0 - (seen.present if operator == "is null" else _equal(seen, predicate))
        elif operator == "is not null":
            share = seen.present
        elif operator in _POSITIVE:
            share = _POSITIVE[operator](seen, predicate)
        elif INVERSE[operator] in _POSITIVE:
            inverse = predicate._replace(operator=INVERSE[operator])
            share = _POSITIVE[inverse.operator](seen, inverse)
            share = None if share is None else seen.present - share
        else:
            share = None  # a pattern: its own guess, of the events that have the attribute
        return share if share is None else min(1.0, max(RAREST, share))

    def present(self, attribute: str) -> float:
        """The share of events that have the attribute; 1 if the sample does not tell."""
        seen = self._attributes.get(attribute)
        return 1.0 if seen is None else seen.present


def _equal(seen: _Attribute, predicate: Predicate) -> float:
    """The share of events with one of the predicate's operands as their value, or among their values."""
    shares, read = _comparable(seen, predicate.family)
    unseen = max(0.0, seen.present - sum(seen.texts.values()))
    unseen = min([unseen, *seen.texts.values()])
    wanted = ["true"] if predicate.operator == "holds" else predicate.operands
    return min(seen.present, sum(shares.get(read(text), unseen) for text in wanted if text is not None))


def _between(seen: _Attribute, predicate: Predicate) -> float | None:
    """The share of events with a value in the predicate's range, as far as the values of the sample stand for all."""
    shares, read = _comparable(seen, predicate.family)
    known = sum(shares.values())
    ends = [read(text) for text in predicate.operands]
    if not known or any(end is None for end in ends):
        return None
    test = _RANGES[predicate.operator]
    return seen.present * sum(share for value, share in shares.items() if test(value, *ends)) / known


def _comparable(seen: _Attribute, family: str) -> tuple[dict, Callable]:
    """The values that literals of a family are compared with, and how such a literal is read."""
    if family in ("integer", "decimal", "double"):
        return seen.numbers, _number
    return seen.texts, str


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) or "_" in text else number


_RANGES = {
    "<": lambda value, end: value < end,
    "<=": lambda value, end: value <= end,
    "between": lambda value, low, high: low <= value <= high,
}
_POSITIVE: dict[str, Callable[[_Attribute, Predicate], float | None]] = {
    **dict.fromkeys(("=", "<=>", "in", "holds", "array_contains", "arrays_overlap"), _equal),
    **dict.fromkeys(_RANGES, _between),
}
