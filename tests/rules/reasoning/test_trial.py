"""URLs made from rules: each matches its rule, and one place at a time holds all that could matter there."""

from __future__ import annotations

import pytest

from undust.rules import Rule, RuleSet
from undust.rules.reasoning.trial import SAMPLE_SITE, urls_of

SITE = "shop.test"


def acts(rule: Rule, url: str) -> bool:
    """Whether the core says that a rule changes a URL."""
    return RuleSet([rule]).compile().program.step(url)[0] is not None


@pytest.mark.parametrize(
    ("source", "made"),
    [
        (
            "{s}://{h}/a/{x:alpha}?{**:sid|utm_*}&{r**}",
            [
                "http://shop.test/a/Zq?sid=7&Zq=7",
                "https://shop.test/a/Zq?sid=7&Zq=7",
                "http://www.shop.test/a/Zq?sid=7&Zq=7",
                "http://shop.test/a/Zq?utm_zq=7&Zq=7",
                "http://shop.test/a/Zq?sid=7&utm_zq=7&Zq=7",
                "http://shop.test/a/Zq?sid=7",
                "http://shop.test/a/Zq?sid=7&zr=8&Zq=7",
                "http://shop.test/a/Zq?sid=7&zr&zr=8&zr=8",
                "http://shop.test/a/Zq?sid=7&zq=7;zr=8",
                "http://shop.test/a/Zq?sid=7&zq=7%2F8",
            ],
        ),
        (
            "{s}://{*:us|de}.shop.test/{p**}",
            [
                "http://us.shop.test/Zq7",
                "https://us.shop.test/Zq7",
                "http://de.shop.test/Zq7",
                "http://us.shop.test",
                "http://us.shop.test/Zq7/zr",
                "http://us.shop.test/",
                "http://us.shop.test/zq%3A7",
            ],
        ),
        (
            "http://{a**}.shop.test:81/x-{n:date}?q={v}&k",
            [
                "http://zq.shop.test:81/x-2031-07-29?q=Zq7&k",
                "http://zq.zr.shop.test:81/x-2031-07-29?q=Zq7&k",
                "http://zq.shop.test:81/x-2031-07-29?q=zq.7&k",
            ],
        ),
        (
            "{s}://{h:shop.test|www.shop.test}/{f}.html?x={**}&n={n:hex}",
            [
                "http://shop.test/Zq7.html?x=Zq7&n=7fe3",
                "https://shop.test/Zq7.html?x=Zq7&n=7fe3",
                "http://www.shop.test/Zq7.html?x=Zq7&n=7fe3",
                "http://shop.test/zq.7.html?x=Zq7&n=7fe3",
                "http://shop.test/Zq7.html?x=&n=7fe3",
                "http://shop.test/Zq7.html?x&n=7fe3",
                "http://shop.test/Zq7.html?x=Zq7&n=ABCD",
            ],
        ),
        ("{s}://shop.test/a", ["http://shop.test/a", "https://shop.test/a"]),
    ],
)
def test_every_choice_once(source: str, made: list[str]) -> None:
    """Schemes, hosts, items of lists, nothing, several, with and without a value; and all of them match."""
    rule = Rule(SITE, "rewrite", source, "http://shop.test/never")
    assert urls_of(rule) == made
    assert all(acts(rule, url) for url in made)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("old", "new"),
        ("/old/", "/new/"),
        ("/index.html$", "/$"),
        ("^http://www.", "^http://"),
        ("^http://", "^https://"),
        ("://www.", "://"),
        ("shop.test/", "shop.test/x/"),
        ("?id=", "/"),
        ("&x=", "&y="),
        ("&x=1$", "$"),
        (".html?", "?"),
        ("$", "/$"),
        ("/a//", "/a/"),
        ("www.shop.test:81", "shop.test"),
    ],
)
def test_a_text_is_tried_wherever_it_can_stand(source: str, target: str) -> None:
    """In scheme, host, path or query, at the start, inside and at the end: somewhere it acts."""
    assert any(acts(rule, url) for rule in [Rule(SITE, "replace", source, target)] for url in urls_of(rule))


def test_a_rule_of_all_sites_is_tried_on_one() -> None:
    """It has no host of its own."""
    rule = Rule.parse("rewrite {s}://{h}/a -> {s}://{h}/b", site="*")
    assert urls_of(rule)[0] == f"http://{SAMPLE_SITE}/a"
    assert acts(rule, urls_of(rule)[0])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # One inside the other, and the end of one at the start of the other, as far as they agree.
        (("replace", "old"), ("replace", "/a/old"), "/a/old"),
        (("replace", "/a.b.c"), ("replace", "b.c/d"), "/a.b.c/d"),
        (("replace", "b.c/d"), ("replace", "/a.b.c"), "/a.b.c/d"),
        (("replace", "x.c"), ("replace", "c/d"), "x.c/d"),
        # What both patterns ask for.
        (("rewrite", "{s}://{h}/{x}/b"), ("rewrite", "{s}://{h}/a/{y}"), "http://shop.test/a/b"),
        (("rewrite", "{s}://{h}/a?{r**}"), ("keep", "{s}://{h}/{p**}?do=edit"), "http://shop.test/a?do=edit"),
    ],
)
def test_urls_for_two_rules(first: tuple[str, str], second: tuple[str, str], expected: str) -> None:
    """Both might act on them, so it shows which comes first."""
    rules = []
    for kind, source in (first, second):
        target = {"replace": "zzz", "rewrite": "http://shop.test/never", "keep": None}[kind]
        rules.append(Rule(SITE, kind, source, target))  # type: ignore[arg-type]
    own = set(urls_of(rules[0]))
    shared = [url for url in urls_of(rules[0], rules[1:]) if url not in own]
    assert any(expected in url for url in shared)
