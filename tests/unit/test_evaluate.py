"""The plain three-valued evaluator: tables of (predicate or expression, event, truth)."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from banyan.language.evaluate import Single, evaluate, evaluate_predicate, kind_of
from banyan.language.tree import INVERSE, And, Constant, Not, Or, Predicate, Xnor, Xor

UTC = datetime.timezone.utc
NAN, INF = float("nan"), float("inf")


class FakeCasts:
    """Spark's answers to what these tests ask, written down. Anything else casts to NULL."""

    KNOWN = {
        ("1", "integer"): 1,
        (" 10 ", "integer"): 10,
        ("1", "double"): 1.0,
        ("1.5", "double"): 1.5,
        ("NaN", "double"): NAN,
        ("yes", "boolean"): True,
        ("no", "boolean"): False,
        ("2024-01-31", "date"): 19753,
        ("2024-01-31", "timestamp"): 1706659200_000000,
        (datetime.date(2024, 1, 31), "timestamp"): 1706659200_000000,
        (1.5, "text"): "1.5",
    }

    def cast(self, value, target):
        return self.KNOWN.get((value, target))

    def rlike(self, value, pattern):
        return (value, pattern) == ("abc", "b.")

    def ilike(self, value, pattern):
        return (value, pattern) == ("ÄB", "äb")


CASTS = FakeCasts()
P = Predicate("age", ">", "integer", ("60",))
Q = Predicate("weight", ">", "integer", ("100",))


@pytest.mark.parametrize(
    ("name", "tree", "event", "truth"),
    [
        ("T-A4.1", Not(Or((P, Q))), {"age": 50, "weight": 90}, True),
        ("T-A4.1", Not(Or((P, Q))), {"age": 50}, None),
        ("T-A4.1", Not(Or((P, Q))), {}, None),
        ("T-A4.1", Not(Or((P, Q))), {"age": 70}, False),
        ("T-A4.2", Or((P, Not(P))), {}, None),
        ("T-A4.2", Xnor(P, P), {}, None),
        ("T-A4.2", Xnor(P, P), {"age": 1}, True),
        ("T-A4.3", And((P, Q)), {"age": 50}, False),
        ("T-A4.3", Not(And((P, Q))), {"age": 50}, True),
        ("T-A4.4", Xor(P, Q), {"age": 70}, None),
        ("T-A4.4", Xor(P, Q), {"age": 70, "weight": 1}, True),
        ("T-A4.5", Predicate("age", "!=", "integer", ("5",)), {}, None),
        ("T-A4.5", Not(Predicate("age", "=", "integer", ("5",))), {}, None),
        ("constant", Constant(None), {}, None),
        ("constant", Or((Constant(None), Constant(True))), {}, True),
        ("constant", And((Constant(None), Constant(False))), {}, False),
        ("constant", Xor(Constant(None), Constant(False)), {}, None),
    ],
)
def test_connectives(name, tree, event, truth):
    assert evaluate(tree, event, CASTS) is truth


def test_deep_expressions():
    tree = P
    for _ in range(10_001):
        tree = Not(tree)
    assert evaluate(tree, {"age": 61}, CASTS) is False


U = None
DAY = datetime.date(2024, 1, 31)
NOON = datetime.datetime(2024, 1, 31, 12)


@pytest.mark.parametrize(
    ("operator", "family", "operands", "cases"),
    [
        ("=", "integer", ("1",), [(1, True), (2, False), (U, U), (True, U), ([1], U), ({}, U), (Decimal("1.0"), True)]),
        ("=", "integer", ("1",), [("1", True), ("1.5", U), ("abc", U), (1.0, True), (DAY, U)]),
        ("=", "integer", ("9007199254740993",), [(2**53 + 1, True), (2**53, False), (2.0**53, True)]),
        ("=", "decimal", ("9007199254740993",), [(2**53 + 1, True), (2**53, False), (2.0**53, True)]),
        ("=", "double", ("9007199254740992.0",), [(2**53 + 1, True), (Decimal(2**53 + 1), True), (2**53 + 2, False)]),
        ("<", "decimal", ("1.5",), [(1, True), (2, False), (Decimal("1.49"), True), (NAN, False), ("1", True)]),
        ("<", "decimal", ("1" + "0" * 30,), [(1, True), (U, U), (Decimal(10**31), False)]),
        ("<", "double", ("0.0",), [(-0.0, False), (NAN, False), (-INF, True), (0, False)]),
        (">", "double", ("1e+308",), [(NAN, True), (INF, True), (1, False), (U, U)]),
        (
            "=",
            "text",
            ("NaN",),
            [(NAN, True), (INF, False), (1, U), (Decimal(1), False), ("NaN", True), ("nan", False)],
        ),
        ("=", "text", ("1",), [(1, True), (Decimal("1.00"), True), (1.0, True), ("1", True), (" 1", False)]),
        ("=", "text", ("abc",), [(1, U), (1.0, U), (True, U), (DAY, U), ("abc", True)]),
        ("<", "text", ("b",), [("a", True), ("é", False), ("\uffff", False), ("", True)]),
        ("<", "text", ("\U00010000",), [("\uffff", True)]),
        ("=", "text", ("yes",), [(True, True), (False, False)]),
        ("=", "boolean", ("true",), [(True, True), (False, False), ("yes", True), ("maybe", U), (1, U)]),
        ("<", "boolean", ("true",), [(True, False), (False, True)]),
        ("=", "date", ("2024-01-31",), [(DAY, True), ("2024-01-31", True), ("abc", U), (1, U)]),
        (
            "<=",
            "date",
            ("2024-01-31",),
            [(NOON, False), (NOON.replace(hour=0), True), (NOON.replace(tzinfo=UTC), False)],
        ),
        ("=", "timestamp", ("2024-01-31T00:00:00.000000Z",), [(DAY, True), ("2024-01-31", True), (NOON, U)]),
        (">", "timestamp", ("2024-01-31T00:00:00.000000Z",), [(NOON.replace(tzinfo=UTC), True)]),
        ("in", "integer", ("1", "2"), [(1, True), (3, False), (U, U), ("1", True), ("abc", U)]),
        ("in", "text", ("1", "abc"), [(1, True), (2, U), ("1", True), ("2", False)]),
        ("between", "integer", ("1", "5"), [(1, True), (5, True), (6, False), (U, U)]),
        ("between", "integer", ("5", "1"), [(3, False), (U, U)]),
        ("between", "text", ("abc", "1"), [(0, U), (2, False)]),
        ("<=>", "integer", ("1",), [(1, True), (2, False), (U, False), (True, False), ("abc", False), ([1], False)]),
        ("<=>", "text", ("abc",), [(1, False), (U, False), ("abc", True)]),
        ("<=>", "text", ("NaN",), [(NAN, True)]),
        ("is null", "", (), [(U, True), (1, False), ("abc", False), ([], False), ({}, False)]),
        ("holds", "", (), [(True, True), (False, False), (U, U), ("yes", True), ("abc", U), (1, U), ([], U)]),
        ("like", "text", ("a_b",), [("axb", True), ("a\nb", True), ("ab", False), ("a😀b", True), (U, U), ([], U)]),
        ("like", "text", ("%",), [("", True), ("a\nb", True), ("\n", True)]),
        ("like", "text", ("a\\_b\\%\\\\",), [("a_b%\\", True), ("axb%\\", False)]),
        ("like", "text", ("1.5%",), [(Decimal("1.50"), True), (1.5, True), (15, False), ("1x5", False), (DAY, U)]),
        ("like", "text", ("9223372036854775808",), [(2**63, True), (Decimal(2**63), True), (2**63 - 1, False)]),
        ("like", "text", ("true",), [(True, True), (False, False)]),
        ("ilike", "text", ("A%",), [("abc", True), ("ABC", True), ("b", False), (U, U)]),
        ("ilike", "text", ("äb",), [("ÄB", True), ("äc", False)]),
        ("rlike", "text", ("b.",), [("abc", True), ("ab", False), (U, U), ([], U)]),
        ("array_contains", "integer", ("2",), [([1, 2], True), ([1], False), ([], False), (U, U), (2, U), ([1, U], U)]),
        ("array_contains", "integer", ("2",), [(["2"], U), ([2.0], True), ([Decimal("2.0"), U], True), ([[2]], U)]),
        ("array_contains", "double", ("1.5",), [([NAN, 1.5], True), ([NAN], False)]),
        ("arrays_overlap", "integer", ("1", "2"), [([2, 3], True), ([3], False), ([], False), ([3, U], U), (U, U)]),
        ("arrays_overlap", "integer", (None, "1"), [([1], True), ([3], U), ([], False)]),
        ("arrays_overlap", "", (None,), [([1], U), ([], False)]),
        ("arrays_overlap", "text", ("a",), [(["a", 1], True), (["b", 1], U), (["b"], False)]),
    ],
)
def test_predicates_and_their_inverses(operator, family, operands, cases):
    predicate = Predicate("a", operator, family, operands)
    inverse = predicate._replace(operator=INVERSE[operator])
    for value, truth in cases:
        assert evaluate_predicate(predicate, value, CASTS) is truth, value
        assert evaluate_predicate(inverse, value, CASTS) is (None if truth is None else not truth), value


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "boolean"),
        (2**63 - 1, "integer"),
        (2**63, "decimal"),
        (Decimal(1), "decimal"),
        (NAN, "double"),
        (Single(0.1), "double"),
        ("", "text"),
        (DAY, "date"),
        (NOON, "timestamp_ntz"),
        (NOON.replace(tzinfo=UTC), "timestamp"),
        ([], "list"),
        ({}, "other"),
        (b"", "other"),
    ],
)
def test_kinds(value, kind):
    assert kind_of(value) == kind
