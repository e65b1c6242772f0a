"""From bytes to visible text: what a reader sees, in any encoding, of pages however broken."""

from __future__ import annotations

import codecs
import unicodedata
from functools import partial
from html import unescape
from html.entities import html5
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

from tests.timing import quickest
from tools.make_html_references import header_text
from undust import _core
from undust.reading.text import as_utf8, charset_of, read_html, read_plain

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = {
    # What stands between tags is shown, blocks and cells apart, inline tags together.
    "<p>one</p><p>two</p>": "one two",
    "a<b>b</b>c<i>d</i> <span>e</span>f": "abcd ef",
    "<table><tr><td>a<td>b<tr><th>c</table>d": "a b c d",
    "x<br>y<hr>z": "x y z",
    "<ul><li>one<li>two</ul>": "one two",
    # References.
    "caf&eacute; &amp; &lt;b&gt; &#8364;&#x20AC; &nbsp; &notit; &AMP": "café & <b> €€ ¬it; &",
    # Never shown.
    "a<script>b</script>c<style>d</style>e<noscript>f</noscript>g": "aceg",
    "<title>t</title>a<iframe>d</iframe>e": "ae",
    # What forms show.
    "a<textarea>b &amp; c</textarea>d<input value=e><input type=hidden value=f>g": "a b & c d e g",
    "a<select><option>b<option>c</select>d": "a d",
    "a<template>b<template>c</template>d</template>e": "ae",
    "a<!-- b -->c<!--->d<!---->e<!-- f --!>g<!x>h<?y>i</>j</ z>k": "acdeghijk",
    # Attributes hide signs.
    "<a title='>' href=\"<b>\">x</a><img alt='y'>z": "xz",
    "<p title=\"a'>b\" id='c\">d'>e": "e",
    "<p a=b/c=d>e</p>": "e",
    # A script may hold whole scripts inside a comment.
    "a<script><!-- x('<script>y</script>') --></script>b": "ab",
    "a<script>var x = '<!--';</script>b": "ab",
    "a<SCRIPT>if (a</b) { x('</scripty>') }</ScRiPt >b": "ab",
    # Broken.
    "a<b": "a",
    "a<b c='d": "a",
    "a<!-- b": "a",
    "a<script>b": "a",
    "a < b <3 <": "a < b <3 <",
    "a<>b": "a<>b",
    "<xmp><b>x</b></xmp>y": "<b>x</b> y",
    "a<plaintext><b>x</plaintext>": "a <b>x</plaintext>",
    "a\0b": "ab",
    # White space of all kinds.
    " \n a \t\u00a0\u2003 b \r\n": "a b",
    "": "",
}


def normal(text: str) -> str:
    """The one form of a text, by the standard library alone."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def shown(html: bytes, content_type: str | None = None) -> str:
    """What a reader sees of a page."""
    return read_html(html, content_type).text.decode()


@pytest.mark.parametrize("html", SHOWN)
def test_shown_text(html: str) -> None:
    """Exactly what a reader sees."""
    assert shown(html.encode()) == SHOWN[html]


WORDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789é€", min_size=1, max_size=8)
INLINE = st.sampled_from(["b", "i", "em", "span", "a", "code", "sub"])
BLOCKS = st.sampled_from(["p", "div", "section", "h1", "ul", "blockquote"])


def element(name: str, children: list[str]) -> str:
    """A well-formed element."""
    return f'<{name} class="x">{"".join(children)}</{name}>'


INLINE_HTML = st.recursive(
    st.one_of(WORDS, st.just(" "), st.just("&amp;"), st.just("<!-- no -->")),
    lambda inner: st.builds(element, INLINE, st.lists(inner, max_size=4)),
    max_leaves=12,
)
BODIES = st.lists(
    st.one_of(
        st.builds(lambda name, inner: element(name, [inner]), BLOCKS, INLINE_HTML),
        st.builds(lambda inner: f"<table><tr><td>{inner}</td><td>z</td></tr></table>", INLINE_HTML),
        st.sampled_from(["<script>s()</script>", "<style>p{}</style>", "<noscript>n</noscript>"]),
    ),
    max_size=8,
).map("".join)


@given(BODIES)
def test_resiliparse_shows_the_same(body: str) -> None:
    """Of a well-formed page the text is that of a library that builds the whole tree.

    Spaces apart: it glues the cells of a table together.
    """
    html = f"<!DOCTYPE html><html><head><title>t</title></head><body>{body}</body></html>"
    theirs = extract_plain_text(
        HTMLTree.parse(html), links=False, list_bullets=False, alt_texts=False, form_fields=False
    )
    assert "".join(shown(html.encode()).split()) == "".join(normal(theirs).split())


@given(st.text(st.sampled_from("<>!-/ ='\"abpscripttemplatex&;\0\n"), max_size=200))
def test_no_markup_is_too_broken(html: str) -> None:
    """Whatever is given, the text holds nothing that was not there, and reading ends."""
    text = _core.read_html(html.encode(), 10)[0]
    assert len(text) <= 2 * len(html)


@pytest.mark.parametrize(
    "unit",
    [
        b"<div>",
        b"<p><b>",
        b"<ul><li>",
        b"<a ",
        b"<!--",
        b"<!-- --",
        b"<script>",
        b"<table><td>",
        b"<b a='",
        b"</",
    ],
)
def test_time_grows_with_the_size_alone(unit: bytes) -> None:
    """Pages made to harm are read like all others: four times the bytes take about four times as long."""
    pages = (unit * (size // len(unit)) for size in (500_000, 2_000_000))
    small, large = (quickest(partial(_core.read_html, page, 1000)) for page in pages)
    assert large < 8 * max(small, 0.001)


def test_tags_are_bounded() -> None:
    """A page of a million links costs no more than the first of them."""
    tags = _core.read_html(b"<link rel=x>" * 100_000, 7)[1]
    assert len(tags) == 7


def test_tags_know_whether_they_are_in_the_head() -> None:
    """The head ends where the first thing stands that cannot be in it, with or without an end tag."""
    html = (
        "<html><head><link rel=a HREF='/1?x&amp;y'><title>t</title><script>s</script></head>"
        "<link rel=b><noscript><link rel=hidden></noscript>\n<link rel=c><p><link rel=d>"
    )
    tags = read_html(html.encode()).tags
    assert [(tag.attributes["rel"], tag.is_in_head) for tag in tags] == [
        ("a", True),
        ("b", True),
        ("c", True),
        ("d", False),
    ]
    assert tags[0].attributes["href"] == "/1?x&y"
    assert [tag.is_in_head for tag in read_html(b"<link rel=a>text<link rel=b>").tags] == [True, False]


TEXT = "Größe: 5 €, naïve — 日本"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (TEXT.encode(), None),
        (TEXT.encode(), "text/html; charset=UTF-8"),
        (TEXT.encode(), 'text/html; charset="utf8"'),
        (codecs.BOM_UTF8 + TEXT.encode(), "text/html; charset=iso-8859-1"),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), None),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "text/html"),
        (TEXT.encode("utf-16-le"), "text/html; charset=utf-16le"),
        (TEXT.encode("gb18030"), "text/html;charset=gb2312"),
        (f"<meta charset='gb18030'>{TEXT}".encode("gb18030"), "text/html"),
        (f'<meta http-equiv="Content-Type" content="text/html; charset=gbk">{TEXT}'.encode("gb18030"), None),
        (f'<?xml version="1.0" encoding="gb18030"?><html>{TEXT}'.encode("gb18030"), "application/xhtml+xml"),
        (f"<meta charset='utf-16'>{TEXT}".encode(), None),
        (TEXT.encode(), "text/html; charset=no-such-thing"),
    ],
)
def test_encoding_is_found(body: bytes, content_type: str | None) -> None:
    """By its first bytes, by the header, by the page itself."""
    assert shown(body, content_type) == TEXT


def test_encoding_is_guessed_where_nobody_says_it() -> None:
    """Russian in Windows-1251 without a word about it."""
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5
    assert charset_of(text.encode("cp1251")).lower().replace("windows-", "cp") == "cp1251"
    assert as_utf8(text.encode("cp1251")).decode() == text


def test_encoding_that_does_not_fit_is_no_error() -> None:
    """A header may say UTF-8 of a page in Latin-1; every byte stays readable."""
    assert as_utf8("café".encode("latin-1"), "text/html; charset=utf-8") == "café".encode()


@given(
    st.binary(max_size=60),
    st.sampled_from([None, "text/html; charset=utf-8", "x; charset=utf-16", "charset=big5"]),
)
def test_no_bytes_are_too_broken(body: bytes, content_type: str | None) -> None:
    """There is always a text, and it is valid UTF-8."""
    as_utf8(body, content_type).decode()
    read_html(body, content_type)


REFERENCES = st.text(st.sampled_from("&#xX;0123456789abcdefABampltgtnbspnotinit; \u00e9\n\0"), max_size=40)
NAMES = st.sampled_from(sorted(html5)).map("&{}".format)


@given(st.lists(st.one_of(REFERENCES, NAMES, st.text(max_size=5)), max_size=6).map("".join))
def test_references_and_white_space_are_those_of_the_standard_library(text: str) -> None:
    """What Python makes of references, white space and combining marks, the core makes of them."""
    plain = text.replace("<", "").encode("utf-8", "replace").decode()
    assert shown(b"<p>" + plain.encode()) == normal(unescape(plain.replace("\0", "")))


def test_every_reference() -> None:
    """All that the standard names, with a semicolon and, where that is allowed, without."""
    for name, text in html5.items():
        assert shown(f"<p>x&{name} y".encode()) == normal(f"x{text} y"), name


def test_every_number() -> None:
    """Numbers of characters, of none, and of those that Windows meant."""
    for number in [
        *range(0x300),
        *range(0xD7F0, 0xE010),
        0xFDD0,
        0xFFFE,
        0xFFFF,
        0x1FFFF,
        0x10FFFF,
        0x110000,
        10**12,
    ]:
        for written in (f"&#{number};", f"&#x{number:X};", f"&#{number} "):
            assert shown(f"<p>a{written}b".encode()) == normal(unescape(f"a{written}b")), written


def test_table_of_references_is_what_its_generator_writes(repository: Path) -> None:
    """The generator, run again, changes nothing."""
    assert (repository / "cpp" / "html_references.hpp").read_text(encoding="ascii") == header_text()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_plain_text_is_brought_to_the_same_form(text: str) -> None:
    """With no markup and no references, a page and a plain text with its words are one text."""
    assert read_plain(text.encode(), "charset=utf-8").decode() == normal(
        text.removeprefix("\ufeff").replace("\0", "")
    )
