"""The leaf step: which events satisfy which predicate, against the plain evaluator, for every kind and operator.

Casts of text are Spark's to decide; here both sides are given the same few simple ones.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyroaring import BitMap

from banyan.language.evaluate import Single, evaluate_predicate, kind_of
from banyan.language.tree import INVERSE, Predicate
from banyan.match.attributes import CODE, CODED, VARIANT, Form
from banyan.match.leaves import satisfied
from banyan.match.matches import only
from banyan.match.ranges import DIRECT
from banyan.match.values import gatherer

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1)
DAY = 86_400_000_000
NAN, INF = float("nan"), float("inf")


class SimpleCasts:
    """Casts that anyone would agree on."""

    def cast(self, value: Any, target: str) -> Any:
        if isinstance(value, datetime.datetime):
            return (value - EPOCH) // datetime.timedelta(microseconds=1) if target == "timestamp" else str(value)
        if isinstance(value, datetime.date):
            return (value - EPOCH.date()).days * DAY if target == "timestamp" else str(value)
        if not isinstance(value, str):
            return str(value)
        if target == "integer":
            return int(value) if re.fullmatch(r"-?[0-9]+", value) else None
        if target == "double":
            return float(value) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?|NaN|Infinity", value) else None
        if target == "boolean":
            return {"true": True, "false": False}.get(value)
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return None
        days = (datetime.date.fromisoformat(value) - EPOCH.date()).days
        return days if target == "date" else days * DAY

    def rlike(self, value: Any, pattern: str) -> bool:
        return re.search(pattern, str(value)) is not None

    def ilike(self, value: Any, pattern: str) -> bool:
        shape = pattern.replace("\\_", "[_]").replace("%", ".*").replace("_", ".").replace("[.]", "_")
        return re.fullmatch(shape, str(value), re.IGNORECASE | re.DOTALL) is not None


CASTS = SimpleCasts()

# ---------------------------------------------------------------------------------------------------- values, typed

_DAYS = tuple(map(datetime.date.fromisoformat, ("2024-01-31", "1969-12-31", "1970-01-01")))
_TIMES = tuple(
    map(datetime.datetime.fromisoformat, ("2024-01-31T00:00:00", "2024-01-31T10:00:00.000001", "1969-12-31"))
)
POOLS: dict[str, tuple] = {
    "integer": (0, 1, -1, 2, 10, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)),
    "double": (0.0, -0.0, 1.0, 1.5, -1.5, 10.0, 0.1, 2.0**53, NAN, INF, -INF),
    "float": tuple(map(Single, (0.0, 1.5, 0.10000000149011612, NAN))),
    "decimal": tuple(map(Decimal, ("0.00", "1.00", "1.50", "-1.50", "9007199254740993", "0.1", "1E+30"))),
    "text": ("1", "10", "1.5", "abc", "ABC", "", "NaN", "true", "false", "2024-01-31", "é", "a_b", "9007199254740993"),
    "boolean": (True, False),
    "date": _DAYS,
    "timestamp": tuple(time.replace(tzinfo=UTC) for time in _TIMES),
    "timestamp_ntz": _TIMES,
    "other": ({},),
}
ANY = tuple(value for pool in POOLS.values() for value in pool)
LITERALS = {
    "integer": ("0", "1", "-1", "2", "10", "9007199254740993", "9223372036854775807"),
    "decimal": ("0", "1", "1.5", "-1.5", "0.1", "9007199254740993", "1" + "0" * 30),
    "double": ("0.0", "1.0", "1.5", "-1.5", "0.1", "9007199254740992.0", "1e+300"),
    "text": ("1", "1.5", "abc", "", "NaN", "true", "2024-01-31", "é", "a", "9007199254740993"),
    "boolean": ("true", "false"),
    "date": ("2024-01-31", "1969-12-31", "1970-01-01"),
    "timestamp": ("2024-01-31T00:00:00.000000Z", "2024-01-31T10:00:00.000001Z", "1970-01-01T00:00:00.000000Z"),
}
PATTERNS = ("%", "a%", "1_5", "_", "%é%", "ABC", "20%", "true", "a\\_b")


def columns() -> dict[str, tuple[Form, tuple]]:
    """Attribute -> how its values travel, and the values it may have."""
    scalars = {kind: (Form(kind), pool) for kind, pool in POOLS.items()}
    lists = {f"list of {kind}": (Form("list", kind), POOLS[kind]) for kind in ("integer", "double", "text", "boolean")}
    mixed = {"list of variant": (Form("list", VARIANT), ANY), "variant": (Form(VARIANT), ANY)}
    return {**scalars, **lists, **mixed, "absent": (Form("integer"), ())}


def random_column(rng: Random, form: Form, pool: tuple, events: int) -> list:
    """A value for each event; some absent. Variants hold scalars and lists, lists hold NULLs."""

    def one() -> Any:
        if not pool or rng.random() < 0.2:
            return None
        if form.kind == "list" or (form.kind == VARIANT and rng.random() < 0.3):
            return [None if rng.random() < 0.1 else rng.choice(pool) for _ in range(rng.randrange(4))]
        return rng.choice(pool)

    return [one() for _ in range(events)]


# ------------------------------------------------------------------------------------------- as they reach a worker


def fields(value: Any) -> dict[str, Any]:
    """A scalar in the form in which it travels: its kind, and itself as l, d or t."""
    kind = "float" if isinstance(value, Single) else kind_of(value)
    row: dict[str, Any] = {"kind": CODE[kind], "l": None, "d": None, "t": None}
    if kind in ("double", "float"):
        row["d"] = float(value)
    elif kind in ("text", "decimal"):
        row["t"] = str(value)
    elif kind in ("timestamp", "timestamp_ntz"):
        row["l"] = (value.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)
    else:
        row["l"] = {"date": lambda: (value - EPOCH.date()).days, "other": lambda: 1}.get(kind, lambda: int(value))()
    return row


def value_of(kind: str, l: int | None, d: float | None, t: str | None) -> Any:  # noqa: E741
    """The value back from that form."""
    if kind in ("double", "float"):
        return d if kind == "double" else Single(d)
    if kind in ("text", "decimal"):
        return t if kind == "text" else Decimal(t)
    if kind == "date":
        return EPOCH.date() + datetime.timedelta(days=l)
    if kind in ("timestamp", "timestamp_ntz"):
        moment = EPOCH + datetime.timedelta(microseconds=l)
        return moment.replace(tzinfo=UTC) if kind == "timestamp" else moment
    return {"boolean": bool, "integer": int, "other": lambda _: {}}[kind](l)


SCALAR_FIELDS = [("kind", pa.int8()), ("l", pa.int64()), ("d", pa.float64()), ("t", pa.string())]


def arrow(form: Form, column: list) -> pa.Array:
    field = {"double": "d", "float": "d", "text": "t", "decimal": "t"}
    types = dict(SCALAR_FIELDS)
    if form.kind == VARIANT:
        scalar = pa.struct(SCALAR_FIELDS)
        rows = [
            None
            if value is None
            else {"kind": CODE["list"], "list": [None if x is None else fields(x) for x in value]}
            if isinstance(value, list)
            else fields(value)
            for value in column
        ]
        return pa.array(rows, pa.struct([*SCALAR_FIELDS, ("list", pa.list_(scalar))]))
    if form.kind == "list":
        if form.element == VARIANT:
            rows = [None if v is None else [None if x is None else fields(x) for x in v] for v in column]
            return pa.array(rows, pa.list_(pa.struct(SCALAR_FIELDS)))
        name = field.get(form.element, "l")
        rows = [None if v is None else [None if x is None else fields(x)[name] for x in v] for v in column]
        return pa.array(rows, pa.list_(types[name]))
    name = field.get(form.kind, "l")
    return pa.array([None if v is None else fields(v)[name] for v in column], types[name])


AS = ("integer", "double", "boolean", "date", "timestamp", "timestamp_ntz")


def values_table(forms: dict[int, Form], data: list[list], predicates: list[tuple[int, int, Predicate]]) -> pa.Table:
    """What `gatherer` makes of two partitions, with the columns that Spark adds: casts, and hits of patterns."""
    events = len(data[0])
    batches = []
    for start, end in ((0, events // 2), (events // 2, events)):
        arrays = [pa.array(range(start, end), pa.int32())]
        arrays += [arrow(form, data[number][start:end]) for number, form in forms.items()]
        batch = pa.RecordBatch.from_arrays(arrays, ["number", *(f"c{number}" for number in forms)])
        batches += list(gatherer(forms)(iter([batch])))
    table = pa.Table.from_batches(batches)
    like: dict[int, set[Predicate]] = {}
    for _, attribute, predicate in predicates:
        if predicate.operator.endswith("like"):
            positive = predicate.operator.removeprefix("not ")
            like.setdefault(attribute, set()).add(predicate._replace(operator=positive))
    casts: dict[str, list] = {name: [] for name in AS}
    hits: list[list[int]] = []
    for row in table.to_pylist():
        kind = CODED[row["kind"]]
        for name in AS:
            casts[name].append(None if kind == "list" else as_type(kind, row, name))
        hits.append([])
        if kind != "list":  # also the elements of lists, as Spark does
            value = value_of(kind, row["l"], row["d"], row["t"])
            hits[-1] = [
                pattern_id(predicate)
                for predicate in like.get(row["attribute"], ())
                if evaluate_predicate(predicate, value, CASTS)
            ]
    for name in AS:
        table = table.append_column(f"as_{name}", pa.array(casts[name], _arrow_type(name)))
    return table.append_column("hits", pa.array(hits, pa.list_(pa.int64())))


def as_type(kind: str, row: dict, name: str) -> Any:
    if kind == "text":
        return None if name == "timestamp_ntz" else as_literal(name, "text", row["t"])
    if name == "double":
        if kind == "decimal":
            return float(row["t"])
        return row["d"] if kind in ("double", "float") else float(row["l"]) if kind == "integer" else None
    if name == "timestamp" and kind in ("date", "timestamp_ntz"):
        return row["l"] * DAY if kind == "date" else row["l"]
    return row["l"] if kind == name else None


def _arrow_type(name: str) -> pa.DataType:
    return pa.float64() if name == "double" else pa.int64()


def pattern_id(predicate: Predicate) -> int:
    return PATTERNS.index(predicate.operands[0]) * 10 + ("like", "ilike", "rlike").index(
        predicate.operator.removeprefix("not ")
    )


TAKES = {
    "integer": ("integer", "text"),
    "double": ("integer", "decimal", "double", "text"),
    "boolean": ("boolean", "text"),
    "date": ("date", "text"),
    "timestamp": ("date", "timestamp", "text"),
    "timestamp_ntz": ("date", "text"),
}


def predicates_table(predicates: list[tuple[int, int, Predicate]]) -> pa.Table:
    """(node_id, attribute number, predicate) with the literals in every type that they can meet values in."""
    literals = [["true"] if p.operator in ("holds", "fails") else list(p.operands) for _, _, p in predicates]
    table = pa.table(
        {
            "node_id": pa.array([node_id for node_id, _, _ in predicates], pa.int64()),
            "attribute": pa.array([attribute for _, attribute, _ in predicates], pa.int32()),
            "operator": pa.array([p.operator for _, _, p in predicates], pa.string()),
            "family": pa.array([p.family for _, _, p in predicates], pa.string()),
            "literals": pa.array(literals, pa.list_(pa.string())),
        }
    )
    for name in AS:
        cast = [
            [as_literal(name, p.family, x) for x in listed] if p.family in TAKES[name] else None
            for (_, _, p), listed in zip(predicates, literals)
        ]
        table = table.append_column(f"as_{name}", pa.array(cast, pa.list_(_arrow_type(name))))
    patterns = [pattern_id(p) if p.operator.endswith("like") else None for _, _, p in predicates]
    return table.append_column("pattern", pa.array(patterns, pa.int64()))


def as_literal(name: str, family: str, literal: str | None) -> Any:
    if literal is None:
        return None
    if family == "timestamp":
        moment = datetime.datetime.fromisoformat(literal.removesuffix("Z"))
        return (moment - EPOCH) // datetime.timedelta(microseconds=1)
    if family in ("integer", "decimal", "double"):
        return float(literal) if name == "double" else int(literal)
    cast = CASTS.cast(literal, "timestamp" if name == "timestamp_ntz" else name)
    return cast if name == "double" or cast is None else int(cast)


def found_of(forms: dict[int, Form], data: list[list], predicates: list, events: int) -> dict[int, BitMap]:
    return answers([values_table(forms, data, predicates)], predicates, events)


def answers(values: list[pa.Table], predicates: list, events: int) -> dict[int, BitMap]:
    """The events of each predicate by its id; each predicate answers once, and the same if asked slice by slice."""
    table = predicates_table(predicates)
    found = list(satisfied(values, table, events))
    assert len(dict(found)) == len(found)
    sliced: dict[int, BitMap] = {}
    for start in range(0, events, max(1, events // 3)):
        count = min(max(1, events // 3), events - start)
        for row, some in satisfied([only(start, count, piece) for piece in values], table, count):
            assert some and some.max() < count
            sliced[row] = sliced.get(row, BitMap()) | some.shift(start)
    assert sliced == dict(found)
    return {predicates[row][0]: events for row, events in found}


# -------------------------------------------------------------------------------------------------------- the tests


def random_predicate(rng: Random, name: str, operator: str) -> Predicate:
    plain = operator.removeprefix("not ")
    family = rng.choice(list(LITERALS))
    if plain.endswith("like"):
        return Predicate(name, operator, "text", (rng.choice(PATTERNS),))
    if operator in ("is null", "is not null"):
        return Predicate(name, operator, "", ())
    if operator in ("holds", "fails"):
        return Predicate(name, operator, "boolean", ())
    if plain == "between":
        return Predicate(name, operator, family, tuple(rng.choice(LITERALS[family]) for _ in range(2)))
    if plain == "in":
        return Predicate(name, operator, family, tuple(rng.sample(LITERALS[family], 2)))
    if plain == "arrays_overlap":
        null = (None,) if rng.random() < 0.3 else ()
        listed = tuple(rng.sample(LITERALS[family], rng.randrange(3)))
        return Predicate(name, operator, family if listed else "", listed + null)
    return Predicate(name, operator, family, (rng.choice(LITERALS[family]),))


@pytest.mark.parametrize("seed", range(3))
def test_every_operator_on_every_kind(seed):
    """For each attribute and operator some predicates; the sets are those of the events the evaluator finds true."""
    rng, events = Random(seed), 50
    names, forms, data = list(columns()), {}, []
    for number, (form, pool) in enumerate(columns().values()):
        forms[number] = form
        data.append(random_column(rng, form, pool, events))
    predicates = [
        (10_000 * number + 10 * place + again, number, random_predicate(rng, name, operator))
        for number, name in enumerate(names)
        for place, operator in enumerate(INVERSE)
        for again in range(7)
    ]
    rng.shuffle(predicates)
    found = found_of(forms, data, predicates, events)
    assert all(found.values())  # only non-empty sets flow
    nonempty = 0
    for node_id, number, predicate in predicates:
        expected = {event for event in range(events) if evaluate_predicate(predicate, data[number][event], CASTS)}
        assert set(found.pop(node_id, ())) == expected, (predicate, [data[number][event] for event in expected])
        nonempty += bool(expected)
    assert not found
    assert nonempty > 500


def test_predicates_true_of_absence_fire_where_nobody_has_the_attribute():
    """Also in a batch without any value at all, and for events without any attribute."""
    predicates = [
        (1, 0, Predicate("a", "is null", "", ())),
        (2, 0, Predicate("a", "not <=>", "integer", ("1",))),
        (3, 1, Predicate("b", "is not null", "", ())),
        (4, 1, Predicate("b", "!=", "integer", ("1",))),
        (5, 2, Predicate("c", "not <=>", "boolean", ("true",))),
    ]
    values = values_table({0: Form("integer")}, [[7, 8]], []).slice(0, 0)
    expected = {
        1: BitMap([0, 1, 2]),
        2: BitMap([0, 1, 2]),
        5: BitMap([0, 1, 2]),
    }
    assert answers([values], predicates, 3) == expected
    assert answers([], predicates, 3) == expected


def test_values_that_cannot_be_compared_act_as_null_for_that_predicate():
    """A text column in which nothing is a number: no comparison holds, `<=>` is false and its inverse true."""
    predicates = [
        (i, 0, Predicate("a", operator, "integer", ("1", "2") if operator.endswith(("in", "between")) else ("1",)))
        for i, operator in enumerate(["=", "!=", "<", ">=", "between", "not between", "in", "not in", "<=>", "not <=>"])
    ]
    predicates.append((100, 0, Predicate("a", "is not null", "", ())))
    values = values_table({0: Form("text")}, [["abc", "x", None, "abc"]], predicates)
    found = answers([values], predicates, 4)
    assert found == {9: BitMap([0, 1, 2, 3]), 100: BitMap([0, 1, 3])}


def test_values_in_pieces_are_the_same_as_values_in_one():
    """Each partition of a batch sends a piece of its own; an attribute may be in some of them only."""
    predicates = [(i, i % 2, Predicate("ab"[i % 2], ">", "integer", (str(i),))) for i in range(8)]
    forms = {0: Form("integer"), 1: Form("integer")}
    whole = values_table(forms, [[5, 1, None, 9, 5], [None, None, 7, 3, None]], predicates)
    pieces = [whole.slice(i, 1) for i in range(len(whole))]
    assert answers(pieces, predicates, 5) == answers([whole], predicates, 5)


def test_many_values_and_many_ranges():
    """More distinct values than there are anchors, asked by every comparison."""
    rng, events = Random(9), 3_500
    column = [rng.choice((None, rng.randrange(4_000))) for _ in range(events)]
    operators = ["<", "<=", ">", ">=", "=", "!=", "<=>", "not <=>"]
    predicates = []
    for i in range(60):
        low, high = rng.randrange(-5, 4_005), rng.randrange(-5, 4_005)
        predicates.append((i, 0, Predicate("a", rng.choice(operators), "integer", (str(low),))))
        operator = rng.choice(("between", "not between"))
        predicates.append((i + 100, 0, Predicate("a", operator, "integer", (str(low), str(high)))))
    found = found_of({0: Form("integer")}, [column], predicates, events)
    for node_id, _, predicate in predicates:
        expected = {i for i, value in enumerate(column) if evaluate_predicate(predicate, value, CASTS)}
        assert set(found.get(node_id, ())) == expected, predicate


def test_ranges_of_more_events_than_are_sorted_directly():
    """Prefix unions, with ragged ends, of two attributes that stand side by side in one array."""
    rng, events = Random(10), 6 * DIRECT
    data = [[rng.choice((None, rng.randrange(300))) for _ in range(events)] for _ in "ab"]
    forms = {0: Form("integer"), 1: Form("double")}
    data[1] = [None if value is None else value / 2 for value in data[1]]
    predicates = []
    for i in range(60):
        number, low = i % 2, rng.randrange(-5, 305)
        high = rng.choice((low, rng.randrange(-5, 305)))
        operator = ("<", "<=", ">", ">=", "!=", "=", "between", "not between", "in", "not in")[i % 10]
        literals = (str(low), str(high)) if operator.endswith(("between", "in")) else (str(low),)
        predicates.append((i, number, Predicate("ab"[number], operator, "integer", literals)))
    found = found_of(forms, data, predicates, events)
    large = 0
    for i, number, predicate in predicates:
        expected = {e for e, value in enumerate(data[number]) if evaluate_predicate(predicate, value, CASTS)}
        assert set(found.get(i, ())) == expected, predicate
        large += len(expected) > DIRECT
    assert large > 15
