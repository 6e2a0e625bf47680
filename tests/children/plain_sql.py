"""Runs a script of SQL in a Spark session of its own, in a process that has not imported Banyan; prints the rows.

Arguments: the script, the session's options as JSON.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]")
for key, value in json.loads(sys.argv[2]).items():
    builder = builder.config(key, value)
for row in builder.getOrCreate().sql(Path(sys.argv[1]).read_text().rstrip().rstrip(";")).collect():
    print(*row, sep="\t")
assert not any(name == "banyan" or name.startswith("banyan.") for name in sys.modules)
