"""Why an event satisfies an expression or not, as text a person reads.

One line a node, in the order of the text: true, false or undefined, the node, and at a predicate the value that decided
it. What is long is shortened: lists, texts, and the operands that decided nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from banyan.explain.event import values_of
from banyan.language.evaluate import Casts, Truth, combine, evaluate_predicate
from banyan.language.parser import parse
from banyan.language.render import predicate_sql, text_sql
from banyan.language.tree import And, Constant, Not, Or, Predicate, Tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from banyan.store.settings import IndexSettings

WORDS: dict[Truth, str] = {True: "true", False: "false", None: "undefined"}
_CONSTANTS = {True: "TRUE", False: "FALSE", None: "NULL"}

# Literals of a list, operands of a node, characters of a text, and levels of indentation that are shown.
LITERALS, OPERANDS, CHARACTERS, LEVELS = 8, 20, 60, 30

_ABSENT = "an attribute is absent"
_NULL_INSIDE = "the list has a NULL in it"
_INCOMPARABLE = "the value cannot be compared"


@dataclass
class Step:
    """A node of the expression with its outcome on the event."""

    node: Tree
    depth: int
    below: list[Step] = field(default_factory=list)
    truth: Truth = None
    value: Any = None


def explain(spark: SparkSession, expression: str, event: Mapping[str, Any], settings: IndexSettings) -> str:
    """The tree of an expression with its outcome on an event (a dict, nested ones for structs and maps)."""
    from banyan.explain.casts import SparkCasts

    tree = parse(expression, settings.language)
    steps = _steps(tree)
    event = values_of(event, _attributes(steps), settings.case_sensitive)
    casts = SparkCasts(spark, settings.time_zone)
    casts.prepare_for([tree], [event])
    return _told(_evaluated(steps, event, casts))


def why(tree: Tree, event: Mapping[str, Any], casts: Casts, case_sensitive: bool = False) -> str:
    """`explain` for a tree, with any `Casts`."""
    steps = _steps(tree)
    return _told(_evaluated(steps, values_of(event, _attributes(steps), case_sensitive), casts))


def _steps(tree: Tree) -> list[Step]:
    """All nodes, each before those below it; a loop, because expressions may be deeper than Python's stack."""
    steps = [Step(tree, 0)]
    for step in steps:
        step.below = [Step(operand, step.depth + 1) for operand in _operands(step.node)]
        steps.extend(step.below)
    return steps


def _operands(node: Tree) -> tuple[Tree, ...]:
    if isinstance(node, (Predicate, Constant)):
        return ()
    if isinstance(node, (And, Or)):
        return node.operands
    return (node.operand,) if isinstance(node, Not) else (node.left, node.right)


def _attributes(steps: list[Step]) -> set[str]:
    return {step.node.attribute for step in steps if isinstance(step.node, Predicate)}


def _evaluated(steps: list[Step], values: Mapping[str, Any], casts: Casts) -> list[Step]:
    for step in reversed(steps):
        if isinstance(step.node, Predicate):
            step.value = values[step.node.attribute]
            step.truth = evaluate_predicate(step.node, step.value, casts)
        elif isinstance(step.node, Constant):
            step.truth = step.node.value
        else:
            step.truth = combine(step.node, [one.truth for one in step.below])
    return steps


def _told(steps: list[Step]) -> str:
    lines = [_verdict(steps)]
    waiting: list[Step | str] = [steps[0]]
    rows: list[tuple[str, str, str]] = []
    while waiting:
        step = waiting.pop()
        if isinstance(step, str):
            rows.append(("", step, ""))
            continue
        rows.append((WORDS[step.truth], _indented(step.depth, _label(step.node)), _decided(step)))
        waiting.extend(reversed(list(_shown(step))))
    # Values stand in one column, unless a long predicate would push it off the screen.
    width = max((len(label) for _, label, decided in rows if decided and len(label) <= 60), default=0)
    lines += [f"  {truth:<11}{label:<{width if decided else 0}}  {decided}".rstrip() for truth, label, decided in rows]
    return "\n".join(lines)


def _verdict(steps: list[Step]) -> str:
    truth = steps[0].truth
    if truth is not None:
        return "true: the event matches" if truth else "false: the event does not match"
    reasons = {_reason(step) for step in steps if step.truth is None and isinstance(step.node, Predicate)}
    # Only the first that applies: an absent attribute is by far the commonest, and the lines below tell all.
    reason = next((reason for reason in (_ABSENT, _NULL_INSIDE, _INCOMPARABLE) if reason in reasons), "NULL")
    return f"undefined: the event does not match ({reason})"


def _reason(step: Step) -> str:
    """Why a predicate is undefined."""
    if step.value is None:
        return _ABSENT
    return _NULL_INSIDE if isinstance(step.value, list) and None in step.value else _INCOMPARABLE


def _shown(step: Step) -> Iterator[Step | str]:
    """The operands to show: all, or those with the node's own outcome first if there are many."""
    if len(step.below) <= OPERANDS:
        yield from step.below
        return
    deciding = [one for one in step.below if one.truth is step.truth]
    shown = deciding[: OPERANDS // 2]
    yield from shown
    count = {truth: sum(one.truth is truth for one in step.below) for truth in WORDS}
    count[step.truth] -= len(shown)
    rest = ", ".join(f"{number:,} {WORDS[truth]}" for truth, number in count.items() if number)
    yield _indented(step.depth + 1, f"... and {len(step.below) - len(shown):,} more: {rest}")


def _indented(depth: int, text: str) -> str:
    return "  " * depth + text if depth <= LEVELS else "  " * LEVELS + f"[level {depth}] " + text


def _label(node: Tree) -> str:
    if isinstance(node, Predicate):
        return _predicate(node)
    return _CONSTANTS[node.value] if isinstance(node, Constant) else type(node).__name__.upper()


def _predicate(predicate: Predicate) -> str:
    operands, family = predicate.operands, predicate.family
    if family in ("decimal", "double"):
        family = "integer"  # which is written without a suffix: 1.5 reads better than 1.5BD
    shown = tuple(_cut(one) if family == "text" and one else one for one in operands[:LITERALS])
    text = predicate_sql(predicate._replace(family=family, operands=shown))
    if len(operands) <= LITERALS:
        return text
    end = "))" if text.endswith("))") else ")"
    return f"{text.removesuffix(end)}, ... {len(operands) - LITERALS:,} more{end}"


def _decided(step: Step) -> str:
    """What the event has for the attribute of a predicate."""
    if not isinstance(step.node, Predicate):
        return ""
    name = step.node.attribute
    if step.value is None:
        return f"{name} is absent"
    note = f"  ({_reason(step)})" if step.truth is None else ""
    return f"{name} = {_literal(step.value)}{note}"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return text_sql(_cut(value))
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, list):
        more = f", ... {len(value) - LITERALS:,} more" if len(value) > LITERALS else ""
        return "[" + ", ".join("NULL" if one is None else _literal(one) for one in value[:LITERALS]) + more + "]"
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 3] + "..."
