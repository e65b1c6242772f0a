"""Bytes in and out: cut at lines, unpacked, and written whole or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.errors import DamagedSource, SourceError, UndustError
from undust.files.streams import (
    GZIP,
    PACKINGS,
    ZSTD,
    Chunk,
    Holds,
    Packing,
    line_chunks,
    open_output,
    read_blocks,
    require_readable,
)

TEXT = b"".join(b"http://shop.test/item?id=%d\n" % number for number in range(3000))

texts = st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"bc", b"\0", b"\xff", b"x" * 9])).map(b"".join)
packings = pytest.mark.parametrize("packing", PACKINGS, ids=lambda packing: packing.name)


def pack(data: bytes, packing: Packing) -> bytes:
    """Return one member."""
    packer = packing.new_packer()
    return packer.compress(data) + packer.flush()


def read(path: Path, block_bytes: int = 1 << 20) -> bytes:
    """Return what is read of a file, after a look at the size of the blocks."""
    blocks = list(read_blocks(str(path), block_bytes))
    assert all(len(block) <= block_bytes for block in blocks)
    return b"".join(blocks)


def blocks_of(data: bytes, size: int) -> list[bytes]:
    """Cut data anywhere."""
    return [data[at : at + size] for at in range(0, len(data), size)]


# Lines


@given(texts, st.integers(1, 12), st.integers(1, 6))
def test_chunks_are_the_stream(data: bytes, block_bytes: int, longest_line: int) -> None:
    """Nothing is lost, added or moved, and no chunk is much larger than what may be held."""
    chunks = list(line_chunks(blocks_of(data, block_bytes), longest_line))
    assert b"".join(chunk.data for chunk in chunks) == data
    assert all(0 < len(chunk.data) <= 2 * longest_line for chunk in chunks)


@given(texts, st.integers(1, 12), st.integers(1, 6))
def test_lines_are_whole_or_too_long(data: bytes, block_bytes: int, longest_line: int) -> None:
    """A line is too long by its length alone, wherever the blocks happen to end."""
    chunks = list(line_chunks(blocks_of(data, block_bytes), longest_line))
    for chunk in chunks[:-1]:
        assert chunk.holds is not Holds.LINES or chunk.data.endswith(b"\n")
    short = b"".join(chunk.data for chunk in chunks if chunk.holds is Holds.LINES).split(b"\n")
    expected = [line for line in data.split(b"\n") if len(line) <= longest_line]
    assert [line for line in short if line] == [line for line in expected if line]
    starts = sum(chunk.holds is Holds.LONG_LINE for chunk in chunks)
    assert starts == sum(len(line) > longest_line for line in data.split(b"\n"))


@given(texts, st.integers(1, 12))
def test_pieces_of_a_long_line_stand_together(data: bytes, block_bytes: int) -> None:
    """The pieces of a long line follow each other, the first marked, the last with the line feed."""
    chunks = line_chunks(blocks_of(data, block_bytes), 3)
    before = Chunk(b"\n", Holds.LINES)
    for chunk in chunks:
        assert (chunk.holds is Holds.MORE) == (
            before.holds is not Holds.LINES and not before.data.endswith(b"\n")
        )
        before = chunk


def test_longest_line_is_exact() -> None:
    """A line of the longest length is held, one byte more is not; the line feed does not count."""
    chunks = line_chunks(blocks_of(b"1234\n12345\n1234", 1), 4)
    assert list(chunks) == [
        Chunk(b"1234\n", Holds.LINES),
        Chunk(b"12345", Holds.LONG_LINE),
        Chunk(b"\n", Holds.MORE),
        Chunk(b"1234", Holds.LINES),
    ]


# Input


@packings
@pytest.mark.parametrize("name", ["urls", "urls.txt"])
def test_packing_is_known_by_content(packing: Packing, name: str, tmp_path: Path) -> None:
    """A packed file is unpacked whatever it is called, and a wrong suffix does not mislead."""
    for suffix in ("", *(other.suffix for other in PACKINGS)):
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes(pack(TEXT, packing))
        assert read(path) == TEXT


@packings
@given(members=st.lists(st.binary(max_size=40), min_size=1), block_bytes=st.integers(1, 50))
def test_all_members_are_read(
    packing: Packing, members: list[bytes], block_bytes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Files packed one after the other are read as one, however small the blocks."""
    path = tmp_path_factory.getbasetemp() / "members"
    path.write_bytes(b"".join(pack(member, packing) for member in members))
    assert read(path, block_bytes) == b"".join(members)


def test_padding_of_gzip_is_no_data(tmp_path: Path) -> None:
    """Zeros behind and between members are what tapes leave there."""
    path = tmp_path / "tape.gz"
    path.write_bytes(pack(b"a\n", GZIP) + bytes(70_000) + pack(b"b\n", GZIP) + bytes(512))
    assert read(path) == b"a\nb\n"


def test_skippable_frames_are_skipped(tmp_path: Path) -> None:
    """Zstandard files may begin with a frame of somebody's own."""
    path = tmp_path / "urls.zst"
    path.write_bytes(b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + pack(TEXT, ZSTD))
    assert read(path) == TEXT


@packings
def test_unpacking_is_bounded(packing: Packing, tmp_path: Path) -> None:
    """A small file that unpacks to a large one comes in small blocks."""
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(64 << 20), packing))
    assert path.stat().st_size < 100_000
    assert sum(map(len, read_blocks(str(path), 1 << 16))) == 64 << 20
    assert max(map(len, read_blocks(str(path), 1 << 16))) == 1 << 16


@packings
def test_truncated_anywhere(packing: Packing, tmp_path: Path) -> None:
    """A file that was cut off is noticed at whatever byte it ends, and that byte is named."""
    whole = pack(TEXT[:300], packing)
    path = tmp_path / f"cut{packing.suffix}"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(DamagedSource) as caught:
            read(path)
        message = str(caught.value)
        assert message.startswith(f"{path}: ")
        assert f"ends at byte {size} in the middle" in message or f"not {packing.name} data" in message


@packings
def test_damaged(packing: Packing, tmp_path: Path) -> None:
    """A broken file gives what comes before, then an error with the place and a way out."""
    noise = os.urandom(1 << 18)
    whole = bytearray(pack(noise, packing))
    whole[200_000:200_100] = bytes(100)
    whole += b"garbage"  # a frame of zstd without its check sum is only noticed by what follows
    path = tmp_path / "broken"
    path.write_bytes(whole)
    came = bytearray()

    def collect() -> None:
        for block in read_blocks(str(path)):
            came.extend(block)

    with pytest.raises(DamagedSource, match=r"damaged .* data after byte [\d,]+ \(.*\); get it again"):
        collect()
    assert noise.startswith(came[:190_000])
    assert len(came) >= 190_000


@packings
def test_garbage_behind(packing: Packing, tmp_path: Path) -> None:
    """What follows the last member and is none is not passed over in silence."""
    path = tmp_path / "urls"
    path.write_bytes(pack(TEXT, packing) + b"garbage")
    with pytest.raises(DamagedSource):
        read(path)


@packings
@pytest.mark.parametrize("data", [b"", b"http://a.test\n"])
def test_suffix_without_packing(packing: Packing, data: bytes, tmp_path: Path) -> None:
    """A name that promises more than the content keeps is worth a word."""
    path = tmp_path / f"urls.txt{packing.suffix}"
    path.write_bytes(data)
    with pytest.raises(DamagedSource, match=f"not {packing.name} data in spite of its name; rename it"):
        read(path)


@pytest.mark.parametrize("data", [b"", b"\x1f", b"\x1f\x8b", b"(", b"P", b"(\xb5/", b"\n"])
def test_almost_packed(data: bytes, tmp_path: Path) -> None:
    """The first bytes of a packed file alone do not make one."""
    path = tmp_path / "urls"
    path.write_bytes(data)
    assert read(path) == data


def test_unreadable_is_said_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing, forbidden and not even a file: found before the first file is read."""
    good = tmp_path / "good"
    good.write_bytes(b"")
    require_readable(["-", str(good)])
    with pytest.raises(FileNotFoundError):
        require_readable([str(good), str(tmp_path / "missing")])
    with pytest.raises(IsADirectoryError):
        require_readable([str(good), str(tmp_path)])
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError):
        require_readable([str(good)])


def test_standard_streams_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has no object for a closed stream; people get a sentence."""
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SourceError, match="standard input is closed"):
        list(read_blocks("-"))
    with pytest.raises(UndustError, match="standard output is closed"), open_output("-"):
        pass


# Output


def names_in(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_output_comes_back(suffix: str, tmp_path: Path) -> None:
    """What was written is read again, packed or not, and is the same file each time."""
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        with open_output(str(path)) as output:
            for block in blocks_of(TEXT, 1000):
                output.write(block)
        assert read(path) == TEXT
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert names_in(tmp_path) == [path.name for path in paths]


def test_gzip_output_is_for_everybody(tmp_path: Path) -> None:
    """Other programs read what we pack."""
    path = tmp_path / "urls.gz"
    with open_output(str(path)) as output:
        output.write(TEXT)
    assert gzip.decompress(path.read_bytes()) == TEXT


def test_output_appears_when_complete(tmp_path: Path) -> None:
    """Until the end the old file is there, untouched."""
    path = tmp_path / "urls"
    path.write_bytes(b"old")
    with open_output(str(path)) as output:
        output.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_output_of_a_failure_is_gone(error: type[BaseException], suffix: str, tmp_path: Path) -> None:
    """Whatever ends the work, no half of a file stays, and a good one stays as it was."""
    path = tmp_path / f"urls{suffix}"
    path.write_bytes(b"old")

    def fail_while_writing() -> None:
        with open_output(str(path)) as output:
            output.write(b"new")
            raise error

    with pytest.raises(error):
        fail_while_writing()
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == [path.name]


def test_output_may_be_the_input(tmp_path: Path) -> None:
    """A file can be rewritten in place."""
    path = tmp_path / "urls"
    path.write_bytes(TEXT)
    with open_output(str(path)) as output:
        for block in read_blocks(str(path), 100):
            output.write(block.upper())
    assert path.read_bytes() == TEXT.upper()


def test_rights_of_a_file(tmp_path: Path) -> None:
    """A new file gets the rights that every new file gets; a replaced one keeps those it had."""
    new, old = tmp_path / "new", tmp_path / "old"
    old.touch(0o600)
    before = os.umask(0o027)
    try:
        for path in (new, old):
            with open_output(str(path)) as output:
                output.write(b"x")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (new, old)] == [0o640, 0o600]


def test_output_through_a_link(tmp_path: Path) -> None:
    """A link stays a link; the file it points to is replaced."""
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    with open_output(str(link)) as output:
        output.write(b"x")
    assert link.is_symlink()
    assert target.read_bytes() == b"x"


def test_devices_are_written_to() -> None:
    """A device is never replaced by a file."""
    with open_output("/dev/null") as output:
        output.write(b"x")
    assert Path("/dev/null").is_char_device()


def test_output_without_a_folder(tmp_path: Path) -> None:
    """The folder that is missing is named."""
    path = str(tmp_path / "missing" / "urls")
    with pytest.raises(UndustError, match=r"there is no folder .* make it first"), open_output(path):
        pass


def test_failures_have_the_name_people_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure to open or to write is told with the name that was given, not with a name of ours."""

    def refuse(self: Path, *_: object) -> None:
        raise PermissionError(13, "denied", str(self))

    path = str(tmp_path / "urls")
    monkeypatch.setattr(Path, "open", refuse)
    for use in (lambda: list(read_blocks(path)), lambda: open_output(path).__enter__()):
        with pytest.raises(PermissionError) as caught:
            use()
        assert caught.value.filename == path
