"""Where `into=` writes: a Delta folder (a name with a '/') or a table.

What is appended goes in once, however often it is tried: Delta remembers the highest number of each writer and passes
over what is not above it. By default each match is a writer of its own that numbers its batches. A caller that repeats
its work after a crash gives the identity itself, `once=(writer, number)`: all of the match is then one commit.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from banyan.store.delta import DeltaTable

# Commits that are looked through for one of ours: a job asks about the last thing that it may have done.
_LOOKED_THROUGH = 50


class Target:
    """A Delta table to append to. `note` goes into the commit beside the identity."""

    def __init__(
        self,
        spark: SparkSession,
        into: str,
        once: tuple[str, int] | None = None,
        note: dict[str, Any] | None = None,
    ):
        self._table = DeltaTable(spark, into)
        self._writer, self._number = once or (uuid.uuid4().hex, 0)
        self._note = note or {}
        self.in_one = once is not None

    def append(self, frame: DataFrame, number: int) -> DataFrame:
        """The table after `frame` was appended as this writer's `number` (counted from the number given, if any)."""
        writer = frame.write.format("delta").mode("append")
        writer = writer.option("txnAppId", self._writer).option("txnVersion", self._number + number)
        if self.in_one:
            writer = writer.option("userMetadata", json.dumps(self._signature() | self._note))
        return self._table.save(writer)

    def rows_written(self) -> int | None:
        """How many rows this writer's number put in; None if it is not in yet (or was very long ago)."""
        if not self._table.exists():
            return None
        for commit in self._table.history(_LOOKED_THROUGH):
            if _signed(commit["userMetadata"], self._signature()):
                return int((commit["operationMetrics"] or {}).get("numOutputRows", 0))
        return None

    def _signature(self) -> dict[str, Any]:
        return {"writer": self._writer, "number": self._number}


def _signed(metadata: str | None, signature: dict[str, Any]) -> bool:
    try:
        found = json.loads(metadata or "null")
    except ValueError:
        return False
    return isinstance(found, dict) and signature.items() <= found.items()
