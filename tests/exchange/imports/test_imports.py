"""What rule lists of other systems become: the rules they say, and what is told instead of guessed."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

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
    """Patterns with a path, segments by number, exclusions, strange arguments: each with its reason."""
    entries = [
        entry("queryRemoval", "shop.test/path", args=["x"]),
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
        "key-order": [],
        "params=?0": [],
        "nonsense=(": [],
    }
    for header, rules in read.items():
        assert said(imported(header, "no-vary-search", site="shop.test").rules) == rules, header
    assert imported("key-order", "no-vary-search", site="shop.test").skipped


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
