"""Rules read without being written: what is wrong with them, what looks wrong, what they use.

In: rules with expression_id and expression. Out: one row a rule with the reason it cannot be read (if so), its
warnings, the attributes and the regular expressions it uses, and the id of its node, which is the same for rules that
mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.build.parse import STRETCH
from banyan.build.patterns import bad_patterns
from banyan.columns import EXPRESSION, EXPRESSION_ID, NODE_ID
from banyan.errors import ExpressionError
from banyan.language.parser import parse_with_warnings
from banyan.language.settings import Settings
from banyan.normal.canonical import Canonical
from banyan.normal.ids import FALSE_ID, TRUE_ID
from banyan.store.materialise import Scratch

_READ = (
    f"{EXPRESSION_ID} string, {EXPRESSION} string, {NODE_ID} long, position int, reason string, "
    "warnings array<string>, attributes array<string>, patterns array<string>"
)
# Findings of one kind that are fetched: enough for a person.
SHOWN = 100


class Finding(NamedTuple):
    expression_id: str | None
    expression: str | None
    position: int | None
    reason: str

    def pointed(self) -> str:
        """The finding with the line of the text it is about and a caret under the place."""
        told = (
            self.reason
            if self.position is None
            else ExpressionError(self.reason, self.expression, self.position).pointed()
        )
        return f"{'NULL' if self.expression_id is None else self.expression_id}: {told}"


class Lint(NamedTuple):
    """What was found; of each kind the first `SHOWN`, in the order of the ids. `same`: rules that mean the same."""

    rules: int
    bad_count: int
    bad: list[Finding]
    warning_count: int
    warnings: list[Finding]
    same: list[list[str]]
    uses: dict[str, int]


def lint(rules: DataFrame, settings: Settings) -> Lint:
    """Everything that can be said about rules without an index."""
    scratch = Scratch(rules.sparkSession)
    try:
        columns = [F.col(EXPRESSION_ID).cast("string").alias(EXPRESSION_ID), EXPRESSION]
        read = scratch.write(rules.select(*columns).mapInArrow(_reader(settings), _READ), "read")
        bad, warned = _bad(read), _warned(read)
        uses = read.select(F.explode("attributes").alias("attribute")).groupBy("attribute").count().collect()
        return Lint(
            rules=read.count(),
            bad_count=bad.count(),
            bad=_findings(bad),
            warning_count=warned.count(),
            warnings=_findings(warned),
            same=_same(read),
            uses={row["attribute"]: row["count"] for row in uses},
        )
    finally:
        scratch.release()


def _reader(settings: Settings) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function a worker runs over its batches."""

    def read_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        canonical = Canonical()
        for batch in batches:
            rows = []
            for text in batch.column(EXPRESSION).to_pylist():
                rows.append(_read(text, settings, canonical))
                if len(canonical) > STRETCH:
                    canonical = Canonical()
            columns = list(zip(*rows)) or [()] * 6
            types = [pa.int64(), pa.int32(), pa.string(), *[pa.list_(pa.string())] * 3]
            made = [pa.array(list(column), kind) for column, kind in zip(columns, types)]
            names = [*batch.schema.names, NODE_ID, "position", "reason", "warnings", "attributes", "patterns"]
            yield pa.RecordBatch.from_arrays([*batch.columns, *made], names)

    return read_batches


def _read(text: str | None, settings: Settings, canonical: Canonical) -> tuple:
    """node_id, position, reason, warnings, attributes, patterns of one rule."""
    if text is None:
        return None, None, "the expression is NULL", [], [], []
    try:
        tree, warnings = parse_with_warnings(text, settings)
    except ExpressionError as error:
        return None, error.position, error.reason, [], [], []
    root = canonical.add(tree)
    leaves = [canonical.predicates[one] for one in canonical.below(root, set()) if one in canonical.predicates]
    patterns = {leaf.operands[0] for leaf in leaves if leaf.operator.endswith("rlike")}
    return root, None, None, warnings, sorted({leaf.attribute for leaf in leaves}), sorted(patterns)


def _bad(read: DataFrame) -> DataFrame:
    """expression_id, expression, position, reason of the rules that an add would refuse."""
    patterns = [row[0] for row in read.select(F.explode("patterns")).distinct().collect()]
    refused = F.array_intersect(
        "patterns", F.array(*[F.lit(p) for p in bad_patterns(read.sparkSession, patterns)]).cast("array<string>")
    )
    repeated = (
        read.groupBy(EXPRESSION_ID).count().where("count > 1").select(EXPRESSION_ID, F.lit(True).alias("repeated"))
    )
    reason = (
        F.when(F.col(EXPRESSION_ID).isNull(), F.lit("the expression id is NULL"))
        .when(F.col("reason").isNotNull(), F.col("reason"))
        .when(F.size(refused) > 0, F.concat(F.lit("Java does not accept the regular expression "), refused[0]))
        .when(F.col("repeated"), F.lit("the expression id is given more than once"))
    )
    rows = read.join(F.broadcast(repeated), EXPRESSION_ID, "left").withColumn("reason", reason)
    return rows.where("reason IS NOT NULL").select(EXPRESSION_ID, EXPRESSION, "position", "reason")


def _warned(read: DataFrame) -> DataFrame:
    """expression_id, expression, position, reason of what is accepted but looks like a mistake."""
    constant = (
        F.when(F.col(NODE_ID) == FALSE_ID, F.array(F.lit("no event can satisfy this")))
        .when(F.col(NODE_ID) == TRUE_ID, F.array(F.lit("every event satisfies this")))
        .otherwise(F.array().cast("array<string>"))
    )
    warning = F.explode(F.concat("warnings", constant)).alias("reason")
    return read.select(EXPRESSION_ID, EXPRESSION, F.lit(None).cast("int").alias("position"), warning)


def _findings(rows: DataFrame) -> list[Finding]:
    return [Finding(*row) for row in rows.orderBy(EXPRESSION_ID, "position", "reason").limit(SHOWN).collect()]


def _same(read: DataFrame) -> list[list[str]]:
    """Ids of rules that mean the same, a list for each meaning."""
    groups = (
        read.where(~F.col(NODE_ID).isin(FALSE_ID, TRUE_ID))
        .groupBy(NODE_ID)
        .agg(F.sort_array(F.collect_set(EXPRESSION_ID)).alias("ids"))
        .where("size(ids) > 1")
    )
    return [row["ids"] for row in groups.orderBy("ids").limit(SHOWN).collect()]
