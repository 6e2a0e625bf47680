"""A small change, worked out on the driver: only what is around it is read from the tables, and written to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.build import check, loaded
from banyan.build.loaded import Loaded
from banyan.build.patterns import bad_patterns, refuse_patterns
from banyan.build.rows import EDGES, NODES, PREDICATES, frequencies_in, frequencies_of, to_arrow
from banyan.build.stored import Tables, TooLarge
from banyan.build.update import Changed, Changes, Collision, Stored, changes
from banyan.columns import ADDED_IN, EXPRESSION, EXPRESSION_ID, NODE_ID
from banyan.errors import ExpressionError
from banyan.language.parser import parse
from banyan.language.tree import Predicate
from banyan.normal.canonical import Canonical
from banyan.normal.frequencies import Frequencies
from banyan.normal.ids import FALSE_ID, TRUE_ID
from banyan.progress import Steps
from banyan.store.local import frame_of
from banyan.store.materialise import Scratch
from banyan.store.settings import IndexSettings
from banyan.store.statements import together
from banyan.store.versions import Version, Write

if TYPE_CHECKING:
    from banyan.build.change import Request


# Rows up to which a table is written whole, in one file: that takes less than marking rows in it, and scatters less.
WHOLE = 20_000


class Rebuild(Exception):
    """The change cannot be worked out from its neighbourhood: build the tables afresh. Never reaches a user."""

    def __init__(self, next_seed: bool = False):
        self.next_seed = next_seed


class _Asked(NamedTuple):
    """The rows of a request, column by column, and those of the index that have the same ids."""

    ids: pa.ChunkedArray
    shown: list[str | None]
    texts: list[str | None]
    there: dict[Any, tuple[str, int]]


def small(work: Write, request: Request, scratch: Scratch, steps: Steps) -> Version:
    """Publish what the request makes of the head. Raises RulesError, and writes nothing, where something is bad."""
    settings = IndexSettings.from_map(work.head.settings)
    virgin = work.head.counts["expressions"] == 0
    if not virgin:
        check.check_types(request.given, work.table("expressions"))
    with steps.step("parse"):
        asked = _asked(work, request.given, virgin)
        parsed = _Parsed(settings, frequencies_of(work))
        roots = [None] * len(asked.ids)
        if request.operation != "remove":
            roots = [parsed.root(text) for text in asked.texts]
            parsed.refuse_patterns(scratch, roots, asked.texts)
        bad = _problems(request, asked, roots)
    if bad and request.on_error == "fail":
        check.refuse(sorted(bad, key=_in_order)[: check.SHOWN], len(bad), request.operation)
    refused = {row[0] for row in bad}
    good = [shown not in refused for shown in asked.shown]
    going = asked.there if request.operation != "add" else {}
    if bad:
        kept = set(asked.ids.filter(pa.array(good)).to_pylist())
        going = {i: was for i, was in going.items() if i in kept}
    coming = [root for root, keep in zip(roots, good) if keep and root is not None]

    with steps.step("sharing"):
        lost = Counter(parsed.stored(text, node_id) for text, node_id in going.values())
        if parsed.canonical.collision is not None:
            raise Rebuild(next_seed=True)
        tables = _stored(work)
        try:
            change = changes(tables, parsed.canonical, Counter(coming), lost, settings.crowd)
        except Collision:
            raise Rebuild(next_seed=True) from None
        except TooLarge:
            raise Rebuild from None

    with steps.step("write"):
        writes: list[Callable[[], Any]] = [
            partial(_write, work, tables, "predicates", change.predicates, PREDICATES),
            partial(_write, work, tables, "nodes", change.nodes, NODES),
            partial(_write, work, tables, "edges", change.edges, EDGES),
            partial(_write_expressions, work, request.given, asked, roots, good, list(going), virgin),
        ]
        if bad:
            rows = work.place.spark.createDataFrame([(*row, work.number) for row in bad], check.REJECTED)
            writes.append(partial(work.append, rows, "rejected"))
        done = together(writes)
    with steps.step("publish"):
        counts = _counts(work, change, done, tables)
        return work.publish(request.operation, settings.to_map(), counts, request.request_id)


def analyzed(work: Write, request: Request, steps: Steps) -> Version:
    """Publish a small index with these frequencies: the same nodes and edges, other access children among them."""
    settings = IndexSettings.from_map(work.head.settings)
    with steps.step("parse the stored"):
        parsed = _Parsed(settings, frequencies_in(request.frequencies))
        stored = work.rows("expressions", (EXPRESSION, NODE_ID))
        roots = Counter(map(parsed.stored, stored[EXPRESSION].to_pylist(), stored[NODE_ID].to_pylist()))
    with steps.step("sharing"):
        change = changes(Loaded((), (), ()), parsed.canonical, roots, Counter(), settings.crowd)
    with steps.step("write"):
        rows = {
            "frequencies": request.frequencies,
            "predicates": to_arrow(change.predicates.inserted, PREDICATES),
            "nodes": to_arrow(change.nodes.inserted, NODES),
            "edges": to_arrow(change.edges.inserted, EDGES),
        }
        spark = work.place.spark
        together([partial(work.overwrite, frame_of(spark, t).coalesce(1), name) for name, t in rows.items()])
    with steps.step("publish"):
        return work.publish(request.operation, settings.to_map(), work.head.counts, request.request_id)


def _write(work: Write, tables: Stored, name: str, changed: Changed, schema: pa.Schema) -> tuple[int, int]:
    """Make a table what the change makes of it; how many rows went and came. The first column is the key."""
    if changed.deleted and isinstance(tables, Loaded):
        rows, gone = tables.all(name), set(changed.deleted)
        if len(rows) <= WHOLE:
            kept = [row for row in rows if row[0] not in gone]
            whole = to_arrow([*kept, *changed.inserted], schema)
            work.overwrite(frame_of(work.place.spark, whole).coalesce(1), name)
            return len(rows) - len(kept), len(changed.inserted)
    return work.change(name, schema.names[0], changed.deleted, to_arrow(changed.inserted, schema))


def _asked(work: Write, given: DataFrame, virgin: bool) -> _Asked:
    text = F.col(EXPRESSION) if EXPRESSION in given.columns else F.lit(None).cast("string")
    rows = given.select(
        EXPRESSION_ID, F.col(EXPRESSION_ID).cast("string").alias("shown"), text.alias(EXPRESSION)
    ).toArrow()
    there = {}
    if not virgin:
        columns = (EXPRESSION_ID, EXPRESSION, NODE_ID)
        if work.head.counts["expressions"] <= loaded.MOST:
            found = work.rows("expressions", columns)
        else:
            wanted = F.broadcast(given.select(EXPRESSION_ID).distinct())
            found = work.table("expressions").join(wanted, EXPRESSION_ID, "left_semi").select(*columns).toArrow()
        ids = set(rows[EXPRESSION_ID].to_pylist())
        there = {i: (text, node) for i, text, node in zip(*(found[c].to_pylist() for c in columns)) if i in ids}
    return _Asked(rows[EXPRESSION_ID], rows["shown"].to_pylist(), rows[EXPRESSION].to_pylist(), there)


class _Parsed:
    """The nodes of all texts of a change, those that come and those that go, under the index's own settings."""

    def __init__(self, settings: IndexSettings, frequencies: Frequencies | None):
        self._settings = settings.language
        self.canonical = Canonical(settings.ids, frequencies)

    def root(self, text: str | None) -> int | ExpressionError:
        """The root of a text, or what is wrong with it."""
        if text is None:
            return ExpressionError("the expression is NULL")
        try:
            return self.canonical.add(parse(text, self._settings))
        except ExpressionError as error:
            return error

    def stored(self, text: str, node_id: int) -> int:
        """The root of a text that is in the index."""
        root = self.root(text)
        if root != node_id:  # this Banyan reads it otherwise than the one that wrote it
            raise Rebuild(next_seed=self.canonical.collision is not None)
        return root

    def refuse_patterns(self, scratch: Scratch, roots: list[int | ExpressionError], texts: list[str | None]) -> None:
        """What only Java can say: turns the roots of texts with a bad regular expression into errors."""
        patterns = {p.operands[0] for p in self.canonical.predicates.values() if _is_regular(p)}
        bad = bad_patterns(scratch.spark, sorted(patterns))
        for i, (root, text) in enumerate(zip(roots, texts)):
            if bad and isinstance(root, int) and root not in (TRUE_ID, FALSE_ID):
                try:
                    refuse_patterns(self.canonical, root, bad, text)
                except ExpressionError as error:
                    roots[i] = error


def _is_regular(predicate: Predicate) -> bool:
    return predicate.operator.endswith("rlike")


def _problems(request: Request, asked: _Asked, roots: list) -> list[tuple]:
    """(id as text, text, position, reason) of every row that must not go in; turns bad roots into None."""
    times = Counter(asked.shown)
    bad = []
    for i, (value, shown, text, root) in enumerate(zip(asked.ids.to_pylist(), asked.shown, asked.texts, roots)):
        position, reason = None, None
        if value is None:
            reason = check.NULL_ID
        elif isinstance(root, ExpressionError):
            position, reason = (root.position if root.text else None), root.reason
        elif times[shown] > 1 and request.operation != "remove":
            reason = check.REPEATED
        elif request.operation == "add" and value in asked.there:
            reason = check.THERE
        elif request.operation == "remove" and value not in asked.there and request.missing == "fail":
            reason = check.NOT_THERE
        if reason is not None:
            bad.append((shown, text, position, reason))
            roots[i] = None
    return bad


def _in_order(row: tuple) -> tuple:
    return row[0] is not None, row[0] or "", row[2] or 0


def _write_expressions(
    work: Write,
    given: DataFrame,
    asked: _Asked,
    roots: list[int | None],
    good: list[bool],
    going: list,
    virgin: bool,
) -> tuple[int, int]:
    spark, head = work.place.spark, work.table("expressions")
    keep = [ok and root is not None for ok, root in zip(good, roots)]
    nodes = pa.table(
        {
            EXPRESSION_ID: asked.ids.filter(pa.array(keep, pa.bool_())),
            NODE_ID: pa.array([root for root, ok in zip(roots, keep) if ok], pa.int64()),
        }
    )
    node_of = spark.createDataFrame(nodes, f"{EXPRESSION_ID} {_type(given)}, {NODE_ID} long")
    rows = given.join(F.broadcast(node_of), EXPRESSION_ID).withColumn(ADDED_IN, F.lit(work.number).cast("long"))
    if going:
        ids = spark.createDataFrame([(i,) for i in going], given.select(EXPRESSION_ID).schema)
        if work.head.counts["expressions"] <= WHOLE:
            kept = head.join(F.broadcast(ids), EXPRESSION_ID, "left_anti")
            rows = kept.unionByName(rows, allowMissingColumns=True) if any(keep) else kept
            work.overwrite(rows.coalesce(1), "expressions")
            return len(going), len(nodes)
        work.delete("expressions", EXPRESSION_ID, ids)
    if any(keep):
        rows = rows.coalesce(1)
        if virgin and head.schema[EXPRESSION_ID].dataType != given.schema[EXPRESSION_ID].dataType:
            work.retype(rows, "expressions")
        else:
            work.append(rows, "expressions")
    return len(going), len(nodes)


def _type(given: DataFrame) -> str:
    return given.schema[EXPRESSION_ID].dataType.simpleString()


def _stored(work: Write) -> Stored:
    counts = work.head.counts
    size = sum(counts[table] for table in ("predicates", "nodes", "edges"))
    if size == 0:
        return Loaded((), (), ())
    return Loaded.of(work.rows) if size <= loaded.MOST else Tables(work.place.spark, work.table)


def _counts(work: Write, change: Changes, done: list[tuple[int, int]], tables: Stored) -> dict[str, int]:
    """The rows of each table after the change, from what the writes say they did."""
    before, counts = work.head.counts, {}
    for table, (deleted, inserted) in zip(("predicates", "nodes", "edges", "expressions"), done):
        counts[table] = before[table] - deleted + inserted
    highest = max((row.level for row in change.nodes.inserted), default=0)
    if highest < before["levels"]:
        highest = max(highest, tables.highest(change.nodes.deleted) if change.nodes.deleted else before["levels"])
    counts["levels"] = max(highest, min(1, counts["predicates"])) if counts["predicates"] else 0
    return counts
