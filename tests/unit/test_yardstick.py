"""The yardstick finds what the plain evaluator finds: its matching, and the way from a workload to its files."""

from __future__ import annotations

import pytest

from banyan.bench import files, workloads
from banyan.bench.forest import AND, OR
from banyan.bench.texts import PYTHON, texts
from banyan.bench.yardstick.run import compiler, measure
from banyan.bench.zero import negation_free
from banyan.language.evaluate import evaluate
from banyan.language.parser import parse

VARIANTS = [
    ("default", {}),
    ("abe", {}),
    ("abe", {"depth": 1}),
    ("abe", {"depth": 4, "attributes": 25, "values": 3}),
    ("be", {"operators": "high"}),
    ("opindex", {"attributes": 70, "values": 200, "clauses": 3, "text": 0.4}),
    ("contracts", {}),
    ("ads", {}),
]


def by_evaluator(forest, events) -> int:
    """Matches that the plain evaluator finds."""
    trees = [parse(text) for text in texts(forest)]
    rows = files.wide_table(events, forest.names).drop(["event_id"]).to_pylist()
    return sum(evaluate(tree, row, None) is True for row in rows for tree in trees)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    if compiler() is None:
        pytest.skip("no C++ compiler")
    return str(tmp_path_factory.mktemp("yardstick"))


@pytest.mark.parametrize("name, chosen", VARIANTS)
def test_it_finds_the_matches_of_the_evaluator(name, chosen, programs):
    made = workloads.named(name, 3, **chosen)
    forest, events = made.forest(60), made.events(40)
    found = measure(forest, events, runs=2, folder=programs)
    assert found.matches == by_evaluator(forest, events) > 0
    assert found.events == 40 and len(found.seconds) == 2 and found.visits > 0


@pytest.mark.parametrize("name, chosen", VARIANTS)
def test_the_negation_free_form_in_python_says_the_same(name, chosen):
    made = workloads.named(name, 4, **chosen)
    forest, events = made.forest(60), made.events(40)
    free = negation_free(forest)
    assert set(free.operator.tolist()) <= {AND, OR}
    rules = [eval(f"lambda e: {text}", {"nan": float("nan")}) for text in texts(free, PYTHON)]
    rows = files.wide_table(events, forest.names).drop(["event_id"]).to_pylist()
    given = [{name: value for name, value in row.items() if value is not None} for row in rows]
    assert sum(bool(rule(row)) for row in given for rule in rules) == by_evaluator(forest, events)
