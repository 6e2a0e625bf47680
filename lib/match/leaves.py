"""Step 2, leaves: which events satisfy which predicate.

In, for a bucket of attributes: the values of a batch with their events, and the predicates. Out: the non-empty event
sets of the predicates. Predicates are joined from their own side, so those that are true of absence fire also for
attributes nobody in the batch has.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyroaring import BitMap

from banyan.language.comparison import COMPARISON, KINDS, LIST_COMPARISON
from banyan.match import ranges
from banyan.match.attributes import CODED
from banyan.match.ordered import Ordered, double_keys, event_set
from banyan.match.values import ELEMENT, FILLED, HAS_NULL, LIST, SCALAR

# Operators that compare scalars, by their place in `ranges.OPERATORS`. A Boolean attribute alone is compared with TRUE.
_COMPARED = {name: place for place, name in enumerate(ranges.OPERATORS)}
_COMPARED |= {"holds": _COMPARED["="], "fails": _COMPARED["!="]}
_NUMERIC = ("integer", "double", "boolean", "date", "timestamp", "timestamp_ntz")


def satisfied(values: list[pa.Table], predicates: pa.Table, total: int) -> Iterator[tuple[int, BitMap]]:
    """(row of `predicates`, events) of every predicate that some event satisfies.

    values: the pieces of a batch, in any order. Predicates of one attribute, operator and family best stand together.
    """
    everyone = BitMap(range(total)) if total else BitMap()
    known = _Values(values)
    attribute, current = None, None
    numeric: dict[tuple[str, str], list[_Stretch]] = {}
    for stretch in _stretches(predicates):
        meeting = known.meeting(stretch.attribute, stretch.family) if stretch.operator in _COMPARED else None
        if meeting in _NUMERIC:
            numeric.setdefault((meeting, stretch.family), []).append(stretch)
            continue
        if stretch.attribute != attribute:
            attribute, current = stretch.attribute, Attribute(known.of(stretch.attribute), everyone)
        rows = predicates.slice(stretch.start, stretch.end - stretch.start)
        for row, events in enumerate(current.test(stretch.operator, stretch.family, rows), stretch.start):
            if events:
                yield row, events
    for (meeting, family), stretches in numeric.items():
        yield from _numbers(known.sorted(meeting, family), meeting, predicates, stretches)


class _Stretch(NamedTuple):
    """Rows of the predicates that have these in common."""

    start: int
    end: int
    attribute: int
    operator: str
    family: str


def _stretches(predicates: pa.Table) -> Iterator[_Stretch]:
    if not len(predicates):
        return
    attribute = predicates["attribute"].to_numpy()
    operator = predicates["operator"].combine_chunks().dictionary_encode()
    family = predicates["family"].combine_chunks().dictionary_encode()
    operators, families = operator.dictionary.to_pylist(), family.dictionary.to_pylist()
    operator, family = operator.indices.to_numpy(), family.indices.to_numpy()
    change = (np.diff(attribute) != 0) | (np.diff(operator) != 0) | (np.diff(family) != 0)
    starts = np.flatnonzero(np.r_[True, change])
    columns = (starts, np.r_[starts[1:], len(attribute)], attribute[starts], operator[starts], family[starts])
    for start, end, number, o, f in zip(*(column.tolist() for column in columns)):
        yield _Stretch(start, end, number, operators[o], families[f])


def _numbers(
    values: ranges.Sorted, meeting: str, predicates: pa.Table, stretches: list[_Stretch]
) -> Iterator[tuple[int, BitMap]]:
    """The comparisons of one family with values that it meets as numbers of one type, of all attributes at once."""
    lengths = np.array([stretch.end - stretch.start for stretch in stretches])
    rows = np.concatenate([np.arange(stretch.start, stretch.end) for stretch in stretches])
    operator = np.repeat([_COMPARED[stretch.operator] for stretch in stretches], lengths)
    attributes = np.repeat([stretch.attribute for stretch in stretches], lengths)
    literals = predicates[f"as_{meeting}"].combine_chunks().take(pa.array(rows))
    ends = np.cumsum(literals.value_lengths().to_numpy())
    keys = literals.flatten()
    known = keys.is_valid().to_numpy(zero_copy_only=False)
    keys = keys.fill_null(0).to_numpy()
    if meeting == "double":
        keys = double_keys(keys)
    for i, events in ranges.satisfied(values, operator, attributes, keys, known, ends):
        yield int(rows[i]), events


class _Values:
    """The values of a batch by attribute."""

    def __init__(self, pieces: list[pa.Table]):
        self._kinds: dict[int, set[str]] | None = None
        self._pieces: list[tuple[np.ndarray, pa.Table]] = []
        for piece in pieces:
            attributes = piece["attribute"].to_numpy()
            order = np.argsort(attributes, kind="stable")
            self._pieces.append((attributes[order], piece.combine_chunks().take(pa.array(order))))

    def meeting(self, attribute: int, family: str) -> str | None:
        """The type in which the scalars of the attribute meet the family; None if there are several, or none."""
        if self._kinds is None:
            self._kinds = {}
            for attributes, piece in self._pieces:
                scalar = piece["part"].to_numpy() == SCALAR
                pairs = np.unique(attributes[scalar].astype(np.int64) * 256 + piece["kind"].to_numpy()[scalar])
                for pair in pairs.tolist():
                    self._kinds.setdefault(pair >> 8, set()).add(_kind(pair & 255))
        found = {COMPARISON.get((kind, family)) for kind in self._kinds.get(attribute, ())} - {None}
        return found.pop() if len(found) == 1 else None

    def sorted(self, meeting: str, family: str) -> ranges.Sorted:
        """The scalars that meet the family in this type, of all attributes."""
        codes = [code for code in range(len(CODED)) if COMPARISON.get((_kind(code), family)) == meeting]
        columns: list[tuple[np.ndarray, ...]] = [(np.zeros(0, np.int64),) * 4]
        for attributes, piece in self._pieces:
            here = (piece["part"].to_numpy() == SCALAR) & np.isin(piece["kind"].to_numpy(), codes)
            column = piece[f"as_{meeting}"].combine_chunks()
            here &= column.is_valid().to_numpy(zero_copy_only=False)
            events = piece["events"].combine_chunks().filter(pa.array(here))
            keys = column.filter(pa.array(here)).to_numpy()
            keys = double_keys(keys) if meeting == "double" else keys
            columns.append((attributes[here], keys, events.flatten().to_numpy(), events.value_lengths().to_numpy()))
        return ranges.Sorted(*(np.concatenate(column) for column in zip(*columns)))

    def of(self, attribute: int) -> pa.Table | None:
        found = []
        for attributes, piece in self._pieces:
            low, high = np.searchsorted(attributes, [attribute, attribute + 1])
            if low < high:
                found.append(piece.slice(low, high - low))
        return pa.concat_tables(found).combine_chunks() if found else None


def _kind(code: int) -> str:
    """A float is compared as a double."""
    return "double" if CODED[code] == "float" else CODED[code]


class Attribute:
    """The values of one attribute in one batch, ready to be asked."""

    def __init__(self, values: pa.Table | None, everyone: BitMap):
        self._values = values
        self._everyone = everyone
        self._part = values["part"].to_numpy() if values is not None else np.zeros(0, np.int8)
        self._kind = values["kind"].to_numpy() if values is not None else np.zeros(0, np.int8)
        self._orders: dict[tuple[int, str], list[Ordered]] = {}
        self._unions: dict[int, BitMap] = {}
        self._hits: dict[int, np.ndarray] | None = None

    def test(self, operator: str, family: str, rows: pa.Table) -> list[BitMap | None]:
        """The events of each predicate; all have this operator and family."""
        if operator in ("is null", "is not null"):
            there = self._present()
            return [self._everyone - there if operator == "is null" else there] * len(rows)
        if operator.endswith("like"):
            return self._like(operator, rows)
        if operator.endswith(("array_contains", "arrays_overlap")):
            return self._lists(operator, family, rows)
        if operator in ("holds", "fails"):
            operator = "=" if operator == "holds" else "!="
        found: list[BitMap | None] = [None] * len(rows)
        for ordered, literals in self._compared(SCALAR, family, rows):
            for i, events in enumerate(_compare(operator, ordered, literals)):
                if events:
                    found[i] = events if found[i] is None else found[i] | events
        if operator == "not <=>":
            return [self._everyone - events if events else self._everyone for events in found]
        return found

    def _present(self) -> BitMap:
        return self._events(SCALAR) | self._events(LIST)

    def _events(self, part: int) -> BitMap:
        if part not in self._unions:
            self._unions[part] = self._union(np.flatnonzero(self._part == part))
        return self._unions[part]

    def _union(self, rows: np.ndarray) -> BitMap:
        if not len(rows):
            return BitMap()
        return event_set(self._values["events"].take(pa.array(rows)).combine_chunks().flatten().to_numpy())

    def _compared(self, part: int, family: str, rows: pa.Table) -> Iterator[tuple[Ordered, list[list]]]:
        """For each type in which values of this attribute meet the family: the values, and the literals in it."""
        table = COMPARISON if part == SCALAR else LIST_COMPARISON
        by_type: dict[str, list[int]] = {}
        for code in np.unique(self._kind[self._part == part]):
            meeting = table.get((_kind(code), family))
            if meeting is not None:
                by_type.setdefault(meeting, []).append(code)
        for meeting, codes in by_type.items():
            ordered = self._ordered(part, meeting, tuple(codes))
            if len(ordered):
                yield ordered, _literals(meeting, family, rows)

    def _ordered(self, part: int, meeting: str, codes: tuple[int, ...]) -> Ordered:
        key = (part, meeting, codes)
        if key not in self._orders:
            here = np.flatnonzero((self._part == part) & np.isin(self._kind, codes))
            values = self._values.take(pa.array(here))
            if meeting in _NUMERIC:
                column = values[f"as_{meeting}"].combine_chunks()
                castable = column.is_valid()
                values, column = values.filter(castable), column.filter(castable)
                keys = column.to_numpy()
                if meeting == "double":
                    keys = double_keys(keys)
            elif meeting == "text":
                keys = [text.encode() for text in values["t"].to_pylist()]
            else:
                keys = [
                    Decimal(whole if text is None else text)
                    for whole, text in zip(values["l"].to_pylist(), values["t"].to_pylist())
                ]
            events = values["events"].combine_chunks()
            lengths = np.diff(events.offsets.to_numpy()) if len(events) else np.zeros(0, np.int64)
            self._orders[key] = Ordered(keys, events.flatten().to_numpy(), lengths)
        return self._orders[key]

    def _like(self, operator: str, rows: pa.Table) -> list[BitMap | None]:
        """`hits` holds, per value, the patterns that Spark found to match it."""
        if self._hits is None:
            self._hits = {}
            tested = self._values is not None and "hits" in self._values.column_names
            hits = self._values["hits"].to_pylist() if tested else []
            # Spark has tested the elements of lists, too; a list itself is like no pattern.
            for i in np.flatnonzero(self._part == SCALAR).tolist() if tested else ():
                for pattern in hits[i] or ():
                    self._hits.setdefault(pattern, []).append(i)
        testable = self._events(SCALAR)
        other = self._union(np.flatnonzero((self._part == SCALAR) & (self._kind == KINDS.index("other"))))
        found = []
        for pattern in rows["pattern"].to_pylist():
            events = self._union(np.array(self._hits.get(pattern, []), np.int64))
            found.append((testable - other) - events if operator.startswith("not") else events)
        return found

    def _lists(self, operator: str, family: str, rows: pa.Table) -> list[BitMap | None]:
        found: list[BitMap] = [BitMap() for _ in range(len(rows))]
        comparable = BitMap()
        for ordered, literals in self._compared(ELEMENT, family, rows):
            comparable |= ordered.present()
            for i, events in enumerate(_members(ordered, literals)):
                if events:
                    found[i] = found[i] | events
        if not operator.startswith("not"):
            return found
        # An element that cannot be compared with the literals acts as a NULL element.
        unsure = self._events(HAS_NULL) | self._incomparable(family)
        lists, filled = self._events(LIST), self._events(FILLED)
        answers = []
        for events, literals in zip(found, rows["literals"].to_pylist()):
            if operator == "not array_contains":
                answers.append(lists - events - unsure)
            elif not literals:
                answers.append(lists)
            else:
                answers.append(lists - filled if None in literals else lists - events - (unsure & filled))
        return answers

    def _incomparable(self, family: str) -> BitMap:
        """Events with a list that has an element which the family cannot be compared with."""
        bad = []
        for code in np.unique(self._kind[self._part == ELEMENT]):
            if (_kind(code), family) not in LIST_COMPARISON and family:
                bad.append(code)
        return self._union(np.flatnonzero((self._part == ELEMENT) & np.isin(self._kind, bad)))


def _literals(meeting: str, family: str, rows: pa.Table) -> list[list]:
    """The literals of each predicate in the type they meet the values in; None where they cannot be cast to it."""
    if meeting in _NUMERIC:
        column = rows[f"as_{meeting}"].combine_chunks()
        if meeting == "double":
            values = column.flatten()
            keys = double_keys(values.to_numpy(zero_copy_only=False)).tolist()
            flat = [key if valid else None for key, valid in zip(keys, values.is_valid().to_pylist())]
            offsets = column.offsets.to_pylist()
            return [flat[a - offsets[0] : b - offsets[0]] for a, b in zip(offsets, offsets[1:])]
        return column.to_pylist()
    lists = rows["literals"].to_pylist()
    if meeting == "text":
        return [[None if x is None else x.encode() for x in literals] for literals in lists]
    return [[None if x is None else Decimal(x) for x in literals] for literals in lists]


def _compare(operator: str, ordered: Ordered, literals: list[list]) -> Iterator[BitMap | None]:
    """The events of each predicate among the values of one comparison type. A None literal is a NULL."""
    end = len(ordered)
    if operator in ("=", "<=>", "not <=>", "in"):
        yield from _members(ordered, literals)
    elif operator in ("!=", "not in"):
        present = ordered.present()
        for listed, events in zip(literals, _members(ordered, literals)):
            if None in listed:
                yield None
            else:
                yield present - events if events else present
    elif operator in ("between", "not between"):
        for low, high in literals:
            below = ordered.places([low], "left")[0] if low is not None else None
            above = ordered.places([high], "right")[0] if high is not None else None
            if operator == "between":
                yield None if below is None or above is None else ordered.between(below, above)
            else:
                left = ordered.between(0, below) if below is not None else None
                right = ordered.between(above, end) if above is not None else None
                yield left | right if left and right else left or right
    else:
        bounds = [listed[0] for listed in literals]
        known = [bound for bound in bounds if bound is not None]
        places = iter(ordered.places(known, "left" if operator in ("<", ">=") else "right"))
        for bound in bounds:
            if bound is None:
                yield None
            else:
                place = next(places)
                yield ordered.between(0, place) if operator in ("<", "<=") else ordered.between(place, end)


def _members(ordered: Ordered, literals: list[list]) -> Iterator[BitMap | None]:
    """The events whose value is one of the literals."""
    flat = [literal for listed in literals for literal in listed if literal is not None]
    low, high = iter(ordered.places(flat, "left")), iter(ordered.places(flat, "right"))
    for listed in literals:
        events = None
        for literal in listed:
            if literal is not None:
                one = ordered.between(next(low), next(high))
                if one is not None:
                    events = one if events is None else events | one
        yield events
