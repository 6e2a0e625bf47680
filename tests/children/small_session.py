"""The Spark session of a child process: as small as that of the tests."""

from __future__ import annotations

import os

from banyan.spark_session import session

SMALL = {
    # Defaults are for clusters: with 200 partitions a MERGE of three rows takes nine seconds.
    "spark.sql.shuffle.partitions": 2,
    "spark.default.parallelism": 2,
    "spark.databricks.delta.snapshotPartitions": 1,
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": 2,
    # Tests run each plan once, on few rows: compiling it costs more than running it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m",
    "spark.ui.enabled": "false",
}


def small_session(folder: str):
    where = {"remote" if os.environ.get("BANYAN_CONNECT") else "master": "local[2]"}
    return session("banyan-child", memory="1g", **where, **SMALL, **{"spark.sql.warehouse.dir": folder})
