"""Exports made of regular expressions do what the canonicalizer does, or refuse the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.exchange.exports import applied, shop
from undust import Rule, RuleSet, normalize
from undust.errors import RuleError
from undust.exchange.exports import export

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 5000
APPLIED = {"regex": applied.by_python, "sql": applied.by_duckdb}
"""Targets that are quick to carry out."""


def answers(target: str, text: str, urls: list[str], folder: Path) -> list[str]:
    """What an export makes of URLs."""
    if target in APPLIED:
        return APPLIED[target](text, urls)
    return applied.by_perl(text, urls, folder) if target == "pcre" else applied.by_java(text, urls, folder)


@pytest.mark.parametrize(
    ("target", "rules"),
    [
        ("regex", "everything"),
        ("pcre", "everything"),
        ("sql", "everything"),
        ("nutch", "essential"),
        ("nutch", "everything"),
        ("heritrix", "everything"),
    ],
)
def test_answers_are_canonical(target: str, rules: str, tmp_path: Path) -> None:
    """On thousands of URLs, each answer is the canonical form by the rules that were not refused."""
    exported = export(getattr(shop, rules)(), "regex" if target == "pcre" else target)
    urls = shop.urls(COUNT)
    found = answers(target, exported.text, urls, tmp_path)
    assert shop.differences(urls, found, RuleSet(exported.rules)) == []
    assert sum(one != other for one, other in zip(urls, found, strict=True)) > COUNT / 4


@pytest.mark.parametrize("target", ["nginx", "apache", "regex", "nutch", "sql"])
def test_what_must_be_said(target: str) -> None:
    """The six changes that every site has are never refused, alone or together."""
    assert export(shop.essential(), target).refused == ()
    for text in (*shop.ESSENTIAL.values(), *shop.SETTLING):
        assert export(shop.rules_of(text), target).refused == (), text
    assert export(shop.rules_of(*shop.ESSENTIAL.values(), *shop.SETTLING), "nginx").refused == ()


@pytest.mark.parametrize("target", ["nginx", "apache", "regex", "nutch", "heritrix", "sql"])
def test_what_cannot_be_said_is_refused_by_name(target: str) -> None:
    """Each refused rule is named with its number and a reason; the others are exported."""
    exported = export(shop.everything(), target)
    said = {str(rule) for rule in exported.rules}
    assert not said & set(shop.REFUSED[:3])
    reasons = {refusal.number: refusal.reason for refusal in exported.refused}
    numbers = {str(rule): number for number, rule in enumerate(shop.everything(), 1)}
    assert "in the form sorted" in reasons[numbers[shop.REFUSED[0]]]
    assert "in the form lower" in reasons[numbers[shop.REFUSED[1]]]
    assert "the key of a URL" in reasons[numbers[shop.REFUSED[2]]]
    # Two rules that undo each other: one of them may stay, not both.
    assert not set(shop.REFUSED[3:]) <= said
    assert len(exported.rules) + len(exported.refused) == len(shop.everything())


def test_rules_behind_a_refused_keep_are_refused() -> None:
    """What a keep shields stays untouched, even if the target cannot say the keep."""
    rules = shop.rules_of(
        "keep {s}://{h}/{p**}?a={x}&b={y}&c={z}&d={v}",
        "rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}",
    )
    exported = export(rules, "regex")
    # The third cannot act on what the keep keeps: there is no `sid` in it.
    assert [refusal.number for refusal in exported.refused] == [1, 2]
    assert "keep of rule 1" in exported.refused[1].reason


@pytest.mark.parametrize("target", ["nginx", "regex", "nutch", "sql"])
@pytest.mark.parametrize(
    "texts",
    [
        ("rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x}", "rewrite {s}://{h}/b/{x} → {s}://{h}/a/{x}"),
        ("rewrite {s}://{h}/{p**} → {s}://{h}/{p}/a",),
        ("rewrite {s}://{h}/{x}/{y} → {s}://{h}/{y}/{x}",),
        ("rewrite {s}://{h}/{p**}?{r**} → {s}://{h}/{p}?a=1&{r}",),
        ('replace "/x/" → "/y/"', 'replace "/y/" → "/x/"'),
    ],
)
def test_no_circle_is_exported(target: str, texts: tuple[str, ...]) -> None:
    """Rules that cycle or grow never reach a system that cannot notice it."""
    assert len(export(shop.rules_of(*texts), target).rules) < len(texts)


def test_only_the_rule_that_grows_is_left_out() -> None:
    """Of rules that together might never end, the one without which they do is refused."""
    texts = [
        *shop.ESSENTIAL.values(),
        "rewrite {s}://{h}/x/{p**}?{rest**} → {s}://{h}/{p}/x?{rest}",
        shop.MORE[3],
    ]
    exported = export(shop.rules_of(*texts), "nginx")
    assert [refusal.number for refusal in exported.refused] == [7]


def test_disabled_rules_and_other_sites_stay_at_home() -> None:
    """Only active rules are exported, and with a site only those that concern it."""
    drop = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"
    rules = RuleSet(
        [
            Rule.parse(drop, site="shop.test"),
            Rule.parse(drop, site="blog.test"),
            Rule.parse(drop.replace("sid", "ref"), site="*"),
        ]
    )
    off = rules.disable(rules.ids[0])
    assert [rule.site for rule in export(off, "regex").rules] == ["blog.test", "*"]
    assert [rule.site for rule in export(rules, "regex", site="shop.test").rules] == ["shop.test", "*"]


def test_a_rule_cannot_write_a_configuration() -> None:
    """Whatever the text of a rule, in a comment it stays on its line and cannot go on to the next."""
    rules = RuleSet([Rule("shop.test", "replace", "/a\n}\nserver { evil; \\/", "/b/")])
    for target in ("nginx", "apache", "sql"):
        exported = export(rules, target)
        assert len(exported.rules) == 1
        comments = [
            line for line in exported.text.splitlines() if "evil" in line and line.lstrip()[0] in "#-"
        ]
        assert len(comments) == 1
        assert not any(
            line.lstrip().startswith(("}\\", "server", "evil")) for line in exported.text.splitlines()
        )
        assert not comments[0].endswith("\\")


def test_international_sites() -> None:
    """A site may be written in its own letters; it is the same site in punycode."""
    rules = shop.rules_of(shop.ESSENTIAL["path rename"], site="bücher.example")
    exported = export(rules, "regex")
    assert exported.rules == tuple(rules)
    urls = ["http://xn--bcher-kva.example/old/a", "http://www.xn--bcher-kva.example/old"]
    assert shop.differences(urls, applied.by_python(exported.text, urls), rules) == []
    assert applied.by_python(exported.text, urls)[0].endswith("/new/a")


def test_a_site_without_rules_is_told() -> None:
    """A misspelt --site is no empty export."""
    with pytest.raises(RuleError, match="no active rule concerns shops"):
        export(shop.essential(), "nginx", site="shops.test")


def distinct(rules: list[dict[str, Any]]) -> RuleSet:
    """A rule set of random rules, each once."""
    return RuleSet({repr(RuleSet([rule]).ids): rule for rule in rules}.values())


@pytest.mark.parametrize("target", ["regex", "sql"])
@settings(max_examples=30)
@given(rules=strategies.rule_sets(), urls=st.lists(strategies.urls(), min_size=10, max_size=20))
def test_any_rules_are_said_exactly_or_refused(
    target: str, rules: list[dict[str, Any]], urls: list[str]
) -> None:
    """Whatever the rules: those that are exported do the same to every URL in standard form."""
    exported = export(distinct(rules), target)
    kept = RuleSet(exported.rules)
    canonicalize = kept.compile()
    standard = [url for url in map(normalize, urls) if canonicalize.explain(url).outcome != "no URL"]
    assert all(canonicalize.explain(url).outcome == "resolved" for url in standard)
    assert shop.differences(standard, APPLIED[target](exported.text, standard), kept) == []


SIMPLE = st.sampled_from(
    [
        *shop.ESSENTIAL.values(),
        *shop.MORE,
        *shop.SETTLING,
        *shop.REFUSED,
        "rewrite {s}://{h}/{p**}/ → {s}://{h}/{p}",
        "rewrite {s}://www.{h**}/{p**}?{rest**} → {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/a?sid={v} → {s}://{h}/b",
        "rewrite {s}://{h}/{x}/{y:int} → {s}://{h}/new/{y}",
        "rewrite {s}://{h}/{p**}?{**} → {s}://{h}/{p} when ?do={*}",
        "rewrite {s}://{h}/wiki/{t:word} → {s}://{h}/w?title={t}",
        "rewrite {s}://{h}/{p**}?title={t}&{rest**} → {s}://{h}/{t}?{rest}",
        "rewrite http://{h}/{p**}?{rest**} → https://{h}/{p}?{rest}",
        "rewrite {s}://{h}:8080/{p**}?{rest**} → {s}://{h}/{p}?{rest}",
        "keep {s}://{h}/old/{p**}?{rest**}",
        'replace "/index.html$" → "/$"',
    ]
)


@pytest.mark.parametrize("target", ["regex", "sql"])
@settings(max_examples=30)
@given(texts=st.lists(SIMPLE, unique=True, min_size=1, max_size=6), seed=st.integers(0, 1000))
def test_usual_rules_in_any_company(target: str, texts: list[str], seed: int) -> None:
    """Rules as sites have them, in any order and company, on URLs on which they act."""
    exported = export(shop.rules_of(*texts), target)
    urls = shop.urls(60, seed)
    found = APPLIED[target](exported.text, urls)
    assert shop.differences(urls, found, RuleSet(exported.rules)) == []
