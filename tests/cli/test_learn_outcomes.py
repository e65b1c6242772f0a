"""`undust learn` where there is little to learn: a clear sentence, an empty file, never a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import undust
from tests.cli.command import run, sentence
from undust.cli.learn import command

if TYPE_CHECKING:
    from pathlib import Path

RULE = undust.Rule.parse('replace ".php3?" → "?"', site="a.test")
NUMBERS = range(30)
CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no URL": ([{"url": "mailto:a@a.test"}], "there is no URL"),
    "one URL": ([{"url": "http://a.test/", "digest": "x"}], "no two URLs"),
    "no duplicates": ([{"url": f"http://a.test/{n}", "digest": str(n)} for n in NUMBERS], "no two URLs"),
    "all duplicates": (
        [{"url": f"http://a.test/p?sid={n}", "digest": "x"} for n in NUMBERS],
        "one page proves nothing",
    ),
    "one content everywhere": (
        [{"url": f"http://a.test/{n}?sid={n}", "digest": "x"} for n in NUMBERS],
        "is not trusted (one content for much of the site), so nothing can be learned",
    ),
    "one redirect target everywhere": (
        [{"url": f"http://a.test/{n}?s={n}", "status": 301, "redirect": "http://a.test/"} for n in NUMBERS],
        "is not trusted (everything redirects to one page)",
    ),
    "nothing but short answers": (
        [{"url": f"http://a.test/{n}", "digest": str(n), "size": 2} for n in NUMBERS],
        "is not trusted (empty or tiny body)",
    ),
    "all 404": ([{"url": f"http://a.test/{n}", "status": 404} for n in NUMBERS], "answered with a page"),
    "no evidence": ([{"url": f"http://a.test/{n}?s={n}"} for n in NUMBERS], "it needs a digest"),
    "one URL under many labels": (
        [{"url": "http://a.test/p", "cluster": str(n)} for n in NUMBERS],
        "no two URLs",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_little_to_learn_is_told(case: str, tmp_path: Path) -> None:
    """What is missing, in one sentence; the rules are none, and the file says so."""
    rows, sentence = CASES[case]
    seen, path = tmp_path / "seen.jsonl", tmp_path / "rules.json"
    seen.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = CliRunner().invoke(command, [str(seen), "-o", str(path)])
    assert done.exit_code == 4, done.output
    assert sentence in " ".join(done.output.split())
    assert len(undust.load(path)) == 0


def test_rules_are_not_lost_to_none(tmp_path: Path) -> None:
    """A crawl that teaches nothing leaves the rules of yesterday alone; --yes says that they may go."""
    seen, path, page = (tmp_path / name for name in ("seen.jsonl", "rules.json", "page.html"))
    rows, reason = CASES["no duplicates"]
    seen.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    undust.RuleSet([RULE]).save(path)
    before = path.read_bytes()
    stopped = run("learn", seen, "-o", path, "--report", page)
    assert (
        sentence(stopped, code=1) == f"nothing was learned, so {path} was left as it is, with its 1 rule; "
        "name another file with -o, or add --yes to replace it"
    )
    assert reason in " ".join(stopped.out.decode().split())
    assert path.read_bytes() == before
    assert page.exists()
    stopped = run("learn", seen, "-o", path, "--json", "--method", "tree")
    assert "with its 1 rule" in sentence(stopped, code=1)
    assert json.loads(stopped.out)["output"] is None
    assert path.read_bytes() == before
    done = run("learn", seen, "-o", path, "--json", "--yes")
    assert f"no rule was learned: {reason}" in sentence(done, code=4)
    assert json.loads(done.out)["output"] == str(path)
    assert len(undust.load(path)) == 0


@pytest.mark.parametrize("held", ["precious", '{"format": "undust-rules", "version": 99, "rules": []}'])
def test_what_is_no_rule_file_is_not_lost_to_none(tmp_path: Path, held: str) -> None:
    """Nor is what another undust wrote."""
    seen, path = tmp_path / "seen.jsonl", tmp_path / "rules.json"
    seen.touch()
    path.write_text(held, encoding="utf-8")
    assert "with what is not a rule file" in sentence(run("learn", seen, "-o", path, "-q"), code=1)
    assert path.read_text(encoding="utf-8") == held


@pytest.mark.parametrize("held", [b"", undust.RuleSet().dumps()])
def test_a_file_without_rules_is_replaced(tmp_path: Path, held: bytes) -> None:
    """There is nothing to lose in it."""
    seen, path = tmp_path / "seen.jsonl", tmp_path / "rules.json"
    seen.touch()
    path.write_bytes(held)
    assert run("learn", seen, "-o", path, "-q").code == 4
    assert path.read_bytes() == undust.RuleSet().dumps()


def test_labels_that_contradict_each_other_merge_nothing(tmp_path: Path) -> None:
    """Where half of the URLs belong to two pages, no rule is believed, and the output says why."""
    rows = [
        {"url": f"http://a.test/p/{n}{more}", "cluster": str(page)}
        for n in range(60)
        for more in ("", f"?sid={n * 7919}")
        for page in ((n, n + 1) if n % 2 and more else (n,))
    ]
    seen, path = tmp_path / "seen.jsonl", tmp_path / "rules.json"
    seen.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = CliRunner().invoke(command, [str(seen), "-o", str(path)])
    assert done.exit_code == 4, done.output
    assert "left out: merged different pages" in done.output
    assert "no rule was learned: pages were compared, and what they show proves none" in done.output
    canonical = undust.load(path).compile()
    assert len({canonical(f"http://a.test/p/{n}") for n in range(60)}) == 60
