"""`undust normalize`: the laws of lines, and every bad input that people have."""

from __future__ import annotations

import filecmp
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st

import undust
from tests.cli.command import UNDUST, peak_memory_bytes, run, sentence, start
from undust import _core
from undust.cli import main
from undust.cli.normalize import summary
from undust.files.streams import PACKINGS, Packing, packing_of_content, read_blocks
from undust.jobs.application import Application
from undust.jobs.mapping import Normalizing, Tally, map_lines

if TYPE_CHECKING:
    from collections.abc import Callable

URLS = b"HTTP://Shop.test:80/a/../b\nhttp://shop.test/\r\n\nno url\nhttps://shop.test#top\n"
NORMAL = b"http://shop.test/b\nhttp://shop.test/\r\n\nno url\nhttps://shop.test/\n"

lines = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [b"HTTP://A.test", b"http://a.test/\r", b"http://a.test/%7e", b"\thttp://b.test/ ", b"x" * 80]
    ),
    st.tuples(st.just(b"http://"), st.binary(max_size=12)).map(b"".join),
)
texts = st.tuples(st.lists(lines), st.sampled_from([b"", b"\n"])).map(
    lambda parts: b"\n".join(parts[0]) + parts[1]
)


# Laws


@given(text=texts, block_bytes=st.integers(1, 200), longest_line=st.integers(1, 100))
def test_line_by_line(
    text: bytes, block_bytes: int, longest_line: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any bytes in: as many lines out, each what it would be alone, and not a byte of the others changed."""
    assume(not packing_of_content(text))
    assume(not text.startswith(b"\xef\xbb\xbf"))
    path = tmp_path_factory.getbasetemp() / "lines"
    path.write_bytes(text)
    out = bytearray()
    job = Application(Normalizing())
    blocks = read_blocks(str(path), block_bytes)
    map_lines(blocks, job._applied, out.extend, job.tally, longest_line=longest_line)  # noqa: SLF001
    before, after = text.split(b"\n"), bytes(out).split(b"\n")
    assert len(before) == len(after)
    expected = Tally(urls=len(before) - (not before[-1]))
    for old, new in zip(before, after, strict=True):
        alone, is_line, is_changed, is_no_url = _core.normalize_lines(old)
        if b"\t" in old.strip():
            is_changed, is_no_url = 0, 1
        if len(old) > longest_line:
            expected.too_long += 1
            assert new == old
        else:
            expected.changed += is_changed
            # An empty last line is no line, so alone it is not counted; the others are blank lines.
            expected.not_urls += is_no_url if is_line else 1
            assert new == (old if is_no_url else alone)
    expected.not_urls -= not before[-1]
    for count in ("urls", "changed", "not_urls", "too_long"):
        assert getattr(job.tally, count) == getattr(expected, count)


@given(st.text(max_size=20), st.sampled_from(["", "http://", "HTTPS://A.test/"]))
def test_a_line_is_a_url(text: str, start_of_it: str) -> None:
    """A line gets the form that the same text has in Python."""
    line = (start_of_it + text).replace("\n", "").rstrip("\r")
    out, *_ = _core.normalize_lines(line.encode())
    assert out.decode() == undust.normalize(line)


@given(st.lists(lines, min_size=1), st.integers(2, 9))
def test_threads_change_nothing(some: list[bytes], threads: int) -> None:
    """Lines and counts are the same on any number of threads."""
    text = b"\n".join(some * (40_000 // (len(b"\n".join(some)) + 1) + 1))
    assert _core.normalize_lines(text, threads=threads) == _core.normalize_lines(text)


def test_one_thread_does_if_there_are_no_more(tmp_path: Path) -> None:
    """Where the system gives no thread, the work is done without."""
    path = tmp_path / "urls"
    path.write_bytes(URLS * 100_000)
    too_little_for_200_stacks = 'ulimit -s 65536; ulimit -v 1000000; exec "$@"'
    words = ["sh", "-c", too_little_for_200_stacks, "sh", *UNDUST, "normalize", "--threads", "200", str(path)]
    done = subprocess.run(words, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == NORMAL * 100_000


# The command


def test_lines_in_lines_out() -> None:
    """In the same order, with the same ends of lines, and nothing but the lines."""
    assert run("normalize", data=URLS) == (0, NORMAL, "")


def test_empty_input() -> None:
    """No lines in, no lines out."""
    assert run("normalize") == (0, b"", "")


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_packed_in_packed_out(suffix: str, tmp_path: Path) -> None:
    """A packed file is read and written by its name, and read from stdin as well."""
    first, second = (tmp_path / f"{name}{suffix}" for name in ("first", "second"))
    first.write_bytes(packed(URLS, suffix))
    assert run("normalize", first, "-o", second) == (0, b"", "")
    assert run("normalize", data=second.read_bytes()) == (0, NORMAL, "")
    assert run("normalize", first, "-o", first).code == 0
    assert first.read_bytes() == second.read_bytes()


def packed(data: bytes, suffix: str) -> bytes:
    """Return data as a file with that suffix holds it."""
    for packing in PACKINGS:
        if packing.suffix == suffix:
            packer = packing.new_packer()
            return packer.compress(data) + packer.flush()
    return data


def test_several_files(tmp_path: Path) -> None:
    """Files come one after the other; a last line without its end does not run into the next file."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"HTTP://a.test/")
    second.write_bytes(b"HTTP://b.test/")
    ended = run("normalize", first, "-", second, data=b"HTTP://c.test/\n")
    assert ended.out == b"http://a.test/\nhttp://c.test/\nhttp://b.test/"


def test_skip() -> None:
    """A step that is skipped is not taken; the others are."""
    ended = run("normalize", "--skip", "fragment", "--skip", "port", data=b"HTTP://a.test:80#top")
    assert ended.out == b"http://a.test:80/#top"


def test_json(tmp_path: Path) -> None:
    """The counts are all that is on stdout; the lines go to a file, or nowhere."""
    path = tmp_path / "normal.txt"
    options: tuple[tuple[str, ...], ...] = ((), ("-o", str(path)))
    for option in options:
        ended = run("normalize", "--json", *option, data=URLS)
        counts = json.loads(ended.out)
        assert counts.pop("seconds") >= 0
        assert counts == {"lines": 5, "changed": 2, "not_urls": 2, "too_long": 0}
        assert (ended.code, ended.err) == (0, "")
    assert path.read_bytes() == NORMAL


def test_summary() -> None:
    """A person reads what happened, and nothing about what did not."""
    assert summary(Tally(urls=2000, changed=2), 1.0) == "2,000 lines: 2 changed; 1.0 s, 2,000 lines/s"
    told = summary(Tally(urls=9, not_urls=1, too_long=4), 0.0)
    assert "1 not URLs (unchanged), 4 too long (unchanged)" in told


def test_summary_is_for_terminals() -> None:
    """On a terminal there is a summary, unless it is not wanted."""
    texts_by_option = {}
    for option in ("-q", "--threads=1"):
        controller, terminal = os.openpty()
        with os.fdopen(terminal, "wb") as stderr:
            words = [*UNDUST, "normalize", option]
            subprocess.run(words, input=URLS, stdout=subprocess.PIPE, stderr=stderr, check=True)
            os.write(terminal, b".")
            texts_by_option[option] = os.read(controller, 1000)
        os.close(controller)
    assert texts_by_option["-q"] == b"."
    assert texts_by_option["--threads=1"].startswith(b"5 lines: 2 changed, 2 not URLs (unchanged); ")


def test_a_pipe_is_answered_while_it_is_open() -> None:
    """A program that asks line by line gets its answers line by line."""
    with start("normalize") as process:
        assert process.stdin
        assert process.stdout
        for host in (b"A", b"B"):
            process.stdin.write(b"HTTP://%s.test\n" % host)
            process.stdin.flush()
            assert process.stdout.readline() == b"http://%s.test/\n" % host.lower()
        process.stdin.close()
    assert process.returncode == 0


# Bad input


def test_binary_file(tmp_path: Path) -> None:
    """A file that is no text at all is refused; said to be lines, it comes out as it went in."""
    path, copy = tmp_path / "binary", tmp_path / "copy"
    path.write_bytes(bytes(range(256)) * 1000)
    assert sentence(run("normalize", "-o", copy, path)).startswith(f"{path}: ")
    assert not copy.exists()
    path.write_bytes(b"http://shop.test/\n" + bytes(range(256)) * 1000)
    ended = run("normalize", "--json", "--format", "lines", "-o", copy, path)
    assert filecmp.cmp(path, copy, shallow=False)
    counts = json.loads(ended.out)
    assert (counts["lines"], counts["not_urls"], counts["changed"]) == (1002, 1001, 0)
    program = Path(sys.executable).read_bytes()[:500_000]
    assert run("normalize", data=program).code == 1


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_line_of_100_megabytes(suffix: str, tmp_path: Path) -> None:
    """It passes unchanged, is counted, and never sits in memory, packed small or not."""
    small, large, out = tmp_path / f"small{suffix}", tmp_path / f"large{suffix}", tmp_path / "out"
    small.write_bytes(packed(URLS * 40_000, suffix))
    line = b"http://shop.test/" + b"A" * 100_000_000
    large.write_bytes(packed(URLS + line + b"\n" + URLS, suffix))
    allowed = peak_memory_bytes("normalize", small, "-o", out) + 8_000_000
    assert peak_memory_bytes("normalize", large, "-o", out) < allowed
    assert out.read_bytes() == NORMAL + line + b"\n" + NORMAL
    assert json.loads(run("normalize", "--json", large).out)["too_long"] == 1


def noise(size: int) -> bytes:
    """URLs of random bytes, so many of them, which no packing makes much smaller."""
    text = os.urandom(size).hex()
    return "".join(f"http://a.test/{text[at : at + 100]}\n" for at in range(0, len(text), 100)).encode()


@pytest.mark.parametrize("packing", PACKINGS, ids=lambda packing: packing.name)
def test_truncated(packing: Packing, tmp_path: Path) -> None:
    """A truncated file: one sentence, what could be read on stdout, and no output file."""
    path, out = tmp_path / f"urls{packing.suffix}", tmp_path / "out"
    whole = packed(noise(3_000_000), packing.suffix)
    path.write_bytes(whole[:2_000_000])
    ended = run("normalize", path)
    assert len(ended.out) > 1_000_000
    assert sentence(ended) == (
        f"{path}: ends at byte 2,000,000 in the middle of its {packing.name} data; "
        f"get it again, or keep what '{packing.name} -dc' still reads of it"
    )
    assert "standard input: ends at byte" in sentence(run("normalize", data=path.read_bytes()))
    sentence(run("normalize", path, "-o", out))
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_closed_pipe() -> None:
    """`| head` has seen enough: quiet, and nothing went wrong."""
    with subprocess.Popen(["yes", "HTTP://a.test"], stdout=subprocess.PIPE) as endless:  # noqa: S607
        assert endless.stdout
        with start("normalize", stdin=endless.stdout) as process:
            endless.stdout.close()
            assert process.stdout
            assert process.stderr
            assert process.stdout.readline() == b"http://a.test/\n"
            process.stdout.close()
            assert process.stderr.read() == b""
    assert process.returncode == 0


def test_missing_file_and_folder(tmp_path: Path) -> None:
    """What cannot be read is named before anything is written."""
    good = tmp_path / "good"
    good.write_bytes(URLS)
    ended = run("normalize", good, tmp_path / "missing")
    assert sentence(ended) == f"{tmp_path}/missing: there is no such file; check the name"
    assert ended.out == b""
    assert (
        sentence(run("normalize", good, "-o", tmp_path)) == f"{tmp_path}: it is a folder; name a file in it"
    )


def test_forbidden_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read: one sentence. The test pretends, for root may read everything."""
    path = tmp_path / "urls"
    path.write_bytes(URLS)

    opened = Path.open

    def refuse(self: Path, *said: Any, **more: Any) -> Any:  # noqa: ANN401 -- whatever it was asked
        if self == path:
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *said, **more)

    monkeypatch.setattr(Path, "open", refuse)
    result = CliRunner().invoke(main, ["normalize", str(path)])
    assert (result.exit_code, result.stderr) == (
        1,
        f"undust: {path}: you may not use it; see who may with 'ls -l'\n",
    )


def test_full_disk_behind_stdout() -> None:
    """A full disk: one sentence, and no complaint of Python at the end."""
    for option in ("--quiet", "--json"):
        with Path("/dev/full").open("wb") as full:
            ended = run("normalize", option, data=URLS, stdout=full)
        assert sentence(ended).endswith("the disk is full; free some space and start again")


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_full_disk_behind_a_file(suffix: str, tmp_path: Path) -> None:
    """The half-written file is gone, and the good one is as it was."""
    path = tmp_path / f"urls{suffix}"
    path.write_bytes(b"good")
    ended = run("normalize", "-o", path, data=noise(500_000), file_blocks=64)
    assert sentence(ended).startswith(f"{path}: it grew beyond the size allowed")
    assert path.read_bytes() == b"good"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_stopped_in_the_middle(number: signal.Signals, suffix: str, tmp_path: Path) -> None:
    """Whoever stops it finds the folder as it was, and hears one sentence."""
    path = tmp_path / f"urls{suffix}"
    path.write_bytes(b"good")
    with start("normalize", "-o", path) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(URLS * 50_000)
        process.stdin.flush()
        wait_until(lambda: any(each.suffix == ".part" and each.stat().st_size for each in tmp_path.iterdir()))
        process.send_signal(number)
        said = process.stderr.read().decode()
    name = "Ctrl-C" if number == signal.SIGINT else number.name
    assert said == f"undust: stopped by {name}; what was not complete was not written\n"
    assert process.returncode == 128 + number
    assert path.read_bytes() == b"good"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for another process, not for ever."""
    end = time.monotonic() + 200
    while not is_so():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def test_memory_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little memory is a sentence too."""

    def refuse(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(import_module("undust.urls.url"), "core_normalize_lines", refuse)
    result = CliRunner().invoke(main, ["normalize"], input=b"http://a.test/\n")
    assert result.exit_code == 1
    assert result.stderr.startswith("undust: the memory is used up; ")


@pytest.mark.slow
def test_memory_does_not_grow(tmp_path: Path) -> None:
    """Ten times the lines take the same memory."""
    peaks = []
    for times in (100_000, 1_000_000):
        path = tmp_path / f"{times}.gz"
        path.write_bytes(gzip.compress(URLS * times, 1))
        peaks.append(peak_memory_bytes("normalize", path, "-o", tmp_path / "out"))
    assert peaks[1] < peaks[0] + 8_000_000
