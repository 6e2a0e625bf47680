"""A call of `match`: checks what is asked, prepares the plan once, runs the batches, hands out the result."""

from __future__ import annotations

import difflib
import warnings
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from banyan.columns import EVENT_ID
from banyan.errors import ArgumentError
from banyan.language.attributes import attribute_parts
from banyan.match import events as numbers
from banyan.match import matches, plan
from banyan.match.attributes import resolve
from banyan.match.run import run_batch, settings_of
from banyan.progress import Steps, bar
from banyan.store.materialise import Scratch

if TYPE_CHECKING:
    from banyan.index import Index

OUTPUTS = ("pairs", "counts", "arrays")
ENGINES = ("arrow",)
# Events times edges that one batch may hold: sets of a batch then stay within a few gigabytes.
BATCH_WORK = 2**16 * 8_000_000
LARGEST, SMALLEST = 2**18, 2**12


class MissingAttributeWarning(UserWarning):
    """Rules use attributes that the events do not have."""


class Matcher:
    """Matches against one version; keeps its plans between calls."""

    def __init__(self, index: Index):
        self._index = index
        self._spark = index.spark
        self._plans: dict[tuple, plan.Plan] = {}
        self._scratch: list[Scratch] = []

    def release(self) -> None:
        self._plans.clear()
        while self._scratch:
            self._scratch.pop().release()

    def plan(self, where: str | Column | None, keep: list[str]) -> plan.Plan:
        key = (where, tuple(keep)) if where is None or isinstance(where, str) else None
        if key not in self._plans or key is None:
            tables = {name: self._index.table(name) for name in ("expressions", "predicates", "edges")}
            plan.check_columns(tables["expressions"], keep)
            scratch = self._new_scratch()
            made = plan.make(scratch, tables, where, keep, self._buckets())
            if key is None:
                return made
            self._plans[key] = made
        return self._plans[key]

    def match(
        self,
        events: DataFrame,
        id: str,
        attribute: str | None,
        value: str | None,
        output: str,
        engine: str,
        where: str | Column | None,
        keep: list[str],
        zeros: bool,
        into: str | None,
        batch_size: int | None,
        steps: Steps,
        progress: bool | None,
    ) -> DataFrame:
        _check_arguments(output, engine, attribute, value, zeros, keep)
        settings = self._index.settings
        with settings_of(self._spark, settings.time_zone):
            with steps.step("plan"):
                ready = self.plan(where, keep)
            size = batch_size or max(SMALLEST, min(LARGEST, BATCH_WORK // max(1, ready.edge_count)))
            scratch = self._new_scratch()
            with steps.step("numbers"):
                if attribute is None:
                    warn_of_missing(ready, events, id, settings.case_sensitive)
                    copy = numbers.copy_wide(scratch, events, id, ready.attributes, settings.case_sensitive, size)
                else:
                    copy = numbers.copy_long(
                        scratch, events, id, attribute, value, ready.attributes, settings.case_sensitive, size
                    )
                batches = numbers.batches(scratch, copy, size)
            results = []
            for batch in bar(batches, len(batches), "batch", progress):
                found = run_batch(scratch, ready, copy, batch, output == "counts", steps)
                if output == "counts":
                    with steps.step("final"):
                        found = scratch.materialise(found, "counted")
                results.append((batch, found))
            return self._result(scratch, ready, copy, results, output, keep, zeros)

    def _result(self, scratch, ready: plan.Plan, copy, results: list, output: str, keep: list[str], zeros: bool) -> DataFrame:
        expressions = ready.expressions
        if output == "counts":
            counted = [found for _, found in results] or [self._spark.createDataFrame([], matches.COUNTED)]
            return matches.counts(reduce(DataFrame.unionByName, counted), expressions, keep, zeros)
        parts = []
        for batch, found in results:
            ids = numbers.numbered(scratch, copy, batch).select("number", F.col("event_id").alias(EVENT_ID))
            if output == "pairs":
                parts.append(matches.pairs(found, expressions, ids, keep))
            else:
                parts.append(matches.arrays(found, expressions, ids))
        if parts:
            return reduce(DataFrame.unionByName, parts)
        nothing = self._spark.createDataFrame([], matches.UNFOLDED)
        ids = self._spark.createDataFrame([], "number int").select("number", F.lit(None).cast(copy.id_type).alias(EVENT_ID))
        if output == "pairs":
            return matches.pairs(nothing, expressions, ids, keep)
        return matches.arrays(nothing, expressions, ids)

    def _new_scratch(self) -> Scratch:
        scratch = Scratch(self._spark)
        self._scratch.append(scratch)
        return scratch

    def _buckets(self) -> int:
        return max(2, int(self._spark.conf.get("spark.sql.shuffle.partitions", "2")))


def warn_of_missing(ready: plan.Plan, events: DataFrame, id: str, case_sensitive: bool) -> None:
    missing = missing_attributes(ready.rules_of, events, id, case_sensitive)
    if missing:
        warnings.warn("\n".join(missing), MissingAttributeWarning, stacklevel=4)


def missing_attributes(rules_of: dict[str, int], events: DataFrame, id: str, case_sensitive: bool) -> list[str]:
    """One line for each attribute that rules use and the events lack."""
    columns = [name for name in events.columns if name != id]
    lines = []
    for attribute, uses in sorted(rules_of.items(), key=lambda item: (-item[1], item[0])):
        if resolve(events.schema, attribute_parts(attribute), case_sensitive) is None:
            near = difflib.get_close_matches(attribute.lower(), [c.lower() for c in columns], 1, 0.6)
            hint = next((f"; did you mean {c}?" for c in columns if near and c.lower() == near[0]), "")
            lines.append(f"the events have no attribute {attribute}, used {uses} time{'s' if uses > 1 else ''} in the rules{hint}")
    return lines


def _check_arguments(output: str, engine: str, attribute: str | None, value: str | None, zeros: bool, keep: list[str]) -> None:
    if output not in OUTPUTS:
        raise ArgumentError(f"output is one of {', '.join(OUTPUTS)}; not {output!r}")
    if engine not in ENGINES:
        raise ArgumentError(f"engine is one of {', '.join(ENGINES)}; not {engine!r}")
    if (attribute is None) != (value is None):
        raise ArgumentError("long-form events need both: attribute= and value= name two columns")
    if zeros and output != "counts":
        raise ArgumentError("zeros=True goes with output='counts'")
    if keep and output == "arrays":
        raise ArgumentError("keep goes with output='pairs' or 'counts'")
