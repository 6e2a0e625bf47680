"""Rules and events as people have them: every format of rules gives the same index, every form of events the same
matches."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import functions as F

from banyan import Index
from banyan.errors import EventsError
from banyan.jobs.files import read_rules
from banyan.store.rules import as_rules

TREES = {
    "adult": {
        "and": [{"attr": "age", "op": ">=", "value": 18}, {"attr": "country", "op": "in", "value": ["DE", "FR"]}]
    },
    "price": {"attr": "cart.price", "op": "<", "value": 9.5},
    "vip": {"not": {"attr": "Vip", "op": "is true"}},
    "one": {"xor": [{"attr": "age", "op": "=", "value": 31}, {"attr": "tags", "op": "array_contains", "value": "new"}]},
}
EVENTS = [
    (1, {"age": 31, "country": "DE", "cart": {"price": 9.25}, "vip": True, "tags": ["old"]}),
    (2, {"age": "31", "country": "US", "cart": {"price": 9.75}, "tags": ["new", None]}),
    (3, {"Age": 18, "country": "FR", "vip": None, "tags": []}),
    (4, {}),
]


@pytest.fixture(scope="module")
def index(spark, tmp_path_factory):
    """The index of the trees, as JSON texts."""
    index = Index.create(spark, str(tmp_path_factory.mktemp("files") / "index"))
    rows = [(key, json.dumps(tree)) for key, tree in TREES.items()]
    index.add(spark.createDataFrame(rows, "expression_id string, expression string"))
    return index


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "objects.jsonl", "parquet", "delta", "variant", "struct"])
def test_rules_of_every_format_are_the_same_rules(spark, index, tmp_path, ending):
    path = str(tmp_path / f"rules.{ending}")
    nested = [{"id": key, "rule": tree, "team": "t"} for key, tree in TREES.items()]
    texts = [{"id": key, "rule": json.dumps(tree), "team": "t"} for key, tree in TREES.items()]
    frame = spark.createDataFrame([tuple(row.values()) for row in texts], "id string, rule string, team string")
    if ending.endswith(("json", "jsonl")):
        rows = nested if ending != "jsonl" else texts
        lines = [json.dumps(rows, indent=2)] if ending == "json" else [json.dumps(row) for row in rows]
        (tmp_path / f"rules.{ending}").write_text("\n".join(lines))
        rules = read_rules(spark, path, "id", "rule")
    elif ending == "struct":
        # One type for all rows, so only trees of one shape.
        shape = "attr string, op string, value double"
        frame = frame.where("id = 'price'").withColumn("rule", F.from_json("rule", shape))
        rules = as_rules(frame, "id", "rule", "rules")
        text = '{"attr":"cart.price","op":"<","value":9.5}'
        assert [tuple(row) for row in rules.collect()] == [("price", text, "t")]
        return
    elif ending == "csv":
        frame.coalesce(1).write.option("header", True).option("escape", '"').csv(path)
        rules = read_rules(spark, path, "id", "rule")
    else:
        frame = frame.withColumn("rule", F.parse_json("rule")) if ending == "variant" else frame
        frame.write.format("parquet" if ending == "parquet" else "delta").save(path)
        rules = read_rules(spark, path, "id", "rule")
    found = {row["expression_id"]: json.loads(row["expression"]) for row in rules.collect()}
    assert found == TREES and rules.columns == ["expression_id", "expression", "team"]


def test_a_tree_is_explained_like_a_text(index):
    assert "false: the event does not match" in index.explain({"age": 17, "country": "DE"}, "adult")


def test_a_bad_tree_is_refused_with_its_path(spark, index):
    from banyan.errors import RulesError

    bad = [("bad", '{"and": [{"attr": "a", "op": "in", "value": 3}]}')]
    with pytest.raises(RulesError, match=r"bad: \$\.and\[0\]\.value: expected a list of at least one value, found 3\n"):
        index.add(spark.createDataFrame(bad, "expression_id string, expression string"))


def pairs(frame):
    return sorted(tuple(row) for row in frame.collect())


@pytest.mark.filterwarnings("ignore::banyan.match.missing.MissingAttributeWarning")
def test_events_in_json_and_variant_columns_match_like_columns(spark, index):
    texts = spark.createDataFrame([(key, json.dumps(event)) for key, event in EVENTS], "event_id int, payload string")
    expected = [(1, "adult"), (1, "one"), (1, "price"), (2, "vip"), (3, "adult"), (3, "vip"), (4, "vip")]
    # A text that is no JSON object has no attributes; a key that is there in two cases is taken as it is.
    odd = [(5, "no json"), (6, "[1]"), (7, None), (8, '{"AGE": 18, "age": 31, "country": "DE", "vip": true}')]
    odd_expected = [(5, "vip"), (6, "vip"), (7, "vip"), (8, "adult")]
    more = texts.union(spark.createDataFrame(odd, texts.schema))
    assert pairs(index.match(index.unpack(more, "payload"))) == expected + odd_expected
    variants = texts.withColumn("payload", F.parse_json("payload"))
    assert pairs(index.match(index.unpack(variants, "payload"))) == expected
    with pytest.raises(EventsError, match="what can be unpacked is JSON text or VARIANT"):
        index.unpack(texts, "event_id")
