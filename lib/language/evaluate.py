"""The plain three-valued evaluator: one expression, one event, True, False or None (undefined).

In: a tree as the parser makes it and an event as a mapping from attribute (canonical path) to a Python value.
It shares no code with matching: the tests hold both against each other, and `explain` shows its verdicts.
Casts of text, times of day and Java's regular expressions are asked of a `Casts`, behind which stands Spark.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Protocol

from banyan.language.comparison import COMPARISON, HOLDS_KINDS, LIKE_KINDS, LIST_COMPARISON
from banyan.language.tree import INVERSE, And, Constant, Not, Or, Predicate, Tree, Xor

Truth = bool | None

# The operators that are evaluated; every other one is the negation of its inverse.
_PLAIN = {"is null", *"= in < <= between <=> holds like ilike rlike array_contains arrays_overlap".split()}
_DAY = 86_400_000_000
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


class Single(float):
    """A 32-bit float. It compares as the double it equals, but LIKE sees '0.1' where the double is 0.10000000149..."""


class Casts(Protocol):
    """What Spark alone decides. `cast` gives None where Spark's try_cast does."""

    def cast(self, value: Any, target: str) -> Any:
        """The value as type `target`: dates as days, timestamps as microseconds since 1970, others as in Python."""

    def rlike(self, value: Any, pattern: str) -> Truth:
        """Whether Java finds the pattern in the value, seen as a string."""

    def ilike(self, value: Any, pattern: str) -> Truth:
        """As `like`, for letters beyond ASCII, whose small forms only Spark's tables tell."""


def kind_of(value: Any) -> str:
    """The kind of a value, one of `comparison.KINDS`. None has no kind: ask before."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if -(2**63) <= value < 2**63 else "decimal"
    if isinstance(value, float):
        return "double"
    if isinstance(value, str):
        return "text"
    if isinstance(value, Decimal):
        return "decimal"
    if isinstance(value, datetime.datetime):
        return "timestamp" if value.tzinfo else "timestamp_ntz"
    if isinstance(value, datetime.date):
        return "date"
    return "list" if isinstance(value, list) else "other"


def evaluate(tree: Tree, event: Mapping[str, Any], casts: Casts) -> Truth:
    """The value of the expression on the event; the event matches if it is True."""
    # An explicit stack: expressions may be a thousand levels deep, more than Python's own stack likes.
    results: list[Truth] = []
    work: list[tuple[Tree, bool]] = [(tree, False)]
    while work:
        node, entered = work.pop()
        if isinstance(node, Predicate):
            results.append(evaluate_predicate(node, event.get(node.attribute), casts))
        elif isinstance(node, Constant):
            results.append(node.value)
        elif entered:
            count = len(_operands(node))
            values, results[-count:] = results[-count:], []
            results.append(combine(node, values))
        else:
            work.append((node, True))
            work.extend((operand, False) for operand in reversed(_operands(node)))
    return results[0]


def combine(node: Tree, values: Sequence[Truth]) -> Truth:
    """The value of an inner node from the values of its operands."""
    if isinstance(node, And):
        return _all(values)
    if isinstance(node, Or):
        return _negate(_all([_negate(value) for value in values]))
    if isinstance(node, Not):
        return _negate(values[0])
    if None in values:
        return None
    return (values[0] is not values[1]) if isinstance(node, Xor) else (values[0] is values[1])


def evaluate_predicate(predicate: Predicate, value: Any, casts: Casts) -> Truth:
    """The value of one predicate; `value` is None where the event lacks the attribute."""
    if predicate.operator in _PLAIN:
        return _test(predicate.operator, predicate, value, casts)
    return _negate(_test(INVERSE[predicate.operator], predicate, value, casts))


def _test(operator: str, predicate: Predicate, value: Any, casts: Casts) -> Truth:
    if operator == "is null":
        return value is None
    if operator == "<=>":
        return bool(value is not None and _compared("=", predicate, value, casts))
    if value is None:
        return None
    if operator == "holds":
        return _comparable(value, "boolean", casts) if kind_of(value) in HOLDS_KINDS else None
    if operator in ("like", "ilike", "rlike"):
        return _matches(operator, value, predicate.operands[0], casts)
    if operator in ("array_contains", "arrays_overlap"):
        return _overlaps(predicate, value, casts) if isinstance(value, list) else None
    return _compared(operator, predicate, value, casts)


def _compared(operator: str, predicate: Predicate, value: Any, casts: Casts) -> Truth:
    target = COMPARISON.get((kind_of(value), predicate.family))
    if target is None:
        return None
    ours = _comparable(value, target, casts)
    # Every literal is cast, also beside a value that cannot be compared: see `casts.Recorder`.
    orders = [_order(ours, _literal(predicate.family, operand, target, casts)) for operand in predicate.operands]
    if operator == "=":
        return _whether(orders[0], 0)
    if operator == "in":
        return _negate(_all([_negate(_whether(order, 0)) for order in orders]))
    if operator == "<":
        return _whether(orders[0], -1)
    if operator == "<=":
        return _whether(orders[0], -1, 0)
    return _all([_whether(orders[0], 0, 1), _whether(orders[1], -1, 0)])


def _matches(operator: str, value: Any, pattern: str, casts: Casts) -> Truth:
    if kind_of(value) not in LIKE_KINDS:
        return None
    if operator == "rlike":
        return casts.rlike(value, pattern)
    text = _comparable(value, "text", casts)
    if operator == "like":
        return None if text is None else _like(pattern).fullmatch(text) is not None
    if not pattern.isascii() or not (text is None or text.isascii()):
        return casts.ilike(value, pattern)
    return None if text is None else _like(pattern.lower()).fullmatch(text.lower()) is not None


@lru_cache(maxsize=1024)
def _like(pattern: str) -> re.Pattern[str]:
    """LIKE as Spark reads it: `_` one character, `%` any number of them, newlines too, a backslash escapes the next."""
    parts = []
    escaped = False
    for character in pattern:
        if escaped or character not in "\\_%":
            parts.append(re.escape(character))
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            parts.append("." if character == "_" else ".*")
    return re.compile("".join(parts), re.DOTALL)


def _overlaps(predicate: Predicate, elements: list, casts: Casts) -> Truth:
    """`array_contains` is `arrays_overlap` with one literal. An element that cannot be compared acts as NULL."""
    orders = []
    for element in elements:
        kind = None if element is None else kind_of(element)
        target = LIST_COMPARISON.get((kind, predicate.family))
        ours = None if target is None else _comparable(element, target, casts)
        orders += [_order(ours, _literal(predicate.family, operand, target, casts)) for operand in predicate.operands]
    if 0 in orders:
        return True
    return None if None in orders else False


def _literal(family: str, operand: str | None, target: str | None, casts: Casts) -> Any:
    if operand is None or target is None:
        return None
    return _comparable(_literal_value(family, operand), target, casts)


@lru_cache(maxsize=4096)
def _literal_value(family: str, operand: str) -> Any:
    """A literal's canonical text as a Python value."""
    if family == "integer":
        return int(operand)
    if family == "decimal":
        return Decimal(operand)
    if family == "double":
        return float(operand)
    if family == "boolean":
        return operand.lower() == "true"
    if family == "date":
        return datetime.date.fromisoformat(operand)
    if family == "timestamp":
        return datetime.datetime.fromisoformat(operand.removesuffix("Z")).replace(tzinfo=datetime.timezone.utc)
    return operand


def _comparable(value: Any, target: str, casts: Casts) -> Any:
    """The value as what Python can order for that comparison, or None if the cast fails."""
    kind = kind_of(value)
    if kind == target:
        if kind == "date":
            return value.toordinal() - _EPOCH.toordinal()
        if kind == "timestamp":
            return (value.astimezone(datetime.timezone.utc).replace(tzinfo=None) - _EPOCH) // _MICROSECOND
        return (value - _EPOCH) // _MICROSECOND if kind == "timestamp_ntz" else value
    if kind == "integer" and target == "decimal":
        return value
    if kind in ("integer", "decimal") and target == "double":
        return float(value)
    if kind in ("integer", "decimal") and target == "text":
        return format(Decimal(value), "f")
    if kind == "boolean" and target == "text":
        return "true" if value else "false"
    if kind == "date" and target == "timestamp_ntz":
        return (value.toordinal() - _EPOCH.toordinal()) * _DAY
    return casts.cast(value, target)


def _order(a: Any, b: Any) -> int | None:
    """-1, 0 or 1 as Spark orders two values of one type; None if either is NULL. NaN is one value, above all."""
    if a is None or b is None:
        return None
    if a != a or b != b:
        return (a != a) - (b != b)
    # Texts by code points, which is the order of their UTF-8 bytes; Decimal and int compare exactly.
    return (a > b) - (a < b)


def _whether(order: int | None, *wanted: int) -> Truth:
    return None if order is None else order in wanted


def _negate(value: Truth) -> Truth:
    return None if value is None else not value


def _all(values: Sequence[Truth]) -> Truth:
    if False in values:
        return False
    return None if None in values else True


def _operands(node: Tree) -> tuple[Tree, ...]:
    if isinstance(node, (And, Or)):
        return node.operands
    return (node.operand,) if isinstance(node, Not) else (node.left, node.right)
