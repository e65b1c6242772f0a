"""After the proof: what others make redundant, and one of two inverse rules, is switched off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from undust.asking.rule_file import dispensable
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from undust.asking.outcome import Validation

DROP = "rewrite {{s}}://{{h}}/{{p**}}?{{**:{}}}&{{rest**}} -> {{s}}://{{h}}/{{p}}?{{rest}}"
THERE, BACK = (
    "rewrite {s}://{h}/a/{x}?{rest**} -> {s}://{h}/b/{x}?{rest}",
    "rewrite {s}://{h}/b/{x}?{rest**} -> {s}://{h}/a/{x}?{rest}",
)


def rules_of(*texts: str) -> RuleSet:
    """Rules of one site."""
    return RuleSet([Rule.parse(text, site="shop.test") for text in texts])


def proved(rules: RuleSet, pages: dict[str, str]) -> Validation:
    """The rules after a proof by what is known of some URLs."""
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    return undust.validate(rules, table)


def shop() -> dict[str, str]:
    """Twenty pages, each in six forms."""
    return {
        f"http://shop.test/{word}/{n}{query}": str(n)
        for n in range(20)
        for word in "ab"
        for query in ("", f"?sid={n}", f"?ref={n}&sid=1")
    }


def test_one_of_two_inverse_rules_stays() -> None:
    """The one that is confirmed stays, and all that was equal is equal still."""
    done = proved(rules_of(THERE, BACK), shop())
    assert done.outcomes[0].verdict == "confirmed"
    assert [rule.status for rule in done.rules] == ["active", "disabled"]
    gone = done.rules[1].extra["retired"]
    assert gone["reason"].startswith(f"it undoes rule {done.rules[0].id}, which stays")
    assert gone["when"] == done.rules[0].validated["when"]  # type: ignore[index]
    assert done.retired == 1
    assert done.to_json()["rules"][1]["switched_off"] == gone["reason"]
    assert done.rules.check() == ()
    assert done.rules.compile()("http://shop.test/a/7") == "http://shop.test/b/7"


def test_a_redundant_rule_is_switched_off() -> None:
    """The narrower of two that do the same; results stay as they were."""
    rules = rules_of(DROP.format("sid"), DROP.format("sid|ref"), THERE)
    done = proved(rules, shop())
    assert [rule.status for rule in done.rules] == ["disabled", "active", "active"]
    assert "redundant" in done.rules[0].extra["retired"]["reason"]
    urls = pa.array(sorted(shop()))
    assert rules.compile().batch(urls) == done.rules.compile().batch(urls)
    again = undust.validate(done.rules, pa.table({"url": list(shop()), "cluster": list(shop().values())}))
    assert [rule.status for rule in again.rules] == ["disabled", "active", "active"]
    assert again.rules[0].extra["retired"] == done.rules[0].extra["retired"]


def test_what_is_confirmed_is_not_given_up_for_what_is_not() -> None:
    """The wider rule may be wrong elsewhere; the narrower one is proved."""
    rules = rules_of(DROP.format("sid"), DROP.format("sid|ref"))
    none: dict[str, pa.Array] = {"shop.test": pa.array([], pa.large_string())}
    assert list(dispensable(rules, [rules.ids[0]], none)) == []
    assert list(dispensable(rules, rules.ids, none)) == [rules.ids[0]]
    assert list(dispensable(rules, [rules.ids[1]], none)) == [rules.ids[0]]
    inverse = rules_of(THERE, BACK)
    assert list(dispensable(inverse, [inverse.ids[1]], none)) == [inverse.ids[0]]
    assert list(dispensable(inverse, [], none)) == [inverse.ids[1]]


def test_an_inverse_that_holds_things_together_stays() -> None:
    """Without it some URLs would no longer be equal."""
    narrow = "rewrite {s}://{h}/a/{x:int}?{rest**} -> {s}://{h}/b/{x}?{rest}"
    rules = rules_of(narrow, BACK)
    none: dict[str, pa.Array] = {"shop.test": pa.array([], pa.large_string())}
    assert list(dispensable(rules, rules.ids, none)) == [rules.ids[0]]


@pytest.mark.parametrize(
    "texts", [(DROP.format("sid"), DROP.format("ref")), ("keep {s}://{h}/x", DROP.format("a"))]
)
def test_what_is_needed_stays(texts: tuple[str, ...]) -> None:
    """Also a keep that protects nothing yet."""
    rules = rules_of(*texts)
    assert dispensable(rules, rules.ids, {"shop.test": pa.array(sorted(shop()))}) == {}


def test_what_a_person_switched_off_is_left_alone() -> None:
    """It is off already, and says nothing about others."""
    rules = rules_of(THERE, BACK).disable(rules_of(THERE).ids[0])
    done = proved(rules, shop())
    assert [rule.status for rule in done.rules] == ["disabled", "active"]
    assert done.retired == 0
