"""Rows and bytes that a stretch of work shuffled, from Spark's own store of finished stages.

Only the classic API shows it; under Spark Connect, or if Spark changes what is behind it, there is no answer.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Shuffled:
    """What was shuffled since it was made, or since it was last asked."""

    def __init__(self, spark: SparkSession):
        self._spark = spark
        self._last = -1
        self._last = max(self._stages(), default=-1)

    def since(self) -> dict[str, int] | None:
        """Rows and bytes written to shuffles, and bytes spilled for lack of memory."""
        stages = self._stages()
        if not stages:
            return None
        new = [values for stage, values in stages.items() if stage > self._last]
        self._last = max(stages)
        names = ("shuffle_rows", "shuffle_bytes", "spilled_bytes")
        return dict(zip(names, (sum(column) for column in zip(*new)))) if new else dict.fromkeys(names, 0)

    def _stages(self) -> dict[int, tuple[int, int, int]]:
        """Rows, bytes and spilled bytes by stage; nothing where it cannot be known."""
        try:
            context = self._spark.sparkContext
            # The store hears of a finished stage a moment later.
            time.sleep(0.2)
            gateway = context._gateway
            none = gateway.new_array(gateway.jvm.double, 0), gateway.jvm.java.util.ArrayList()
            found = context._jsc.sc().statusStore().stageList(None, False, False, *none)
            stages = {}
            for i in range(found.size()):
                stage = found.apply(i)
                if stage.stageId() <= self._last:
                    # Newest first: the rest is known.
                    break
                written = stage.shuffleWriteRecords(), stage.shuffleWriteBytes()
                stages[stage.stageId()] = (*written, stage.diskBytesSpilled())
            return stages
        except Exception:  # any of Connect's, of py4j's, or of a Spark that has moved it
            return {}
