"""What a single learner finds is believed as anybody's is: on enough pages, on all pages, and as a set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from undust.jobs.learn import learn_with
from undust.judging.verdict import Candidate, Proposal, VerdictLimits
from undust.learning.outcome import TOGETHER
from undust.learning.single_methods import Job, learn_sites
from undust.proposing import papers
from undust.proposing.papers import Learner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

    from undust.learning.single_methods import MethodOutcome

SITE = "a.test"
TO_B = "rewrite {s}://{h}/a/{x}?{rest**} → {s}://{h}/b/{x}?{rest}"
NO_T = "rewrite {s}://{h}/b/{x}?t={**} → {s}://{h}/b/{x}"
NO_SID = "rewrite {s}://{h}/{p**}?sid={**} → {s}://{h}/{p}"


@dataclass(frozen=True)
class Options:
    """A learner without options."""


def learned(
    monkeypatch: pytest.MonkeyPatch, rows: Iterable[tuple[str, str]], *texts: str, **said: float
) -> MethodOutcome:
    """What comes of a learner that proposes these rules."""
    return learned_by(monkeypatch, rows, {"tree": texts}, **said)


def learned_by(
    monkeypatch: pytest.MonkeyPatch,
    rows: Iterable[tuple[str, str]],
    proposed: Mapping[str, Iterable[str]],
    **said: float,
) -> MethodOutcome:
    """What comes of learners, each of which proposes some rules."""

    def learner(name: str) -> Learner:
        rules = [replace(undust.Rule.parse(text, site=SITE), learned_by=name) for text in proposed[name]]
        proposal = Proposal(tuple(Candidate((rule,), 1, "urls") for rule in rules))
        return Learner(name, lambda _, __: proposal, Options)

    monkeypatch.setattr(papers, "LEARNERS", tuple(map(learner, proposed)))
    return learn_with(table_of(rows), list(proposed), **said)  # type: ignore[arg-type]


def table_of(rows: Iterable[tuple[str, str]]) -> pa.Table:
    """URLs, and which page each shows."""
    urls, pages = zip(*rows, strict=True)
    return pa.table({"url": [f"http://{SITE}{url}" for url in urls], "cluster": pages})


def reasons(found: MethodOutcome) -> list[str]:
    """Why each candidate was taken or not."""
    return [verdict.reason for verdict in found.verdicts]


def idle(pages: int, start: int = 0) -> list[tuple[str, str]]:
    """Pages on which sessions do nothing."""
    return [(f"/{n}{tail}", f"{n}") for n in range(start, start + pages) for tail in ("", f"?sid={n}")]


def chained() -> list[tuple[str, str]]:
    """Either rule is right wherever it was seen; after the first, the second meets what it never saw."""
    moved = [(f"/{folder}/{n}", f"{n}") for n in range(60) for folder in "ab"]
    dropped = [(f"/b/{n}{tail}", f"{n}") for n in range(100, 160) for tail in ("", "?t=1", "?t=2")]
    apart = [(f"/a/{n}?t={t}", f"{n} {t}") for n in range(200, 260) for t in (1, 2)]
    return [*moved, *dropped, *apart]


def test_rules_that_are_right_alone_can_be_wrong_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the two goes, the one that costs least; the set that is left loses nothing."""
    found = learned(monkeypatch, chained(), TO_B, NO_T)
    assert reasons(found).count(TOGETHER) == 1
    assert [str(rule) for rule in found.rules] == [NO_T]
    assert undust.evaluate(found.rules, table_of(chained())).total.lost_pages == 0
    alone = learn_sites(undust.find_duplicates(table_of(chained())), Job(("tree",), alone=True))
    assert [str(rule) for rule in alone.rules] == [TO_B, NO_T]
    assert undust.evaluate(alone.rules, table_of(chained())).total.lost_pages > 50


def test_a_person_who_allows_it_gets_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """The set is held against the bound that was asked for, now or later."""
    found = learned(monkeypatch, chained(), TO_B, NO_T, max_fpr=0.9)
    assert len(found.rules) == 2
    strict = found.under(VerdictLimits())
    assert strict.verdicts == learned(monkeypatch, chained(), TO_B, NO_T).verdicts


def test_rules_that_never_end_together_hide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that are right alone make URLs longer for ever; what others lose beside them is seen anyway."""
    longer = ("rewrite {s}://{h}/{p**}/c → {s}://{h}/{p}/d", "rewrite {s}://{h}/{p**}/d → {s}://{h}/{p}/e/c")
    forms = [
        (f"/{start}{n}/{form}", f"{start} {n}")
        for start in ("0", "zz")
        for n in range(400)
        for form in ("c", "d", "e/c")
    ]
    found = learned(monkeypatch, [*chained(), *forms], TO_B, NO_T, *longer)
    assert [str(rule) for rule in found.rules] == [NO_T, longer[1]]
    assert undust.evaluate(found.rules, table_of([*chained(), *forms])).total.lost_pages == 0
    assert found.as_json()["held_out_pairs"] > 200


def test_one_rule_of_two_learners_is_one_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes from both, and what was right beside it stays."""
    rows = [(f"/b/{n}{tail}", f"{n}") for n in range(400) for tail in ("", "?t=1")]
    rows += [(f"/b/{n}{tail}", f"{n} {tail}") for n in range(1000, 1004) for tail in ("", "?t=1")]
    rows += [(f"/a/{n}", f"{n}") for n in range(200)]
    once = learned(monkeypatch, rows, NO_T, TO_B)
    twice = learned_by(monkeypatch, rows, {"tree": (NO_T, TO_B), "rewrite": (NO_T,)})
    assert [str(rule) for rule in once.rules] == [str(rule) for rule in twice.rules]
    assert TO_B in map(str, twice.rules)


def test_few_pages_prove_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three clean pages of three say less than thirty."""
    few, many = (learned(monkeypatch, idle(pages), NO_SID) for pages in (9, 200))
    assert (len(few.rules), len(many.rules)) == (0, 1)
    assert "prove too little for a rule of its kind" in reasons(few)[0]
    (verdict,) = many.verdicts
    assert 0 < verdict.risk < 0.005


def test_pages_it_was_learned_from_speak_against_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever part is held out, a rule that loses one page in ten of the whole site is not taken."""
    wrong = [(f"/{n}{tail}", f"{n}{tail}") for n in range(300, 320) for tail in ("", "?sid=1")]
    rows = [*idle(180), *wrong]
    found = [learned(monkeypatch, rows, NO_SID, seed=seed) for seed in range(5)]
    assert not any(one.rules for one in found)
    assert all(one.verdicts[0].known_lost == len(wrong) // 2 for one in found)
    lucky = replace(found[0].verdicts[0], lost=0, false_pairs=0).under(VerdictLimits())
    assert lucky.reason == "with those it was learned from, 20 of 200 pages are lost"


def test_the_bound_of_the_set_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """In pairs that were held out; of a single method no page is left to check the set on."""
    told = learned(monkeypatch, idle(200), NO_SID).as_json()
    assert told["held_out_pairs"] > 50
    assert told["held_out_false_pairs"] == 0
    assert told["fpr_upper"] == 1.0
