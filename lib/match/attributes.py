"""Where in a row an attribute is, and in which form its value goes on.

Values go on in one of few forms, whatever the column's type: whole numbers (also Booleans as 0 and 1, dates as days,
timestamps as microseconds) as BIGINT, floats as DOUBLE, texts and decimals as STRING. The *kind* says what they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from banyan.errors import EventsError
from banyan.language.comparison import KINDS

# The code under which a kind travels. A float is compared as a double, but as text it looks different, so LIKE has to
# know. VARIANT is no kind of a value but of a column: each row has its own.
CODED = (*KINDS, "float")
CODE = {kind: code for code, kind in enumerate(CODED)}
VARIANT = "variant"

_EPOCH_NTZ = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


class Form(NamedTuple):
    """How the values of a column go on: their kind, and for lists the kind of the elements."""

    kind: str
    element: str = ""


class Found(NamedTuple):
    column: Column
    type: T.DataType


def resolve(schema: T.StructType, parts: Sequence[str], case_sensitive: bool) -> Found | None:
    """The column or the field, map entry or variant path that an attribute names; None if the rows have none such."""
    field = _field(schema, parts[0], case_sensitive)
    if field is None:
        return None
    column, kind = F.col(quoted(field.name)), field.dataType
    for i, part in enumerate(parts[1:], 1):
        if isinstance(kind, T.VariantType):
            path = "$" + "".join("['" + p.replace("\\", "\\\\").replace("'", "\\'") + "']" for p in parts[i:])
            return Found(F.try_variant_get(column, path, "variant"), kind)
        if isinstance(kind, T.MapType) and isinstance(kind.keyType, T.StringType):
            column, kind = column[F.lit(part)], kind.valueType
            continue
        inside = kind.elementType if isinstance(kind, T.ArrayType) else kind
        if not isinstance(inside, T.StructType):
            return None
        # Below the first part names are resolved as Spark does it, which is without regard to case.
        below = _field(inside, part, False)
        if below is None:
            return None
        column = column.getField(below.name)
        kind = T.ArrayType(below.dataType) if isinstance(kind, T.ArrayType) else below.dataType
    return Found(column, kind)


def normalised(found: Found) -> tuple[Form, Column]:
    """The value in the form in which it goes on."""
    column, kind = found
    if isinstance(kind, T.VariantType):
        return Form(VARIANT), _variant(column)
    if isinstance(kind, T.ArrayType):
        if isinstance(kind.elementType, T.VariantType):
            return Form("list", VARIANT), F.transform(column, _variant_scalar)
        element, _ = _scalar(F.lit(None), kind.elementType)
        return Form("list", element), F.transform(column, lambda x: _scalar(x, kind.elementType)[1])
    name, value = _scalar(column, kind)
    return Form(name), value


def _scalar(column: Column, kind: T.DataType) -> tuple[str, Column]:
    if isinstance(kind, T.IntegralType):
        return "integer", column.cast("long")
    if isinstance(kind, T.DecimalType):
        return "decimal", column.cast("string")
    if isinstance(kind, (T.FloatType, T.DoubleType)):
        return "float" if isinstance(kind, T.FloatType) else "double", column.cast("double")
    if isinstance(kind, (T.StringType, T.CharType, T.VarcharType)):
        return "text", column.cast("string")
    if isinstance(kind, T.BooleanType):
        return "boolean", column.cast("int").cast("long")
    if isinstance(kind, T.DateType):
        return "date", F.unix_date(column).cast("long")
    if isinstance(kind, T.TimestampType):
        return "timestamp", F.unix_micros(column)
    if isinstance(kind, T.TimestampNTZType):
        return "timestamp_ntz", F.timestamp_diff("MICROSECOND", F.expr(_EPOCH_NTZ), column)
    # Present, but nothing it could be compared with: only IS [NOT] NULL sees it.
    return "other", F.when(column.isNotNull(), F.lit(1).cast("long"))


def _variant(column: Column) -> Column:
    """struct<kind, l, d, t, list>: each row of a variant column has a type of its own."""
    name = F.schema_of_variant(column)
    elements = F.transform(F.try_variant_get(column, "$", "array<variant>"), _variant_scalar)
    return F.when(
        column.isNotNull() & (name != "VOID"),
        F.struct(*_variant_fields(column, name), F.when(name.startswith("ARRAY<"), elements).alias("list")),
    )


def _variant_scalar(column: Column) -> Column:
    name = F.schema_of_variant(column)
    return F.when(column.isNotNull() & (name != "VOID"), F.struct(*_variant_fields(column, name)))


def _variant_fields(column: Column, name: Column) -> list[Column]:
    def get(type_name: str) -> Column:
        return F.try_variant_get(column, "$", type_name)

    def code(kind: str) -> Column:
        return F.lit(CODE[kind]).cast("byte")

    kind = (
        F.when(name == "BIGINT", code("integer"))
        .when(name.startswith("DECIMAL"), code("decimal"))
        .when(name == "DOUBLE", code("double"))
        .when(name == "FLOAT", code("float"))
        .when(name == "STRING", code("text"))
        .when(name == "BOOLEAN", code("boolean"))
        .when(name == "DATE", code("date"))
        .when(name == "TIMESTAMP", code("timestamp"))
        .when(name == "TIMESTAMP_NTZ", code("timestamp_ntz"))
        .when(name.startswith("ARRAY<"), code("list"))
        .otherwise(code("other"))
    )
    whole = (
        F.when(name == "BIGINT", get("bigint"))
        .when(name == "BOOLEAN", get("boolean").cast("int").cast("long"))
        .when(name == "DATE", F.unix_date(get("date")).cast("long"))
        .when(name == "TIMESTAMP", F.unix_micros(get("timestamp")))
        .when(name == "TIMESTAMP_NTZ", F.timestamp_diff("MICROSECOND", F.expr(_EPOCH_NTZ), get("timestamp_ntz")))
    )
    text = F.when((name == "STRING") | name.startswith("DECIMAL"), get("string"))
    double = F.when(name.isin("DOUBLE", "FLOAT"), get("double"))
    return [kind.alias("kind"), whole.alias("l"), double.alias("d"), text.alias("t")]


def _field(schema: T.StructType, name: str, case_sensitive: bool) -> T.StructField | None:
    exact = [field for field in schema.fields if field.name == name]
    if exact or case_sensitive:
        return exact[0] if exact else None
    close = [field for field in schema.fields if field.name.lower() == name.lower()]
    if len(close) > 1:
        names = ", ".join(field.name for field in close)
        raise EventsError(f"the events have several columns for attribute {name!r}: {names}; keep one")
    return close[0] if close else None


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
