"""The jars of Delta and of GraphFrames: found in the cache of Spark's resolver, or fetched into it, once.

In: the options of the session that is to start. Out: the files, all there and whole; or SetupError with the remedy.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from banyan.errors import SetupError
from banyan.machine import SPARK_LINE

DELTA_VERSION = "4.4.0"
COORDINATE = f"io.delta:delta-spark_{SPARK_LINE}_2.13:{DELTA_VERSION}"
# What the resolver makes of the coordinate, under the names it gives the files. With all of them in place nothing is
# resolved: that is faster, works offline, and two processes that start together do not meet in the cache.
JARS = (
    f"io.delta_delta-spark_{SPARK_LINE}_2.13-{DELTA_VERSION}.jar",
    f"io.delta_delta-storage-{DELTA_VERSION}.jar",
    f"io.delta_delta-kernel-api-{DELTA_VERSION}.jar",
    f"io.delta_delta-kernel-defaults-{DELTA_VERSION}.jar",
    f"io.delta_delta-kernel-unitycatalog-{DELTA_VERSION}.jar",
    "io.unitycatalog_unitycatalog-client-0.6.0.jar",
    "io.unitycatalog_unitycatalog-hadoop-0.6.0.jar",
)
# Spark ships these itself, mostly newer; its copies win, so fetching others is 60 MB for nothing.
EXCLUDES = ",".join(
    f"{group}:*"
    for group in (
        "com.fasterxml.jackson.core",
        "com.fasterxml.jackson.dataformat",
        "com.fasterxml.jackson.datatype",
        "com.fasterxml.jackson.module",
        "com.google.code.findbugs",
        "org.apache.hadoop",
        "org.apache.logging.log4j",
        "org.apache.parquet",
        "org.apache.spark",
        "org.roaringbitmap",
        "org.scala-lang",
        "org.slf4j",
        "org.xerial.snappy",
    )
)
# Spark's resolver options that a caller may set to get the jars in another way.
RESOLVER_OPTIONS = ("spark.jars.ivy", "spark.jars.ivySettings", "spark.jars.repositories")
FETCH_SECONDS = 300
# GraphFrames 0.9.2, which goes with graphframes-py of that version: its own jar, or where no repository has it the one
# of Apache Sedona, which holds the same classes. Beside each, the files that it comes as.
GRAPHFRAMES = {
    "io.graphframes:graphframes-spark4_2.13:0.9.2": "io.graphframes_graphframes-*.jar",
    "org.apache.sedona:sedona-spark-shaded-4.0_2.13:1.8.0": "org.apache.sedona_sedona-spark-shaded-4.0_2.13-1.8.0.jar",
}


def delta_jars(wishes: Mapping[str, str], environment: Mapping[str, str]) -> list[Path]:
    """The jars of Delta: those of the folder BANYAN_JARS, or the cached ones, fetched first if they are not there."""
    folder = environment.get("BANYAN_JARS")
    if folder:
        return given_jars(Path(folder).absolute())
    # Named to Spark as well: Java does not take the home folder from HOME, as Python does.
    ivy = _cache(wishes)
    jars = [ivy / "jars" / name for name in JARS]
    for jar in jars:
        # A copy that was cut short lacks the directory at its end, which is what is_zipfile looks for.
        if jar.exists() and not zipfile.is_zipfile(jar):
            jar.unlink()
    if not all(jar.exists() for jar in jars):
        fetch_jars({**wishes, "spark.jars.ivy": str(ivy)})
        missing = [jar.name for jar in jars if not jar.exists()]
        if missing:
            raise SetupError(no_jars(f"it came without {', '.join(missing)}", environment))
    return jars


def _cache(wishes: Mapping[str, str]) -> Path:
    return Path(wishes.get("spark.jars.ivy") or Path.home() / ".ivy2.5.2").absolute()


def cached_graph_jars(wishes: Mapping[str, str], environment: Mapping[str, str]) -> list[Path]:
    """The jars of GraphFrames that are there already, whole; none if there are none."""
    folders = [environment.get("BANYAN_JARS"), _cache(wishes) / "jars"]
    for pattern in GRAPHFRAMES.values():
        for folder in filter(None, folders):
            # Maven's name of a file is the resolver's without what is before the underscore.
            there = {*Path(folder).glob(pattern), *Path(folder).glob(pattern.partition("_")[2])}
            jars = sorted(jar.absolute() for jar in there if zipfile.is_zipfile(jar))
            if jars:
                return jars
    return []


def graph_jars(wishes: Mapping[str, str], environment: Mapping[str, str]) -> list[Path]:
    """The jars of GraphFrames, fetched first if they are not there."""
    jars = cached_graph_jars(wishes, environment)
    reasons = []
    for coordinate in GRAPHFRAMES:
        if jars:
            break
        try:
            fetch_jars({**wishes, "spark.jars.ivy": str(_cache(wishes))}, coordinate, "GraphFrames jar (up to 73 MB")
        except SetupError as error:
            reasons.append(str(error))
        jars = cached_graph_jars(wishes, environment)
    if not jars:
        raise SetupError(reasons[-1] if reasons else "the jar of GraphFrames came, but it is not a jar")
    return jars


def given_jars(folder: Path) -> list[Path]:
    """All jars of a folder, if those of Delta are among them, under the resolver's names or Maven's."""
    jars = sorted(folder.glob("*.jar"))
    names = {jar.name for jar in jars}
    missing = [name.partition("_")[2] for name in JARS if not names & {name, name.partition("_")[2]}]
    if missing:
        raise SetupError(
            f"BANYAN_JARS is {folder}, where these are missing: {', '.join(missing)}. Add them, or unset it."
        )
    return jars


def fetch_jars(wishes: Mapping[str, str], coordinate: str = COORDINATE, what: str = "Delta jars (13 MB") -> None:
    """Let Spark's own resolver put the jars in its cache, by a spark-submit that does nothing else."""
    from pyspark.find_spark_home import _find_spark_home

    print(f"Fetching the {what}, once) ...", file=sys.stderr, flush=True)
    command = [str(Path(_find_spark_home()) / "bin" / "spark-submit"), "--master", "local[1]"]
    command += ["--packages", coordinate, "--exclude-packages", EXCLUDES]
    for option in RESOLVER_OPTIONS:
        if option in wishes:
            command += ["--conf", f"{option}={wishes[option]}"]
    # Something has to be run after resolving, and this class prints Hadoop's version and ends.
    command += ["--class", "org.apache.hadoop.util.VersionInfo", "spark-internal"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=FETCH_SECONDS)
    except subprocess.TimeoutExpired:
        raise SetupError(no_jars(f"no answer in {FETCH_SECONDS} seconds", os.environ, coordinate)) from None
    if run.returncode:
        raise SetupError(no_jars(fetch_reason(run.stderr), os.environ, coordinate))


def no_jars(reason: str, environment: Mapping[str, str], coordinate: str = COORDINATE) -> str:
    """The message for jars that could not be had: which, why, and the three ways out."""
    now = environment.get("DEFAULT_ARTIFACT_REPOSITORY")
    return (
        f"Cannot fetch {coordinate}: {reason}. Check the network, or set DEFAULT_ARTIFACT_REPOSITORY"
        + (f" (it is {now})" if now else "")
        + " to a Maven repository that can be reached, or BANYAN_JARS to a folder that has the jars."
    )


def fetch_reason(log: str) -> str:
    """What went wrong, in a few words, from the report of Spark's resolver."""
    for pattern in (r"Host (\S+) not found", r"(Connection refused|Connection timed out|Network is unreachable)"):
        found = re.search(pattern, log)
        if found:
            return found[0]
    if "download failed" in log:
        return "a download failed"
    found = re.search(r"unresolved dependency: [^\]\n]*", log)
    return "no repository has it" if found else last_line(log)


def last_line(log: str) -> str:
    """The line of a JVM's output that tells most: the first exception, or else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not line.startswith(("\t", "    at "))]
    told = [line for line in lines if re.search(r"\w(Exception|Error)\b", line)]
    return (told or lines or ["no message"])[0 if told else -1].removeprefix('Exception in thread "main" ')
