"""What a rule set is told before it is deployed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.strategies import RuleFields, rule_sets
from undust.rules import Rule, RuleSet


def checked(*lines: str, site: str = "shop.test") -> dict[str, tuple[int, ...]]:
    """The kinds of findings about some rules, each with the numbers of its rules."""
    rules = RuleSet([Rule.parse(line, site=site) for line in lines])
    return {finding.kind: finding.numbers for finding in rules.check()}


CLEAN = (
    "keep {s}://{h}/{p**}?do=edit&{rest**}",
    "rewrite http://{h}/{p**}?{rest**} → https://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?{**:utm_*|sid}&{rest**} → {s}://{h}/{p}?{rest}",
    'replace "/old/" → "/new/"',
)


def test_a_sound_set_has_no_findings() -> None:
    """Rules that only work one after the other are nobody's fault."""
    assert checked(*CLEAN) == {}


@pytest.mark.parametrize("site", ["shop.test", "*", "forum.co.uk"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (['replace "a" → "a.a"'], {"growth": (1,)}),
        (["rewrite {s}://{h}/{p**} → {s}://{h}/{p}/a"], {"growth": (1,)}),
        (
            ["rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x}", "rewrite {s}://{h}/b/{x} → {s}://{h}/a/{x}"],
            {"inverse": (1, 2)},
        ),
        (['replace "a" → "b"', 'replace "b" → "a"'], {"inverse": (1, 2)}),
        (["rewrite {s}://{h}/{x}/{y} → {s}://{h}/{y}/{x}"], {"cycle": (1,)}),
        (
            [
                "rewrite {s}://{h}/a → {s}://{h}/b",
                "rewrite {s}://{h}/b → {s}://{h}/c",
                "rewrite {s}://{h}/c → {s}://{h}/a",
            ],
            {"cycle": (1, 2, 3)},
        ),
        (
            ["rewrite {s}://{h}/{x}/b → {s}://{h}/x/{x}", "rewrite {s}://{h}/a/{y} → {s}://{h}/y/{y}"],
            {"conflict": (1, 2)},
        ),
        (
            ["rewrite {s}://{h}/{x}/{y} → {s}://{h}/{y}", "rewrite {s}://{h}/a/{y} → {s}://{h}/y/{y}"],
            {"shadowed": (1, 2)},
        ),
        (
            ["rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x}", "keep {s}://{h}/a/edit"],
            {"shadowed": (1, 2)},
        ),
        (
            ["rewrite {s}://{h}/{x}/edit → {s}://{h}/b/{x}", "keep {s}://{h}/a/{x}"],
            {"conflict": (1, 2)},
        ),
        (
            ["rewrite {s}://{h}/a/{x} → {s}://{h}/c/{x}", "rewrite {s}://{h}/{p**} → {s}://{h}/z"],
            {"redundant": (1,)},
        ),
        (
            [
                "rewrite {s}://{h}/{p**}?sid={**}&{r**} → {s}://{h}/{p}?{r}",
                "rewrite {s}://{h}/{p**}?{**:sid|s}&{r**} → {s}://{h}/{p}?{r}",
            ],
            {"redundant": (1,)},
        ),
        (["rewrite {s}://{h}/a → http://elsewhere.example/a"], {"dead": (1,)}),
        (["rewrite {s}://{h}/a → {s}://{h}/b when ?x unless ?x"], {"dead": (1,)}),
        (["keep {s}://{h}/a"], {"redundant": (1,)}),
    ],
)
def test_findings(lines: list[str], expected: dict[str, tuple[int, ...]], site: str) -> None:
    """Each kind of finding, whatever the site."""
    assert checked(*lines, site=site) == expected


@pytest.mark.parametrize(
    "lines",
    [
        (
            "rewrite http://{h}/{p**}?{r**} → https://{h}/{p}?{r}",
            "rewrite {s}://{h}/{p**}/index.php?{r**} → {s}://{h}/{p}/?{r}",
            "rewrite {s}://{h}/b/{x}?{r**} → {s}://{h}/c/{x}?{r}",
        ),
        (
            "rewrite {s}://{h}/{p**}?{r**} → {s}://{h}/{p}?{r:first}",
            "rewrite {s}://{h}/{*}/dp/{a}?{r**} → {s}://{h}/dp/{a}?{r}",
            "rewrite {s}://{h}/{p**}/index.php?{r**} → {s}://{h}/{p}/?{r}",
        ),
    ],
)
def test_harmless_order_is_not_a_conflict(lines: tuple[str, ...]) -> None:
    """The first rule acts before two others that disagree; where it stands changes nothing."""
    rules = RuleSet([Rule.parse(line, site="shop.test") for line in lines])
    assert {finding.numbers for finding in rules.check() if finding.kind == "conflict"} == {(2, 3)}


@pytest.mark.parametrize(
    "lines",
    [
        (
            "rewrite {s}://{h}/{p**}?ref={**}&sid={**}&{r**} → {s}://{h}/{p}?{r}",
            "rewrite {s}://{h}/{p**}?sid={**}&{r**} → {s}://{h}/{p}?{r}",
        ),
        ("rewrite {s}://{h}/a/{x} → {s}://{h}/y/z/{x}", "rewrite {s}://{h}/{x}/{y} → {s}://{h}/{y}"),
    ],
)
def test_a_special_case_before_the_general_rule_is_not_a_conflict(lines: tuple[str, ...]) -> None:
    """It is the only order in which both are applied; in the other one the special case is shadowed."""
    assert checked(*lines) == {}
    assert checked(*reversed(lines)).keys() <= {"shadowed", "conflict"}
    assert checked(*reversed(lines))


def test_a_keep_between_two_rules_is_not_their_conflict() -> None:
    """The keep is there to stop the second; the first may act before it."""
    lines = (
        "rewrite {s}://{h}/{p**}/?{r**} → {s}://{h}/{p}/index.php?{r}",
        "keep {s}://{h}/{p**}?action=stats&{r**}",
        "rewrite {s}://{h}/{p**}?sid={**}&{r**} → {s}://{h}/{p}?{r}",
    )
    assert checked(*lines) == {}


@settings(max_examples=40)
@given(rule_sets())
def test_a_conflict_is_one_of_order(data: list[RuleFields]) -> None:
    """Whichever of the two rules moves past the other, the URL ends elsewhere."""
    rules = list({Rule.from_json(fields).id: Rule.from_json(fields) for fields in data}.values())
    for finding in RuleSet(rules).check():
        if finding.kind != "conflict" or finding.rules[1].kind == "keep":
            continue
        before, after = (number - 1 for number in finding.numbers)
        up, down = rules.copy(), rules.copy()
        up.insert(before, up.pop(after))
        down.insert(after, down.pop(before))
        ends = [RuleSet(order).compile().explain(finding.url) for order in (rules, up, down)]
        results = [(end.canonical, end.key) for end in ends]
        assert results[0] not in results[1:]


def test_a_finding_says_which_rules_what_happens_and_what_to_do() -> None:
    """Words, a URL, and the rules themselves."""
    rules = RuleSet(
        [Rule.parse(line, site="shop.test") for line in ('replace "a" → "b"', 'replace "b" → "a"')]
    )
    (finding,) = rules.check()
    assert str(finding) == (
        "inverse: rules 1 and 2 undo each other: http://shop.test/Zq/a/zq → http://shop.test/Zq/b/zq → "
        "http://shop.test/Zq/a/zq; both URLs become http://shop.test/Zq/a/zq; remove one rule"
    )
    assert finding.rules == tuple(rules)
    assert finding.url == "http://shop.test/Zq/a/zq"


def test_only_what_goes_on_for_ever_is_blamed_for_it() -> None:
    """A rule that led there once is not among those that never come to an end."""
    lines = ("rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x}", "rewrite {s}://{h}/b/{p**} → {s}://{h}/b/b/{p}")
    rules = RuleSet([Rule.parse(line, site="shop.test") for line in lines])
    assert [(finding.kind, finding.numbers) for finding in rules.check()] == [("growth", (2,))]


@pytest.mark.parametrize(
    "text",
    [
        "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:amp}",
        "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:plain}",
        "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:plain}?{rest}",
        "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:last}",
        "rewrite {s}://{h}/{p**}?id={**}&{rest**} → {s}://{h}/{p}?{rest} when ?page={*:int}",
        "rewrite {s}://{h}/{p**}?id={**}&{rest**} → {s}://{h}/{p}?{rest} when ?page=1, ?lang={**}",
    ],
)
def test_a_rule_that_does_something_is_not_called_dead(text: str) -> None:
    """Whatever it takes to see it: a semicolon, a triplet, a name twice, a parameter of a condition."""
    assert checked(text) == {}


def test_a_dead_rule_is_shown_on_its_plainest_url() -> None:
    """As a person would have written it."""
    rules = RuleSet([Rule.parse("rewrite {s}://{h}/a → http://elsewhere.example/a", site="shop.test")])
    (finding,) = rules.check()
    assert finding.url == "http://shop.test/a"
    assert "such as http://shop.test/a; see whether" in finding.message


def test_rules_that_are_off_are_not_looked_at() -> None:
    """A switched-off rule does nothing, so it has nothing to answer for."""
    rules = RuleSet([Rule.parse('replace "a" → "a.a"', site="shop.test")])
    assert rules.check()
    assert not rules.disable(rules.ids[0]).check()


def test_rules_of_all_sites_meet_those_of_a_site() -> None:
    """A rule for all sites comes behind those of a site, unless it excepts it."""
    own = Rule.parse("rewrite {s}://{h}/a → {s}://{h}/b", site="shop.test")
    shared = Rule.parse("rewrite {s}://{h}/b → {s}://{h}/a", site="*")
    assert [finding.kind for finding in RuleSet([shared, own]).check()] == ["inverse"]
    excepting = replace(shared, except_sites=("shop.test",))
    assert RuleSet([excepting, own]).check() == ()


@settings(max_examples=40)
@given(rule_sets())
def test_every_finding_can_be_seen_on_its_url(data: list[RuleFields]) -> None:
    """Checking never fails, and what it says of cycles and growth is what the canonicalizer does."""
    unique = {Rule.from_json(fields).id: fields for fields in data}
    rules = RuleSet(unique.values())
    canonicalize = rules.compile()
    for finding in rules.check():
        assert finding.rules == tuple(rules[number - 1] for number in finding.numbers)
        outcome = canonicalize.explain(finding.url).outcome
        if finding.kind in {"cycle", "inverse"}:
            assert outcome == "cycle"
        elif finding.kind == "growth":
            assert outcome == "unresolved"


def test_a_keep_that_other_rules_repeat_is_not_redundant() -> None:
    """What it keeps is a condition of theirs, so that they are safe without it; it stays for all others."""
    keep, drop = "keep {s}://{h}/{p**}?do=edit&{rest**}", CLEAN[2]
    assert checked(keep, f"{drop} unless ?do=edit") == {}
    assert checked(keep, f"{drop} unless ?do=view, ?do=edit") == {}
    assert checked(keep, f"{drop} when /a unless ?do") == {"redundant": (1,)}
