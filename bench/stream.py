"""How fast, and in how much memory, `undust normalize` gets through a long list.

    python -m bench.stream [--urls 10000000] [--threads 1] [--json]

A tenth of the lines goes through first: memory is constant if both peaks are about the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from time import perf_counter

from rich.console import Console
from rich.table import Table

from bench.common import machine, messy_urls

BLOCK = 50_000


@dataclass(frozen=True)
class Run:
    """One list that went through."""

    urls: int
    seconds: float
    peak_memory_bytes: int


def run(urls: int, threads: int) -> Run:
    """Send `urls` lines through the command and return what that took."""
    block = "".join(f"{url}\n" for url in messy_urls(BLOCK)).encode()
    command = [sys.executable, "-m", "undust", "normalize", "--quiet", "--threads", str(threads)]
    started = perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        if process.stdin is None:
            message = "the command has no stdin"
            raise RuntimeError(message)
        for _ in range(urls // BLOCK):
            process.stdin.write(block)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        message = f"undust normalize ended with {process.returncode}"
        raise RuntimeError(message)
    return Run(urls // BLOCK * BLOCK, perf_counter() - started, usage.ru_maxrss * 1024)


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.stream", description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    options = parser.parse_args()

    runs = [run(urls, options.threads) for urls in (options.urls // 10, options.urls)]
    if options.json:
        print(json.dumps({"machine": machine(), "runs": [asdict(done) for done in runs]}, indent=2))
        return
    table = Table(title=f"undust normalize, {options.threads} thread(s)", title_justify="left")
    for heading in ("URLs", "seconds", "URLs per second", "peak memory"):
        table.add_column(heading, justify="right")
    for done in runs:
        rate = done.urls / done.seconds
        table.add_row(
            f"{done.urls:,}",
            f"{done.seconds:.1f}",
            f"{rate:,.0f}",
            f"{done.peak_memory_bytes / 2**20:.0f} MiB",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
