"""`undust rekey` and `undust apply --surt`: keys of web archives from canonical URLs."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import run
from undust import Rule, RuleSet
from undust.exchange import rekeying
from undust.files import temporary

if TYPE_CHECKING:
    from pathlib import Path

DROP = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"
SLUG = "rewrite {s}://{h}/p/{*}/{id:int} → {s}://{h}/p/{id}"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Rules of a shop."""
    RuleSet(Rule.parse(text, site="shop.test") for text in (DROP, SLUG)).save(tmp_path / "rules.json")
    return tmp_path / "rules.json"


def line(key: str, url: str, time: int = 2026) -> str:
    """Return a line of a CDXJ file."""
    return f'{key} {time} {{"url": "{url}", "status": "200"}}\n'


INDEX = (
    line("dns:shop.test", "dns:shop.test"),
    line("test,other)/p/a/1?sid=1", "http://other.test/p/a/1?sid=1"),
    line("test,shop)/p/1", "http://shop.test/p/1", 2027),
    line("test,shop)/p/a-title/1", "http://shop.test/p/a-title/1", 2025),
    line("test,shop)/p/b/2?sid=1", "https://www.shop.test/p/b/2?sid=1"),
    line("test,shop)/z?__wb_method=post&a=1&sid=2", "http://shop.test/z?sid=2"),
)
REKEYED = (
    INDEX[0],
    INDEX[1],
    line("test,shop)/p/1", "http://shop.test/p/a-title/1", 2025),
    INDEX[2],
    line("test,shop)/p/2", "https://www.shop.test/p/b/2?sid=1"),
    INDEX[5],
)


@pytest.mark.parametrize("is_packed", [False, True])
def test_captures_of_a_page_stand_together(rules: Path, tmp_path: Path, *, is_packed: bool) -> None:
    """By the key of the canonical URL and then by time; all else of a line stays."""
    index, new = tmp_path / "index.cdxj", tmp_path / "new.cdxj"
    data = "".join(INDEX).encode()
    index.write_bytes(gzip.compress(data) if is_packed else data)
    done = run("rekey", rules, index, "-o", new)
    assert done.code == 0
    assert new.read_text(encoding="utf-8") == "".join(REKEYED)
    assert done.err == "6 lines, 2 with a new key, 1 left alone as their key is not the SURT of their URL\n"


def test_the_same_with_little_memory(rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are written to disk and merged give the same lines."""
    (tmp_path / "index.cdxj").write_text("".join(reversed(INDEX)), encoding="utf-8")
    monkeypatch.setattr(rekeying, "sorted_lines", lambda lines: sorted_in_runs(lines, run_bytes=1))
    counts = rekeying.Rekeyed()
    lines = rekeying.rekeyed_lines(RuleSet.load(rules).compile(), [str(tmp_path / "index.cdxj")], counts)
    assert b"".join(lines).decode() == "".join(REKEYED)
    assert (counts.lines, counts.changed, counts.kept, counts.skipped) == (6, 2, 1, 0)


sorted_in_runs = temporary.sorted_lines


def test_only_what_changed(rules: Path, tmp_path: Path) -> None:
    """To add to an index that stays as it is."""
    (tmp_path / "index.cdxj").write_text("".join(INDEX), encoding="utf-8")
    done = run("rekey", rules, tmp_path / "index.cdxj", "--only-changed", "-q")
    assert done.out.decode() == REKEYED[2] + REKEYED[4]
    assert done.err == ""


CDX = (
    " CDX N b a m s k r M S V g\n",
    "test,shop)/p/9 2026 http://shop.test/p/9 text/html 200 AAA - - 5 6 x.warc.gz\n",
    "test,shop)/p/x/1 2026 http://shop.test/p/x/1 text/html 200 AAA - - 5 6 x.warc.gz\n",
)


def test_a_cdx_file_keeps_its_header(rules: Path, tmp_path: Path) -> None:
    """It stays the first line; the fields are those that it names, or those of 7, 9 and 11 columns."""
    expected = [CDX[2].replace("/p/x/1 2026", "/p/1 2026"), CDX[1]]
    for lines, head in ((CDX, [CDX[0]]), (CDX[1:], [])):
        (tmp_path / "index.cdx").write_text("".join(lines), encoding="utf-8")
        done = run("rekey", rules, tmp_path / "index.cdx", "-q")
        assert done.out.decode() == "".join([*head, *expected])


def test_several_indexes_become_one(rules: Path, tmp_path: Path) -> None:
    """Their lines are merged; headers that differ are a problem."""
    for number, text in enumerate(INDEX):
        (tmp_path / f"{number}.cdxj").write_text(text, encoding="utf-8")
    done = run("rekey", rules, *(tmp_path / f"{number}.cdxj" for number in range(len(INDEX))), "-q")
    assert done.out.decode() == "".join(REKEYED)
    (tmp_path / "a.cdx").write_text("".join(CDX), encoding="utf-8")
    (tmp_path / "b.cdx").write_text(" CDX N b a\n", encoding="utf-8")
    done = run("rekey", rules, tmp_path / "a.cdx", tmp_path / "b.cdx")
    assert done.code == 1
    assert "different headers" in done.err


def test_damage_is_counted_and_left_out(rules: Path, tmp_path: Path) -> None:
    """Lines that are not captures, and a header that does not name the URL."""
    damaged = 'test,shop)/ 2026 {"url": broken}\n\ntest,shop)/ 2026 {"mime": "x"}\n!meta {}\n'
    (tmp_path / "index.cdxj").write_text(damaged + INDEX[2], encoding="utf-8")
    done = run("rekey", rules, tmp_path / "index.cdxj", "--json", "-o", tmp_path / "new.cdxj")
    assert json.loads(done.out) == {"lines": 5, "changed": 0, "kept": 0, "skipped": 4}
    assert (tmp_path / "new.cdxj").read_text(encoding="utf-8") == INDEX[2]
    (tmp_path / "index.cdx").write_text(" CDX N b m\n", encoding="utf-8")
    done = run("rekey", rules, tmp_path / "index.cdx")
    assert done.code == 1
    assert "index.cdx: its header names no key" in done.err


def test_the_index_is_not_overwritten(rules: Path, tmp_path: Path) -> None:
    """Not even by the same file under another name."""
    (tmp_path / "index.cdxj").write_text("".join(INDEX), encoding="utf-8")
    assert run("rekey", rules, tmp_path / "index.cdxj", "-o", tmp_path / "index.cdxj").code == 2


def test_apply_gives_keys_of_archives(rules: Path) -> None:
    """For lines, and for the rows of a table; what is not a URL stays as it is."""
    urls = b"https://www.shop.test/p/x/1?sid=4\nmailto:x\nhttp://shop.test/\nhttp://shop.test/B\n"
    done = run("apply", rules, "--surt", "-q", data=urls)
    assert done.out == b"test,shop)/p/1\nmailto:x\ntest,shop)/\ntest,shop)/b\n"
    rows = b'{"url": "http://shop.test/p/x/1?sid=4"}\n'
    done = run("apply", rules, "--surt", "--column", "url", "-q", data=rows)
    assert json.loads(done.out)["key"] == "test,shop)/p/1"
