"""Broken web archives: what is damaged, cut off or a bomb costs no more than itself."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import pytest

import undust
from tests.reading.formats.archives import (
    ANSWERS,
    HTML,
    RECORDS,
    Answer,
    as_arc,
    by_hand,
    packed,
    read,
    remarks,
    urls,
)
from tests.reading.formats.test_fuzz import MEASURED, damaged
from undust.errors import DamagedSource, UndustError
from undust.reading import page as pages

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

BROKEN = 10
WITHOUT = [answer.url for number, answer in enumerate(ANSWERS) if number != BROKEN]


def with_broken(records: Sequence[bytes], broken: bytes) -> list[bytes]:
    """The records, one of them replaced."""
    return [*records[:BROKEN], broken, *records[BROKEN + 1 :]]


def flipped(data: bytes, at: int) -> bytes:
    """The data with one byte changed."""
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


@pytest.mark.parametrize("place", [0.1, 0.4, 0.7, 0.97])
def test_damaged_member_costs_itself_alone(place: float, tmp_path: Path) -> None:
    """A flipped byte anywhere in a gzip member: one record is skipped, at its offset."""
    members = list(map(gzip.compress, RECORDS))
    at = int(len(members[BROKEN]) * place)
    data = b"".join(with_broken(members, flipped(members[BROKEN], at)))
    seen = read(tmp_path / "crawl.warc.gz", data)
    assert urls(seen) == WITHOUT
    assert seen.counts()["skipped"] == 1
    offset = sum(map(len, members[:BROKEN]))
    assert f"offset {offset}" in seen.report()
    with pytest.raises(DamagedSource, match=rf"crawl.warc.gz: offset {offset}: .*--strict"):
        undust.read(tmp_path / "crawl.warc.gz", strict=True)


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz", "crawl.warc.zst"])
@pytest.mark.parametrize("damage", ["too long", "far too long", "too short", "no number", "no header"])
def test_record_with_a_wrong_length_costs_itself_alone(name: str, damage: str, tmp_path: Path) -> None:
    """The records that it swallows are found again."""
    record = RECORDS[BROKEN]
    head, _, rest = record.partition(b"Content-Length: ")
    length, _, block = rest.partition(b"\r\n")
    assert head
    wrong = {
        "too long": b"%d" % (int(length) + 1000),
        "far too long": b"999999999",
        "too short": b"%d" % (int(length) - 40),
        "no number": b"none",
        "no header": length,
    }[damage]
    # The first Content-Length is that of the record: pages of the shop have none of their own.
    broken = head + b"Content-Length: " + wrong + b"\r\n" + block
    if damage == "no header":
        broken = broken.replace(b"WARC/1.0", b"CRAW/1.0", 1)
    pack: Callable[[Sequence[bytes]], bytes] = {
        "crawl.warc": b"".join,
        "crawl.warc.gz": packed,
        "crawl.warc.zst": lambda records: b"".join(map(zstd.compress, records)),
    }[name]
    seen = read(tmp_path / name, pack(with_broken(RECORDS, broken)))
    assert urls(seen) == WITHOUT
    assert seen.counts()["skipped"] == 1


def test_garbage_between_records_costs_nothing_else(tmp_path: Path) -> None:
    """All records are read, and the garbage is counted where it stands."""
    for pack in (b"".join, packed):
        parts = [pack(RECORDS[:BROKEN]), b"garbage\r\n", pack(RECORDS[BROKEN:])]
        seen = read(tmp_path / "crawl.warc", b"".join(parts))
        assert urls(seen) == [answer.url for answer in ANSWERS]
        assert seen.counts()["skipped"] == 1
        assert f"offset {len(parts[0])}: garbage" in seen.report()


def test_first_member_may_be_damaged_too(tmp_path: Path) -> None:
    """Then the name tells what the file is."""
    members = list(map(gzip.compress, RECORDS))
    data = flipped(members[0], len(members[0]) - 6) + b"".join(members[1:])
    assert urls(read(tmp_path / "crawl.warc.gz", data)) == [answer.url for answer in ANSWERS[1:]]
    with pytest.raises(DamagedSource, match="damaged gzip data"):
        read(tmp_path / "download", data)


@pytest.mark.parametrize("pack", [b"".join, packed])
def test_cut_off_archive_gives_what_is_whole(
    pack: Callable[[Sequence[bytes]], bytes], tmp_path: Path
) -> None:
    """The last record is skipped, with its offset."""
    data = pack(RECORDS)
    seen = read(tmp_path / "crawl", data[:-50])
    assert urls(seen) == [answer.url for answer in ANSWERS[:-1]]
    assert remarks(seen) == {"record is cut off": 1}
    assert f"offset {len(pack(RECORDS[:-1]))}" in seen.report()


SEEDS = {
    "crawl.warc": b"".join(RECORDS[:12]),
    "crawl.warc.gz": packed(RECORDS[:12]),
    "whole.warc.gz": gzip.compress(b"".join(RECORDS[:12])),
    "crawl.warc.zst": b"".join(map(zstd.compress, RECORDS[:12])),
    "crawl.arc": as_arc(ANSWERS[:12], is_packed=False),
    "crawl.arc.gz": as_arc(ANSWERS[:12]),
}


@pytest.mark.parametrize("name", SEEDS)
def test_damage_is_counted_or_one_sentence(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever the bytes: rows and counts, or a problem with a name; and nothing on stderr."""
    path = tmp_path / name
    for number, data in enumerate(damaged(SEEDS[name], name)):
        path.write_bytes(data)
        try:
            seen = undust.read(path, format=None if number % 2 else name.split(".")[1])
        except UndustError as error:
            assert str(error).startswith(str(path))  # noqa: PT017 -- either is right
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert seen.table.validate(full=True) is None
    assert capfd.readouterr() == ("", "")


def test_thousands_of_starts_without_records_take_no_time(tmp_path: Path) -> None:
    """A file made of beginnings is left in ever larger steps."""
    seen = read(tmp_path / "crawl.warc", RECORDS[0] + b"WARC/1.0\r\n" * 200_000 + b"".join(RECORDS[1:]))
    assert urls(seen)[0] == ANSWERS[0].url
    assert seen.counts()["skipped"] >= 1


# ---------------------------------------------------------------------------------------------- bombs


def peak_memory(path: Path) -> tuple[int, int, int]:
    """The most memory in bytes that reading took, the rows, and all that was counted."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path), ""], capture_output=True, check=True, text=True
    )
    kibibytes, rows, counted = map(int, done.stdout.split())
    return kibibytes << 10, rows, counted


def packed_zeros(size: int) -> bytes:
    """A small body that unpacks to a large one."""
    packer = zstd.ZstdCompressor()
    block = bytes(1 << 20)
    return b"".join(packer.compress(block) for _ in range(size // len(block))) + packer.flush()


@pytest.mark.huge
def test_body_that_unpacks_to_gigabytes_is_bounded(tmp_path: Path) -> None:
    """It is left after the first gigabyte, which passes through a small memory."""
    headers = [("Content-Type", HTML), ("Content-Encoding", "zstd")]
    bomb = by_hand(Answer("http://shop.test/bomb", packed_zeros(10 << 30), headers=headers))
    assert len(bomb) < 2 << 20
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(packed([RECORDS[0], bomb, RECORDS[1]]))
    memory, rows, counted = peak_memory(path)
    assert (rows, counted) == (3, 1)
    assert memory < 500 << 20
    assert pages.ENDLESS in undust.read(path).report()


@pytest.mark.huge
def test_record_that_unpacks_to_gigabytes_is_bounded(tmp_path: Path) -> None:
    """The record itself, not its body, is the bomb: the member is small, its content is not."""
    size = 1200 << 20
    head = by_hand(Answer("http://shop.test/bomb")).partition(b"Content-Length")[0]
    body = b"Content-Length: %d\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" % (size + 44)
    packer = zlib.compressobj(1, wbits=31)
    zeros = bytes(1 << 20)
    data = packer.compress(head + body) + b"".join(packer.compress(zeros) for _ in range(size >> 20))
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(
        packed(RECORDS[:1]) + data + packer.compress(b"\r\n\r\n") + packer.flush() + packed(RECORDS[1:2])
    )
    memory, rows, counted = peak_memory(path)
    assert (rows, counted) == (3, 1)
    assert memory < 500 << 20
