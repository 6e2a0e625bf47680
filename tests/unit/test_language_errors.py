"""What is refused, where the message points, and what it says; and the limits."""

from __future__ import annotations

import sys

import pytest

from banyan.errors import ExpressionError
from banyan.language.parser import parse
from banyan.language.settings import Settings
from banyan.language.tree import And, Not, Or, Xor

REFUSED = [
    # text, position, words of the message
    ("", 0, "ends where a predicate is expected"),
    ("   ", 0, "ends where a predicate is expected"),
    ("-- only a comment", 0, "ends where a predicate is expected"),
    ("a = 1 AND", 9, "ends where a predicate is expected"),
    ("NOT", 3, "ends where a predicate is expected"),
    ("a = ", 3, "Expected a literal, found the end"),
    ("a = 1;", 5, "semicolon"),
    ("a = 1 b = 2", 6, "found b"),
    ("a = 1)", 5, "no ( for this )"),
    ("((a = 1)", 8, "never closed"),
    ("()", 1, "Expected a predicate, found )"),
    ("AND a", 0, "AND"),
    ("a AND AND b", 6, "AND"),
    ("a AND = 5", 6, "found ="),
    ("in = 1", 0, "back-ticks"),
    ("a = b", 4, "b is another attribute"),
    ("a = b.c", 4, "b.c is another attribute"),
    ("a = (b)", 5, "another attribute"),
    ("a BETWEEN 1 AND b", 16, "another attribute"),
    ("a IN (1, b)", 9, "another attribute"),
    ("1 = 1", 4, "both sides are literals"),
    ("'x' = TRUE", 6, "both sides are literals"),
    ("5", 0, "literal alone"),
    ("a = 1 OR 'x'", 9, "literal alone"),
    ("DATE '2024-01-01' AND a", 5, "literal alone"),
    ("a + 1 = 2", 2, "Arithmetic"),
    ("a = 1 + 2", 6, "Arithmetic"),
    ("-a = 1", 1, "arithmetic"),
    ("a = -b", 5, "arithmetic"),
    ("a = - -5", 6, "arithmetic"),
    ("a || 'x' = 'y'", 2, "Arithmetic and concatenation"),
    ("lower(a) = 'x'", 0, "function lower is not supported"),
    ("a = lower('x')", 4, "function lower is not supported"),
    ("a = 1 AND f()", 10, "function f is not supported"),
    ("a AND a(1)", 6, "function a is not supported"),
    ("a IN (SELECT 1)", 6, "sub-query"),
    ("EXISTS (SELECT 1)", 0, "sub-query"),
    ("a = (SELECT 1)", 5, "sub-query"),
    ("CASE WHEN a THEN b END", 0, "CASE"),
    ("a = CASE WHEN b THEN 1 END", 4, "CASE"),
    ("1 < a < 5", 6, "one side is a predicate already"),
    ("a = 1 = TRUE", 6, "one side is a predicate already"),
    ("(a = 1) IS TRUE", 8, "IS follows an attribute"),
    ("(a = 1) = TRUE", 8, "one side is a predicate already"),
    ("5 BETWEEN a AND 9", 2, "BETWEEN follows an attribute"),
    ("5 IN (a)", 2, "IN follows an attribute"),
    ("'x' LIKE a", 4, "LIKE follows an attribute"),
    ("a[0] = 1", 1, "brackets"),
    ("a::int = 1", 1, "Casts"),
    ("a IS UNKNOWN", 5, "after IS"),
    ("a NOT 5", 6, "after NOT"),
    ("a ! IN (1)", 2, "found !"),
    ("a IN ()", 6, "empty"),
    ("a IN 1", 5, "Expected ( after IN"),
    ("a IN (1 2)", 8, "Expected , or )"),
    ("a IN (1,)", 8, "Expected a literal"),
    ("a, b", 1, "comma"),
    ("a LIKE 5", 7, "text in quotes"),
    ("a LIKE 'x' ESCAPE '!!'", 7, "one character"),
    ("a LIKE 'x' ESCAPE ''", 7, "one character"),
    ("a LIKE 'x' ESCAPE '\U0001f600'", 7, "one character"),
    ("a LIKE 'x' ESCAPE b", 18, "after ESCAPE"),
    ("a LIKE 'x!' ESCAPE '!'", 7, "ends with its escape"),
    (r"a LIKE 'x\\'", 7, "ends with its escape"),
    (r"a LIKE 'x\\y'", 7, "not before y"),
    (r"a ILIKE r'\y'", 8, "not before y"),
    ("a ILIKE 'x' ESCAPE 'E'", 8, "is a letter"),
    ("a LIKE ANY ()", 12, "empty"),
    ("array_contains(1, a)", 15, "first argument"),
    ("array_contains(a)", 16, "Expected ,"),
    ("array_contains(a, 1, 2)", 19, "Expected )"),
    ("arrays_overlap(a, 1)", 18, "array(...)"),
    ("arrays_overlap(a, array(b))", 24, "another attribute"),
    ("a = 'x", 4, "never closed"),
    ("a = 'x''y", 7, "never closed"),
    ("a = r'x", 4, "another attribute"),
    ("`a = 1", 0, "never closed"),
    ("a AND 'x", 6, "never closed"),
    ("a 'x", 2, "never closed"),
    ("`` = 1", 0, "empty name"),
    ("é = 1", 0, "back-ticks"),
    ("\0 = 1", 0, r"'\x00'"),
    ("a = 1\0", 5, r"'\x00'"),
    ("a\x1c= 1", 1, r"'\x1c'"),
    ("a /* x", 2, "comment that starts here is never closed"),
    ("a /*+ x */ = 1", 2, "hint"),
    ("a.1 = 1", 1, "found"),
    ("a..b = 1", 1, "found ."),
    ("a = 5.AND b", 5, "found"),
    ("a = 300Y", 4, "tinyint"),
    ("a = -129Y", 4, "tinyint"),
    ("a = 1e400", 4, "double"),
    ("a = TIMESTAMP_NTZ '2024-01-01'", 4, "TIMESTAMP_NTZ"),
    ("a = X'1F'", 4, "X literals"),
    ("a = INTERVAL '1' DAY", 4, "INTERVAL"),
    ("a = DATE '2024-02-30'", 4, "not a day"),
    ("a = DATE '2024' '-01-01'", 16, "not joined"),
    ("x\n AND a = b", 11, "b is another attribute"),
]


@pytest.mark.parametrize("text, position, words", REFUSED)
def test_refused(text, position, words):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert words in caught.value.reason
    assert caught.value.position == position
    assert caught.value.text == text


def test_message_shows_the_line_and_a_caret():
    with pytest.raises(ExpressionError) as caught:
        parse("a = 1 AND\n  b = c -- here")
    assert str(caught.value).splitlines()[1:] == ["    b = c -- here", "        ^"]


@pytest.mark.parametrize("not_text", [None, 1, b"a = 1"])
def test_not_a_text(not_text):
    with pytest.raises(ExpressionError):
        parse(not_text)


def test_half_a_character():
    with pytest.raises(ExpressionError):
        parse("a = '\ud800'")


# -- limits ----------------------------------------------------------------------------------------------------

DEEP = [
    ("(" * 1000 + "a" + ")" * 1000, 0),
    ("NOT " * 1000 + "a", 1000),
    ("!" * 1000 + "a", 1000),
    ("NOT (" * 500 + "a" + ")" * 500, 500),
    ("a AND (b OR (" * 500 + "c" + "))" * 500, 1000),
]


def depth(tree):
    deepest, waiting = 0, [(tree, 0)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        if type(node) is Not:
            waiting.append((node.operand, level + 1))
        elif type(node) in (And, Or):
            waiting.extend((operand, level + 1) for operand in node.operands)
        elif type(node) is Xor:
            waiting.extend(((node.left, level + 1), (node.right, level + 1)))
    return deepest


@pytest.mark.parametrize("text, levels", DEEP)
def test_depth_of_a_thousand(text, levels):
    frame, used = sys._getframe(), 0
    while frame:
        frame, used = frame.f_back, used + 1
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(used + 50)  # what is left when called deep inside other code
    try:
        tree = parse(text)
    finally:
        sys.setrecursionlimit(before)
    assert depth(tree) == levels
    with pytest.raises(ExpressionError, match="max_depth"):
        parse(f"NOT ({text})")
    assert depth(parse(f"NOT ({text})", Settings(max_depth=1002))) == levels + 1


def test_operands():
    small = Settings(max_operands=3)
    for text in ("a AND a AND a", "a OR a OR a", "a IN (1, 2, 3)", "arrays_overlap(a, array(1, 2, 3))"):
        parse(text, small)
    for text in (
        "a AND a AND a AND a",
        "a OR a OR a OR a",
        "a IN (1, 2, 3, 3)",
        "arrays_overlap(a, array(1, 2, 3, 4))",
    ):
        with pytest.raises(ExpressionError, match="max_operands"):
            parse(text, small)


def test_length():
    with pytest.raises(ExpressionError, match="max_length"):
        parse("a = 1", Settings(max_length=4))


def test_chain_of_xor():
    tree = parse(" XOR ".join(["a"] * 1000))
    assert depth(tree) == 999
    with pytest.raises(ExpressionError, match="max_depth"):
        parse(" XOR ".join(["a"] * 1001))
    # Chains side by side do not add up.
    parse(" OR ".join(["a XOR b XOR c"] * 1000))


HOSTILE = [
    "'" + "\\'" * 499_000, "'" + "''" * 499_000, "`" + "``" * 499_000, "r'" * 499_000, "a" * 999_000, "1" * 999_000,
    "1." * 499_000, "a." * 499_000, " " * 999_000 + "a", "a" + " " * 999_000, "a " * 499_000, "a = " * 249_000,
    "/*" * 499_000, "-" * 999_000, "a BETWEEN 1 AND " * 60_000, "(" * 999_000, "'x' " * 249_000, "\xa0" * 999_000,
    "a IN (" + "1," * 49_000 + "1)", "1e" * 499_000, "." * 999_000, "a = '" + "x" * 990_000, "a = " + "9" * 990_000,
    "a LIKE '" + "!" * 990_000 + "' ESCAPE '!'", "a = 1." + "0" * 990_000 + "F", "\\" * 999_000, "a AND " * 150_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12])
def test_a_megabyte_of_anything_is_read_or_refused(text):
    # Linear, this takes a second; quadratic, it would take hours.
    try:
        parse(text)
    except ExpressionError:
        pass
