"""An index on Delta through random histories: after every step its tables equal, row for row, those of a fresh build.

A few histories here; `make test-histories` runs more (BANYAN_HISTORIES, from seed BANYAN_HISTORIES_SEED on).
"""

import os
from functools import partial
from random import Random

import pytest
from plain_store import PlainStore
from texts import random_text
from trees import kleene, random_event

from banyan import Index
from banyan.build import change, loaded, small
from banyan.build.plain import PlainIndex
from banyan.language.parser import parse
from banyan.normal.frequencies import Frequencies
from banyan.store.statements import together
from banyan.store.tables import PINNED, clustering

HISTORIES = int(os.environ.get("BANYAN_HISTORIES", "2"))
FIRST_SEED = int(os.environ.get("BANYAN_HISTORIES_SEED", "0"))
STEPS = 4


def as_plain(value):
    return tuple(value) if isinstance(value, list) else value


def as_frame(spark, events, names):
    """Events as one column per attribute."""
    rows = [(i, *(event.get(name) for name in names)) for i, event in events.items()]
    return spark.createDataFrame(rows, "event_id int, " + ", ".join(f"{name} int" for name in names))


def read(index, table, quick):
    """The rows of a table: through Spark, or (`quick`) from its files as far as Banyan itself would read them so."""
    if not quick:
        return [tuple(row) for row in index.table(table).collect()]
    columns = index.table(table).columns
    found = index._place.rows(table, columns, index._version.table_versions[table])
    return list(zip(*(found[name].to_pylist() for name in columns)))


def check(index, texts, crowd, quick=False):
    """The tables against a fresh computation, and the counts of the version against the tables."""
    names = ("frequencies", "expressions", "predicates", "nodes", "edges")
    rows = dict(zip(names, together([partial(read, index, table, quick) for table in names])))
    seen = Frequencies(rows["frequencies"])
    plain = PlainIndex.build(texts, crowd=crowd, frequencies=seen)
    counts = {"expressions": len(texts), "levels": plain.depth}
    for table, expected in plain.rows().items():
        found = [tuple(map(as_plain, row)) for row in rows[table]]
        assert sorted(found) == sorted(tuple(row) for row in expected), table
        counts[table] = len(found)
    assert {row[0]: row[1] for row in rows["expressions"]} == texts
    assert {row[0]: row[2] for row in rows["expressions"]} == plain.expressions
    assert len(rows["expressions"]) == len(texts)
    assert index._version.counts == counts


def step(spark, index, rng, texts, names):
    """One random add, replace, remove or analysis, done to the index and to `texts`."""
    frame = "expression_id string, expression string"
    kind = rng.choice(("add", "add", "replace", "remove", "analyze")) if texts else "add"
    if kind == "analyze":
        index.analyze(as_frame(spark, {i: random_event(rng, names) for i in range(20)}, names))
        return
    if kind == "remove":
        going = rng.sample(sorted(texts), rng.randint(1, max(1, len(texts) // 2)))
        index.remove(going)
        for key in going:
            del texts[key]
        return
    there = rng.sample(sorted(texts), rng.randint(0, len(texts))) if kind == "replace" else []
    fresh = [f"e{i}" for i in rng.sample(range(200), 12) if f"e{i}" not in texts]
    coming = {key: random_text(rng, names) for key in (*there, *fresh)}
    getattr(index, kind)(spark.createDataFrame(list(coming.items()), frame))
    texts.update(coming)


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + HISTORIES))
def test_any_history_equals_a_fresh_build(spark, tmp_path, monkeypatch, seed):
    rng = Random(seed)
    names = "abcdefgh"[: rng.choice((4, 6, 8))]
    crowd = rng.choice((3, 10_000))
    index = Index.create(spark, str(tmp_path / "index"), crowd=crowd)
    texts: dict[str, str] = {}
    for _ in range(STEPS):
        # One step in four takes the way of large changes, so that the two ways meet on one index.
        monkeypatch.setattr(change, "SMALL", 0 if rng.random() < 0.25 else 20_000)
        # And half of the others ask the tables, and mark rows in them, as they would of a large index.
        monkeypatch.setattr(loaded, "MOST", rng.choice((0, 100_000)))
        monkeypatch.setattr(small, "WHOLE", rng.choice((0, 20_000)))
        step(spark, index, rng, texts, names)
        check(index, texts, crowd, quick=True)
    check(index, texts, crowd)
    events = {i: random_event(rng, names) for i in range(40)}
    frame = as_frame(spark, events, names)
    found = {tuple(row) for row in index.match(frame, progress=False).collect()}
    trees = {key: parse(text) for key, text in texts.items()}
    true = {(i, key) for i, event in events.items() for key, tree in trees.items() if kleene(tree, event) is True}
    assert found == true
    index.remove(list(texts))
    check(index, {}, crowd)
    for table in PINNED:
        detail = spark.sql(f"DESCRIBE DETAIL delta.`{index.where}/{table}`").first()
        assert detail["clusteringColumns"] == clustering(table)
    assert index.match(frame, progress=False).isEmpty()
    index.release()


def test_an_update_asks_the_tables_as_it_asks_plain_rows(spark, tmp_path):
    """Every question of an update, put to the Delta tables and to Python dicts that hold the same rows."""
    from banyan.build.stored import Tables

    rng = Random(7)
    texts = {f"e{i}": random_text(rng, "abcdefgh") for i in range(60)}
    texts["deep"] = "".join(f"x{i} = 1 {'OR' if i % 2 else 'AND'} (" for i in range(40)) + "a = 1" + ")" * 40
    plain = PlainStore()
    plain.replace(texts)
    index = Index.create(spark, str(tmp_path / "index"))
    index.add(spark.createDataFrame(list(texts.items()), "expression_id string, expression string"))
    ids = rng.sample([*plain.nodes, *plain.predicates], 30) + [12345]
    keys = [(row.operator, row.operands[0]) for row in rng.sample(list(plain.nodes.values()), 10)] + [("or", 1)]
    sets = [((row.operator, row.operands[-1]), row.operands[-2:]) for row in list(plain.nodes.values())[:15]]
    for tail in (0, 60, 10_000):
        tables = Tables(spark, index.table, tail=tail)
        assert set(tables.above(ids)) == set(plain.above(ids))
    assert tables.rows(ids) == plain.rows(ids)
    assert tables.levels(ids) == plain.levels(ids)
    assert {k: n for k, n in plain.holders(keys).items() if n} == tables.holders(keys)
    assert set(tables.holding(keys)) == set(plain.holding(keys))
    assert set(tables.around(sets)) == set(plain.around(sets))
    assert tables.highest(ids) == max(row.level for row in plain.nodes.values() if row.node_id not in ids)
    assert set(tables.inside(list(plain.predicates)[:12])) == set(plain.inside(list(plain.predicates)[:12]))
