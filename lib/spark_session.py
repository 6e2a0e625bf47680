"""The Spark session: local Spark with Delta, fitted to this machine, or the session that is there already.

In: nothing but wishes. Out: a SparkSession with Delta, and not a line of Spark's on the terminal. What can be wrong
with Java or the jars is looked at before Spark starts, and raises SetupError with one line that says what to do.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import threading
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from banyan.connect import check_packages, connected, is_connect, served
from banyan.errors import ArgumentError, SetupError
from banyan.jars import delta_jars, graph_jars, last_line
from banyan.machine import available_memory, check_java, check_spark_home, fitted_memory, master_cores

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession


def session(
    app_name: str = "banyan",
    *,
    master: str | None = None,
    memory: str | None = None,
    cores: int | None = None,
    remote: str | None = None,
    graph: bool = False,
    **conf: Any,
) -> SparkSession:
    """A Spark session that can read and write Delta tables.

    On Databricks, when this process has a session already, and with `remote` (or SPARK_REMOTE) the address of a Spark
    Connect server, "sc://host:port", that session is returned as it is: nothing else given here is applied to it.
    `remote="local[2]"` starts such a server here, with Delta. Otherwise Spark starts on this machine, with
    `master` (default `local[*]`) or `cores`, driver memory `memory` (such as "4g"; default: fitted to the machine),
    with `graph` the jar of GraphFrames (banyan-spark[graph]), and any Spark option:
    `session(**{"spark.sql.shuffle.partitions": 8})`. What is given wins over what is fitted.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if os.environ.get("DATABRICKS_RUNTIME_VERSION"):
        return SparkSession.builder.getOrCreate()
    if SparkSession.getActiveSession() is not None or SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    remote = remote or os.environ.get("SPARK_REMOTE")
    if remote:
        check_packages()
        if not remote.startswith("local"):
            return connected(remote)

    if sum(map(bool, (master, cores, remote))) > 1:
        raise ArgumentError(f"give one of master={master!r}, cores={cores!r} and remote={remote!r}")
    wishes = checked_options(conf) | {"spark.app.name": app_name}
    if master or cores or remote:
        wishes["spark.master"] = master or remote or f"local[{cores}]"
    if memory:
        wishes["spark.driver.memory"] = checked_memory(memory)

    check_spark_home(os.environ)
    check_java(os.environ)
    jars = delta_jars(wishes, os.environ) + (graph_jars(wishes, os.environ) if graph else [])
    options = fitted_options(wishes, jars)
    if options["spark.master"].startswith("local"):
        # Workers start "python3" from PATH unless told otherwise, and that one may lack pyarrow, or Banyan.
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        # Nothing leaves the loopback, and a host name that does not resolve is no hindrance.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return served(options, _started) if remote else SparkSession(_started(options))


def checked_options(conf: Mapping[str, Any]) -> dict[str, str]:
    """The options as Spark's texts. Spark ignores a name it does not know, so a slip would go unseen."""
    strange = [key for key in conf if not key.startswith("spark.")]
    if strange:
        raise ArgumentError(f"session() has no option {', '.join(strange)}: Spark's options start with 'spark.'")
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in conf.items()}


def checked_memory(memory: str) -> str:
    """The memory as given, if Spark can read it."""
    if not re.fullmatch(r"\d+[kmgt]", memory, re.IGNORECASE):
        raise ArgumentError(f'memory={memory!r} is no size: say "4g" or "1500m"')
    return memory


def fitted_options(wishes: Mapping[str, str], jars: list[Path]) -> dict[str, str]:
    """Spark's options: ours, then those in `wishes`; of lists (jars, extensions, Java options) both."""
    master = wishes.get("spark.master", "local[*]")
    options = {
        "spark.master": master,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # Delta's parser drops SQL parameters on Spark 4.1 (delta#7640); this way of binding them goes around it.
        "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
        # Our logs are short: 50 tasks to read one, the default, cost seconds at each write.
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        options |= {
            "spark.driver.memory": fitted_memory(available_memory()),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # One machine: more partitions than cores only adds tasks, and one partition would leave cores idle.
            "spark.sql.shuffle.partitions": str(max(2, master_cores(master))),
        }
    options |= wishes
    options["spark.jars"] = _joined(",", ",".join(jar.as_uri() for jar in jars), wishes.get("spark.jars"))
    own = "spark.sql.extensions"
    if own in wishes and "DeltaSparkSessionExtension" not in wishes[own]:
        options[own] = _joined(",", "io.delta.sql.DeltaSparkSessionExtension", wishes[own])
    java = "spark.driver.extraJavaOptions"
    quiet = f"-Dlog4j2.configurationFile={(_conf_folder() / 'log4j2.properties').as_uri()}"
    options[java] = _joined(" ", quiet, wishes.get(java))
    return options


def _joined(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part)


def _conf_folder() -> Path:
    spec = importlib.util.find_spec("banyan.conf")
    if spec and spec.origin:
        return Path(spec.origin).parent
    return Path(__file__).resolve().parent.parent / "conf"


def _started(options: dict[str, str]) -> SparkContext:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException

    conf = SparkConf(loadDefaults=False).setAll(list(options.items()))
    try:
        if SparkContext._gateway is None:
            with _quiet_jvm(conf) as gateway:
                return SparkContext(conf=conf, gateway=gateway)
        # A session was here and was stopped; its JVM lives on, with the memory and jars it had.
        return SparkContext(conf=conf)
    except Py4JError as error:
        raise SetupError(f"Spark did not start: {last_line(str(getattr(error, 'java_exception', error)))}") from None
    except PySparkException as error:
        raise SetupError(f"Spark did not start: {last_line(str(error))}") from None


@contextmanager
def _quiet_jvm(conf: SparkConf):
    """Start the JVM and keep back what it says until it is up; if it dies, say the essence of it.

    Some of its lines (incubator modules, JAVA_TOOL_OPTIONS) come before any logging can be configured. What it says
    later goes to our stderr, from its stdout too: our stdout is for results.
    """
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    reader, writer = os.pipe()
    held: list[bytes] = []
    up = threading.Event()

    def pump() -> None:
        while chunk := os.read(reader, 65536):
            if not up.is_set():
                held.append(chunk)
                continue
            # If our own stderr is closed we still have to read on: a full pipe would stop the JVM.
            with suppress(OSError):
                os.write(2, chunk)
        os.close(reader)

    pumping = threading.Thread(target=pump, name="spark-output", daemon=True)
    pumping.start()
    try:
        gateway = launch_gateway(conf, {"stdout": writer, "stderr": writer})
    except PySparkRuntimeError:
        os.close(writer)
        pumping.join(5)
        raise SetupError(f"Spark did not start: {last_line(b''.join(held).decode(errors='replace'))}") from None
    os.close(writer)
    try:
        yield gateway
    finally:
        up.set()


def main() -> int:
    """Start a session, fetching what is missing, and say what it is made of."""
    try:
        spark = session()
        if is_connect(spark):
            print(f"Spark {spark.version} over Connect: ready")
            return 0
        jvm = spark.sparkContext._jvm
        delta = getattr(jvm.io.delta, "package$").__getattr__("MODULE$").VERSION()
        java = jvm.java.lang.System.getProperty("java.specification.version")
        print(f"Spark {spark.version}, Delta {delta}, Java {java}: ready")
        spark.stop()
    except SetupError as error:
        print(f"banyan: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
