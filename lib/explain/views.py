"""Views of an index for analysts, pinned to a version: what the rules say, which tests they share, what changed.

Each view is a file of `sql/views/`, whose header is its comment; the ready queries of `sql/queries/` read only them.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from banyan.errors import ArgumentError, VersionNotFound
from banyan.language.operands import NOT_ONLY_NAMES
from banyan.language.render import text_sql
from banyan.language.tokens import RESERVED
from banyan.match import sql_files
from banyan.store import history, versions
from banyan.store.tables import PINNED, VERSIONS

if TYPE_CHECKING:
    from banyan.index import Index

VIEWS = (
    "expression_texts",
    "expression_predicates",
    "predicate_uses",
    "node_sharing",
    "published_versions",
    "expression_history",
)
# Texts of nodes above this level, and of versions before these, are not written out.
HIGHEST = 30
VERSIONS_SHOWN = 10


def create(index: Index, schema: str | None) -> list[str]:
    """Create or replace the views; their names. None: temporary views, gone with the session."""
    if schema is not None:
        index.spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    for statement in statements(index, schema):
        index.spark.sql(statement)
    return [_name(schema, view) for view in VIEWS]


def statements(index: Index, schema: str | None) -> list[str]:
    """The SQL that creates them, a statement each."""
    texts = {name: index.table_sql(name) for name in PINNED}
    texts[VERSIONS] = f"(SELECT * FROM {index._place.name(VERSIONS)} WHERE version <= {index.version})"
    texts |= {view: _name(schema, view) for view in VIEWS}
    texts["reserved"] = ", ".join(text_sql(word) for word in sorted(RESERVED | NOT_ONLY_NAMES))
    texts["name"] = "(" + _filled(_text("views", "predicate_name"), texts) + ")"
    texts["literals"] = _text("views", "predicate_literals")
    texts["predicate_text"] = "(" + _filled(_text("views", "predicate_text"), texts) + ")"
    found = []
    for view in VIEWS:
        own = dict(texts)
        if view == "expression_predicates":
            own |= _chain(index, "reached", "edges", "parent_level", texts)
        elif view == "expression_texts":
            own |= _chain(index, "texts", "nodes", "logical_level", texts)
        elif view == "expression_history":
            own["versions_of_expressions"] = _history(index)
        kind = "VIEW" if schema is not None else "TEMPORARY VIEW"
        about = text_sql(f"{_header(view)} Version {index.version} of {index.where}.")
        sql = _filled(_text("views", view), own)
        found.append(f"CREATE OR REPLACE {kind} {_name(schema, view)}\nCOMMENT {about}\nAS\n{sql}")
    return found


def queries() -> dict[str, str]:
    """The ready queries by name, each with the question it answers as a comment."""
    folder = resources.files("banyan.sql").joinpath("queries")
    found = {file.name.removesuffix(".sql"): file.read_text("utf-8") for file in folder.iterdir()}
    return dict(sorted(found.items()))


def query(name: str) -> str:
    """One of the ready queries."""
    known = queries()
    if name not in known:
        raise ArgumentError(f"there is no query {name!r}; there are {', '.join(known)}")
    return known[name]


def _chain(index: Index, name: str, table: str, column: str, texts: dict[str, str]) -> dict[str, str]:
    """Common table expressions that go up the index level by level, each reading only the one below it."""
    rows = index.table(table).select(column).distinct().orderBy(column).collect()
    if name == "reached":
        kept, first = sql_files.relation("still_needed"), "SELECT node_id, node_id AS predicate_id FROM {predicates}"
    else:
        rows = [row for row in rows if row[0] <= HIGHEST]
        kept = _text("views", "still_used")
        first = "SELECT node_id, {predicate_text} AS text, FALSE AS compound FROM {predicates}"
    parts = {"kept": kept, f"{name}_1": first}
    below = f"{name}_1"
    for (level,) in rows:
        step = _text("views", f"{name}_step")
        step = _filled(step, {"below": below, "level": str(level), "still_needed": "kept", "still_used": "kept"})
        below = f"{name}_{level}"
        parts[below] = step
    steps = ",\n".join(f"{part} AS (\n{_filled(sql, texts)}\n)" for part, sql in parts.items())
    return {"steps": steps, name: below}


def _history(index: Index) -> str:
    """The expressions of the latest versions, together."""
    id_type = index.expressions().schema["expression_id"].dataType.simpleString()
    found = []
    listed = [version for version in versions.listed(index._place) if version.version <= index.version]
    for version in listed[-VERSIONS_SHOWN:]:
        try:
            history.require_readable(index._place, version)
        except VersionNotFound:
            continue
        table = f"{index._place.name('expressions')} VERSION AS OF {version.table_versions['expressions']}"
        found.append(
            f"SELECT {version.version} AS version, try_cast(expression_id AS {id_type}) AS expression_id, expression "
            f"FROM {table}"
        )
    return "\nUNION ALL\n".join(found)


def _name(schema: str | None, view: str) -> str:
    return view if schema is None else f"{schema}.{view}"


def _text(folder: str, name: str) -> str:
    text = resources.files("banyan.sql").joinpath(f"{folder}/{name}.sql").read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def _header(view: str) -> str:
    text = resources.files("banyan.sql").joinpath(f"views/{view}.sql").read_text("utf-8")
    return " ".join(line[2:].strip() for line in text.splitlines() if line.startswith("--"))


def _filled(sql: str, texts: dict[str, str]) -> str:
    for name, text in texts.items():
        sql = sql.replace("{" + name + "}", text)
    return sql
