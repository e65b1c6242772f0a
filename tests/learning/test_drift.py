"""Rules over time: what is proved again, what is retired, what stays off, what comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import undust
from tests.learning.labelled import idle, labelled, table_of
from undust.errors import UndustError
from undust.jobs.combined import learn_combined
from undust.learning import Drift, Requirements, merged, proved_again
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from undust.learning.drift import Fate

DAY = "2026-11-15"


def rule(text: str, site: str = "a.test") -> Rule:
    """A rule of a site."""
    return Rule.parse(f"rewrite {text}", site=site)


SID = rule("{s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}")
REF = rule("{s}://{h}/{p**}?ref={**}&{rest**} → {s}://{h}/{p}?{rest}")


def both(n: int) -> list[str]:
    """A page under four URLs; neither parameter matters."""
    page = f"http://a.test/p/{n}"
    return [page, f"{page}?sid={n * 7919}", f"{page}?ref={n % 7}", f"{page}?ref={n % 7}&sid=x{n}"]


def fates(rules: Iterable[Rule], table: pa.Table) -> dict[str, str]:
    """What becomes of the rules of one site."""
    (site,) = undust.find_duplicates(table)
    return {str(each): fate for fate, each in proved_again(site, list(rules), Requirements(), DAY)}


def changed() -> pa.Table:
    """The same site later: the session id selects now."""
    rows = [(url, f"{n} {url.partition('sid=')[2]}") for n in range(60) for url in both(n)]
    return table_of(rows)


def test_what_holds_gets_new_figures() -> None:
    """Those of the new evidence, with the day; what the input cannot test stays as it is."""
    table = table_of(labelled(both))
    (site,) = undust.find_duplicates(table)
    other = rule("{s}://{h}/old/{p**}?{rest**} → {s}://{h}/{p}?{rest}")
    again = proved_again(site, [SID, REF, other], Requirements(), DAY)
    assert [fate for fate, _ in again] == ["holds", "holds", "not seen"]
    held = again[0][1]
    assert held.id == SID.id
    assert held.validated == {"how": "new evidence", "when": DAY}
    # Beside the other rule the session id leaves one of three forms of each of 60 pages.
    assert (held.saves, held.false_positives, held.fpr) == (60 * 2, 0, 0.0)
    assert held.support == 60 * (6 - 1)
    assert again[2][1] == other


def test_a_rule_whose_urls_others_would_change_is_put_to_the_test() -> None:
    """Without it the general rule leaves forms that it does not match; its URLs speak for it all the same."""
    joint = rule("{s}://{h}/{p**}?ref={**}&sid={**}&{rest**} → {s}://{h}/{p}?{rest}")

    def forms(n: int) -> list[str]:
        page = f"http://a.test/p/{n}"
        return [page, f"{page}?sid={n * 7919}", f"{page}?ref={n % 7}&sid=x{n}"]

    (site,) = undust.find_duplicates(table_of(labelled(forms)))
    again = proved_again(site, [joint, SID], Requirements(), DAY)
    assert [(fate, each.saves, each.support) for fate, each in again] == [
        ("holds", 60, 2 * 60),
        ("holds", 60, 2 * 60),
    ]
    later = table_of([(url, f"{n} {url.partition('ref=')[2]}") for n in range(60) for url in forms(n)])
    assert fates([joint, SID], later)[str(joint)] == "retired"


def test_what_fails_is_retired_with_reason_and_day() -> None:
    """It is off, it stays in the file, and it says why."""
    rules = undust.learn(table_of(labelled(both)))
    later = undust.learn(changed(), update=rules, today=DAY)
    gone = [each for each in later if each.extra.get("retired")]
    assert [str(each) for each in gone] == [str(SID)]
    assert gone[0].status == "disabled"
    assert gone[0].extra["retired"]["when"] == DAY
    assert "would be lost" in gone[0].extra["retired"]["reason"]
    assert "retired 2026-11-15: " in str(later)
    canonical = later.compile()
    assert canonical("http://a.test/p/1?sid=5") == "http://a.test/p/1?sid=5"
    assert canonical.key("http://a.test/p/1?ref=5") == "http://a.test/p/1"


def test_without_a_day_none_is_written() -> None:
    """Learning looks at no clock."""
    rules = undust.learn(table_of(labelled(both)))
    assert b'"when": "' not in undust.learn(changed(), update=rules).dumps()


def test_one_page_that_changed_retires_nothing() -> None:
    """A rule with sixty good pages is not given up for a single bad one."""
    rows = [
        (url, "changed" if url == "http://a.test/p/7?sid=55433" else page) for url, page in labelled(both)
    ]
    assert fates([SID, REF], table_of(rows))[str(SID)] == "holds"


def test_rules_that_do_the_same_harm_do_not_hide_each_other() -> None:
    """Without one of them the other still loses the pages, so none seems to blame."""
    twin = rule("{s}://{h}/{p**}?{**:sid|zid}&{rest**} → {s}://{h}/{p}?{rest}")
    found = fates([SID, twin, REF], changed())
    assert found[str(REF)] == "holds"
    assert found[str(SID)] == found[str(twin)] == "retired"


def test_what_a_person_switched_off_stays_off() -> None:
    """Even though all evidence is for it."""
    table = table_of(labelled(both))
    rules = undust.learn(table)
    off = next(each for each in rules if str(each) == str(SID))
    later = undust.learn(table, update=rules.disable(off.id))
    assert later.find(off.id).status == "disabled"
    assert "retired" not in later.find(off.id).extra
    assert later.compile()("http://a.test/p/1?sid=5") == "http://a.test/p/1?sid=5"


def test_a_no_is_respected_for_all_sites_too() -> None:
    """What other sites prove does not reach a site whose owner does not want it."""
    table = table_of(*(labelled(idle(f"{name}.test")) for name in "abcd"))
    rules = undust.learn(table)
    own = next(each for each in rules if each.site == "a.test")
    star = next(each for each in rules if each.site == "*")
    later = undust.learn(table, update=rules.disable(own.id))
    canonical = later.compile()
    assert canonical("http://a.test/p/x?sid=5") == "http://a.test/p/x?sid=5"
    assert canonical("http://b.test/p/x?sid=5") == "http://b.test/p/x"
    assert canonical("http://new.test/p/x?sid=5") == "http://new.test/p/x"
    nowhere = undust.learn(table, update=rules.disable(star.id))
    assert nowhere.compile()("http://new.test/p/x?sid=5") == "http://new.test/p/x?sid=5"


def test_what_was_retired_may_come_back() -> None:
    """By evidence, as it went; then it is a rule like any other."""
    table = table_of(labelled(both))
    retired = undust.learn(changed(), update=undust.learn(table), today=DAY)
    outcome = learn_combined(table, update=retired)
    assert outcome.drift is not None
    assert [str(each) for each in outcome.drift.of("back")] == [str(SID)]
    back = outcome.rules.find(SID.id)
    assert back.status == "active"
    assert "retired" not in back.extra


def test_what_was_retired_and_switched_off_stays_off() -> None:
    """A person's no is heard whenever it comes: right after evidence said so too, or after a yes."""
    table = table_of(labelled(both))
    retired = undust.learn(changed(), update=undust.learn(table), today=DAY)
    for rules in (retired.disable(SID.id), retired.enable(SID.id).disable(SID.id)):
        outcome = learn_combined(table, update=rules)
        assert outcome.drift is not None
        assert outcome.drift.of("back") == ()
        assert outcome.rules.find(SID.id).status == "disabled"
        assert outcome.rules.compile()("http://a.test/p/1?sid=5") == "http://a.test/p/1?sid=5"
    again = undust.learn(table, update=retired.disable(SID.id).enable(SID.id))
    assert again.find(SID.id).status == "active"


def test_what_is_new_comes_behind_what_holds() -> None:
    """Old rules keep their places, and new ones are proved beside them."""
    rules = undust.learn(table_of(labelled(idle("a.test"))))
    later = undust.learn(table_of(labelled(both)), update=rules)
    assert later.ids[: len(rules)] == rules.ids
    assert len(later) > len(rules)
    assert later.compile()("http://a.test/p/x?ref=1&sid=2") == "http://a.test/p/x"


def test_the_same_evidence_again_changes_nothing_but_figures() -> None:
    """Nor does evidence about other sites, which leaves the rules as they were."""
    table = table_of(labelled(both))
    rules = undust.learn(table)
    assert undust.learn(table, update=rules).ids == rules.ids
    elsewhere = undust.learn(table_of(labelled(idle("b.test"))), update=rules)
    assert list(elsewhere)[: len(rules)] == list(rules)


def test_the_rest_of_the_file_is_kept() -> None:
    """Whatever somebody wrote beside the rules."""
    rules = undust.RuleSet.loads(
        json.dumps({"format": "undust-rules", "version": 1, "owner": "web team", "rules": [SID.to_json()]})
    )
    assert b'"owner": "web team"' in undust.learn(table_of(labelled(both)), update=rules).dumps()


def test_rules_for_all_sites_are_proved_again_too() -> None:
    """A new site speaks against one, and it is off there; several do, and it is off for all."""
    three = [labelled(idle(f"{name}.test")) for name in "abcdefghijkl"]
    rules = undust.learn(table_of(*three))
    (star,) = [each for each in rules if each.site == "*"]
    bad = [
        [(f"http://bad{k}.test/p{mark}", f"{k} {mark}") for mark in ("", *(f"?sid={n}" for n in range(20)))]
        for k in range(6)
    ]
    once = undust.learn(table_of(bad[0]), update=rules, today=DAY).find(star.id)
    assert (once.status, once.except_sites) == ("active", ("bad0.test",))
    gone = undust.learn(table_of(*bad), update=rules, today=DAY).find(star.id)
    assert gone.status == "disabled"
    assert "bad0.test" in gone.extra["retired"]["reason"]


@pytest.mark.parametrize(
    "said", ["nonsense", {}, {"sites": "many", "failing": None}, {"sites": -1}, {"sites": True}]
)
def test_what_somebody_wrote_there_does_no_harm(said: object) -> None:
    """The key `across` is a note like any other in a file that people edit."""
    star = rule("{s}://{h}/{p**}?sid={**} → {s}://{h}/{p}", site="*")
    odd = Rule.from_json(star.to_json() | {"learned_by": "across", "across": said})
    later = undust.learn(table_of(labelled(idle("a.test"))), update=undust.RuleSet([odd]))
    assert later.find(star.id).extra["across"]["sites"] == 3


def test_what_a_file_claims_has_bounds() -> None:
    """A number beyond all sites, and a past so bad that nothing outweighs it: told without a site."""
    star = rule("{s}://{h}/{p**}?sid={**} → {s}://{h}/{p}", site="*")
    table = table_of(labelled(idle("a.test")))

    def later(claimed: dict[str, float]) -> Rule:
        odd = Rule.from_json(star.to_json() | {"learned_by": "across", "across": claimed})
        return undust.learn(table, update=undust.RuleSet([odd])).find(star.id)

    assert later({"sites": 10**400, "failing": 0.01}).status == "active"
    gone = later({"failing": 0.9})
    assert gone.status == "disabled"
    assert gone.extra["retired"]["reason"] == "it failed too often before, and holds on too few now"


def test_a_flip_is_sudden() -> None:
    """Three of ten or fewer are drift; most of them at once are not."""
    holds: tuple[Fate, Rule] = ("holds", SID)
    gone: tuple[Fate, Rule] = ("retired", SID)
    assert not Drift((*[holds] * 8, *[gone] * 2)).is_sudden
    assert not Drift((*[holds] * 7, *[gone] * 3)).is_sudden
    assert Drift((*[holds] * 6, *[gone] * 4)).is_sudden
    assert not Drift((gone, gone)).is_sudden


def test_a_flip_of_one_site_is_sudden_however_many_hold_elsewhere() -> None:
    """A site that was moved, or that gave a login page to the crawler, is told by its name."""
    elsewhere: list[tuple[Fate, Rule]] = [("holds", replace(SID, site=f"s{n}.test")) for n in range(50)]
    gone: tuple[Fate, Rule] = ("retired", SID)
    held: tuple[Fate, Rule] = ("holds", SID)
    flip = Drift((*elsewhere, *[gone] * 3))
    assert (flip.is_sudden, flip.flipped) == (True, ("a.test",))
    assert not Drift((*elsewhere, *[gone] * 3, *[held] * 3)).is_sudden
    assert not Drift((*elsewhere, *[gone] * 2)).is_sudden


def test_what_a_person_wrote_and_switched_off_is_off_for_all_sites() -> None:
    """It has no examples, and none is needed: what other rules were seen to do tells."""
    sites = [labelled(idle(f"{name}.test")) for name in "abcdefghijkl"]
    off = rule("{s}://{h}/{p**}?sid={v} → {s}://{h}/{p}", site="*").with_status("disabled")
    later = undust.learn(table_of(*sites), update=undust.RuleSet([off]))
    assert [each.status for each in later if each.site == "*"] == ["disabled"]
    assert later.compile()("http://new.test/p?sid=1") == "http://new.test/p?sid=1"


def test_merging_keeps_places_and_ids_unique() -> None:
    """The union of before and now, nothing twice."""
    off = REF.with_status("disabled")
    both_rules = merged([("holds", SID), ("off", off)], [SID, REF])
    assert both_rules == [("holds", SID), ("off", off)]


def test_only_all_methods_together_update() -> None:
    """The published learners know nothing of rules from before."""
    with pytest.raises(UndustError, match="updates rules"):
        undust.learn(table_of(labelled(both)), methods=["tree"], update=undust.RuleSet([SID]))
