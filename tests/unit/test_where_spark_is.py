"""What is decided by where Spark runs: how intermediates are kept, in which folder, whom locks keep out, which jars."""

from __future__ import annotations

import zipfile

import pytest
from pyspark.errors import PySparkException

from banyan import connect, jars
from banyan.errors import ArgumentError, SetupError
from banyan.store.materialise import Scratch, is_local
from banyan.store.tables import Place


class Session:
    """A classic session, of which only the settings are asked."""

    def __init__(self, **settings):
        self.settings = {name.replace("_", "."): value for name, value in settings.items()}
        self.conf = self

    def get(self, name, default=None):
        return self.settings.get(name, default)


class Client(Session):
    """A Connect session."""

    def __init__(self, host, **settings):
        super().__init__(**settings)
        self.client, self.host = self, host


Client.__module__ = "pyspark.sql.connect.session"
LOCAL = {"spark_master": "local[2]"}
CLUSTER = {"spark_master": "local-cluster[2,1,1024]"}
FAR = {"spark_master": "spark://host:7077"}


@pytest.mark.parametrize(
    ("spark", "strategy"),
    [
        (Session(**LOCAL), "local"),
        (Session(**CLUSTER), "table"),
        (Client("localhost", **LOCAL), "table"),
        (Client("far.away", **LOCAL, spark_banyan_scratch="s3://bucket/scratch"), "table"),
        (Session(**FAR, spark_banyan_scratch="/shared"), "table"),
    ],
)
def test_intermediates_are_kept_in_memory_only_where_nothing_can_be_lost_alone(spark, strategy):
    assert is_local(spark) == (strategy == "local")
    assert Scratch(spark).strategy == strategy


@pytest.mark.parametrize("spark", [Session(**FAR), Client("far.away", **LOCAL), Client("localhost", **FAR), Session()])
def test_a_cluster_needs_a_scratch_folder(spark, monkeypatch):
    monkeypatch.delenv("BANYAN_SCRATCH", raising=False)
    with pytest.raises(ArgumentError, match=r"set spark\.banyan\.scratch or BANYAN_SCRATCH"):
        Scratch(spark)
    monkeypatch.setenv("BANYAN_SCRATCH", "/Volumes/a/b/c")
    assert Scratch(spark).folder.startswith("/Volumes/a/b/c/")


def test_compute_that_tells_nothing_of_itself_is_a_cluster(monkeypatch):
    class Serverless(Client):
        __module__ = Client.__module__

        def get(self, name, default=None):
            raise PySparkException(f"[CONFIG_NOT_AVAILABLE] Configuration {name} is not available")

    monkeypatch.setenv("BANYAN_SCRATCH", "s3://bucket/scratch")
    scratch = Scratch(Serverless("localhost"))
    assert scratch.strategy == "table" and scratch.folder.startswith("s3://bucket/scratch/")


@pytest.mark.parametrize(
    ("spark", "where", "lockable"),
    [
        (Session(**LOCAL), "/data/ads", True),
        (Session(**LOCAL), "main.ads", False),
        (Session(**LOCAL), "s3://bucket/ads", False),
        (Session(**LOCAL), "dbfs:/ads", False),
        (Session(**LOCAL), "/Volumes/main/ads/index", False),
        (Client("localhost", **LOCAL), "/data/ads", True),
        (Client("far.away", **LOCAL), "/data/ads", False),
    ],
)
def test_only_folders_of_this_machine_are_locked(spark, where, lockable):
    assert (Place(spark, where).lock_folder is not None) == lockable


def test_a_relative_path_means_nothing_to_a_server_elsewhere():
    assert Place(Client("localhost", **LOCAL), "./ads").where.startswith("/")
    with pytest.raises(ArgumentError, match=r"'\./ads' is relative to a folder here, and Spark is elsewhere"):
        Place(Client("far.away", **LOCAL), "./ads")


def test_packages_that_connect_lacks_are_named(monkeypatch):
    monkeypatch.setattr(connect, "find_spec", lambda name: None if name == "zstandard" else name)
    with pytest.raises(SetupError, match=r"needs zstandard: pip install 'banyan-spark\[connect\]'"):
        connect.check_packages()


OWN, SEDONA = (
    "io.graphframes_graphframes-spark4_2.13-0.9.2.jar",
    "org.apache.sedona_sedona-spark-shaded-4.0_2.13-1.8.0.jar",
)


def jar(folder, name):
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as file:
        file.writestr("x", "x")


def test_the_jar_of_graphframes_is_taken_from_the_cache_its_own_first(tmp_path, monkeypatch):
    wishes = {"spark.jars.ivy": str(tmp_path)}
    monkeypatch.setattr(jars, "fetch_jars", lambda *_: pytest.fail("fetched"))
    assert jars.cached_graph_jars(wishes, {}) == []
    for name in (SEDONA, OWN):
        jar(tmp_path / "jars", name)
        assert [found.name for found in jars.graph_jars(wishes, {})] == [name]
    jar(tmp_path / "given", SEDONA.partition("_")[2])
    assert [
        f.parent.name for f in jars.cached_graph_jars({"spark.jars.ivy": "/none"}, {"BANYAN_JARS": f"{tmp_path}/given"})
    ] == ["given"]


def test_graphframes_falls_back_to_the_second_coordinate(tmp_path, monkeypatch):
    asked = []

    def fetch(wishes, coordinate, what):
        asked.append(coordinate)
        if "sedona" not in coordinate:
            raise SetupError("no repository has it")
        jar(tmp_path / "jars", SEDONA)

    monkeypatch.setattr(jars, "fetch_jars", fetch)
    assert [found.name for found in jars.graph_jars({"spark.jars.ivy": str(tmp_path)}, {})] == [SEDONA]
    assert asked == list(jars.GRAPHFRAMES)


def test_no_jar_of_graphframes_at_all(tmp_path, monkeypatch):
    def fetch(wishes, coordinate, what):
        raise SetupError(jars.no_jars("Connection refused", {}, coordinate))

    monkeypatch.setattr(jars, "fetch_jars", fetch)
    with pytest.raises(SetupError, match="Cannot fetch org.apache.sedona.*Connection refused"):
        jars.graph_jars({"spark.jars.ivy": str(tmp_path)}, {})
