"""All targets on all kinds of rule sets: no traceback, each refusal with a number, time within bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from bench.common import data_folder
from bench.export_times import ALL_KINDS, many, seconds
from tests import strategies
from tests.exchange.exports import shop
from undust import Rule, RuleSet, learn, read
from undust.exchange.exports import EXPORTERS, export

TARGETS = [target.name for target in EXPORTERS]
DROP = "rewrite {{s}}://{{h}}/{{p**}}?{}={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"
ROOTS = (
    "rewrite {s}://{h}/?q={a}&{rest**} → {s}://{h}/{a}?{rest}",
    "rewrite {s}://{h}/?_route_={a} → {s}://{h}/{a}",
    "rewrite {s}://{h}?{**} → {s}://{h}",
    "rewrite {s}://{h}/{a}/{b} → {s}://{h}",
    "keep {s}://{h}/",
)
"""Rules one side of which is the root, a path with one empty segment."""


def require_complete(rules: RuleSet, target: str) -> None:
    """Every active rule is exported, or refused by its number with a reason."""
    exported = export(rules, target)
    numbers = [refusal.number for refusal in exported.refused]
    active = {number: rule.id for number, rule in enumerate(rules, 1) if rule.status == "active"}
    assert numbers == sorted(set(numbers))
    assert all(refusal.reason for refusal in exported.refused)
    left = [id_ for number, id_ in active.items() if number not in numbers]
    assert [rule.id for rule in exported.rules] == left


@pytest.mark.parametrize("target", TARGETS)
def test_rules_of_the_root(target: str) -> None:
    """A rule whose left or right side is the root is exported or refused, like any other."""
    require_complete(shop.rules_of(*ROOTS, *shop.ESSENTIAL.values()), target)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=25)
@given(rules=strategies.rule_sets())
def test_any_rules(target: str, rules: list[dict[str, Any]]) -> None:
    """Whatever the rules are, an export ends, and accounts for each of them."""
    require_complete(RuleSet({repr(RuleSet([rule]).ids): rule for rule in rules}.values()), target)


@pytest.mark.parametrize("name", ["crawls/opencart", "crawls/backdrop", "mirrors/shopgeneral"])
def test_learned_rules(name: str) -> None:
    """Rules learned from real sites reach every target, or are refused with reasons."""
    path = data_folder() / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("no data: the real sites are not here")
    rules = learn(read(path).table[:3000])
    assert len(rules) > 10
    for target in TARGETS:
        require_complete(rules, target)


TIMED_KINDS = (
    *("of three shapes", "drop a parameter", "keep a folder", "drop in a folder", "drop a slug"),
    *("leave a host", "keep and drop in turn"),
)
TIMED = [
    *((kind, target) for kind in TIMED_KINDS for target in ("nginx", "nutch", "sql", "clean-param", "pywb")),
    *((kind, "pywb") for kind in ALL_KINDS if kind not in TIMED_KINDS),
    *(("keep and drop in turn", target) for target in ("clearurls", "duplicate-url-discarder", "heritrix")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "target"), TIMED)
def test_time_grows_with_the_number_of_rules(kind: str, target: str) -> None:
    """Four times the rules take less than eight times as long: far from the sixteen of all pairs."""
    few, lots = many(kind, 150), many(kind, 600)
    ratios = []
    for _ in range(3):
        ratios.append(seconds(lots, target) / seconds(few, target))
        if ratios[-1] < 8:
            return
    pytest.fail(f"four times the rules took {ratios} times as long")


def test_a_large_set_is_still_exported() -> None:
    """What is quick for many rules does not leave out rules that do not meet."""
    assert len(export(many("drop a parameter", 300), "nginx").rules) == 300
    assert len(export(many("keep a folder", 300), "nginx").rules) == 300
    assert len(export(many("drop in a folder", 300), "nginx").rules) == 300
    assert len(export(many("leave a host", 300), "nginx").rules) == 300


@pytest.mark.parametrize("target", ["clean-param", "removeparam"])
def test_a_lost_keep_vetoes_only_what_it_protects(target: str) -> None:
    """A rule that cannot act on the URLs of a keep is exported, though the keep is not."""
    rules = RuleSet(
        [
            Rule.parse("keep {s}://{h}/cart", site="shop.test"),
            Rule.parse("keep {s}://{h}/search?{rest**}", site="blog.test"),
            Rule.parse(DROP.format("sid"), site="shop.test"),
            Rule.parse(DROP.format("ref"), site="blog.test"),
        ]
    )
    exported = export(rules, target)
    assert [rule.site for rule in exported.rules] == ["shop.test"]
    assert "keep of rule 2" in exported.refused[-1].reason


LOST = "keep {s}://{h}/search/{p**}?a={x}&b={y}&c={z}&d={v}"
"""A keep with more parameters than an expression tries in each order."""


@pytest.mark.parametrize(
    ("text", "is_exported"),
    [
        ("rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest}", False),
        ("rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest} when /shop/{**}", True),
        ("rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest} when /search/{**}", False),
        ("rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest} when ?b={*}", False),
        ("rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest} unless /search/{**}", True),
        ("rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest} unless ?b={**}", True),
        ("rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest} unless ?e={**}", False),
        ("keep {s}://{h}/search/x?{rest**}", True),
        ('replace "/guides/" → "/guide/"', False),
    ],
)
def test_conditions_tell_what_a_lost_keep_protects(text: str, is_exported: bool) -> None:  # noqa: FBT001
    """Conditions that keep a rule away from the URLs of a lost keep save it; in doubt it is refused."""
    exported = export(shop.rules_of(LOST, text), "regex")
    reasons = {refusal.number: refusal.reason for refusal in exported.refused}
    assert 1 in reasons
    assert (2 not in reasons) == is_exported, reasons


GUARDED = "rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest}"


@pytest.mark.parametrize("target", [each.name for each in EXPORTERS])
def test_what_a_keep_says_already_is_not_said_twice(target: str) -> None:
    """A rule with the condition that a keep before it says is exported like one without."""
    keep = "keep {s}://{h}/{p**}?do=edit&{rest**}"
    plain, said = (
        export(shop.rules_of(keep, text), target) for text in (GUARDED, f"{GUARDED} unless ?do=edit")
    )
    assert [rule.kind for rule in plain.rules] == [rule.kind for rule in said.rules]
    ids = [rule.id for rule in shop.rules_of(GUARDED, f"{GUARDED} unless ?do=edit")]
    assert plain.text.replace(ids[0], "") == said.text.replace(ids[1], "")


def test_a_condition_is_left_out_only_behind_its_keep() -> None:
    """Not where the keep comes later, is off or is of another form; and a lost keep leaves it."""
    said = f"{GUARDED} unless ?do=edit"
    late = export(shop.rules_of(said, "keep {s}://{h}/{p**}?do=edit&{rest**}"), "regex")
    alone = export(shop.rules_of(said), "regex")
    other = export(shop.rules_of("keep {s}://{h}/{p**}?do=view&{rest**}", said), "regex")
    for exported in (late, alone, other):
        assert exported.refused == ()
        assert "edit" in exported.text
    lost = export(
        shop.rules_of("keep {s}://{h}/{p**}?e={**}&{rest**}", LOST, f"{GUARDED} unless ?b={{**}}"), "regex"
    )
    assert [refusal.number for refusal in lost.refused] == [2]
