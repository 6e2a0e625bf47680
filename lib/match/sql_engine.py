"""The SQL engine: the loop of the match with Spark's own bitmaps. Python runs the relations of `sql/match/` one after
the other and sees no row of the data.

An event set is a row per block of 32,768 events. Leaves are put together from segments of their attribute's sorted
values; a level asks only for the children of nodes that may be satisfied, or-nodes with a child that has events and
and-nodes whose access child has. Same answers as the engine `arrow`.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from banyan.columns import EVENT_ID, EXPRESSION_ID, EXPRESSION_IDS
from banyan.match import events as numbers
from banyan.match import missing, plan, sql_events, sql_files
from banyan.match.run import in_time_zone
from banyan.match.sql_plan import LEAVES, Edges, SqlPlan, make
from banyan.match.sql_values import name_sql
from banyan.match.target import Target
from banyan.progress import Steps, bar
from banyan.store.materialise import Scratch
from banyan.store.statements import setting

if TYPE_CHECKING:
    from banyan.match.call import Matcher

# Event sets of a batch, each of 4 KB: fewer blocks make a batch where the index is large.
BATCH_SETS = 200_000
MOST_BLOCKS = 8
# Sets that are sent to every core (1 GB); beyond, they are joined by a shuffle.
BROADCAST_SETS = 250_000
# The same for node ids without their sets (some 200 MB).
BROADCAST_IDS = 4_000_000
_SETS = "node_id long, block int, events binary"


def match(
    matcher: Matcher,
    events: DataFrame,
    id: str,
    attribute: str | None,
    value: str | None,
    output: str,
    where: str | Column | None,
    keep: list[str],
    zeros: bool,
    into: str | Target | None,
    batch_size: int | None,
    steps: Steps,
    progress: bool | None,
) -> DataFrame:
    """The arguments of `Index.match`, checked."""
    index, spark, scratch = matcher._index, matcher._spark, matcher._new_scratch()
    settings = index.settings
    try:
        # Plans that change between rounds forget how the sets were spread over partitions.
        with in_time_zone(spark, settings.time_zone), setting(spark, "spark.sql.adaptive.enabled", "false"):
            with steps.step("plan"):
                ready = _plan(matcher, where, keep)
            blocks = max(1, min(MOST_BLOCKS, BATCH_SETS // max(1, ready.set_count)))
            size = batch_size or blocks * sql_files.BLOCK
            with steps.step("numbers"):
                known = (ready.attributes, ready.like, settings.case_sensitive, size)
                if attribute is None:
                    copy = sql_events.copy_wide(scratch, events, id, *known)
                else:
                    copy = sql_events.copy_long(scratch, events, id, attribute, value, *known)
                matcher._warn_of_missing(scratch, ready, copy, missing.paths(events, id))
                batches = numbers.batches(scratch, copy, size)
            call = Call(scratch, ready, copy, output, keep, steps)
            run = bar(enumerate(batches), len(batches), "batch", progress)
            target = Target(spark, into) if isinstance(into, str) else into
            if output == "counts":
                counted = [spark.createDataFrame([], "carrier long, events long")]
                counted += [call.counted(batch) for _, batch in run]
                found = call.run("counts", counted=_union(counted), join="LEFT" if zeros else "INNER", keep=call.kept)
                return found if target is None else target.append(found, 0)
            if target is None or target.in_one:
                found = _union([call.nothing(), *(call.matches(batch) for _, batch in run)])
                return found if target is None else target.append(found, 0)
            table = target.append(call.nothing(), 0)
            for number, batch in run:
                own = Scratch(spark)
                try:
                    with steps.step("write"):
                        table = target.append(call._replace(scratch=own).matches(batch), number + 1)
                finally:
                    own.release()
            scratch.release()
            return table
    except BaseException:
        scratch.release()
        raise


def _plan(matcher: Matcher, where: str | Column | None, keep: list[str]) -> SqlPlan:
    from banyan.match.call import _check_where

    key = ("sql", where, tuple(keep))
    if where is not None and not isinstance(where, str):
        key = None
    if key is None or key not in matcher._plans:
        tables = {name: matcher._index.table(name) for name in ("expressions", "predicates", "edges")}
        plan.check_columns(tables["expressions"], keep)
        if where is not None:
            _check_where(tables["expressions"], where)
        made = make(matcher._new_scratch(), tables, where, keep)
        if key is None:
            return made
        matcher._plans[key] = made
    return matcher._plans[key]


class Call(NamedTuple):
    """One call of match, its events copied and its plan ready."""

    scratch: Scratch
    plan: SqlPlan
    copy: numbers.Copy
    output: str
    keep: list[str]
    steps: Steps
    one_block: bool = False

    @property
    def kept(self) -> str:
        return "".join(f", x.{name_sql(name)}" for name in self.keep)

    def run(self, name: str, **others: DataFrame | str) -> DataFrame:
        """A relation over those of the plan and `others`."""
        texts = {key: value for key, value in others.items() if isinstance(value, str)}
        frames = {key: value for key, value in others.items() if not isinstance(value, str)}
        return sql_files.run(self.scratch.spark, name, self.plan.frames | frames, **texts)

    def made(self, name: str, **others: DataFrame | str) -> DataFrame:
        """The same, computed now."""
        return self.scratch.materialise(self.run(name, **others), name)

    def grouped(self, node: str) -> str:
        """What sets are combined by. In a batch of one block the order of nodes is that of nodes and blocks."""
        return node if self.one_block else f"{node}, a.block"

    def counted(self, batch: numbers.Batch) -> DataFrame:
        """(carrier, events) of the nodes that carry expressions."""
        call = self._of(batch)
        found = call._found(call._numbers(batch))
        with self.steps.step("top"):
            return call.made("counted", found=found)

    def matches(self, batch: numbers.Batch) -> DataFrame:
        """The matches of a batch; the last round is not yet run."""
        call = self._of(batch)
        rows = call._numbers(batch)
        return call._named(call._found(rows), rows)

    def _of(self, batch: numbers.Batch) -> Call:
        return self._replace(one_block=batch.size <= sql_files.BLOCK)

    def nothing(self) -> DataFrame:
        """The result of no events: its columns."""
        none = self.scratch.spark.createDataFrame([], "block int, position long").select(
            F.lit(None).cast(self.copy.id_type).alias(EVENT_ID), "block", "position"
        )
        return self._named(self.scratch.spark.createDataFrame([], _SETS), none)

    def _named(self, found: DataFrame, rows: DataFrame) -> DataFrame:
        unfolded = self.run("unfolded", found=found)
        if self.output == "pairs":
            named = self.run("pairs", unfolded=unfolded, numbers=rows, keep=self.kept)
            return named.select(EVENT_ID, EXPRESSION_ID, *self.keep)
        return self.run("arrays", unfolded=unfolded, numbers=rows).select(EVENT_ID, EXPRESSION_IDS)

    def _numbers(self, batch: numbers.Batch) -> DataFrame:
        return self.run("numbers", numbered=numbers.numbered(self.scratch, self.copy, batch))

    def _found(self, rows: DataFrame) -> DataFrame:
        """(node_id, block, events) of the nodes that carry expressions; those of the last round not yet computed."""
        with self.steps.step("leaves"):
            sets = {LEAVES: self._leaves(rows)}
        for level, edges in self.plan.levels.items():
            with self.steps.step(edges.name):
                sets[level] = self.scratch.materialise(self._level(edges, sets), edges.name.replace(" ", "_"))
        found = [self.run("carried", sets=_union(list(sets.values())))]
        if self.plan.top is not None:
            with self.steps.step("top"):
                found.append(self._level(self.plan.top, sets))
        return _union(found)

    def _leaves(self, rows: DataFrame) -> DataFrame:
        """Values in the order of their lanes, cut by the bounds of predicates; leaves as runs of the segments."""
        parts = self.plan.parts
        values = self.run("values", numbers=rows)
        everyone = self.made("everyone", numbers=rows)
        keyed = self.made("keyed", values=values)
        cuts = self.made("cuts", keyed=keyed)
        runs = self.run("runs", cuts=cuts)
        pieces = self.run("segments", cuts=cuts)
        if "shared" in parts:
            met = self.made("met", values=values, keyed=keyed)
            pieces = pieces.unionByName(self.run("whole", met=met, numbers=rows, everyone=everyone))
        asks = self.made("asks", runs=runs, everyone=everyone)
        # Pieces of one segment; those of 8, 64, ... add a seventh.
        count = cuts.groupBy("lane", "block").agg(F.max("segments").alias("n")).agg(F.sum("n")).first()[0] or 0
        hint = _broadcast("p", count + len(self.plan.attributes))
        leaves = self.run("united", asks=asks, pieces=pieces, hint=hint, group=self.grouped("a.node_id"))
        if parts & {"patterns", "refusals"}:
            matched = self.run("matched", values=values, cuts=cuts, runs=runs)
        else:
            matched = self.scratch.spark.createDataFrame([], _SETS)
        return self.made("leaves", united=leaves, matched=matched, everyone=everyone)

    def _level(self, level: Edges, made: dict[int, DataFrame]) -> DataFrame:
        """One round: who may be satisfied, which sets these ask for, and what comes of them."""
        count = self.plan.set_count
        found = _union([made[below] for below in sorted(level.below)])
        hint = _broadcast("c", count, BROADCAST_IDS)
        sets = self.run("wanted", sets=found, children=level.children, hint=hint)
        hint = _broadcast("s", count, BROADCAST_IDS)
        live = self.made("live", edges=level.edges, ids=sets.select("node_id", "block"), hint=hint)
        hint = _broadcast("v", count, BROADCAST_IDS)
        if self.one_block:
            # The edges are in the order of their parents already.
            asked = self.run("asked", edges=level.edges, live=live, hint=hint, order="")
        else:
            order = "DISTRIBUTE BY e.parent_id SORT BY e.parent_id, v.block"
            asked = self.made("asked", edges=level.edges, live=live, hint=hint, order=order)
        return self.run("level", asked=asked, sets=sets, hint=_broadcast("s", count), group=self.grouped("a.parent_id"))


def _broadcast(name: str, count: int, most: int = BROADCAST_SETS) -> str:
    return f"/*+ BROADCAST({name}) */" if count <= most else ""


def _union(frames: list[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)
