"""What commands that change URLs are given: tables without a header, glued lines, folders, other files."""

from __future__ import annotations

import bz2
import lzma
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.cli.command import Ended, sentence
from undust.cli import main
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from pathlib import Path

DROP = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"
URLS = b"http://shop.test/a?sid=1\nhttp://shop.test/b\n"


def run(*words: str | Path, data: bytes = b"") -> Ended:
    """Run the command in this process, where a traceback is never right."""
    result = CliRunner().invoke(main, [str(word) for word in words], input=data)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Ended(result.exit_code, result.stdout_bytes, result.stderr)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A rule file."""
    path: Path = tmp_path_factory.mktemp("rules") / "rules.json"
    RuleSet([Rule.parse(DROP, site="shop.test")]).save(path)
    return str(path)


@pytest.mark.parametrize(
    "row",
    [
        *(b"200", b"404,text/html", b"", b'"A, title"', b"2026-01-02T03:04:05Z", b"20260102030405"),
        b"http://shop.test/b?sid=2",
    ],
)
@pytest.mark.parametrize("delimiter", [b",", b";", b"|"])
def test_rows_without_a_header_are_not_urls(row: bytes, delimiter: bytes, rules: str) -> None:
    """A rule would take the values behind a URL for a part of it, and remove them."""
    row = row.replace(b",", delimiter).replace(b" ", b"")
    data = b"".join(b"http://shop.test/%d?sid=1%b%b\n" % (n, delimiter, row) for n in range(3))
    for words in (["apply", rules], ["normalize"], ["explain", rules, "-"]):
        told = sentence(run(*words, data=data))
        assert "are a URL and more values" in told
        assert told.endswith("give --format lines if each line is one URL")
    assert run("normalize", "--format", "lines", data=data).code == 0


def test_a_header_behind_other_lines_is_an_error(rules: str) -> None:
    """As in exports that begin with a comment: the rows are not URLs, however many there are."""
    rows = b"".join(b"http://shop.test/%d?sid=1,7\n" % n for n in range(9))
    for before in (b"# made by a tool\n", b"Export of Monday\n\n"):
        told = sentence(run("apply", rules, data=before + b'"URL",count\n' + rows))
        assert told.endswith("lines precede the one that names its columns; remove them")


@pytest.mark.parametrize(
    "urls",
    [
        b"http://a.test/1,17,5.html\nhttp://a.test/1,17,200.html\n",
        b"http://a.test/x;v=2\nhttp://a.test/y;v=3\n",
        b"http://a.test/x,200\nhttp://a.test/y\n",
        b"http://a.test/map?at=48.1,11.5\nhttp://a.test/map?at=200,301.5\n",
    ],
)
def test_delimiters_inside_urls_are_theirs(urls: bytes) -> None:
    """A list stays a list if its URLs have commas and no values behind them."""
    assert run("normalize", data=urls) == (0, urls, "")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("tsv", b"http://shop.test/a?sid=1\t200\nhttp://shop.test/b\t200\n"),
        ("csv", b"http://shop.test/a,x\n"),
    ],
)
def test_a_first_line_with_a_url_is_not_a_header(name: str, data: bytes, rules: str, tmp_path: Path) -> None:
    """Its URL would be left out without a word, from the output of `apply` as from what `learn` sees."""
    path = tmp_path / "table"
    path.write_bytes(data)
    expected = "its first line holds a URL, and no names of columns; add a header line: url,…"
    for words in (["apply", rules, str(path)], ["learn", str(path), "-o", str(tmp_path / "out.json")]):
        assert sentence(run(*words, "--format", name)).endswith(expected)


def test_tabs_read_as_csv_are_an_error(rules: str) -> None:
    """One column whose name has a tab is a table of tabs."""
    told = sentence(run("apply", rules, "--format", "csv", data=b"url\tn\nhttp://shop.test/a\t2\n"))
    assert told == "standard input: its first line has tabs; give --format tsv"


def test_lines_that_end_with_a_carriage_return_are_not_glued(rules: str) -> None:
    """As a file of an old system all lines are one, which is an error; among others such a line stays."""
    told = sentence(run("apply", rules, data=URLS.replace(b"\n", b"\r")))
    assert "its lines end with a carriage return alone; convert it with" in told
    glued = b"http://shop.test/c?sid=1\rhttp://shop.test/d\r\n"
    ended = run("apply", rules, data=URLS + glued)
    assert ended == (0, b"http://shop.test/a\nhttp://shop.test/b\n" + glued, "")
    assert run("apply", rules, data=URLS.replace(b"\n", b"\r\n")).out == (
        b"http://shop.test/a\r\nhttp://shop.test/b\r\n"
    )


def test_folders_and_patterns_mean_their_files(rules: str, tmp_path: Path) -> None:
    """As for `learn`; in the order given, and an empty folder is an error."""
    folder = tmp_path / "folder"
    (folder / "deeper").mkdir(parents=True)
    (folder / "b.txt").write_bytes(URLS)
    (folder / "deeper" / "a.txt").write_bytes(b"http://shop.test/c?sid=9\n")
    (folder / ".hidden").write_bytes(b"nothing")
    expected = b"http://shop.test/a\nhttp://shop.test/b\nhttp://shop.test/c\n"
    assert run("apply", rules, folder) == (0, expected, "")
    assert run("apply", rules, folder / "deeper" / "*.txt", folder / "*.txt").out == (
        b"http://shop.test/c\nhttp://shop.test/a\nhttp://shop.test/b\n"
    )
    assert run("normalize", folder / "deeper").out == b"http://shop.test/c?sid=9\n"
    explained = run("explain", rules, folder)
    assert explained.out.count(b"canonical  ") == 3
    assert run("explain", rules, folder / "*.txt").out.count(b"canonical  ") == 2
    (tmp_path / "empty").mkdir()
    assert "there is no file in this folder" in sentence(run("apply", rules, tmp_path / "empty"))
    assert "no file fits this pattern" in sentence(run("normalize", tmp_path / "*.none"))


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (bz2.compress(URLS), "it is packed with bzip2, and undust unpacks gzip and zstd; unpack it first"),
        (lzma.compress(URLS), "it is packed with xz, and undust unpacks gzip and zstd; unpack it first"),
        (b"PK\x03\x04rest", "it is packed with zip, and undust unpacks gzip and zstd; unpack it first"),
        (b"#Software: IIS\n#Fields: date cs-method\n2026-01-01 GET\n", "a log in the W3C format of IIS"),
        (b'{\n "url": "http://a.test/"\n}\n', "it is JSON, and undust reads an array of objects"),
        (b'["http://a.test/"]', "it is JSON, and undust reads an array of objects"),
        (b"/a\n/b\n", "its lines are paths; give --format lines, and say whose they are: --base"),
    ],
)
def test_what_is_not_read_gets_advice(data: bytes, advice: str, tmp_path: Path) -> None:
    """The message says what the file is and what to do, for `learn` as for the others."""
    path = tmp_path / "download"
    path.write_bytes(data)
    assert advice in sentence(run("normalize", path))
    assert advice in sentence(run("learn", path, "-o", tmp_path / "out.json"))
