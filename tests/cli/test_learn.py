"""`undust learn` as a person runs it: the file, the table, the sentence when something is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import undust
from tests.cli.command import run, sentence, start

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def sample(repository: Path) -> str:
    """The crawl that comes with undust."""
    return str(repository / "examples" / "shop.jsonl.gz")


def test_rules_are_written_and_told(sample: str, tmp_path: Path) -> None:
    """The file holds what the table shows, and the table ends with what to do next."""
    path = tmp_path / "rules.json"
    done = run("learn", sample, "-o", str(path))
    rules, text = undust.load(path), done.out.decode()
    assert len(rules) > 5
    assert all(rule.id[:8] in text for rule in rules)
    assert "candidates left out" in text
    assert f"undust apply --key {path}" in text
    assert all(len(line) <= 100 for line in text.splitlines() if str(path) not in line)


def test_counts_as_json_and_nothing_else(sample: str, tmp_path: Path) -> None:
    """For machines."""
    path = tmp_path / "rules.json"
    done = run("learn", sample, "-o", str(path), "--json")
    told = json.loads(done.out)
    assert told["rules"] == len(undust.load(path))
    assert told["canonical_urls"] < told["urls"]
    assert told["lost_pages"] == 0
    assert done.err == ""
    assert told["learned"] == json.loads(path.read_bytes())["rules"]
    (site,) = told["by_site"].values()
    assert all(told[name] == count for name, count in site.items())
    single = json.loads(run("learn", sample, "--method", "tree", "--json").out)
    assert len(single["learned"]) == single["rules"] > 0


def test_quiet_means_quiet(sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on either stream, and the same file, in whatever order Python keeps its sets."""
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    for seed, path in (("1", first), ("2", second)):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        done = run("learn", sample, "-o", str(path), "-q")
        assert (done.out, done.err) == (b"", "")
    assert first.read_bytes() == second.read_bytes()


def test_one_published_learner(sample: str, tmp_path: Path) -> None:
    """`--method` and `--option` reach the learner; a wrong name is told with the right ones."""
    path = tmp_path / "rules.json"
    run("learn", sample, "--method", "substring", "--option", "substring.max_bucket=6", "-o", str(path), "-q")
    assert {rule.learned_by for rule in undust.load(path)} <= {"substring"}
    wrong = run("learn", sample, "--method", "guess", "-o", str(path))
    assert "substring" in sentence(wrong, code=1)


def test_a_learner_in_little_memory(sample: str, tmp_path: Path) -> None:
    """The same rules, whatever may be used; and what the learner noted is told."""
    free, bound = tmp_path / "free.json", tmp_path / "bound.json"
    single = ("learn", sample, "--method", "substring", "--option", "substring.memory_mb=1")
    told = run(*single, "-o", free).out.decode()
    assert "envelopes" in told
    assert "likely pairs" in told
    noted = json.loads(
        run(*single, "--memory", "384MB", "--threads", "2", "--tmp", tmp_path, "-o", bound, "--json").out
    )
    assert free.read_bytes() == bound.read_bytes()
    assert [each for site in noted["notes"].values() for each in site["substring"]["notes"]]
    assert "write it like 4GB" in sentence(run(*single, "--memory", "much"), code=2)
    assert "does not exist" in sentence(run(*single, "--tmp", tmp_path / "no"), code=2)


def test_without_evidence_it_says_what_is_missing(tmp_path: Path) -> None:
    """A bare list of URLs teaches nothing, and the file is empty rather than missing."""
    urls, path = tmp_path / "urls.txt", tmp_path / "rules.json"
    urls.write_text("".join(f"http://a.test/{n}\n" for n in range(40)), encoding="utf-8")
    text = run("learn", str(urls), "-o", str(path)).out.decode()
    assert "so nothing can be learned" in " ".join(text.split())
    assert len(undust.load(path)) == 0


@pytest.mark.parametrize("has_sizes", [True, False])
def test_what_a_learner_cannot_prove_is_told(tmp_path: Path, has_sizes: bool) -> None:  # noqa: FBT001
    """A log with sizes and a bare list of URLs give candidates, and no proof of any of them."""
    paths = [(n, f"/story{mark}{n}") for n in range(200) for mark in ("?id=", "_")]
    log, rules = tmp_path / ("access.log" if has_sizes else "urls.txt"), tmp_path / "rules.json"
    line = '1.2.3.4 - - [10/Oct/2020:13:55:36 +0000] "GET {} HTTP/1.1" 200 {} "-" "-"\n'
    base = "http://s.test"
    texts = [line.format(path, 2000 + 7 * n) if has_sizes else f"{base}{path}\n" for n, path in paths]
    log.write_text("".join(texts), encoding="utf-8")
    told = run("learn", str(log), "--base", base, "--method", "substring", "-o", str(rules)).out.decode()
    assert "of them could not be proved" in told
    assert ("nothing is known of the pages" in told) is not has_sizes
    assert {rule.status for rule in undust.load(rules)} <= {"proposed"}


def test_without_an_output_it_is_told_before_the_work(sample: str, tmp_path: Path) -> None:
    """Nobody waits for hours to read that nothing was written; who names a file reads nothing of it."""
    with start("learn", sample, "--method", "substring") as process:
        assert process.stderr
        assert process.stdout
        first = process.stderr.readline().decode()
        shown = process.stdout.read().decode()
    assert first == "Without -o the rules are shown and not written; -o rules.json keeps them.\n"
    assert "Nothing was written" in shown
    for words in (("-o", tmp_path / "rules.json"), ("--json",), ("-q",)):
        assert "Without -o" not in run("learn", sample, "--method", "substring", *words).err


def test_a_missing_folder_is_told_before_the_work(sample: str, tmp_path: Path) -> None:
    """And an existing file is never lost to a run that fails."""
    wrong = run("learn", sample, "-o", str(tmp_path / "no" / "rules.json"))
    assert "make it first" in sentence(wrong, code=1)
    path = tmp_path / "rules.json"
    path.write_text("precious", encoding="utf-8")
    assert run("learn", str(tmp_path / "absent.jsonl"), "-o", str(path)).code == 1
    assert path.read_text(encoding="utf-8") == "precious"


def test_methods_and_options_that_go_nowhere_are_told(sample: str) -> None:
    """Nothing that a person says is left out in silence."""
    both = run("learn", sample, "--method", "undust", "--method", "tree")
    assert "name it alone" in sentence(both)
    lost = run("learn", sample, "--option", "substring.max_bucket=6")
    assert "add --method substring" in sentence(lost, code=2)
