"""Reading and writing files by the ending of their names."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from banyan.errors import ArgumentError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import types as T

FORMATS = {".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
_SPARK_PATH = ("://", "*", "?", "{")  # not a file of ours to look for: a store, or a pattern
# Quotes inside quotes are doubled, as spreadsheets and Python do it; a rule may run over several lines.
_CSV = {"header": True, "multiLine": True, "quote": '"', "escape": '"'}


def format_of(name: str) -> str | None:
    """The format that the ending names; compressed ones too."""
    return FORMATS.get(Path(name.removesuffix(".gz").removesuffix(".bz2")).suffix.lower())


def read(spark: SparkSession, name: str, infer: bool = False, schema: T.StructType | None = None) -> DataFrame:
    """The rows of a file, a Delta folder or a table. infer: types of csv columns from their values, else all text;
    schema: that of a JSON file, instead of what its values say."""
    is_local = not any(mark in name for mark in _SPARK_PATH)
    # Absolute, because the folder that Spark was started in need not be ours.
    path = os.path.abspath(name) if is_local else name
    if is_local and os.path.isdir(f"{path}/_delta_log"):
        return spark.read.format("delta").load(path)
    kind = format_of(name)
    if kind is None:
        return _table(spark, name)
    if is_local and not os.path.exists(path):
        raise ArgumentError(f"there is no file {name}{_near(name)}")
    if kind == "csv":
        return spark.read.options(**_CSV, inferSchema=infer).csv(path)
    return _json(spark, path, is_local, schema) if kind == "json" else spark.read.parquet(path)


def _table(spark: SparkSession, name: str) -> DataFrame:
    if os.path.exists(name):
        what = "a folder without Delta tables" if os.path.isdir(name) else "a file"
        raise ArgumentError(f"{name} is {what}; files end in {', '.join(FORMATS)}, a Delta folder has a _delta_log")
    if "://" in name:
        return spark.read.format("delta").load(name)
    if "/" in name or not spark.catalog.tableExists(name):
        raise ArgumentError(f"there is no file, Delta folder or table {name}{_near(name)}")
    return spark.table(name)


def _json(spark: SparkSession, name: str, is_local: bool, schema: T.StructType | None) -> DataFrame:
    frame = spark.read.option("multiLine", is_local and _is_array(name)).json(name, schema=schema)
    if "_corrupt_record" in frame.columns:
        raise ArgumentError(f'{name} has lines that are not JSON; each line is one object, as in {{"age": 31}}')
    return frame


def _is_array(name: str) -> bool:
    """Whether a JSON file is one array of objects instead of an object per line."""
    if os.path.isdir(name) or not name.endswith((".json", ".jsonl", ".ndjson")):
        return False
    with open(name, encoding="utf-8-sig", errors="replace") as file:
        return file.read(1000).lstrip()[:1] == "["


def _near(name: str) -> str:
    """A hint at a file of almost that name."""
    folder, base = os.path.split(name)
    try:
        near = difflib.get_close_matches(base, os.listdir(folder or "."), 1)
    except OSError:
        return ""
    return f"; did you mean {os.path.join(folder, near[0])}?" if near else ""


def read_rules(spark: SparkSession, name: str, id: str, expression: str) -> DataFrame:
    """Rules with their columns under the names that an index wants, JSON trees as text."""
    from pyspark.sql import types as T

    from banyan.store.rules import as_rules

    rules = read(spark, name)
    if format_of(name) == "json" and expression in rules.columns:
        kind = rules.schema[expression].dataType
        if not isinstance(kind, T.StringType):
            # Trees inside of the lines: read as their text, because as columns 18 and "DE" would be of one type.
            fields = [T.StructField(f.name, T.StringType()) if f.name == expression else f for f in rules.schema]
            rules = read(spark, name, schema=T.StructType(fields))
    return as_rules(rules, id, expression, name)


def with_ids_as(rules: DataFrame, kind: T.DataType, name: str) -> DataFrame:
    """Rules with ids of the type that an index has: in a csv file all columns are text."""
    from pyspark.sql import functions as F

    if rules.schema["expression_id"].dataType.typeName() != "string" or kind.typeName() == "string":
        return rules
    cast = F.col("expression_id").try_cast(kind)
    wrong = rules.where(cast.isNull() & F.col("expression_id").isNotNull()).select("expression_id").first()
    if wrong is not None:
        raise ArgumentError(f"{name} has the id {wrong[0]!r}; the ids of this index are {kind.simpleString()}")
    return rules.withColumn("expression_id", cast)


def check_new(name: str, overwrite: bool) -> None:
    """Raises, before any work is done, if a file cannot be written there."""
    if os.path.exists(name) and not overwrite:
        raise ArgumentError(f"{name} is there already; give --overwrite to replace it, or another name")
    folder = os.path.dirname(os.path.abspath(name))
    if "://" not in name and not os.path.isdir(folder):
        raise ArgumentError(f"there is no folder {folder} to write {os.path.basename(name)} into")


def write(frame: DataFrame, name: str, kind: str) -> None:
    """All rows as a file: csv and json as one file, parquet as a folder of them. It appears when it is whole."""
    if kind == "csv":
        frame = frame.select(*(_csv_column(frame, field.name) for field in frame.schema.fields))
    if "://" in name:
        _save(frame, kind, name)
        return
    folder = tempfile.mkdtemp(prefix=f".{Path(name).name}-", dir=os.path.dirname(os.path.abspath(name)))
    try:
        made = Path(folder, "made")
        _save(frame if kind == "parquet" else frame.coalesce(1), kind, str(made))
        if kind != "parquet":
            made = next(made.glob("part-*"))
        if os.path.isdir(name):
            shutil.rmtree(name)
        elif os.path.exists(name):
            os.remove(name)
        os.replace(made, name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _save(frame: DataFrame, kind: str, path: str) -> None:
    options = {"header": True, "quote": '"', "escape": '"'} if kind == "csv" else {}
    frame.write.mode("overwrite").options(**options).format(kind).save(path)


def _csv_column(frame: DataFrame, name: str) -> Column:
    """csv knows no lists: they are written as JSON."""
    from pyspark.sql import functions as F

    nested = frame.schema[name].dataType.typeName() in ("array", "struct", "map", "variant")
    return F.to_json(name).alias(name) if nested else F.col(f"`{name}`")
