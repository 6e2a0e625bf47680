"""The demo's rules and flights, without Spark."""

from __future__ import annotations

import pytest

from banyan.demo.rules import REGIONS, Writer, alerts, later
from banyan.language.parser import parse_with_warnings
from banyan.normal.canonical import Canonical


def test_every_rule_can_be_read():
    rules = alerts() + later() + Writer(["UA", "B6"], ["ORD", "ATL", *REGIONS["texas"]]).rules(500)
    assert len({rule.expression_id for rule in rules}) == len(rules)
    for rule in rules:
        _, warnings = parse_with_warnings(rule.expression)
        assert not warnings, rule


def test_there_are_twenty_alerts_and_they_are_varied():
    rules = alerts()
    assert len(rules) == 20
    text = " ".join(rule.expression for rule in rules)
    for word in ("IN (", "NOT IN", "BETWEEN", "LIKE", "RLIKE", "XOR", "NOT (", "IS NULL", "IS NOT NULL", "<=>", "OR"):
        assert word in text


def test_generated_rules_are_the_same_each_time_and_share_predicates():
    rules = Writer(["UA", "B6"], ["ORD", "ATL"]).rules(1000)
    assert rules == Writer(["UA", "B6"], ["ORD", "ATL"]).rules(1000)
    canonical = Canonical()
    for rule in rules:
        canonical.add(parse_with_warnings(rule.expression)[0])
    assert len(canonical.predicates) < len(rules)


def test_what_is_missing_in_pandas_becomes_null():
    pandas = pytest.importorskip("pandas")
    from banyan.demo.flights import flights_table

    frame = pandas.DataFrame(
        {
            "dep_delay": [2.0, float("nan")],
            "tailnum": ["N1", float("nan")],
            "hour": [5, 6],
            "time_hour": ["2013-01-01T10:00:00Z", "2013-01-01T11:00:00Z"],
        }
    )
    table = flights_table(frame)
    assert table["flight_id"].to_pylist() == [1, 2]
    assert table["dep_delay"].to_pylist() == [2, None] and str(table["dep_delay"].type) == "int32"
    assert table["tailnum"].to_pylist() == ["N1", None]
    assert [one.isoformat() for one in table["time_hour"].to_pylist()][1] == "2013-01-01T11:00:00+00:00"
