"""Predicates in their canonical form: what means the same is the same `Predicate`.

Lists and ranges over several families become OR / AND of predicates of one family; a NULL becomes the constant NULL.
Nothing is folded that would change where a predicate is undefined: a reversed range stays a range.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from banyan.language.literals import NULL, Literal
from banyan.language.tree import FAMILIES, INVERSE, And, Constant, Or, Predicate, Tree

UNDEFINED = Constant(None)
_ORDER = {"integer": int, "decimal": Decimal, "double": float}


def comparison(attribute: str, operator: str, literal: Literal) -> Tree:
    """`attribute operator literal`; a NULL leaves nothing to compare, except with `<=>`, which asks for NULL."""
    if literal is NULL:
        if operator in ("<=>", "not <=>"):
            return Predicate(attribute, "is null" if operator == "<=>" else "is not null", "", ())
        return UNDEFINED
    return Predicate(attribute, operator, literal.family, (literal.text,))


def set_predicate(attribute: str, negated: bool, literals: Iterable[Literal]) -> Tree:
    """`attribute [NOT] IN (literals)`: one predicate for each family, and an undefined one for a NULL."""
    families: dict[str, set] = {}
    for family, text in literals:
        families.setdefault(family, set()).add(text)
    found: list[Tree] = []
    for family in FAMILIES:
        texts = families.get(family)
        if texts:
            operator = "=" if len(texts) == 1 else "in"
            operands = tuple(sorted(texts, key=_ORDER.get(family)))
            found.append(Predicate(attribute, INVERSE[operator] if negated else operator, family, operands))
    if "null" in families:
        found.append(UNDEFINED)
    return joined(found, Or, negated)


def range_predicate(attribute: str, negated: bool, low: Literal, high: Literal) -> Tree:
    """`attribute [NOT] BETWEEN low AND high`."""
    if low.family == high.family:
        if low is NULL:
            return UNDEFINED
        operator = "=" if low.text == high.text else "between"
        operands = (low.text,) if operator == "=" else (low.text, high.text)
        return Predicate(attribute, INVERSE[operator] if negated else operator, low.family, operands)
    ends = [
        UNDEFINED if end is NULL else Predicate(attribute, INVERSE[op] if negated else op, end.family, (end.text,))
        for op, end in ((">=", low), ("<=", high))
    ]
    return joined(ends, And, negated)


def overlap_predicate(attribute: str, literals: Iterable[Literal]) -> Tree:
    """`arrays_overlap(attribute, array(literals))`; each family keeps the NULLs, which can only make it undefined."""
    families: dict[str, set] = {}
    for family, text in literals:
        families.setdefault(family, set()).add(text)
    null = tuple(families.pop("null", ()))
    if not families:
        return Predicate(attribute, "arrays_overlap", "", null)
    return joined(
        [
            Predicate(attribute, "arrays_overlap", family, (*sorted(families[family], key=_ORDER.get(family)), *null))
            for family in FAMILIES
            if family in families
        ],
        Or,
    )


def joined(operands: list[Tree], connective: type, negated: bool = False) -> Tree:
    """One node over the operands, or the only one; AND and OR change places under a negation."""
    if len(operands) == 1:
        return operands[0]
    if negated:
        connective = And if connective is Or else Or
    return connective(tuple(operands))
