"""DATE and TIMESTAMP literals in every form Spark 4.1 takes, as `2024-02-29` and `2024-02-29T10:00:00.000000Z`.

Out of bounds here, with a message: years outside 0001..9999, and words and clock times that mean another moment each
day (`today`, `now`, `10:30`), because an expression is read once and used for years.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from banyan.language.literals import Literal, Refused

_TRIMMED = "".join(map(chr, range(0x21))) + "\x7f"
_date_form = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.ASCII | re.DOTALL).fullmatch
_timestamp_form = re.compile(
    r"([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})"
    r"(?:[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?([^\d.].*)?)?)?)?)?)?",
    re.ASCII | re.DOTALL,
).fullmatch
_clock_form = re.compile(r"T?\d{1,2}:\d{1,2}(?!\d).*|T\d{1,2}", re.ASCII | re.DOTALL).fullmatch
_word_form = re.compile(r"(epoch|now|today|yesterday|tomorrow)(?:[ \t]*)(.*)", re.IGNORECASE | re.DOTALL).fullmatch
_offset_form = re.compile(
    r"([+-])(?:(\d{1,2})|(\d\d):(\d\d)|(\d\d)(\d\d)|(\d\d):(\d\d):(\d\d)|(\d\d)(\d\d)(\d\d))", re.ASCII
).fullmatch

# Java's ZoneId.SHORT_IDS, which Spark passes when it looks a zone up.
_SHORT_ZONES = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
    "EST": "-05:00", "MST": "-07:00", "HST": "-10:00",
}  # fmt: skip
# In the zone database of the system but not names to Java.
_NOT_ZONES = ("posix/", "right/", "posixrules", "localtime", "Factory")


def date_literal(text: str) -> Literal:
    """DATE 'text'."""
    trimmed = text.strip(_TRIMMED)
    match = _date_form(trimmed)
    if match is None:
        if _is_epoch(trimmed, "date"):
            return Literal("date", "1970-01-01")
        raise Refused(f"DATE '{text}' is not a date; write it as DATE '2024-02-29'")
    year, month, day = match.groups()
    return Literal("date", _day("DATE", text, year, month, day).isoformat())


def timestamp_literal(text: str, time_zone: str) -> Literal:
    """TIMESTAMP 'text', as an instant; `time_zone` holds where the text names no zone."""
    trimmed = text.strip(_TRIMMED)
    match = _timestamp_form(trimmed)
    if match is None:
        if _clock_form(trimmed):
            raise Refused(f"TIMESTAMP '{text}' is another moment each day; write the day too")
        if _is_epoch(trimmed, "timestamp"):
            return Literal("timestamp", "1970-01-01T00:00:00.000000Z")
        raise Refused(f"TIMESTAMP '{text}' is not a timestamp; write it as TIMESTAMP '2024-02-29 10:30:00 UTC'")
    year, month, day, hour, minute, second, fraction, zone_name = match.groups()
    date_part = _day("TIMESTAMP", text, year, month, day)
    try:
        local = datetime(
            date_part.year, date_part.month, date_part.day,
            int(hour or 0), int(minute or 0), int(second or 0), int((fraction or "").ljust(6, "0")[:6]),
        )  # fmt: skip
    except ValueError as error:
        raise Refused(f"TIMESTAMP '{text}' is not a time of day: {error}") from None
    zone_name = (zone_name or "").strip(_TRIMMED)
    where = zone(zone_name or time_zone)
    if where is None:
        raise Refused(f"The time zone '{zone_name or time_zone}' of TIMESTAMP '{text}' is not known")
    # Without fold, Python takes the earlier offset of an hour that comes twice and moves a missing hour on: as Java.
    try:
        instant = local - where.utcoffset(local.replace(tzinfo=where))
    except OverflowError:
        raise Refused(f"TIMESTAMP '{text}' is outside the years 0001 to 9999 in UTC") from None
    return Literal("timestamp", instant.isoformat(timespec="microseconds") + "Z")


@lru_cache(maxsize=256)
def zone(name: str) -> tzinfo | None:
    """The zone Spark finds under this name; None if there is none."""
    # Spark fills up the old forms +h:mm and +hh:m before Java sees them.
    name = re.sub(r"([+-])(\d):", r"\g<1>0\2:", name, count=1, flags=re.ASCII)
    name = re.sub(r"([+-])(\d\d):(\d)$", r"\1\2:0\3", name, count=1, flags=re.ASCII)
    name = _SHORT_ZONES.get(name, name)
    if name in ("Z", "UTC", "GMT", "UT"):
        return timezone.utc
    offset = name
    for prefix in ("UTC", "GMT", "UT"):
        if name.startswith((prefix + "+", prefix + "-")):
            offset = name[len(prefix) :]
    if offset[:1] in ("+", "-"):
        return _offset(offset)
    if name.startswith(_NOT_ZONES):
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _offset(text: str) -> tzinfo | None:
    match = _offset_form(text)
    if match is None:
        return None
    sign, *numbers = [group for group in match.groups() if group is not None]
    hours, minutes, seconds = ([int(number) for number in numbers] + [0, 0])[:3]
    length = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if minutes > 59 or seconds > 59 or length > timedelta(hours=18):
        return None
    return timezone(-length if sign == "-" else length)


def _day(kind: str, text: str, year: str, month: str | None, day: str | None) -> date:
    if not 1 <= int(year) <= 9999:
        raise Refused(f"{kind} '{text}' is outside the years 0001 to 9999")
    try:
        return date(int(year), int(month or 1), int(day or 1))
    except ValueError as error:
        raise Refused(f"{kind} '{text}' is not a day of the calendar: {error}") from None


def _is_epoch(text: str, kind: str) -> bool:
    match = _word_form(text)
    if match is None or (match.group(2) and zone(match.group(2).strip(_TRIMMED)) is None):
        return False
    if match.group(1).lower() != "epoch":
        raise Refused(f"'{match.group(1)}' is another {kind} each day; write the {kind} itself")
    return True
