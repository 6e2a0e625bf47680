"""The shape of an index, worked out in rounds of buckets: what a worker does between two shuffles.

In: the nodes that the parsers made, packed. Out: every node once, with its children, level, access child and use count.
A node is at home in the bucket of its id; what is asked about an operand is asked in the bucket of the operand's id.

    scatter   nodes -> their homes                                                    (inner, leaf, root)
    unique    each node once; who holds which operand -> the operand's bucket         (node, predicate, held_*)
    rarest    how many hold an operand -> the holders' homes                          (rare, used)
    asking    each set -> the bucket of its rarest operand                            (smaller_*)
    around    the sets in that bucket that hold all of it -> their homes              (pair)
    shape     the children of each node, by the rule of `cover`

The last four are a set-containment join: each set is looked up by its rarest operand among the nodes of its operator. A
64-bit signature of the operands refuses nearly all false pairs; `shape` compares the sets themselves. Rows move packed,
because in Spark's own joins a row per mention of an operand took most of a build of a million expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from banyan.build.cover import access_child, cover
from banyan.build.parse import MADE
from banyan.language.tree import TRUE_WHEN_ABSENT
from banyan.normal.ids import FALSE_ID, TRUE_ID
from banyan.packed import Kernel, scattered, unpack

Pieces = Mapping[str, list[pa.Table]]

# What each round reads of all that was made before it.
PARTS = {
    "unique": ("inner", "leaf"),
    "rarest": ("held_and", "held_or"),
    "asking": ("node", "rare"),
    "around": ("held_and", "held_or", "smaller_and", "smaller_or"),
    "shape": ("node", "pair", "used", "root"),
    "predicates": ("predicate", "used", "root"),
}
_OPERATORS = ("and", "or")
# Bytes of made nodes that are sent on together, and pairs of sets that are looked at together.
_TOGETHER, _PAIRS = 32 << 20, 1 << 22

_LEAF = ["node_id", "attribute", "operator", "family", "literals", "frequency"]
_INNER = ["node_id", "operator", "operands", "operand_frequencies", "level", "frequency"]
SHAPED = pa.schema(
    [
        ("node_id", pa.int64()),
        ("operator", pa.string()),
        ("operands", pa.list_(pa.int64())),
        ("operand_frequencies", pa.list_(pa.float32())),
        ("logical_level", pa.int32()),
        ("level", pa.int32()),
        ("use_count", pa.int64()),
        ("access_child", pa.int64()),
        ("expected_frequency", pa.float32()),
        ("children", pa.list_(pa.int64())),
    ]
)


def scatter(keys: list[int]) -> Kernel:
    """From batches of node ids and made nodes, as the parsers leave them."""

    def sent(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for made, roots in _together(batches):
            is_leaf = pc.is_null(made["operands"])
            leaves, inners = made.filter(is_leaf).select(_LEAF), made.filter(pc.invert(is_leaf)).select(_INNER)
            yield from scattered("leaf", _ids(leaves), leaves, keys)
            yield from scattered("inner", _ids(inners), inners, keys)
            roots = roots[(roots != TRUE_ID) & (roots != FALSE_ID)]
            yield from scattered("root", roots, pa.table({"node_id": roots}), keys)

    return sent


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.Table, np.ndarray]]:
    made: list[pa.Table] = []
    roots: list[np.ndarray] = []
    for batch in batches:
        roots.append(batch.column("node_id").drop_null().to_numpy())
        blobs = batch.column(MADE)
        for blob in blobs.filter(pc.greater(pc.binary_length(blobs), 0)):
            made.append(pa.ipc.open_stream(blob.as_buffer()).read_all())
        if sum(table.nbytes for table in made) > _TOGETHER:
            yield pa.concat_tables(made), np.concatenate(roots)
            made, roots = [], []
    if made:
        yield pa.concat_tables(made), np.concatenate(roots)


def in_buckets(step: Callable[[Pieces, list[int]], Iterator[pa.RecordBatch]], keys: list[int]) -> Kernel:
    """The function a worker runs over the packed rows of its buckets."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = unpack(batches)
        while found:
            yield from step(found.popitem()[1], keys)

    return run


def unique(pieces: Pieces, keys: list[int]) -> Iterator[pa.RecordBatch]:
    """Each node once. `collision`: ids that two different nodes have."""
    inner, leaf = (_first_of_each(_whole(pieces, part)) for part in ("inner", "leaf"))
    twice = [ids for _, ids in (inner, leaf)]
    nodes, predicates = inner[0], leaf[0]
    if nodes is not None and predicates is not None:
        twice.append(np.intersect1d(_ids(nodes), _ids(predicates)))
    collision = np.concatenate(twice)
    yield from scattered("collision", collision, pa.table({"node_id": collision}), keys)
    if predicates is not None:
        yield from scattered("predicate", _ids(predicates), predicates, keys)
    if nodes is None:
        return
    yield from scattered("node", _ids(nodes), nodes, keys)
    for operator in _OPERATORS:
        mine = nodes.filter(pc.equal(nodes["operator"], operator))
        if len(mine):
            lengths, operands = _lists(mine["operands"])
            held = pa.table(
                {
                    "operand": operands,
                    "node_id": np.repeat(_ids(mine), lengths),
                    "signature": np.repeat(_signatures(lengths, operands), lengths),
                }
            )
            yield from scattered(f"held_{operator}", operands, held, keys)


def _first_of_each(table: pa.Table | None) -> tuple[pa.Table | None, np.ndarray]:
    """One row for each id, and the ids whose rows differ."""
    if table is None:
        return None, np.zeros(0, np.int64)
    ids = _ids(table)
    order = np.argsort(ids, kind="stable")
    again = np.flatnonzero(np.diff(ids[order]) == 0) + 1
    differ = np.zeros(0, np.int64)
    if len(again):
        these, those = table.take(pa.array(order[again])), table.take(pa.array(order[again - 1]))
        if not these.combine_chunks().equals(those.combine_chunks()):
            differ = np.array([i for i, a, b in zip(ids[order[again]], _rows(these), _rows(those)) if a != b], np.int64)
    return table.take(pa.array(np.delete(order, again))), differ


def _rows(table: pa.Table) -> list[dict]:
    return table.to_pylist()


def _signatures(lengths: np.ndarray, operands: np.ndarray) -> np.ndarray:
    """A set can hold another only if it has all bits of it."""
    bits = np.left_shift(np.uint64(1), (operands & 63).astype(np.uint64))
    return np.bitwise_or.reduceat(bits, np.cumsum(lengths) - lengths)


def rarest(crowd: int) -> Callable[[Pieces, list[int]], Iterator[pa.RecordBatch]]:
    """How many nodes hold each operand. Of those that `crowd` or more hold nobody is told: they find no candidate."""

    def counted(pieces: Pieces, keys: list[int]) -> Iterator[pa.RecordBatch]:
        for operator in _OPERATORS:
            held = _whole(pieces, f"held_{operator}")
            if held is None:
                continue
            operand, node = held["operand"].to_numpy(), _ids(held)
            order = np.argsort(operand, kind="stable")
            starts, counts = _runs(operand[order])
            distinct = operand[order[starts]]
            yield from scattered("used", distinct, pa.table({"node_id": distinct, "count": counts}), keys)
            order = order[np.repeat(counts < crowd, counts)]
            counts = counts[counts < crowd]
            rare = {
                "node_id": node[order],
                "operand": operand[order],
                "holders": np.repeat(counts, counts).astype(np.int32),
            }
            yield from scattered("rare", rare["node_id"], pa.table(rare), keys)

    return counted


def asking(pieces: Pieces, keys: list[int]) -> Iterator[pa.RecordBatch]:
    """Each set that another may hold, to the bucket of its rarest operand."""
    nodes, rare = _whole(pieces, "node"), _whole(pieces, "rare")
    if nodes is None or rare is None:
        return
    node, holders, operand = _ids(rare), rare["holders"].to_numpy(), rare["operand"].to_numpy()
    order = np.lexsort((holders, node))
    order = order[_runs(node[order])[0]]
    # The only holder of an operand has nobody around it.
    order = order[holders[order] > 1]
    ids = _ids(nodes)
    sorter = np.argsort(ids, kind="stable")
    rows = nodes.take(pa.array(sorter[np.searchsorted(ids, node[order], sorter=sorter)]))
    if not len(rows):
        return
    lengths, operands = _lists(rows["operands"])
    smaller = pa.table(
        {
            "operand": operand[order],
            "signature": _signatures(lengths, operands),
            "other_id": rows["node_id"],
            "others": rows["operands"],
            "level": rows["level"],
            "frequency": rows["frequency"],
        }
    )
    for operator in _OPERATORS:
        mine = pc.equal(rows["operator"], operator)
        sent = smaller.filter(mine)
        yield from scattered(f"smaller_{operator}", sent["operand"].to_numpy(), sent, keys)


def around(pieces: Pieces, keys: list[int]) -> Iterator[pa.RecordBatch]:
    """Each set to the homes of the nodes that seem to hold all of it."""
    for operator in _OPERATORS:
        held, smaller = _whole(pieces, f"held_{operator}"), _whole(pieces, f"smaller_{operator}")
        if held is None or smaller is None:
            continue
        operand = held["operand"].to_numpy()
        order = np.argsort(operand, kind="stable")
        operand, node, signature = operand[order], _ids(held)[order], held["signature"].to_numpy()[order]
        asked, own, other = (smaller[name].to_numpy() for name in ("operand", "signature", "other_id"))
        low, high = (np.searchsorted(operand, asked, side) for side in ("left", "right"))
        told = smaller.select(["other_id", "others", "level", "frequency"]).combine_chunks()
        for start, end in _stretches(high - low):
            lengths = (high - low)[start:end]
            row = np.repeat(np.arange(start, end), lengths)
            first = low[start:end] - (np.cumsum(lengths) - lengths)
            at = np.arange(len(row)) + np.repeat(first, lengths)
            keep = np.flatnonzero(((own[row] & ~signature[at]) == 0) & (other[row] != node[at]))
            found = told.take(pa.array(row[keep])).append_column("node_id", pa.array(node[at[keep]]))
            yield from scattered("pair", node[at[keep]], found, keys)


def _stretches(lengths: np.ndarray) -> Iterator[tuple[int, int]]:
    """Cuts rows so that the lengths of a stretch add up to few pairs, or it is a single row."""
    ends, start = np.cumsum(lengths), 0
    while start < len(lengths):
        before = ends[start] - lengths[start]
        end = max(start + 1, int(np.searchsorted(ends, before + _PAIRS, "right")))
        yield start, end
        start = end


def shape(pieces: Pieces, keys: list[int]) -> Iterator[pa.RecordBatch]:
    """The rows of SHAPED: the nodes with their children. `level` reckons with the covers of a node, but not yet with
    what is below those that were raised themselves."""
    nodes = _whole(pieces, "node")
    if nodes is None:
        return
    nodes = nodes.take(pa.array(np.argsort(_ids(nodes), kind="stable")))
    uses = _use_counts(_ids(nodes), pieces)
    covered = _covered(nodes, _whole(pieces, "pair"))
    plain = np.delete(np.arange(len(nodes)), covered.rows)
    if len(plain):
        these = nodes.take(pa.array(plain))
        yield _shaped(these, uses[plain], these["operands"], these["level"], _least_frequent(these))
    if len(covered.rows):
        these = nodes.take(pa.array(covered.rows))
        children = pa.array(covered.children, pa.list_(pa.int64()))
        levels = np.maximum(these["level"].to_numpy(), np.array(covered.levels, np.int32))
        yield _shaped(these, uses[covered.rows], children, pa.array(levels), pa.array(covered.access, pa.int64()))


def _shaped(nodes: pa.Table, uses: np.ndarray, children, levels, access) -> pa.RecordBatch:
    is_and = pc.equal(nodes["operator"], "and")
    table = pa.table(
        [
            nodes["node_id"],
            nodes["operator"],
            nodes["operands"],
            nodes["operand_frequencies"],
            nodes["level"],
            levels,
            pa.array(uses),
            pc.if_else(is_and, access, pa.scalar(None, pa.int64())),
            nodes["frequency"],
            children,
        ],
        schema=SHAPED,
    )
    return table.combine_chunks().to_batches()[0]


class _Covers:
    """The nodes whose children are not simply their operands; all lists are parallel."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.children: list[list[int]] = []
        self.levels: list[int] = []
        self.access: list[int | None] = []


def _covered(nodes: pa.Table, pairs: pa.Table | None) -> _Covers:
    found = _Covers()
    if pairs is None:
        return found
    order = np.argsort(_ids(pairs), kind="stable")
    starts, counts = _runs(_ids(pairs)[order])
    pairs = pairs.take(pa.array(order))
    others = list(
        zip(
            pairs["other_id"].to_pylist(),
            map(frozenset, cut(pairs["others"])),
            pairs["frequency"].to_pylist(),
            pairs["level"].to_pylist(),
        )
    )
    rows = np.searchsorted(_ids(nodes), _ids(pairs)[starts])
    mine = nodes.take(pa.array(rows))
    columns = (rows.tolist(), mine["operator"].to_pylist(), cut(mine["operands"]), cut(mine["operand_frequencies"]))
    for start, count, row, operator, held, frequencies in zip(starts.tolist(), counts.tolist(), *columns):
        operands = frozenset(held)
        # The signature lets a few through that are no subsets.
        around = {other[0]: other for other in others[start : start + count] if other[1] < operands}
        if not around:
            continue
        children = cover(operands, {i: other[1] for i, other in around.items()})
        if len(children) == len(operands):
            continue
        frequency = dict(zip(held, frequencies))
        frequency.update((i, other[2]) for i, other in around.items())
        found.rows.append(row)
        found.children.append(children)
        found.levels.append(1 + max(around[child][3] for child in children if child in around))
        found.access.append(access_child(operator, children, frequency))
    return found


def _least_frequent(nodes: pa.Table) -> pa.Array:
    """The operand least often true; operands are sorted, so the first of equals has the least id."""
    lengths, operands = _lists(nodes["operands"])
    frequencies = _lists(nodes["operand_frequencies"])[1]
    starts = np.cumsum(lengths) - lengths
    least = np.flatnonzero(frequencies == np.repeat(np.minimum.reduceat(frequencies, starts), lengths))
    return pa.array(operands[least[np.searchsorted(least, starts)]])


PREDICATES = [*_LEAF[:-1], "true_when_absent", "use_count", "expected_frequency"]


def predicates(pieces: Pieces, keys: list[int]) -> Iterator[pa.RecordBatch]:
    """The rows of the table of leaves."""
    leaves = _whole(pieces, "predicate")
    if leaves is None:
        return
    columns = [leaves[name] for name in _LEAF[:-1]]
    absent = pc.is_in(leaves["operator"], pa.array(sorted(TRUE_WHEN_ABSENT)))
    columns += [absent, pa.array(_use_counts(_ids(leaves), pieces)), leaves["frequency"]]
    yield pa.table(columns, names=PREDICATES).combine_chunks().to_batches()[0]


def _use_counts(ids: np.ndarray, pieces: Pieces) -> np.ndarray:
    """Expressions attached plus nodes that have it as a logical operand."""
    used, roots = _whole(pieces, "used"), _whole(pieces, "root")
    counts = np.zeros(len(ids), np.int64)
    order = np.argsort(ids, kind="stable")
    for table, weights in ((used, "count"), (roots, None)):
        if table is not None and len(ids):
            asked = _ids(table)
            at = np.minimum(np.searchsorted(ids, asked, sorter=order), len(ids) - 1)
            here = ids[order[at]] == asked
            weight = table[weights].to_numpy()[here] if weights else None
            counts[order] += np.bincount(at[here], weight, len(ids)).astype(np.int64)
    return counts


def cut(lists: pa.ListArray | pa.ChunkedArray) -> list[list]:
    """As Python lists, by way of one flat list: a third of the time of to_pylist."""
    lengths, flat = _lists(lists)
    flat, ends = flat.tolist(), np.cumsum(lengths).tolist()
    return [flat[start:end] for start, end in zip([0, *ends], ends)]


def _lists(lists: pa.ListArray | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """The lengths, and the elements of all."""
    return pc.list_value_length(lists).to_numpy(), pc.list_flatten(lists).to_numpy()


def _runs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each stretch of equal values starts, and its length."""
    starts = np.flatnonzero(np.r_[len(values) > 0, values[1:] != values[:-1]])
    return starts, np.diff(np.r_[starts, len(values)])


def _ids(table: pa.Table) -> np.ndarray:
    return table["node_id"].to_numpy()


def _whole(pieces: Pieces, part: str) -> pa.Table | None:
    """The table of which these are the pieces; None if there are none."""
    return pa.concat_tables(pieces[part]).combine_chunks() if pieces.get(part) else None
