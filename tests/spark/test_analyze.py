"""`analyze`: what is seen in a sample of events, in either form, and what it changes."""

from datetime import date, datetime, timezone

import pytest
from test_histories import check

from banyan import Index
from banyan.errors import EventsError

CROWD = 10_000
RULES = {
    "r": "common = 1 AND rare = 1",
    "s": "day = DATE '2026-01-31' AND at < TIMESTAMP '2026-01-31 12:00:00 UTC' AND member",
    "t": "array_contains(tags, 'new') OR price < 2.5 OR name LIKE 'a%' OR nobody = 1",
}


@pytest.fixture
def index(spark, tmp_path):
    index = Index.create(spark, str(tmp_path / "index"))
    index.add(spark.createDataFrame(list(RULES.items()), "expression_id string, expression string"))
    return index


def woken_by(index):
    """The predicate that is the access child of the rule r."""
    rows = index.expressions().where("expression_id = 'r'").join(index.table("nodes"), "node_id")
    leaves = index.table("predicates").withColumnRenamed("node_id", "access_child")
    return rows.join(leaves, "access_child").select("attribute").first()[0]


def test_wide_events(spark, index):
    noon = datetime(2026, 1, 31, 12, 30, 0, 250_000, tzinfo=timezone.utc)
    columns = "event_id int, Common int, rare int, day date, at timestamp, member boolean, tags array<string>"
    columns += ", price double, name string"
    rows = [(i, 1, 2, None, None, None, None, None, None) for i in range(6)]
    rows.append((6, 1, 1, date(2026, 1, 31), noon, True, ["new", "new", None], 2.0, "abc"))
    rows.append((7, None, 1, date(2026, 2, 1), noon, False, [], 3.5, "b"))
    events = spark.createDataFrame(rows, columns)
    before = {tuple(row) for row in index.match(events).collect()}
    assert index.analyze(events, request_id="sample") == 2
    seen = {(row["attribute"], row["value"]): row["share"] for row in index.table("frequencies").collect()}
    instant = "2026-01-31T12:30:00.250000Z"
    assert seen == {
        ("common", None): 7 / 8, ("common", "1"): 7 / 8,
        ("rare", None): 1.0, ("rare", "1"): 2 / 8, ("rare", "2"): 6 / 8,
        ("day", None): 2 / 8, ("day", "2026-01-31"): 1 / 8, ("day", "2026-02-01"): 1 / 8,
        ("at", None): 2 / 8, ("at", instant): 2 / 8,
        ("member", None): 2 / 8, ("member", "true"): 1 / 8, ("member", "false"): 1 / 8,
        ("tags", None): 2 / 8, ("tags", "new"): 1 / 8,
        ("price", None): 2 / 8, ("price", "2.0"): 1 / 8, ("price", "3.5"): 1 / 8,
        ("name", None): 2 / 8, ("name", "abc"): 1 / 8, ("name", "b"): 1 / 8, ("nobody", None): 0.0,
    }  # fmt: skip
    check(index, RULES, CROWD)
    assert woken_by(index) == "rare"
    assert {tuple(row) for row in index.match(events).collect()} == before
    # The same request again is the same version; no files of `expressions` were written for it.
    assert index.analyze(events, request_id="sample") == 2
    pins = [row["table_versions"] for row in index.versions().orderBy("version").collect()]
    assert pins[2]["expressions"] == pins[1]["expressions"] and pins[2]["nodes"] > pins[1]["nodes"]
    index.release()


def test_long_events_and_what_comes_later(spark, index):
    rows = [(i, "common", 2) for i in range(9)] + [(9, "COMMON", 1)] + [(i, "rare", 1) for i in range(10)]
    events = spark.createDataFrame(rows, "event_id int, attribute string, value int")
    index.analyze(events, attribute="attribute", value="value")
    assert woken_by(index) == "common"
    check(index, RULES, CROWD)
    # Later changes go by the same frequencies, and an earlier version by its own.
    later = {"u": "common = 2 AND rare = 1 AND other = 7", "v": "common = 1 AND rare = 1 AND other = 8"}
    index.add(spark.createDataFrame(list(later.items()), "expression_id string, expression string"))
    check(index, RULES | later, CROWD)
    index.restore(1)
    assert index.table("frequencies").isEmpty()
    check(index, RULES, CROWD)


def test_no_events(spark, index):
    with pytest.raises(EventsError, match="no events to analyze"):
        index.analyze(spark.createDataFrame([], "event_id int, common int"))
    assert Index.open(spark, index.where).version == 1
