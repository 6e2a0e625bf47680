"""Literals as Spark reads them. What is listed here was checked against Spark; random ones are in tests/spark."""

from __future__ import annotations

import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banyan.errors import ExpressionError
from banyan.language.attributes import attribute_parts, attribute_text
from banyan.language.parser import parse
from banyan.language.settings import Settings

LITERALS = [
    ("7", "integer", "7"),
    ("007", "integer", "7"),
    ("-0", "integer", "0"),
    ("127Y", "integer", "127"),
    ("-128Y", "integer", "-128"),
    ("5s", "integer", "5"),
    ("9223372036854775807", "integer", "9223372036854775807"),
    ("-9223372036854775808", "integer", "-9223372036854775808"),
    ("- 9223372036854775808L", "integer", "-9223372036854775808"),
    ("9223372036854775808", "decimal", "9223372036854775808"),
    ("1" * 38, "decimal", "1" * 38),
    ("1.50", "decimal", "1.5"),
    ("100.", "decimal", "100"),
    (".5", "decimal", "0.5"),
    ("-0.0", "decimal", "0"),
    ("1e3BD", "decimal", "1000"),
    ("1e37bd", "decimal", "1" + "0" * 37),
    ("1e-38BD", "decimal", "0." + "0" * 37 + "1"),
    ("1e3", "double", "1000.0"),
    ("1.e3", "double", "1000.0"),
    (".5e-3", "double", "0.0005"),
    ("-0e0", "double", "0.0"),
    ("1e-400", "double", "0.0"),
    ("1.7976931348623157e308", "double", "1.7976931348623157e+308"),
    ("5D", "double", "5.0"),
    ("0.1F", "double", "0.10000000149011612"),
    ("16777217F", "double", "16777216.0"),
    ("1e-50F", "double", "0.0"),
    # Through a double this would land on a tie and round to 1.0.
    ("1.00000005960464477540F", "double", "1.0000001192092896"),
    ("'it''s'", "text", "it's"),
    ('"say ""x"""', "text", 'say "x"'),
    (r"'it\'s'", "text", "it's"),
    (r"'\0\b\n\r\t\Z\\\"'", "text", '\0\b\n\r\t\x1a\\"'),
    (r"'\%\_'", "text", r"\%\_"),
    (r"'\d'", "text", "d"),
    (r"'\101\200\08'", "text", "A200\x008"),
    (r"'\u0041\U0001F600'", "text", "A\U0001f600"),
    (r"'\uD83D\uDE00'", "text", "\U0001f600"),
    (r"'\uD83D' '\uDE00'", "text", "\U0001f600"),
    (r"'\uD83Dx'", "text", "?x"),
    (r"'\u004'", "text", "u004"),
    (r"r'\d''x'", "text", r"\dx"),
    ('R"\'"', "text", "'"),
    ("'\n'", "text", "\n"),
    ("''", "text", ""),
    ("'''' 'x'", "text", "'x"),
    ("TRUE", "boolean", "true"),
    ("false", "boolean", "false"),
    ("DATE '2024-02-29'", "date", "2024-02-29"),
    ("date'2024-2-9'", "date", "2024-02-09"),
    ("DATE '2024'", "date", "2024-01-01"),
    ("DATE ' +2024-02 '", "date", "2024-02-01"),
    ("DATE r'2024-02-29 anything'", "date", "2024-02-29"),
    ("DATE '1582-10-10'", "date", "1582-10-10"),
    ("DATE 'epoch'", "date", "1970-01-01"),
    ("TIMESTAMP '2024-02-29'", "timestamp", "2024-02-29T00:00:00.000000Z"),
    ("TIMESTAMP '2024-2-9 1:2:3.45'", "timestamp", "2024-02-09T01:02:03.450000Z"),
    ("TIMESTAMP_LTZ '2024-02-29T10:30'", "timestamp", "2024-02-29T10:30:00.000000Z"),
    ("TIMESTAMP '2024-02-29 10:30:00.1234567Z'", "timestamp", "2024-02-29T10:30:00.123456Z"),
    ("TIMESTAMP '2024-02-29 10:30:00+1:2'", "timestamp", "2024-02-29T09:28:00.000000Z"),
    ("TIMESTAMP '2024-02-29 10:30:00 -0130'", "timestamp", "2024-02-29T12:00:00.000000Z"),
    ("TIMESTAMP '2024-02-29 10:30:00 UTC+2'", "timestamp", "2024-02-29T08:30:00.000000Z"),
    ("TIMESTAMP '2024-07-01 10:30:00Europe/Paris'", "timestamp", "2024-07-01T08:30:00.000000Z"),
    ("TIMESTAMP '2024-07-01 10:30:00 PST'", "timestamp", "2024-07-01T17:30:00.000000Z"),
    ("TIMESTAMP '2024-07-01 10:30:00 EST'", "timestamp", "2024-07-01T15:30:00.000000Z"),
    ("TIMESTAMP 'epoch'", "timestamp", "1970-01-01T00:00:00.000000Z"),
    # The hour that does not exist moves on; the hour that comes twice is the first one.
    ("TIMESTAMP '2024-03-31 02:30:00 Europe/Paris'", "timestamp", "2024-03-31T01:30:00.000000Z"),
    ("TIMESTAMP '2024-10-27 02:30:00 Europe/Paris'", "timestamp", "2024-10-27T00:30:00.000000Z"),
]

REFUSED = [
    "128Y", "-129Y", "300Y", "40000S", "9223372036854775808L", "1" * 39, "1." + "0" * 38, "0." + "0" * 38 + "1",
    "1e38BD", "0e50BD", "1e-40BD", "1e400", "1.8e308", "1e39F", "3.4028235e38F", "1e99999999999", "0x1F", "1_000",
    "1e3L", "1.5L", "b'01'", r"'\U00110000'",
    "DATE ''", "DATE '2024-02-30'", "DATE '2024-1-'", "DATE '24-01-01'", "DATE '20240101'", "DATE '2024-01-01Z'",
    "DATE '0000-01-01'", "DATE '-2024-01-01'", "DATE '10000-01-01'", "DATE 'today'", "DATE 'now'",
    "TIMESTAMP '2024-01-01T'", "TIMESTAMP '2024-01-01t10:00:00'", "TIMESTAMP '2024-01-01 24:00:00'",
    "TIMESTAMP '2024-01-01 10:00 UTC'", "TIMESTAMP '2024-01-01 10:00:00 utc'", "TIMESTAMP '2024-01-01 10:00:00+19'",
    "TIMESTAMP '2024-01-01 10:00:00 Nowhere/At_All'", "TIMESTAMP '10:30:00'", "TIMESTAMP 'tomorrow'",
    "TIMESTAMP '0001-01-01 00:00:00+01:00'", "TIMESTAMP '9999-12-31 23:59:59-01:00'", "TIMESTAMP '2024 10:00'",
    "TIMESTAMP_NTZ '2024-01-01'", "TIME '10:00:00'", "INTERVAL '1' DAY", "X'1F'", "`date` '2024-01-01'",
]  # fmt: skip


@pytest.mark.parametrize("text, family, operand", LITERALS)
def test_literal(text, family, operand):
    predicate = parse(f"a = {text}")
    assert (predicate.family, predicate.operands) == (family, (operand,))
    assert parse(f"{text} = a") == predicate


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(ExpressionError):
        parse(f"a = {text}")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "utc", "+25:00"])
def test_a_time_zone_that_is_none(zone):
    with pytest.raises(ExpressionError, match="time zone"):
        parse("a = TIMESTAMP '2024-01-01'", Settings(time_zone=zone))
    parse("a = TIMESTAMP '2024-01-01 00:00:00Z'", Settings(time_zone=zone))


@given(st.fractions(-(10**40), 10**40) | st.floats(-1e38, 1e38).map(Fraction), st.integers(1, 60))
def test_float_is_the_nearest_one(value, digits):
    written = f"{'-' if value < 0 else ''}{abs(value.numerator) * 10**digits // value.denominator}e-{digits}"
    if abs(Fraction(written)) > Fraction("3.4e38"):
        return
    got = float(parse(f"a = {written}F").operands[0])
    target = Fraction(written)
    (bits,) = struct.unpack("<I", struct.pack("<f", abs(got)))
    assert struct.unpack("<f", struct.pack("<f", got))[0] == got
    for other in (bits - 1, bits + 1):
        if other >= 0:
            (neighbour,) = struct.unpack("<f", struct.pack("<I", other))
            assert abs(Fraction(abs(got)) - abs(target)) <= abs(Fraction(neighbour) - abs(target))


@given(st.lists(st.text(min_size=1), min_size=1))
def test_attribute_text_and_parts(parts):
    assert attribute_parts(attribute_text(parts)) == tuple(parts)
