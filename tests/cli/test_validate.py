"""`undust validate` as people run it: the file, the table, JSON, the offline twin, wrong usage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import undust
from bench.sites import Crawl, site
from bench.sites.archive import write_archive
from tests.asking.rules import DROP, HOST
from tests.asking.servers import page, serving
from tests.cli.command import run, sentence

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {"id", "confirmed", "refuted", "undecided", "positives", "negatives", "fetches"}
LOSSY = undust.Rule.parse("rewrite {s}://{h}/{p}?id={*} -> {s}://{h}/{p}", site=DROP.site)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Give two rules, one right and one wrong, and URLs to try them on."""
    rules, urls = tmp_path / "rules.json", tmp_path / "urls.txt"
    undust.RuleSet([DROP, LOSSY]).save(rules)
    paths = [f"/p{number}?x=1" for number in range(5)] + [f"/item?id={number}" for number in range(5)]
    urls.write_text("".join(f"http://{HOST}{path}\n" for path in paths), encoding="utf-8")
    return rules, urls


def test_rules_are_proved_and_written(files: tuple[Path, Path]) -> None:
    """JSON on stdout and nothing else; the refuted rule is off, with the reason, and still there."""
    rules, urls = files
    scripts = {f"/p{number}": page(f"page number {number}") for number in range(5)}
    scripts["/item"] = lambda connection, request: connection.reply(f"<p>item of {request.path}".encode())
    with serving(scripts) as server:
        said = ["--connect-to", f"{HOST}=127.0.0.1:{server.port}", "--delay", "0"]
        done = run("validate", rules, "--sample", urls, *said, "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert [{key: row[key] for key in ("confirmed", "refuted", "undecided")} for row in told["rules"]] == [
        {"confirmed": True, "refuted": False, "undecided": False},
        {"confirmed": False, "refuted": True, "undecided": False},
    ]
    assert all(row.keys() >= KEYS for row in told["rules"])
    assert told["fetches"] == len(server.log)
    kept = undust.load(rules)
    assert [rule.status for rule in kept] == ["active", "disabled"]
    assert [(rule.validated or {})["outcome"] for rule in kept] == ["confirmed", "refuted"]
    assert (
        "show another page than their target, as http://www.evil.test/item?id="
        in (kept[1].validated or {})["reason"]
    )
    journal = (rules.parent / "rules.json.journal").read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line)["pair"] for line in journal if line.startswith('{"pair"')]
    assert {pair["said"] for pair in pairs} == {"same", "different"}
    for pair in pairs:
        assert {"rule", "from", "to", "said", "because", "time", "left", "right"} <= pair.keys()
        assert {"status", "digest", "sketch"} <= pair["left"].keys()


def test_the_offline_twin(tmp_path: Path) -> None:
    """An archive answers for the site: the same command, no network, the same bytes every time."""
    made = site("shop", urls=800, seed=3)
    rules = tmp_path / "rules.json"
    undust.RuleSet([*made.rules, *made.false_rules]).save(rules)
    (tmp_path / "urls.txt").write_text(
        "\n".join(made.observations(Crawl(evidence=())).column("url").to_pylist()), encoding="utf-8"
    )
    write_archive([made], Crawl(), str(tmp_path / "crawl.warc.gz"))
    urls, archive = tmp_path / "urls.txt", tmp_path / "crawl.warc.gz"
    said: list[str | Path] = ["validate", rules, "--sample", urls, "--from", archive]
    outputs = [tmp_path / name for name in ("first.json", "second.json")]
    told = [json.loads(run(*said, "-o", output, "--json").out) for output in outputs]
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    true = set(made.rules.ids)
    verdicts = {row["id"]: row for row in told[0]["rules"]}
    assert not any(row["confirmed"] for rule, row in verdicts.items() if rule not in true)
    assert not any(row["refuted"] for rule, row in verdicts.items() if rule in true)
    assert sum(row["confirmed"] for row in verdicts.values()) >= 2
    assert sum(row["refuted"] for row in verdicts.values()) >= 2
    assert {(rule.validated or {"how": "archive"})["how"] for rule in undust.load(outputs[0])} == {"archive"}


def test_a_table_for_people(files: tuple[Path, Path]) -> None:
    """What was confirmed, refuted and left open, why, and what it took; fits into a hundred columns."""
    rules, urls = files
    with serving({}) as server:
        said = ["--connect-to", f"{HOST}=127.0.0.1:{server.port}", "--delay", "0", "--contact", "a@b.test"]
        done = run("validate", rules, "--sample", urls, *said)
    text = done.out.decode()
    assert (done.code, done.err) == (0, "")
    assert "undecided" in text
    assert "0 confirmed, 0 refuted, 2 undecided;" in text
    assert "answers with status 404" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    assert undust.load(rules) == undust.RuleSet([DROP, LOSSY])


def test_without_samples_or_contact(files: tuple[Path, Path]) -> None:
    """Both are asked for, after the work is done."""
    rules, _ = files
    done = run("validate", rules)
    assert done.code == 0
    assert "--sample FILE gives more URLs" in done.err
    assert "--contact says how to reach you" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.json"], 1, "there is no such file"),
        (["RULES", "--connect-to", "a.test"], 1, "'a.test' is not HOST[:PORT]=ADDRESS:PORT"),
        (["RULES", "--from", "missing.warc.gz"], 1, "there is no such file"),
        (["RULES", "--epsilon", "1"], 2, "--epsilon"),
        (["RULES", "--delay", "-1"], 2, "--delay"),
        (["-"], 2, "name one with -o"),
        (["RULES", "--sample", "missing.txt"], 1, "there is no such file"),
    ],
)
def test_wrong_usage(arguments: list[str], code: int, message: str, files: tuple[Path, Path]) -> None:
    """One sentence that says what is wrong."""
    rules, _ = files
    said = [str(rules) if word == "RULES" else word for word in arguments]
    assert message in sentence(run("validate", *said), code)
