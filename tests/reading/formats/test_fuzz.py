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
from tests.reading.formats.test_formats import CRAWL, WRITERS
from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Iterator

CRAWLS = Path(__file__).resolve().parents[2] / "crawls"
SEEDS = {path.name: path.read_bytes() for path in sorted(CRAWLS.iterdir()) if path.is_file()}
SEEDS |= {name: write(CRAWL[:50]) for name, write in WRITERS.items()}
DAMAGES = 6
"""Of each kind and each file; `tests/fuzz` has more of them, and the soak millions."""

GIGABYTE = 1 << 30
MOST_MEMORY = 240 << 20
ENDLESS = 280 << 20
"""More than may be held."""
MEASURED = """
import sys
from pathlib import Path
import undust.__main__
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


def measured(path: str, format_name: str) -> subprocess.Popen[bytes]:
    """A process that reads a file, or what is written to it, and tells what memory it took."""
    words = [sys.executable, "-c", MEASURED, path, format_name]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def figures_of(process: subprocess.Popen[bytes]) -> tuple[int, int, int]:
    """The most memory that reading took, the rows, and all that was counted."""
    told, _ = process.communicate()
    assert process.returncode == 0
    kibibytes, rows, counted = map(int, told.split())
    return kibibytes << 10, rows, counted


HEADS = {
    "access-log": b"",
    "arc": b"filedesc://a.arc 0.0.0.0 20261115002357 text/plain 5\nabcd\n\nhttp://shop.test/",
    "cdx": b"",
    "cdxj": b"",
    "csv": b"url,a\n",
    "json": b'[{"url": "',
    "jsonl": b'{"url": "',
    "sitemap": b"<urlset><url><loc>",
    "tsv": b"url\ta\n",
    "urls": b"",
    "warc": b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: ",
}
"""Every format that has lines, with what stands before the line that never ends."""


@pytest.mark.slow
@pytest.mark.parametrize("format_name", HEADS)
def test_line_without_an_end_is_one_skipped_record(format_name: str) -> None:
    """A line that is longer than the memory that may be used, out of a pipe, is never held."""
    process = measured("-", format_name)
    assert process.stdin
    process.stdin.write(HEADS[format_name])
    for _ in range(ENDLESS >> 20):
        process.stdin.write(b"a" * (1 << 20))
    memory, rows, counted = figures_of(process)
    assert (rows, counted >= 1) == (0, True)
    assert memory < MOST_MEMORY


@pytest.mark.slow
def test_header_without_an_end_is_one_skipped_record() -> None:
    """No line of it is long, and the record says that it is large: its header ends all the same."""
    process = measured("-", "arc")
    assert process.stdin
    head = HEADS["arc"] + b" 10.0.0.1 20261115002357 text/html 2000000000\nHTTP/1.1 200 OK\r\n"
    process.stdin.write(head + b"X: aaaaaaaaa\r\n" * (1 << 22))
    memory, rows, counted = figures_of(process)
    assert (rows, counted) == (0, 2)
    assert memory < MOST_MEMORY


def bomb(path: Path, unit: bytes, size: int) -> None:
    """A gzip file of one member that unpacks to `size` bytes of one unit again and again."""
    block = unit * ((1 << 20) // len(unit))
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)  # may be repeated as it is
    check = 0
    with path.open("wb") as file:
        file.write(b"\x1f\x8b\x08" + bytes(7))
        for _ in range(size // len(block)):
            file.write(packed)
            check = zlib.crc32(block, check)
        length = size // len(block) * len(block) % (1 << 32)
        file.write(b"\x03\x00" + check.to_bytes(4, "little") + length.to_bytes(4, "little"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "size", "format_name"),
    [
        (b"\0", GIGABYTE // 4, "access-log"),
        (b'{"url":', GIGABYTE // 4, "jsonl"),
        pytest.param(b'{"url":', 10 * GIGABYTE, "jsonl", marks=pytest.mark.huge),
    ],
)
def test_bomb_is_bounded(unit: bytes, size: int, format_name: str, tmp_path: Path) -> None:
    """What unpacks to ten gigabytes of nothing passes through the same small memory."""
    path = tmp_path / "bomb.gz"
    bomb(path, unit, size)
    assert path.stat().st_size < size // 500
    memory, rows, counted = figures_of(measured(str(path), format_name))
    assert (rows, counted >= 1) == (0, True)
    assert memory < MOST_MEMORY
