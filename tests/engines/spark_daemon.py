"""The process from which Spark forks its Python processes, with undust loaded.

Spark starts one for each part of a job that runs beside another, and a new one after each that failed. To
load undust, pyarrow and pandas takes each of them longer than a job of a test.
"""

from __future__ import annotations

import gc
from importlib import import_module

from pyspark.daemon import manager

from tools.faults.processes import OF_OTHERS, own_modules


def main() -> None:
    """Load what tasks load, then do what Spark's own daemon does."""
    for name in (*own_modules(), *OF_OTHERS, "pandas", "pyspark.worker", "pyspark.sql.pandas.serializers"):
        import_module(name)
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
