"""Faults of version 0.1 in what `apply`, `normalize` and `explain` made of files that `learn` reads."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import run
from tests.first_use.files import DROP, rule_file

if TYPE_CHECKING:
    from pathlib import Path

LOG = (
    '192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET /item/{n}?sid={n} HTTP/1.1" 200 {n}321 "-" "Mozilla/5.0"'
)


@pytest.mark.parametrize("fields", ["\t200\tOK", "\t-", "\thttp://shop.test/b"])
def test_d3_a_line_with_a_tab_is_not_a_url(fields: str) -> None:
    """Its fields are not glued to the URL."""
    done = run("normalize", data=f"http://shop.test/a{fields}\n".encode())
    assert done.code != 0
    assert done.out == b""
    assert "--format" in done.err


@pytest.mark.parametrize("packed", [False, True])
def test_d3_a_table_by_its_column(tmp_path: Path, *, packed: bool) -> None:
    """The same table comes out, with the column changed or one more."""
    text = b"urlkey\toriginal\tstatus\ntest,shop)/\thttp://shop.test/item/1?sid=9\t200\n"
    table = tmp_path / ("cdx.tsv.gz" if packed else "cdx.tsv")
    table.write_bytes(gzip.compress(text) if packed else text)
    done = run("apply", rule_file(tmp_path, DROP.format("sid")), table, "--column", "original")
    assert done.code == 0, done.err
    assert done.out.decode().splitlines() == [
        "urlkey\toriginal\tstatus\tcanonical_url",
        "test,shop)/\thttp://shop.test/item/1?sid=9\t200\thttp://shop.test/item/1",
    ]


def test_d3_a_log_gives_its_urls(tmp_path: Path) -> None:
    """One canonical URL a request; it was "n not URLs" and exit code 0."""
    log = tmp_path / "access.log"
    log.write_text("\n".join(LOG.format(n=n) for n in range(20)) + "\n", encoding="utf-8")
    rules = rule_file(tmp_path, DROP.format("sid"))
    done = run("apply", rules, log, "--base", "http://shop.test")
    assert done.code == 0, done.err
    assert done.out.decode().splitlines() == [f"http://shop.test/item/{n}" for n in range(20)]


@pytest.mark.parametrize("command", ["apply", "normalize"])
def test_d3_a_format_that_fits_badly_is_an_error(command: str, tmp_path: Path) -> None:
    """With the number of lines that do not fit, and a suggestion."""
    path = tmp_path / "words.txt"
    path.write_text("".join(f"no url at all {n}\n" for n in range(40)), encoding="utf-8")
    rules = [rule_file(tmp_path, DROP.format("sid"))] if command == "apply" else []
    done = run(command, *rules, path)
    assert done.code == 1, done
    assert "40" in done.err
    assert "--format" in done.err


def test_d3_a_column_of_plain_lines_is_an_error(tmp_path: Path) -> None:
    """Lines have no columns."""
    path = tmp_path / "urls.txt"
    path.write_text("http://shop.test/item/1?sid=2\n", encoding="utf-8")
    done = run("apply", rule_file(tmp_path, DROP.format("sid")), path, "--column", "url")
    assert done.code != 0
    assert done.out == b""
