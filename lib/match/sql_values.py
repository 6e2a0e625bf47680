"""The values of an event, as SQL text: an array of (attribute, part, kind, l, d, t, shown) structs.

In: the types of the events' columns and the attributes that rules use. The text is the same for a match by the engine
and for one that is written out as plain SQL. Kinds and parts are those of the comparison tables; whole numbers, also
Booleans, days and microseconds, are in `l`, floats in `d`, texts and decimals in `t`; `shown` is what LIKE sees.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import types as T

from banyan.errors import EventsError
from banyan.language.attributes import attribute_parts
from banyan.language.render import text_sql

VALUE = "STRUCT<attribute: INT, part: STRING, kind: STRING, l: BIGINT, d: DOUBLE, t: STRING, shown: STRING>"
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


class Source(NamedTuple):
    """Where an attribute is found: the SQL that reaches it and its type."""

    sql: str
    type: T.DataType


def name_sql(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def sources(schema: T.StructType, attributes: Mapping[str, int], case_sensitive: bool) -> dict[int, Source]:
    """For each attribute that wide events have, by its number, where it is; the events go by the alias `e`."""
    found = {number: _resolve(schema, attribute_parts(a), case_sensitive) for a, number in attributes.items()}
    return {number: source for number, source in found.items() if source is not None}


def values_sql(found: Mapping[int, Source], like: Collection[int]) -> str:
    """All values of an event as one array. like: the attributes of which LIKE asks."""
    scalars, lists = [], []
    for number, source in found.items():
        one = _Value(str(number), number in like)
        if isinstance(source.type, (T.ArrayType, T.VariantType)):
            lists.append(one.array(source))
        else:
            scalars.append(one.scalar(source, "scalar"))
    parts = [f"filter(array({', '.join(scalars)}), v -> v IS NOT NULL)"] if scalars else []
    return f"CAST(concat({', '.join([*parts, *lists, 'array()'])}) AS ARRAY<{VALUE}>)"


def value_sql(number: str, source: Source, like: bool) -> str:
    """The values of one row of long-form events, whose attribute's number is the SQL `number`."""
    one = _Value(number, like)
    if isinstance(source.type, (T.ArrayType, T.VariantType)):
        return f"CAST({one.array(source)} AS ARRAY<{VALUE}>)"
    return f"CAST(filter(array({one.scalar(source, 'scalar')}), v -> v IS NOT NULL) AS ARRAY<{VALUE}>)"


class _Value(NamedTuple):
    number: str
    like: bool

    def struct(self, part: str, kind: str, l="NULL", d="NULL", t="NULL", shown="NULL") -> str:  # noqa: E741
        """kind: SQL."""
        shown = shown if self.like else "NULL"
        return (
            f"named_struct('attribute', {self.number}, 'part', '{part}', 'kind', {kind}, 'l', CAST({l} AS BIGINT), "
            f"'d', CAST({d} AS DOUBLE), 't', CAST({t} AS STRING), 'shown', CAST({shown} AS STRING))"
        )

    def scalar(self, source: Source, part: str) -> str:
        """The struct of a value of a typed column; NULL where it is NULL."""
        x, kind = source
        if isinstance(kind, T.IntegralType):
            made = self.struct(part, "'integer'", l=x, shown=x)
        elif isinstance(kind, T.DecimalType):
            made = self.struct(part, "'decimal'", t=x, shown=x)
        elif isinstance(kind, (T.FloatType, T.DoubleType)):
            made = self.struct(part, "'double'", d=x, shown=x)
        elif isinstance(kind, (T.StringType, T.CharType, T.VarcharType)):
            made = self.struct(part, "'text'", t=x, shown=x)
        elif isinstance(kind, T.BooleanType):
            made = self.struct(part, "'boolean'", l=f"CAST({x} AS INT)", shown=x)
        elif isinstance(kind, T.DateType):
            made = self.struct(part, "'date'", l=f"unix_date({x})", shown=x)
        elif isinstance(kind, T.TimestampType):
            made = self.struct(part, "'timestamp'", l=f"unix_micros({x})", shown=x)
        elif isinstance(kind, T.TimestampNTZType):
            made = self.struct(part, "'timestamp_ntz'", l=f"timestampdiff(MICROSECOND, {_EPOCH}, {x})", shown=x)
        else:
            # Present, but nothing it could be compared with: only IS [NOT] NULL sees it.
            made = self.struct(part, "'other'")
        return f"CASE WHEN {x} IS NOT NULL THEN {made} END"

    def array(self, source: Source) -> str:
        """The structs of a list or a variant, as an array."""
        x, kind = source
        if isinstance(kind, T.ArrayType):
            element = kind.elementType
            if isinstance(element, T.VariantType):
                listed = self.listed(x, self.variant("e"))
            else:
                listed = self.listed(x, self.scalar(Source("e", element), "element"))
            return f"CASE WHEN {x} IS NULL THEN array() ELSE {listed} END"
        held = f"schema_of_variant({x})"
        listed = self.listed(f"try_variant_get({x}, '$', 'array<variant>')", self.variant("e"))
        return (
            f"CASE WHEN {x} IS NULL OR {held} = 'VOID' THEN array() WHEN {held} LIKE 'ARRAY<%' THEN {listed} "
            f"ELSE array({self.variant(x, 'scalar')}) END"
        )

    def listed(self, x: str, element: str) -> str:
        """A list is there; it has elements; it has a NULL element; and each element."""
        there, filled, null = (self.struct(part, "'list'") for part in ("list", "filled", "has null"))
        return (
            f"concat(array({there}), CASE WHEN size({x}) > 0 THEN array({filled}) ELSE array() END, "
            f"CASE WHEN exists(transform({x}, e -> {element}), v -> v IS NULL) THEN array({null}) ELSE array() END, "
            f"filter(transform({x}, e -> {element}), v -> v IS NOT NULL))"
        )

    def variant(self, x: str, part: str = "element") -> str:
        """The struct of the scalar that a variant holds."""
        held = f"schema_of_variant({x})"

        def get(kind: str) -> str:
            return f"try_variant_get({x}, '$', '{kind}')"

        kinds = {
            "BIGINT": self.struct(part, "'integer'", l=get("bigint"), shown=get("bigint")),
            "DOUBLE": self.struct(part, "'double'", d=get("double"), shown=get("double")),
            "FLOAT": self.struct(part, "'double'", d=get("float"), shown=get("float")),
            "STRING": self.struct(part, "'text'", t=get("string"), shown=get("string")),
            "BOOLEAN": self.struct(part, "'boolean'", l=f"CAST({get('boolean')} AS INT)", shown=get("boolean")),
            "DATE": self.struct(part, "'date'", l=f"unix_date({get('date')})", shown=get("date")),
            "TIMESTAMP": self.struct(part, "'timestamp'", l=f"unix_micros({get('timestamp')})", shown=get("timestamp")),
            "TIMESTAMP_NTZ": self.struct(
                part,
                "'timestamp_ntz'",
                l=f"timestampdiff(MICROSECOND, {_EPOCH}, {get('timestamp_ntz')})",
                shown=get("timestamp_ntz"),
            ),
        }
        branches = " ".join(f"WHEN {held} = '{name}' THEN {made}" for name, made in kinds.items())
        decimal = self.struct(part, "'decimal'", t=get("string"), shown=get("string"))
        return (
            f"CASE WHEN {x} IS NULL OR {held} = 'VOID' THEN NULL {branches} "
            f"WHEN {held} LIKE 'DECIMAL%' THEN {decimal} ELSE {self.struct(part, repr('other'))} END"
        )


def _resolve(schema: T.StructType, parts: Sequence[str], case_sensitive: bool) -> Source | None:
    field = _field(schema, parts[0], case_sensitive)
    if field is None:
        return None
    sql, kind = f"e.{name_sql(field.name)}", field.dataType
    for i, part in enumerate(parts[1:], 1):
        if isinstance(kind, T.VariantType):
            path = "$" + "".join("['" + p.replace("\\", "\\\\").replace("'", "\\'") + "']" for p in parts[i:])
            return Source(f"try_variant_get({sql}, {text_sql(path)}, 'variant')", kind)
        if isinstance(kind, T.MapType) and isinstance(kind.keyType, T.StringType):
            sql, kind = f"try_element_at({sql}, {text_sql(part)})", kind.valueType
            continue
        inside = kind.elementType if isinstance(kind, T.ArrayType) else kind
        if not isinstance(inside, T.StructType):
            return None
        # Below the first part names are resolved as Spark does it, which is without regard to case.
        below = _field(inside, part, False)
        if below is None:
            return None
        sql = f"{sql}.{name_sql(below.name)}"
        kind = T.ArrayType(below.dataType) if isinstance(kind, T.ArrayType) else below.dataType
    return Source(sql, kind)


def _field(schema: T.StructType, name: str, case_sensitive: bool) -> T.StructField | None:
    exact = [field for field in schema.fields if field.name == name]
    if exact or case_sensitive:
        return exact[0] if exact else None
    close = [field for field in schema.fields if field.name.lower() == name.lower()]
    if len(close) > 1:
        names = ", ".join(field.name for field in close)
        raise EventsError(f"the events have several columns for attribute {name!r}: {names}; keep one")
    return close[0] if close else None
