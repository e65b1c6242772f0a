"""Exports that only take parameters away: by the real thing, or by a model of its documentation."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exchange.exports import shop
from tests.exchange.exports.applied import by_duplicate_url_discarder
from tests.exchange.exports.test_linear_time import ATTEMPTS, MOST_GROWTH, SIZES, by_python, repeated
from undust import Rule, RuleSet, normalize
from undust.exchange.exports import export
from undust.exchange.imports import imported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

COUNT = 5000
DROP = "rewrite {{s}}://{{h}}/{{p**}}?{}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"
KEEP = "rewrite {{s}}://{{h}}/{{p**}}?{{k**:{}}}&{{**}} → {{s}}://{{h}}/{{p}}?{{k}}"
NAMES = ("sid", "ref", "lang", "id", "utm_source", "token", "a", "sid2")
SITES = ("shop.test", "other.test", "*")

REMOVALS = st.one_of(
    st.builds(
        lambda names: DROP.format(f"{{**:{'|'.join(names)}}}"),
        st.lists(st.sampled_from((*NAMES, "utm_*")), min_size=1, max_size=3, unique=True),
    ),
    st.sampled_from(NAMES).map(lambda name: DROP.format(f"{name}={{**}}")),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).map(
        lambda some: KEEP.format("|".join(some))
    ),
    st.just("rewrite {s}://{h}/{p**}?{**} → {s}://{h}/{p}"),
    st.sampled_from((*shop.ESSENTIAL.values(), *shop.REFUSED)),
)


KEEPS = st.sampled_from(
    [
        "keep {s}://{h}/cart/{p**}?{rest**}",
        "keep {s}://{h}/item?{rest**}",
        "keep {s}://{h}/old/{x}/{p**}?{rest**}",
        "keep {s}://{h}/{p**}?id={**}&{rest**}",
        "keep {s}://{h}/{p**}?id={x:int}&{rest**}",
        "keep {s}://{h}/{p**}?lang=en&a={**}&{rest**}",
        "keep {s}://{h}/{p**}?a={x}",
        "keep {s}://{h}/cart",
        "keep {s}://www.shop.test/{p**}?{rest**}",
        "keep {s}://{h}/{p**}?{rest**} when ?lang={*} unless /wiki/{**}",
    ]
)


@st.composite
def rule_sets(draw: st.DrawFn, others: st.SearchStrategy[str] = REMOVALS) -> RuleSet:
    """Rules of two sites and of all, most of which take parameters away, and at least one for each site."""
    first = Rule.parse(DROP.format("sid={**}"), site="*")
    rules = {first.id: first}
    for text in draw(st.lists(others, min_size=1, max_size=5)):
        site = draw(st.sampled_from(SITES))
        excepted = ("other.test",) if site == "*" and draw(st.booleans()) else ()
        rule = replace(Rule.parse(text, site=site), except_sites=excepted)
        rules[rule.id] = rule
    return RuleSet(rules.values())


def fitting(target: str, count: int, seed: int = 1) -> list[str]:
    """URLs for which a target says that it is exact."""
    odd = {
        "duplicate-url-discarder": r"//[^/]*(?::|\./)|[?&](?:&|$)|\?.*;",
        "clearurls": r"[?&](?:&|$)|\?.*;|[?&]SID",
        "removeparam": r"[?&](?:&|$)|\?.*;",
        "clean-param": r"[?&](?:&|$)|\?.*;|//(?!(?:[a-z]+\.)*shop\.test)",
        "no-vary-search": r"[?&](?:&|=|$)|\?.*[;+%]|[?&][^=]*(?:&|$)|//(?!(?:[a-z]+\.)*shop\.test)",
    }[target]
    return [url for url in shop.urls(4 * count, seed) if not re.search(odd, url)][:count]


def without(url: str, is_dropped: Callable[[str], object]) -> str:
    """A URL without the parameters whose name is dropped."""
    start, mark, query = url.partition("?")
    left = [each for each in query.split("&") if not is_dropped(each.partition("=")[0])] if mark else []
    return f"{start}?{'&'.join(left)}" if left else start


def by_clearurls(text: str, urls: Sequence[str], _: Path) -> list[str]:
    """Providers as documented: patterns of URLs and of names, both ignoring case, a name as a whole."""
    for provider in json.loads(text)["providers"].values():
        names = [re.compile(f"^{rule}$", re.IGNORECASE) for rule in provider["rules"]]
        is_own = re.compile(provider["urlPattern"], re.IGNORECASE).search
        is_other = [re.compile(each, re.IGNORECASE).search for each in provider["exceptions"]]
        urls = [
            without(url, lambda name, names=names: any(each.match(name) for each in names))  # type: ignore[misc]
            if is_own(url) and not any(each(url) for each in is_other)
            else url
            for url in urls
        ]
    return list(urls)


def by_removeparam(text: str, urls: Sequence[str], _: Path) -> list[str]:
    """Filters as documented: `||site^` is a host or one below it, a name is exact, an expression is found."""
    for line in text.splitlines():
        if line.startswith("!"):
            continue
        where, what = line.split("$removeparam=")
        site = where.removeprefix("||").removesuffix("^")
        is_dropped = re.compile(what.strip("/") if what.startswith("/") else f"{re.escape(what)}$").match
        own = re.compile(
            ".*" if where == "*" else rf"https?://(?:[^/:]*\.)?{re.escape(site)}(?:[:/?]|\./)"
        ).match
        urls = [without(url, is_dropped) if own(url) else url for url in urls]
    return list(urls)


def by_clean_param(text: str, urls: Sequence[str], _: Path) -> list[str]:
    """Lines as documented: names between `&`, for all paths."""
    lines = [line for line in text.splitlines() if line.startswith("Clean-param: ")]
    names = {name for line in lines for name in line.split()[1].split("&")}
    return [without(url, names.__contains__) for url in urls]


def by_no_vary_search(text: str, urls: Sequence[str], _: Path) -> list[str]:
    """A key for each URL: two are the same if path and parameters are, without those that do not matter."""
    names = set(re.findall(r'"([^"]*)"', text))
    keeps = not text or "params," in text or text.endswith("params\n")
    if not text:
        return list(urls)
    keys = []
    for url in urls:
        parts = urlsplit(url)
        pairs = [
            pair for pair in parse_qsl(parts.query, keep_blank_values=True) if (pair[0] in names) == keeps
        ]
        query = "&".join("=".join(pair) for pair in pairs)
        keys.append(f"{parts.scheme}://{parts.netloc}{parts.path}" + (f"?{query}" if query else ""))
    return keys


APPLIED = {
    "duplicate-url-discarder": by_duplicate_url_discarder,
    "clearurls": by_clearurls,
    "removeparam": by_removeparam,
    "clean-param": by_clean_param,
    "no-vary-search": by_no_vary_search,
}


def site_of_file(target: str) -> str | None:
    """The site of a file that holds the rules of one."""
    return shop.SITE if target in {"clean-param", "no-vary-search"} else None


def usual(target: str) -> RuleSet:
    """Rules that take parameters away, most of which the target can say, and others that none can."""
    texts = [("shop.test", DROP.format("{**:sid|ref|utm_source}")), ("*", DROP.format("token={**}"))]
    if target not in {"clean-param", "no-vary-search"}:
        texts += [("other.test", DROP.format("lang={**}")), ("shop.test", DROP.format("{**:utm_*}"))]
        texts += [("other.test", KEEP.format("a|b|sid"))]
    texts += [("shop.test", text) for text in (shop.ESSENTIAL["index page"], *shop.REFUSED)]
    return RuleSet(Rule.parse(text, site=site) for site, text in texts)


@pytest.mark.parametrize("target", APPLIED)
def test_answers_are_canonical(target: str, tmp_path: Path) -> None:
    """On thousands of URLs, each answer is the canonical form by the rules that were not refused."""
    exported = export(usual(target), target)
    assert 2 <= len(exported.rules) < len(usual(target))
    urls = fitting(target, COUNT)
    assert len(urls) == COUNT
    found = APPLIED[target](exported.text, urls, tmp_path)
    assert shop.differences(urls, found, RuleSet(exported.rules)) == []
    assert sum(one != other for one, other in zip(urls, found, strict=True)) > COUNT / 10


@pytest.mark.parametrize("target", APPLIED)
@settings(max_examples=60)
@given(rules=rule_sets(REMOVALS | KEEPS), seed=st.integers(0, 1000))
def test_any_rules_are_said_exactly_or_refused(
    target: str, tmp_path_factory: pytest.TempPathFactory, rules: RuleSet, seed: int
) -> None:
    """Whatever the rules: those that are exported do the same to every URL for which that is promised."""
    exported = export(rules, target, site=site_of_file(target))
    urls = fitting(target, 40, seed)
    found = APPLIED[target](exported.text, urls, tmp_path_factory.getbasetemp())
    assert shop.differences(urls, found, RuleSet(exported.rules)) == []


@pytest.mark.parametrize("target", APPLIED)
@settings(max_examples=30)
@given(rules=rule_sets(), seed=st.integers(0, 1000))
def test_reading_back_preserves_behaviour(target: str, rules: RuleSet, seed: int) -> None:
    """An export that is imported again does what the exported rules do."""
    site = site_of_file(target)
    exported = export(rules, target, site=site)
    back = imported(exported.text, target, site=site)
    assert back.skipped == ()
    urls = fitting(target, 40, seed)
    read = back.rules.compile().batch(urls).to_pylist()
    assert shop.differences(urls, read, RuleSet(exported.rules)) == []


def test_universal_rules_are_flattened_into_sites() -> None:
    """A site with rules of its own has the universal ones written out, since it switches those off."""
    rules = RuleSet(
        [
            Rule.parse(DROP.format("sid={**}"), site="shop.test"),
            replace(Rule.parse(DROP.format("gclid={**}"), site="*"), except_sites=("wiki.test",)),
        ]
    )
    entries = json.loads(export(rules, "duplicate-url-discarder").text)
    args = {entry["urlPattern"]["include"][0]: entry["args"] for entry in entries}
    assert args == {"shop.test": ["gclid", "sid"], "wiki.test": [], "": ["gclid"]}


def test_a_robots_txt_is_of_one_site() -> None:
    """Rules of a second site are refused by name, and --site chooses."""
    texts = [("shop.test", "sid"), ("other.test", "ref")]
    rules = RuleSet(Rule.parse(DROP.format(f"{name}={{**}}"), site=site) for site, name in texts)
    exported = export(rules, "clean-param")
    assert "Clean-param: sid\n" in exported.text
    assert "one site" in exported.refused[0].reason
    assert "Clean-param: ref\n" in export(rules, "clean-param", site="other.test").text


KEPT = {
    "search": ("keep {s}://{h}/search?{rest**}", "/search?sid=1", "/search/more?sid=1"),
    "folder": ("keep {s}://{h}/cart/{p**}?{rest**}", "/cart/a/b?sid=1", "/carts?sid=1"),
    "value": ("keep {s}://{h}/{p**}?do=edit&{rest**}", "/x?do=edit&sid=1", "/x?do=edits&sid=1"),
    "parameter": ("keep {s}://{h}/{p**}?board={**}&{rest**}", "/x?board&sid=1", "/x?boards=1&sid=1"),
}
"""Keeps as `learn` finds them: a URL that is kept, and one beside it."""


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("target", ["clearurls", "duplicate-url-discarder"])
def test_a_keep_is_written_as_an_exception(target: str, name: str, tmp_path: Path) -> None:
    """A keep that overlaps every rule is exported with them, and leaves other URLs and sites to the rules."""
    text, kept, beside = KEPT[name]
    rules = RuleSet(
        [
            Rule.parse(text, site="shop.test"),
            Rule.parse(DROP.format("{**:sid|ref}"), site="shop.test"),
            Rule.parse(DROP.format("sid={**}"), site="*"),
        ]
    )
    exported = export(rules, target)
    assert exported.refused == ()
    urls = [f"http://{host}{path}" for host in ("shop.test", "www.shop.test") for path in (kept, beside)]
    urls.append(f"http://other.test{kept}")
    found = APPLIED[target](exported.text, urls, tmp_path)
    assert [one == other for one, other in zip(urls, found, strict=True)] == [True, False] * 2 + [False]
    assert shop.differences(urls, found, rules) == []


def test_a_keep_that_a_pattern_cannot_describe_is_refused() -> None:
    """Then the rules that it protects are refused too, and a keep that protects none is not mentioned."""
    slow = "keep {s}://{h}/{x}-{y}-{z}?{rest**}"
    drop = DROP.format("sid={**}")
    for target in ("clearurls", "duplicate-url-discarder"):
        exported = export(shop.rules_of(slow, drop), target)
        assert exported.rules == ()
        assert "keep of rule 1" in exported.refused[1].reason
        alone = export(shop.rules_of("keep {s}://{h}/search?{rest**}"), target)
        assert "no rule is exported" in alone.refused[0].reason


def test_odd_names_are_refused_where_they_mean_something() -> None:
    """A name that a format would misread is never written into it."""
    rules = shop.rules_of(DROP.format("{**:a,b|c}"), DROP.format("x$y={**}"))
    assert export(rules, "removeparam").rules == ()
    assert export(rules, "clean-param").rules == ()
    assert normalize("http://shop.test/?a,b") == "http://shop.test/?a,b"


@pytest.mark.parametrize(
    ("keep", "start", "unit", "end"),
    [
        ("keep {s}://{h}/{p**}?board={*};sort={*};desc&{rest**}", "/x?board=1;sort=", "a", ";des"),
        ("keep {s}://{h}/{p**}?board={*};sort={*};desc&{rest**}", "/x?", "board=1;sort=2;&", "x"),
        ("keep {s}://{h}/a/{p**}/b-{x}?{rest**}", "/a", "/b-", "/"),
        ("keep {s}://{h}/a/{p**}/b-{x}?{rest**}", "/a/", "b-", "/"),
        ("keep {s}://{h}/{x:int}-{y:word}.html?{rest**}", "/", "1", "-a.htm"),
        ("keep {s}://{h}/{x:int}-{y:word}.html?{rest**}", "/1", "-1", ".htm"),
        ("keep {s}://{h}/{p**}?id={x:int}&lang={**}&{rest**}", "/?", "id=1&", "x"),
    ],
)
def test_exceptions_take_linear_time(keep: str, start: str, unit: str, end: str) -> None:
    """In an engine that goes back, as those of browsers do, twice the length takes twice the time."""
    exported = export(shop.rules_of(keep, DROP.format("sid={**}")), "clearurls")
    assert exported.refused == ()
    (provider,) = json.loads(exported.text)["providers"].values()
    for pattern in provider["exceptions"]:
        urls = [repeated(f"http://shop.test{start}", unit, end, size) for size in SIZES]
        times: list[float] = []
        for _ in range(ATTEMPTS):
            times = [spent for _, spent in by_python([(pattern, url) for url in urls])]
            if all(long <= MOST_GROWTH * short for short, long in pairwise(times)):
                break
        else:
            pytest.fail(f"{times} s for {pattern}")
