"""The life of an index on Delta: create, add, refuse, quarantine, versions; its rows against the plain reference."""

import pytest
from pyspark.sql import functions as F

from banyan import Index
from banyan.build.plain import PlainIndex
from banyan.errors import ArgumentError, IndexExists, IndexNotFound, RulesError, VersionNotFound

# The worked example of the A-Tree paper, and what else a table can hold: constants, one predicate, a chain of XORs.
FIRST = {
    "S1": "(P1 = 1 OR P2 = 1 OR P3 = 1) AND P4 = 1 AND (P5 = 1 OR P6 = 1)",
    "S2": "(P5 = 1 OR P6 = 1) AND (P7 = 1 OR P8 = 1)",
    "S3": "P1 = 1 OR P2 = 1 OR P3 = 1 OR P4 = 1",
    "S4": "(P1 = 1 OR P2 = 1 OR P3 = 1) AND P4 = 1",
    "all": "TRUE",
    "none": "P1 = 1 AND P1 != 1",
    "one": "P1 = 1",
    "absent": "P9 IS NULL",
    "xor": " XOR ".join(f"x{i} = 1" for i in range(64)),
}
SECOND = {
    "S5": "(P8 = 1 OR P7 = 1) AND (P6 = 1 OR P5 = 1)",
    "S6": "NOT (P7 = 1 OR P8 = 1)",
    "deep": "d = 0 OR (" * 999 + "d = 1 AND e = 2" + ")" * 999,
    "alternating": "".join(f"a{i} = {i} {'OR' if i % 2 else 'AND'} (" for i in range(900)) + "z = 1" + ")" * 900,
}


def rules(spark, texts, columns="", extra=()):
    rows = [(i, text, *extra) for i, text in texts.items()]
    return spark.createDataFrame(rows, "expression_id string, expression string" + columns)


def as_plain(value):
    return tuple(value) if isinstance(value, list) else value


@pytest.fixture(scope="module")
def index(spark, tmp_path_factory):
    """Two adds: version 1 holds FIRST, version 2 both. The crowd bound at 3, so that it bites."""
    index = Index.create(spark, str(tmp_path_factory.mktemp("life") / "index"), crowd=3)
    assert index.add(rules(spark, FIRST, ", tenant string", ("a",)), request_id="first") == 1
    assert index.add(rules(spark, SECOND, ", tenant string", ("b",))) == 2
    return index


def test_tables_equal_a_fresh_computation_of_the_same_set(index):
    """Row for row, whatever the order and the number of adds."""
    plain = PlainIndex.build(FIRST | SECOND, crowd=3)
    for table, expected in plain.rows().items():
        found = {tuple(map(as_plain, row)) for row in index.table(table).collect()}
        assert found == {tuple(row) for row in expected}, table
    nodes = {row["expression_id"]: row["node_id"] for row in index.expressions().collect()}
    assert nodes == plain.expressions


def test_two_texts_of_one_meaning_are_one_node(index):
    nodes = {row["expression_id"]: row["node_id"] for row in index.expressions().collect()}
    assert nodes["S2"] == nodes["S5"]
    assert len(set(nodes.values())) == len(nodes) - 1


def test_versions_are_listed_and_opened(spark, index):
    listed = index.versions().orderBy("version").collect()
    assert [row["version"] for row in listed] == [0, 1, 2]
    assert [row["operation"] for row in listed] == ["create", "add", "add"]
    old = Index.open(spark, index.where, version=1)
    assert {row["expression_id"] for row in old.expressions().collect()} == set(FIRST)
    by_time = Index.open(spark, index.where, timestamp=listed[1]["published_at"])
    assert by_time.version == 1
    with pytest.raises(VersionNotFound, match="has no version 7: it has versions 0 to 2"):
        Index.open(spark, index.where, version=7)
    with pytest.raises(ArgumentError, match="open at version 1, to be read"):
        old.add(rules(spark, {"x": "a = 1"}))


def test_an_old_version_matches_as_it_did(spark, index):
    events = spark.createDataFrame([(1, 1, 0, 0)], "event_id int, P1 int, P7 int, P8 int")
    old = Index.open(spark, index.where, version=1)
    with pytest.warns(UserWarning, match="the events have no attribute p9"):
        found = {row["expression_id"] for row in old.match(events).collect()}
    assert found == {"S3", "all", "one", "absent"}
    new = {row["expression_id"] for row in index.match(events).collect()}
    assert new == found | {"S6"}
    old.release()


def test_a_deep_rule_matches(spark, index):
    events = spark.createDataFrame([(1, 1, 2), (2, 1, 3), (3, 0, None)], "event_id int, d int, e int")
    found = index.match(events, where="expression_id = 'deep'").collect()
    assert {row["event_id"] for row in found} == {1, 3}


def test_where_and_keep(spark, index):
    events = spark.createDataFrame([(1, 1, 0, 0)], "event_id int, P1 int, P7 int, P8 int")
    kept = index.match(events, where="tenant = 'b'", keep=["tenant"]).collect()
    assert [tuple(row) for row in kept] == [(1, "S6", "b")]
    counts = index.match(events, where=F.col("tenant") == "b", output="counts", zeros=True).collect()
    assert {tuple(row) for row in counts} == {("S5", 0), ("S6", 1), ("deep", 0), ("alternating", 0)}
    with pytest.raises(ArgumentError, match="does not fit the expressions"):
        index.match(events, where="tenat = 'b'")
    with pytest.raises(ArgumentError, match="no column 'owner' of yours"):
        index.match(events, keep=["owner"])


def test_bad_expressions_are_named_and_nothing_is_written(spark, index):
    bad = {f"bad{i:02}": "price >" for i in range(23)} | {
        "S1": "a = 1",
        "regex": "name RLIKE r'(unclosed'",
        "two": "a = b",
        "good": "a = 1",
    }
    before = index.versions().count()
    with pytest.raises(RulesError) as caught:
        index.add(rules(spark, bad).union(rules(spark, {"good": "a = 2"})))
    message = str(caught.value)
    assert caught.value.total == 28 and "28 expressions cannot go in; nothing was written" in message
    assert "S1: the expression id is in the index already" in message
    assert "bad00:" in message and "at position 7" in message and "... and 8 more" in message
    assert len(caught.value.rejected) == 20
    assert index.versions().count() == before


def test_quarantine(spark, tmp_path):
    index = Index.create(spark, str(tmp_path / "index"), id_bits=15)
    frame = spark.createDataFrame(
        [(1, "a = 1"), (2, "a >"), (3, "a = 3"), (3, "a = 4"), (None, "a = 5"), (6, None), (7, "b RLIKE '('")],
        "expression_id long, expression string",
    )
    index.add(frame, on_error="quarantine", request_id="job-1")
    assert [row["expression_id"] for row in index.expressions().collect()] == [1]
    refused = {(row["expression_id"], row["reason"][:30]) for row in index.rejected().collect()}
    assert {i for i, _ in refused} == {"2", "3", None, "6", "7"}
    assert ("3", "the expression id is given mor") in refused and (None, "the expression id is NULL") in refused
    assert [row["node_id"] for row in index.table("predicates").collect()] == [
        row["node_id"] for row in index.expressions().collect()
    ]
    # The same request again is the same version; another type of id is refused.
    assert index.add(frame, on_error="quarantine", request_id="job-1") == 1
    with pytest.raises(ArgumentError, match="expression ids of this index: bigint, those given: string"):
        index.add(rules(spark, {"x": "a = 1"}))
    # Fifteen bits for two hundred nodes: with seed 0 two share an id, and the build goes on with the next seed.
    many = spark.createDataFrame(
        [(i, f"a = {i} OR b = {i}") for i in range(10, 80)], "expression_id long, expression string"
    )
    assert index.add(many) == 2
    assert index.settings.seed > 0
    events = spark.createDataFrame([(1, 1), (2, 42)], "event_id int, a int")
    with pytest.warns(UserWarning, match="no attribute b"):
        assert {tuple(row) for row in index.match(events).collect()} == {(1, 1), (2, 42)}
    index.release()


def test_there_and_not_there(spark, index, tmp_path):
    with pytest.raises(IndexNotFound, match="no index at"):
        Index.open(spark, str(tmp_path / "nothing"))
    with pytest.raises(IndexExists, match="already"):
        Index.create(spark, index.where)
    assert Index.exists(spark, index.where) and not Index.exists(spark, str(tmp_path / "nothing"))
    for where in ("", "a b", "`x`/y"):
        with pytest.raises(ArgumentError):
            Index.open(spark, where)
    with pytest.raises(ArgumentError, match="no setting colour"):
        Index.create(spark, str(tmp_path / "x"), colour=1)


def test_dropped_and_made_again_at_one_path(spark, tmp_path):
    """In one session, which remembers the logs of tables: the old index must not shine through."""
    where = str(tmp_path / "index")
    for tenant, texts in (("a", FIRST), ("b", {"S6": SECOND["S6"]})):
        index = Index.create(spark, where)
        index.add(rules(spark, texts, ", tenant string", (tenant,)))
        index.replace(rules(spark, {"S1": "k = 1"}, ", tenant string", (tenant,)))
        assert {tuple(row) for row in index.expressions().select("expression_id", "tenant").collect()} == {
            (key, tenant) for key in (*texts, "S1")
        }
        plain = PlainIndex.build(texts | {"S1": "k = 1"})
        assert {row["node_id"] for row in index.table("nodes").collect()} == set(plain.nodes)
        Index.drop(spark, where)
        assert not Index.exists(spark, where)
        with pytest.raises(IndexNotFound):
            Index.open(spark, where)


def test_a_creation_that_died(spark, tmp_path):
    """Tables without a published version are no index, and the next creation takes their place."""
    from banyan.store.tables import Place

    where = str(tmp_path / "index")
    place = Place(spark, where)
    for table in ("versions", "nodes"):
        place.create(table, 30)
    assert not Index.exists(spark, where)
    with pytest.raises(IndexNotFound):
        Index.open(spark, where)
    assert Index.create(spark, where).version == 0


def test_in_a_schema(spark):
    """The same in `schema.table` form, and dropping it."""
    index = Index.create(spark, "banyan_schema_test")
    try:
        index.add(rules(spark, {"a": "k = 1"}))
        events = spark.createDataFrame([(7, 1)], "event_id int, k int")
        assert [tuple(row) for row in index.match(events).collect()] == [(7, "a")]
        assert spark.table("banyan_schema_test.nodes").count() == 0
    finally:
        index.release()
        Index.drop(spark, "banyan_schema_test")
        spark.sql("DROP SCHEMA banyan_schema_test")
    assert not Index.exists(spark, "banyan_schema_test")
