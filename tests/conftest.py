"""What all tests share: one small Spark session, made on first use, so that tests without Spark never start it.

With BANYAN_CONNECT=1 it is a client of Spark Connect, of a server on this machine (`make test-connect`).
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

CONNECT = bool(os.environ.get("BANYAN_CONNECT"))


def pytest_configure(config):
    config.addinivalue_line("markers", "classic(why): only without Spark Connect")


def pytest_collection_modifyitems(items):
    for item in items:
        only = item.get_closest_marker("classic")
        if CONNECT and only is not None:
            item.add_marker(pytest.mark.skip(reason=f"not over Spark Connect: {only.args[0]}"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Spark with Delta on two cores, its files in a folder of this run."""
    from banyan.jars import cached_graph_jars
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
    where = {"remote" if CONNECT else "master": "local[2]"}
    # The jar of GraphFrames if it is there already; `make test-graph` fetches it.
    graph = not CONNECT and bool(find_spec("graphframes") and cached_graph_jars({}, os.environ))
    spark = session("banyan-tests", memory="2g", graph=graph, **where, **options)
    yield spark
    spark.stop()
