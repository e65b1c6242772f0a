"""Sitemaps in every form that sites publish: their URLs are those that the site prefers."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

import undust

if TYPE_CHECKING:
    from pathlib import Path

URLS = [f"http://a.test/{n}" for n in range(3)]
ENTRIES = "".join(f"<url><loc>{url}</loc></url>" for url in URLS)
XML = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{ENTRIES}</urlset>'.encode()
TEXT = "\n".join(URLS).encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("pages.xml", XML),
        ("pages.xml.gz", gzip.compress(XML, mtime=0)),
        ("sitemap.txt", TEXT),
        ("sitemap-news_2.txt.gz", gzip.compress(TEXT, mtime=0)),
    ],
)
def test_the_site_prefers_what_a_sitemap_lists(name: str, data: bytes, tmp_path: Path) -> None:
    """As XML or plain text, packed or not."""
    (tmp_path / name).write_bytes(data)
    table = undust.read(tmp_path / name).table
    assert table.column("url").to_pylist() == URLS
    assert table.column("listed").to_pylist() == [True] * 3


@pytest.mark.parametrize("name", ["urls.txt", "our-sitemap.txt", "sitemap.log"])
def test_a_list_by_another_name_prefers_nothing(name: str, tmp_path: Path) -> None:
    """It may list anything."""
    (tmp_path / name).write_bytes(TEXT)
    assert undust.read(tmp_path / name).table.column("listed").null_count == 3


def test_an_index_is_counted_beside_the_sitemaps_that_it_names(tmp_path: Path) -> None:
    """Nothing is fetched: the sitemaps themselves are given."""
    index = "<sitemapindex><sitemap><loc>http://a.test/pages.xml</loc></sitemap></sitemapindex>"
    (tmp_path / "index.xml").write_text(index, encoding="utf-8")
    (tmp_path / "pages.xml").write_bytes(XML)
    seen = undust.read(tmp_path / "index.xml", tmp_path / "pages.xml")
    assert seen.table.column("url").to_pylist() == URLS


def test_a_line_with_fields_is_not_a_url(tmp_path: Path) -> None:
    """A tab or a carriage return inside a line separates fields or lines; `apply` leaves it alone, too."""
    path = tmp_path / "urls"
    path.write_bytes(
        b"http://a.test/1\nhttp://a.test/2\t200\nhttp://a.test/3\rhttp://a.test/4\n\thttp://a.test/5\r\n#\tx\n"
    )
    seen = undust.read(path, format="urls")
    assert seen.table["url"].to_pylist() == ["http://a.test/1", "http://a.test/5"]
    assert seen.counts()["skipped"] == 2
    assert "2 skipped: not a URL: it has a tab or a carriage return inside" in str(seen.report())
