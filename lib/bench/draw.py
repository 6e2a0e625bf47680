"""Random draws that the generators share: Zipf, pools of a wanted sharing, distinct members of a row.

All are vectorised, and all take their randomness from the generator they are given: same seed, same workload.
"""

from __future__ import annotations

import numpy as np

# A row that still repeats a member after so many rounds keeps it: `p OR p` is a valid expression.
ROUNDS = 6


def zipf(random: np.random.Generator, items: int, size: int, alpha: float) -> np.ndarray:
    """`size` ranks from 0 to `items` - 1, rank r drawn in proportion to 1 / (r + 1) ** alpha; 0 is uniform."""
    cumulated = np.cumsum(1 / np.arange(1, items + 1) ** alpha)
    return np.searchsorted(cumulated / cumulated[-1], random.random(size))


def pool_size(draws: int, sharing: float, alpha: float) -> int:
    """How many items a pool must have for each item that is drawn to be drawn `sharing` times on average.

    Of a pool only a part is ever drawn; expected are sum(1 - exp(-draws * p)) different items.
    """
    wanted = draws / sharing
    low, high = 1, max(1, 8 * draws)
    while low < high:
        middle = (low + high) // 2
        weight = 1 / np.arange(1, middle + 1) ** alpha
        if np.sum(-np.expm1(-draws * (weight / weight.sum()))) < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def distinct_rows(draw, row: np.ndarray) -> np.ndarray:
    """One item per entry of `row` (the row it belongs to, ascending), no item twice in a row if that can be had.

    draw: a function of a number of items; what repeats is drawn again.
    """
    items = draw(len(row))
    again = np.arange(len(row))
    for _ in range(ROUNDS):
        again = _repeated(row, items)
        if not len(again):
            break
        items[again] = draw(len(again))
    return items


def _repeated(row: np.ndarray, items: np.ndarray) -> np.ndarray:
    order = np.lexsort((items, row))
    same = (row[order][1:] == row[order][:-1]) & (items[order][1:] == items[order][:-1])
    return order[1:][same]


def subsets(random: np.random.Generator, items: int, rows: int, size: int) -> np.ndarray:
    """`size` different numbers below `items` for each of `rows` rows, uniformly."""
    if size >= items:
        return np.tile(np.arange(items), (rows, 1))
    parts = []
    for start in range(0, rows, 8192):
        keys = random.random((min(8192, rows - start), items), dtype=np.float32)
        parts.append(np.argpartition(keys, size, axis=1)[:, :size])
    return np.concatenate(parts) if parts else np.empty((0, size), np.int64)


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """Where each of consecutive runs starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
