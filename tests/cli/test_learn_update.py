"""`undust learn --update`: the file that was there is proved again, and never lost to a bad crawl."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

import undust
from tests.cli.command import UNDUST, run, sentence
from tests.learning.labelled import labelled, table_of

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("sid", "ref", "utm", "gcl", "zid")


def value(n: int, place: int) -> str:
    """What a visitor got: hexadecimal digits that look random."""
    return f"{(n * 7919 + place + 1) * 0x9E3779B97F4A7C15 % (1 << 64):016x}"


def forms(n: int) -> list[str]:
    """A page with five parameters that do nothing."""
    page = f"http://a.test/p/{n}"
    return [page, *(f"{page}?{name}={value(n, place)}" for place, name in enumerate(NAMES))]


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    """Write observations with labels."""
    path.write_text(
        "".join(json.dumps({"url": url, "cluster": page}) + "\n" for url, page in rows), encoding="utf-8"
    )
    return path


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """What was seen first."""
    return write(tmp_path / "crawl.jsonl", labelled(forms))


@pytest.fixture
def flipped(tmp_path: Path) -> Path:
    """What was seen later: every URL shows a page of its own."""
    return write(tmp_path / "flipped.jsonl", [(url, url) for url, _ in labelled(forms)])


@pytest.fixture(scope="module")
def learned() -> undust.RuleSet:
    """The rules of the first crawl."""
    rules = undust.learn(table_of(labelled(forms)))
    assert len(rules) == len(NAMES)
    return rules


@pytest.fixture
def rules(learned: undust.RuleSet, tmp_path: Path) -> Path:
    """The same in a file of the test's own."""
    learned.save(tmp_path / "rules.json")
    return tmp_path / "rules.json"


def test_the_file_is_updated_in_place(crawl: Path, rules: Path) -> None:
    """What a person switched off stays off, the rest holds, and the report says so."""
    run("rules", "disable", rules, undust.load(rules).ids[0])
    text = run("learn", crawl, "--update", rules, "--today", "2026-11-15").out.decode()
    assert "4 held on the new evidence" in text
    assert "1 still off" in text
    later = undust.load(rules)
    assert [rule.status for rule in later] == ["disabled", *["active"] * 4]
    assert later[1].validated == {"how": "new evidence", "when": "2026-11-15"}


def test_another_file_leaves_the_old_one_alone(crawl: Path, rules: Path, tmp_path: Path) -> None:
    """With -o."""
    before, other = rules.read_bytes(), tmp_path / "other.json"
    told = json.loads(run("learn", crawl, "--update", rules, "-o", other, "--json").out)
    assert told["drift"]["counts"] == {"holds": 5}
    assert rules.read_bytes() == before
    assert len(undust.load(other)) == 5


def test_the_file_that_is_replaced_is_kept(crawl: Path, rules: Path, tmp_path: Path) -> None:
    """As rules.json.bak, byte by byte; where nothing is replaced there is none."""
    before, backup = rules.read_bytes(), tmp_path / "rules.json.bak"
    run("learn", crawl, "--update", rules, "-o", tmp_path / "other.json", "-q")
    assert not backup.exists()
    run("learn", crawl, "--update", rules, "--today", "2026-11-15", "-q")
    assert backup.read_bytes() == before
    updated = rules.read_bytes()
    assert updated != before
    # The same input on the same day changes nothing, and the older file is worth more than a copy.
    run("learn", crawl, "--update", rules, "--today", "2026-11-15", "-q")
    assert rules.read_bytes() == updated
    assert backup.read_bytes() == before


def test_evidence_adds_up(crawl: Path, rules: Path, tmp_path: Path) -> None:
    """A crawl of six pages does not replace what sixty have shown, and the same crawl counts once."""
    before = {rule.id: (rule.support, rule.saves) for rule in undust.load(rules)}
    run("learn", crawl, "--update", rules, "-q")
    assert {rule.id: (rule.support, rule.saves) for rule in undust.load(rules)} == before
    rows = [(url, f"{n}") for n in range(900, 906) for url in forms(n)]
    small = write(tmp_path / "small.jsonl", rows)
    for _ in range(2):
        run("learn", small, "--update", rules, "-q")
        after = {rule.id: rule.support or 0 for rule in undust.load(rules)}
        assert set(after) == set(before)
        # Beside the other rules each joins one form of a page with the five others.
        assert after == {key: (support or 0) + 6 * 5 for key, (support, _) in before.items()}


def test_a_flip_stops_and_names_the_consent(flipped: Path, rules: Path) -> None:
    """Where nobody can be asked; the file is as it was."""
    before = rules.read_bytes()
    stopped = run("learn", flipped, "--update", rules)
    assert "add --yes" in sentence(stopped, code=1)
    assert "5 of the 5 rules" in stopped.err
    assert "most of those of a.test" in stopped.err
    assert rules.read_bytes() == before
    told = json.loads(run("learn", flipped, "--update", rules, "--yes", "--json").out)
    assert told["drift"]["sudden"] is True
    assert told["drift"]["flipped"] == ["a.test"]
    assert len(told["drift"]["retired"]) == 5
    assert {rule.status for rule in undust.load(rules)} == {"disabled"}


@pytest.mark.parametrize(("answer", "status"), [("n", "active"), ("y", "disabled")])
def test_a_person_is_asked(flipped: Path, rules: Path, answer: str, status: str) -> None:
    """On a terminal, with what would be retired before the question."""
    ours, theirs = pty.openpty()
    words = [*UNDUST, "learn", str(flipped), "--update", str(rules)]
    process = subprocess.Popen(words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    text = process.communicate()[0].decode()
    os.close(ours)
    assert "retired: a.test: rewrite" in text
    assert "Retire them?" in text
    assert process.returncode == (130 if answer == "n" else 4)
    assert ("undust: no rule is in effect: those from before do not hold" in text) == (answer == "y")
    assert {rule.status for rule in undust.load(rules)} == {status}


def test_options_that_go_nowhere_are_told(crawl: Path, rules: Path, tmp_path: Path) -> None:
    """As everywhere."""
    assert "add --update" in sentence(run("learn", crawl, "--yes"), code=2)
    assert "add --update" in sentence(run("learn", crawl, "--today", "2026-11-15"), code=2)
    assert "leave --method out" in sentence(
        run("learn", crawl, "--update", rules, "--method", "tree"), code=2
    )
    assert "there is no such file" in sentence(
        run("learn", crawl, "--update", tmp_path / "none.json"), code=1
    )


def test_values_stay_masked_in_all_that_update_says(crawl: Path, rules: Path) -> None:
    """File, table and JSON; the values are shown where a person asks for them."""
    table = run("learn", crawl, "--update", rules).out.decode()
    counts = run("learn", crawl, "--update", rules, "--json").out.decode()
    secret = value(59, 0)
    examples = [source for rule in undust.load(rules) for source, _ in rule.examples]
    assert examples
    assert all("=***" in source for source in examples)
    assert secret not in table + counts + rules.read_text(encoding="utf-8")
    run("learn", crawl, "-o", rules, "--keep-values", "-q")
    assert all("***" not in source for rule in undust.load(rules) for source, _ in rule.examples)
    # A file that shows values does not pass them on.
    run("learn", crawl, "--update", rules, "-q")
    assert all("=***" in source for rule in undust.load(rules) for source, _ in rule.examples)


def test_a_run_that_is_killed_leaves_the_file_whole(crawl: Path, rules: Path) -> None:
    """Whenever it is killed: the old rules or the new ones, never half of them."""
    before = rules.read_bytes()
    for seconds in (0.3, 0.8, 1.3):
        process = subprocess.Popen([*UNDUST, "learn", str(crawl), "--update", str(rules), "-q"])
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(undust.load(rules)) == len(undust.RuleSet.loads(before))


def test_rules_of_before_say_what_they_need(tmp_path: Path) -> None:
    """One that takes URLs away from another is named by it, and what switching it off costs is shown."""
    entries = {url: f"e{n}" for n in range(30) for url in (f"http://a.test/?q={n}", f"http://a.test/{n}")}
    entries |= {f"http://a.test/{n}?q=cup": f"e{n}" for n in range(30)} | {"http://a.test/": "front"}
    seen = write(tmp_path / "blog.jsonl", list(entries.items()))
    move = undust.Rule.parse("rewrite {s}://{h}/?q={a}&{rest**} → {s}://{h}/{a}?{rest}", site="a.test")
    forget = undust.Rule.parse(
        "rewrite {s}://{h}/{p**}?q={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test"
    )
    path = tmp_path / "rules.json"
    undust.RuleSet([move, forget]).save(path)
    assert run("learn", str(seen), "--update", str(path), "-o", str(path)).code == 0
    assert {rule.id: rule.needs for rule in undust.load(path)} == {move.id: (), forget.id: (move.id,)}
    done = run("rules", "disable", str(path), move.id, "--sample", str(seen))
    assert done.code == 0
    told = done.out.decode() + done.err
    assert f"out of effect: {forget.id[:8]}" in told
    assert "0.0% of the duplicates are removed instead of 100.0%; pages lost: 0 instead of 0" in told
    # Nothing is left to export.
    assert run("export", str(path), "--to", "nginx").code == 1
