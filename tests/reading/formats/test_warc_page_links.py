"""The links of archived pages as a list of URLs: all of them, absolute, and no more than is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import undust
from tests.reading.formats.archives import Answer, by_hand
from undust.reading.formats.warc import LONGEST_LINK, MOST_LINKS, links_in

if TYPE_CHECKING:
    from pathlib import Path

BASE = "http://a.test/d/e"


def test_links_of_a_warc_are_rows(tmp_path: Path) -> None:
    """Of each page, with `--format links` alone; without it the archive is read as pages."""
    path = tmp_path / "crawl.warc"
    body = b'<p><a href="/b?sid=1">b</a> <a href=\'c\'>c</a> <a href="mailto:x@a.test">mail</a>'
    path.write_bytes(by_hand(Answer("http://a.test/d/e", body)) + by_hand(Answer("http://a.test/x", body)))
    urls = undust.read(path, format="links").table.column("url").to_pylist()
    assert urls == ["http://a.test/b?sid=1", "http://a.test/d/c", "http://a.test/b?sid=1", "http://a.test/c"]
    assert undust.read(path).table.column("url").to_pylist() == ["http://a.test/d/e", "http://a.test/x"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<base href="/f/">', "http://a.test/f/c"),
        ("<base target=_top href='http://b.test/g/h'>", "http://b.test/g/c"),
        ('<base target="_top">', "http://a.test/d/c"),
        ('<base href="/f/"><base href="/g/">', "http://a.test/f/c"),
        ('<base href="javascript:0">', "http://a.test/d/c"),
        ('<base href="http://[::1">', "http://a.test/d/c"),
    ],
)
def test_links_are_relative_to_the_declared_base(head: str, expected: str) -> None:
    """To the first one that a browser would take; without a usable one to the page itself."""
    assert list(links_in(f'{head}<a href="c">c</a>', BASE)) == [expected]


def test_hostile_pages_are_bounded() -> None:
    """Neither a million links nor a link without an end are taken, and none that leads nowhere."""
    many = "".join(f'<a href="/{n}">' for n in range(MOST_LINKS + 50))
    assert len(list(links_in(many, BASE))) == MOST_LINKS
    assert not list(links_in(f'<a href="/{"a" * LONGEST_LINK}">', BASE))
    assert not list(links_in('<a href="http://[::1">' + "<a " * 10_000 + "<a href=", BASE))
    assert list(links_in('<a href="">', BASE)) == [BASE]
    assert list(links_in("<base " * 100_000 + '<a href="">', BASE)) == [BASE]
