"""How often a node is expected to be true: what the access child of an and-node is chosen by.

A pure function of the node, and of the frequencies that `analyze` saw where it was called, so that it never depends on
what else the index holds. Where no sample tells, the figures are the usual guesses of a query planner; only their order
matters.
"""

from __future__ import annotations

from collections.abc import Iterable

from banyan.language.tree import Predicate
from banyan.normal.frequencies import Frequencies

_BY_OPERATOR = {
    "=": 0.02, "<=>": 0.02, "between": 0.15, "<": 0.3, "<=": 0.3, ">": 0.3, ">=": 0.3, "like": 0.1, "ilike": 0.1,
    "rlike": 0.1, "holds": 0.5, "fails": 0.5, "is null": 0.3, "array_contains": 0.05, "not between": 0.7,
}  # fmt: skip
_MEMBER = {"in": 0.02, "arrays_overlap": 0.05}
_OTHERWISE = 0.8


def of_predicate(predicate: Predicate, frequencies: Frequencies | None = None) -> float:
    _, operator, _, operands = predicate
    member = _MEMBER.get(operator)
    guess = _BY_OPERATOR.get(operator, _OTHERWISE) if member is None else min(0.6, member * max(1, len(operands)))
    if frequencies is None:
        return guess
    seen = frequencies.of(predicate)
    return guess * frequencies.present(predicate.attribute) if seen is None else seen


def of_node(operator: str, operands: Iterable[float]) -> float:
    """AND: the product. OR: one minus the product of the complements. In the order given, so that it is repeatable."""
    result = 1.0
    if operator == "and":
        for frequency in operands:
            result *= frequency
        return result
    for frequency in operands:
        result *= 1.0 - frequency
    return 1.0 - result
