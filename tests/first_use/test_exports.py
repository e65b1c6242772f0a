"""Faults of version 0.1 in exports: tracebacks, effects that nobody is told, expressions that never end."""

from __future__ import annotations

import json
import re
from functools import partial
from time import process_time
from typing import TYPE_CHECKING

import pytest

import undust
from tests.cli.command import run
from tests.first_use.files import DROP, crawl_file, items, rule_file, rules_of
from tests.timing import quickest

if TYPE_CHECKING:
    from pathlib import Path

TARGETS = (
    *("apache", "clean-param", "clearurls", "duplicate-url-discarder", "heritrix", "nginx"),
    *("no-vary-search", "nutch", "pywb", "regex", "removeparam", "sql"),
)
ROOTS = {
    "one parameter": "rewrite {s}://{h}/?_route_={a} -> {s}://{h}/{a}",
    "and others": "rewrite {s}://{h}/?q={a}&{rest**} -> {s}://{h}/{a}?{rest}",
}
SLUGS = {
    "four, with hyphens": "{a}-{b}-{c}-{d}",
    "four words, with hyphens": "{a:word}-{b:word}-{c:word}-{d:word}",
    "six, with points": "{a}.{b}.{c}.{d}.{e}.{f}",
    "four, with two hyphens": "{a}--{b}--{c}--{d}",
}


@pytest.mark.parametrize("root", ROOTS)
def test_d1_no_target_ends_in_a_traceback(root: str) -> None:
    """Rules one side of which is the root are exported, or refused by number with a reason."""
    rules = rules_of(ROOTS[root], DROP.format("sid"))
    for target in TARGETS:
        exported = undust.export(rules, target)
        refused = {refusal.number for refusal in exported.refused if refusal.reason}
        assert len(exported.rules) + len(refused) == len(rules), target


def test_d10_the_effect_on_a_sample_is_told(tmp_path: Path) -> None:
    """What the exported rules remove, what all rules would remove, and what is lost by leaving some out."""
    rules = rule_file(tmp_path, DROP.format("sid"), "rewrite {s}://{h}/{a}.html -> {s}://{h}/{a}")
    rows = [
        {"url": f"http://shop.test/{n}{form}", "digest": str(n)}
        for n in range(50)
        for form in ("", ".html", "?sid=1")
    ]
    sample = crawl_file(tmp_path / "sample.jsonl", rows)
    said = run("export", rules, "--to", "clean-param", "--sample", sample).err
    assert "remove 50.0 % of the duplicates instead of 100.0 %" in " ".join(said.split())


def test_d10_without_a_sample_the_effect_when_learned_is_told(tmp_path: Path) -> None:
    """From the counts of the rule file, and no figure for lost pages."""
    seen = crawl_file(tmp_path / "seen.jsonl", items(60, "?sid={n}", "/{n}"))
    path = tmp_path / "rules.json"
    run("learn", seen, "-o", path, "-q")
    added = undust.RuleSet([*undust.load(path), *rules_of("rewrite {s}://{h}/{a}.html -> {s}://{h}/{a}")])
    added.save(path)
    said = run("export", path, "--to", "clean-param").err.splitlines()
    assert re.search(r"left out removed|does not say what .* left out", said[-1]), said
    assert "give --sample for the effect" in said[-1]
    assert "lose" not in said[-1]


@pytest.mark.parametrize("keep", ["/search?{rest**}", "/account/{p**}?{rest**}", "/{p**}?do=edit&{rest**}"])
@pytest.mark.parametrize("target", ["clearurls", "duplicate-url-discarder"])
def test_d10_one_keep_does_not_leave_a_target_with_nothing(target: str, keep: str) -> None:
    """Both have exceptions, in which a keep is written."""
    exported = undust.export(rules_of(f"keep {{s}}://{{h}}{keep}", DROP.format("sid")), target)
    assert [rule.kind for rule in exported.rules] == ["keep", "rewrite"]
    assert exported.refused == ()


@pytest.mark.parametrize("slug", SLUGS)
def test_c4_exported_expressions_take_linear_time(slug: str, tmp_path: Path) -> None:
    """In Python's `re`: a URL of twice the length takes far less than sixteen times as long."""
    between = SLUGS[slug].split("}")[1].split("{")[0]
    text = f"rewrite {{s}}://{{h}}/z/{SLUGS[slug]}.html?{{rest**}} -> {{s}}://{{h}}/y/{{a}}x?{{rest}}"
    pairs = json.loads(run("export", rule_file(tmp_path, text), "--to", "regex").out)["pairs"]
    assert pairs
    for pattern in (re.compile(pair["pattern"]) for pair in pairs):
        short, long = (least_time(pattern, "http://shop.test/z/" + between * n) for n in (24, 48))
        assert long < 6 * short, pattern


def least_time(pattern: re.Pattern[str], url: str) -> float:
    """Return the processor time of a search, the least of three."""
    least = float("inf")
    for _ in range(3):
        count, start, spent = 0, process_time(), 0.0
        while spent < 0.002:
            pattern.search(url)
            count += 1
            spent = process_time() - start
        least = min(least, spent / count)
    return least


@pytest.mark.slow
@pytest.mark.parametrize("target", ["nginx", "regex"])
def test_c5_time_grows_with_the_number_of_rules(target: str) -> None:
    """Four times the rules of a site take less than eight times as long; all pairs would take sixteen."""
    short, long = (
        rules_of(*(f"rewrite {{s}}://{{h}}/old{n}/{{a}} -> {{s}}://{{h}}/new{n}/{{a}}" for n in range(count)))
        for count in (80, 320)
    )
    few, many = (quickest(partial(undust.export, rules, target)) for rules in (short, long))
    assert many < 8 * few
