"""What scheduled jobs have done, and where a job that died goes on: the table `runs`, which is only appended to.

A run is planned before anything else is done: from which version of its source to which, in which batches, under which
transaction identities. So a run that is begun again does the same things under the same names, and what it had done
already is passed over. A plan goes in by MERGE if nobody else has planned that run.
"""

from __future__ import annotations

import getpass
import json
import socket
import time
import uuid
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from banyan.errors import Conflict
from banyan.store.delta import DeltaTable
from banyan.store.lock import locked
from banyan.store.tables import RUNS, create_text

_KEPT_DAYS = 30


@dataclass(frozen=True)
class Run:
    """A planned run of a job. `batches`: what each is to read, as the job has written it down; `done`: how many are."""

    run: int
    writer: str
    number: int
    after_version: int | None
    to_version: int
    index_version: int
    batches: list[dict[str, Any]]
    done: int = 0


def beside(index: str) -> str:
    """The table `runs` in the folder or schema of an index."""
    return f"{index}/{RUNS}" if "/" in index else f"{index}.{RUNS}"


class Runs:
    """The rows of one job in the table `runs`."""

    def __init__(self, spark: SparkSession, where: str, job: str, source: str, index: str):
        self._spark = spark
        self._table = DeltaTable(spark, where)
        self._fixed = {"job": job, "source": source, "index_name": index}
        if not self._table.exists():
            spark.sql(create_text(RUNS, self._table.sql, _KEPT_DAYS, "CREATE TABLE IF NOT EXISTS"))

    def alone(self) -> AbstractContextManager[None]:
        """On a local folder, one process at a time runs jobs of this table; elsewhere Delta's commits decide."""
        local = self._table.is_folder and "://" not in self._table.name
        return locked(self._table.name if local else None)

    def last(self) -> tuple[Run | None, str]:
        """The newest run of the job, and its state: none, unfinished, failed or done."""
        rows = self._table.latest().where(F.col("job") == self._fixed["job"])
        newest = rows.agg(F.max("run")).first()[0]
        if newest is None:
            return None, "none"
        steps: dict[str, list[Row]] = {}
        for row in rows.where(F.col("run") == newest).collect():
            steps.setdefault(row["step"], []).append(row)
        plan = steps["planned"][0]
        done = len({row["batch"] for row in steps.get("batch", [])})
        run = Run(
            newest,
            plan["writer"],
            plan["number"],
            plan["after_version"],
            plan["to_version"],
            plan["index_version"],
            json.loads(plan["note"]),
            done,
        )
        state = "done" if "done" in steps else "failed" if "failed" in steps else "unfinished"
        return run, state

    def plan(
        self,
        before: Run | None,
        after_version: int | None,
        to_version: int,
        index_version: int,
        batches: list[dict],
        passed_over: int = 0,
    ) -> Run:
        """The next run, written down."""
        writer = before.writer if before else f"banyan-{uuid.uuid4().hex}"
        number = before.number + len(before.batches) if before else 0
        run = Run(before.run + 1 if before else 1, writer, number, after_version, to_version, index_version, batches)
        row = self._row(run, "planned", number, note=json.dumps(batches), passed_over=passed_over)
        view = f"banyan_run_{uuid.uuid4().hex}"
        row.createOrReplaceTempView(view)
        try:
            done = self._spark.sql(
                f"MERGE INTO {self._table.sql} t USING {view} s ON t.job = s.job AND t.run = s.run "
                "AND t.step = 'planned' WHEN NOT MATCHED THEN INSERT *"
            ).first()
        finally:
            self._spark.catalog.dropTempView(view)
        if done["num_inserted_rows"] != 1:
            raise Conflict(f"somebody else has just begun run {run.run} of {self._fixed['job']}; run it again")
        return run

    def batch(self, run: Run, index_version: int, started: float, **told: Any) -> Run:
        """The run after its next batch was done, which is written down."""
        number = run.done + 1
        self._append(run, "batch", run.number + number, index_version, started, batch=number, **told)
        return replace(run, done=number)

    def finish(self, run: Run, step: str, index_version: int, started: float, **told: Any) -> None:
        """The run is done, or has failed."""
        self._append(run, step, run.number + run.done, index_version, started, **told)

    def _append(self, run: Run, step: str, number: int, index_version: int, started: float, **told: Any) -> None:
        row = self._row(run, step, number, **told, index_version=index_version, seconds=time.monotonic() - started)
        self._table.save(row.write.format("delta").mode("append"))

    def _row(self, run: Run, step: str, number: int, **told: Any):
        values = {
            **self._fixed,
            "run": run.run,
            "step": step,
            "at": datetime.now(timezone.utc),
            "published_by": f"{getpass.getuser()}@{socket.gethostname()}",
            "after_version": run.after_version,
            "to_version": run.to_version,
            "index_version": run.index_version,
            "writer": run.writer,
            "number": number,
            **told,
        }
        schema = self._table.latest().schema
        return self._spark.createDataFrame([tuple(values.get(name) for name in schema.names)], schema)
