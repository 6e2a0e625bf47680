"""What all tests share: one small Spark session, made on first use, so that tests without Spark never start it."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Spark with Delta on two cores, its files in a folder of this run."""
    from banyan.spark_session import session

    scratch = tmp_path_factory.mktemp("spark")
    options = {
        # Defaults are for clusters: with 200 partitions a MERGE of three rows takes nine seconds.
        "spark.sql.shuffle.partitions": 2,
        "spark.default.parallelism": 2,
        "spark.databricks.delta.snapshotPartitions": 1,
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": 2,
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        # Tests run each plan once, on few rows: compiling it costs more than running it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # With the first compiler only, Java gives code 48 MB; when that is full it interprets the rest of the tests.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m "
        f"-Dderby.system.home={scratch / 'derby'}",
    }
    spark = session("banyan-tests", master="local[2]", memory="2g", **options)
    yield spark
    spark.stop()
