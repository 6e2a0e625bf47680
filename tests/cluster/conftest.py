"""A real cluster of several processes on this machine: a driver and two executors, each a JVM with Python workers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A session on two executors of one core and 1 GB each, with a scratch folder that both can write."""
    import pyspark

    from banyan.spark_session import session

    folder = tmp_path_factory.mktemp("cluster")
    options = {
        "spark.banyan.scratch": folder / "scratch",
        "spark.sql.shuffle.partitions": 4,
        "spark.default.parallelism": 2,
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -Dderby.system.home={folder / 'derby'}",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    # Such a cluster keeps the logs of its executors beside PySpark.
    work = Path(pyspark.__file__).parent / "work"
    before = set(work.glob("*"))
    spark = session("banyan-cluster", master="local-cluster[2,1,1024]", memory="1g", **options)
    yield spark
    spark.stop()
    for left in set(work.glob("*")) - before:
        shutil.rmtree(left, ignore_errors=True)
