"""Spark Connect: a client of a server elsewhere, or of one that is started on this machine, with Delta.

In: a URL, `sc://host:port` or `local[n]`. Out: a session that speaks to Spark through gRPC only: no JVM, no RDD. One
process holds classic sessions or such ones, never both.
"""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from banyan.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
_REMOTE, _LOCAL, _ENABLED = "SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"
_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"


def check_packages() -> None:
    """SetupError unless the packages are there that a client needs beside PySpark."""
    missing = [name for name in ("grpc", "grpc_status", "google.rpc", "zstandard") if not _found(name)]
    if missing:
        raise SetupError(f"Spark Connect needs {', '.join(missing)}: pip install 'banyan-spark[connect]'")


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the package that it is in is not there either
        return False


def connected(url: str) -> SparkSession:
    """A session of the server at `sc://host:port`."""
    # PySpark's other builder takes every server that this process has started to be on the one default port.
    from pyspark.sql.connect.session import SparkSession

    os.environ[_ENABLED] = "1"
    return SparkSession.builder.remote(url).getOrCreate()


def served(options: dict[str, str], start: Callable[[dict[str, str]], SparkContext]) -> SparkSession:
    """A session of a server on this machine, which `start` starts with these options and the session's `stop` ends.

    PySpark's own `remote("local")` does the same, but on one port for all processes of the machine.
    """
    from pyspark.sql import SparkSession

    # The server reads the token from its environment, and the client from ours.
    os.environ.setdefault(_TOKEN, uuid.uuid4().hex)
    plugins = ",".join(name for name in (PLUGIN, options.get("spark.plugins")) if name)
    loopback = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": "0"}
    with _classic():
        context = start({**loopback, **options, "spark.plugins": plugins})
        # Known to PySpark as the session behind the server: it is stopped with the client's.
        SparkSession(context)
        service = getattr(context._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
        port = getattr(service, "MODULE$").localPort()
    os.environ[_LOCAL] = "1"
    return connected(f"sc://localhost:{port}")


@contextmanager
def _classic() -> Iterator[None]:
    """Without what in the environment would make the server's own Spark a client."""
    before = {name: os.environ.pop(name) for name in (_REMOTE, _ENABLED) if name in os.environ}
    try:
        yield
    finally:
        if _REMOTE in before:
            os.environ[_REMOTE] = before[_REMOTE]


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is a client of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_beside(spark: SparkSession) -> bool:
    """Whether Spark sees the files that this process sees: it runs here, or is driven from here."""
    if not is_connect(spark):
        return True
    here = spark.client.host in ("localhost", "127.0.0.1", "[::1]")
    return here and setting(spark, "spark.master").startswith("local")


def setting(spark: SparkSession, name: str) -> str:
    """A setting of the session; empty if it has none, or will not say: serverless compute hides most of them."""
    from pyspark.errors import PySparkException

    try:
        return spark.conf.get(name, "") or ""
    except PySparkException:
        return ""
