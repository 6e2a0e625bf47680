"""Adding expressions: parse, check, assemble, write, publish. One new version, or nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.build import check
from banyan.build.assemble import INNER, LEAF, Logical, assemble, collides, unique
from banyan.build.parse import COLLISION, parsed
from banyan.columns import ADDED_IN, EXPRESSION_ID, NODE_ID
from banyan.errors import ArgumentError
from banyan.progress import Steps
from banyan.store.materialise import Scratch
from banyan.store.settings import IndexSettings
from banyan.store.tables import Place
from banyan.store.versions import Version, Write, by_request, write

ON_ERROR = ("fail", "quarantine")


def add(
    place: Place, rules: DataFrame, on_error: str = "fail", request_id: str | None = None, steps: Steps | None = None
) -> Version:
    """The version that holds `rules` beside what was there. Raises RulesError, and writes nothing, if any is bad."""
    if on_error not in ON_ERROR:
        raise ArgumentError(f"on_error is 'fail' or 'quarantine', not {on_error!r}")
    check.check_columns(rules)
    steps = steps or Steps()
    scratch = Scratch(place.spark)

    def attempt(work: Write) -> Version:
        done = by_request(place, request_id)
        return done or _attempt(work, rules, on_error, request_id, scratch, steps)

    try:
        return write(place, attempt)
    finally:
        scratch.release()


def _attempt(
    work: Write, rules: DataFrame, on_error: str, request_id: str | None, scratch: Scratch, steps: Steps
) -> Version:
    place, head = work.place, work.head
    settings = IndexSettings.from_map(head.settings)
    stored = _Stored(place, head)
    virgin = head.counts["expressions"] == 0
    if not virgin:
        check.check_id_type(rules, stored["expressions"])

    with steps.step("parse"):
        texts = _parsed(scratch, rules, settings)
    with steps.step("check"):
        known = stored["expressions"] if not virgin else texts.limit(0)
        found = scratch.materialise(check.problems(texts, known), "problems")
        bad = found.count()
    if bad and on_error == "fail":
        check.refuse(found, bad)
    if bad:
        with steps.step("parse the good ones"):
            texts = _parsed(scratch, _without(texts, found).select(*rules.columns), settings)

    with steps.step("unique nodes"):
        texts, logical, settings, rebuilt = _unique(scratch, texts, stored, virgin, settings)
    roots = texts.select(NODE_ID)
    if not rebuilt and not virgin:
        roots = roots.unionByName(stored["expressions"].select(NODE_ID))
    rows = assemble(scratch, logical, roots, steps, settings.crowd)

    with steps.step("write"):
        if ADDED_IN not in texts.columns:
            texts = texts.withColumn(ADDED_IN, F.lit(None).cast("long"))
        texts = texts.drop(*_PARSED).withColumn(ADDED_IN, F.coalesce(ADDED_IN, F.lit(work.number).cast("long")))
        known = stored["expressions"].schema[EXPRESSION_ID].dataType
        if virgin and texts.schema[EXPRESSION_ID].dataType != known:
            writes = [lambda: work.retype(texts, "expressions", clustered_by=NODE_ID)]
        else:
            writes = [lambda: (work.overwrite if rebuilt else work.append)(texts, "expressions")]
        if bad:
            refused = found.withColumn("rejected_in", F.lit(work.number).cast("long"))
            writes.append(lambda: work.append(refused, "rejected"))
        for table, frame in rows._asdict().items():
            writes.append(partial(work.overwrite, frame, table))
        # Different tables: a commit is mostly waiting, so they wait together.
        with ThreadPoolExecutor(len(writes)) as pool:
            for done in [pool.submit(write) for write in writes]:
                done.result()
    with steps.step("publish"):
        return work.publish("add", settings.to_map(), _counts(place), request_id)


class _Stored:
    """The tables of the head, each opened when it is first asked for."""

    def __init__(self, place: Place, head: Version):
        self._place = place
        self._pins = head.table_versions
        self._open: dict[str, DataFrame] = {}

    def __getitem__(self, table: str) -> DataFrame:
        if table not in self._open:
            self._open[table] = self._place.read(table, self._pins[table])
        return self._open[table]


_PARSED = ("position", "reason", "made")


def _parsed(scratch: Scratch, rules: DataFrame, settings: IndexSettings) -> DataFrame:
    """`rules` parsed, once, with what only Java can say about regular expressions said too."""
    texts = scratch.write(parsed(rules, settings.language, settings.ids), "parsed")
    patterns = (
        texts.select(F.explode("made").alias("node"))
        .where("node.operator IN ('rlike', 'not rlike')")
        .select(F.col("node.literals")[0].alias("pattern"))
        .distinct()
    )
    try:
        patterns.select(F.expr("'' RLIKE pattern")).write.format("noop").mode("overwrite").save()
    except Exception:  # not PySparkException: an error of Java's in a task comes untranslated
        bad = check.bad_patterns(scratch.spark, [row["pattern"] for row in patterns.collect()])
        texts = scratch.write(parsed(rules, settings.language, settings.ids, bad), "parsed")
    return texts


def _without(texts: DataFrame, found: DataFrame) -> DataFrame:
    bad = found.select(F.col(EXPRESSION_ID).alias("bad_id")).where("bad_id IS NOT NULL").distinct()
    return texts.where(F.col(EXPRESSION_ID).isNotNull()).join(
        bad, F.col(EXPRESSION_ID).cast("string") == F.col("bad_id"), "left_anti"
    )


def _unique(
    scratch: Scratch, texts: DataFrame, stored: _Stored, virgin: bool, settings: IndexSettings
) -> tuple[DataFrame, Logical, IndexSettings, bool]:
    """The unique nodes. Where two share an id, all expressions, old and new, are parsed again with the next seed."""
    old = None if virgin else logical_of(stored["predicates"], stored["nodes"])
    rebuilt = False
    while True:
        logical = unique(scratch, texts.select(F.inline("made")), old)
        if texts.where(F.col("reason") == COLLISION).isEmpty() and not collides(logical):
            return texts, logical, settings, rebuilt
        settings = settings.next_seed()
        everything = texts.drop(NODE_ID, *_PARSED)
        if not rebuilt and not virgin:
            everything = everything.unionByName(stored["expressions"].drop(NODE_ID), allowMissingColumns=True)
        texts, old, rebuilt = _parsed(scratch, everything, settings), None, True


def logical_of(predicates: DataFrame, nodes: DataFrame) -> Logical:
    """The logical nodes that the tables of a version hold."""
    return Logical(
        predicates.withColumnRenamed("expected_frequency", "frequency").select(*LEAF),
        nodes.select(
            "node_id",
            "operator",
            "operands",
            "operand_frequencies",
            F.col("logical_level").alias("level"),
            F.col("expected_frequency").alias("frequency"),
        ).select(*INNER),
    )


def _counts(place: Place) -> dict[str, int]:
    tables = ("expressions", "predicates", "nodes", "edges")
    columns = [f"(SELECT count(*) FROM {place.name(table)}) AS {table}" for table in tables]
    columns.append(f"(SELECT max(level) FROM {place.name('nodes')}) AS levels")
    counts = place.spark.sql("SELECT " + ", ".join(columns)).first().asDict()
    counts["levels"] = counts["levels"] or min(1, counts["predicates"])
    return counts
