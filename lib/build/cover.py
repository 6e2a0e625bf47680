"""Which existing nodes a node uses as children: the paper's reorganise and self-adjust as one rule.

The children of a node are a function of its operand set and of the set of nodes that exist: among the nodes with the
same operator and a proper subset of its operands, greedily take the one that covers most of what is uncovered (ties:
the larger, then the smaller id) while it covers at least two; the rest are direct children. So the shape of an index
never depends on the order in which expressions came. (The paper also takes a pick that covers a single operand; that
saves no edge and can cost a level.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.store.materialise import Scratch

# A node is a candidate only if fewer than this many nodes of its operator hold its rarest operand: keeps hostile
# workloads linear. A property of the operand, so it does not depend on history either.
CROWD = 10_000


def cover(operands: Iterable[int], candidates: Mapping[int, frozenset[int]]) -> list[int]:
    """The children of a node with these operands, sorted. Every candidate is a proper subset of the operands."""
    uncovered, picks = set(operands), []
    left = dict(candidates)
    while len(uncovered) > 1 and left:
        gain, _, negative_id = max((len(s & uncovered), len(s), -i) for i, s in left.items())
        if gain < 2:
            break
        picks.append(-negative_id)
        uncovered -= left.pop(-negative_id)
    return sorted([*picks, *uncovered])


def candidates(scratch: Scratch, inners: DataFrame, crowd: int = CROWD) -> DataFrame:
    """Pairs (node_id, other_id): `other` has the operator of `node` and a proper subset of its operands.

    A set-containment join: each set is looked up by its rarest operand among the nodes that hold it. A 64-bit
    signature of the operands goes along and refuses nearly all false pairs before the arrays are fetched.
    """
    # Asked three times by (operator, operand): where it is kept in memory it is shuffled once.
    partitions = max(2, int(scratch.spark.conf.get("spark.sql.shuffle.partitions", "2")))
    held = inners.select(
        "operator",
        F.col("node_id"),
        F.size("operands").alias("size"),
        F.expr("aggregate(operands, 0L, (sum, o) -> sum | shiftleft(1L, cast(o & 63 as int)))").alias("signature"),
        F.explode("operands").alias("operand"),
    )
    held = scratch.keep(held.repartition(partitions, "operator", "operand"))
    holders = held.groupBy("operator", "operand").agg(F.count("*").alias("holders"))
    # An operand with one holder has no second node around it: no set with that operand can be a proper subset.
    smaller = (
        held.join(holders, ["operator", "operand"])
        .groupBy("node_id", "operator", "size", "signature")
        .agg(F.min(F.struct("holders", "operand")).alias("rarest"))
        .where((F.col("rarest.holders") > 1) & (F.col("rarest.holders") < crowd))
        .select(
            F.col("node_id").alias("other_id"),
            "operator",
            F.col("size").alias("other_size"),
            F.col("signature").alias("other_signature"),
            F.col("rarest.operand").alias("operand"),
        )
    )
    return (
        smaller.join(held, ["operator", "operand"])
        .where("size > other_size AND signature & other_signature = other_signature")
        .select("node_id", "other_id")
    )


def covers(scratch: Scratch, inners: DataFrame, crowd: int = CROWD) -> DataFrame:
    """(node_id, children, access_child) for every node whose children are not simply its operands."""
    pairs = candidates(scratch, inners, crowd)
    other = inners.select(
        F.col("node_id").alias("other_id"), F.struct("node_id", "operands", "frequency").alias("other")
    )
    mine = inners.select("node_id", "operator", "operands", "operand_frequencies")
    grouped = (
        pairs.join(other, "other_id")
        .groupBy("node_id")
        .agg(F.collect_list("other").alias("others"))
        .join(mine, "node_id")
        .select("node_id", "operator", "operands", "operand_frequencies", "others")
    )
    return grouped.mapInArrow(_cover_batches, "node_id long, children array<long>, access_child long")


def _cover_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        ids, children, access = [], [], []
        operators = batch.column("operator").to_pylist()
        columns = (batch.column("node_id").to_pylist(), operators, *_lists(batch), _others(batch.column("others")))
        for node_id, operator, held, frequencies, others in zip(*columns):
            operands = frozenset(held)
            # The signature lets a few through that are no subsets.
            sets = {other: subset for other, (subset, _) in others.items() if subset < operands}
            picked = cover(operands, sets)
            if len(picked) == len(operands):
                continue
            frequency = dict(zip(held, frequencies))
            frequency.update((other, others[other][1]) for other in sets)
            ids.append(node_id)
            children.append(picked)
            access.append(access_child(operator, picked, frequency))
        yield pa.RecordBatch.from_arrays(
            [pa.array(ids, pa.int64()), pa.array(children, pa.list_(pa.int64())), pa.array(access, pa.int64())],
            ["node_id", "children", "access_child"],
        )


def _lists(batch: pa.RecordBatch) -> tuple[list[list], list[list]]:
    return tuple(_cut(batch.column(name)) for name in ("operands", "operand_frequencies"))


def _cut(lists: pa.ListArray) -> list[list]:
    """As Python lists, by way of one flat list: a third of the time of to_pylist."""
    flat, ends = lists.flatten().to_pylist(), np.cumsum(lists.value_lengths().to_numpy()).tolist()
    return [flat[start:end] for start, end in zip([0, *ends], ends)]


def _others(lists: pa.ListArray) -> list[dict[int, tuple[frozenset[int], float]]]:
    """For each row the other nodes with their operands and frequencies."""
    flat = lists.flatten()
    ids, frequencies = flat.field("node_id").to_pylist(), flat.field("frequency").to_pylist()
    sets = list(zip(map(frozenset, _cut(flat.field("operands"))), frequencies))
    ends = np.cumsum(lists.value_lengths().to_numpy()).tolist()
    return [dict(zip(ids[start:end], sets[start:end])) for start, end in zip([0, *ends], ends)]


def access_child(operator: str, children: Iterable[int], frequency: Mapping[int, float]) -> int | None:
    """The child of an and-node that is expected to be true least often; ties by smaller id."""
    return min(children, key=lambda child: (frequency[child], child)) if operator == "and" else None
