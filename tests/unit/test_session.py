"""The session's decisions, without starting Spark: memory, cores, Java, jars, options, and the messages."""

from __future__ import annotations

import os

import pytest

from banyan import jars, machine
from banyan.errors import ArgumentError, SetupError
from banyan.spark_session import checked_memory, checked_options, fitted_options

GIB = 1 << 30


@pytest.mark.parametrize(
    ("available", "heap"),
    [(0, "1024m"), (2 * GIB, "1024m"), (10 * GIB, "4096m"), (16 * GIB, "6553m"), (1024 * GIB, f"{31 * 1024}m")],
)
def test_heap_is_two_fifths_within_bounds(available, heap):
    assert machine.fitted_memory(available) == heap


def machine_of(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


FREE = {"proc/meminfo": "MemTotal: 99 kB\nMemAvailable:    8388608 kB\n"}
V1, V2 = "4:memory:/a/b\n3:cpuset:/\n", "0::/a/b\n"
V2_MAX, V1_MAX = "memory.max", "memory.limit_in_bytes"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8 * GIB),
        ({"proc/self/cgroup": V2, f"sys/fs/cgroup/a/b/{V2_MAX}": "max\n"}, 8 * GIB),
        ({"proc/self/cgroup": V2, f"sys/fs/cgroup/a/b/{V2_MAX}": f"{3 * GIB}\n"}, 3 * GIB),
        ({"proc/self/cgroup": V2, f"sys/fs/cgroup/a/{V2_MAX}": f"{2 * GIB}\n"}, 2 * GIB),
        ({"proc/self/cgroup": "0::/\n", f"sys/fs/cgroup/{V2_MAX}": f"{5 * GIB}\n"}, 5 * GIB),
        ({"proc/self/cgroup": V1, f"sys/fs/cgroup/memory/a/b/{V1_MAX}": f"{4 * GIB}\n"}, 4 * GIB),
        ({"proc/self/cgroup": V1, f"sys/fs/cgroup/memory/{V1_MAX}": "9223372036854771712\n"}, 8 * GIB),
    ],
)
def test_available_memory_is_the_least_limit(tmp_path, files, expected):
    assert machine.available_memory(machine_of(tmp_path, FREE | files)) == expected


def test_available_memory_without_proc(tmp_path):
    assert machine.available_memory(tmp_path) > 0


@pytest.mark.parametrize(
    ("master", "cores"),
    [("local", 1), ("local[3]", 3), ("local[3,2]", 3), ("local-cluster[2,3,1024]", 6), ("spark://host:7077", 1)],
)
def test_cores_of_a_master(master, cores):
    assert machine.master_cores(master) == cores


def test_cores_of_all():
    assert 1 <= machine.master_cores("local[*]") <= os.cpu_count()


def test_a_master_that_is_none():
    with pytest.raises(ArgumentError, match="say local"):
        machine.master_cores("local[many]")


@pytest.mark.parametrize(
    ("report", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "25-ea" 2025-09-16', 25),
        ("Unable to locate a Java Runtime.", None),
    ],
)
def test_java_major(report, major):
    assert machine.java_major(report) == major


def java_home(tmp_path, script):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return {"JAVA_HOME": str(tmp_path)}


def says(version):
    return f"echo 'openjdk version \"{version}\"' >&2"


@pytest.mark.parametrize("version", ["17.0.15", "21.0.1"])
def test_java_that_fits(tmp_path, version):
    assert machine.check_java(java_home(tmp_path, says(version))) == int(version[:2])


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (says("11.0.2"), "is Java 11, too old for Spark 4.1. Install Java 17"),
        (says("1.8.0_292"), "is Java 8, too old"),
        (says("25.0.1"), "is Java 25, too new for Spark 4.1. Install Java 17"),
        ("echo No Java runtime present; exit 1", "does not tell a version. Install Java 17"),
    ],
)
def test_java_that_does_not_fit(tmp_path, script, message):
    with pytest.raises(SetupError, match=message) as caught:
        machine.check_java(java_home(tmp_path, script))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"PATH": "/nowhere"}, "No Java found.* Install Java 17"),
        ({}, "No Java found"),
        ({"JAVA_HOME": "/nowhere"}, "JAVA_HOME is /nowhere, but there is no /nowhere/bin/java"),
    ],
)
def test_no_java(environment, message):
    with pytest.raises(SetupError, match=message):
        machine.check_java(environment)


def test_a_spark_home_of_another_spark(tmp_path):
    with pytest.raises(SetupError, match="holds no Spark 4.1. Unset it"):
        machine.check_spark_home({"SPARK_HOME": str(tmp_path)})
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-4.1.4.jar").touch()
    machine.check_spark_home({"SPARK_HOME": str(tmp_path)})
    machine.check_spark_home({})


def test_given_jars_under_either_name(tmp_path):
    for name in jars.JARS[:3]:
        (tmp_path / name).touch()
    with pytest.raises(SetupError, match="missing: delta-kernel-defaults-4.4.0.jar, .*unitycatalog"):
        jars.delta_jars({}, {"BANYAN_JARS": str(tmp_path)})
    for name in jars.JARS[3:]:
        (tmp_path / name.partition("_")[2]).touch()
    (tmp_path / "more.jar").touch()
    assert len(jars.delta_jars({}, {"BANYAN_JARS": str(tmp_path)})) == len(jars.JARS) + 1


def cached(tmp_path, content):
    (tmp_path / "jars").mkdir()
    for name in jars.JARS:
        (tmp_path / "jars" / name).write_bytes(content)
    return {"spark.jars.ivy": str(tmp_path)}


EMPTY_ZIP = b"PK\x05\x06" + bytes(18)


def test_cached_jars_are_not_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(jars, "fetch_jars", lambda *_: pytest.fail("fetched"))
    found = jars.delta_jars(cached(tmp_path, EMPTY_ZIP), {})
    assert [jar.name for jar in found] == list(jars.JARS)


def test_cached_jars_that_were_cut_short_are_fetched_again(tmp_path, monkeypatch):
    fetched = []
    monkeypatch.setattr(jars, "fetch_jars", lambda wishes, *_: fetched.append(wishes))
    with pytest.raises(SetupError, match="it came without"):
        jars.delta_jars(cached(tmp_path, b"PK"), {})
    assert fetched == [{"spark.jars.ivy": str(tmp_path)}]


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            "\tHost repo1.maven.org not found. url=https://repo1\nunresolved dependency: x",
            "Host repo1.maven.org not found",
        ),
        ("Server access error: Connection refused url=http://x\nunresolved dependency: x", "Connection refused"),
        (":: unresolved dependency: io.delta#delta-spark;9: not found]", "no repository has it"),
        ("[FAILED     ] download failed: org.slf4j", "a download failed"),
        ('Exception in thread "main" java.io.IOException: full\n\tat org.apache', "java.io.IOException: full"),
        ("Error occurred during initialization of VM\nToo small initial heap\n", "Too small initial heap"),
        ("", "no message"),
    ],
)
def test_why_a_fetch_failed(log, reason):
    assert jars.fetch_reason(log) == reason


def test_message_for_jars_names_the_ways_out():
    message = jars.no_jars("Connection refused", {"DEFAULT_ARTIFACT_REPOSITORY": "http://mirror/"})
    for part in (jars.COORDINATE, "Connection refused", "DEFAULT_ARTIFACT_REPOSITORY", "http://mirror/", "BANYAN_JARS"):
        assert part in message


def test_wishes_win_and_lists_are_joined(tmp_path):
    wishes = {
        "spark.master": "local[3]",
        "spark.ui.enabled": "true",
        "spark.sql.extensions": "x.Y",
        "spark.driver.extraJavaOptions": "-Dx=y",
        "spark.jars": "/more.jar",
    }
    options = fitted_options(wishes, [tmp_path / "delta.jar"])
    assert options["spark.ui.enabled"] == "true"
    assert options["spark.sql.shuffle.partitions"] == "3"
    assert options["spark.sql.extensions"] == "io.delta.sql.DeltaSparkSessionExtension,x.Y"
    assert options["spark.jars"] == f"{(tmp_path / 'delta.jar').as_uri()},/more.jar"
    assert options["spark.driver.extraJavaOptions"].endswith("log4j2.properties -Dx=y")


def test_a_cluster_is_not_fitted_to_this_machine(tmp_path):
    options = fitted_options({"spark.master": "spark://host:7077"}, [tmp_path / "delta.jar"])
    assert not {"spark.driver.memory", "spark.driver.host", "spark.sql.shuffle.partitions"} & options.keys()


def test_options_and_memory_are_checked():
    assert checked_options({"spark.x": True, "spark.y": 3}) == {"spark.x": "true", "spark.y": "3"}
    with pytest.raises(ArgumentError, match="no option shuffle"):
        checked_options({"shuffle": 3})
    assert checked_memory("4g") == "4g"
    with pytest.raises(ArgumentError, match="is no size"):
        checked_memory("much")
