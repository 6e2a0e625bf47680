"""Changing the expressions of an index: add, replace, remove. One new version, or nothing.

A small change is worked out on the driver from its neighbourhood in the tables (`small`); a large one, the first of all
among them, builds the tables afresh from the texts, on the workers (`fresh`). An analysis changes all nodes: of a small
index on the driver, of others on the workers. The tables come out the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.build import check, loaded
from banyan.build.fresh import fresh
from banyan.build.small import Rebuild, analyzed, small
from banyan.columns import EXPRESSION, EXPRESSION_ID
from banyan.errors import ArgumentError
from banyan.progress import Steps
from banyan.store.materialise import Scratch
from banyan.store.tables import Place
from banyan.store.versions import Version, Write, by_request, write

ON_ERROR = ("fail", "quarantine")
MISSING = ("fail", "ignore")
# Expressions, and characters of their texts, up to which a change is worked out on the driver.
SMALL = 20_000
SMALL_TEXT = 50_000_000


class Request(NamedTuple):
    """What is asked. `given`: expression_id, expression and the user's columns; only expression_id to remove.

    `frequencies`: rows of that table, to put in the place of those that are there.
    """

    operation: str
    given: DataFrame
    on_error: str = "fail"
    missing: str = "fail"
    request_id: str | None = None
    frequencies: pa.Table | None = None


def add(place: Place, rules: DataFrame, on_error: str, request_id: str | None, steps: Steps | None) -> Version:
    """The version that holds `rules` beside what was there."""
    return _rules("add", place, rules, on_error, request_id, steps)


def replace(place: Place, rules: DataFrame, on_error: str, request_id: str | None, steps: Steps | None) -> Version:
    """The version in which expressions with the ids of `rules` are those of `rules`, whether they were there or not."""
    return _rules("replace", place, rules, on_error, request_id, steps)


def remove(
    place: Place, ids: DataFrame | Iterable[Any], missing: str, request_id: str | None, steps: Steps | None
) -> Version:
    """The version without the expressions with these ids."""
    if missing not in MISSING:
        raise ArgumentError(f"missing is 'fail' or 'ignore', not {missing!r}")
    if not isinstance(ids, DataFrame):
        ids = check.ids_frame(place.spark, ids, place.latest("expressions"))
    check.check_id_column(ids)
    return _apply(place, Request("remove", ids.select(EXPRESSION_ID), "fail", missing, request_id), steps)


def analyze(place: Place, frequencies: pa.Table, request_id: str | None, steps: Steps | None) -> Version:
    """The version whose access children are chosen by these frequencies: built afresh, but for `expressions`."""
    nothing = place.spark.createDataFrame([], place.latest("expressions").select(EXPRESSION_ID).schema)
    return _apply(place, Request("analyze", nothing, request_id=request_id, frequencies=frequencies), steps)


def _rules(
    operation: str, place: Place, rules: DataFrame, on_error: str, request_id: str | None, steps: Steps | None
) -> Version:
    if on_error not in ON_ERROR:
        raise ArgumentError(f"on_error is 'fail' or 'quarantine', not {on_error!r}")
    check.check_columns(rules)
    return _apply(place, Request(operation, rules, on_error, "fail", request_id), steps)


def _apply(place: Place, request: Request, steps: Steps | None) -> Version:
    steps = steps or Steps()
    scratch = Scratch(place.spark)

    def attempt(work: Write) -> Version:
        done = by_request(place, request.request_id)
        if done is not None:
            return done
        asked = request if copy is None else request._replace(given=copy)
        try:
            if copy is not None:
                return small(work, asked, scratch, steps)
            if request.frequencies is not None and _is_small(work.head):
                return analyzed(work, request, steps)
        except Rebuild as reason:
            return fresh(work, asked, scratch, steps, reason.next_seed)
        return fresh(work, asked, scratch, steps)

    try:
        done = by_request(place, request.request_id)
        if done is not None:
            return done
        # Before the lock is taken: how long reading takes is the user's affair, and other writers need not wait for it.
        with steps.step("read"):
            copy = _copied(scratch, request.given) if request.frequencies is None else None
        return write(place, attempt)
    finally:
        scratch.release()


def _is_small(head: Version) -> bool:
    """Whether the driver may hold all of a version."""
    return head.counts["expressions"] <= SMALL and sum(head.counts.values()) <= loaded.MOST


def _copied(scratch: Scratch, given: DataFrame) -> DataFrame | None:
    """What is given, read once; None if it is not small."""
    copy = scratch.write(given.limit(SMALL + 1), "given")
    text = F.sum(F.length(EXPRESSION)) if EXPRESSION in given.columns else F.lit(0)
    rows, characters = copy.agg(F.count("*"), text).first()
    return copy if rows <= SMALL and (characters or 0) <= SMALL_TEXT else None
