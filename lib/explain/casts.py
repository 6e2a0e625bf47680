"""Casts as Spark does them, for the plain evaluator.

In: single Python values; out: what Spark's try_cast, RLIKE and ILIKE make of them, in the time zone of the index.
Every answer is remembered, and `prepare` asks for many at once, so that explaining a match costs one Spark query.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from banyan.language.evaluate import Single, evaluate, kind_of
from banyan.language.tree import Tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_ZONE = "spark.sql.session.timeZone"
_NTZ_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"

# One row per question. Days and microseconds stand for dates and timestamps, because their way through Python
# depends on the time zone of the process and ends in the year 9999.
_SCHEMA = "n INT, source STRING, target STRING, pattern STRING, text STRING, whole BIGINT, number DOUBLE, single FLOAT"

_TYPED = (
    "*",
    "date_from_unix_date(CASE WHEN source = 'date' THEN CAST(whole AS INT) END) AS day",
    "timestamp_micros(CASE WHEN source = 'timestamp' THEN whole END) AS instant",
    f"timestampadd(MICROSECOND, CASE WHEN source = 'timestamp_ntz' THEN whole END, {_NTZ_EPOCH}) AS wall",
)

_SUBJECT = (
    "*",
    """CASE source
        WHEN 'text' THEN text
        WHEN 'integer' THEN CAST(whole AS STRING)
        WHEN 'double' THEN CAST(number AS STRING)
        WHEN 'single' THEN CAST(single AS STRING)
        WHEN 'date' THEN CAST(day AS STRING)
        WHEN 'timestamp' THEN CAST(instant AS STRING)
        WHEN 'timestamp_ntz' THEN CAST(wall AS STRING) END AS subject""",
)

_ANSWERS = (
    "n",
    "target",
    "CASE WHEN target = 'text' THEN subject END AS as_text",
    "CASE WHEN target = 'double' THEN try_cast(text AS DOUBLE) END AS as_double",
    """CASE target
        WHEN 'boolean' THEN try_cast(text AS BOOLEAN)
        WHEN 'rlike' THEN subject RLIKE pattern
        WHEN 'ilike' THEN subject ILIKE pattern END AS as_boolean""",
    f"""CASE target
        WHEN 'integer' THEN try_cast(text AS BIGINT)
        WHEN 'date' THEN CAST(unix_date(try_cast(text AS DATE)) AS BIGINT)
        WHEN 'timestamp' THEN unix_micros(
            coalesce(try_cast(text AS TIMESTAMP), CAST(day AS TIMESTAMP), CAST(wall AS TIMESTAMP)))
        WHEN 'timestamp_ntz' THEN timestampdiff(MICROSECOND, {_NTZ_EPOCH}, try_cast(text AS TIMESTAMP_NTZ))
        END AS as_whole""",
)


class Request(NamedTuple):
    """A question to Spark: this value as that type, or against that pattern."""

    value: Any
    target: str
    pattern: str | None = None

    def key(self) -> tuple:
        """What the answer is remembered under. 1, 1.0 and True are one key of a dict, and NaN is none."""
        return (_source(self.value), repr(self.value), self.target, self.pattern)


class SparkCasts:
    """The `Casts` of the evaluator, answered by Spark. Not for more than a few thousand different values."""

    def __init__(self, spark: SparkSession, time_zone: str):
        self._spark = spark
        self._time_zone = time_zone
        self._answers: dict[tuple, Any] = {}

    def cast(self, value: Any, target: str) -> Any:
        """`try_cast`; dates come back as days and timestamps as microseconds since 1970."""
        return self._ask(Request(value, target))

    def rlike(self, value: Any, pattern: str) -> bool | None:
        """Whether Java's regular expressions find the pattern in the value, cast to a string."""
        return self._ask(Request(value, "rlike", pattern))

    def ilike(self, value: Any, pattern: str) -> bool | None:
        """Whether the value, cast to a string, fits the pattern, whatever the case of its letters."""
        return self._ask(Request(value, "ilike", pattern))

    def prepare(self, requests: Iterable[Request | tuple]) -> None:
        """Answers all these requests, (value, target) or (value, target, pattern), with one query."""
        new = {}
        for request in (Request(*given) for given in requests):
            key = request.key()
            if key not in self._answers:
                new[key] = request
        if not new:
            return
        rows = [_row(n, request) for n, request in enumerate(new.values())]
        with self._zone():
            questions = self._spark.createDataFrame(rows, _SCHEMA)
            typed = questions.selectExpr(*_TYPED).selectExpr(*_SUBJECT)
            answers = typed.selectExpr(*_ANSWERS).collect()
        keys = list(new)
        for answer in answers:
            self._answers[keys[answer["n"]]] = answer[_ANSWER_COLUMN[answer["target"]]]

    def prepare_for(self, trees: Iterable[Tree], events: Iterable[Mapping[str, Any]]) -> None:
        """Answers, with one query, all that evaluating these expressions on these events will ask."""
        recorder = Recorder()
        events = list(events)
        for tree in trees:
            for event in events:
                evaluate(tree, event, recorder)
        self.prepare(recorder.requests.values())

    def _ask(self, request: Request) -> Any:
        key = request.key()
        if key not in self._answers:
            self.prepare([request])
        return self._answers[key]

    @contextmanager
    def _zone(self):
        """The session in the index's time zone: a cast takes the zone of the session, and knows no other way."""
        before = self._spark.conf.get(_ZONE)
        self._spark.conf.set(_ZONE, self._time_zone)
        try:
            yield
        finally:
            self._spark.conf.set(_ZONE, before)


class Recorder:
    """A `Casts` that answers nothing and writes down what it was asked.

    The evaluator asks the same questions whatever the answers are, so one dry run finds them all.
    """

    def __init__(self) -> None:
        self.requests: dict[tuple, Request] = {}

    def _note(self, request: Request) -> None:
        self.requests[request.key()] = request

    def cast(self, value: Any, target: str) -> None:
        self._note(Request(value, target))

    def rlike(self, value: Any, pattern: str) -> None:
        self._note(Request(value, "rlike", pattern))

    def ilike(self, value: Any, pattern: str) -> None:
        self._note(Request(value, "ilike", pattern))


_ANSWER_COLUMN = {
    "text": "as_text",
    "double": "as_double",
    "boolean": "as_boolean",
    "rlike": "as_boolean",
    "ilike": "as_boolean",
    "integer": "as_whole",
    "date": "as_whole",
    "timestamp": "as_whole",
    "timestamp_ntz": "as_whole",
}


def _source(value: Any) -> str:
    return "single" if isinstance(value, Single) else kind_of(value)


def _row(n: int, request: Request) -> tuple:
    value, source = request.value, _source(request.value)
    text = whole = number = single = None
    if source == "text":
        text = value
    elif source == "boolean":
        source, text = "text", str(value).lower()
    elif source == "decimal":
        # The one form Spark writes a decimal in: all its digits, no exponent.
        source, text = "text", format(Decimal(value), "f")
    elif source == "integer":
        whole = value
    elif source == "double":
        number = float(value)
    elif source == "single":
        single = float(value)
    elif source == "date":
        whole = value.toordinal() - _EPOCH.toordinal()
    elif source == "timestamp":
        whole = (value.astimezone(datetime.timezone.utc).replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    elif source == "timestamp_ntz":
        whole = (value - _EPOCH) // _MICROSECOND
    return (n, source, request.target, request.pattern, text, whole, number, single)
