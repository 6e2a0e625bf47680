"""The process of a group of points: reads their specs from stdin, leaves their JSON in the folder that is named."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
import warnings

from banyan.bench.bench import run_group
from banyan.bench.point import Spec
from banyan.errors import BanyanError
from banyan.progress import to_stderr

# All else needs a session.
_WITHOUT_SPARK = {"parse"}


def main(argv: list[str]) -> int:
    out, quiet = argv[0], "--quiet" in argv[1:]
    # Ended by its parent it leaves as after an error: without temporary folders.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Workloads have rules of attributes that a few events lack, on purpose.
    warnings.simplefilter("ignore")
    specs = [Spec.from_json(given) for given in json.load(sys.stdin)]
    warehouse = tempfile.mkdtemp(prefix="banyan-warehouse-")
    spark = None
    try:
        if any(set(spec.parts) - _WITHOUT_SPARK for spec in specs):
            import banyan

            spark = banyan.session("banyan-bench", **{"spark.sql.warehouse.dir": warehouse})
        run_group(spark, specs, out, None if quiet else to_stderr)
    except KeyboardInterrupt:
        return 130
    except BanyanError as error:
        to_stderr(f"banyan: {error}")
        return 1
    finally:
        if spark is not None:
            spark.stop()
        shutil.rmtree(warehouse, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
