"""An expression's text to its tree.

`parse(text)` gives the tree or raises `ExpressionError`, nothing else, in linear time and without recursion:
one scan cuts the text into tokens, one loop with a stack of open parentheses puts the connectives together.
Binding, loosest first: OR, then XOR / XNOR from left to right, then AND, then NOT, then a predicate.
"""

from __future__ import annotations

from banyan.errors import ExpressionError
from banyan.language.json_tree import is_json, json_tree
from banyan.language.literals import Literal, has_half_characters
from banyan.language.memory import Memory
from banyan.language.operands import NOT_ONLY_NAMES, Again
from banyan.language.predicates import COMPARISONS, Reader
from banyan.language.settings import DEFAULT, Settings
from banyan.language.tokens import FUSED, PLAIN, RESERVED, SPACES, blank_asides, split_predicate
from banyan.language.tree import And, Constant, Not, Or, Predicate, Tree, Xnor, Xor

_AND, _OR, _XOR, _XNOR, _CLOSE, _END = "AND", "OR", "XOR", "XNOR", ")", ""
_CONNECTIVES = {
    spelling: word
    for word in (_AND, _OR, _XOR, _XNOR, _CLOSE, _END)
    for spelling in (word, word.lower(), word.capitalize())
}
# A token may be looked at together with its two successors.
_ENDS = ("", "", "")
_NEGATIONS = frozenset(("NOT", "not", "Not", "!"))

# Whole predicates and attributes read before, by their text: rules repeat them. One memory for each case
# sensitivity, the only setting they depend on.
_known = {False: Memory(), True: Memory()}
_new = tuple.__new__  # half the time of Predicate(...), in the one place where that shows
_names = {False: Memory(), True: Memory()}


def parse(text: str, settings: Settings = DEFAULT, warnings: list[str] | None = None) -> Tree:
    """The tree of an expression. What is accepted but looks like a mistake is added to `warnings`."""
    if type(text) is not str:
        raise ExpressionError(f"An expression is a text, not {type(text).__name__}")
    if len(text) > settings.max_length:
        raise ExpressionError(
            f"The expression has {len(text)} characters, more than {settings.max_length}; "
            f"raise the setting max_length to allow that"
        )
    if is_json(text):
        return json_tree(text, settings)
    source = text
    text = blank_asides(text)
    half = has_half_characters(text)
    if half:
        raise ExpressionError("Half a character (a lone surrogate) is not text", "?" * len(source), half.start())
    # Trailing white space would be tried from each of its characters.
    text = text.rstrip(SPACES)
    tokens = FUSED(text)
    tokens.extend(_ENDS)
    try:
        return _tree(Reader(text, tokens, settings, True, []))
    except Again:
        pass
    tokens = PLAIN(text)
    tokens.extend(_ENDS)
    try:
        return _tree(Reader(text, tokens, settings, False, [] if warnings is None else warnings))
    except ExpressionError as error:
        if text == source:
            raise
        raise ExpressionError(error.reason, source, error.position) from None


def parse_with_warnings(text: str, settings: Settings = DEFAULT) -> tuple[Tree, list[str]]:
    """The tree, and a sentence for each thing that is accepted but looks like a mistake."""
    warnings: list[str] = []
    return parse(text, settings, warnings), warnings


def _tree(reader: Reader) -> Tree:
    """Put the predicates together. `node` is the last one read, `ands`, `left`, `ors` what waits for it.

    left: the left side of an XOR or XNOR (`kind`). nots: negations before `node`; they wait until the predicate is
    complete, because NOT binds looser than an operator: NOT (a) = 1 is NOT (a = 1).
    """
    tokens, settings = reader.tokens, reader.settings
    max_depth, max_operands = settings.max_depth, settings.max_operands
    known = _known[settings.case_sensitive]
    recall, connective = known.get, _CONNECTIVES.get
    stack: list[tuple] = []
    ors = ands = left = kind = None
    nots = depth = chain = at = 0
    while True:
        token = tokens[at]
        node = recall(token)
        if node is not None:
            at += 1
        elif token == "(" or token in _NEGATIONS or token.upper() == "NOT":
            depth += 1
            if depth > max_depth:
                reader.fail(
                    f"More than {max_depth} parentheses and NOTs are inside one another; "
                    f"raise the setting max_depth to allow that",
                    at,
                )
            if token == "(":
                stack.append((ors, left, kind, chain, ands, nots))
                ors = ands = left = None
                nots = 0
            else:
                nots += 1
            at += 1
            continue
        elif reader.fused and (node := _whole_predicate(token, settings.case_sensitive)):
            known.keep(token, node)
            at += 1
        else:
            start = at
            node, at = reader.operand(at)
            if at == start + 1 and type(node) is Predicate and token.upper() not in NOT_ONLY_NAMES:
                known.keep(token, node)

        while True:
            word = connective(tokens[at])
            if word is None:
                word = connective(tokens[at].upper())
                if word is None:
                    node, at = reader.predicate(node, at)
                    continue
            if type(node) is Literal and not (word is _CLOSE and not nots and ands is left is ors is None):
                # Not one in parentheses of its own, which may go on as a predicate: (1) = a.
                node = _constant(reader, node, at)
            if nots:
                depth -= nots
                while nots:
                    node = Not(node)
                    nots -= 1
            if word is _AND:
                if ands is None:
                    ands = [node]
                else:
                    ands.append(node)
                break
            if ands is not None:
                ands.append(node)
                if len(ands) > max_operands:
                    reader.too_many("A chain of AND", len(ands), at)
                node = And(tuple(ands))
                ands = None
            if left is not None:
                node = kind(left, node)
                left = None
            if word is _XOR or word is _XNOR:
                left = node
                kind = Xor if word is _XOR else Xnor
                chain += 1
                if chain >= max_depth:
                    reader.fail(
                        f"A chain of XOR and XNOR nests as deep as it is long; this one has more than {max_depth} "
                        f"operands: raise the setting max_depth to allow that",
                        at,
                    )
                break
            chain = 0
            if word is _OR:
                if ors is None:
                    ors = [node]
                else:
                    ors.append(node)
                break
            if ors is not None:
                ors.append(node)
                if len(ors) > max_operands:
                    reader.too_many("A chain of OR", len(ors), at)
                node = Or(tuple(ors))
                ors = None
            if word is _END:
                if stack:
                    reader.fail(f"{_count(len(stack))} never closed; expected ) before the end", at)
                return node
            if not stack:
                reader.fail("There is no ( for this )", at)
            ors, left, kind, chain, ands, nots = stack.pop()
            depth -= 1
            at += 1
        at += 1


def _whole_predicate(token: str, case_sensitive: bool) -> Predicate | None:
    """The predicate a fused token stands for; None if the token is something else."""
    names = _names[case_sensitive]
    pieces = token.split()
    if len(pieces) == 3:
        # The commonest by far: spaces around the operator, an attribute seen before, a plain number.
        name, operator, value = pieces
        if name in names and operator in COMPARISONS and _is_plain(value):
            return _new(Predicate, (names[name], COMPARISONS[operator], "integer", (value,)))
    elif len(pieces) == 5:
        name, operator, low, _, high = pieces
        if name in names and operator == "BETWEEN" and low != high and _is_plain(low) and _is_plain(high):
            return _new(Predicate, (names[name], "between", "integer", (low, high)))
    match = split_predicate(token)
    if match is None:
        return None
    name, operator, value, low, high = match.groups()
    attribute = _attribute(name, case_sensitive)
    names.keep(name, attribute)
    if operator is None:
        low, high = _integer(low), _integer(high)
        return Predicate(attribute, "=" if low == high else "between", "integer", tuple(dict.fromkeys((low, high))))
    if value[0] == "'":
        return Predicate(attribute, COMPARISONS[operator], "text", (value[1:-1],))
    return Predicate(attribute, COMPARISONS[operator], "integer", (_integer(value),))


def _attribute(name: str, case_sensitive: bool) -> str:
    first, dot, rest = name.partition(".")
    if first.upper() in RESERVED:
        raise Again
    return name if case_sensitive else first.lower() + dot + rest


def _is_plain(value: str) -> bool:
    return value.isdigit() and value[0] != "0" and len(value) < 19


def _integer(digits: str) -> str:
    # Eighteen digits fit a bigint whatever they are; longer ones may be decimals.
    if len(digits) > 18:
        raise Again
    return str(int(digits))


def _constant(reader: Reader, literal: Literal, at: int) -> Constant:
    if literal.family == "null":
        return Constant(None)
    if literal.family == "boolean":
        return Constant(literal.text == "true")
    at -= 1
    while reader.tokens[at] == ")":
        at -= 1
    reader.fail("A literal alone is not a predicate; compare it with an attribute, as in a = 1", at)


def _count(parentheses: int) -> str:
    return "A parenthesis is" if parentheses == 1 else f"{parentheses} parentheses are"
