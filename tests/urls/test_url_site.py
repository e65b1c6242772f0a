"""The site of a URL, beside another reader of the public suffix list."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from publicsuffixlist import PublicSuffixList

from undust.urls import normalize, site_of, suffix_list
from undust.urls.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.shop.com", "shop.com"),
        ("shop.com", "shop.com"),
        ("com", "com"),
        ("a.b.shop.co.uk", "shop.co.uk"),
        ("co.uk", "co.uk"),
        ("WWW.Shop.CO.UK", "shop.co.uk"),
        # private suffixes
        ("alice.github.io", "alice.github.io"),
        ("www.alice.github.io", "alice.github.io"),
        ("github.io", "github.io"),
        ("a.b.blogspot.com", "b.blogspot.com"),
        # wildcards and their exceptions
        ("a.b.c.ck", "b.c.ck"),
        ("c.ck", "c.ck"),
        ("ck", "ck"),
        ("www.ck", "www.ck"),
        ("a.www.ck", "www.ck"),
        ("a.b.kawasaki.jp", "a.b.kawasaki.jp"),
        ("kawasaki.jp", "kawasaki.jp"),
        ("x.city.kawasaki.jp", "city.kawasaki.jp"),
        ("www.aa.crm.dev", "www.aa.crm.dev"),
        ("aa.crm.dev", "aa.crm.dev"),
        ("ag.crm.dev", "crm.dev"),
        # names outside the list: the last label is the suffix
        ("a.b.unlisted", "b.unlisted"),
        ("unlisted", "unlisted"),
        ("localhost", "localhost"),
        # IDN, in letters and in punycode
        ("www.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("a.b.中国", "b.xn--fiqs8s"),
        # addresses
        ("192.0.2.1", "192.0.2.1"),
        ("0xC0.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        # one trailing dot does not count
        ("www.shop.com.", "shop.com"),
        ("co.uk.", "co.uk"),
        ("localhost.", "localhost"),
        # names that DNS would refuse are their own
        ("a..shop.com", "a..shop.com"),
        ("a..shop.com.", "a..shop.com"),
        (".shop.com", ".shop.com"),
        ("www.shop.com..", "www.shop.com.."),
        (".", "."),
        ("..", ".."),
    ],
)
def test_examples(host: str, site: str) -> None:
    """The site is one label more than the suffix; a host without that label is its own site."""
    for before, after in (("http://", "/"), ("https://user@", ":81/a?b#c")):
        assert site_of(f"{before}{host}{after}") == site
    assert site_of(f"http://{site}/") == site


@pytest.mark.parametrize("text", ["", "x", "ftp://shop.com/", "http://a b/", "http://\ud800/"])
def test_no_url_has_no_site(text: str) -> None:
    """What is no http(s) URL has no site."""
    assert site_of(text) is None


def hosts_around_the_list(dice: random.Random) -> Iterator[str]:
    """Return hosts at, above and below rules of the list, with made-up labels among them."""
    rules = [
        line.split()[0] for line in suffix_list().decode().splitlines() if line and not line.startswith("//")
    ]
    special = [rule for rule in rules if rule.startswith(("*", "!")) or not rule.isascii()]
    for rule in [*dice.sample(rules, 4000), *special]:
        labels = rule.removeprefix("!").split(".")
        if labels[0] == "*":
            labels[0] = dice.choice(("any", "www", labels[1]))
        yield ".".join(labels)
        yield ".".join(labels[1:]) or "single"
        yield ".".join(["one", *labels])
        yield ".".join(["two", dice.choice(("one", labels[0])), *labels])
        yield ".".join([*labels, "one"])


def test_agrees_with_another_reader() -> None:
    """On hosts around each kind of rule, publicsuffixlist finds the same site."""
    other = PublicSuffixList()
    hosts = sorted(set(hosts_around_the_list(random.Random(1))))
    urls = normalize(pa.array([f"http://{host}/" for host in hosts]))
    names = [url.host for text in urls.to_pylist() if (url := Url.parse(text))]
    assert len(names) == len(hosts) > 15_000
    differences = {
        name: (site, expected)
        for name, site in zip(names, site_of(urls).to_pylist(), strict=True)
        if site != (expected := other.privatesuffix(name) or name)
    }
    assert differences == {}


def test_columns() -> None:
    """A column of URLs has a column of sites; nulls and what is no URL have none."""
    urls = ["http://www.shop.com/", None, "x", "http://192.0.2.1/", ""]
    expected = ["shop.com", None, None, "192.0.2.1", None]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        column = pa.array(urls, kind)
        assert site_of(column).to_pylist() == expected
        assert site_of(column[1:4]).to_pylist() == expected[1:4]
        assert site_of(pa.chunked_array([column[:2], column[2:]])).to_pylist() == expected
    assert site_of(urls).to_pylist() == expected


def test_hostile_hosts() -> None:
    """A host of a million labels is looked at from its end only."""
    assert site_of(f"http://{'a.' * 1_000_000}shop.co.uk/") == "shop.co.uk"
