"""One response to evidence, and what a job remembers of the pages it has seen."""

from __future__ import annotations

import hashlib

import pytest

from undust.reading import page as pages
from undust.reading.page import Body, Canonical, Content, PagesSeen, content_of, is_html, page_of, text_digest
from undust.urls import normalize

# Table 7 of Soon and Lee: pairs that signatures find and standard normalization does not.
PAIRS = [
    ("http://www.arirang.co.kr/Blog/Arirang_Town.asp?code=B11", "&id=&page=1"),
    ("http://www.arirang.co.kr/News/News_List.asp?code=Ne5", "&page=1"),
    ("http://www.bt.com/", "index.jsp"),
    ("http://www.bt.com/business/", "home/"),
    ("http://www.cnn.com/CNN/Programs/american.morning", "/index.html"),
    ("http://www.cnn.com/TECH/science/archive/", "index.html"),
    ("http://www.mmu.edu.my/~fom/", "index.html"),
    ("http://www.mmu.edu.my/~dev/", "aboutus.htm"),
    ("http://www.weather.com/activities/homeandgarden/home/mosquito/", "index.html"),
    ("http://www.weather.com/", "achesandpains/"),
]


@pytest.mark.parametrize(("first", "more"), PAIRS)
def test_equal_bodies_share_a_signature_and_their_urls_no_normal_form(first: str, more: str) -> None:
    """G23: what normalization keeps apart, the signature joins, once the bodies are equal."""
    second = first + more
    if second.endswith("/achesandpains/"):
        first, second = second, "http://www.weather.com/activities/health/achesandpains/"
    body = Body.of([b"<p>The same &amp; text</p>"])
    spaced = Body.of([b"<html><body class=x>\n<p>The  same\n&#38; text</p></body>"])
    signatures = {content_of(each, "text/html").digest for each in (body, spaced)}
    assert signatures == {hashlib.md5(b"The same & text", usedforsecurity=False).hexdigest()}
    assert normalize(first) != normalize(second)


def test_digest_of_html_is_of_its_text_and_of_all_else_of_its_bytes() -> None:
    """ALGORITHMS 7, and MD5 of the bytes where there is no text."""
    html, data = b"<p>Hello <b>World</b>", b"\x89PNG\r\n..."
    assert content_of(Body.of([html]), "text/html").digest == text_digest(b"Hello World")
    assert content_of(Body.of([data]), "image/png").digest == hashlib.md5(data).hexdigest()  # noqa: S324
    plain = content_of(Body.of([b"some  words"]), "text/plain; charset=utf-8")
    assert plain.digest == hashlib.md5(b"some  words").hexdigest()  # noqa: S324
    assert plain.text == b"some words"


@pytest.mark.parametrize("body", [b"", b"<html></html>", b"<p> &nbsp;\n<script>x()</script>", b"<img src=a>"])
def test_nothing_merges_with_nothing(body: bytes) -> None:
    """An empty text has no digest, not even that of the empty text."""
    content = content_of(Body.of([body]), "text/html")
    assert content.digest is None
    assert content.size == len(body)
    assert content_of(Body.of([]), "image/png") == Content(size=0)


@pytest.mark.parametrize(
    ("content_type", "start", "expected"),
    [
        ("text/html", b"", True),
        ("TEXT/HTML ; charset=x", b"x", True),
        ("application/xhtml+xml", b"x", True),
        ("text/plain", b"<html>", False),
        ("image/png", b"<!doctype html>", False),
        (None, b" \n<!DOCTYPE html><p>", True),
        ("", b"<!-- hello --><html lang=en>", True),
        ("unknown", b"<title>x", True),
        ("application/octet-stream", b"\xef\xbb\xbf<body>", True),
        (None, b"plain text about <html>", False),
        (None, b"%PDF-1.4", False),
    ],
)
def test_html_is_what_the_server_says_or_what_it_looks_like(
    content_type: str | None, start: bytes, *, expected: bool
) -> None:
    """Servers are believed where they say something."""
    assert is_html(content_type, start) is expected


def test_redirects_and_canonicals_of_a_response() -> None:
    """The status goes before the body, and a redirect has no canonical."""
    body = Body.of([b"<link rel=canonical href=/c><meta http-equiv=refresh content='0;url=/r'>moved"])
    content = content_of(body, "text/html")
    headers = {"location": ["/there"], "link": ["</c>; rel=canonical"]}
    assert page_of("http://a.test/x", 301, headers, content)[1:3] == (Canonical(), "/there")
    assert page_of("http://a.test/x", 301, {}, content)[1:3] == (Canonical(), None)
    shown = page_of("http://a.test/x", 200, headers, content)
    assert shown[1:3] == (Canonical("http://a.test/c"), "http://a.test/r")
    assert page_of("http://a.test/x", 304, headers, Content()).redirect is None


def test_body_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a body is hashed and its start kept; what never ends is left."""
    monkeypatch.setattr(pages, "MOST_TEXT", 10)
    monkeypatch.setattr(pages, "MOST_BODY_BYTES", 100)
    body = Body.of([b"<p>12", b"34567890", b"x" * 50])
    assert (body.start, body.size, body.is_whole) == (b"<p>1234567", 63, True)
    assert body.md5() == hashlib.md5(b"<p>1234567890" + b"x" * 50).hexdigest()  # noqa: S324
    html = content_of(body, "text/html")
    assert (html.size, html.digest, html.text, html.problem) == (63, None, b"1234567", pages.CUT)
    assert content_of(body, "image/png").digest == body.md5()
    endless = Body.of(iter(lambda: b"y" * 30, b""))
    assert not endless.is_whole
    assert content_of(endless, "image/png") == Content(problem=pages.ENDLESS)


def test_bodies_seen_before_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered is the same as what would be read, and it is bounded."""
    seen = PagesSeen()
    first = seen.content_of(Body.of([b"<p>one"]), "text/html")
    assert seen.content_of(Body.of([b"<p>one"]), "text/html") is first
    assert seen.content_of(Body.of([b"<p>one"]), "text/plain") is not first
    monkeypatch.setattr("undust.reading.page.MOST_SEEN_BYTES", 3000)
    for number in range(5):
        seen.content_of(Body.of([b"%d" % number]), "text/html")
    assert seen.content_of(Body.of([b"<p>one"]), "text/html") is not first
    assert seen.content_of(Body.of([b"<p>one"]), "text/html") == first


def test_payloads_are_remembered_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first."""
    monkeypatch.setattr("undust.reading.page.MOST_PAYLOADS", 2)
    seen = PagesSeen()
    for name in ("a", "b", "c"):
        seen.remember(name, Content(size=len(name), digest=name))
    assert seen.payload("a") is None
    assert seen.payload("c") == (1, "c")
