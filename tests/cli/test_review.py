"""`undust rules verdicts`, `approve`, `reject` and `note`, and what a change does to a sample."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.cli import command
from undust.rules import Rule, RuleSet, load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.command import Ended

KEEP = Rule("shop.test", "keep", "{s}://{h}/{p**}?page={x}&{rest**}")
CUT = Rule(
    "shop.test", "rewrite", "{s}://{h}/{p**}?{**}", "{s}://{h}/{p}", needs=(KEEP.id,), support=20, saves=7
)
SID = Rule(
    "shop.test",
    "rewrite",
    "{s}://{h}/{p**}?sid={**}&{rest**}",
    "{s}://{h}/{p}?{rest}",
    support=2,
    fetch=False,
    targets={"seen": 1, "unseen": 9},
)
PAGE = Rule(
    "shop.test", "rewrite", "{s}://{h}/{p**}?page={**}&{rest**}", "{s}://{h}/{p}?{rest}", status="proposed"
)


def run(*arguments: str | Path, code: int = 0) -> Ended:
    """Run the command, which ends as expected."""
    ended = command.run(*arguments)
    assert ended.code == code, ended.err
    return ended


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A rule file."""
    path = tmp_path / "rules.json"
    RuleSet([KEEP, CUT, SID, PAGE]).save(path)
    return path


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Two pages with and without a session id, and a second page of one."""
    path = tmp_path / "seen.jsonl"
    shown = {"p1": "1", "p1?sid=3": "1", "p2": "2", "p2?sid=4": "2", "p2?page=2": "3"}
    rows = [{"url": f"http://shop.test/{name}", "digest": digest} for name, digest in shown.items()]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_verdicts_are_told_with_their_reason(rules: Path) -> None:
    """What needs a person first, with what its results are good for."""
    lines = run("rules", "verdicts", rules).out.decode().splitlines()
    assert lines[0] == f"look      {SID.id[:8]}  shop.test: it rests on 2 pairs of URLs"
    assert lines[2].strip() == "compare-only; results: 10% seen to work, 90% unseen"
    assert lines[-1] == "1 look, 2 ok, 1 proposed"
    told = json.loads(run("rules", "verdicts", "--json", rules).out)
    assert [rule["id"] for rule in told["rules"]] == [SID.id, KEEP.id, CUT.id, PAGE.id]
    assert told["rules"][0]["verdict"] == "look"


def test_all_rules_as_csv(rules: Path, tmp_path: Path) -> None:
    """One row a rule; no cell that a spreadsheet would run."""
    hostile = replace(SID, source="{s}://{h}/a", target="{s}://{h}/b", review={"note": "=1+1"})
    RuleSet([*load(rules), hostile]).save(rules)
    run("rules", "verdicts", rules, "--csv", tmp_path / "rules.csv")
    with (tmp_path / "rules.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["id"] for row in rows) == sorted([KEEP.id, CUT.id, SID.id, PAGE.id, hostile.id])
    assert {row["note"] for row in rows} == {"", "'=1+1"}
    (sid,) = (row for row in rows if row["id"] == SID.id)
    assert (sid["use"], sid["works_share"], sid["redirect_share"]) == ("compare-only", "0.1", "0.0")
    assert (sid["unseen_share"], sid["wrong_share"], sid["risk"]) == ("0.9", "0.0", "")


def test_a_rule_that_many_sites_have_is_shown_once(tmp_path: Path) -> None:
    """With the number of sites, some of their names, and what it removed on all of them."""
    path = tmp_path / "rules.json"
    drop = replace(CUT, needs=(), fpr_upper=0.02)
    RuleSet([*(replace(drop, site=f"s{n}.test") for n in range(12)), SID]).save(path)
    lines = run("rules", "verdicts", path).out.decode().splitlines()
    assert len(lines) == 8
    assert lines[3].endswith("  12 sites: 20 pairs of URLs agree, none differs")
    assert lines[5].strip() == "where it leads is not known; removed 84 URLs; risk at most 2.00%"
    assert lines[6].strip() == "on s0.test, s1.test, s2.test and 9 more"
    assert lines[-1] == "1 look, 12 ok"


def test_rejecting_what_others_rely_on_is_refused(sample: Path, tmp_path: Path) -> None:
    """With a sample it is known what would be lost; one sentence, exit code 1, and nothing is written."""
    path = tmp_path / "relied.json"
    RuleSet([KEEP, replace(CUT, needs=())]).save(path)
    before = path.read_bytes()
    ended = run("rules", "reject", path, KEEP.id, "--by", "ann", "--sample", sample, code=1)
    assert "pages lost: 1 instead of 0; nothing was written; add --yes to lose them" in ended.err
    assert path.read_bytes() == before
    told = run("rules", "reject", path, KEEP.id, "--by", "ann", "--sample", sample, "--yes", "--json")
    assert json.loads(told.out)["effect"]["lost_pages_after"] == 1
    assert load(path).find(KEEP.id).status == "disabled"


def test_what_a_person_decides_is_in_the_file(rules: Path) -> None:
    """Who, when, verdict and note; a rejected rule is off, and a note changes nothing else."""
    run("rules", "approve", rules, SID.id[:8], "--by", "ann", "--note", "tried")
    review = load(rules).find(SID.id).review
    assert review is not None
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", review["when"])
    assert {key: review[key] for key in ("verdict", "by", "note")} == {
        "verdict": "approved",
        "by": "ann",
        "note": "tried",
    }
    run("rules", "note", rules, SID.id[:8], "--by", "bob", "--note", "again")
    noted = load(rules).find(SID.id)
    assert (noted.review or {})["verdict"] == "approved"
    assert (noted.review or {})["note"] == "again"
    run("rules", "reject", rules, SID.id[:8], "--by", "ann")
    rejected = load(rules).find(SID.id)
    assert (rejected.status, (rejected.review or {})["verdict"]) == ("disabled", "rejected")


def test_all_that_are_ok_are_approved_at_once(rules: Path) -> None:
    """Neither what is to be looked at, nor what is proposed."""
    run("rules", "approve", rules, "--all-ok", "--by", "ann")
    approved = [rule.id for rule in load(rules) if (rule.review or {}).get("verdict") == "approved"]
    assert approved == [KEEP.id, CUT.id]
    assert run("rules", "approve", rules, code=2).err


def test_switching_off_tells_what_goes_with_it(rules: Path, sample: Path) -> None:
    """The rules that need it, and what the change does to the sample."""
    ended = run("rules", "disable", rules, KEEP.id[:8], "--sample", sample)
    assert f"out of effect: {CUT.id[:8]}" in ended.err
    assert "1 rule out of effect, since what is needed is off; removed when learned: 7 URLs" in ended.err
    assert "pages lost: 0 instead of 0" in ended.err


def test_a_change_that_loses_pages_is_refused(sample: Path, tmp_path: Path) -> None:
    """With one sentence and exit code 1, unless --yes says so; nothing is written."""
    unsafe = tmp_path / "unsafe.json"
    RuleSet([replace(PAGE, status="disabled")]).save(unsafe)
    before = unsafe.read_bytes()
    ended = run("rules", "enable", unsafe, PAGE.id[:8], "--sample", sample, code=1)
    assert "pages lost: 1 instead of 0; nothing was written; add --yes to lose them" in ended.err
    assert unsafe.read_bytes() == before
    run("rules", "enable", unsafe, PAGE.id[:8], "--sample", sample, "--yes")
    assert load(unsafe)[0].status == "active"
    merged = tmp_path / "merged.json"
    RuleSet().save(tmp_path / "none.json")
    run("rules", "merge", tmp_path / "none.json", unsafe, "-o", merged, "--sample", sample, code=1)
    assert not merged.exists()
    told = json.loads(
        run(
            *("rules", "merge", tmp_path / "none.json", unsafe, "-o", merged),
            *("--sample", sample, "--yes", "--json"),
        ).out
    )
    assert told["effect"]["lost_pages_after"] == 1


def test_an_import_that_loses_pages_is_refused(sample: Path, tmp_path: Path) -> None:
    """Beside standard normalization."""
    (tmp_path / "robots.txt").write_text("User-agent: Yandex\nClean-param: page\n")
    asked = (
        *("import", tmp_path / "robots.txt", "--from", "clean-param", "--site", "shop.test"),
        *("-o", tmp_path / "rules.json", "--sample", sample),
    )
    assert "pages lost: 1 instead of 0" in run(*asked, code=1).err
    assert not (tmp_path / "rules.json").exists()
    run(*asked, "--yes")
    assert len(load(tmp_path / "rules.json")) == 1


def test_an_export_that_loses_no_more_pages_is_written(sample: Path, tmp_path: Path) -> None:
    """A keep that the target cannot say takes its rules along, so what is left loses nothing more."""
    path, out = tmp_path / "rules.json", tmp_path / "undust.conf"
    RuleSet([KEEP, replace(CUT, needs=())]).save(path)
    run("export", path, "--to", "nginx", "-o", out, "--sample", sample)
    assert "map " in out.read_text()


def test_an_export_that_loses_pages_is_refused(sample: Path, tmp_path: Path) -> None:
    """The target cannot say the rule that gives pages of lists a form of their own before another is used."""
    path, out = tmp_path / "rules.json", tmp_path / "undust.conf"
    text = "rewrite {s}://{h}/{p**}?page={n:int}&{rest**} → {s}://{h}/{p}/page/{n}?{rest:sorted}"
    RuleSet([Rule.parse(text, site="shop.test"), replace(PAGE, status="active")]).save(path)
    asked = ("export", path, "--to", "nginx", "-o", out, "--sample", sample)
    ended = run(*asked, code=1)
    assert "lose 33.3 % of the pages, and all rules lose 0.0 %; nothing was written" in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert not out.exists()
    run(*asked, "--yes")
    assert "map " in out.read_text()


def test_switching_off_what_others_rely_on_is_refused(sample: Path, tmp_path: Path) -> None:
    """One sentence, exit code 1, and the file as it was; --yes does it all the same."""
    path = tmp_path / "rules.json"
    RuleSet([KEEP, replace(CUT, needs=())]).save(path)
    before = path.read_bytes()
    asked = ("rules", "disable", path, KEEP.id[:8], "--sample", sample)
    ended = run(*asked, code=1)
    assert "pages lost: 1 instead of 0; nothing was written; add --yes to lose them" in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert path.read_bytes() == before
    run(*asked, "--yes")
    assert load(path)[0].status == "disabled"


def test_learning_what_loses_pages_of_the_sample_is_refused(tmp_path: Path) -> None:
    """The rules from before stay; --yes takes the new ones."""
    seen, other, out = tmp_path / "seen.jsonl", tmp_path / "other.jsonl", tmp_path / "rules.json"
    RuleSet().save(out)
    taught = [(f"{n}{end}", str(n)) for n in range(40) for end in ("", "?x=1", "?x=2")]
    told = [(f"{n}?x={x}", f"{n} {x}") for n in range(40) for x in (1, 2)]
    for path, rows in ((seen, taught), (other, told)):
        lines = (json.dumps({"url": f"http://a.test/{name}", "digest": text}) for name, text in rows)
        path.write_text("".join(f"{line}\n" for line in lines))
    ended = run("learn", seen, "-q", "--update", out, "--sample", other, code=1)
    assert "pages lost: 40 instead of 0; nothing was written" in ended.err
    assert len(load(out)) == 0
    run("learn", seen, "-q", "--update", out, "--sample", other, "--yes")
    assert len(load(out)) == 1
