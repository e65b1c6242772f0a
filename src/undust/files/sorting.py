"""Lines sorted by their bytes, with a bounded amount of memory however many there are.

Runs of lines are sorted in memory and written to a temporary folder, then merged. The order is that of
`LC_ALL=C sort`, which tools for archives expect.
"""

from __future__ import annotations

from contextlib import ExitStack
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from undust.files.temporary import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RUN_BYTES = 64 << 20
"""Bytes of the lines that are sorted in memory at a time; Python needs two or three times as much."""
MOST_RUNS = 128
"""Files that are merged at a time: few enough to be open together on any system."""


def sorted_lines(
    lines: Iterable[bytes], run_bytes: int = RUN_BYTES, most_runs: int = MOST_RUNS
) -> Iterator[bytes]:
    r"""Yield lines, each with its line feed, in the order of their bytes.

    >>> list(sorted_lines([b"b\n", b"a\n", b"B\n"], run_bytes=3))
    [b'B\n', b'a\n', b'b\n']
    """
    runs = _runs(iter(lines), run_bytes)
    first = next(runs, [])
    second = next(runs, None)
    if second is None:
        yield from first
        return
    with temporary_folder("undust-sort-") as folder:
        paths = [_written(first, Path(folder) / "0"), _written(second, Path(folder) / "1")]
        del first, second
        made = len(paths)
        for run in runs:
            paths.append(_written(run, Path(folder) / str(made)))
            made += 1
        while len(paths) > most_runs:
            joined = _written(_merged(paths[:most_runs]), Path(folder) / str(made))
            made += 1
            for path in paths[:most_runs]:
                path.unlink()
            paths = [*paths[most_runs:], joined]
        yield from _merged(paths)


def _runs(lines: Iterator[bytes], run_bytes: int) -> Iterator[list[bytes]]:
    """Yield sorted runs of lines, each of about this many bytes."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= run_bytes:
            held.sort()
            yield held
            held, size = [], 0
    if held:
        held.sort()
        yield held


def _written(lines: Iterable[bytes], path: Path) -> Path:
    with path.open("wb") as file:
        rest = iter(lines)
        while some := list(islice(rest, 4096)):
            file.write(b"".join(some))
    return path


def _merged(paths: list[Path]) -> Iterator[bytes]:
    with ExitStack() as opened:
        yield from merge(*(opened.enter_context(path.open("rb")) for path in paths))
