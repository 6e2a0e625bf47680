"""Expressions as JSON trees: what each means, there and back, and what is said of a bad one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_language_render import LITERALS, NAMES, TREES, predicates

from banyan.errors import ExpressionError
from banyan.language.json_tree import json_of
from banyan.language.parser import parse
from banyan.language.render import tree_sql
from banyan.language.settings import Settings
from banyan.language.tree import INVERSE, And, Constant, Not, Or, Predicate, Xor

EXACT = Settings(case_sensitive=True)


@settings(max_examples=400, deadline=None)
@given(TREES)
def test_there_and_back(tree):
    assert parse(json.dumps({"not": json_of(tree)}), EXACT) == Not(tree)


@settings(max_examples=300, deadline=None)
@given(TREES)
def test_the_text_of_a_tree_and_its_json_are_the_same_expression(tree):
    text = "{" + json.dumps(json_of(Not(tree)), indent=2)[1:]
    assert parse(text, EXACT) == parse(tree_sql(Not(tree)), EXACT)


@given(NAMES, st.sampled_from(["fails", "not array_contains", "not arrays_overlap"]), LITERALS["integer"])
def test_inverses_that_text_writes_with_not(name, operator, value):
    holds = operator == "fails"
    predicate = Predicate(name, operator, "boolean" if holds else "integer", () if holds else (value,))
    assert parse(json.dumps(json_of(predicate)), EXACT) == predicate


@given(predicates())
def test_every_operator_of_the_language_can_be_drawn(predicate):
    assert predicate.operator in INVERSE


@pytest.mark.parametrize(
    "tree, text",
    [
        ({"and": [{"attr": "age", "op": ">=", "value": 18}, {"attr": "vip"}]}, "age >= 18 AND vip"),
        ({"or": [{"attr": "a", "op": "==", "value": "x"}, None]}, "a = 'x' OR NULL"),
        ({"xor": [{"attr": "a"}, {"attr": "b"}, {"attr": "c"}]}, "a XOR b XOR c"),
        ({"xnor": [{"attr": "a"}, {"not": {"attr": "b"}}]}, "a XNOR NOT b"),
        ({"not": True}, "NOT TRUE"),
        ({"attr": "User.Age", "op": "<>", "value": -5}, "user.Age <> -5"),
        ({"attr": "first name", "op": "=", "value": "x"}, "`first name` = 'x'"),
        ({"attr": "`a.b`.c", "op": "=", "value": 1}, "`a.b`.c = 1"),
        ({"attr": ["a.b", "c"], "op": "=", "value": 1}, "`a.b`.c = 1"),
        ({"attr": "date", "op": "<=>", "value": None}, "`date` <=> NULL"),
        ({"attr": "a", "op": "is not distinct from", "value": 1}, "a IS NOT DISTINCT FROM 1"),
        ({"attr": "a", "op": "IS DISTINCT FROM", "value": 1}, "a IS DISTINCT FROM 1"),
        ({"attr": "a", "op": "not_in", "value": [1, "x", None]}, "a NOT IN (1, 'x', NULL)"),
        ({"attr": "a", "op": "in", "value": [3, 3]}, "a = 3"),
        ({"attr": "a", "op": "not between", "value": [1, {"double": 2}]}, "a NOT BETWEEN 1 AND 2D"),
        ({"attr": "a", "op": "like", "value": "50!%", "escape": "!"}, "a LIKE '50!%' ESCAPE '!'"),
        ({"attr": "a", "op": "not like any", "value": ["x%", "%y"]}, "a NOT LIKE ANY ('x%', '%y')"),
        ({"attr": "a", "op": "ilike all", "value": ["x%", "%y"]}, "a ILIKE ALL ('x%', '%y')"),
        ({"attr": "a", "op": "not regexp", "value": "\\d+"}, r"a NOT RLIKE r'\d+'"),
        ({"attr": "a", "op": "is_null"}, "a IS NULL"),
        ({"attr": "a", "op": "is not true"}, "a IS NOT TRUE"),
        ({"attr": "a", "op": "is false"}, "a IS FALSE"),
        ({"attr": "t", "op": "array_contains", "value": "x"}, "array_contains(t, 'x')"),
        ({"attr": "t", "op": "arrays_overlap", "value": [1, "x", None]}, "arrays_overlap(t, array(1, 'x', NULL))"),
        ({"attr": "d", "op": ">", "value": {"date": "2024-02-29"}}, "d > DATE '2024-02-29'"),
        (
            {"attr": "d", "op": ">", "value": {"timestamp": "2024-02-29 10:30:00"}},
            "d > TIMESTAMP '2024-02-29 10:30:00'",
        ),
        ({"attr": "a", "op": "=", "value": {"decimal": "1.50"}}, "a = 1.5BD"),
        ({"attr": "a", "op": "=", "value": {"text": "18"}}, "a = '18'"),
        ({"attr": "a", "op": "=", "value": 10**20}, "a = 100000000000000000000"),
    ],
)
def test_means_the_same_as(tree, text):
    # Berlin, because a timestamp without a zone is read in that of the index.
    berlin = Settings(time_zone="Europe/Berlin")
    assert parse("  " + json.dumps(tree), berlin) == parse(text, berlin)


@pytest.mark.parametrize(
    ("number", "family"), [("1", "integer"), ("1.0", "decimal"), ("1e0", "double"), ("-2.5", "decimal")]
)
def test_numbers_are_read_as_they_are_written(number, family):
    tree = parse('{"attr": "a", "op": "=", "value": ' + number + "}")
    assert tree.family == family and tree == parse(f"a = {number}")


BAD = [
    ('{"and": [{"attr": "a"}, {"or": []}]}', "$.and[1].or: expected at least 1 operand, found 0"),
    ('{"and": {"attr": "a"}}', '$.and: expected a list, found {"attr": "a"}'),
    ('{"xor": [{"attr": "a"}]}', "$.xor: expected at least 2 operands, found 1"),
    ('{"not": [{"attr": "a"}]}', '$.not: expected an object like {"attr"'),
    ('{"and": [1]}', "$.and[0]: expected an object"),
    ('{"and": [], "or": []}', "$: 'and' stands alone in its object, found and, or"),
    ('{"field": "a", "op": "=", "value": 1}', "$: unknown key 'field'; an object has one of and, or"),
    ('{"op": "=", "value": 1}', "$: no key 'attr' in"),
    ('{"not": {"attr": "", "op": "=", "value": 1}}', '$.not.attr: expected the name of an attribute, found ""'),
    ('{"attr": "a..b", "op": "=", "value": 1}', "$.attr: expected the name of an attribute"),
    ('{"attr": "a", "op": "~", "value": 1}', "$.op: there is no operator '~'; there are =, !="),
    ('{"attr": "a", "op": ">="}', "$: '>=' needs a value"),
    ('{"attr": "a", "op": "is null", "value": 1}', "$.value: 'is null' takes no value"),
    ('{"attr": "a", "op": "between", "value": [1]}', "$.value: between takes a list of two values, found 1"),
    ('{"attr": "a", "op": "in", "value": 3}', "$.value: expected a list of at least one value, found 3"),
    ('{"or": [{"attr": "a", "op": "in", "value": [1, [2]]}]}', "$.or[0].value[1]: expected a literal like 18"),
    ('{"attr": "a", "op": "=", "value": {"date": "2024-02-30"}}', "$.value: "),
    ('{"attr": "a", "op": "=", "value": {"integer": "x"}}', '$.value: expected a literal like 18, 1.5, "text"'),
    ('{"attr": "a", "op": "=", "value": 1e999}', "$.value: "),
    ('{"attr": "a", "op": "like", "value": "x\\\\"}', "$.value: The pattern ends with its escape character"),
    ('{"attr": "a", "op": "=", "value": 1, "escape": "!"}', "$.escape: escape goes with like and ilike"),
    ('{"attr": "a", "attr": "b"}', "$: the key 'attr' is there twice"),
    ('{"attr": "a", "op": "=", "value": "\\ud800"}', "$.value: half a character"),
    ('{"attr": "a", "op": "=", "value": NaN}', "This is no JSON: NaN"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD)
def test_a_bad_tree_is_refused_with_its_path(text, message):
    with pytest.raises(ExpressionError) as refused:
        parse(text)
    assert str(refused.value).startswith(message)


def test_what_is_no_json_is_refused_with_the_position():
    with pytest.raises(ExpressionError) as refused:
        parse('{"attr": "a", "op" "="}')
    assert str(refused.value).endswith("""at position 19\n  {"attr": "a", "op" "="}\n                     ^""")


def test_limits_are_those_of_the_language():
    deep = json.dumps(json_of(Not(Not(Not(Predicate("a", "holds", "boolean", ()))))))
    with pytest.raises(ExpressionError, match=r"\$\.not\.not: more than 2 levels; raise the setting max_depth"):
        parse(deep, Settings(max_depth=2))
    with pytest.raises(ExpressionError, match=r"\$\.or: 3 operands, more than 2; raise the setting max_operands"):
        parse('{"or": [true, false, null]}', Settings(max_operands=2))
    with pytest.raises(ExpressionError, match="nested too deeply"):
        parse('{"not":' * 100_000 + "true" + "}" * 100_000)


def test_constants_and_nodes_of_one_operand():
    one = And((Or((Xor(Constant(None), Constant(True)),)),))
    assert parse(json.dumps(json_of(one))) == one


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["and", "or", "not", "xor", "attr", "op", "value", "x"]), inner, max_size=3
            )
        ),
        max_leaves=10,
    )
)
def test_any_json_is_read_or_refused(value):
    try:
        parse(json.dumps({"and": value}))
    except ExpressionError as error:
        assert error.reason.startswith(("$", "This is no JSON"))
