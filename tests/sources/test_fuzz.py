"""Damaged copies of every format: a counted skip or one sentence, in bounded memory, and no traceback."""

from __future__ import annotations

import random
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import undust
from tests.sources.test_formats import CRAWL, WRITERS
from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Iterator

CRAWLS = Path(__file__).resolve().parent.parent / "crawls"
SEEDS = {path.name: path.read_bytes() for path in sorted(CRAWLS.iterdir()) if path.is_file()}
SEEDS |= {name: write(CRAWL[:50]) for name, write in WRITERS.items()}
DAMAGES = 25

MOST_MEMORY = 400 << 20
MEASURED = """
import sys
from pathlib import Path
import undust
seen = undust.read(sys.argv[1], format=sys.argv[2] or None, base="http://shop.test")
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(status["VmHWM"].split()[0], len(seen), sum(seen.counts().values()))
"""


def damaged(data: bytes, name: str) -> Iterator[bytes]:
    """Copies that are cut off, flipped, filled with NULs, doubled or mixed up."""
    chance = random.Random(name)
    for _ in range(DAMAGES):
        at, other = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        flipped = bytearray(data)
        for _ in range(chance.randint(1, 20)):
            flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        yield data[:at]
        yield data[at:]
        yield bytes(flipped)
        yield data[:at] + bytes(other - at) + data[other:]
        yield data[:other] + data[at:]
        yield data[:at] + chance.randbytes(other - at) + data[other:]


@pytest.mark.parametrize("name", SEEDS)
def test_damage_is_counted_or_one_sentence(name: str, tmp_path: Path) -> None:
    """Whatever the bytes, reading ends with rows and counts, or with a problem that has a name."""
    path = tmp_path / name
    formats = [
        None,
        {"log": "access-log", "txt": "urls", "xml": "sitemap"}.get(path.suffix[1:], path.suffix[1:]),
    ]
    for number, data in enumerate(damaged(SEEDS[name], name)):
        path.write_bytes(data)
        try:
            seen = undust.read(path, format=formats[number % 2], base="http://shop.test")
        except UndustError as error:
            assert str(error).startswith(str(path))  # noqa: PT017 -- either is right
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert seen.table.validate(full=True) is None


def bomb(path: Path, unit: bytes, size: int) -> None:
    """A small file that unpacks to `size` bytes of one unit again and again."""
    packer = zlib.compressobj(1, wbits=31)
    block = unit * ((1 << 20) // len(unit))
    with path.open("wb") as file:
        for _ in range(size // len(block)):
            file.write(packer.compress(block))
        file.write(packer.flush())


def read_measured(path: Path, format_name: str) -> tuple[int, int, int]:
    """The most memory that reading took, the rows, and all that was counted."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path), format_name], capture_output=True, check=True, text=True
    )
    kibibytes, rows, counted = map(int, done.stdout.split())
    return kibibytes << 10, rows, counted


FORMATS = ["access-log", "cdx", "cdxj", "csv", "json", "jsonl", "sitemap", "tsv", "urls"]
HEADS = {
    "csv": b"url,a\n",
    "tsv": b"url\ta\n",
    "json": b'[{"url": "',
    "jsonl": b'{"url": "',
    "sitemap": b"<urlset><url><loc>",
}


@pytest.mark.parametrize("format_name", FORMATS)
def test_line_without_an_end_is_one_skipped_record(format_name: str, tmp_path: Path) -> None:
    """A line of 256 MB, out of a file of some hundred kilobytes, is never held."""
    path = tmp_path / "bomb.gz"
    bomb(path, b"a", 256 << 20)
    path.write_bytes(zlib.compress(HEADS.get(format_name, b""), wbits=31) + path.read_bytes())
    memory, rows, counted = read_measured(path, format_name)
    assert (rows, counted >= 1) == (0, True)
    assert memory < MOST_MEMORY


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("unit", [b"\0", b'{"url":'])
def test_bomb_of_ten_gigabytes_is_bounded(unit: bytes, tmp_path: Path) -> None:
    """Ten gigabytes of nothing pass through the same small memory."""
    path = tmp_path / "bomb.gz"
    bomb(path, unit, 10 << 30)
    for format_name in ("jsonl", "access-log"):
        memory, rows, _ = read_measured(path, format_name)
        assert rows == 0
        assert memory < MOST_MEMORY
