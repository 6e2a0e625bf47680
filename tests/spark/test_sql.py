"""SQL for others: the match written out as a query, views of an index, the ready queries over them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from banyan import Index
from banyan.errors import ArgumentError
from banyan.explain import views
from banyan.jars import delta_jars
from banyan.language.parser import parse
from banyan.language.tree import Predicate

RULES = {
    "cheap": "price < 10",
    "cheap too": "NOT (price >= 10)",
    "cheap in DE": "price < 10 AND country = 'DE'",
    "cheap in DE, old": "country = 'DE' AND price < 10 AND age > 60",
    "odd": r"name LIKE 'a\\_b%' OR name IN ('it''s', 'a\\b', 'x, y') OR `and` IS NOT NULL",
    "never": "age > 3 AND NOT (age > 3)",
    "reversed": "price BETWEEN 9 AND 1",
    "always": "TRUE",
    "lists": "NOT array_contains(tags, 'vip') AND NOT arrays_overlap(tags, array('a', NULL))",
    "times": "seen >= TIMESTAMP '2024-01-31 10:00:00' OR day = DATE '2024-01-31' OR weight NOT BETWEEN 1.5D AND 2e3",
    "gone": "country IS DISTINCT FROM 'FR' XOR age <= 7",
}


@pytest.fixture(scope="module")
def index(spark, tmp_path_factory):
    index = Index.create(spark, str(tmp_path_factory.mktemp("sql") / "index"))
    columns = "expression_id string, expression string, team string"
    index.add(spark.createDataFrame([(i, text, "ads") for i, text in RULES.items()], columns))
    index.replace(spark.createDataFrame([("odd", RULES["odd"] + " OR age = 1", "ops")], columns))
    yield index
    index.release()


@pytest.fixture(scope="module")
def events(spark, tmp_path_factory):
    """A parquet folder, as SQL names it."""
    path = str(tmp_path_factory.mktemp("sql") / "events.parquet")
    rows = [
        (1, 5, "DE", 70, "a_bc", ["a"]),
        (2, 12, None, None, "it's", []),
        (3, None, "FR", 1, None, None),
        (4, 9, "DE", 20, "x, y", ["vip", None]),
    ]
    columns = "event_id int, price int, country string, age int, name string, tags array<string>"
    spark.createDataFrame(rows, columns).write.parquet(path)
    return f"parquet.`{path}`"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the events have no attribute")
def test_written_out_match_gives_the_same_in_another_session(spark, index, events):
    frame = spark.sql(f"SELECT * FROM {events}")
    expected = {tuple(row) for row in index.match(frame).collect()}
    other = spark.newSession()
    assert {tuple(row) for row in other.sql(index.match_sql(events)).collect()} == expected
    index.match_view("teams_of_events", events, where="team = 'ops'", keep=["team"])
    rows = spark.table("teams_of_events").collect()
    assert {tuple(row) for row in rows} == {(e, r, "ops") for e, r in expected if r == "odd"}


def test_written_out_match_refuses_what_match_refuses(spark, index, events):
    with pytest.raises(ArgumentError, match="zeros=True goes with"):
        index.match_sql(events, zeros=True)
    with pytest.raises(ArgumentError, match="keep: the expressions have no column 'owner'"):
        index.match_sql(events, keep=["owner"])


def test_views(spark, index):
    made = index.create_views("analytics")
    assert made == [f"analytics.{view}" for view in views.VIEWS]
    described = spark.sql("DESCRIBE TABLE EXTENDED analytics.predicate_uses").where("col_name = 'Comment'").first()
    assert described["data_type"].startswith("One row is a predicate")

    uses = spark.table("analytics.predicate_uses").collect()
    assert {row["predicate"]: row["expressions"] for row in uses}["price < 10"] == 4
    for row in uses:
        wanted = Predicate(row["attribute"], row["operator"], row["family"], tuple(row["literals"]))
        if row["operator"].startswith("not array"):
            assert row["predicate"].startswith("NOT array")
        elif row["operator"] != "fails":
            assert parse(row["predicate"]) == wanted

    texts = {row["expression_id"]: row["canonical"] for row in spark.table("analytics.expression_texts").collect()}
    assert texts["cheap too"] == texts["cheap"] == "price < 10"
    assert texts["never"] == "FALSE" and texts["always"] == "TRUE"
    assert sorted(texts["cheap in DE"].split(" AND ")) == ["country = 'DE'", "price < 10"]


EXPECTED = {
    "rules_that_mention_an_attribute": lambda rows: (
        {r["expression_id"] for r in rows} == {"cheap", "cheap too", "cheap in DE", "cheap in DE, old", "reversed"}
    ),
    "attributes_by_rules": lambda rows: {r["attribute"]: r["rules"] for r in rows}["price"] == 5,
    "most_shared_predicates": lambda rows: (rows[0]["predicate"], rows[0]["rules"]) == ("price < 10", 4),
    "most_shared_subexpressions": lambda rows: all(r["use_count"] > 1 for r in rows),
    "rules_that_never_match": lambda rows: [r["expression_id"] for r in rows] == ["never", "reversed"],
    "rules_that_always_match": lambda rows: [r["expression_id"] for r in rows] == ["always"],
    "rules_equal_to_each_other": lambda rows: [r["expression_ids"] for r in rows] == [["cheap", "cheap too"]],
    "rules_implied_by_others": lambda rows: ("cheap in DE", "cheap") in {tuple(r) for r in rows},
    "largest_rules": lambda rows: [r["expression_id"] for r in rows[:2]] == ["gone", "odd"],
    "tests_of_one_rule_only": lambda rows: "age > 60" in {r["predicate"] for r in rows},
    "what_changed_between_two_versions": lambda rows: (
        [(r["expression_id"], r["change"]) for r in rows] == [("odd", "changed")]
    ),
    "growth_of_the_index": lambda rows: [r["expressions"] for r in rows] == [0, len(RULES), len(RULES)],
}


def test_ready_queries(spark, index):
    index.create_views()
    queries = views.queries()
    assert queries.keys() == EXPECTED.keys()
    for name, sql in queries.items():
        rows = spark.sql(sql).collect()
        assert EXPECTED[name](rows), (name, rows)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the events have no attribute")
@pytest.mark.parametrize("where", ["a process", "the shell"])
def test_written_out_match_without_banyan(spark, index, events, where, tmp_path):
    """In a Python process that never imports Banyan, and in the spark-sql shell that comes with PySpark."""
    import pyspark

    script, home = tmp_path / "match.sql", Path(pyspark.__file__).parent
    jars = ",".join(str(jar) for jar in delta_jars({}, os.environ))
    conf = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": index.settings.time_zone,
        "spark.sql.shuffle.partitions": "2",
        "spark.jars": jars,
        "spark.ui.enabled": "false",
    }
    script.write_text(index.match_sql(events) + ";\n")
    env = os.environ | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    if where == "the shell":
        options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
        command = [str(home / "bin" / "spark-sql"), "--master", "local[2]", *options, "-f", str(script)]
    else:
        child = Path(__file__).parents[1] / "children" / "plain_sql.py"
        command = [sys.executable, str(child), str(script), json.dumps(conf)]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    frame = spark.sql(f"SELECT * FROM {events}")
    assert {(int(e), r) for e, r in lines} == {tuple(row) for row in index.match(frame).collect()}
