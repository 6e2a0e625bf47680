"""Events in every shape: wide, nested, long, odd ids, none at all; outputs; what is refused."""

import datetime
import os

import pytest
from pyspark.sql import functions as F

from banyan import Index
from banyan.errors import ArgumentError, EventsError
from banyan.match import sql_engine
from banyan.match.missing import MissingAttributeWarning
from banyan.packed import bucket_keys, spark_hash

RULES = {
    "adult": "age >= 18",
    "german": "country = 'DE'",
    "both": "age >= 18 AND country = 'DE'",
    "nobody": "country IS NULL",
    "tagged": "array_contains(tags, 'vip')",
    "plain": "NOT array_contains(tags, 'vip')",
    "nested": "user.score > 0.5",
    "key": "props.plan LIKE 'pro%'",
}


@pytest.fixture(scope="module")
def index(spark, tmp_path_factory):
    index = Index.create(spark, str(tmp_path_factory.mktemp("match") / "index"))
    index.add(spark.createDataFrame(list(RULES.items()), "expression_id string, expression string"))
    yield index
    index.release()


def pairs(frame):
    return {tuple(row) for row in frame.collect()}


@pytest.mark.parametrize("engine", ["arrow", "sql"])
def test_wide_events_with_structs_maps_and_lists(spark, index, engine):
    events = spark.createDataFrame(
        [
            ("a", 20, "DE", ["vip", None], (0.9,), {"plan": "pro-x"}),
            ("b", 17, None, [], (0.1,), {}),
            ("c", None, "FR", ["x", None], None, None),
        ],
        "event_id string, Age int, country string, tags array<string>, "
        "user struct<Score: double>, props map<string,string>",
    )
    expected = {
        *(("a", e) for e in ("adult", "german", "both", "tagged", "nested", "key")),
        *(("b", e) for e in ("nobody", "plain")),
    }
    assert pairs(index.match(events, engine=engine)) == expected
    found = index.match(events, output="arrays", engine=engine)
    arrays = {row["event_id"]: row["expression_ids"] for row in found.collect()}
    assert arrays == {"a": sorted(e for i, e in expected if i == "a"), "b": ["nobody", "plain"], "c": []}


@pytest.mark.filterwarnings("ignore:the events have no attribute")
@pytest.mark.parametrize("form, engine", [("text", "arrow"), ("variant", "arrow"), ("text", "sql"), ("variant", "sql")])
def test_long_form(spark, index, form, engine):
    rows = [(1, "age", "20"), (1, "Country", '"DE"'), (2, "age", "5"), (3, "colour", '"red"'), (3, "age", None)]
    events = spark.createDataFrame(rows, "who int, name string, value string")
    if form == "variant":
        events = events.withColumn("value", F.expr("parse_json(value)"))
    else:
        events = events.withColumn("value", F.trim(F.col("value"), F.lit('"')))
    found = pairs(index.match(events, id="who", attribute="name", value="value", engine=engine))
    assert found == {(1, "adult"), (1, "german"), (1, "both"), (2, "nobody"), (3, "nobody")}


@pytest.mark.parametrize("engine", ["arrow", "sql"])
def test_long_form_refuses_two_values_of_one_attribute(spark, index, engine):
    events = spark.createDataFrame([(1, "age", 20), (1, "AGE", 21)], "event_id int, name string, value int")
    with pytest.raises(EventsError, match=r"two values for one attribute: 1 \(age\)"):
        index.match(events, attribute="name", value="value", engine=engine)


@pytest.mark.filterwarnings("ignore:the events have no attribute")
@pytest.mark.parametrize(
    "ids, kind",
    [
        ([1.5, 2.5], "double"),
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], "date"),
        ([bytearray(b"a"), bytearray(b"b")], "binary"),
        ([("x", 1), ("x", 2)], "struct<k: string, n: int>"),
    ],
)
def test_ids_of_any_type(spark, index, ids, kind):
    events = spark.createDataFrame([(ids[0], 20), (ids[1], 3)], f"event_id {kind}, age int")
    found = index.match(events, where="expression_id = 'adult'").collect()
    assert [row["event_id"] for row in found] == [spark.createDataFrame([(ids[0],)], f"i {kind}").first()["i"]]
    assert index.match(events).schema["event_id"].dataType == events.schema["event_id"].dataType


def test_bad_ids_are_refused_by_name(spark, index):
    with pytest.raises(EventsError, match="1 event has NULL in the id column 'who'"):
        index.match(spark.createDataFrame([(1, 2), (None, 3)], "who int, age int"), id="who")
    with pytest.raises(EventsError, match=r"more than one event: 7 \(2 times\)"):
        index.match(spark.createDataFrame([(7, 2), (7, 3), (8, 1)], "event_id int, age int"))
    with pytest.raises(EventsError, match="no column 'who'; they have event_id, age"):
        index.match(spark.createDataFrame([(7, 2)], "event_id int, age int"), id="who")


def test_missing_attributes_are_named(spark, index):
    events = spark.createDataFrame([(1, 20, "DE")], "event_id int, age int, contry string")
    with pytest.warns(MissingAttributeWarning) as caught:
        index.match(events)
    said = next(str(w.message) for w in caught if w.category is MissingAttributeWarning)
    assert "the events have no attribute country, used by 3 rules; did you mean contry?" in said
    assert "no attribute user.score, used by 1 rule" in said


@pytest.mark.filterwarnings("ignore:the events have no attribute")
def test_no_events_no_attributes_no_rules(spark, index, tmp_path):
    none = spark.createDataFrame([], "event_id int, age int")
    assert index.match(none).count() == 0
    assert index.match(none, output="arrays").count() == 0
    assert index.match(none, output="counts").count() == 0
    bare = spark.range(3).select(F.col("id").alias("event_id"))
    assert pairs(index.match(bare)) == {(i, "nobody") for i in range(3)}
    empty = Index.create(spark, str(tmp_path / "empty"))
    assert empty.match(bare).count() == 0
    assert empty.match(bare, output="arrays").count() == 3


@pytest.mark.filterwarnings("ignore:the events have no attribute")
def test_no_events_and_no_attributes_by_sql(spark, index):
    assert index.match(spark.createDataFrame([], "event_id int, age int"), output="arrays", engine="sql").count() == 0
    bare = spark.range(3).select(F.col("id").alias("event_id"))
    assert pairs(index.match(bare, engine="sql")) == {(i, "nobody") for i in range(3)}


@pytest.mark.filterwarnings("ignore:the events have no attribute")
@pytest.mark.parametrize("engine", ["arrow", "sql"])
def test_into_appends_batch_by_batch(spark, index, tmp_path, engine):
    events = spark.range(1000).select(F.col("id").alias("event_id"), (F.col("id") % 40).cast("int").alias("age"))
    out = str(tmp_path / "out")
    written = index.match(events, into=out, batch_size=300, where="expression_id IN ('adult', 'both')", engine=engine)
    expected = {(i, "adult") for i in range(1000) if i % 40 >= 18}
    assert pairs(written) == expected and written.count() == len(expected)
    again = index.match(events, into=out, where="expression_id = 'adult'")
    assert again.count() == 2 * len(expected)


@pytest.mark.filterwarnings("ignore:the events have no attribute")
def test_a_batch_of_several_blocks_by_sql(spark, index, monkeypatch):
    """A bitmap of Spark's holds 32,768 events; sets of several blocks are put in order, those of one are already."""
    events = spark.range(70_000).selectExpr(
        "id AS event_id", "CAST(id % 40 AS INT) AS age", "CASE WHEN id % 3 > 0 THEN 'DE' END AS country"
    )
    where = "expression_id IN ('adult', 'german', 'both', 'nobody')"
    for size in (70_000, 10_000):
        found = pairs(index.match(events, output="counts", engine="sql", where=where, batch_size=size))
        wanted = {e: events.where(RULES[e]).count() for e in ("adult", "german", "both", "nobody")}
        assert found == set(wanted.items())
    few = events.where("event_id < 1000")
    found = index.match(few, engine="sql", where="expression_id = 'both'", batch_size=300)
    wanted = few.where(RULES["both"]).select("event_id").collect()
    assert pairs(found) == {(row["event_id"], "both") for row in wanted}
    # As where there are too many sets and ids to send to every core.
    monkeypatch.setattr(sql_engine, "BROADCAST_SETS", 0)
    monkeypatch.setattr(sql_engine, "BROADCAST_IDS", 0)
    found = index.match(few, engine="sql", where="expression_id = 'both'")
    assert pairs(found) == {(row["event_id"], "both") for row in wanted}


@pytest.mark.filterwarnings("ignore:the events have no attribute")
def test_the_session_is_left_as_it_was(spark, index):
    before = {key: spark.conf.get(key) for key in ("spark.sql.session.timeZone", "spark.sql.adaptive.enabled")}
    folders = {f for f in os.listdir("/tmp") if f.startswith("banyan-")}
    with pytest.raises(EventsError):
        index.match(spark.createDataFrame([(None,)], "event_id int"))
    assert {key: spark.conf.get(key) for key in before} == before
    assert {f for f in os.listdir("/tmp") if f.startswith("banyan-")} <= folders


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"output": "rows"}, "output is one of pairs, counts, arrays; not 'rows'"),
        ({"engine": "duck"}, "engine is one of"),
        ({"attribute": "a"}, "need both"),
        ({"zeros": True}, "goes with output='counts'"),
    ],
)
def test_arguments_that_make_no_sense(spark, index, wrong, said):
    with pytest.raises(ArgumentError, match=said):
        index.match(spark.range(1), id="id", **wrong)


def test_every_bucket_has_a_partition_of_its_own(spark):
    """Our copy of Spark's hash: buckets that share a partition would be worked on one after the other."""
    keys = [0, 1, 2, 7, 1000, 2**31 - 1]
    found = spark.createDataFrame([(k,) for k in keys], "k int").select(F.hash("k")).collect()
    assert [spark_hash(k) for k in keys] == [row[0] for row in found]
    for count in (1, 2, 3, 8, 64, 200):
        assert sorted(spark_hash(k) % count for k in bucket_keys(count)) == list(range(count))
