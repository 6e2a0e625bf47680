"""Expressions as JSON trees: a second way to write the language, with the same operators, literals and limits.

    {"and": [{"attr": "age", "op": ">=", "value": 18}, {"not": {"attr": "country", "op": "in", "value": ["DE", "FR"]}}]}

In: the text of a tree. Out: the `Tree` that the parser makes of the same expression, or an `ExpressionError` that names
the place in the JSON (`$.and[1].value`). `json_of` goes back; there and back is the same tree. The grammar is in
docs/language.md.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from banyan.errors import ExpressionError
from banyan.language.attributes import attribute_text
from banyan.language.canonical import UNDEFINED, comparison, joined, overlap_predicate, range_predicate, set_predicate
from banyan.language.literals import (
    NULL,
    Literal,
    Refused,
    has_half_characters,
    number_literal,
)
from banyan.language.patterns import like_pattern
from banyan.language.settings import Settings
from banyan.language.times import date_literal, timestamp_literal
from banyan.language.tree import FAMILIES, INVERSE, And, Constant, Not, Or, Predicate, Tree, Xnor, Xor

_CONNECTIVES = {"and": And, "or": Or, "xor": Xor, "xnor": Xnor, "not": Not}
_COMPARISONS = {op: op for op in ("=", "!=", "<", "<=", ">", ">=", "<=>", "not <=>")} | {
    "==": "=",
    "<>": "!=",
    "is not distinct from": "<=>",
    "is distinct from": "not <=>",
    "array_contains": "array_contains",
    "not array_contains": "not array_contains",
}
# Without a value: the operator, and the Boolean it asks for.
_ALONE = {
    "is null": ("is null", None),
    "is not null": ("is not null", None),
    "is true": ("<=>", "true"),
    "is not true": ("not <=>", "true"),
    "is false": ("<=>", "false"),
    "is not false": ("not <=>", "false"),
    "holds": ("holds", None),
    "fails": ("fails", None),
}
_PATTERNS = {"like": "like", "ilike": "ilike", "rlike": "rlike", "regexp": "rlike"}
_QUANTIFIERS = {" any": Or, " some": Or, " all": And}
_LISTS = ("between", "in", "arrays_overlap")
_KEYS = ("attr", "op", "value", "escape")
_number = re.compile(r"(-?)(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)").fullmatch
_path = re.compile(r"(?:`(?:[^`]|``)+`|[^.`]+)(?:\.(?:`(?:[^`]|``)+`|[^.`]+))*").fullmatch
_parts = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)").findall


class _Number(str):
    """A number as it is written: 1.5 is a decimal, 1.5e0 a double."""


class _Object(dict):
    """A JSON object that knows which key it was given twice."""

    repeated: str | None = None


def is_json(text: str) -> bool:
    """Whether a text is meant as a JSON tree: no expression of the language begins with a brace."""
    return text.startswith("{") or (text[:1].isspace() and text.lstrip().startswith("{"))


def json_tree(text: str, settings: Settings) -> Tree:
    """The tree that a JSON text stands for. Nothing calls itself, so depth costs no stack of ours."""
    # What waits to be read (path, value, depth), or to be put together from the last trees of `done` (kind, count).
    waiting: list[tuple] = [("$", _loaded(text), 0)]
    done: list[Tree] = []
    while waiting:
        item = waiting.pop()
        if len(item) == 2:
            kind, count = item
            operands = done[-count:]
            done[-count:] = [_node(kind, operands)]
            continue
        path, value, depth = item
        if value is None or type(value) is bool:
            done.append(Constant(value))
            continue
        if type(value) is not _Object:
            _fail(path, f'expected an object like {{"attr": "age", "op": ">=", "value": 18}}, found {_shown(value)}')
        if value.repeated is not None:
            _fail(path, f"the key {value.repeated!r} is there twice")
        word = next((key for key in value if key in _CONNECTIVES), None)
        if word is None:
            done.append(_Predicates(settings).read(path, value))
            continue
        if len(value) > 1:
            _fail(path, f"{word!r} stands alone in its object, found {', '.join(value)}")
        if depth >= settings.max_depth:
            _fail(path, f"more than {settings.max_depth} levels; raise the setting max_depth to allow that")
        operands = _operands(f"{path}.{word}", word, value[word], settings)
        waiting.append((_CONNECTIVES[word], len(operands)))
        waiting.extend((where, operand, depth + 1) for where, operand in reversed(operands))
    return done[0]


def _loaded(text: str) -> Any:
    try:
        return json.loads(
            text, parse_int=_Number, parse_float=_Number, parse_constant=_constant, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise ExpressionError(f"This is no JSON: {error.msg}", text, error.pos) from None
    except RecursionError:
        raise ExpressionError("The JSON tree is nested too deeply to be read; write it as text", "", None) from None


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        found.repeated = next(key for key in keys if keys.count(key) > 1)
    return found


def _constant(word: str) -> NoReturn:
    raise ExpressionError(f"This is no JSON: {word} is no number of JSON", "", None)


def _operands(path: str, word: str, value: Any, settings: Settings) -> list[tuple[str, Any]]:
    if word == "not":
        return [(path, value)]
    if type(value) is not list:
        _fail(path, f"expected a list, found {_shown(value)}")
    least = 2 if word in ("xor", "xnor") else 1
    if len(value) < least:
        _fail(path, f"expected at least {least} operand{'s' if least > 1 else ''}, found {len(value)}")
    limit = settings.max_depth if least == 2 else settings.max_operands
    if len(value) > limit:
        name = "max_depth" if least == 2 else "max_operands"
        _fail(path, f"{len(value)} operands, more than {limit}; raise the setting {name} to allow that")
    return [(f"{path}[{i}]", operand) for i, operand in enumerate(value)]


def _node(kind: type, operands: list[Tree]) -> Tree:
    if kind in (And, Or):
        return kind(tuple(operands))
    if kind is Not:
        return Not(operands[0])
    tree = operands[0]
    for operand in operands[1:]:
        tree = kind(tree, operand)
    return tree


def _fail(path: str, reason: str) -> NoReturn:
    raise ExpressionError(f"{path}: {reason}", "", None)


def _shown(value: Any) -> str:
    text = str(value) if type(value) is _Number else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


class _Predicates:
    """One object without a connective, as a predicate."""

    def __init__(self, settings: Settings):
        self._settings = settings

    def read(self, path: str, value: _Object) -> Tree:
        strange = [key for key in value if key not in _KEYS]
        if strange or "attr" not in value:
            what = f"unknown key {strange[0]!r}" if strange else f"no key 'attr' in {_shown(value)}"
            _fail(path, f"{what}; an object has one of {', '.join(_CONNECTIVES)}, or attr, op and value")
        attribute = self._attribute(f"{path}.attr", value["attr"])
        written = value.get("op", "holds")
        if type(written) is not str:
            _fail(f"{path}.op", f"expected the name of an operator, found {_shown(written)}")
        op = " ".join(written.lower().replace("_", " ").split()).replace("array contains", "array_contains")
        op = op.replace("arrays overlap", "arrays_overlap")
        if "escape" in value and op.removeprefix("not ").split()[0] not in ("like", "ilike"):
            _fail(f"{path}.escape", "escape goes with like and ilike")
        if op in _ALONE:
            if "value" in value:
                _fail(f"{path}.value", f"{written!r} takes no value")
            operator, asked = _ALONE[op]
            family = "boolean" if operator not in ("is null", "is not null") else ""
            return Predicate(attribute, operator, family, () if asked is None else (asked,))
        if "value" not in value:
            _fail(path, f"{written!r} needs a value")
        tree = self._with_value(path, attribute, op, value)
        if tree is None:
            known = [*_COMPARISONS, *_LISTS, "like", "ilike", "rlike", "is null", "is true", "is false"]
            _fail(f"{path}.op", f"there is no operator {written!r}; there are {', '.join(known)}, and not with them")
        return tree

    def _attribute(self, path: str, value: Any) -> str:
        """A path with dots, a part in back-ticks if it has dots itself; or a list of its parts."""
        if type(value) is list and value and all(type(part) is str and part for part in value):
            names = list(value)
        elif type(value) is str and _path(value):
            names = [plain or inside.replace("``", "`") for inside, plain in _parts(value)]
        else:
            _fail(path, f"expected the name of an attribute, found {_shown(value)}")
        if any(has_half_characters(name) for name in names):
            _fail(path, "half a character (a lone surrogate) is not text")
        if not self._settings.case_sensitive:
            names[0] = names[0].lower()
        return attribute_text(names)

    def _with_value(self, path: str, attribute: str, op: str, value: _Object) -> Tree | None:
        """The predicate of an operator that takes a value; None if there is no such operator."""
        where, given = f"{path}.value", value["value"]
        if op in _COMPARISONS:
            return comparison(attribute, _COMPARISONS[op], self._literal(where, given))
        negated = op.startswith("not ")
        base = op.removeprefix("not ")
        if base in _LISTS:
            literals = self._literals(where, given, 0 if base == "arrays_overlap" else 1)
            if base == "in":
                return set_predicate(attribute, negated, literals)
            if base == "between":
                if len(literals) != 2:
                    _fail(where, f"between takes a list of two values, found {len(literals)}")
                return range_predicate(attribute, negated, *literals)
            tree = overlap_predicate(attribute, literals)
            if not negated:
                return tree
            return tree._replace(operator=INVERSE[tree.operator]) if type(tree) is Predicate else Not(tree)
        for ending, kind in _QUANTIFIERS.items():
            like = base.removesuffix(ending)
            if like != base and like in ("like", "ilike"):
                found = [
                    self._pattern(path, f"{where}[{i}]", attribute, like, negated, value, one)
                    for i, one in enumerate(self._list(where, given, 1))
                ]
                return joined(list(dict.fromkeys(found)), kind)
        if base in _PATTERNS:
            return self._pattern(path, where, attribute, _PATTERNS[base], negated, value, given)
        return None

    def _pattern(
        self, path: str, where: str, attribute: str, operator: str, negated: bool, value: _Object, given: Any
    ) -> Tree:
        if given is None:
            return UNDEFINED
        literal = self._literal(where, given)
        if literal.family != "text":
            _fail(where, f"the pattern of {operator} is a text, found {_shown(given)}")
        pattern = literal.text
        if operator != "rlike":
            escape = value.get("escape", "\\")
            if type(escape) is not str:
                _fail(f"{path}.escape", f"expected a text of one character, found {_shown(escape)}")
            try:
                pattern = like_pattern(pattern, escape, ignore_case=operator == "ilike")
            except Refused as refusal:
                _fail(where, str(refusal))
        return Predicate(attribute, INVERSE[operator] if negated else operator, "text", (pattern,))

    def _list(self, path: str, value: Any, least: int) -> list[Any]:
        if type(value) is not list or len(value) < least:
            _fail(path, f"expected a list{' of at least one value' if least else ''}, found {_shown(value)}")
        limit = self._settings.max_operands
        if len(value) > limit:
            _fail(path, f"{len(value)} values, more than {limit}; raise the setting max_operands to allow that")
        return value

    def _literals(self, path: str, value: Any, least: int) -> list[Literal]:
        return [self._literal(f"{path}[{i}]", one) for i, one in enumerate(self._list(path, value, least))]

    def _literal(self, path: str, value: Any) -> Literal:
        """A JSON value, or an object that names the family: {"date": "2024-02-29"}."""
        family = text = None
        if type(value) is _Object and len(value) == 1 and value.repeated is None:
            family, text = next(iter(value.items()))
            if family in FAMILIES and type(text) in (str, _Number):
                value = text
            else:
                family = None
        try:
            return self._of_family(family, value)
        except Refused as refusal:
            _fail(path, str(refusal))

    def _of_family(self, family: str | None, value: Any) -> Literal:
        if value is None:
            return NULL
        if type(value) is bool:
            return Literal("boolean", "true" if value else "false")
        if type(value) is str and has_half_characters(value):
            raise Refused("half a character (a lone surrogate) is not text")
        if family == "date":
            return date_literal(value)
        if family == "timestamp":
            return timestamp_literal(value, self._settings.time_zone)
        if family == "boolean" and value in ("true", "false"):
            return Literal(family, str(value))
        if family == "text" or (family is None and type(value) is str):
            return Literal("text", str(value))
        number = _number(value) if type(value) in (str, _Number) and family != "boolean" else None
        if number is None:
            forms = '18, 1.5, "text", true, null, {"date": "2024-02-29"} or {"timestamp": "2024-02-29 10:30:00"}'
            what = _shown(value) if family is None else f"{_shown(value)} for {family}"
            raise Refused(f"expected a literal like {forms}, found {what}")
        suffix = {"decimal": "BD", "double": "D", "integer": "L"}.get(family, "")
        return number_literal(number.group(2) + suffix, number.group(1) == "-")


# -- back to JSON ----------------------------------------------------------------------------------------------


def json_of(tree: Tree) -> Any:
    """A tree as a value that `json.dumps` takes, and of which `json_tree` makes the same tree."""
    waiting: list[Any] = [tree]
    done: list[Any] = []
    while waiting:
        item = waiting.pop()
        if type(item) is tuple:
            word, count = item
            operands = done[-count:]
            done[-count:] = [{word: operands[0] if word == "not" else operands}]
        elif type(item) is Predicate:
            done.append(_predicate_json(item))
        elif type(item) is Constant:
            done.append(item.value)
        else:
            operands = item.operands if type(item) in (And, Or) else tuple(item)
            waiting.append((type(item).__name__.lower(), len(operands)))
            waiting.extend(reversed(operands))
    return done[0]


def _predicate_json(predicate: Predicate) -> dict[str, Any]:
    attribute, operator, family, operands = predicate
    found: dict[str, Any] = {"attr": attribute, "op": operator}
    values = [_literal_json(family, operand) for operand in operands]
    if operator.removeprefix("not ") in _LISTS:
        found["value"] = values
    elif values:
        found["value"] = values[0]
    return found


def _literal_json(family: str, operand: str | None) -> Any:
    if operand is None or family == "text":
        return operand
    if family == "integer":
        return int(operand)
    return operand == "true" if family == "boolean" else {family: operand}
