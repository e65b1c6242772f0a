"""One response to evidence, and what a job remembers of the pages it has seen."""

from __future__ import annotations

import hashlib
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.reading import page as pages
from undust.reading.page import (
    CONTRADICTING,
    NO_TARGET,
    OUTSIDE_HEAD,
    Body,
    Canonical,
    Content,
    PagesSeen,
    _joined,
    canonical_hrefs,
    canonical_of,
    clean_param_lines,
    content_of,
    immediate_target,
    is_html,
    own_language,
    page_of,
    refresh_of,
    text_digest,
)
from undust.reading.text import read_html
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


URL = "https://shop.test/dir/page?x=1"
NONE = Canonical()

CANONICALS = {
    "<link rel=canonical href=https://shop.test/a>": Canonical("https://shop.test/a"),
    "<LINK HREF='/b?x=1&amp;y=2' REL='CANONICAL'>": Canonical("https://shop.test/b?x=1&y=2"),
    "<link rel='alternate canonical' href=c>": Canonical("https://shop.test/dir/c"),
    "<link rel=canonical href=' //other.test/d\n '>": Canonical("https://other.test/d"),
    "<link rel=canonical href=/e#part>": Canonical("https://shop.test/e"),
    "<link rel=canonical href=?y=2>": Canonical("https://shop.test/dir/page?y=2"),
    "<base href=/base/><link rel=canonical href=f>": Canonical("https://shop.test/base/f"),
    "<link rel=canonical href=g><base href=/base/>": Canonical("https://shop.test/base/g"),
    "<link rel=canonical href=/h><link rel=canonical href=HTTPS://SHOP.TEST:443/h>": Canonical(
        "https://shop.test/h"
    ),
    # Broken.
    "<link rel=canonical href=/a><link rel=canonical href=/b>": Canonical(problem=CONTRADICTING),
    "<p>text<link rel=canonical href=/a>": Canonical(problem=OUTSIDE_HEAD),
    "<link rel=canonical href=/a><p><link rel=canonical href=/b>": Canonical("https://shop.test/a"),
    "<link rel=canonical href=''>": Canonical(problem=NO_TARGET),
    "<link rel=canonical href=javascript:void(0)>": Canonical(problem=NO_TARGET),
    "<link rel=canonical href='http://['>": Canonical(problem=NO_TARGET),
    # None at all.
    "<link rel=canonical>": NONE,
    "<link rel=canonicals href=/a>": NONE,
    "<link rel=alternate href=/a>": NONE,
    "<!-- <link rel=canonical href=/a> -->": NONE,
    "<script>'<link rel=canonical href=/a>'</script>": NONE,
    "<noscript><link rel=canonical href=/a></noscript>": NONE,
    "<template><link rel=canonical href=/a></template>": NONE,
    "": NONE,
}


@pytest.mark.parametrize("head", CANONICALS)
def test_canonical_tag(head: str) -> None:
    """What the tag says, resolved, or why it is not used."""
    assert canonical_of(URL, read_html(head.encode()).tags) == CANONICALS[head]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["<https://shop.test/a>; rel=canonical"], Canonical("https://shop.test/a")),
        (['</a>; rel="canonical"'], Canonical("https://shop.test/a")),
        (['</n>; rel=next, </a>; title="x, y"; REL="alternate Canonical"'], Canonical("https://shop.test/a")),
        (["</a>; rel=canonical", "</b>; rel=canonical"], Canonical(problem=CONTRADICTING)),
        (["</style.css>; rel=preload; as=style"], NONE),
        (["nonsense <;>,,"], NONE),
        ([], NONE),
    ],
)
def test_canonical_header(headers: list[str], expected: Canonical) -> None:
    """A `Link` header counts like a tag; targets are relative to the page and not to its base."""
    assert canonical_of(URL, read_html(b"<base href=/base/>").tags, headers) == expected


def test_tag_and_header_must_agree() -> None:
    """Two that say the same are one; two that do not are none."""
    tags = read_html(b"<link rel=canonical href=/a>").tags
    assert canonical_of(URL, tags, ["</a>; rel=canonical"]) == Canonical("https://shop.test/a")
    assert canonical_of(URL, tags, ["</b>; rel=canonical"]) == Canonical(problem=CONTRADICTING)


def test_canonical_hrefs_of_one_header() -> None:
    """Commas and semicolons inside of targets and quotes separate nothing."""
    header = '<http://a.test/x,y;z>; rel="canonical"; title=";rel=x", <b>;rel=canonical'
    assert list(canonical_hrefs(header)) == ["http://a.test/x,y;z", "b"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/new", "/new"),
        ("0; URL='/new'", "/new"),
        ('0, url = "/new" x', "/new"),
        ("0 /new", "/new"),
        ("00.9;/new", "/new"),
        (";url=/new", "/new"),
        ("0;url=", None),
        ("0", None),
        ("", None),
        ("1;url=/new", None),
        ("10; url=/new", None),
        ("soon; url=/new", None),
    ],
)
def test_refresh_counts_when_it_is_immediate(content: str, target: str | None) -> None:
    """Nobody waits: a refresh of less than a second is a redirect."""
    assert immediate_target(content) == target


def test_refresh_of_a_page() -> None:
    """Tag or header, resolved like any link."""
    tags = read_html(b"<base href=/b/><meta http-equiv=Refresh content='0;url=next#top'>").tags
    assert refresh_of(URL, tags) == "https://shop.test/b/next"
    assert refresh_of(URL, (), ["0; url=/there"]) == "https://shop.test/there"
    assert refresh_of(URL, (), ["5; url=/there"]) is None
    assert refresh_of(URL, read_html(b"<meta name=refresh content='0;url=/x'>").tags) is None


def test_clean_param_lines() -> None:
    """The lines that matter of a robots.txt, wherever they stand, comments of no interest."""
    robots = (
        "\ufeffClean-param: first\nUser-agent: *\r\nDisallow: /x\r\n  clean-PARAM : sid&ref /forum/\r\n"
        "# Clean-param: no\nUser-agent: Yandex\nClean-param: utm_source"
    )
    assert clean_param_lines(robots).splitlines() == [
        "Clean-param: first",
        "clean-PARAM : sid&ref /forum/",
        "Clean-param: utm_source",
    ]
    assert clean_param_lines("User-agent: *\nDisallow:\n") == ""


def test_a_page_lists_itself_among_its_translations() -> None:
    """The language of its own address counts, and nothing where none or several are its own."""
    head = (
        "<link rel=alternate hreflang=de href='?hl=de'><link rel=alternate hreflang=EN href='?hl=en'>"
        "<link rel=alternate hreflang=x-default href='?hl=en'>"
    )
    tags = read_html(head.encode()).tags
    assert own_language("http://shop.test/p?hl=en", tags) == "en"
    assert own_language("http://shop.test/p?hl=fr", tags) is None
    assert own_language("http://shop.test/p?hl=en", ()) is None


_PIECES = (
    *("http://a.test", "https://b.test:81", "HTTP://A", "/", "//", ".", "..", "x", "%2e"),
    *("?", "q=1", "&", ";v", "#f", " ", ":"),
)


@given(
    base=st.sampled_from(
        ["http://a.test/", "https://a.test:8/x/y?z", "http://a.test", "HTTP://A.test/x", "ftp://a/b"]
    ),
    href=st.lists(st.sampled_from(_PIECES), max_size=7).map("".join),
)
def test_plain_targets_are_those_of_the_general_way(base: str, href: str) -> None:
    """Whatever form the target has, it is the one that RFC 3986 names."""
    try:
        expected = urljoin(base, href.strip())
    except ValueError:
        expected = None
    assert _joined(base, href) == expected
