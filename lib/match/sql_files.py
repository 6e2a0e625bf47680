"""The relations of the SQL engine: one file of `sql/match/` each, with the relations it reads in braces.

They are put together in two ways: by the engine, which runs one after the other (sql_engine.py), and by the writer of
plain SQL, which makes a common table expression of each (sql_view.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from string import Formatter
from typing import TYPE_CHECKING

from banyan.language.comparison import COMPARISON, LIST_COMPARISON
from banyan.language.render import text_sql
from banyan.language.tree import FAMILIES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BLOCK = 32_768  # events of one bitmap: what Spark's bitmap functions hold
# A lane is an attribute and a way to compare its values: attribute * WAYS + way.
WAYS = 128


@cache
def relation(name: str) -> str:
    """The SQL of a relation, without its header."""
    text = resources.files("banyan.sql").joinpath(f"match/{name}.sql").read_text("utf-8")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("--")).strip()
    return _decimal_key.sub(lambda found: relation("decimal_key").replace("text", found[1]), body)


_decimal_key = re.compile(r"decimal_key\(([\w.]+)\)")


def header(name: str) -> str:
    """What a relation says of itself."""
    text = resources.files("banyan.sql").joinpath(f"match/{name}.sql").read_text("utf-8")
    lines = text.splitlines()
    count = next(i for i, line in enumerate(lines) if not line.startswith("--"))
    return "\n".join(line[2:].strip() for line in lines[:count])


def reads(name: str) -> list[str]:
    """The names in braces."""
    return list(dict.fromkeys(field for _, field, _, _ in Formatter().parse(relation(name)) if field))


@cache
def comparison() -> str:
    """(part, kind, family, meeting, way): the type in which a value of a kind meets a literal of a family.

    A way is a number for (part, kind, meeting); `absent` and `present` are sets that several predicates share.
    """
    ways: dict[tuple[str, str, str], int] = {}
    rows = []
    for part, table in (("scalar", COMPARISON), ("element", LIST_COMPARISON)):
        for (kind, family), meeting in table.items():
            way = ways.setdefault((part, kind, meeting), len(ways))
            rows.append((part, kind, family, meeting, way))
    for family in ("", *FAMILIES):
        rows.append(("absent", "", family, "", ways.setdefault(("absent", family, ""), len(ways))))
    rows.append(("present", "", "", "", len(ways)))
    assert len(ways) < WAYS
    values = ",\n  ".join("(" + ", ".join(text_sql(x) for x in row[:-1]) + f", {row[-1]})" for row in rows)
    return f"SELECT * FROM VALUES\n  {values}\nAS comparison(part, kind, family, meeting, way)"


def run(spark: SparkSession, name: str, frames: Mapping[str, DataFrame], **texts: str) -> DataFrame:
    """The relation over the frames it reads. texts: what stands for other names in braces."""
    text = relation(name)
    for key, value in texts.items():
        # A name of the user's may have braces of its own.
        text = text.replace("{" + key + "}", value.replace("{", "{{").replace("}", "}}"))
    return spark.sql(text, **{key: frames[key] for key in reads(name) if key not in texts})
