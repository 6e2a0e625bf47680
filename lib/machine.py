"""What Spark finds on this machine: memory, cores, Java, and a Spark that somebody left in the way.

The figures are those of this process, inside its container if it is in one. The checks return or raise SetupError.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from banyan.errors import ArgumentError, SetupError

SPARK_LINE = "4.1"
JAVA_OLDEST, JAVA_NEWEST = 17, 21
JAVA_REMEDY = "Install Java 17 or 21 (Debian, Ubuntu: openjdk-17-jre-headless; macOS: brew install openjdk@17)"
GIB = 1 << 30


# Memory and cores


def fitted_memory(available: int) -> str:
    """The heap of the JVM, in Spark's notation, for a machine with so many bytes to spare.

    Driver and executors are one JVM here. Two fifths go to its heap; about one more goes to what the JVM holds outside
    of it (classes, compiled code, Arrow and shuffle buffers); the rest is for the Python workers, one a core, and for
    the page cache. More than 32 GB buys nothing: pointers double in size, and pauses get long.
    """
    megabytes = available * 2 // 5 >> 20
    # 31 and not 32: the JVM gives up compressed pointers at 32.
    return f"{min(max(megabytes, 1024), 31 * 1024)}m"


def available_memory(root: Path = Path("/")) -> int:
    """Bytes this process may still use: what is free on the machine, or the limit of its control group if less."""
    found = [limit for limit in _group_limits(root) if limit is not None]
    try:
        found.append(int(re.search(r"MemAvailable:\s+(\d+) kB", (root / "proc/meminfo").read_text())[1]) << 10)
    except (OSError, TypeError):
        # No /proc: not Linux. All of the memory is the best that the standard library knows.
        try:
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (AttributeError, OSError, ValueError):
            found.append(4 * GIB)
    return min(found)


def _group_limits(root: Path) -> list[int | None]:
    """The limits of this process's control group and all groups above it, of both versions."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    limits = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            mount, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            mount, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        # In a container the path may be the host's: then only the mount itself is there, and it is ours.
        inner = Path(path.lstrip("/"))
        limits += [_number(mount / folder / name) for folder in (inner, *inner.parents)]
    return limits


def _number(file: Path) -> int | None:
    """The number in the file; None if there is no file or it says "max"."""
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def master_cores(master: str) -> int:
    """How many tasks run at a time under a master of the form local, local[n], local[n,f], local-cluster[n,c,m]."""
    inner = re.fullmatch(r"local(-cluster)?(?:\[([^\]]*)\])?", master)
    if not inner or inner[2] is None:
        return 1
    numbers = [number.strip() for number in inner[2].split(",")]
    if numbers[0] == "*":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        return int(numbers[0]) * (int(numbers[1]) if inner[1] else 1)
    except (ValueError, IndexError):
        raise ArgumentError(f"master={master!r} is not one of Spark's: say local[4] or local[*]") from None


# Java and Spark


def check_java(environment: Mapping[str, str]) -> int:
    """The major version of the Java that Spark will start; SetupError unless it is there and Spark runs on it."""
    home = environment.get("JAVA_HOME")
    if home:
        java = str(Path(home) / "bin" / "java")
        if not os.access(java, os.X_OK):
            raise SetupError(f"JAVA_HOME is {home}, but there is no {java}. Point JAVA_HOME to a Java 17, or unset it.")
    else:
        java = shutil.which("java", path=environment.get("PATH", ""))
        if not java:
            raise SetupError(f"No Java found: JAVA_HOME is not set and there is no java on PATH. {JAVA_REMEDY}.")
    try:
        run = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{java} does not run ({error}). {JAVA_REMEDY}.") from None
    major = java_major(run.stderr + run.stdout)
    if run.returncode or major is None:
        raise SetupError(f"{java} -version does not tell a version. {JAVA_REMEDY}.")
    if not JAVA_OLDEST <= major <= JAVA_NEWEST:
        age = "too old" if major < JAVA_OLDEST else "too new"
        raise SetupError(
            f"{java} is Java {major}, {age} for Spark {SPARK_LINE}. {JAVA_REMEDY}, and set JAVA_HOME to it."
        )
    return major


def java_major(report: str) -> int | None:
    """The major version in what `java -version` prints; 8 for "1.8.0_292"."""
    found = re.search(r'version "(?:1\.)?(\d+)', report)
    return int(found[1]) if found else None


def check_spark_home(environment: Mapping[str, str]) -> None:
    """A SPARK_HOME left over from another Spark starts that one, and fails in ways that do not show why."""
    home = environment.get("SPARK_HOME")
    if home and not list(Path(home).glob(f"jars/spark-core_2.13-{SPARK_LINE}.*.jar")):
        raise SetupError(f"SPARK_HOME is {home}, which holds no Spark {SPARK_LINE}. Unset it: pyspark brings its own.")
