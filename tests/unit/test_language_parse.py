"""Text to tree: a table for each part of the language, and properties that hold for any text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banyan.errors import ExpressionError
from banyan.language import parser, tokens
from banyan.language.parser import parse, parse_with_warnings
from banyan.language.predicates import Reader
from banyan.language.settings import DEFAULT, Settings
from banyan.language.tree import And, Constant, Not, Or, Predicate, Xnor, Xor

NULL = Constant(None)


def p(operator, family="", *operands, attribute="a"):
    return Predicate(attribute, operator, family, operands)


def holds(name):
    return Predicate(name, "holds", "boolean", ())


A, B, C, D, E = map(holds, "abcde")

PREDICATES = [
    # comparisons, written either way round
    ("a = 1", p("=", "integer", "1")),
    ("a == 1", p("=", "integer", "1")),
    ("1 = a", p("=", "integer", "1")),
    ("a=1", p("=", "integer", "1")),
    ("a IN (1)", p("=", "integer", "1")),
    ("a IN (1, 1)", p("=", "integer", "1")),
    ("a BETWEEN 1 AND 1", p("=", "integer", "1")),
    ("a BETWEEN 1 AND 01", p("=", "integer", "1")),
    ("(a) = (1)", p("=", "integer", "1")),
    ("((1)) = ((a))", p("=", "integer", "1")),
    ("a != 1", p("!=", "integer", "1")),
    ("a <> 1", p("!=", "integer", "1")),
    ("a NOT IN (1)", p("!=", "integer", "1")),
    ("a NOT BETWEEN 1 AND 1", p("!=", "integer", "1")),
    ("a < 1", p("<", "integer", "1")),
    ("1 > a", p("<", "integer", "1")),
    ("a <= 1", p("<=", "integer", "1")),
    ("a !> 1", p("<=", "integer", "1")),
    ("1 >= a", p("<=", "integer", "1")),
    ("a > 1", p(">", "integer", "1")),
    ("1 < a", p(">", "integer", "1")),
    ("a >= 1", p(">=", "integer", "1")),
    ("a !< 1", p(">=", "integer", "1")),
    ("1 <= a", p(">=", "integer", "1")),
    ("a=-1", p("=", "integer", "-1")),
    ("a = - 1", p("=", "integer", "-1")),
    ("a = +1", p("=", "integer", "1")),
    ("a = 'x'", p("=", "text", "x")),
    ("a = 'x' 'y'", p("=", "text", "xy")),
    ("a = 'x''y'", p("=", "text", "x'y")),
    ("a = TRUE", p("=", "boolean", "true")),
    ("FALSE < a", p(">", "boolean", "false")),
    ("a = 1.50", p("=", "decimal", "1.5")),
    ("a = 1e2", p("=", "double", "100.0")),
    # never undefined
    ("a <=> 1", p("<=>", "integer", "1")),
    ("1 <=> a", p("<=>", "integer", "1")),
    ("a IS NOT DISTINCT FROM 1", p("<=>", "integer", "1")),
    ("a IS DISTINCT FROM 1", p("not <=>", "integer", "1")),
    ("1 IS DISTINCT FROM a", p("not <=>", "integer", "1")),
    ("1 is not distinct from (a)", p("<=>", "integer", "1")),
    ("a <=> NULL", p("is null")),
    ("NULL <=> a", p("is null")),
    ("a IS DISTINCT FROM NULL", p("is not null")),
    ("a IS NULL", p("is null")),
    ("a IS NOT NULL", p("is not null")),
    ("(a) is null", p("is null")),
    ("a IS TRUE", p("<=>", "boolean", "true")),
    ("a IS NOT TRUE", p("not <=>", "boolean", "true")),
    ("a IS FALSE", p("<=>", "boolean", "false")),
    ("a IS NOT FALSE", p("not <=>", "boolean", "false")),
    # NULL
    ("a = NULL", NULL),
    ("NULL < a", NULL),
    ("a != null", NULL),
    ("a LIKE NULL", NULL),
    ("a BETWEEN NULL AND NULL", NULL),
    ("array_contains(a, NULL)", NULL),
    ("a IN (NULL)", NULL),
    ("a IN (1, NULL)", Or((p("=", "integer", "1"), NULL))),
    ("a NOT IN (1, NULL)", And((p("!=", "integer", "1"), NULL))),
    ("a BETWEEN 9 AND NULL", And((p(">=", "integer", "9"), NULL))),
    ("a NOT BETWEEN 9 AND NULL", Or((p("<", "integer", "9"), NULL))),
    ("a NOT BETWEEN NULL AND 9", Or((NULL, p(">", "integer", "9")))),
    # sets and ranges
    ("a IN (10, 9, 10)", p("in", "integer", "9", "10")),
    ("a NOT IN (2, 1)", p("not in", "integer", "1", "2")),
    ("a IN ('b', 'a')", p("in", "text", "a", "b")),
    ("a IN (2.50, 10.0)", p("in", "decimal", "2.5", "10")),
    ("a IN (1, 'x', 2)", Or((p("in", "integer", "1", "2"), p("=", "text", "x")))),
    ("a NOT IN (1, 'x')", And((p("!=", "integer", "1"), p("!=", "text", "x")))),
    ("a BETWEEN 4 AND 9", p("between", "integer", "4", "9")),
    ("a between 9 and 4", p("between", "integer", "9", "4")),
    ("a NOT BETWEEN -4 AND 9", p("not between", "integer", "-4", "9")),
    ("a BETWEEN 1 AND 2.5", And((p(">=", "integer", "1"), p("<=", "decimal", "2.5")))),
    ("a NOT BETWEEN 1 AND 2.5", Or((p("<", "integer", "1"), p(">", "decimal", "2.5")))),
    # patterns
    ("a LIKE 'x%'", p("like", "text", "x%")),
    ("a NOT LIKE 'x%'", p("not like", "text", "x%")),
    ("a ILIKE 'x_'", p("ilike", "text", "x_")),
    ("a NOT ILIKE 'x'", p("not ilike", "text", "x")),
    ("a RLIKE r'\\d+'", p("rlike", "text", "\\d+")),
    ("a NOT REGEXP 'x'", p("not rlike", "text", "x")),
    (r"a LIKE '10\%'", p("like", "text", r"10\%")),
    (r"a LIKE '10!%!!\\' ESCAPE '!'", p("like", "text", r"10\%!\\")),
    (r"a LIKE '10%%' ESCAPE '%'", p("like", "text", r"10\%")),
    ("a LIKE ANY ('x', 'y', 'x')", Or((p("like", "text", "x"), p("like", "text", "y")))),
    ("a NOT LIKE ANY ('x', 'y')", Or((p("not like", "text", "x"), p("not like", "text", "y")))),
    ("a ILIKE ALL ('x', NULL)", And((p("ilike", "text", "x"), NULL))),
    ("a LIKE SOME ('x')", p("like", "text", "x")),
    # lists
    ("array_contains(a, 1)", p("array_contains", "integer", "1")),
    ("ARRAY_CONTAINS(a, 'x')", p("array_contains", "text", "x")),
    ("arrays_overlap(a, array(2, 1, 2))", p("arrays_overlap", "integer", "1", "2")),
    ("arrays_overlap(a, array(2, NULL))", p("arrays_overlap", "integer", "2", None)),
    ("arrays_overlap(a, array(NULL))", p("arrays_overlap", "", None)),
    ("arrays_overlap(a, array())", p("arrays_overlap", "")),
    (
        "arrays_overlap(a, array(1, 'x'))",
        Or((p("arrays_overlap", "integer", "1"), p("arrays_overlap", "text", "x"))),
    ),
    ("a", A),
    ("(a)", A),
]

ATTRIBUTES = [
    ("Age = 1", "age", "Age"),
    ("User.Age = 1", "user.Age", "User.Age"),
    ("user . age = 1", "user.age", "user.age"),
    ("user/* x */./* y */age = 1", "user.age", "user.age"),
    ("`Any name` = 1", "`any name`", "`Any name`"),
    ("`a.b`.c = 1", "`a.b`.c", "`a.b`.c"),
    ("`a``b` = 1", "`a``b`", "`a``b`"),
    ("`plain` = 1", "plain", "plain"),
    ("`IN` = 1", "in", "IN"),
    ("a.in.null = 1", "a.in.null", "a.in.null"),
    ("1a = 1", "`1a`", "`1a`"),
    ("a.1e = 1", "a.`1e`", "a.`1e`"),
    ("1e3L = 1", "`1e3l`", "`1e3L`"),
    ("_x = 1", "_x", "_x"),
    ("date = 1", "date", "date"),
    ("timestamp = 1", "timestamp", "timestamp"),
    ("case = 1", "case", "case"),
    ("r = 1", "r", "r"),
    ("array_contains = 1", "array_contains", "array_contains"),
    ("`é` = 1", "`é`", "`é`"),
    ("`É` = 1", "`é`", "`É`"),
]

CONNECTIVES = [
    ("a AND b AND c", And((A, B, C))),
    ("a OR b OR c", Or((A, B, C))),
    ("a OR b AND c", Or((A, And((B, C))))),
    ("(a OR b) AND c", And((Or((A, B)), C))),
    ("a AND (b AND c)", And((A, And((B, C))))),
    ("a XOR b XOR c", Xor(Xor(A, B), C)),
    ("a XOR b XNOR c XOR d", Xor(Xnor(Xor(A, B), C), D)),
    ("a XOR (b XOR c)", Xor(A, Xor(B, C))),
    ("a OR b XOR c AND d", Or((A, Xor(B, And((C, D)))))),
    ("a XOR b OR c XNOR d OR e", Or((Xor(A, B), Xnor(C, D), E))),
    ("a AND b XOR c OR d AND e", Or((Xor(And((A, B)), C), And((D, E))))),
    ("NOT a AND b", And((Not(A), B))),
    ("NOT NOT a", Not(Not(A))),
    ("!a or ! b", Or((Not(A), Not(B)))),
    ("NOT (a OR b)", Not(Or((A, B)))),
    ("NOT (a) = 1", Not(p("=", "integer", "1"))),
    ("NOT a BETWEEN 1 AND 2 AND b", And((Not(p("between", "integer", "1", "2")), B))),
    ("a BETWEEN 1 AND 2 AND b", And((p("between", "integer", "1", "2"), B))),
    ("`a` NOT BETWEEN 1 AND 2 AND b", And((p("not between", "integer", "1", "2"), B))),
    ("a AnD b oR nOt c xOr d", Or((And((A, B)), Xor(Not(C), D)))),
    ("TRUE AND FALSE OR NULL", Or((And((Constant(True), Constant(False))), NULL))),
    ("(TRUE) = a", p("=", "boolean", "true")),
    ("a--x\nAND--\\\nstill the comment\nb", And((A, B))),
    ("a /* /* AND */ OR c */ AND b", And((A, B))),
    ("a = 'x -- y' -- z'", p("=", "text", "x -- y")),
    ("`b` OR'it\\'s -- it' = a", Or((B, p("=", "text", "it's -- it")))),
    ("a\u00a0AND\u3000b\u2003", And((A, B))),
    ("a='x'AND b", And((p("=", "text", "x"), B))),
]


@pytest.mark.parametrize("text, tree", PREDICATES + CONNECTIVES)
def test_tree(text, tree):
    assert parse(text) == tree
    assert parse(f"  {text}\n") == tree
    assert parse(f"({text}\n)") == tree


@pytest.mark.parametrize("text, folded, exact", ATTRIBUTES)
def test_attribute(text, folded, exact):
    assert parse(text).attribute == folded
    assert parse(text, Settings(case_sensitive=True)).attribute == exact
    assert parse(text).attribute == folded  # what was read under one setting does not leak into the other


def test_time_zone_is_that_of_the_settings():
    text = "a = TIMESTAMP '2024-07-01 12:00:00'"
    assert parse(text).operands == ("2024-07-01T12:00:00.000000Z",)
    assert parse(text, Settings(time_zone="Europe/Paris")).operands == ("2024-07-01T10:00:00.000000Z",)


@pytest.mark.parametrize(
    "text, named",
    [
        (r"a RLIKE '\d+'", [r"r'\d'"]),
        (r"a = '\d\.' OR b = '\w'", [r"r'\d'", r"r'\.'", r"r'\w'"]),
        (r"a = '\n\t\\\'\%\_\0\101é'", []),
        (r"a = r'\d'", []),
        ("a = 1", []),
    ],
)
def test_warnings(text, named):
    for _ in range(2):  # the second time the literals are known already
        tree, warnings = parse_with_warnings(text)
        assert tree == parse(text)
        assert len(warnings) == len(named)
        assert all(name in warning for name, warning in zip(named, warnings))


# -- properties ------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    "a b.c `d e` 1 -2 1.5 1e3 'x' 'it''s' r'\\' \"q\" TRUE NULL DATE '2024-01-01' TIMESTAMP AND OR XOR XNOR NOT ! ( ) ,"
    " = <= <=> != IS IN (1,2) BETWEEN LIKE ESCAPE DISTINCT FROM array_contains( arrays_overlap( array( -- /* */ ' ` \\"
    " ; \0 é".split(" ")
)


def parse_plain(text):
    """The tree without the short cut of fused tokens."""
    text = tokens.blank_asides(text).rstrip(tokens.SPACES)
    return parser._tree(Reader(text, [*tokens.PLAIN(text), "", "", ""], DEFAULT, False, []))


@settings(max_examples=400)
@given(st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map(" ".join), st.lists(PIECES).map("".join)))
def test_any_text_gives_a_tree_or_an_expression_error(text):
    try:
        tree = parse(text)
    except ExpressionError as error:
        assert error.reason
        assert 0 <= error.position <= len(text)
    else:
        assert isinstance(tree, (Predicate, Constant, Not, And, Or, Xor, Xnor))
        assert tree == parse_plain(text)


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from([text for text, _ in PREDICATES] + ["a.b=3", "a>=007", "x= 'y'"]), min_size=1), st.data()
)
def test_fused_and_plain_tokens_read_the_same(predicates, data):
    text = predicates[0]
    for predicate in predicates[1:]:
        text = f"({text}) {data.draw(st.sampled_from(['AND', 'or', 'XOR', 'AND NOT']))} {predicate}"
    assert parse(text) == parse_plain(text)


def test_memory_of_predicates_stays_small():
    pick = random.Random(7)
    for _ in range(70_000):
        parse(f"a = {pick.randrange(10**15)}")
    assert len(parser._known[False]) <= 1 << 16
