"""Keys of web archives: what pywb's own function gives for the same URLs."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.strategies import hostile_urls, urls
from undust.urls import site_of
from undust.urls.url import normalize, surt_of

SESSION = "0123456789abcdef0123456789abcdef"
KEYS = (
    ("http://www.Example.com/", "com,example)/"),
    ("http://www2.example.com:8080/A//b/../C/", "com,example:8080)/a/c"),
    ("https://a.test:443/x?b=2&a=1&A=0&b=1", "test,a)/x?a=0&a=1&b=1&b=2"),
    ("http://a.test:443/", "test,a:443)/"),
    ("http://a.test/x?", "test,a)/x"),
    ("http://a.test", "test,a)/"),
    ("http://192.168.1.1:81/x/", "1,1,168,192:81)/x"),
    ("http://[::1]/x", "::1)/x"),
    ("http://u:p@a.test/x", "test,a)/x"),
    (
        "http://a.test/%7Euser/%2525/%20x/%C3%A9%2F?q=%26&r=a+b%20c&s=%C3%A9&t=%25",
        "test,a)/~user/%25/%20x/%c3%a9?&q=&r=a+b%20c&s=%c3%a9&t=%25",
    ),
    (f"http://a.test/a?jsessionid={SESSION}&x=1", "test,a)/a?x=1"),
    (f"http://a.test/a?sid={SESSION}", "test,a)/a"),
    (f"http://a.test/a?x=1&sid={SESSION}", "test,a)/a?&x=1"),
    ("http://a.test/a?sid=9", "test,a)/a?sid=9"),
    ("http://a.test/a?&&x=1&", "test,a)/a?&&&x=1"),
    ("http://a.test/a?x=&a=", "test,a)/a?a=&x="),
    ("http://xn--bcher-kva.test/a#f", "test,xn--bcher-kva)/a"),
    ("http://a.test/(S(0123456789abcdef01234567))/x.aspx?y", "test,a)/x.aspx?y"),
    ("http://a.test/x?cfid=1&cftoken=2&z=3", "test,a)/x?z=3"),
    ("http://www.com/", "com)/"),
    ("http://w.www.a.test/", "test,a,www,w)/"),
    ("http://a.test./x", "test,a)/x"),
    ("http://a.test/x?a-b=1&a=2&a_b=3&aB=4", "test,a)/x?a=2&a-b=1&a_b=3&ab=4"),
    ("http://a.test/a?u=http://b.test/c//d/../e", "test,a)/a?u=http://b.test/c//d/../e"),
    ("dns:a.test", "dns:a.test"),
)


@pytest.mark.parametrize(("url", "key"), KEYS)
def test_keys(url: str, key: str) -> None:
    """A URL as it was written, and in standard form, has the key by which archives find it."""
    assert surt_of(url) == key
    assert surt_of(normalize(url)) == key


@given(urls() | hostile_urls())
def test_a_key_has_no_space(url: str) -> None:
    """A key is one word of ASCII in lower case, or else it would break the line that it starts."""
    normal = normalize(url)
    if site_of(normal) is not None:
        key = surt_of(normal)
        assert key.isascii()
        assert key == key.lower()
        assert not any(character.isspace() for character in key)
