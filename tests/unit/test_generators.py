"""The generators of the papers: sharing, operator mix, determinism, and that every text they make can be read."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from banyan.bench import abe, ads, be, files, workload, workloads
from banyan.bench.draw import pool_size, zipf
from banyan.bench.forest import AND, NOT, OR, XNOR, XOR, sharing
from banyan.bench.texts import texts
from banyan.errors import ArgumentError
from banyan.language.evaluate import evaluate
from banyan.language.parser import parse

VARIANTS = [
    ("default", {}),
    ("abe", {}),
    ("abe", {"depth": 1}),
    ("abe", {"depth": 5, "children": 2, "alpha": 0.0}),
    ("abe", {"attributes": 30, "values": 3, "alpha": 1.0}),
    ("be", {"operators": "high"}),
    ("opindex", {"clauses": 4, "text": 0.3}),
    ("opindex", {"clauses": 3, "normal_form": "cnf", "alpha": 0.8}),
    ("contracts", {}),
    ("ads", {}),
]


@pytest.mark.parametrize("name, chosen", VARIANTS)
def test_every_text_can_be_read_and_the_seed_decides(name, chosen):
    made = workloads.named(name, 5, **chosen)
    found = texts(made.forest(200))
    assert len(found) == 200
    for text in found:
        parse(text)
    assert found == texts(workloads.named(name, 5, **chosen).forest(200))
    assert found != texts(workloads.named(name, 6, **chosen).forest(200))
    first, second = (made.events(50), workloads.named(name, 6, **chosen).events(50))
    assert first.count == 50 and all(np.array_equal(a, b) for a, b in zip(first, made.events(50)))
    assert not np.array_equal(first.value[:20], second.value[:20])


@pytest.mark.parametrize("name, chosen", VARIANTS)
def test_an_attribute_stands_once_in_an_event(name, chosen):
    events = workloads.named(name, 1, **chosen).events(100)
    for start, end in zip(events.starts, events.starts[1:]):
        assert len(set(events.attribute[start:end].tolist())) == end - start > 0


def test_abe_gen_shares_as_the_paper_says():
    leaves, middle, _ = sharing(abe.forest(20_000))
    assert leaves == pytest.approx(18.35, rel=0.03) and middle == pytest.approx(4.33, rel=0.03)


def test_the_default_workload_shares_nearly_as_the_paper_says():
    leaves, middle, _ = sharing(workload.forest(20_000))
    assert leaves == pytest.approx(18.35, rel=0.12) and middle == pytest.approx(4.33, rel=0.12)


def test_abe_gen_without_zipf_shares_no_sub_expression():
    assert sharing(abe.forest(500, 1, abe.Shape(alpha=0.0)))[1] == 1.0


def test_more_zipf_is_more_sharing():
    found = [sharing(abe.forest(3_000, 1, abe.Shape(alpha=alpha)))[1] for alpha in (0.2, 0.4, 0.6, 0.8, 1.0)]
    assert found == sorted(found)


def test_ads_share_as_the_paper_says():
    found = sharing(ads.forest(20_000))
    assert found[0] == pytest.approx(68.76, rel=0.05) and found[-1] == pytest.approx(2.88, rel=0.05)
    assert found == sorted(found, reverse=True) and len(found) == 9


def test_ads_keep_to_the_published_bounds():
    found = texts(ads.forest(5_000))
    predicates = [len(re.findall(r" (?:!?=|<=|>=|IN|BETWEEN) ", text)) for text in found]
    assert min(predicates) == 1 and 30 < max(predicates) <= 56


def test_abe_gen_mixes_operators_as_the_paper_says():
    mix = Counter(abe.forest(20_000).operator.tolist())
    shares = {code: count / sum(mix.values()) for code, count in mix.items()}
    assert shares == {
        AND: pytest.approx(0.4, abs=0.01),
        OR: pytest.approx(0.4, abs=0.01),
        NOT: pytest.approx(0.1, abs=0.01),
        XOR: pytest.approx(0.05, abs=0.01),
        XNOR: pytest.approx(0.05, abs=0.01),
    }


@pytest.mark.parametrize("depth", range(1, 7))
def test_abe_gen_has_the_depth_that_is_asked_for(depth):
    assert len(abe.forest(50, 1, abe.Shape(depth=depth)).layers) == depth


def test_the_default_workload_is_what_it_has_always_been():
    # Figures of different days are only comparable while this holds.
    assert workload.expressions(1000, 1)[999] == (
        "(a147 BETWEEN 5 AND 20 OR a586 >= 57 OR a465 <= 59 OR a465 <= 59) OR (a511 != 76 OR a822 = 58 "
        "OR a772 != 59 OR a840 BETWEEN 98 AND 99) OR (a459 != 78 AND a571 = 7 AND a768 BETWEEN 99 AND 99"
        " AND a260 != 76) OR (a827 != 46 OR a839 >= 46 OR a971 BETWEEN 54 AND 56 OR a787 BETWEEN 43 AND "
        "45)"
    )


def test_an_expression_of_be_gen_is_satisfied_by_its_base():
    shape = be.Shape(match_percent=10, operators="high")
    rules = texts(be.forest(60, 1, shape))
    events = files.wide_table(be.events(40, 1, shape), be.forest(1, 1, shape).names).drop(["event_id"]).to_pylist()
    distinct = {tuple(sorted((k, v) for k, v in event.items() if v is not None)) for event in events}
    assert len(distinct) == 10
    for rule in rules:
        assert any(evaluate(parse(rule), event, None) for event in events)


def test_a_pool_is_drawn_from_as_often_as_wanted():
    random, draws = np.random.default_rng(1), 50_000
    for wanted in (1.5, 4.33, 40):
        size = pool_size(draws, wanted, 0.6)
        assert draws / len(np.unique(zipf(random, size, draws, 0.6))) == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize("name", ["default", "ads"])
def test_the_files_hold_what_was_made(name, tmp_path):
    made = workloads.named(name)
    forest, events = made.forest(50), made.events(30)
    for ending in ("parquet", "csv"):
        files.write_rules(f"{tmp_path}/rules.{ending}", forest)
        files.write_events(f"{tmp_path}/long.{ending}", events, forest.names)
        files.write_events(f"{tmp_path}/wide.{ending}", events, forest.names, wide=True)
    rules = pq.read_table(f"{tmp_path}/rules.parquet")
    assert rules["expression"].to_pylist() == texts(forest)
    assert pyarrow.csv.read_csv(f"{tmp_path}/rules.csv").equals(rules)
    long, wide = (pq.read_table(f"{tmp_path}/{form}.parquet") for form in ("long", "wide"))
    assert len(pyarrow.csv.read_csv(f"{tmp_path}/long.csv")) == len(long) == len(events.value)
    pairs = {(row["event_id"], row["attribute"], str(row["value"])) for row in long.to_pylist()}
    for row in wide.to_pylist():
        event = row.pop("event_id")
        assert {(event, k, str(v)) for k, v in row.items() if v is not None} == {p for p in pairs if p[0] == event}


@pytest.mark.parametrize(
    "name, settings, message",
    [
        ("abe", ["dept=3"], "did you mean depth"),
        ("abe", ["depth"], "give name=value"),
        ("abe", ["depth=deep"], "give name=value"),
    ],
)
def test_a_setting_that_is_not_there_is_named(name, settings, message):
    with pytest.raises(ArgumentError, match=message):
        workloads.named(name, **workloads.read(name, settings))


def test_settings_are_read_as_the_shape_has_them():
    read = workloads.read("abe", ["depth=4", "alpha=1", "mix=0.5/0.5/0/0/0"])
    assert read == {"depth": 4, "alpha": 1.0, "mix": (0.5, 0.5, 0.0, 0.0, 0.0)}
