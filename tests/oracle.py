"""Random events, random expressions, and Spark SQL itself as the judge of which event matches which expression.

Everything is drawn from a `random.Random`, so a seed names a failure. The SQL is written from the columns' declared
types alone and knows nothing of how Banyan matches: where Spark takes a predicate as it stands, it is handed over as
it stands, and Spark's own coercion decides; only where Spark would raise or refuse is it written with try_cast.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import struct
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from decimal import ROUND_FLOOR, Decimal
from random import Random
from typing import Any

from pyspark.sql import functions as F

from banyan.language.evaluate import Single
from banyan.language.tree import INVERSE, And, Constant, Not, Or, Predicate, Tree, Xor

UTC = datetime.timezone.utc

# Columns of the events. The variants travel as JSON.
EVENT_SCHEMA = (
    "event_id BIGINT, i INT, l BIGINT, dec DECIMAL(10,2), d38 DECIMAL(38,0), f FLOAT, d DOUBLE, s STRING, bo BOOLEAN, "
    "dt DATE, ts TIMESTAMP, nt TIMESTAMP_NTZ, ai ARRAY<INT>, at ARRAY<STRING>, ad ARRAY<DOUBLE>, "
    "adec ARRAY<DECIMAL(10,2)>, abo ARRAY<BOOLEAN>, adt ARRAY<DATE>, ats ARRAY<TIMESTAMP>, ant ARRAY<TIMESTAMP_NTZ>, "
    "user STRUCT<age: INT, name: STRING>, tags MAP<STRING, INT>, v STRING, doc STRING"
)
VARIANTS = ("v", "doc")

# Attribute -> (how Spark reaches it, its type). What is not here is an attribute that no event has.
ATTRIBUTES = {
    "i": ("i", "integer"),
    "l": ("l", "integer"),
    "dec": ("dec", "decimal"),
    "d38": ("d38", "whole decimal"),
    "f": ("f", "double"),
    "d": ("d", "double"),
    "s": ("s", "text"),
    "bo": ("bo", "boolean"),
    "dt": ("dt", "date"),
    "ts": ("ts", "timestamp"),
    "nt": ("nt", "timestamp_ntz"),
    "ai": ("ai", "list of integer"),
    "at": ("at", "list of text"),
    "ad": ("ad", "list of double"),
    "adec": ("adec", "list of decimal"),
    "abo": ("abo", "list of boolean"),
    "adt": ("adt", "list of date"),
    "ats": ("ats", "list of timestamp"),
    "ant": ("ant", "list of timestamp_ntz"),
    "user": ("user", "other"),
    "user.age": ("user.age", "integer"),
    "user.name": ("user.name", "text"),
    "tags": ("tags", "other"),
    "tags.x": ("tags['x']", "integer"),
    "v": ("v_scalar", "variant"),
    "doc.x": ("x_scalar", "variant"),
}

TEXTS = (
    *"1 10 1.5 1e3 abc inf NaN -Infinity 1d 1_0 true T no 2024-01-31 ABC a_b a%b Straße ÄB éa 9007199254740993".split(),
    *("+5", "0x1", "", " 10 ", "a\nb", "a\\b", "it's", "😀"),
    *("2024-01-31 10:00:00", "2024-01-31T10:00:00Z", "2024-06-01 00:00:00.5"),
)
INTEGERS = (0, 1, -1, 2, 5, 10, 30, 127, 2**31 - 1, -(2**31))
LONGS = (*INTEGERS, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 5_000_000_000)
DOUBLES = (0.0, -0.0, 1.0, 1.5, -1.5, 10.0, 0.1, 1e3, 2.0**53, 1e308, math.inf, -math.inf, math.nan, 2.0**63)
DECIMALS = tuple(map(Decimal, "0.00 1.00 1.50 -1.50 10.00 0.10 2.25 99999999.99".split()))
WHOLES = tuple(map(Decimal, (0, 1, 2, -1, 10, 2**63, 10**30, 10**37, -(10**37))))
_DAYS = "2024-01-31 2024-02-29 1970-01-01 1969-12-31 1582-10-15 9999-12-31"
DATES = tuple(map(datetime.date.fromisoformat, _DAYS.split()))
_MOMENTS = "2024-01-31 2024-01-31T10:00:00 2024-06-01T00:00:00.500000 1970-01-01"
TIMES = tuple(map(datetime.datetime.fromisoformat, _MOMENTS.split()))
JSONS = (
    *"1 -1 5 10 1.5 1.50 1.0 0.25 -2.5 1e3 15e-1 9223372036854775807 true false null [] {}".split(),
    "12345678901234567890",
    *('"abc"', '"1"', '"1.5"', '"true"', '""', '" 10 "', '"2024-01-31"', '"ÄB"', '"a_b"', '{"x":1}'),
    *("[1,2,null]", '["a","1"]', '[1.5,"abc",true]', "[[1],1]", "[null]", "[1e0,10]", '["abc",{}]'),
)


# ---------------------------------------------------------------------------------------------------------- events


def random_events(rng: Random, n: int) -> list[dict[str, Any]]:
    """Events with ids 0..n-1, NULLs everywhere; about one in twenty has nothing but NULLs."""
    shares_of_nulls = (0.0,) * 6 + (0.2,) * 7 + (0.6,) * 6 + (1.0,)
    return [_random_event(rng, number, rng.choice(shares_of_nulls)) for number in range(n)]


def _random_event(rng: Random, number: int, nulls: float) -> dict[str, Any]:
    def draw(values: Iterable[Any]) -> Any:
        return None if rng.random() < nulls else rng.choice(values)

    def listed(values: Iterable[Any]) -> Any:
        return None if rng.random() < nulls else [draw((*values, None)) for _ in range(rng.randrange(4))]

    instants = tuple(time.replace(tzinfo=UTC) for time in TIMES)
    singles = (0.0, -0.0, 1.5, 0.1, 10.0, 16777216.0, math.nan, math.inf)
    return {
        "event_id": number,
        "i": draw(INTEGERS),
        "l": draw(LONGS),
        "dec": draw(DECIMALS),
        "d38": draw(WHOLES),
        "f": draw(singles),
        "d": draw(DOUBLES),
        "s": draw(TEXTS),
        "bo": draw((True, False)),
        "dt": draw(DATES),
        "ts": draw(instants),
        "nt": draw(TIMES),
        "ai": listed(INTEGERS[:6]),
        "at": listed(TEXTS[:8]),
        "ad": listed(DOUBLES),
        "adec": listed(DECIMALS[:5]),
        "abo": listed((True, False)),
        "adt": listed(DATES[:3]),
        "ats": listed(instants),
        "ant": listed(TIMES),
        "user": draw(({"age": draw(INTEGERS), "name": draw(TEXTS)},)),
        "tags": draw(({"x": draw(INTEGERS), "y": 1}, {"y": 2}, {})),
        "v": draw(JSONS),
        "doc": draw((*(f'{{"x":{json}}}' for json in JSONS), '{"y":1}', "1", "null")),
    }


def plain(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event as the plain evaluator takes it: attribute -> Python value."""
    flat = {name: event[name] for name in ATTRIBUTES if name in event and name not in VARIANTS}
    if event["f"] is not None:
        flat["f"] = Single(struct.unpack("f", struct.pack("f", event["f"]))[0])
    flat |= {f"user.{name}": (event["user"] or {}).get(name) for name in ("age", "name")}
    flat["tags.x"] = (event["tags"] or {}).get("x")
    flat["v"] = _from_json(event["v"])
    doc = _from_json(event["doc"])
    flat["doc.x"] = doc.get("x") if isinstance(doc, dict) else None
    return flat


def _from_json(text: str | None) -> Any:
    def number(digits: str) -> Decimal | float:
        # A variant keeps no zeros at the end of a decimal: LIKE sees 1.50 as '1.5'.
        return float(digits) if "e" in digits else Decimal(format(Decimal(digits).normalize(), "f"))

    return None if text is None else json.loads(text, parse_float=number)


def events_df(spark, rows: list[dict[str, Any]]):
    """The events as a DataFrame: `EVENT_SCHEMA`, with the variants as variants."""
    names = [column.strip().split(" ")[0] for column in re.split(r",(?![^<(]*[>)])", EVENT_SCHEMA)]
    frame = spark.createDataFrame([tuple(row[name] for name in names) for row in rows], EVENT_SCHEMA)
    return frame.withColumns({name: F.parse_json(name) for name in VARIANTS})


# ----------------------------------------------------------------------------------------------------- expressions


def _text(text: str) -> str:
    """As a literal, in Spark's SQL and in Banyan's language."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


LITERALS = {
    "integer": ["-9223372036854775808", *"0 1 -1 2 5 10 30 127 2147483647 5000000000 9007199254740993 1L".split()],
    "decimal": "1.5 0.1 1.00 -1.50 2.25 .5 10.0 1e30BD 9223372036854775808 1BD 0.001 99999999.99 1000BD".split(),
    "double": "1.5D 1e0 1e3 0D -0.0D 1e1 9007199254740992D 1e308 1.5F 0.1D 9.3e18 -1e-1".split(),
    "text": [_text(text) for text in TEXTS],
    "boolean": ["TRUE", "false"],
    "date": [f"DATE '{date}'" for date in DATES[:4]],
    "timestamp": ["TIMESTAMP '2024-01-31 12:00:00+02:00'", *(f"TIMESTAMP '{time}'" for time in TIMES)],
}
LIKES = [
    "'a\\\\_b'",
    "''",
    "'a|%b' ESCAPE '|'",
    *(f"'{like}'" for like in "% _ 1% %b% %0 ä_ %E% a%b 2024-% %😀% true".split()),
]
REGEXES = ["r'^[0-9]+$'", "r'\\d'", "'^$'", "'(?i)abc'", "r'\\.'", "'^a.b$'", "r'\\p{L}{2}'", "'e|E'", "'^2024'"]
NAMES = (*ATTRIBUTES, "nope", "user.height", "tags.z")
FITTING = {
    "integer": ("integer", "integer", "decimal", "double", "text"),
    "decimal": ("decimal", "decimal", "integer", "double", "text"),
    "whole decimal": ("decimal", "integer", "integer"),
    "double": ("double", "double", "integer", "decimal", "text"),
    "text": ("text", "text", "text", "integer", "decimal", "double", "boolean", "date", "timestamp"),
    "boolean": ("boolean", "text"),
    "date": ("date", "date", "timestamp", "text"),
    "timestamp": ("timestamp", "timestamp", "date", "text"),
    "timestamp_ntz": ("timestamp", "date", "text"),
    "variant": ("integer", "decimal", "double", "text", "text", "boolean"),
    "list of integer": ("integer", "decimal", "double"),
    "list of text": ("text",),
    "list of double": ("integer", "decimal", "double"),
    "list of decimal": ("integer", "decimal", "double"),
    "list of boolean": ("boolean",),
    "list of date": ("date", "timestamp"),
    "list of timestamp": ("date", "timestamp"),
    "list of timestamp_ntz": ("date", "timestamp"),
}


def random_expression(rng: Random, depth: int) -> str:
    """An expression of at most that many levels of connectives, each in some spelling."""
    if depth <= 0 or rng.random() < 0.15:
        return _random_predicate(rng)
    chance = rng.random()
    if chance < 0.15:
        return f"{rng.choice(('NOT', '!', 'not'))} ({random_expression(rng, depth - 1)})"
    if chance < 0.3:
        connective = rng.choice(("XOR", "XNOR", "xor"))
        return f"({random_expression(rng, depth - 1)}) {connective} ({random_expression(rng, depth - 1)})"
    connective = f" {rng.choice(('AND', 'OR'))} "
    return connective.join(f"({random_expression(rng, depth - 1)})" for _ in range(rng.randint(2, 3)))


def _random_predicate(rng: Random) -> str:
    if rng.random() < 0.03:
        return rng.choice(("TRUE", "FALSE", "NULL"))
    name = rng.choice(NAMES)
    kind = ATTRIBUTES.get(name, ("", "other"))[1]
    family = rng.choice(FITTING.get(kind, tuple(LITERALS)) if rng.random() < 0.85 else tuple(LITERALS))

    # Few of the texts are dates, and most would never meet one.
    choices = LITERALS[family]
    if family == "text" and kind in TIMELY:
        choices = [*choices, *map(_text, sorted(_DATED) * 8)]

    def literal() -> str:
        return "NULL" if rng.random() < 0.04 else rng.choice(choices)

    negation = rng.choice(("", "", "NOT "))
    if kind.startswith("list") or (kind == "variant" and rng.random() < 0.3) or rng.random() < 0.03:
        if rng.random() < 0.5:
            return f"{negation}array_contains({name}, {rng.choice(LITERALS[family])})"
        return f"{negation}arrays_overlap({name}, array({', '.join(literal() for _ in range(rng.randint(1, 3)))}))"
    form = rng.randrange(10)
    if form < 4:
        comparison = rng.choice(("=", "==", "!=", "<>", "<", "<=", ">", ">=", "<=>"))
        return f"{name} {comparison} {literal()}" if rng.random() < 0.8 else f"{literal()} {comparison} {name}"
    if form == 4:
        return f"{name} {negation}BETWEEN {literal()} AND {literal()}"
    if form == 5:
        return f"{name} {negation}IN ({', '.join(literal() for _ in range(rng.randint(1, 4)))})"
    if form == 6:
        operator, patterns = rng.choice((("LIKE", LIKES), ("ILIKE", LIKES), ("RLIKE", REGEXES), ("REGEXP", REGEXES)))
        return f"{name} {negation}{operator} {rng.choice(patterns)}"
    if form == 7:
        return f"{name} IS {negation}{rng.choice(('NULL', 'TRUE', 'FALSE'))}"
    if form == 8:
        return f"{name} IS {negation}DISTINCT FROM {literal()}"
    return f"{negation}{name}"


# ------------------------------------------------------------------------------------------------------- the judge

UNDEFINED = "CAST(NULL AS BOOLEAN)"
NUMBERS = ("integer", "decimal", "double")

# Type of the column -> the type Spark casts a text literal to; and the texts above that it can cast.
TEXT_LITERAL_AS = {
    "integer": "BIGINT",
    "decimal": "DOUBLE",
    "whole decimal": "DOUBLE",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
}
_DATED = {"2024-01-31", "2024-01-31 10:00:00", "2024-01-31T10:00:00Z", "2024-06-01 00:00:00.5"}
_WHOLE = {"1", "10", " 10 ", "+5", "9007199254740993"}
CASTABLE = {
    "BIGINT": _WHOLE,
    "DOUBLE": _WHOLE | {"1.5", "1e3", "inf", "NaN", "-Infinity", "1d"},
    "BOOLEAN": {"1", "true", "T", "no"},
    "DATE": _DATED,
    "TIMESTAMP": _DATED,
    "TIMESTAMP_NTZ": _DATED,
}
# Family of the literal -> the type Spark casts a text column to.
TEXT_COLUMN_AS = {
    "integer": "BIGINT",
    "decimal": "DOUBLE",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
TIMELY = ("date", "timestamp", "timestamp_ntz")


def oracle_sql(tree: Tree) -> str:
    """The expression as Spark SQL over the columns that `_judged` prepares."""
    if isinstance(tree, Predicate):
        return _predicate_sql(tree)
    if isinstance(tree, Constant):
        return UNDEFINED if tree.value is None else str(tree.value).upper()
    if isinstance(tree, Not):
        return f"NOT ({oracle_sql(tree.operand)})"
    if isinstance(tree, (And, Or)):
        word = " AND " if isinstance(tree, And) else " OR "
        return word.join(f"({oracle_sql(operand)})" for operand in tree.operands)
    sign = "<>" if isinstance(tree, Xor) else "="
    return f"(({oracle_sql(tree.left)}) {sign} ({oracle_sql(tree.right)}))"


def _predicate_sql(predicate: Predicate) -> str:
    column, kind = ATTRIBUTES.get(predicate.attribute, ("NULL", "absent"))
    operator = predicate.operator
    if operator in ("!=", "not <=>", "is not null", "fails", ">=", ">") or operator.startswith("not "):
        return f"NOT ({_predicate_sql(predicate._replace(operator=INVERSE[operator]))})"
    never = "FALSE" if operator == "<=>" else UNDEFINED
    if kind == "absent":
        return "TRUE" if operator == "is null" else never
    if kind != "variant":
        return _typed_sql(operator, column, kind, predicate.family, predicate.operands)
    if operator == "is null":
        return f"{column}.kind IS NULL"
    if operator in ("like", "ilike", "rlike"):
        return f"{column}.shown {operator.upper()} {_text(predicate.operands[0])}"
    if operator in ("array_contains", "arrays_overlap"):
        return f"exists({column}.elements, e -> {_element_sql(predicate.family, predicate.operands)})"
    branches = " ".join(
        f"WHEN '{held}' THEN {_typed_sql(operator, f'{column}.{held}', held, predicate.family, predicate.operands)}"
        for held in (*NUMBERS, "text", "boolean")
    )
    return f"CASE {column}.kind {branches} ELSE {never} END"


def _element_sql(family: str, operands: tuple[str | None, ...]) -> str:
    """Whether element e of a variant's list is one of the literals; NULL if it is of another kind."""
    kinds = NUMBERS if family in NUMBERS else (family,) if family in ("text", "boolean") else ()
    if not kinds:
        return UNDEFINED
    branches = (
        f"WHEN '{kind}' THEN " + " OR ".join(f"e.{kind} = {_literal(family, operand)}" for operand in operands)
        for kind in kinds
    )
    return f"CASE e.kind {' '.join(branches)} END"


def _typed_sql(operator: str, column: str, kind: str, family: str, operands: tuple[str | None, ...]) -> str:
    if operator == "is null":
        return f"{column} IS NULL"
    if operator in ("like", "ilike", "rlike"):
        scalar = kind != "other" and not kind.startswith("list")
        return f"{column} {operator.upper()} {_text(operands[0])}" if scalar else UNDEFINED
    if operator == "holds":
        return {"boolean": column, "text": f"try_cast({column} AS BOOLEAN)"}.get(kind, UNDEFINED)
    if operator in ("array_contains", "arrays_overlap"):
        return _list_sql(operator, column, kind, family, operands) if kind.startswith("list") else UNDEFINED
    literals = [_literal(family, operand) for operand in operands]
    as_is = (
        (family in NUMBERS and kind in NUMBERS)
        or (family in ("date", "timestamp") and kind in TIMELY)
        or (family == kind and family in ("text", "boolean"))
    )
    if kind == "whole decimal" and family in NUMBERS:
        if family == "decimal":
            return _whole_sql(operator, column, operands)
        as_is = True
    if as_is:
        sql = _comparison_sql(operator, column, literals)
        # Spark makes TRUE of `i < 1e30BD`, whatever i is. NULL stays undefined here.
        folds = kind == "integer" and family == "decimal" and operator != "<=>"
        return f"CASE WHEN {column} IS NOT NULL THEN {sql} END" if folds else sql
    if kind == "text" and family in TEXT_COLUMN_AS:
        return _comparison_sql(operator, f"try_cast({column} AS {TEXT_COLUMN_AS[family]})", literals)
    if family == "text" and kind in TEXT_LITERAL_AS:
        target = TEXT_LITERAL_AS[kind]
        if CASTABLE[target].issuperset(operands):
            return _comparison_sql(operator, column, literals)
        literals = [f"try_cast({literal} AS {target})" for literal in literals]
        if operator == "<=>":
            return f"coalesce({column} = {literals[0]}, FALSE)"
        return _comparison_sql(operator, column, literals)
    return "FALSE" if operator == "<=>" else UNDEFINED


def _comparison_sql(operator: str, column: str, literals: list[str]) -> str:
    if operator == "in":
        return f"{column} IN ({', '.join(literals)})"
    if operator == "between":
        return f"{column} BETWEEN {literals[0]} AND {literals[1]}"
    return f"{column} {operator} {literals[0]}"


def _whole_sql(operator: str, column: str, operands: tuple[str | None, ...]) -> str:
    """A decimal(38,0) against decimals. Spark would round 1.5 to 2, having no digit left for the fraction."""
    if operator in ("in", "between"):
        signs = (">=", "<=") if operator == "between" else ("=",) * len(operands)
        pairs = zip(signs, operands, strict=True)
        parts = [f"({_whole_sql(sign, column, (operand,))})" for sign, operand in pairs]
        return (" AND " if operator == "between" else " OR ").join(parts)
    value = Decimal(operands[0])
    floor = value.to_integral_value(ROUND_FLOOR)
    if value == floor:
        return f"{column} {operator} {floor:f}BD"
    if operator == "<=>":
        return "FALSE"
    if operator == "=":
        return f"{column} <> {column}"
    return f"{column} <= {floor:f}BD" if operator in ("<", "<=") else f"{column} > {floor:f}BD"


def _list_sql(operator: str, column: str, kind: str, family: str, operands: tuple[str | None, ...]) -> str:
    element = kind.removeprefix("list of ")
    literals = [_literal(family, operand) for operand in operands]
    if not family:
        return f"arrays_overlap({column}, array({', '.join(literals)}))"
    of_one_sort = (
        element == family
        or (element in NUMBERS and family in NUMBERS)
        or (element in TIMELY and family in ("date", "timestamp"))
    )
    if not of_one_sort:
        return f"CASE WHEN size({column}) = 0 THEN FALSE END"
    if operator == "array_contains":
        return f"array_contains({column}, {literals[0]})"
    if "decimal" in (element, family):
        # Refused by Spark as arrays of different types, but array_contains shows what it would say.
        return f"exists({column}, e -> {' OR '.join(f'e = {literal}' for literal in literals)})"
    return f"arrays_overlap({column}, array({', '.join(literals)}))"


def _literal(family: str, operand: str | None) -> str:
    if operand is None:
        return "NULL"
    if family == "text":
        return _text(operand)
    if family in ("date", "timestamp"):
        return f"{family.upper()} '{operand}'"
    return operand + {"decimal": "BD", "double": "D"}.get(family, "")


def oracle_matches(spark, events, expressions: Mapping[Any, Tree], chunk: int = 160) -> set[tuple[int, Any]]:
    """All (event_id, expression id) that match, as Spark SQL sees it."""
    found = set()
    ids = list(expressions)
    with _interpreted(spark):
        judged = _judged(events).cache()
        for start in range(0, len(ids), chunk):
            some = ids[start : start + chunk]
            columns = ", ".join(oracle_sql(expressions[name]) for name in some)
            for event_id, values in judged.selectExpr("event_id", f"array({columns})").collect():
                found.update((event_id, name) for name, value in zip(some, values, strict=True) if value)
        judged.unpersist()
    return found


def _judged(events):
    """The events, with each variant laid out by the kind of scalar it holds."""
    return events.selectExpr(
        "*",
        f"{_scalar('v', elements=True)} AS v_scalar",
        f"{_scalar('try_variant_get(doc, ' + _text('$.x') + ', ' + _text('variant') + ')', elements=True)} AS x_scalar",
    )


def _scalar(variant: str, elements: bool = False) -> str:
    held = f"schema_of_variant({variant})"

    def get(name: str, sql_type: str, test: str) -> str:
        return f"'{name}', CASE WHEN {held} {test} THEN try_variant_get({variant}, '$', '{sql_type}') END"

    kind = (
        f"CASE WHEN {held} = 'BIGINT' THEN 'integer' WHEN {held} LIKE 'DECIMAL%' THEN 'decimal' "
        f"WHEN {held} = 'DOUBLE' THEN 'double' WHEN {held} = 'STRING' THEN 'text' "
        f"WHEN {held} = 'BOOLEAN' THEN 'boolean' WHEN {held} LIKE 'ARRAY%' THEN 'list' "
        f"WHEN {held} <> 'VOID' THEN 'other' END"
    )
    parts = [
        f"'kind', {kind}",
        get("integer", "bigint", "= 'BIGINT'"),
        get("decimal", "decimal(30,6)", "LIKE 'DECIMAL%'"),
        get("double", "double", "= 'DOUBLE'"),
        get("text", "string", "= 'STRING'"),
        get("boolean", "boolean", "= 'BOOLEAN'"),
        f"'shown', CASE WHEN {held} NOT LIKE '%<%' THEN try_variant_get({variant}, '$', 'string') END",
    ]
    if elements:
        listed = f"try_variant_get({variant}, '$', 'array<variant>')"
        parts.append(f"'elements', CASE WHEN {held} LIKE 'ARRAY%' THEN transform({listed}, e -> {_scalar('e')}) END")
    return f"named_struct({', '.join(parts)})"


@contextmanager
def _interpreted(spark):
    """Little optimisation and no code generation: both take longer on a hundred expressions than a few hundred rows."""
    settings = {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.optimizer.maxIterations": "1",
    }
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
