"""A tree to text that `parse` reads back to the same tree and that Spark SQL reads with the same meaning.

Two things stand apart. XOR and XNOR are not in Spark SQL: `xor="spark"` writes them as `<>` and `=` of Booleans, which
mean the same there. And an operator that exists as the inverse of another only (`fails`, `not array_contains`,
`not arrays_overlap`) is written as NOT of that other, and read back so.
"""

from __future__ import annotations

import re

from banyan.language.attributes import attribute_parts, attribute_text, quoted
from banyan.language.operands import NOT_ONLY_NAMES
from banyan.language.tokens import RESERVED
from banyan.language.tree import INVERSE, And, Constant, Not, Predicate, Tree, Xnor, Xor

_CONSTANTS = {True: "TRUE", False: "FALSE", None: "NULL"}
# Spark replaces ${name} by a setting before it reads anything, also inside quotes.
_needs_escape = re.compile(r"[\\'\x00-\x1f\x7f-\x9f\u2028\u2029]|\$(?=\{)")
_SHORT_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def tree_sql(tree: Tree, xor: str = "banyan") -> str:
    """The text of an expression. `xor`: 'banyan' for our own XOR and XNOR, 'spark' for Spark SQL."""
    pieces: list[str] = []
    waiting: list[Tree | str] = [tree]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is str:
            pieces.append(item)
        elif kind is Predicate:
            pieces.append(predicate_sql(item))
        elif kind is Constant:
            pieces.append(_CONSTANTS[item.value])
        else:
            waiting.extend(reversed(_spread(item, xor == "spark")))
    return "".join(pieces)


def _spread(node: Tree, for_spark: bool) -> list[Tree | str]:
    """A node as the texts and operands it consists of."""
    if type(node) is Not:
        return ["NOT ", *_inside(node.operand, Not)]
    if type(node) in (Xor, Xnor):
        if for_spark:
            return ["((", node.left, ") <> (" if type(node) is Xor else ") = (", node.right, "))"]
        # A chain reads from left to right, so its left end needs no parentheses.
        return [*_inside(node.left, Xor, Xnor), f" {type(node).__name__.upper()} ", *_inside(node.right)]
    word = " AND " if type(node) is And else " OR "
    if not node.operands:
        return ["TRUE" if type(node) is And else "FALSE"]
    spread: list[Tree | str] = []
    for operand in node.operands:
        spread.append(word)
        spread.extend(_inside(operand, Not))
    return spread[1:]


def _inside(operand: Tree, *free: type) -> list[Tree | str]:
    if type(operand) in (Predicate, Constant, *free):
        return [operand]
    return ["(", operand, ")"]


def predicate_sql(predicate: Predicate) -> str:
    """The text of one predicate."""
    name, operator, family, operands = predicate
    attribute = attribute_sql(name)
    if operator in ("fails", "not array_contains", "not arrays_overlap"):
        return "NOT " + predicate_sql(Predicate(name, INVERSE[operator], family, operands))
    if operator == "holds":
        return attribute
    if operator in ("is null", "is not null"):
        return f"{attribute} {operator.upper()}"
    literals = [literal_sql(family, operand) for operand in operands]
    if operator == "not <=>":
        return f"{attribute} IS DISTINCT FROM {literals[0]}"
    if operator in ("in", "not in"):
        return f"{attribute} {operator.upper()} ({', '.join(literals)})"
    if operator in ("between", "not between"):
        return f"{attribute} {operator.upper()} {literals[0]} AND {literals[1]}"
    if operator == "array_contains":
        return f"array_contains({attribute}, {literals[0]})"
    if operator == "arrays_overlap":
        return f"arrays_overlap({attribute}, array({', '.join(literals)}))"
    return f"{attribute} {operator.upper()} {literals[0]}"


def attribute_sql(name: str) -> str:
    """A canonical attribute as it is written in an expression: its first part in back-ticks if it is a keyword too."""
    parts = attribute_parts(name)
    if parts[0].upper() in RESERVED or parts[0].upper() in NOT_ONLY_NAMES:
        return ".".join([quoted(parts[0]), *(attribute_text([part]) for part in parts[1:])])
    return name


def literal_sql(family: str, operand: str | None) -> str:
    """A literal that both Spark SQL and `parse` read as this family and value."""
    if operand is None:
        return "NULL"
    if family == "decimal":
        return operand + "BD"
    if family == "double":
        return operand + "D"
    if family == "text":
        return text_sql(operand)
    if family == "boolean":
        return operand.upper()
    if family in ("date", "timestamp"):
        return f"{family.upper()} '{operand}'"
    return operand


def text_sql(text: str) -> str:
    """A text in quotes, control characters as escapes."""
    return "'" + _needs_escape.sub(_escaped, text) + "'"


def _escaped(match: re.Match) -> str:
    character = match.group()
    # Never \0: digits after it would make it another character.
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"
