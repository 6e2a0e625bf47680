"""How statements on the tables are run: together, with the writer's signature, under other settings."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"

Result = TypeVar("Result")


def together(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run calls on different tables; what they return. A commit is mostly waiting, so they wait together."""
    if len(calls) < 2:
        return [call() for call in calls]
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


class _Signing:
    """Whose statements run now, and how many. The signature is a setting of the session, which all threads share."""

    changed = threading.Condition()
    build_id: str | None = None
    statements = 0
    before: str | None = None


@contextlib.contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    """The session with a setting changed, where the platform lets its users decide."""
    before = spark.conf.get(name, None)
    try:
        spark.conf.set(name, value)
    except PySparkException:
        yield
        return
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)


@contextlib.contextmanager
def signed(spark: SparkSession, build_id: str) -> Iterator[None]:
    """Commits of statements run inside carry the build id. Statements of one writer run together, others wait."""
    with _Signing.changed:
        _Signing.changed.wait_for(lambda: _Signing.build_id in (None, build_id))
        if _Signing.statements == 0:
            _Signing.build_id, _Signing.before = build_id, spark.conf.get(_USER_METADATA, None)
            spark.conf.set(_USER_METADATA, build_id)
        _Signing.statements += 1
    try:
        yield
    finally:
        with _Signing.changed:
            _Signing.statements -= 1
            if _Signing.statements == 0:
                if _Signing.before is None:
                    spark.conf.unset(_USER_METADATA)
                else:
                    spark.conf.set(_USER_METADATA, _Signing.before)
                _Signing.build_id = None
                _Signing.changed.notify_all()
