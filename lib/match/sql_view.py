"""The match written out as one plain SQL query, for a version of an index and a table of events.

In: the names of the pinned tables and what the events look like. Out: common table expressions, one per relation of
`sql/match/` and one per level, that run wherever Spark SQL and Delta do, without this package.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from banyan.errors import ArgumentError
from banyan.language.render import text_sql
from banyan.match import events as numbers
from banyan.match import sql_events, sql_files, sql_values

if TYPE_CHECKING:
    from banyan.index import Index

# No table of the user's has such a name, so none is hidden.
_PREFIX = "banyan_"
# What several others read is computed once: Spark copies a common table expression into each place that names it unless
# it is not deterministic. (Where an engine copies it all the same, the answers are as right, only later.)
_SHARED = frozenset(("ends", "numbers", "keyed", "cuts", "runs", "met"))
_ONCE = re.compile(r"\s*(?:Run once|Once|Only) (?:per|for) [^.]*\.")


class _Query:
    """The common table expressions of a query, in their order."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._names: set[str] = set()

    def add(self, name: str, sql: str, about: str = "") -> None:
        comment = "".join(f"-- {line}\n" for line in about.splitlines())
        indented = "\n".join("  " + line for line in sql.splitlines())
        self._parts.append(f"{comment}{_PREFIX}{name} AS (\n{indented}\n)")
        self._names.add(name)

    def relation(self, name: str, alias: str | None = None, **texts: str) -> None:
        """A file of `sql/match/` over the expressions that are there already; `texts` stand for other names in it."""
        sql = self.filled(name, **texts)
        if (alias or name) in _SHARED:
            sql = f"SELECT * FROM (\n{sql}\n) WHERE rand() >= 0"
        self.add(alias or name, sql, _ONCE.sub("", sql_files.header(name)))

    def filled(self, name: str, **texts: str) -> str:
        sql = sql_files.relation(name)
        for read in sql_files.reads(name):
            if read not in texts and read not in self._names:
                raise KeyError(f"{name} reads {read}, which is not there")
            sql = sql.replace("{" + read + "}", texts.get(read, _PREFIX + read))
        return sql

    def text(self, last: str) -> str:
        return "WITH\n" + ",\n".join(self._parts) + "\n" + last


def match_sql(
    index: Index,
    events_table: str,
    id: str = "event_id",
    attribute: str | None = None,
    value: str | None = None,
    output: str = "pairs",
    where: str | None = None,
    keep: list[str] | None = None,
    zeros: bool = False,
) -> str:
    """The query; its arguments are those of `Index.match`, checked in the same way."""
    from banyan.match.call import _check_arguments, _check_where
    from banyan.match.plan import check_columns

    keep = keep or []
    _check_arguments(output, "sql", attribute, value, zeros, keep)
    if where is not None and not isinstance(where, str):
        raise ArgumentError("where is SQL text here: a query that is written out holds no Column")
    expressions, predicates = index.expressions(), index.table("predicates")
    check_columns(expressions, keep)
    if where is not None:
        _check_where(expressions, where)
    operators = {row["operator"] for row in predicates.select("operator").distinct().collect()}
    used = predicates.groupBy("attribute").agg(F.max(F.col("operator").endswith("like")).alias("like"))
    rows = used.orderBy("attribute").collect()
    attributes = {row["attribute"]: number for number, row in enumerate(rows)}
    like = frozenset(number for number, row in enumerate(rows) if row["like"])

    query = _Query()
    columns = ", ".join(["node_id", "expression_id", *map(sql_values.name_sql, keep)])
    kept = f"SELECT {columns} FROM {index.table_sql('expressions')}" + (f"\nWHERE {where}" if where else "")
    query.add("expressions", kept, "The expressions that are asked for.")
    query.add("predicates", f"SELECT * FROM {index.table_sql('predicates')}")
    query.add("edges", f"SELECT * FROM {index.table_sql('edges')}")
    query.add("attributes", _pairs(attributes.items(), "attribute, number"), "The attributes of the predicates.")
    query.add("comparison", sql_files.comparison(), "In which type a value of a kind meets a literal of a family.")
    for name in ("literals", "ends", "tests", "bounds", "lanes", "shared", "patterns", "refusals"):
        query.relation(name)
    _events(query, index, events_table, id, attribute, value, attributes, like)
    _leaves(query, operators)
    query.relation("still_needed")
    below = "leaves"
    for row in index.table("edges").select("parent_level").distinct().orderBy("parent_level").collect():
        level = row["parent_level"]
        query.relation("step", f"level_{level}", below=_PREFIX + below, level=str(level))
        below = f"level_{level}"
    found, kept_columns = _PREFIX + below, "".join(f", x.{sql_values.name_sql(name)}" for name in keep)
    if output == "counts":
        query.relation("counted", found=found)
        return query.text(query.filled("counts", join="LEFT" if zeros else "INNER", keep=kept_columns))
    query.relation("unfolded", found=found)
    return query.text(query.filled(output, keep=kept_columns) if output == "pairs" else query.filled(output))


def _events(
    query: _Query,
    index: Index,
    table: str,
    id: str,
    attribute: str | None,
    value: str | None,
    attributes: dict[str, int],
    like: frozenset[int],
) -> None:
    events = index.spark.sql(f"SELECT * FROM {table}")
    numbers._id_column(events, id)
    case_sensitive = index.settings.case_sensitive
    if attribute is None:
        found = sql_values.sources(events.schema, attributes, case_sensitive)
        query.relation(
            "copied",
            events=table,
            id=f"e.{sql_values.name_sql(id)}",
            key=sql_events.key_sql(events.schema, id),
            value=sql_values.values_sql(found, like),
        )
    else:
        sql_events.check_long(events, attribute, value)
        query.add("known", _pairs(sql_events.known_names(attributes), "name, number"))
        texts = sql_events.long_texts(events.schema, id, attribute, value, bool(like), case_sensitive)
        query.relation("gathered", "copied", events=table, **texts)
    query.relation("numbered_events", "numbers", events=table)


def _leaves(query: _Query, operators: set[str]) -> None:
    """Only the relations that the predicates at hand need."""
    for name in ("everyone", "values", "keyed", "cuts", "runs", "segments"):
        query.relation(name)
    pieces = f"SELECT * FROM {_PREFIX}segments"
    if operators & {"is null", "is not null", "not <=>"}:
        query.relation("met")
        query.relation("whole")
        pieces += f" UNION ALL SELECT * FROM {_PREFIX}whole"
    query.add("pieces", pieces)
    query.relation("asks")
    query.relation("united", hint="", group="a.node_id, a.block")
    if any(operator.endswith("like") or operator.startswith("not array") for operator in operators):
        query.relation("matched")
    else:
        query.add("matched", f"SELECT * FROM {_PREFIX}united WHERE FALSE")
    query.relation("leaves")


def _pairs(rows, names: str) -> str:
    values = ",\n  ".join(f"({text_sql(text)}, {number})" for text, number in rows)
    if not values:
        return f"SELECT * FROM VALUES ('', -1) AS t({names}) WHERE FALSE"
    return f"SELECT * FROM VALUES\n  {values}\nAS t({names})"
