"""What rule lists of other systems become: the rules they say, and what is told instead of guessed."""

from __future__ import annotations

import importlib
import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import duplicate_url_discarder_rules
import pytest
from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer

from undust import RuleSet, import_rules
from undust.errors import RuleError
from undust.exchange.imports import IMPORTERS, imported

if TYPE_CHECKING:
    from pathlib import Path

DROP = "rewrite {{s}}://{{h}}/{{p**}}?{{**:{}}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"


def said(rules: RuleSet) -> list[tuple[str, str]]:
    """Site and text of each rule."""
    return [(rule.site, str(rule)) for rule in rules]


def entry(processor: str, *include: str, args: list[Any] | None = None) -> dict[str, Any]:
    """One rule of duplicate-url-discarder."""
    return {"processor": processor, "args": args or [], "order": 0, "urlPattern": {"include": list(include)}}


def test_processors_become_rules() -> None:
    """Names to drop and names to keep, of sites and of all; universal rules except sites with their own."""
    entries = [
        entry("queryRemoval", "shop.test", "blog.test", args=["sid", "a|b"]),
        entry("queryRemovalExcept", "wiki.test", args=["id"]),
        entry("queryRemovalExcept", "news.test"),
        entry("queryRemoval", "", args=["utm_source"]),
    ]
    found = imported(json.dumps(entries), "duplicate-url-discarder")
    assert found.skipped == ()
    assert said(found.rules)[:2] == [
        ("shop.test", DROP.format("sid|a%7Cb")),
        ("blog.test", DROP.format("sid|a%7Cb")),
    ]
    assert found.rules[2].source == "{s}://{h}/{p**}?{k**:id}&{**}"
    assert found.rules[3].source == "{s}://{h}/{p**}?{**}"
    assert found.rules[4].except_sites == ("shop.test", "blog.test", "wiki.test", "news.test")
    canonical = found.rules.compile()
    assert (
        canonical("http://www.shop.test/a?sid=1&a%7Cb=2&utm_source=3")
        == "http://www.shop.test/a?utm_source=3"
    )
    assert canonical("http://wiki.test/?x=1&id=2&utm_source=3") == "http://wiki.test/?id=2"
    assert canonical("http://else.test/?x=1&utm_source=3") == "http://else.test/?x=1"


def test_the_normalizer_becomes_rules() -> None:
    """`www.` and trailing slashes go, as there."""
    found = imported(json.dumps([entry("normalizer", "")]), "duplicate-url-discarder")
    canonical = found.rules.compile()
    assert canonical("http://www.shop.test/a//?b=1") == "http://shop.test/a?b=1"
    assert canonical("http://www2.shop.test/") == "http://shop.test/"


def test_processors_that_no_rule_says_are_told() -> None:
    """Patterns with a query, segments by number alone, exclusions, odd arguments: each with its reason."""
    entries = [
        entry("queryRemoval", "shop.test/path?x=1", args=["x"]),
        entry("subpathRemoval", "shop.test", args=[0]),
        entry("unknown", "shop.test"),
        entry("queryRemoval", "shop.test", args=["", "b"]),
        {
            "processor": "queryRemoval",
            "args": ["x"],
            "urlPattern": {"include": ["a.test"], "exclude": ["a.test/b"]},
        },
        {"processor": "queryRemoval", "args": ["x"]},
        entry("queryRemoval", "", args=["ref"]),
    ]
    found = imported(json.dumps(entries), "duplicate-url-discarder", name="main.json")
    assert [skipped.place for skipped in found.skipped] == [
        f"main.json: rule {n}" for n in (1, 2, 3, 4, 5, 6)
    ]
    # The site has rules there, though none that we can say, and they switch the universal ones off.
    assert found.rules[0].except_sites == ("shop.test", "a.test")


@pytest.mark.parametrize(
    ("processor", "args", "pattern", "source", "expected"),
    [
        ("queryRemoval", ["l"], "a.shop.test", "http://a.shop.test/x?l=1&b=2", "http://a.shop.test/x?b=2"),
        ("queryRemoval", ["l"], "a.shop.test", "http://z.a.shop.test/?l=1", "http://z.a.shop.test/"),
        ("queryRemoval", ["l"], "a.shop.test", "http://b.shop.test/?l=1", "http://b.shop.test/?l=1"),
        (
            "queryRemovalExcept",
            [],
            "shop.test/dp",
            "http://www.shop.test/dp/7?x=1",
            "http://www.shop.test/dp/7",
        ),
        ("queryRemovalExcept", [], "shop.test/dp", "http://shop.test/dpx?x=1", "http://shop.test/dpx"),
        ("queryRemovalExcept", [], "shop.test/dp", "http://m.shop.test/dp?x", "http://m.shop.test/dp?x"),
        (
            "queryRemovalExcept",
            ["k"],
            "shop.test/*/dp",
            "http://shop.test/a/dp/7?k&x",
            "http://shop.test/a/dp/7?k",
        ),
        ("subpathRemoval", [0], "shop.test/*/dp", "http://shop.test/a-b/dp/7?x", "http://shop.test/dp/7?x"),
        ("subpathRemoval", [0], "shop.test/*/dp", "http://shop.test/dp/7", "http://shop.test/dp/7"),
        ("subpathRemoval", [1], "shop.test/en/*/x", "http://shop.test/en/a/x/7", "http://shop.test/en/x/7"),
        # What a rule would match twice, and the processor changes once, is left alone.
        ("subpathRemoval", [0], "shop.test/*/dp", "http://shop.test/a/dp/dp/7", "http://shop.test/a/dp/dp/7"),
    ],
)
def test_hosts_and_paths_of_patterns(
    processor: str, args: list[Any], pattern: str, source: str, expected: str
) -> None:
    """A host below its site, the beginning of a path, and a segment by its number where it is known."""
    found = imported(json.dumps([entry(processor, pattern, args=args)]), "duplicate-url-discarder")
    assert found.skipped == ()
    assert len(found.narrowed) == ("/" in pattern)
    assert found.rules.compile()(source) == expected


def published() -> list[str]:
    """The files of the published rules."""
    return [str(path) for path in duplicate_url_discarder_rules.RULE_PATHS or []]


def test_published_rules_are_imported() -> None:
    """All but one, whose parameter has no name; each has a reason that counts it."""
    found = [import_rules(path, "duplicate-url-discarder") for path in published()]
    skipped = [each for one in found for each in one.skipped]
    assert [each.reason for each in skipped] == ["no list of names can hold ''"]
    assert sum(len(one.narrowed) for one in found) == 60
    sites = {rule.site for one in found for rule in one.rules}
    assert {"mango.com", "amazon.com", "amazon.co.uk"} <= sites


def test_imported_rules_do_what_the_package_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """On URLs of shops that its patterns with paths are for, outside what is narrowed."""
    extraction = importlib.import_module("tldextract.tldextract")
    # Its own copy of the suffix list; without this it would ask the network first.
    own_list = extraction.TLDExtract(suffix_list_urls=(), cache_dir=None)
    monkeypatch.setattr(extraction, "TLD_EXTRACTOR", own_list)
    titles, ids = ("", "/Some-Title", "/a"), ("B01", "B02/ref=sr_1", "")
    urls = [
        f"https://{host}{title}/{word}/{number}{query}"
        for host in ("amazon.de", "www.amazon.co.uk", "m.amazon.de", "shop.mango.com", "a.shop.mango.com")
        for title in titles
        for word in ("dp", "gp", "dpx")
        for number in ids
        for query in ("", "?l=1&x=2", "?ref=1")
    ]
    for path in published()[1:2] + published()[4:]:
        ours, theirs = import_rules(path, "duplicate-url-discarder").rules.compile(), UrlCanonicalizer([path])
        is_narrow = "subpath" in path  # a segment that only begins so
        for url in urls:
            if not (is_narrow and "dpx" in url):
                assert ours(url) == theirs.process_url(url), path


def provider(pattern: str, *rules: str, **more: object) -> dict[str, Any]:
    """One provider of ClearURLs' shape."""
    return {"urlPattern": pattern, "rules": list(rules), **more}


def test_providers_become_rules() -> None:
    """A plain site or all URLs, plain names and beginnings of names."""
    providers = {
        "shop": provider(r"^https?:\/\/(?:[a-z0-9-]+\.)*?shop\.test", "sid", "utm_.*", r"a\.b"),
        "global": provider(".*", "ref", exceptions=[r"^https?:\/\/(?:[a-z0-9-]+\.)*?wiki\.test"]),
    }
    found = imported(json.dumps({"providers": providers}), "clearurls")
    assert said(found.rules) == [("shop.test", DROP.format("sid|utm_*|a.b")), ("*", DROP.format("ref"))]
    assert found.rules[1].except_sites == ("wiki.test",)
    assert found.skipped == ()


def test_providers_that_no_rule_says_are_told() -> None:
    """Expressions are not guessed at, and without its exceptions a provider would say too much."""
    providers = {
        "many": provider(r"^https?:\/\/(?:[a-z0-9-]+\.)*?shop(?:\.[a-z]{2,}){1,}", "sid"),
        "names": provider(r"^https?:\/\/(?:[a-z0-9-]+\.)*?shop\.test", "(?:%3F)?utm(?:_[a-z_]*)?", "ok"),
        "excepted": provider(".*", "ref", exceptions=[r"^https?:\/\/[^?]*\/api"]),
        "raw": provider(
            r"^https?:\/\/(?:[a-z0-9-]+\.)*?blog\.test", rawRules=[r"\/ref=[^/?]*"], redirections=["x"]
        ),
        "broken": 7,
    }
    found = imported(json.dumps({"providers": providers}), "clearurls")
    assert said(found.rules) == [("shop.test", DROP.format("ok"))]
    told = "\n".join(map(str, found.skipped))
    for word in ("'many'", "'names'", "'excepted'", "rawRules", "redirections", "'broken'"):
        assert word in told


def test_clean_param_lines_become_rules() -> None:
    """Names for all paths, or for paths that begin so, whatever follows."""
    text = "Clean-param: a&b\nclean-param: s /forum/show # why\nClean-param: t /dir/\nDisallow: /x\n"
    found = imported(text, "clean-param", site="shop.test")
    assert found.skipped == ()
    canonical = found.rules.compile()
    assert canonical("http://www.shop.test/x?a=1&c=2&b") == "http://www.shop.test/x?c=2"
    for path in (
        "/forum/show",
        "/forum/shows",
        "/forum/show.php",
        "/forum/show/more",
        "/forum/showing/more/",
    ):
        assert canonical(f"http://shop.test{path}?s=1&c=2") == f"http://shop.test{path}?c=2"
    for path in ("/forum/sho", "/forum", "/other/forum/show"):
        assert canonical(f"http://shop.test{path}?s=1&c=2") == f"http://shop.test{path}?s=1&c=2"
    for path in ("/dir/", "/dir/a", "/dir//", "/dir/a/b"):
        assert canonical(f"http://shop.test{path}?t=1") == f"http://shop.test{path}"
    assert canonical("http://shop.test/dir?t=1") == "http://shop.test/dir?t=1"


def test_filters_become_rules() -> None:
    """Names and beginnings of names, for a site or all; other filters are told if they remove parameters."""
    text = "! removeparam\n||shop.test^$removeparam=sid\n||shop.test^$removeparam=/^utm_/\n$removeparam=ref\n"
    text += "||ads.test^\n||shop.test/path$removeparam=x\n||www.shop.test^$removeparam=y\n"
    text += "@@||a.test^$removeparam=z\n"
    found = imported(text, "removeparam", name="list.txt")
    assert said(found.rules) == [("shop.test", DROP.format("sid|utm_*")), ("*", DROP.format("ref"))]
    assert [skipped.place for skipped in found.skipped] == [f"list.txt:{line}" for line in (6, 7, 8)]


def test_headers_become_rules() -> None:
    """Parameters that do not matter, or all but some."""
    read = {
        'No-Vary-Search: params=("a" "b")': [("shop.test", DROP.format("a|b"))],
        "params": [("shop.test", "rewrite {s}://{h}/{p**}?{**} → {s}://{h}/{p}")],
        'params, except=("id")': [("shop.test", "rewrite {s}://{h}/{p**}?{k**:id}&{**} → {s}://{h}/{p}?{k}")],
        'except=("id")': [("shop.test", "rewrite {s}://{h}/{p**}?{k**:id}&{**} → {s}://{h}/{p}?{k}")],
        'except=("a" "b"), params': [
            ("shop.test", "rewrite {s}://{h}/{p**}?{k**:a|b}&{**} → {s}://{h}/{p}?{k}")
        ],
        'params=?1, except=("id")': [
            ("shop.test", "rewrite {s}://{h}/{p**}?{k**:id}&{**} → {s}://{h}/{p}?{k}")
        ],
        "except=()": [("shop.test", "rewrite {s}://{h}/{p**}?{**} → {s}://{h}/{p}")],
        r'params=("a\"b")': [("shop.test", DROP.format("a%22b"))],
        "key-order": [],
        "params=?0": [],
        "params=()": [],
        "except": [],
        "except=?1": [],
        'params=("a"), except=("b")': [],
        'params=?0, except=("b")': [],
        "nonsense=(": [],
    }
    for header, rules in read.items():
        found = imported(header, "no-vary-search", site="shop.test")
        assert said(found.rules) == rules, header
        # Nothing is imported as nothing without a word.
        assert bool(found.skipped) is not bool(rules), header


NO_RULES = {"duplicate-url-discarder": ("[]",)}
"""Texts without rules that are what they should be."""


@pytest.mark.parametrize("source", [source.name for source in IMPORTERS])
@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", "[1]", '{"providers": 7}', "\x00", "Clean-param: ;\n"]
)
def test_strange_files_end_in_a_sentence(source: str, text: str) -> None:
    """Whatever the text: rules, things told, or one error that names the file."""
    is_refused = source in {"duplicate-url-discarder", "clearurls"} and text not in NO_RULES.get(source, ())
    with pytest.raises(RuleError, match="strange") if is_refused else nullcontext():
        assert list(imported(text, source, site="shop.test", name="strange").rules) == []


def test_a_format_that_is_unknown_is_named(tmp_path: Path) -> None:
    """The error lists what there is."""
    path = tmp_path / "x"
    path.write_text("")
    with pytest.raises(RuleError, match="clearurls"):
        import_rules(path, "iis")
