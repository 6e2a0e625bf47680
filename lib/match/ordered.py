"""Event sets of one attribute's values, in the order of the values.

A scalar attribute has one value per event, so the sets of different values are disjoint and a range of values is a
stretch of one array: the event numbers, sorted by value. Prefix unions at up to `ANCHORS` places make wide ranges two
look-ups (`P[hi] - P[lo]`) whatever their width; more anchors would cost a copy of the events each.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

ANCHORS = 1024


def event_set(numbers: np.ndarray) -> BitMap:
    # From an array of C ints: eight times as fast as from a numpy array.
    return BitMap(array("I", numbers.astype(np.uint32, copy=False).tobytes()))


# Roaring's format for sets, of one container of up to 4,096 elements: a cookie, how many containers, the container's
# key and cardinality less one, where its elements begin.
_LAID_OUT = np.zeros(8 + 4096, np.uint16)
_LAID_OUT[:8] = (12346, 0, 1, 0, 0, 0, 16, 0)


def small_set(*numbers: np.ndarray) -> BitMap:
    """The set of up to 4,096 numbers of 16 bits, at least one, each once, in any order.

    Laid out as Roaring writes it and read back: 1,300 numbers take 2.6 us, sorted and handed to BitMap 7.2.
    """
    end = 8
    for some in numbers:
        _LAID_OUT[end : end + len(some)] = some
        end += len(some)
    _LAID_OUT[8:end].sort()
    _LAID_OUT[5] = end - 9
    return BitMap.deserialize(_LAID_OUT[:end].tobytes())


def double_keys(values: np.ndarray) -> np.ndarray:
    """Whole numbers in Spark's order of doubles: -0.0 equals 0.0; NaN equals itself and is above all."""
    values = np.where(np.isnan(values), np.nan, values + 0.0)
    bits = values.view(np.int64)
    return np.where(bits >= 0, bits, bits ^ np.int64(0x7FFFFFFFFFFFFFFF))


class Ordered:
    """Values of one comparison type, sorted and distinct, each with its events.

    keys: numpy array of int64, or a sorted list of bytes or Decimals.
    """

    def __init__(self, keys: Sequence, numbers: np.ndarray, lengths: np.ndarray):
        """Value i has `lengths[i]` consecutive `numbers`. Values may come unsorted and repeated."""
        starts = np.concatenate(([0], np.cumsum(lengths)))
        if isinstance(keys, np.ndarray):
            order = np.argsort(keys, kind="stable")
            first = np.flatnonzero(np.concatenate(([len(keys) > 0], keys[order][1:] != keys[order][:-1])))
            self.keys: Sequence = keys[order][first]
        else:
            order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
            ranked = [keys[i] for i in order]
            first = np.array([i for i, k in enumerate(ranked) if not i or k != ranked[i - 1]], np.int64)
            self.keys = [ranked[i] for i in first]
        moved = np.repeat(starts[:-1][order], lengths[order])
        within = np.arange(len(moved)) - np.repeat(np.cumsum(lengths[order]) - lengths[order], lengths[order])
        self._numbers = np.ascontiguousarray(numbers[moved + within].astype(np.uint32, copy=False))
        ends = np.concatenate(([0], np.cumsum(lengths[order])))
        self._starts = np.append(ends[first], len(moved)).tolist()
        self._step = max(1, -(-len(self.keys) // ANCHORS))
        self._prefix: list[BitMap] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def places(self, literals: Sequence, side: str) -> list[int]:
        """Where the literals would stand: before ('left') or after ('right') an equal value."""
        if isinstance(self.keys, np.ndarray):
            return np.searchsorted(self.keys, np.asarray(literals, np.int64), side).tolist()
        find = bisect_left if side == "left" else bisect_right
        return [find(self.keys, literal) for literal in literals]

    def between(self, low: int, high: int) -> BitMap | None:
        """The events of the values from place `low` up to before `high`; None for none."""
        if low >= high:
            return None
        starts, step = self._starts, self._step
        if high - low == 1:
            return self._slice(starts[low], starts[high])
        first, last = -(-low // step), high // step
        if first >= last:
            return self._slice(starts[low], starts[high])
        prefix = self._prefix or self._make_prefix()
        middle = prefix[last] - prefix[first] if first else prefix[last]
        if step == 1:
            return middle
        left, right = self._slice(starts[low], starts[first * step]), self._slice(starts[last * step], starts[high])
        return middle | left | right

    def present(self) -> BitMap:
        return self.between(0, len(self.keys)) or BitMap()

    def _slice(self, start: int, end: int) -> BitMap:
        return event_set(self._numbers[start:end])

    def _make_prefix(self) -> list[BitMap]:
        union = BitMap()
        self._prefix = [union]
        for i in range(self._step, len(self.keys) + 1, self._step):
            union = union | self._slice(self._starts[i - self._step], self._starts[i])
            self._prefix.append(union)
        return self._prefix
