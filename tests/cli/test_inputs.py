"""The options of commands that read observations: what they hand over, and what a terminal shows."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

import undust
from undust.cli.inputs import Inputs, inputs

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import click
from undust.cli.inputs import Inputs, inputs

@click.command()
@inputs
def command(inputs: Inputs) -> None:
    print(len(inputs.read()))

command()
"""


@click.command()
@inputs
@click.option("--other", is_flag=True)
def command(inputs: Inputs, *, other: bool) -> None:
    """Show what was given."""
    click.echo(f"{inputs} {other}")


def test_command_gets_all_that_was_said() -> None:
    """Paths and options arrive as one value, beside the command's own."""
    said = [
        "a.log",
        "b/*.gz",
        "--base",
        "https://shop.test",
        "--column",
        "url=address",
        "--column",
        "time=when=x",
    ]
    done = CliRunner().invoke(
        command, [*said, "--log-format", "%r", "--format", "csv", "--strict", "--other"]
    )
    expected = Inputs(
        ("a.log", "b/*.gz"),
        "csv",
        "https://shop.test",
        {"url": "address", "time": "when=x"},
        "%r",
        strict=True,
        threads=os.cpu_count() or 1,
    )
    assert done.output == f"{expected} True\n"


@pytest.mark.parametrize("value", ["url", "=address", "url="])
def test_column_without_both_names_is_wrong_usage(value: str) -> None:
    """A mapping has two sides."""
    done = CliRunner().invoke(command, ["a.log", "--column", value])
    assert done.exit_code == 2
    assert f"'{value}' is not OURS=THEIRS, as in url=address" in done.output


def test_no_input_is_wrong_usage() -> None:
    """A command that reads needs something to read."""
    assert CliRunner().invoke(command, []).exit_code == 2


def run(path: Path, stderr: int) -> str:
    """The output of a command that reads one file."""
    words = [sys.executable, "-c", PROGRAM, str(path)]
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=stderr, check=True, text=True).stdout


def all_of(master: int) -> str:
    """All that was written to a terminal; one reading gives 4 KiB at most, and a slow machine draws more."""
    os.set_blocking(master, False)
    shown = b""
    with suppress(BlockingIOError):
        while piece := os.read(master, 1 << 20):
            shown += piece
    return shown.decode()


def test_progress_is_for_terminals_only(tmp_path: Path) -> None:
    """A terminal sees bytes, rate and time left, a file only what could not be read; stdout neither."""
    path = tmp_path / "urls.txt"
    path.write_text("".join(f"http://shop.test/{number}\n" for number in range(200_000)) + "no url\n")
    shown = ""
    for _ in range(4):  # a rate is known from two moments on, which a busy machine may not have
        master, terminal = pty.openpty()
        try:
            assert run(path, terminal) == "200000\n"
            shown = all_of(master)
        finally:
            os.close(terminal)
            os.close(master)
        if "/s" in shown:
            break
    assert "reading" in shown
    assert "/s" in shown
    assert "1 skipped: url is not a URL" in shown
    with (tmp_path / "stderr").open("w+b") as file:
        assert run(path, file.fileno()) == "200000\n"
        file.seek(0)
        said = file.read().decode()
    assert said.splitlines()[0] == "<Observations: 200,000 from 1 file, 1 skipped>"
    assert "reading" not in said


def test_samples_of_records_show_no_secrets(tmp_path: Path) -> None:
    """What is printed ends in logs; the place tells where the record is, and the bytes stay at hand."""
    path = tmp_path / "crawl.jsonl"
    lines = [
        '{"url": "http://a.test/"}',
        '{"url": "mailto:joe@b.test"}',
        '{"url": "http://joe:pw12@/x"}',
        '{"url": "http://a.test/?sid=s3cr3t1234&to=joe%40b.test&page=2", broken',
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    seen = undust.read(path)
    told = seen.report()
    plain = re.sub(r"\*\*\*[0-9]+", "***", f"{told}\n")
    assert "line 2: mailto:***\n" in plain
    assert "line 3: http://***@/x\n" in plain
    assert "http://a.test/?sid=***&to=***&page=2" in plain
    assert not any(secret in told for secret in ("joe", "pw12", "s3cr3t"))
    samples = [sample for file in seen.files for remark in file.remarks for _, sample in remark.samples]
    assert b"mailto:joe@b.test" in samples


def test_words_between_damaged_bytes_are_readable(tmp_path: Path) -> None:
    """Bytes that are no text make no word beside them secret; what looks secret is masked there as well."""
    path = tmp_path / "crawl.jsonl"
    damaged = b'garbage\x1f\x8b\x08\x00U2\xfc\x02\xff{"url": http\xfftoken=4f2a\x0090cc11'
    path.write_bytes(b'{"url": "http://a.test/"}\n' + damaged + b"\n")
    told = undust.read(path).report()
    assert r"line 2: garbage\x1f\x8b\x08\x00U2\xfc\x02\xff{" in told
    assert r"http\xfftoken=4f2a\x00***1" in told
