"""Hostile URLs against exported expressions: how time grows with their length, in every dialect.

    python -m bench.linear_time                       all dialects whose engine is installed
    python -m bench.linear_time --dialects python,java

Rules have 4, 6 and 8 captures in one segment, of four shapes; URLs of 2.5, 5, 10 and 20 kB almost match, in
as many ways as possible. Printed are the largest growth for a doubling, and at 10 kB the largest time as a
multiple of that of a URL of the same length that matches. `tests/exchange/exports/test_linear_time.py`
requires at most 2.5 and 50, `test_linear_in_servers.py` asks nginx and Apache themselves.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise

import pytest

from bench.common import machine
from tests.exchange.exports.test_linear_time import (
    JUDGED,
    SIZES,
    TARGETS,
    grows_too_fast,
    hostile_cases,
    least_times,
    timed_cases,
)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dialects", default=",".join(TARGETS), help="names, with commas between [%(default)s]"
    )
    told = parser.parse_args()
    print(
        f"{machine()}\n\n| dialect | expressions | cases | growth for a doubling | at 10 kB, times a match |"
    )
    print("| --- | ---: | ---: | ---: | ---: |", flush=True)
    for dialect in told.dialects.split(","):
        cases = hostile_cases(dialect)
        try:
            best = least_times(cases, timed_cases(dialect), grows_too_fast)
        except pytest.skip.Exception as error:
            print(f"{dialect}: {error}", file=sys.stderr)
            continue
        growth = max(second / first for times in best.values() for first, second in pairwise(times[:-1]))
        above = max(times[SIZES.index(JUDGED)] / times[-1] for times in best.values())
        expressions = len({pattern for _, pattern, _ in cases})
        print(f"| {dialect} | {expressions} | {len(cases)} | {growth:.2f} | {above:.2f} |", flush=True)


if __name__ == "__main__":
    main()
