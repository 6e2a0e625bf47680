"""Rows that the driver holds, as a frame."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """The table as a frame, also if it has no rows: over Connect PySpark does not look at the types of such a one."""
    return spark.createDataFrame(table, from_arrow_schema(table.schema))
