"""`undust learn` where there is little to learn: a clear sentence, an empty file, never a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import undust
from undust.cli.learn import command

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = range(30)
CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "no URL": ([{"url": "mailto:a@a.test"}], "there is no URL"),
    "one URL": ([{"url": "http://a.test/", "digest": "x"}], "no two URLs"),
    "no duplicates": ([{"url": f"http://a.test/{n}", "digest": str(n)} for n in NUMBERS], "no two URLs"),
    "all duplicates": (
        [{"url": f"http://a.test/p?sid={n}", "digest": "x"} for n in NUMBERS],
        "one page proves nothing",
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
    assert done.exit_code == 0, done.output
    assert sentence in " ".join(done.output.split())
    assert len(undust.load(path)) == 0


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
    assert done.exit_code == 0, done.output
    assert "left out: merged different pages" in done.output
    canonical = undust.load(path).compile()
    assert len({canonical(f"http://a.test/p/{n}") for n in range(60)}) == 60
