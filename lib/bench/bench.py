"""Runs points: generates a workload's files, goes through the parts, keeps each point's figures as JSON.

Points of one group run one after another in one Spark session; points with the same rules use one index. A part that
fails is noted with its error and the others go on, except that nothing goes on without an index.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from banyan import __version__
from banyan.bench import files, parts, rivals
from banyan.bench.forest import Events, Forest
from banyan.bench.memory import peaks
from banyan.bench.point import PARTS, Spec
from banyan.bench.workloads import Workload, named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from banyan.index import Index

_RUN: dict[str, Callable[[Bench], dict[str, Any]]] = {
    **{name: getattr(parts, name) for name in ("parse", "build", "match", "pairs", "deep", "changes")},
    **{name: getattr(rivals, name) for name in ("yardstick", "today")},
}
# Parts that need an index; without `build` among the parts it is built all the same, and not reported.
_ON_AN_INDEX = {"match", "pairs", "deep", "changes", "yardstick"}


class Bench:
    """One point while it is measured, and what its group shares: session, folder, index."""

    def __init__(self, spark: SparkSession, folder: str, programs: str, say: Callable[[str], None] | None):
        self.spark = spark
        self.folder = folder
        self.programs = programs
        self.say = say
        self.index: Index | None = None
        self._rules: tuple | None = None
        self._built: dict[str, Any] | None = None

    def run(self, spec: Spec) -> dict[str, Any]:
        """Measure a point."""
        self.tell(f"{spec.name}: {spec.expressions:,} expressions, {spec.events:,} events; {spec.made.told()}")
        self._take(spec)
        self.figures: dict[str, Any] = {}
        memory: dict[str, Any] = {}
        failed: dict[str, str] = {}
        start = time.monotonic()
        for part in [name for name in PARTS if name in spec.parts or (name == "build" and self._needs_index(spec))]:
            with peaks() as peak:
                try:
                    figures = self._one(part)
                except Exception as error:
                    failed[part] = f"{type(error).__name__}: {str(error)[:1000]}"
                    self.tell(f"{part} failed: {failed[part]}")
                    if self.say is not None and not isinstance(error, rivals.BanyanError):
                        traceback.print_exc()
                    if part == "build":
                        self._rules = self._built = None
                        break
                    continue
            self.figures[part] = figures
            memory[part] = dict(peak)
        if self.index is not None and {"deep", "changes"} & set(self.figures):
            # The same rows as before; for the points to come in as few files, too.
            self.index.optimize()
        memory["peak"] = {
            kind: max((at.get(kind, 0) for at in memory.values()), default=0)
            for kind in ("driver", "jvm", "workers", "all")
        }
        return {
            "spec": spec.to_json(),
            "command": spec.command(),
            "told": spec.made.told(),
            "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "took_s": round(time.monotonic() - start, 1),
            "machine": machine(self.spark),
            "figures": self.figures,
            "memory_bytes": memory,
            "failed": failed,
        }

    def _needs_index(self, spec: Spec) -> bool:
        return bool(_ON_AN_INDEX & set(spec.parts))

    def _one(self, part: str) -> dict[str, Any]:
        if part == "build" and self._built is not None:
            return self._built | {"taken_over": True}
        figures = _RUN[part](self)
        if part == "build":
            self._built = figures
            self.tell(f"build: {figures['seconds']:.1f} s, {figures['bytes_per_expression']} bytes an expression")
        return figures

    def _take(self, spec: Spec) -> None:
        """Generate what the point needs, unless the one before has left it."""
        self.spec = spec
        self.made: Workload = spec.made
        if self._rules != (spec.rules(), spec.keeping):
            self.close()
            self._rules = (spec.rules(), spec.keeping)
            forest = self.forest
            self.names, self.values = forest.names, forest.values
            files.write_rules(self.rules_path, forest)
        files.write_events(self.events_path, self.some_events(spec.events), self.names)
        # What the generators needed shall not count as memory of what is measured.
        gc.collect()
        pa.default_memory_pool().release_unused()

    @property
    def forest(self) -> Forest:
        """The expressions, generated again: they are not kept beside what is measured."""
        return self.made.forest(self.spec.expressions)

    def other(self, turn: int) -> Workload:
        """The same workload with another seed."""
        return named(self.spec.workload, self.spec.seed + turn, **self.spec.settings)

    def events_of(self, part: str, count: int) -> str:
        """A file with so many events, the first ones of those of the point if it has as many."""
        if count == self.spec.events:
            return self.events_path
        path = f"{self.folder}/events-{part}.parquet"
        files.write_events(path, self.some_events(count), self.names)
        return path

    def some_events(self, count: int) -> Events:
        """So many events, the first ones of those of the point if it has as many. Generated again, too."""
        return self.made.events(max(count, self.spec.events)).first(count)

    @property
    def rules_path(self) -> str:
        return f"{self.folder}/rules.parquet"

    @property
    def events_path(self) -> str:
        return f"{self.folder}/events.parquet"

    @property
    def index_path(self) -> str:
        return f"{self.folder}/index"

    def tell(self, line: str) -> None:
        if self.say is not None:
            self.say(line)

    def close(self) -> None:
        """Free the index."""
        if self.index is not None:
            self.index.release()
        self.index = self._built = None
        shutil.rmtree(self.index_path, ignore_errors=True)


def run_group(spark: SparkSession, specs: list[Spec], out: str, say: Callable[[str], None] | None) -> None:
    """Measure the points of a group; each leaves its JSON in `out`/points."""
    folder = tempfile.mkdtemp(prefix="banyan-bench-")
    bench = Bench(spark, folder, os.path.join(out, "yardstick"), say)
    try:
        for spec in specs:
            save(out, spec, bench.run(spec))
    finally:
        bench.close()
        shutil.rmtree(folder, ignore_errors=True)


def path_of(out: str, spec: Spec) -> str:
    return os.path.join(out, "points", f"{spec.name}.json")


def save(out: str, spec: Spec, found: dict[str, Any]) -> None:
    """Write the JSON of a point, whole or not at all."""
    path = path_of(out, spec)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
    os.replace(f"{path}.new", path)


def done(out: str, spec: Spec) -> dict[str, Any] | None:
    """What an earlier run has found of the very same point, if all of its parts went well."""
    try:
        with open(path_of(out, spec), encoding="utf-8") as file:
            found = json.load(file)
        same = Spec.from_json(found["spec"]) == spec
    except (OSError, ValueError, KeyError, TypeError):
        # Not there, cut short, or of another Banyan.
        return None
    return found if same and not found["failed"] else None


def machine(spark: SparkSession | None = None) -> dict[str, Any]:
    """What the figures were measured on."""
    model = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    found = {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "banyan": __version__,
    }
    if spark is not None:
        found |= {"spark": spark.version, "master": spark.conf.get("spark.master", "?")}
        found["heap"] = spark.conf.get("spark.driver.memory", "?")
        home = os.environ.get("JAVA_HOME")
        java = os.path.join(home, "bin", "java") if home else "java"
        told = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
        found["java"] = next((line for line in told.splitlines() if "version" in line), "?")
    return found
