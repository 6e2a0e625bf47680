"""Random expressions on random events: the plain evaluator and Spark SQL itself must agree on every decision."""

from __future__ import annotations

from random import Random

import oracle
import pytest

from banyan.explain.casts import SparkCasts
from banyan.language.evaluate import evaluate
from banyan.language.parser import parse
from banyan.language.settings import Settings

ZONE = "America/New_York"


@pytest.fixture(scope="module")
def zoned(spark):
    """The session in a zone that is not UTC, so that a zone forgotten somewhere shows."""
    name = "spark.sql.session.timeZone"
    before = spark.conf.get(name)
    spark.conf.set(name, ZONE)
    yield spark
    spark.conf.set(name, before)


def disagreements(spark, texts: list[str], events: list[dict]) -> list[str]:
    """Every (expression, event) on which the evaluator and Spark differ, told in full."""
    trees = {text: parse(text, Settings(time_zone=ZONE)) for text in texts}
    matched = oracle.oracle_matches(spark, oracle.events_df(spark, events), trees)
    plain = {event["event_id"]: oracle.plain(event) for event in events}
    casts = SparkCasts(spark, ZONE)
    casts.prepare_for(trees.values(), plain.values())
    return [
        f"{text}\n  on {event}\n  Spark: {(number, text) in matched}, evaluator: {evaluate(tree, event, casts)}"
        for text, tree in trees.items()
        for number, event in plain.items()
        if (evaluate(tree, event, casts) is True) != ((number, text) in matched)
    ]


def test_single_predicates(zoned):
    """Both polarities of each, so that undefined is told from false."""
    rng = Random(41)
    predicates = [oracle.random_expression(rng, 0) for _ in range(150)]
    texts = [form for text in predicates for form in (text, f"NOT ({text})")]
    assert disagreements(zoned, texts, oracle.random_events(rng, 40)) == []


def test_expressions(zoned):
    rng = Random(42)
    texts = [oracle.random_expression(rng, 3) for _ in range(200)]
    assert disagreements(zoned, texts, oracle.random_events(rng, 50)) == []
