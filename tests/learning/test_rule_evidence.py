"""Evidence over several inputs: it adds up, and the same URLs are counted once."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

import undust
from tests.learning.labelled import table_of
from undust.learning import Requirements, proved_again
from undust.learning.rule_evidence import SAMPLED, Record, SeenUrls, accumulated, counted
from undust.rules import Rule, RuleSet

SID = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} -> {s}://{h}/{p}?{rest}", site="a.test")


def rows(pages: range) -> list[tuple[str, str]]:
    """Pages under three URLs each."""
    return [
        (f"http://a.test/p/{page}{form}", str(page))
        for page in pages
        for form in ("", f"?sid=x{page}", f"?sid=y{page}")
    ]


def again(rule: Rule, pages: range) -> Rule:
    """The rule after one more input."""
    (site,) = undust.find_duplicates(table_of(rows(pages)))
    ((fate, proved),) = proved_again(site, [rule], Requirements(), "2026-11-15")
    assert fate == "holds"
    return proved


def figures(rule: Rule) -> tuple[int | None, ...]:
    """What is counted."""
    return rule.support, rule.false_positives, rule.saves


def test_new_pages_add_to_those_of_before() -> None:
    """A small input adds its evidence to that of a large one, whichever comes first."""
    large, small = again(SID, range(2000)), again(SID, range(5000, 5010))
    assert figures(large) == (6000, 0, 4000)
    assert figures(small) == (30, 0, 20)
    assert figures(again(large, range(5000, 5010))) == (6030, 0, 4020)
    assert figures(again(small, range(2000))) == (6030, 0, 4020)
    assert again(large, range(5000, 5010)).fpr_upper <= large.fpr_upper  # type: ignore[operator]


def test_the_same_input_counts_once() -> None:
    """However often it is given, alone or with others between."""
    once = again(SID, range(300))
    assert figures(again(once, range(300))) == figures(once)
    both = again(once, range(300, 310))
    for pages in (range(300), range(300, 310), range(300)):
        both = again(both, pages)
    assert figures(both) == (930, 0, 620)


def test_pages_that_are_there_again_are_not_counted_again() -> None:
    """Old files and new ones together, or a part of what was there."""
    once = again(SID, range(1000))
    more = again(once, range(1500))
    assert figures(more)[0] == pytest.approx(4500, rel=0.12)
    assert figures(again(once, range(500)))[0] == pytest.approx(3000, rel=0.12)


def test_learned_rules_count_what_they_were_learned_from() -> None:
    """So the crawl that taught them adds nothing, and another one does."""
    table = table_of(rows(range(200)))
    (learned,) = undust.learn(table)
    (same,) = undust.learn(table, update=RuleSet([learned]))
    assert (learned.support or 0) > 0
    assert figures(same) == figures(learned)
    (more,) = undust.learn(table_of(rows(range(200, 210))), update=RuleSet([learned]))
    assert figures(more) == ((learned.support or 0) + 30, 0, (learned.saves or 0) + 20)


def test_without_a_record_the_larger_body_of_evidence_stands() -> None:
    """A file of an older version, or of a person: nothing tells what was counted."""
    old = replace(SID, support=20_447, false_positives=3, saves=9_000, fpr=0.000147, fpr_upper=0.0004)
    new = again(old, range(2))
    assert figures(new) == (20_447, 3, 9_000)
    assert new.fpr_upper == 0.0004
    assert figures(again(replace(SID, support=5, saves=4), range(200))) == (600, 0, 400)
    assert figures(again(new, range(10, 20)))[0] == 20_447 + 30


def test_what_speaks_against_a_rule_counts_again() -> None:
    """A page of a URL that was counted before may have changed."""
    once = again(SID, range(300))
    changed = [(url, "changed" if url.endswith("=x7") else page) for url, page in rows(range(300))]
    (site,) = undust.find_duplicates(table_of(changed))
    ((_, proved),) = proved_again(site, [once], Requirements(), None)
    assert proved.support == once.support
    assert (proved.false_positives or 0) > 0
    assert (proved.fpr_upper or 0) > (once.fpr_upper or 0)


@pytest.mark.parametrize(
    "said",
    [
        None, [], {}, {"inputs": [1]},
        {"inputs": [], "urls": "?", "pages": 1, "lost": 0},
        {"inputs": [], "urls": "AAAA", "pages": 1, "lost": 0},
        {"inputs": [], "urls": "", "pages": -1, "lost": 0},
        {"inputs": [], "urls": "", "pages": 1, "lost": 0, "left_out": -1},
        {"inputs": [], "urls": "", "pages": 1, "lost": 0, "left_out": "1"},
        {"inputs": [], "urls": "", "pages": 1, "lost": 0, "left_out": float("nan")},
        {"inputs": [], "urls": base64.b64encode(b"x" * 6 * 99).decode(), "pages": 1, "lost": 0},
    ],
)  # fmt: skip
def test_a_broken_record_is_none(said: object) -> None:
    """Whoever edits the file cannot break learning."""
    assert Record.from_json(said) is None
    assert figures(again(replace(SID, support=7, extra={"counted": said}), range(10))) == (30, 0, 20)


def test_pages_that_conditions_leave_out_are_kept_over_inputs() -> None:
    """Another input adds pages that are right, and does not take back what one has shown."""
    (site,) = undust.find_duplicates(table_of(rows(range(9))))
    seen = SeenUrls.of(site)
    doubted, sure = counted(SID, seen, 9, 0, 1.5), counted(SID, seen, 9, 0)
    assert doubted.extra["counted"]["left_out"] == 1.5
    assert "left_out" not in sure.extra["counted"]
    for one, other in ((doubted, sure), (sure, doubted)):
        assert accumulated(one, other, seen).extra["counted"]["left_out"] == 1.5


def test_a_record_is_small_and_comes_back_as_it_was() -> None:
    """However many inputs there were."""
    rule = SID
    for start in range(0, 2500, 100):
        rule = again(rule, range(start, start + 100))
    said = rule.extra["counted"]
    record = Record.from_json(said)
    assert record is not None
    assert record.to_json() == said
    assert len(record.inputs) == 20
    assert len(record.sample) == SAMPLED
    (site,) = undust.find_duplicates(table_of(rows(range(2500))))
    assert record.sample.tolist() == SeenUrls.of(site).hashes[:SAMPLED].tolist()
