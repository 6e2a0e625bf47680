"""The tables built afresh, on the workers, from the texts: the way of a large change, and of the first of all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.build import check
from banyan.build.assemble import Nodes
from banyan.build.parse import ADDED, COLLISION, PATTERNS, REASON, parsed
from banyan.build.patterns import bad_patterns, is_pattern_error
from banyan.build.rows import frequencies_in, frequencies_of
from banyan.columns import ADDED_IN, EXPRESSION, EXPRESSION_ID, NODE_ID
from banyan.errors import DamagedIndex
from banyan.normal.frequencies import Frequencies
from banyan.progress import Steps
from banyan.store.local import frame_of
from banyan.store.materialise import Scratch
from banyan.store.settings import IndexSettings
from banyan.store.statements import together
from banyan.store.tables import Place
from banyan.store.versions import Version, Write

if TYPE_CHECKING:
    from banyan.build.change import Request


def fresh(work: Write, request: Request, scratch: Scratch, steps: Steps, next_seed: bool = False) -> Version:
    """Publish what the request makes of the head. Raises RulesError, and writes nothing, where something is bad."""
    settings = IndexSettings.from_map(work.head.settings)
    if next_seed:
        settings = settings.next_seed()
    reading = _Reading(settings, _frequencies(work, request))
    spark = work.place.spark
    virgin = work.head.counts["expressions"] == 0
    stored = work.table("expressions")
    if not virgin:
        check.check_types(request.given, stored)

    texts = (
        None if request.operation in ("remove", "analyze") else _parsed(scratch, request.given, reading, steps, "parse")
    )
    found, bad = _problems(scratch, request, texts, None if virgin else stored, steps)
    if bad and request.on_error == "fail":
        check.refuse(check.first(found), bad, request.operation)
    if texts is not None and bad:
        # Again, not filtered: the nodes of a bad row may be the first mention of what a good one has too.
        texts = _parsed(
            scratch, _without(texts, found).select(*request.given.columns), reading, steps, "parse the good"
        )
    if texts is None or not virgin:
        texts = _with_survivors(scratch, request, texts, stored, reading, steps)

    with steps.step("unique nodes"):
        texts, nodes, settings = _unique(scratch, texts, reading, steps)
    rows = nodes.assemble(steps, settings.crowd)

    with steps.step("write"):
        writes = []
        if request.frequencies is not None:
            writes.append(partial(work.overwrite, frame_of(spark, request.frequencies), "frequencies"))
        if request.frequencies is None or settings.seed != reading.settings.seed:
            texts = _with_version(texts, work.number)
            if virgin and texts.schema[EXPRESSION_ID].dataType != stored.schema[EXPRESSION_ID].dataType:
                writes.append(partial(work.retype, texts, "expressions"))
            else:
                writes.append(partial(work.overwrite, texts, "expressions"))
        if bad:
            refused = found.withColumn("rejected_in", F.lit(work.number).cast("long"))
            writes.append(partial(work.append, refused, "rejected"))
        for table, frame in rows._asdict().items():
            writes.append(partial(work.overwrite, frame, table))
        together(writes)
    with steps.step("publish"):
        return work.publish(request.operation, settings.to_map(), _counts(work.place), request.request_id)


class _Reading(NamedTuple):
    """How texts are read, and what the frequency of a node is computed from."""

    settings: IndexSettings
    frequencies: Frequencies | None

    def parsed(self, rules: DataFrame, bad_patterns: frozenset[str] = frozenset()) -> DataFrame:
        return parsed(rules, self.settings.language, self.settings.ids, bad_patterns, self.frequencies)


def _frequencies(work: Write, request: Request) -> Frequencies | None:
    """Those that are to be from now on."""
    return frequencies_of(work) if request.frequencies is None else frequencies_in(request.frequencies)


def _with_version(texts: DataFrame, number: int) -> DataFrame:
    """The rows of `expressions`: what came now was added in this version."""
    if ADDED_IN not in texts.columns:
        texts = texts.withColumn(ADDED_IN, F.lit(None).cast("long"))
    return texts.drop(*ADDED).withColumn(ADDED_IN, F.coalesce(ADDED_IN, F.lit(number).cast("long")))


def _parsed(scratch: Scratch, rules: DataFrame, reading: _Reading, steps: Steps, step: str) -> DataFrame:
    """`rules` parsed, once, with what only Java can say about regular expressions said too."""
    with steps.step(step):
        texts = scratch.write(reading.parsed(rules), "parsed")
        patterns = texts.select(F.explode(PATTERNS).alias("pattern")).distinct()
        try:
            patterns.select(F.expr("'' RLIKE pattern")).write.format("noop").mode("overwrite").save()
        except Exception as error:  # not PySparkException: an error of Java's in a task comes untranslated
            if not is_pattern_error(error):
                raise
            bad = bad_patterns(scratch.spark, [row["pattern"] for row in patterns.collect()])
            texts = scratch.write(reading.parsed(rules, bad), "parsed")
        return texts


def _problems(
    scratch: Scratch, request: Request, texts: DataFrame | None, stored: DataFrame | None, steps: Steps
) -> tuple[DataFrame, int]:
    if request.operation == "analyze":
        return request.given, 0
    with steps.step("check"):
        if texts is None:
            known = request.given.limit(0) if stored is None else stored
            found = check.unknown(request.given, known, request.missing)
        else:
            found = check.problems(texts, stored, request.operation)
        found = scratch.materialise(found, "problems")
        return found, found.count()


def _without(texts: DataFrame, found: DataFrame) -> DataFrame:
    bad = found.select(F.col(EXPRESSION_ID).alias("bad_id")).where("bad_id IS NOT NULL").distinct()
    return texts.where(F.col(EXPRESSION_ID).isNotNull()).join(
        bad, F.col(EXPRESSION_ID).cast("string") == F.col("bad_id"), "left_anti"
    )


def _with_survivors(
    scratch: Scratch,
    request: Request,
    texts: DataFrame | None,
    stored: DataFrame,
    reading: _Reading,
    steps: Steps,
) -> DataFrame:
    """The expressions of the head that stay, parsed again, beside the new ones.

    Their nodes are in the tables, but which of those still have a use, once others go, only counting from the texts
    says without a round for each level; parsing takes less.
    """
    if request.operation not in ("add", "analyze"):
        going = request.given if texts is None else texts
        stored = stored.join(going.select(EXPRESSION_ID).distinct(), EXPRESSION_ID, "left_anti")
    survivors = _parsed(scratch, stored.drop(NODE_ID), reading, steps, "parse the stored")
    unreadable = survivors.where((F.col(REASON) != COLLISION) & F.col(REASON).isNotNull())
    for row in unreadable.select(EXPRESSION_ID, EXPRESSION, REASON).limit(1).collect():
        raise DamagedIndex(
            f"expression {row[0]} is in the index, and this Banyan cannot read it ({row[2]}): {row[1]!r:.200}; "
            "remove or replace it, or write with the Banyan that wrote it"
        )
    return survivors if texts is None else texts.unionByName(survivors, allowMissingColumns=True)


def _unique(
    scratch: Scratch, texts: DataFrame, reading: _Reading, steps: Steps
) -> tuple[DataFrame, Nodes, IndexSettings]:
    """The unique nodes. Where two share an id, all expressions are parsed again with the next seed."""
    while True:
        nodes = Nodes(scratch, texts)
        if texts.where(F.col(REASON) == COLLISION).isEmpty() and not nodes.collide():
            return texts, nodes, reading.settings
        reading = reading._replace(settings=reading.settings.next_seed())
        texts = _parsed(scratch, texts.drop(NODE_ID, *ADDED), reading, steps, "parse with the next seed")


def _counts(place: Place) -> dict[str, int]:
    tables = ("expressions", "predicates", "nodes", "edges")
    columns = [f"(SELECT count(*) FROM {place.name(table)}) AS {table}" for table in tables]
    columns.append(f"(SELECT max(level) FROM {place.name('nodes')}) AS levels")
    counts = place.spark.sql("SELECT " + ", ".join(columns)).first().asDict()
    counts["levels"] = counts["levels"] or min(1, counts["predicates"])
    return counts
