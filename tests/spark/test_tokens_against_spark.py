"""Spark is asked what it makes of each literal and each text; we must make the same of it, or refuse it with Spark."""

from __future__ import annotations

import random
from datetime import datetime, timezone

import pytest

from banyan.errors import ExpressionError
from banyan.language.literals import decimal_text
from banyan.language.parser import parse
from banyan.language.render import tree_sql
from banyan.language.settings import Settings

# A zone whose past is the same in every edition of the zone database; Amsterdam before 1970 is not.
ZONE = "Europe/Paris"
CHUNK = 300  # past a hundred columns Spark does not compile code for them, which would take longer


def pick_number(r: random.Random) -> str:
    digits = "".join(r.choice("0123456789") for _ in range(r.choice([1, 1, 2, 3, 5, 9, 10, 18, 19, 20, 37, 38, 39])))
    form = r.randrange(8)
    if form < 2:
        number = digits
    elif form < 4:
        number = f"{digits[: len(digits) // 2]}.{digits[len(digits) // 2 :]}"
    elif form < 5:
        number = digits + "."
    else:
        exponent = r.choice(["3", "+7", "-5", "00", "-45", "-46", "37", "38", "-38", "308", "-324", "-330", "309"])
        number = f"{digits}{r.choice(['e', 'E', '.e', '.5E'])}{exponent}"
    suffix = r.choice(["", "", "", "L", "S", "Y", "D", "F", "BD", "l", "bd", "f"])
    return r.choice(["", "", "-", "- ", "+"]) + number + suffix


def pick_edge(r: random.Random) -> str:
    limit = r.choice([2**7, 2**15, 2**31, 2**63, 10**37, 10**38, 2**24])
    return r.choice(["", "-"]) + str(limit + r.randrange(-2, 3)) + r.choice(["", "L", "S", "Y", "BD", "F", "D"])


TEXT_PIECES = [
    "a", "B", "0", "1", "7", "8", "%", "_", " ", "é", "\U0001f600", "\n", "--", "/*", "$", "`", "''", "\\'", '\\"',
    "\\\\",
    "\\n", "\\r", "\\t", "\\b", "\\Z", "\\0", "\\%", "\\_", "\\d", "\\.", "\\u0041", "\\u00e9", "\\u004", "\\U0001F600",
    "\\U0001F60", "\\101", "\\177", "\\200", "\\08", "\\18", "\\uD83D", "\\uDE00", "\\x41", "\\N", "\\\n", "\\u",
]  # fmt: skip


def pick_text(r: random.Random) -> str:
    texts = []
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        pieces = [r.choice(TEXT_PIECES) for _ in range(r.randrange(7))]
        quote = r.choice(["'", "'", '"', "r'", 'R"'])
        inside = "".join(pieces)
        if quote[0] in "rR":
            inside = inside.replace(quote[1], "")
        elif quote == '"':
            inside = inside.replace("''", '""')
        texts.append(quote + inside + quote[-1])
    return r.choice(["", " "]).join(texts)


def pick_day(r: random.Random) -> str:
    year = r.choice([1, 1582, 1900, 1970, 2000, 2024, 2038, 9999, r.randrange(1, 10000)])
    month, day = r.choice(
        [(1, 1), (2, 29), (12, 31), (3, 31), (10, 27), (13, 1), (0, 1)] + [(r.randrange(1, 13), 28)] * 9
    )
    year_text = r.choice([f"{year:04}", f"{year:04}", f"{year:05}", f"+{year:04}"])
    forms = ["{y}-{m:02}-{d:02}"] * 6 + ["{y}-{m}-{d}", "{y}-{m:02}", "{y}", "{y}-{m:02}-", "{y}/{m}/{d}", "{y}-{m:03}"]
    return r.choice(forms).format(y=year_text, m=month, d=day)


def pick_date(r: random.Random) -> str:
    after = r.choice(["", "", "", " ", "T", " junk", "T10:00:00", "Z", "\t", "x"])
    return f"DATE '{r.choice(['', '', ' '])}{pick_day(r)}{after}'"


def pick_timestamp(r: random.Random) -> str:
    hour, minute, second = r.randrange(25), r.randrange(60), r.choice([0, 30, 59, 60])
    clock = r.choice(
        ["{h:02}:{m:02}:{s:02}"] * 5 + ["{h}:{m}:{s}", "{h:02}:{m:02}", "{h:02}", "{h:02}:", "{h:03}:{m}:{s}"]
    )
    clock = clock.format(h=hour, m=minute, s=second)
    fraction = r.choice(["", "", "", ".", ".1", ".123456", ".1234567", ".999999999", ".1.2"])
    zone = r.choice([
        "", "", "", "Z", " Z", "UTC", " UTC", "+1", "+01", "+1:2", "-01:30", "+0130", "+01:30:15", "-18:00", "+18:01",
        " Europe/Paris", "America/New_York", " PST", " EST", " IST", " GMT+2", " UTC+02:00", " UT-3", " GMT0",
        " utc", " Nowhere", "+1:", " + 1", "z", " Etc/GMT+2", " Asia/Kolkata", "+001:00", " America/Los_Angeles",
    ])  # fmt: skip
    return f"TIMESTAMP '{pick_day(r)}{r.choice([' ', 'T', ' ', 'T', ' ', '  '])}{clock}{fraction}{zone}'"


def pick_literals() -> list[str]:
    r = random.Random(20240229)
    kinds = [pick_number] * 5 + [pick_edge] + [pick_text] * 5 + [pick_date] * 2 + [pick_timestamp] * 4
    return [r.choice(kinds)(r) for _ in range(2_400)]


def ours(literal: str) -> tuple[str, str] | None:
    """Family and operand; None if refused."""
    try:
        predicate = parse(f"x = {literal}", Settings(time_zone=ZONE))
    except ExpressionError:
        return None
    return predicate.family, predicate.operands[0]


def asked(literal: str) -> str:
    """The literal as a column that comes back from Spark unharmed by the zone of this Python.

    In parentheses, or the L of 1e3.5L would be taken for the name of the column.
    """
    return f"unix_micros({literal})" if literal.startswith("TIMESTAMP") else f"({literal})"


def spark_says(kind: str, value: object, literal: str) -> tuple[str, str]:
    if literal.startswith("TIMESTAMP"):
        instant = datetime(1970, 1, 1, tzinfo=timezone.utc).timestamp() + value // 1_000_000
        whole = datetime.fromtimestamp(instant, tz=timezone.utc).replace(microsecond=value % 1_000_000, tzinfo=None)
        return "timestamp", whole.isoformat(timespec="microseconds") + "Z"
    if kind in ("int", "bigint", "smallint", "tinyint"):
        return "integer", str(value)
    if kind.startswith("decimal"):
        return "decimal", decimal_text(value)
    if kind in ("double", "float"):
        return "double", repr(value) if value else "0.0"
    if kind == "date":
        return "date", value.isoformat()
    return {"string": "text", "boolean": "boolean"}[kind], value


@pytest.fixture
def zoned(spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


def refuses(spark, query: str) -> bool:
    try:
        spark.sql(query).schema  # noqa: B018 - asking for the schema is what analyses the query
    except Exception:
        return True
    return False


def test_random_literals_have_sparks_value(zoned):
    accepted = [(literal, mine) for literal in pick_literals() if (mine := ours(literal)) is not None]
    assert len(accepted) > 1_000
    wrong = []
    for start in range(0, len(accepted), CHUNK):
        chunk = accepted[start : start + CHUNK]
        columns = [f"{asked(literal)} AS c{i}" for i, (literal, _) in enumerate(chunk)]
        try:
            frame = zoned.sql("SELECT " + ", ".join(columns))
            row = frame.collect()[0]
        except Exception:
            refused = [(literal, "refused") for literal, _ in chunk if refuses(zoned, f"SELECT {asked(literal)}")]
            if not refused:  # it failed for another reason, and nothing of it was compared
                raise
            wrong += refused
            continue
        for (literal, mine), (_, kind), value in zip(chunk, frame.dtypes, row):
            if spark_says(kind, value, literal) != mine:
                wrong.append((literal, mine, spark_says(kind, value, literal)))
    assert wrong == []


def test_random_literals_we_refuse_spark_refuses(zoned):
    refused = [literal for literal in pick_literals() if ours(literal) is None]
    assert len(refused) > 200
    # A name (`1e3L`) is no literal to Spark either, but it would look for the column: none is there.
    assert [literal for literal in refused[:60] if not refuses(zoned, f"SELECT {asked(literal)}")] == []


REFUSED = [
    "", "a = ", "a = 1;", "a = 1)", "(a = 1", "AND a = 1", "a = 1 OR OR f", "a = 'x", "`a = 1", "a IN ()", "a IN (1,)",
    "a IN (1 2)", "a BETWEEN 1", "a BETWEEN 1 AND", "a ! IN (1)", "a IS ! NULL", "a NOT = 1", "a = = 1", "a => 1",
    "a LIKE 'x' ESCAPE '!!'", "a LIKE 'x' ESCAPE ''", "a..b = 1", ".a = 1", "a. = 1", "a.1 = 1", "a.1L = 1", "é = 1",
    "a\x1c= 1", "a\x85= 1", "a\u200b= 1", "a\ufeff= 1", "\0a = 1", "a /* x", "a /* /* x */", "a /*+ x */ = 1",
    "a = 300Y",
    "a = 1e400", "a = DATE '2024-02-30'", "d = DATE '2024' '-01-01'", "d = `date` '2024-01-01'", "a = 1.5.5",
    "a = 1'x'",
    "`a`b = 1", "s LIKE 'x' ESCAPE '\U0001f600'", "array_contains(l, NULL, 1)", "a = 5.AND f", "s = r 'x'", "a == = 1",
]  # fmt: skip


def some_rows(spark):
    return spark.sql(
        """
        SELECT * FROM VALUES
          (1, 'ab', TRUE, DATE '2024-02-29', TIMESTAMP '2024-02-29 10', array(1, 2), named_struct('Age', 5), 1.5D),
          (-7, 'a%', FALSE, DATE '1999-12-31', TIMESTAMP '1999-12-31', array(2, NULL), named_struct('Age', 9), 0D),
          (9, 'it''s \\\\ \\n', NULL, NULL, NULL, array(), NULL, 1e10),
          (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
        AS t(a, s, f, d, t, l, u, x)
        """
    )


@pytest.mark.parametrize("text", REFUSED)
def test_text_refused_by_both(spark, text):
    with pytest.raises(ExpressionError):
        parse(text)
    with pytest.raises(Exception):  # noqa: B017 - Spark has many kinds
        some_rows(spark).where(text).collect()


@pytest.mark.parametrize("text", [r"s LIKE 'a\\'", r"s LIKE r'a\b'", "s LIKE 'axb' ESCAPE 'x'", r"s ILIKE r'\X'"])
def test_pattern_refused_by_both(spark, text):
    with pytest.raises(ExpressionError):
        parse(text)
    with pytest.raises(Exception):  # noqa: B017
        some_rows(spark).where(text).collect()


SAME = [
    "a = 1", "1=a", "A == 1", "a <> 1", "a != 1", "a !> 1", "a !< 1", "9 > a", "a <=> NULL", "a <=> 1", "NULL <=> a",
    "a IS DISTINCT FROM 1", "a IS NOT DISTINCT FROM 1", "1 IS DISTINCT FROM a", "a IS DISTINCT FROM NULL", "a = NULL",
    "a BETWEEN 1 AND 9", "a NOT BETWEEN 1 AND 5", "a BETWEEN 9 AND 1", "a NOT BETWEEN 9 AND NULL",
    "a BETWEEN NULL AND 1",
    "a IN (1, 9, 1)", "a NOT IN (1, 9)", "a IN (1, NULL)", "a NOT IN (5, NULL)", "a IN ((1))", "(a) = ((1))",
    "s LIKE 'a%'", r"s LIKE 'a\%'", "s LIKE 'a!%' ESCAPE '!'", "s LIKE 'a%%' ESCAPE '%'", "s NOT LIKE '_b'",
    "s ILIKE 'A%'", "s NOT ILIKE 'A!_' ESCAPE '!'", "s RLIKE '^a.$'", r"s RLIKE r'\s'", "s NOT REGEXP 'b'",
    "s LIKE ANY ('ab', 'x')", "s NOT LIKE ANY ('ab', 'a%')", "s LIKE ALL ('a%', '%b')", "s NOT LIKE ALL ('ab', 'x')",
    "s ILIKE SOME ('AB')", "s LIKE ANY ('ab', NULL)", r"s = 'it\'s \\ \n'", "s = 'a' 'b'", "s = \"ab\"", "s > 'A'",
    "f", "NOT f", "!f", "(f)", "f IS TRUE", "f IS NOT TRUE", "f IS FALSE", "f IS NOT FALSE", "f = TRUE", "FALSE < f",
    "a IS NULL", "a IS NOT NULL", "u.age = 5", "u . Age > 5", "`u`.`AGE` <= 9", "u/**/.age=5", "d = DATE '2024-02-29'",
    "d > DATE '2000-1'", "t >= TIMESTAMP '2024-02-29 11:00:00+1'", "t < TIMESTAMP '2024-02-29 10:00:00.000001Z'",
    "array_contains(l, 2)", "NOT array_contains(l, 3)", "arrays_overlap(l, array(2, 5))", "arrays_overlap(l, array(5))",
    "NOT arrays_overlap(l, array(5, NULL))", "arrays_overlap(l, array(NULL))", "arrays_overlap(l, array())",
    "x = 1.5", "x > 1e3", "x < 0.1F", "x = 15e-1", "a = 1.0", "a = 1L", "a < 9223372036854775808", "a > -.5e1",
    "a = 1 OR a = 9 AND f", "(a = 1 OR a = 9) AND f", "NOT a = 1 AND f", "NOT (a = 1) OR NULL", "NOT (a) = 1", "TRUE",
    "FALSE OR NULL", "NOT NOT f", "a = 1 -- x\n OR f", "a /* /* */ */ = 1", "a\u00a0=\u30001", "f AND(a=1)OR'ab'=s",
]  # fmt: skip


def test_text_and_what_we_write_for_it_mean_the_same(zoned):
    settings = Settings(time_zone=ZONE)
    columns = []
    for i, text in enumerate(SAME):
        written = tree_sql(parse(text, settings), xor="spark")
        columns += [f"CAST(({text}\n) AS BOOLEAN) AS theirs{i}", f"CAST(({written}) AS BOOLEAN) AS ours{i}"]
    some_rows(zoned).createOrReplaceTempView("some_rows")
    for row in zoned.sql("SELECT " + ", ".join(columns) + " FROM some_rows").collect():
        differ = [text for i, text in enumerate(SAME) if row[f"theirs{i}"] != row[f"ours{i}"]]
        assert differ == []


def test_xor_written_for_spark(spark):
    rows = spark.sql(
        f"""
        SELECT p, q, {tree_sql(parse("p XOR q"), xor="spark")} AS x, {tree_sql(parse("p XNOR NOT q"), xor="spark")} AS n
        FROM VALUES (TRUE), (FALSE), (NULL) AS one(p) CROSS JOIN VALUES (TRUE), (FALSE), (NULL) AS two(q)
        """
    ).collect()
    for p, q, x, n in rows:
        known = p is not None and q is not None
        assert x == ((p != q) if known else None)
        assert n == ((p != q) if known else None)
