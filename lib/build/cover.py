"""Which existing nodes a node uses as children: the paper's reorganise and self-adjust as one rule.

The children of a node are a function of its operand set and of the set of nodes that exist: among the nodes with the
same operator and a proper subset of its operands, greedily take the one that covers most of what is uncovered (ties:
the larger, then the smaller id) while it covers at least two; the rest are direct children. So the shape of an index
never depends on the order in which expressions came. (The paper also takes a pick that covers a single operand; that
saves no edge and can cost a level.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# A node is a candidate only if fewer than this many nodes of its operator hold its rarest operand: keeps hostile
# workloads linear. A property of the operand, so it does not depend on history either.
CROWD = 10_000


def cover(operands: Iterable[int], candidates: Mapping[int, frozenset[int]]) -> list[int]:
    """The children of a node with these operands, sorted. Every candidate is a proper subset of the operands."""
    uncovered, picks = set(operands), []
    left = dict(candidates)
    while len(uncovered) > 1 and left:
        gain, _, negative_id = max((len(s & uncovered), len(s), -i) for i, s in left.items())
        if gain < 2:
            break
        picks.append(-negative_id)
        uncovered -= left.pop(-negative_id)
    return sorted([*picks, *uncovered])


def access_child(operator: str, children: Iterable[int], frequency: Mapping[int, float]) -> int | None:
    """The child of an and-node that is expected to be true least often; ties by smaller id."""
    return min(children, key=lambda child: (frequency[child], child)) if operator == "and" else None
