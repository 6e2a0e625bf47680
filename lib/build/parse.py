"""Parse expressions on the workers, in Arrow batches.

In: rows with an id and a text (and whatever columns the user keeps beside them). Out: the same rows with `node_id`, or
with position and reason where the text is bad, and with what this stretch of rows met for the first time:
its regular expressions, and its nodes, those of a batch of rows in one piece, which the first of them
holds. A node is sent about once per stretch instead of once per mention, which at 18 mentions a predicate is what keeps
the shuffle after this step small.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from banyan.build.patterns import refuse_patterns
from banyan.columns import EXPRESSION, NODE_ID
from banyan.errors import ExpressionError
from banyan.language.parser import parse
from banyan.language.settings import Settings
from banyan.normal.canonical import Canonical
from banyan.normal.frequencies import Frequencies
from banyan.normal.ids import Ids
from banyan.packed import Kernel, frugal

# The reason of a row at which two different nodes had one id: the whole build starts again with the next seed.
COLLISION = "two nodes have one id"

# Nodes a worker remembers before it starts afresh: bounds its memory (about 500 bytes each) at any number of rows. At
# 400,000 a million rules had a third more nodes to make, to send and to tell apart.
STRETCH = 1_000_000

# A node: a leaf has a predicate's columns, an inner node `operands` and what is known of each.
NODE = pa.schema(
    [
        ("node_id", pa.int64()),
        ("operator", pa.string()),
        ("attribute", pa.string()),
        ("family", pa.string()),
        ("literals", pa.list_(pa.string())),
        ("operands", pa.list_(pa.int64())),
        ("level", pa.int32()),
        ("frequency", pa.float32()),
        ("operand_frequencies", pa.list_(pa.float32())),
    ]
)
# What the parser adds to a row beside its node, under names that a user's own columns will not have.
ADDED = POSITION, REASON, PATTERNS, MADE = ("banyan_position", "banyan_reason", "banyan_patterns", "banyan_made")


def parsed(
    rules: DataFrame,
    settings: Settings,
    ids: Ids,
    bad_patterns: frozenset[str] = frozenset(),
    frequencies: Frequencies | None = None,
) -> DataFrame:
    """`rules` with node_id and what else a parser adds. `bad_patterns`: regular expressions that Java refuses."""
    schema = T.StructType(
        rules.schema.fields
        + [
            T.StructField(NODE_ID, T.LongType()),
            T.StructField(POSITION, T.IntegerType()),
            T.StructField(REASON, T.StringType()),
            T.StructField(PATTERNS, T.ArrayType(T.StringType())),
            T.StructField(MADE, T.BinaryType()),
        ]
    )
    return rules.mapInArrow(frugal(parser(settings, ids, bad_patterns, frequencies)), schema)


def parser(
    settings: Settings,
    ids: Ids,
    bad_patterns: frozenset[str] = frozenset(),
    frequencies: Frequencies | None = None,
) -> Kernel:
    """The function a worker runs over its batches."""

    def parse_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Trees and nodes have no cycles, and a million of them make every collection long: a third of the time.
        gc.disable()
        try:
            stretch = _Stretch(settings, ids, bad_patterns, frequencies)
            for batch in batches:
                yield stretch.batch(batch)
                if len(stretch) > STRETCH:
                    stretch = _Stretch(settings, ids, bad_patterns, frequencies)
        finally:
            gc.enable()

    return parse_batches


class _Stretch:
    """What a worker remembers of the rows it has seen: every node, so that it is sent once."""

    def __init__(self, settings: Settings, ids: Ids, bad_patterns: frozenset[str], frequencies: Frequencies | None):
        self._settings = settings
        self._bad_patterns = bad_patterns
        self._canonical = Canonical(ids, frequencies)
        self._seen: set[int] = set()

    def __len__(self) -> int:
        return len(self._canonical)

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        roots, positions, reasons, patterns = [], [], [], []
        made: list[tuple] = []
        for text in batch.column(EXPRESSION).to_pylist():
            root = position = reason = None
            before = len(made)
            try:
                root = self._row(text, made)
            except ExpressionError as error:
                position, reason = error.position, error.reason
            roots.append(root)
            positions.append(position)
            reasons.append(reason)
            patterns.append([row[4][0] for row in made[before:] if row[1].endswith("rlike")])
        blobs = [_packed(made), *[b""] * (len(roots) - 1)] if roots else []
        columns = [
            pa.array(roots, pa.int64()),
            pa.array(positions, pa.int32()),
            pa.array(reasons, pa.string()),
            pa.array(patterns, pa.list_(pa.string())),
            pa.array(blobs, pa.binary()),
        ]
        return pa.RecordBatch.from_arrays([*batch.columns, *columns], [*batch.schema.names, NODE_ID, *ADDED])

    def _row(self, text: str | None, made: list[tuple]) -> int:
        """The root of an expression. The nodes of it that are new are added to `made`."""
        if text is None:
            raise ExpressionError("the expression is NULL")
        canonical = self._canonical
        root = canonical.add(parse(text, self._settings))
        if canonical.collision is not None:
            raise ExpressionError(COLLISION)
        if self._bad_patterns:
            refuse_patterns(canonical, root, self._bad_patterns, text)
        made += _rows(canonical, canonical.below(root, self._seen))
        return root


def _rows(canonical: Canonical, ids: list[int]) -> list[tuple]:
    rows, frequencies = [], canonical.frequencies
    for node_id in ids:
        node = canonical.nodes.get(node_id)
        if node is None:
            attribute, operator, family, literals = canonical.predicates[node_id]
            rows.append((node_id, operator, attribute, family, literals, None, 1, frequencies[node_id], None))
        else:
            operator, operands, level = node
            of_operands = [frequencies[operand] for operand in operands]
            rows.append((node_id, operator, None, None, None, operands, level, frequencies[node_id], of_operands))
    return rows


def _packed(made: list[tuple]) -> bytes:
    """The nodes in one piece: as a column of lists of structs they took Spark's writer longer than the parser."""
    if not made:
        return b""
    sink = pa.BufferOutputStream()
    columns = [pa.array(column, field.type) for column, field in zip(zip(*made), NODE)]
    with pa.ipc.new_stream(sink, NODE) as stream:
        stream.write_batch(pa.RecordBatch.from_arrays(columns, schema=NODE))
    return sink.getvalue().to_pybytes()
