"""Comparisons with numbers, of all attributes at once: which stretch of the sorted values satisfies each predicate.

In: the values of one comparison type, as whole numbers in its order, and predicates with their literals. Out: the
non-empty event sets. A scalar attribute has one value per event, so a range of values is a stretch of one array: the
event numbers, sorted by attribute and value. Finding all stretches takes a few passes over arrays, whatever the number
of attributes; only the sets themselves are made one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pyroaring import BitMap

from banyan.match.ordered import event_set, small_set

OPERATORS = ("=", "<=>", "in", "!=", "not in", "<", "<=", ">", ">=", "between", "not between")
# A set of up to so many events is made directly; of a larger one, the part between two places of a prefix union is
# their difference.
DIRECT = 4096


class Sorted:
    """Events of all attributes by value. Row i of the input is a value: its attribute, key and `lengths[i]` events."""

    def __init__(self, attributes: np.ndarray, keys: np.ndarray, numbers: np.ndarray, lengths: np.ndarray):
        self._distinct, rank = np.unique(keys, return_inverse=True)
        self._span = len(self._distinct) + 1
        place = attributes.astype(np.int64) * self._span + rank
        order = np.argsort(place, kind="stable")
        self._place = place[order]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        moved = np.repeat(starts[:-1][order], lengths[order])
        ends = np.cumsum(lengths[order])
        within = np.arange(len(moved)) - np.repeat(ends - lengths[order], lengths[order])
        small = not len(numbers) or int(numbers.max()) < 1 << 16
        self._numbers = numbers[moved + within].astype(np.uint16 if small else np.uint32, copy=False)
        self._set = small_set if small else _large_set
        self._ends = np.concatenate(([0], ends))
        self._prefixes: dict[int, list[BitMap]] = {}

    def whole(self, attributes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The stretch of all events that have the attribute."""
        base = attributes.astype(np.int64) * self._span
        return self._at(base), self._at(base + self._span)

    def left(self, attributes: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Where the events with values below the key end."""
        return self._at(attributes.astype(np.int64) * self._span + np.searchsorted(self._distinct, keys, "left"))

    def right(self, attributes: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Where the events with values above the key begin."""
        return self._at(attributes.astype(np.int64) * self._span + np.searchsorted(self._distinct, keys, "right"))

    def _at(self, place: np.ndarray) -> np.ndarray:
        return self._ends[np.searchsorted(self._place, place)]

    def events(self, start: int, end: int, first: int) -> BitMap:
        """The events of a stretch; `first` is where those of its attribute begin."""
        if end - start <= DIRECT:
            return self._set(self._numbers[start:end])
        prefix = self._prefixes.setdefault(first, [BitMap()])
        low, high = -(-(start - first) // DIRECT), (end - first) // DIRECT
        while len(prefix) <= high:
            at = first + len(prefix) * DIRECT
            prefix.append(prefix[-1] | self._set(self._numbers[at - DIRECT : at]))
        found = prefix[high] - prefix[low] if low else prefix[high]
        edges = ((start, first + low * DIRECT), (first + high * DIRECT, end))
        return found.union(*(self._set(self._numbers[a:b]) for a, b in edges if a < b))

    def together(self, stretches: list[tuple[int, int]], first: int) -> BitMap:
        """The events of several stretches."""
        stretches = _apart(stretches)
        if sum(end - start for start, end in stretches) <= DIRECT:
            return self._set(*(self._numbers[start:end] for start, end in stretches))
        return BitMap.union(*(self.events(start, end, first) for start, end in stretches))


def _apart(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same places, in stretches that have none in common: those of x IN (1, 1.0), or x NOT BETWEEN 9 AND 1."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _large_set(*numbers: np.ndarray) -> BitMap:
    return event_set(np.sort(np.concatenate(numbers)))


def satisfied(
    values: Sorted, operator: np.ndarray, attributes: np.ndarray, keys: np.ndarray, known: np.ndarray, ends: np.ndarray
) -> Iterator[tuple[int, BitMap]]:
    """(predicate, events) of the predicates that some event satisfies.

    operator: the place in `OPERATORS` of each predicate's. Its literals are `keys[ends[i - 1]:ends[i]]`; where not
    `known`, the literal is NULL, or a text that is no number.
    """
    starts = np.concatenate(([0], ends[:-1]))
    first, last = values.whole(attributes)
    row, low, high = _stretches(values, operator, attributes, keys, known, starts, ends, first, last)
    there = low < high
    row, low, high = row[there], low[there], high[there]
    order = np.argsort(row, kind="stable")
    row, low, high = row[order], low[order], high[order]
    begins = np.flatnonzero(np.r_[len(row) > 0, row[1:] != row[:-1]])
    single = np.diff(np.r_[begins, len(row)]) == 1
    made: dict[tuple[int, int], BitMap] = {}
    lows, highs = low.tolist(), high.tolist()
    columns = (row[begins], begins, np.r_[begins[1:], len(row)], single, first[row[begins]])
    for i, begin, end, alone, of_attribute in zip(*(column.tolist() for column in columns)):
        if not alone:
            yield i, values.together(list(zip(lows[begin:end], highs[begin:end])), of_attribute)
            continue
        stretch = (lows[begin], highs[begin])
        events = made.get(stretch)
        if events is None:
            events = made[stretch] = values.events(*stretch, of_attribute)
        yield i, events


def _stretches(values, operator, attributes, keys, known, starts, ends, first, last):
    """(predicate, start, end) of the stretches that make up each predicate's events; some are empty."""
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def of(*names: str) -> np.ndarray:
        return np.flatnonzero(np.isin(operator, [OPERATORS.index(name) for name in names]))

    def one(place: int, *names: str) -> tuple[np.ndarray, np.ndarray]:
        """The predicates of these operators whose literal at that place is known, and the literal."""
        rows = of(*names)
        at = starts[rows] + place
        rows, at = rows[known[at]], at[known[at]]
        return rows, keys[at]

    def left(rows: np.ndarray, literal: np.ndarray) -> np.ndarray:
        return values.left(attributes[rows], literal)

    def right(rows: np.ndarray, literal: np.ndarray) -> np.ndarray:
        return values.right(attributes[rows], literal)

    rows, literal = one(0, "<", "not between", "!=")
    found.append((rows, first[rows], left(rows, literal)))
    rows, literal = one(0, "<=")
    found.append((rows, first[rows], right(rows, literal)))
    rows, literal = one(0, ">", "!=")
    found.append((rows, right(rows, literal), last[rows]))
    rows, literal = one(1, "not between")
    found.append((rows, right(rows, literal), last[rows]))
    rows, literal = one(0, ">=")
    found.append((rows, left(rows, literal), last[rows]))
    rows = of("between")
    rows = rows[known[starts[rows]] & known[starts[rows] + 1]]
    found.append((rows, left(rows, keys[starts[rows]]), right(rows, keys[starts[rows] + 1])))

    rows = of("=", "<=>", "in", "not in")
    count = (ends - starts)[rows]
    owner = np.repeat(rows, count)
    at = np.repeat(starts[rows] - (np.cumsum(count) - count), count) + np.arange(len(owner))
    begin, end = left(owner, keys[at]), right(owner, keys[at])
    member = known[at] & (operator[owner] != OPERATORS.index("not in"))
    found.append((owner[member], begin[member], end[member]))

    # NOT IN: the gaps between its literals; none at all where a literal is NULL.
    unknown = np.zeros(len(operator), bool)
    unknown[owner[~known[at]]] = True
    listed = (operator[owner] == OPERATORS.index("not in")) & ~unknown[owner]
    owner, begin, end = owner[listed], begin[listed], end[listed]
    order = np.lexsort((end, begin, owner))
    owner, begin, end = owner[order], begin[order], end[order]
    opens = np.r_[len(owner) > 0, owner[1:] != owner[:-1]][: len(owner)]
    before = np.where(opens, first[owner], np.r_[0, end[:-1]][: len(owner)])
    found.append((owner, before, begin))
    closes = np.r_[opens[1:], True][: len(owner)]
    found.append((owner[closes], end[closes], last[owner[closes]]))
    return tuple(np.concatenate(columns) for columns in zip(*found))
