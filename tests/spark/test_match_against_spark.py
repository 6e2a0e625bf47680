"""Random expressions over all operators and types, matched by the index, against Spark SQL's own WHERE.

`make test` decides 200,000 (event, expression) pairs; `make test-random` ten million, with seeds of its own.
"""

import os
from random import Random

import oracle
import pytest
from pyspark.sql import functions as F

from banyan import Index
from banyan.language.parser import parse
from banyan.match import call

ROUNDS = int(os.environ.get("BANYAN_RANDOM_ROUNDS", "1"))
FIRST_SEED = int(os.environ.get("BANYAN_RANDOM_SEED", "1"))
EVENTS = int(os.environ.get("BANYAN_RANDOM_EVENTS", "400"))
SQL_EVENTS = int(os.environ.get("BANYAN_RANDOM_SQL_EVENTS", "150"))  # of them, matched by the SQL engine too
EXPRESSIONS = int(os.environ.get("BANYAN_RANDOM_EXPRESSIONS", "520"))


@pytest.mark.filterwarnings("ignore:the events have no attribute")
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + ROUNDS))
def test_index_agrees_with_where(spark, tmp_path, monkeypatch, seed):
    rng = Random(seed)
    texts = {i: oracle.random_expression(rng, rng.choice((0, 0, 1, 2, 3))) for i in range(EXPRESSIONS)}
    events = oracle.events_df(spark, oracle.random_events(rng, EVENTS))
    expected = oracle.oracle_matches(spark, events, {i: parse(text) for i, text in texts.items()})

    index = Index.create(spark, str(tmp_path / "index"))
    index.add(spark.createDataFrame(list(texts.items()), "expression_id long, expression string"))
    found = index.match(events, id="event_id", batch_size=256)
    rows = found.collect()
    pairs = {(row["event_id"], row["expression_id"]) for row in rows}
    assert len(pairs) == len(rows), "a match was reported twice"
    assert differences(pairs, expected, texts) == []

    arrays = index.match(events, id="event_id", output="arrays")
    assert {(r["event_id"], e) for r in arrays.collect() for e in r["expression_ids"]} == expected
    assert arrays.count() == EVENTS

    # The same with the plan that a large index has.
    index.release()
    monkeypatch.setattr(call, "SMALL", 0)
    again = index.match(events, id="event_id", batch_size=1024).collect()
    assert differences({(row["event_id"], row["expression_id"]) for row in again}, expected, texts) == []

    counts = index.match(events, id="event_id", output="counts", zeros=True).collect()
    wanted = dict.fromkeys(texts, 0)
    for _, expression in expected:
        wanted[expression] += 1
    assert {row["expression_id"]: row["events"] for row in counts} == wanted
    part = events.where(f"event_id < {SQL_EVENTS}")
    by_sql = {tuple(row) for row in index.match(part, id="event_id", engine="sql").collect()}
    assert differences(by_sql, {pair for pair in expected if pair[0] < SQL_EVENTS}, texts) == []
    index.release()


def differences(found, expected, texts):
    """What is wrong, readable: (missing or extra, event, expression, its text)."""
    wrong = [("missing", *pair) for pair in expected - found] + [("extra", *pair) for pair in found - expected]
    return [(what, event, expression, texts[expression]) for what, event, expression in sorted(wrong)[:20]]


def test_shuffled_source_gives_exact_answers(spark, tmp_path):
    """Numbers are written down once: a source that comes in another order at every evaluation does no harm."""
    index = Index.create(spark, str(tmp_path / "index"))
    rules = [(f"r{i}", f"k = {i} OR m >= {1000 - i}") for i in range(0, 1000, 50)]
    index.add(spark.createDataFrame(rules, "expression_id string, expression string"))
    source = spark.range(1000).select(F.col("id").alias("event_id"), F.col("id").alias("k"), F.col("id").alias("m"))
    shuffled = source.repartition(3).orderBy(F.rand()).repartition(2, F.rand())
    expected = {(e, f"r{i}") for e in range(1000) for i in range(0, 1000, 50) if e == i or e >= 1000 - i}
    for batch_size in (400, 10_000):
        found = index.match(shuffled, id="event_id", batch_size=batch_size)
        assert {tuple(row) for row in found.collect()} == expected
        assert found.count() == len(expected)
