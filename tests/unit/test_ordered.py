"""Event sets in the order of values: look-ups of ranges, against Python's own sets."""

from __future__ import annotations

import math
from decimal import Decimal
from random import Random

import numpy as np
import pytest

from banyan.match.ordered import ANCHORS, Ordered, double_keys, event_set

NAN, INF = math.nan, math.inf


def gathered(rng: Random, keys: list, events: int) -> tuple[list, dict, np.ndarray, np.ndarray]:
    """Every event has one value. Rows in any order, a value in several of them, as partitions bring them."""
    of_event = [rng.choice(keys) for _ in range(events)]
    rows: dict[tuple, list[int]] = {}
    for event, key in enumerate(of_event):
        rows.setdefault((key, rng.randrange(3)), []).append(event)
    shuffled = rng.sample(list(rows.items()), len(rows))
    naive: dict = {}
    for (key, _), numbers in shuffled:
        naive.setdefault(key, set()).update(numbers)
    numbers = np.array([n for _, row in shuffled for n in row], np.int32)
    lengths = np.array([len(row) for _, row in shuffled], np.int64)
    return [key for (key, _), _ in shuffled], naive, numbers, lengths


def check(rng: Random, ordered: Ordered, naive: dict, literals: list, looks: int = 200) -> None:
    """All ways to ask: single values, ranges between literals (there or not), open ends, everything."""
    assert list(ordered.keys) == sorted(naive)
    assert set(ordered.present()) == set().union(*naive.values())
    for _ in range(looks):
        low, high = sorted((rng.choice(literals), rng.choice(literals)))
        for low_side, high_side in (("left", "right"), ("right", "left"), ("left", "left"), ("right", "right")):
            start, end = ordered.places([low], low_side)[0], ordered.places([high], high_side)[0]
            expected = set()
            for key, events in naive.items():
                above = key >= low if low_side == "left" else key > low
                below = key <= high if high_side == "right" else key < high
                if above and below:
                    expected |= events
            found = ordered.between(start, end)
            assert found is None or found  # no empty set: None stands for none
            assert set(found or ()) == expected
        assert set(ordered.between(0, start) or ()).isdisjoint(ordered.between(start, len(ordered)) or ())


@pytest.mark.parametrize(
    "distinct", [1, 2, 7, ANCHORS - 1, ANCHORS, ANCHORS + 1, 2 * ANCHORS, 2 * ANCHORS + 1, 5 * ANCHORS - 3]
)
def test_whole_numbers(distinct):
    """Few values have a prefix union each; above ANCHORS values share one, and ranges have ragged ends."""
    rng = Random(distinct)
    values = rng.sample(range(-distinct * 2, distinct * 2), distinct)
    keys, naive, numbers, lengths = gathered(rng, values, 2 * distinct + 5)
    ordered = Ordered(np.array(keys, np.int64), numbers, lengths)
    looks = 200 if distinct < 100 else 20
    check(rng, ordered, naive, range(-distinct * 2 - 2, distinct * 2 + 3), looks)


def test_every_stretch():
    """All (low, high) of a list just long enough to have anchors three values apart."""
    distinct = 2 * ANCHORS + 100
    ordered = Ordered(np.arange(distinct), np.arange(distinct, dtype=np.int32), np.ones(distinct, np.int64))
    ends = [0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 102, *range(distinct - 7, distinct + 1)]
    for low in ends:
        for high in ends:
            assert list(ordered.between(low, high) or ()) == list(range(low, high))


def test_extremes_of_bigint():
    values = [-(2**63), -1, 0, 1, 2**63 - 1]
    ordered = Ordered(np.array(values, np.int64), np.arange(5, dtype=np.int32), np.ones(5, np.int64))
    assert ordered.places(values, "left") == [0, 1, 2, 3, 4]
    assert ordered.places(values, "right") == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("distinct", [5, 3_000])
def test_texts_by_their_bytes(distinct):
    rng = Random(distinct)
    letters = "aAzé\uffff\U00010000 \n"
    texts = {"".join(rng.choice(letters) for _ in range(rng.randint(0, 8))).encode() for _ in range(distinct)}
    keys, naive, numbers, lengths = gathered(rng, sorted(texts), 2 * distinct)
    literals = [*rng.sample(sorted(texts), min(len(texts), 50)), b"", b"\xff", b"a", "é".encode()]
    check(rng, Ordered(keys, numbers, lengths), naive, literals, 50)


@pytest.mark.parametrize("distinct", [5, 1_500])
def test_decimals_by_their_value(distinct):
    """1.0 and 1.00 are one value; more digits than a double has are kept apart."""
    rng = Random(distinct)
    texts = [f"{rng.randint(-50, 50)}.{rng.randint(0, 99):02}" for _ in range(distinct)]
    values = [Decimal(text + rng.choice(("", "0", "00"))) for text in texts]
    values += [Decimal(10) ** 30, Decimal(10) ** 30 + 1]
    keys, naive, numbers, lengths = gathered(rng, values, 2 * distinct)
    literals = [*values[:50], Decimal(10) ** 31, Decimal("-1e9"), Decimal("0.005")]
    check(rng, Ordered(keys, numbers, lengths), naive, literals, 50)


# In Spark's order; those of one line are equal.
DOUBLES = [
    [-INF],
    [-1.7976931348623157e308],
    [-1.5],
    [-5e-324],
    [0.0, -0.0],
    [5e-324],
    [0.1],
    [0.1 + 2**-56],
    [1.5],
    [1.7976931348623157e308],
    [INF],
    [NAN, -NAN, float(np.uint64(0xFFF8000000000123).view(np.float64))],
]


def test_doubles_in_sparks_order():
    """-0.0 equals 0.0; NaN, whatever its bits, equals itself and is above all."""
    ranks = [rank for rank, equal in enumerate(DOUBLES) for _ in equal]
    keys = double_keys(np.array([value for equal in DOUBLES for value in equal]))
    for rank, key in zip(ranks, keys):
        for other_rank, other_key in zip(ranks, keys):
            assert (rank < other_rank, rank == other_rank) == (key < other_key, key == other_key)


@pytest.mark.parametrize("distinct", [0, 4_000])
def test_doubles(distinct):
    rng = Random(distinct)
    special = [value for equal in DOUBLES for value in equal]
    plain = [rng.gauss(0, 10 ** rng.randint(-5, 5)) for _ in range(distinct)]
    values = double_keys(np.array(special + plain)).tolist()
    keys, naive, numbers, lengths = gathered(rng, values, 2 * len(values))
    literals = [*values[:60], *double_keys(np.array([-1.0, 1e-300, 2.0, 1e300])).tolist()]
    check(rng, Ordered(np.array(keys, np.int64), numbers, lengths), naive, literals, 30)


@pytest.mark.parametrize("keys", [np.array([], np.int64), []])
def test_no_values_at_all(keys):
    """Where no value of an attribute can be cast to the type of a literal there is nothing to look up."""
    ordered = Ordered(keys, np.array([], np.int32), np.array([], np.int64))
    assert len(ordered) == 0
    assert not ordered.present()
    assert ordered.between(0, 0) is None


def test_event_sets_take_numbers_in_any_order():
    assert list(event_set(np.array([70_000, 3, 1, 3], np.int32))) == [1, 3, 70_000]
    assert not event_set(np.array([], np.int32))
