"""One URL in its pieces, as written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from undust.urls import Url


def parsed(text: str) -> Url:
    """Return the URL that the text must be."""
    url = Url.parse(text)
    assert url is not None
    return url


def test_all_pieces() -> None:
    """Each piece of a URL has its place."""
    assert parsed("https://user:pass@Example.com:1234/foo/bar?baz#quux") == Url(
        before="",
        scheme="https",
        separator="://",
        userinfo="user:pass",
        host="Example.com",
        port="1234",
        path="/foo/bar",
        query="baz",
        fragment="quux",
        after="",
    )


def test_absent_is_not_empty() -> None:
    """A piece that is absent is None, one that is empty is the empty string."""
    bare, hollow = parsed("http://h"), parsed("http://@h:/?#")
    assert (bare.userinfo, bare.port, bare.path, bare.query, bare.fragment) == (None, None, "", None, None)
    assert (hollow.userinfo, hollow.port, hollow.path, hollow.query, hollow.fragment) == ("", "", "/", "", "")


TOLERATED = [
    (" \t http://h/ \n", "before", " \t "),
    (" \t http://h/ \n", "after", " \n"),
    ("HtTpS://h/", "scheme", "HtTpS"),
    ("ht\ttp://h/", "scheme", "ht\ttp"),
    ("http\t:/\n/h/", "separator", "\t:/\n/"),
    ("http:h/", "separator", ":"),
    ("http:\\\\/h/", "separator", ":\\\\/"),
    ("http://a@b@h/", "userinfo", "a@b"),
    ("http://a\tb/", "host", "a\tb"),
    ("http://BÜCHER.example/", "host", "BÜCHER.example"),
    ("http://[::1]:80/", "host", "[::1]"),
    ("http://[::1]:80/", "port", "80"),
    ("http://u:[@h:8\t0/", "port", "8\t0"),
    ("http://h\\a\\b?c", "path", "\\a\\b"),
    ("http://h/a?b?c#d?e#f", "query", "b?c"),
    ("http://h/a?b?c#d?e#f", "fragment", "d?e#f"),
    ("http://h#a/b?c", "fragment", "a/b?c"),
    ("http://h?a/b@c:d", "query", "a/b@c:d"),
    ("http://h/a@b:c", "path", "/a@b:c"),
    ("http://h/a b ", "path", "/a b"),
]


@pytest.mark.parametrize(("text", "piece", "expected"), TOLERATED)
def test_tolerance(text: str, piece: str, expected: str) -> None:
    """What a browser forgives is kept as written, in the piece where it stands."""
    url = parsed(text)
    assert getattr(url, piece) == expected
    assert str(url) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "h",
        "//h/",
        "ftp://h/",
        "http:",
        "http://",
        "http://a b/",
        "http://h:x/",
        "http://[::1/",
        "http://\ud800/",
    ],
)
def test_no_url(text: str) -> None:
    """What no browser would take for an http(s) URL is None, never an error."""
    assert Url.parse(text) is None


def test_segments() -> None:
    """Empty segments count, and a backslash separates like a slash."""
    assert parsed("http://h").segments == ()
    assert parsed("http://h/").segments == ("",)
    assert parsed("http://h/a//b/").segments == ("a", "", "b", "")
    assert parsed("http://h/a\\b").segments == ("a", "b")
    assert parsed("http://h/a%2Fb;c").segments == ("a%2Fb;c",)


def test_pairs() -> None:
    """Query pairs keep their order; a name without `=` is not one with an empty value."""
    assert parsed("http://h/").pairs() == ()
    assert parsed("http://h/?").pairs() == (("", None),)
    assert parsed("http://h/?a&a=&a=1=2&&=b&c;d").pairs() == (
        *(("a", None), ("a", ""), ("a", "1=2")),
        *(("", None), ("", "b"), ("c;d", None)),
    )


def test_pairs_with_semicolons_where_asked() -> None:
    """`;` separates pairs only for those who ask."""
    url = parsed("http://h/?a=1;b&c=2;")
    assert url.pairs("&;") == (("a", "1"), ("b", None), ("c", "2"), ("", None))
    assert url.pairs() == (("a", "1;b"), ("c", "2;"))


def test_a_changed_piece_prints() -> None:
    """A URL with a piece replaced prints with the new piece, the rest as it was."""
    url = replace(parsed("HTTP://h:80/a?b#c"), path="/x", query=None, port=None)
    assert str(url) == "HTTP://h/x#c"
