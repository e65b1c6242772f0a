"""Terminal, page, JSON and review: one number for one thing, under one name."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

import undust
from tests.cli.command import run
from tests.showing.report import generated
from undust.jobs.report import ReportInput
from undust.rules import RuleSet
from undust.statistics import Totals

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ("urls", "canonical_urls", "clusters", "lost_pages", "totals")


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write observations as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def facts_in(page: Path) -> dict[str, Any]:
    """What a page carries."""
    text = page.read_text(encoding="utf-8")
    return dict(json.loads(text.split('id="facts">')[1].split("</script>")[0]))


def words(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


@pytest.mark.parametrize("labels", [False, True])
def test_learn_evaluate_and_the_page_count_alike(tmp_path: Path, *, labels: bool) -> None:
    """The same counts in `learn --json`, `evaluate --json`, on both pages, and in both terminals."""
    seen = written(tmp_path / "seen.jsonl", generated.rows(labels=labels, items=60))
    rules, page, other = (tmp_path / name for name in ("rules.json", "page.html", "other.html"))
    learned = json.loads(run("learn", seen, "-o", rules, "--json", "--report", page).out)
    plain = json.loads(run("learn", seen, "--json").out)
    told = json.loads(run("evaluate", rules, seen, "--json").out)
    shown = json.loads(run("report", rules, seen, "--json", "-o", other).out)
    for name in NAMES:
        assert learned[name] == plain[name] == told[name], name
        assert learned["by_site"]["shop.test"][name] == told["sites"]["shop.test"][name], name
    totals = told["totals"]
    assert facts_in(page)["totals"] == facts_in(other)["totals"] == shown["totals"] == totals
    assert totals["judged"] < totals["seen"]
    assert totals["removed_by_normalization"] > 0 < totals["removed_by_rules"]
    sentence = f"{totals['judged']:,} of {totals['seen']:,} URLs of 1 site could be judged"
    for command in (("learn", seen), ("evaluate", rules, seen)):
        assert sentence in words(run(*command).out.decode())
    assert shown["sentence"].startswith(sentence)
    refused = facts_in(page)["sites"]["shop.test"]["refused"]
    assert refused["candidates"] == learned["candidates"]
    assert dict(refused["counts"]) == {name: count for name, count in learned["rejected"].items() if count}


def test_a_candidate_is_counted_once(sample: Callable[[str], Path]) -> None:
    """However often it is tried: those left out are never more than were proposed."""
    told = json.loads(run("learn", sample("shop.jsonl.gz"), "--json").out)
    assert 0 < sum(told["rejected"].values()) <= told["candidates"]


def test_normalization_and_rules_are_two_numbers() -> None:
    """What normalization removes is not credited to rules, none of which there may be."""
    seen = generated.table()
    without, ruled = (undust.evaluate(rules, seen).all_totals for rules in (RuleSet(), generated.rules()))
    assert without.removed_by_rules == 0 < without.removed_by_normalization
    assert ruled.removed_by_normalization == without.removed_by_normalization
    assert ruled.removed_by_rules == ruled.removed - without.removed > 0
    report = undust.report(RuleSet(), seen)
    assert "0 rules remove 0 more" in report.sentence
    assert "%" not in report.sentence


def test_a_log_without_content_is_not_judged(tmp_path: Path) -> None:
    """Normalization does not prove itself right: no share of duplicates is told where nobody knows one."""
    lines = [
        f'h - - [01/Jan/2024:00:00:00 +0000] "GET /{path}{n}{more} HTTP/1.1" 200 {size}'
        for n in range(40)
        for path, more, size in (
            ("p/", "?b=1&a=2", 400 + n),
            ("p/", "?b=1&a=2#x", 400 + n),
            ("./p/", "", 300),
        )
    ]
    log = tmp_path / "access.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    page, rules = tmp_path / "page.html", tmp_path / "rules.json"
    said = words(run("learn", log, "--base", "http://a.test", "-o", rules, "--report", page).out.decode())
    facts = facts_in(page)
    assert facts["figures"] is None
    assert facts["totals"]["judged"] == 0
    assert re.search(r"none of [\d,]+ URLs of 1 site could be judged", said)
    assert words(facts["sentence"]).lower()[:60] in said.lower()
    assert "100" not in facts["sentence"].replace(f"{facts['totals']['seen']:,}", "")
    assert "no two URLs" not in said


def test_rules_for_all_sites_are_counted_on_the_page_and_in_its_terminal(tmp_path: Path) -> None:
    """Where a page is written, the terminal has its numbers; where none is, it says what they leave out."""
    rows = [
        {"url": f"http://s{site}.test/{n}{query}", "digest": f"{site} {n}", "size": 5000}
        for site in range(12)
        for n in range(30)
        for query in ("", f"?utm_source=x{n}", f"?utm_source=y{n}")
    ]
    seen, rules, page = written(tmp_path / "s.jsonl", rows), tmp_path / "r.json", tmp_path / "p.html"
    learned = json.loads(run("learn", seen, "-o", rules, "--report", page, "--json").out)
    told = json.loads(run("evaluate", rules, seen, "--json").out)
    assert learned["totals"] == told["totals"] == facts_in(page)["totals"]
    if learned["rules_for_all_sites"]:
        assert "what they remove is not counted above" in words(run("learn", seen).out.decode())


def test_every_switch_is_counted_as_evaluate_counts() -> None:
    """Rules on and off, one by one: totals, figures and what each does alone are evaluate's."""
    seen, rules = generated.table(), generated.rules()
    gathered = ReportInput(rules, seen)
    for off in (*([one] for one in rules.ids), list(rules.ids), []):
        switched = rules.disable(*off)
        facts = gathered.with_rules(switched).facts_of(generated.SITE)
        expected = undust.evaluate(switched, seen)
        site = facts["sites"][generated.SITE]
        assert facts["totals"] == site["totals"] == expected.all_totals.as_json()
        assert facts["figures"]["removed"] == expected.total.removed
        alone = [rule["alone"]["saved"] for rule in site["rules"] if rule["alone"]]
        assert alone == [row.saved for row in expected.rules]
        assert facts["active"] == site["active"] == expected.active


def test_totals_add_up() -> None:
    """Needed, removed by normalization, removed by rules and left are all judged URLs."""
    found = undust.evaluate(generated.rules(), generated.table()).all_totals
    left = found.left - found.pages + found.lost
    assert found.pages + found.removed_by_normalization + found.removed_by_rules + left == found.judged
    assert found + Totals() == found
    assert undust.report(generated.rules(), generated.table()).facts["overview"] == [
        [
            *("shop.test", found.seen, found.judged, found.pages, found.removed_by_normalization),
            *(found.removed_by_rules, found.removed / found.duplicates, found.lost / found.pages, 5),
        ]
    ]


def test_secrets_that_no_rule_removes_are_masked(tmp_path: Path) -> None:
    """Keys of password resets and invitations are pages of their own; no report has one, nor has the tree."""
    draw = random.Random(5)
    keys = [draw.randbytes(16).hex() for _ in range(120)] + [draw.randbytes(5).hex() for _ in range(120)]
    urls = [f"http://a.test/account/reset?key={key}" for key in keys[:120]]
    urls += [f"http://a.test/invite/{key}" for key in keys[120:]]
    urls += [f"http://a.test/to/user{n}@mail.example/x?page={n}" for n in range(40)]
    rows = [{"url": url, "digest": str(n), "size": 5000} for n, url in enumerate(urls)]
    seen, page = written(tmp_path / "s.jsonl", rows), tmp_path / "p.html"
    assert run("learn", seen, "--report", page, "-q").code == 4
    shown = [page.read_text(encoding="utf-8")]
    assert run("report", written_rules(tmp_path), seen, "-q", "-o", page).code == 0
    shown.append(page.read_text(encoding="utf-8"))
    shown += [run("tree", seen, *more).out.decode() for more in ((), ("--json",))]
    for text in shown:
        assert "***2" in text
        assert "page=7" in text or "page=*" in text
        assert [key for key in keys if key in text] == []
        assert "@mail.example" not in text
    kept = run("tree", seen, "--json", "--keep-values").out.decode()
    assert "@mail.example" in kept


def written_rules(folder: Path) -> Path:
    """A file without rules."""
    RuleSet().save(folder / "none.json")
    return folder / "none.json"


def test_a_local_review_shows_real_values() -> None:
    """Examples that the rule file has masked are taken from the input again."""
    rules = generated.rules()
    masked = rules[2].to_json() | {
        "examples": [["http://shop.test/item/1?sid=***1", "http://shop.test/item/1"]]
    }
    gathered = ReportInput(RuleSet([*rules[:2], masked, *rules[3:]]), generated.table(), keep_values=True)
    told = gathered.facts_of(generated.SITE)
    assert "***" not in json.dumps(told)
    assert all("sid=" in str(example) for example in told["sites"][generated.SITE]["rules"][2]["examples"])


def test_a_shared_report_masks_session_ids_and_shows_pages() -> None:
    """Different ids have different numbers; page numbers and constants of rules are readable."""
    text = json.dumps(undust.report(generated.rules(), generated.table()).facts)
    assert len(set(re.findall(r"sid=\*\*\*(\d+)", text))) > 10
    assert "page=1" in text
    assert not re.search(r"sid=[0-9a-f]{10}", text)
