"""What a person should do with a rule, and the one reason why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from undust.rules import Rule
from undust.rules.verdict import (
    alike_on_sites,
    language_written,
    leading,
    most_urgent_first,
    name_other_form,
    prefers_lesser_form,
    use_of,
    verdict,
    verdicts,
)

GOOD = Rule(
    "shop.test",
    "rewrite",
    "{s}://{h}/{p**}?sid={**}&{rest**}",
    "{s}://{h}/{p}?{rest}",
    support=200,
    false_positives=0,
    targets={"seen": 90, "redirected": 5, "unseen": 5},
)
AGREE = "200 pairs of URLs agree, none differs"
KEEP = Rule("shop.test", "keep", "{s}://{h}/{p**}?do=edit&{rest**}")


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({}, "ok", "200 pairs of URLs agree, none differs"),
        ({"false_positives": 3}, "risky", "3 of 200 pairs that it merges are different pages"),
        ({"false_positives": 1}, "look", "1 of 200 pairs are different pages"),
        ({"targets": {"seen": 90, "wrong": 10}}, "risky", "10 of 100 results show another page or nothing"),
        (
            {"targets": {"seen": 9, "wrong": 1}, "fetch": False},
            "ok",
            "200 pairs of URLs agree, none differs",
        ),
        ({"targets": {"seen": 40, "unseen": 60}}, "look", "only 40% of its results were seen to work"),
        ({"support": 4}, "look", "it rests on 4 pairs of URLs"),
        ({"support": None}, "look", "it has no evidence"),
        (
            {"source": "{s}://{h}/{p**}?page={**}&{rest**}"},
            "look",
            "it removes `page`, which often chooses what a page shows",
        ),
        (
            {"source": "{s}://{h}/{p**}?{**:start|x}&{rest**}"},
            "look",
            "it removes `start`, which often chooses what a page shows",
        ),
        (
            {"target": "{s}://{h}/ru/{p}?{rest}"},
            "look",
            "it leads to `ru`, which often names a translation",
        ),
        (
            {"target": "{s}://{h}/print/{p}?{rest}"},
            "look",
            "it leads to a printer's, mobile or feed form of a page",
        ),
        ({"target": "{s}://{h}/print/{p}?{rest}", "fetch": False}, "ok", AGREE),
        ({"fpr_upper": 0.35}, "look", "up to 35% of its pages may be lost: too few show that it is right"),
        ({"fpr_upper": 0.02}, "ok", AGREE),
        ({"needs": ("0123456789abcdef",)}, "look", "it is out of effect, for a rule that it needs is"),
        ({"status": "disabled"}, "off", "it is switched off"),
        ({"status": "proposed"}, "proposed", "it is likely and not proven; `undust validate` asks the site"),
        ({"false_positives": 9, "review": {"verdict": "approved", "by": "ann"}}, "ok", "approved by ann"),
        (
            {"review": {"verdict": "rejected", "by": "ann"}},
            "risky",
            "it was rejected by ann, and is still active",
        ),
        ({"review": {"note": "hm"}}, "ok", "200 pairs of URLs agree, none differs"),
    ],
)
def test_each_verdict_has_one_reason(change: dict[str, object], level: str, reason: str) -> None:
    """The reason that matters most is the one that is given."""
    assert verdicts([replace(GOOD, **change)]) == [(level, reason)]  # type: ignore[arg-type]


def test_what_needs_a_person_comes_first() -> None:
    """Risky, then to look at, then the others, each in the order of the file."""
    rules = [
        GOOD,
        replace(GOOD, source="{s}://{h}/{p**}?a={**}&{rest**}", support=2),
        KEEP.with_status("disabled"),
        replace(GOOD, source="{s}://{h}/{p**}?b={**}&{rest**}", false_positives=50),
    ]
    assert most_urgent_first(verdicts(rules)) == [3, 1, 0, 2]


def test_what_results_are_good_for() -> None:
    """A rule that keeps has none; a mask makes keys alone."""
    mask = Rule("shop.test", "rewrite", "{s}://{h}/{a}", "{s}://{h}/{a:any}")
    uses = [use_of(rule) for rule in (GOOD, replace(GOOD, fetch=False), mask, KEEP)]
    assert uses == ["redirect-safe", "compare-only", "compare-only", "keep"]
    assert use_of(replace(GOOD, targets=None)) == "where it leads is not known"
    assert str(leading(GOOD)) == "90% seen to work, 5% by redirect, 5% unseen"
    assert str(leading(KEEP)) == "unknown"
    assert verdict(KEEP).level == "ok"


def test_rules_that_are_the_same_on_many_sites_are_one_group() -> None:
    """With one verdict; the name of the site may be in them, and a condition more makes another rule."""
    rules = [replace(GOOD, site=site) for site in ("a.test", "b.test", "c.test")]
    rules += [replace(rules[0], when=("/x/{**}",)), replace(rules[1], status="disabled")]
    rules += [
        replace(GOOD, site=site, target=f"{{s}}://{site}/{{p}}?{{rest}}") for site in ("a.test", "b.test")
    ]
    rules[2] = replace(rules[2], support=3)
    assert alike_on_sites(rules, verdicts(rules)) == [[2], [0, 1], [3], [5, 6], [4]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rewrite {s}://{h}/guide/{id:int} → {s}://{h}/print.php?id={id}", True),
        ("rewrite {s}://{h}/{p**} → {s}://m.a.test/{p}", True),
        ("rewrite {s}://{h}/{p**}/feed/ → {s}://{h}/{p}/", False),
        ("rewrite {s}://{h}/{a}/print → {s}://{h}/print/{a}", False),
        ("rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}", False),
        ("rewrite {s}://{h}/a/{id:int} → {s}://{h}/imprint/{id}", False),
    ],
)
def test_lesser_forms(text: str, expected: bool) -> None:  # noqa: FBT001 -- a table of answers
    """A printer's, mobile or feed form is not written for the plain one."""
    assert prefers_lesser_form(Rule.parse(text, site="a.test")) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rewrite {s}://{h}/docs/2.4/{a}/{b} → {s}://{h}/manual/ru/{a}/{b}", "ru"),
        ("rewrite {s}://{h}/manual/de/{a} → {s}://{h}/manual/{a}", None),
        ("rewrite {s}://{h}/manual/da/{a}.html.fr → {s}://{h}/manual/fr/{a}", None),
        ("rewrite {s}://{h}/{a}.html → {s}://{h}/{a}.html.fr", "fr"),
        ("rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?hl=pt-BR&{rest}", "pt"),
        ("rewrite {s}://a.test/{p**} → {s}://shop.de/{p}", None),
        ("rewrite {s}://{h}/py3/{a} → {s}://{h}/python/{a}", None),
        ('replace "/manual/es/" → "/manual/ru/"', "ru"),
        ("keep {s}://{h}/ru/{p**}", None),
    ],
)
def test_languages(text: str, expected: str | None) -> None:
    """A code of a language that only the right side has; the end of a host is a country."""
    assert language_written(Rule.parse(text, site="a.test")) == expected


@pytest.mark.parametrize(
    ("written", "read", "expected"),
    [
        (["da"], ["manual", "en"], True),
        (["manual", "en"], ["docs"], True),
        (["print"], ["show"], True),
        (["fr"], [".html.fr"], False),
        (["docs", "2.4"], ["manual", "de"], False),
        ([], ["print", "de"], False),
    ],
)
def test_words_of_other_forms(written: list[str], read: list[str], expected: bool) -> None:  # noqa: FBT001
    """A printer's form, or a language that nothing read names."""
    assert name_other_form(written, read) is expected
