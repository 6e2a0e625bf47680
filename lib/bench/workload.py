"""The default workload of the A-Tree paper's generator, as texts and events.

Depth 3 with 4 children: a root over four sub-expressions over four predicates each, AND or OR at random, drawn
Zipf-like (0.6) from pools sized so that a predicate is mentioned 18.35 times and a sub-expression 4.33 times on
average, over 1,000 attributes with 100 values; events have 20 attributes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


class Shape(NamedTuple):
    attributes: int = 1000
    values: int = 100
    children: int = 4
    alpha: float = 0.6
    pairs: int = 20
    predicate_sharing: float = 18.35
    sub_sharing: float = 4.33


DEFAULT = Shape()


def _zipf(random: np.random.Generator, items: int, size: int, alpha: float) -> np.ndarray:
    cumulated = np.cumsum(1 / np.arange(1, items + 1) ** alpha)
    return np.searchsorted(cumulated / cumulated[-1], random.random(size))


def expressions(count: int, seed: int = 1, shape: Shape = DEFAULT) -> list[str]:
    """`count` expression texts."""
    random = np.random.default_rng(seed)
    children = shape.children
    subs = max(1, int(count * children / shape.sub_sharing))
    predicates = max(1, int(count * children * children / shape.predicate_sharing))
    attribute = random.integers(0, shape.attributes, predicates)
    operator = random.integers(0, 6, predicates)
    low = random.integers(0, shape.values, predicates)
    high = np.minimum(shape.values - 1, low + random.integers(0, 20, predicates))
    templates = [
        "a{0} = {1}",
        "a{0} <= {1}",
        "a{0} >= {1}",
        "a{0} BETWEEN {1} AND {2}",
        "a{0} != {1}",
        "a{0} BETWEEN {1} AND {3}",
    ]
    last = np.minimum(shape.values - 1, low + 2)
    columns = (operator.tolist(), attribute.tolist(), low.tolist(), high.tolist(), last.tolist())
    texts = [templates[o].format(a, x, y, z) for o, a, x, y, z in zip(*columns)]
    of_sub = np.sort(_zipf(random, predicates, subs * children, shape.alpha).reshape(subs, children), axis=1)
    words = (" AND ", " OR ")
    sub_word = random.integers(0, 2, subs)
    subs_text = [
        "(" + words[w].join([texts[p] for p in row]) + ")" for w, row in zip(sub_word.tolist(), of_sub.tolist())
    ]
    of_root = np.sort(_zipf(random, subs, count * children, shape.alpha).reshape(count, children), axis=1)
    root_word = random.integers(0, 2, count)
    return [words[w].join([subs_text[s] for s in row]) for w, row in zip(root_word.tolist(), of_root.tolist())]


def write_rules(path: str, count: int, seed: int = 1, shape: Shape = DEFAULT) -> None:
    """A parquet file of expression_id and expression."""
    table = {"expression_id": pa.array(np.arange(count)), "expression": pa.array(expressions(count, seed, shape))}
    # Several row groups, so that Spark reads it with all cores.
    pq.write_table(pa.table(table), path, row_group_size=max(1000, count // 16))


def write_events(path: str, count: int, seed: int = 7, shape: Shape = DEFAULT) -> None:
    """A parquet file in long form: event_id, attribute, value."""
    random = np.random.default_rng(seed)
    chunks = []
    for start in range(0, count, 8192):
        size = min(8192, count - start)
        keys = random.random((size, shape.attributes), dtype=np.float32)
        chunks.append(np.argpartition(keys, shape.pairs, axis=1)[:, : shape.pairs])
    attribute = np.concatenate(chunks)
    names = pa.array([f"a{i}" for i in range(shape.attributes)])
    table = pa.table(
        {
            "event_id": pa.array(np.repeat(np.arange(count), shape.pairs)),
            "attribute": pa.DictionaryArray.from_arrays(pa.array(attribute.ravel().astype(np.int32)), names).cast(
                pa.string()
            ),
            "value": pa.array(random.integers(0, shape.values, attribute.size)),
        }
    )
    pq.write_table(table, path, row_group_size=max(1000, len(table) // 16))
