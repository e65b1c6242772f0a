"""How much memory and time `undust normalize`, or `undust apply`, takes for millions of lines.

    python -m bench.lines [--lines 10000000] [--threads 2] [--rules rules.json] [--json]

URLs, half of them clean and half of them messy, are streamed into the command, a tenth of them
first and then all. The memory of the two runs has to be the same. Processor time is that of the
command: its start, the pipe, and the writing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from itertools import chain, cycle
from pathlib import Path
from typing import TYPE_CHECKING

from bench.common import clean_urls, machine, messy_urls

if TYPE_CHECKING:
    from collections.abc import Iterator

PREPARED_LINES = 100_000
BLOCK_LINES = 10_000
ALLOWED_GROWTH = 1.05


@dataclass(frozen=True)
class Result:
    """One run of the command."""

    lines: int
    changed: int
    megabytes_in: float
    processor_seconds: float
    lines_per_processor_second: int
    peak_memory_bytes: int


def prepared_blocks() -> list[bytes]:
    """Return the blocks that the stream repeats; the command remembers nothing, so it cannot tell."""
    half = PREPARED_LINES // 2
    urls = list(chain.from_iterable(zip(clean_urls(half), messy_urls(half), strict=True)))
    starts = range(0, PREPARED_LINES, BLOCK_LINES)
    return ["".join(f"{url}\n" for url in urls[at : at + BLOCK_LINES]).encode() for at in starts]


def stream(blocks: list[bytes], lines: int) -> Iterator[bytes]:
    """Give blocks until there are as many lines."""
    for number, block in enumerate(cycle(blocks)):
        left = lines - number * BLOCK_LINES
        if left <= BLOCK_LINES:
            yield b"".join(block.splitlines(keepends=True)[:left])
            return
        yield block


def measured(blocks: list[bytes], lines: int, threads: int, rules: str | None) -> Result:
    """Return how the command did with that many lines."""
    command = ["normalize"] if rules is None else ["apply", rules]
    options = ["--json", "-o", os.devnull, "--threads", str(threads)]
    words = [sys.executable, "-m", "undust", *command, *options]
    written = 0
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if process.stdin is None or process.stdout is None:
            message = "the pipes to the command are missing"
            raise RuntimeError(message)
        for block in stream(blocks, lines):
            written += process.stdin.write(block)
        process.stdin.flush()
        peak = peak_memory_bytes(process.pid)
        process.stdin.close()
        counts = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    if process.returncode or counts["lines" if rules is None else "urls"] != lines:
        message = f"{lines} lines went in, but the command ended with {process.returncode} and {counts}"
        raise RuntimeError(message)
    return Result(lines, counts["changed"], written / 1e6, seconds, round(lines / seconds), peak)


def peak_memory_bytes(process_id: int) -> int:
    """Return the most memory that a running process has held so far."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=10_000_000, help="lines of the larger run")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rules", metavar="FILE", help="apply these rules instead of normalizing")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    blocks = prepared_blocks()
    small, large = (
        measured(blocks, lines, options.threads, options.rules)
        for lines in (options.lines // 10, options.lines)
    )
    growth = large.peak_memory_bytes / small.peak_memory_bytes
    if options.json:
        runs = [asdict(small), asdict(large)]
        print(json.dumps({"machine": machine(), "threads": options.threads, "growth": growth, "runs": runs}))
    else:
        print(f"undust {'apply' if options.rules else 'normalize'}, {options.threads} threads ({machine()})")
        for run in (small, large):
            print(
                f"{run.lines:>12,} lines {run.megabytes_in:>8,.0f} MB {run.processor_seconds:>7.1f} s"
                f" {run.lines_per_processor_second:>10,} lines/s   peak {run.peak_memory_bytes / 1e6:.1f} MB"
            )
        print(f"memory: {growth:.3f} times for 10 times the lines")
    if growth > ALLOWED_GROWTH:
        sys.exit("the memory grows with the input")


if __name__ == "__main__":
    main()
