"""Predicates from tokens: everything between two connectives.

`Reader.operand` reads what can stand where a predicate begins (an attribute, a literal, a function), `Reader.predicate`
carries on from there over the operator. Both take and return an index into the tokens. No step calls itself, so
nesting costs no stack.
"""

from __future__ import annotations

from banyan.language import tokens as scan
from banyan.language.canonical import UNDEFINED, comparison, joined, overlap_predicate, range_predicate, set_predicate
from banyan.language.literals import NULL, Literal, Refused, whole_characters
from banyan.language.operands import WORDS, Operands
from banyan.language.patterns import like_pattern
from banyan.language.tree import INVERSE, And, Or, Predicate, Tree

# What Spark writes in several ways, or the other way round.
COMPARISONS = {
    "=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "<=>",
    "!>": "<=", "!<": ">=",
}  # fmt: skip
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "<=>": "<=>"}
_PATTERNS = {"LIKE": "like", "ILIKE": "ilike", "RLIKE": "rlike", "REGEXP": "rlike"}


class Reader(Operands):
    """Predicates over the tokens of one text."""

    __slots__ = ()

    def operand(self, at: int) -> tuple[Predicate | Literal | Tree, int]:
        """An attribute (as the predicate it makes when it stands alone), a literal, or an array function."""
        token = self.tokens[at]
        upper = token.upper()
        if scan.is_path(token):
            if upper not in WORDS and not self.is_typed(at):
                if self.tokens[at + 1] == "(":
                    return self.function(at)
                return Predicate(self.attribute(at), "holds", "boolean", ()), at + 1
        elif not (scan.is_number(token) or scan.is_string(token) or token in ("+", "-")):
            self.no_operand(at)
        return self.literal(at)

    def predicate(self, left: Predicate | Literal | Tree, at: int) -> tuple[Tree, int]:
        """Carry on from one side of a predicate at its operator."""
        token = self.tokens[at]
        operator = COMPARISONS.get(token)
        if type(left) is Literal:
            return self.mirrored(left, operator, at)
        word = token.upper()
        known = operator is not None or word in ("IS", "NOT", "BETWEEN", "IN") or word in _PATTERNS
        if not known:
            self.no_operator(at)
        if type(left) is not Predicate or left.operator != "holds":
            if operator is not None:
                self.fail(f"{token} compares an attribute with a literal; here one side is a predicate already", at)
            self.fail(f"{word} follows an attribute; here it follows a predicate", at)
        attribute = left.attribute
        if operator is not None:
            literal, at = self.literal(at + 1)
            return comparison(attribute, operator, literal), at
        if word == "IS":
            return self.is_predicate(attribute, at + 1)
        negated = word == "NOT"
        if negated:
            at += 1
            word = self.tokens[at].upper()
        if word == "BETWEEN":
            low, at = self.literal(at + 1)
            high, at = self.literal(self.expect("AND", at, "between the ends of BETWEEN"))
            return range_predicate(attribute, negated, low, high), at
        if word == "IN":
            literals, at = self.literals(at + 1, "IN")
            return set_predicate(attribute, negated, literals), at
        if word in _PATTERNS:
            return self.pattern_predicate(attribute, negated, at)
        self.fail(f"Expected BETWEEN, IN, LIKE, ILIKE or RLIKE after NOT, found {self.found(at)}", at)

    def mirrored(self, literal: Literal, operator: str | None, at: int) -> tuple[Tree, int]:
        if operator is not None:
            attribute, at = self.right_attribute(at + 1)
            return comparison(attribute, _MIRRORED[operator], literal), at
        word = self.tokens[at].upper()
        if word == "IS":
            negated = self.tokens[at + 1].upper() == "NOT"
            if self.tokens[at + 1 + negated].upper() == "DISTINCT":
                after = self.expect("FROM", at + 2 + negated, "after DISTINCT")
                attribute, after = self.right_attribute(after)
                return comparison(attribute, "<=>" if negated else "not <=>", literal), after
        if word in ("IS", "NOT", "BETWEEN", "IN") or word in _PATTERNS:
            self.fail(f"{word} follows an attribute; here it follows a literal", at)
        self.no_operator(at)

    def is_predicate(self, attribute: str, at: int) -> tuple[Tree, int]:
        negated = self.tokens[at].upper() == "NOT"
        at += negated
        word = self.tokens[at].upper()
        if word == "NULL":
            return Predicate(attribute, "is not null" if negated else "is null", "", ()), at + 1
        if word in ("TRUE", "FALSE"):
            return Predicate(attribute, "not <=>" if negated else "<=>", "boolean", (word.lower(),)), at + 1
        if word == "DISTINCT":
            literal, at = self.literal(self.expect("FROM", at + 1, "after DISTINCT"))
            return comparison(attribute, "<=>" if negated else "not <=>", literal), at
        self.fail(f"Expected NULL, TRUE, FALSE or DISTINCT FROM after IS, found {self.found(at)}", at)

    def pattern_predicate(self, attribute: str, negated: bool, at: int) -> tuple[Tree, int]:
        word = self.tokens[at].upper()
        operator = _PATTERNS[word]
        quantifier = self.tokens[at + 1].upper()
        if operator != "rlike" and quantifier in ("ANY", "SOME", "ALL") and self.tokens[at + 2] == "(":
            patterns, after = self.literals(at + 2, f"{word} {quantifier}")
            # NOT LIKE ANY is "some pattern does not fit" in Spark: the negation goes inside, ANY stays OR.
            found = [self.pattern(attribute, operator, negated, one, "\\", at + 2) for one in patterns]
            return joined(list(dict.fromkeys(found)), And if quantifier == "ALL" else Or), after
        start = at + 1
        literal, at = self.literal(start)
        escape = "\\"
        if operator != "rlike" and self.tokens[at].upper() == "ESCAPE":
            if not scan.is_string(self.tokens[at + 1]):
                self.fail(f"Expected a text of one character after ESCAPE, found {self.found(at + 1)}", at + 1)
            escape, at = whole_characters(self.one_string(at + 1)), at + 2
        return self.pattern(attribute, operator, negated, literal, escape, start), at

    def pattern(self, attribute: str, operator: str, negated: bool, literal: Literal, escape: str, at: int) -> Tree:
        if literal is NULL:
            return UNDEFINED
        if literal.family != "text":
            self.fail(f"The pattern of {operator.upper()} is a text in quotes", at)
        pattern = literal.text
        if operator != "rlike":
            try:
                pattern = like_pattern(pattern, escape, ignore_case=operator == "ilike")
            except Refused as refusal:
                self.fail(str(refusal), at)
        return Predicate(attribute, INVERSE[operator] if negated else operator, "text", (pattern,))

    # -- functions ---------------------------------------------------------------------------------------------

    def function(self, at: int) -> tuple[Tree, int]:
        name = self.tokens[at].lower()
        if name not in ("array_contains", "arrays_overlap"):
            self.refuse_function(at)
        start = at
        at += 2
        if not scan.is_path(self.tokens[at]) or self.tokens[at + 1] == "(" or self.is_typed(at):
            self.fail(f"The first argument of {name} is an attribute, found {self.found(at)}", at)
        attribute = self.attribute(at)
        at = self.expect(",", at + 1, f"after the first argument of {name}")
        if name == "array_contains":
            literal, at = self.literal(at)
            tree = comparison(attribute, "array_contains", literal)
        else:
            if self.tokens[at].lower() != "array" or self.tokens[at + 1] != "(":
                self.fail(f"The second argument of arrays_overlap is array(...), found {self.found(at)}", at)
            literals, at = self.literals(at + 1, "array", may_be_empty=True)
            tree = overlap_predicate(attribute, literals)
        at = self.expect(")", at, f"to close {self.tokens[start]}")
        return tree, at
