"""`undust export` and `undust import` as people run them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import run
from tests.exchange.exports import shop
from undust import RuleSet
from undust.exchange.exports import EXPORTERS
from undust.exchange.imports import IMPORTERS

if TYPE_CHECKING:
    from pathlib import Path

DROP = "rewrite {s}://{h}/{p**}?{**:sid|ref}&{rest**} → {s}://{h}/{p}?{rest}"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A rule file with one rule that most targets can say, and one that none can."""
    path = tmp_path / "rules.json"
    shop.rules_of(DROP, shop.REFUSED[0]).save(path)
    return path


@pytest.mark.parametrize("target", [target.name for target in EXPORTERS])
def test_the_text_goes_to_stdout_and_the_reasons_to_stderr(target: str, rules: Path) -> None:
    """Stdout is the other system's file alone; what is left out is told by number, id and reason."""
    done = run("export", rules, "--to", target)
    assert done.code == 0
    assert b"sid" in done.out
    assert "rule 2 (5dca72ce) is left out: " in done.err
    assert f"1 rule for {target}, exact for " in done.err
    assert b"left out" not in done.out


def test_no_rule_left_is_a_problem(tmp_path: Path) -> None:
    """A script notices when nothing could be said."""
    shop.rules_of(shop.REFUSED[0]).save(tmp_path / "rules.json")
    done = run("export", tmp_path / "rules.json", "--to", "pywb")
    assert done.code == 1
    assert done.out.endswith(b"\nrules: []\n")


def test_rules_go_into_a_file_that_is_there(rules: Path, tmp_path: Path) -> None:
    """With --base its own rules stay; it is never overwritten."""
    base = tmp_path / "rules.yaml"
    base.write_text("default_filters: {}\nrules:\n  - url_prefix: 'com,own)/'\n", encoding="utf-8")
    done = run("export", rules, "--to", "pywb", "--base", base)
    assert done.code == 0
    assert done.out.startswith(b"default_filters: {}\nrules:\n  # rule 1 of shop.test")
    assert done.out.endswith(b"\n  - url_prefix: 'com,own)/'\n")
    assert run("export", rules, "--to", "pywb", "--base", base, "-o", base).code == 2
    assert run("export", rules, "--to", "nginx", "--base", base).code == 1


def test_a_summary_for_programs(rules: Path, tmp_path: Path) -> None:
    """With --json, stdout has what was exported and refused, and the file has the text."""
    done = run("export", rules, "--to", "nginx", "-o", tmp_path / "undust.conf", "--json")
    said = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert said["target"] == "nginx"
    assert len(said["rules"]) == 1
    assert [each["number"] for each in said["refused"]] == [2]
    assert "map $undust_url" in (tmp_path / "undust.conf").read_text(encoding="utf-8")
    assert run("export", rules, "--to", "nginx", "--json").code == 2


def test_the_same_rules_give_the_same_bytes(rules: Path) -> None:
    """Each run is a process of its own, with another order of sets."""
    for target in ("nginx", "nutch", "duplicate-url-discarder"):
        assert run("export", rules, "--to", target).out == run("export", rules, "--to", target).out


@pytest.mark.parametrize("verb", ["export", "import"])
def test_help_tells_the_formats(verb: str) -> None:
    """Whoever asks finds all formats, each with a line about it."""
    done = run(verb, "--help")
    for each in EXPORTERS if verb == "export" else IMPORTERS:
        assert f"  {each.name}  " in done.out.decode(), each.name


def test_wrong_use_is_one_sentence(rules: Path, tmp_path: Path) -> None:
    """Unknown targets, missing files, broken input and a missing site are named, with what to do."""
    assert run("export", rules, "--to", "iis").code == 2
    assert "missing.json" in run("export", tmp_path / "missing.json", "--to", "nginx").err
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    for source in ("duplicate-url-discarder", "clearurls"):
        done = run("import", broken, "--from", source)
        assert done.code == 1
        assert str(broken) in done.err
        assert done.err.count("\n") == 1
    robots = tmp_path / "robots.txt"
    robots.write_text("Clean-param: sid\n")
    assert "--site" in run("import", robots, "--from", "clean-param").err
    assert "shop.test" in run("import", robots, "--from", "clean-param", "--site", "www.shop.test").err
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in run("import", binary, "--from", "clean-param", "--site", "shop.test").err


def test_import_writes_a_rule_file(tmp_path: Path) -> None:
    """What is read becomes a rule file; what is not is told with its line."""
    robots = tmp_path / "robots.txt"
    robots.write_text("User-agent: *\nClean-param: sid&ref\nClean-param: x /a*b\nclean-param:\n")
    done = run("import", robots, "--from", "clean-param", "--site", "shop.test")
    assert done.code == 0
    assert [rule["from"] for rule in json.loads(done.out)["rules"]] == [DROP.split()[1]]
    assert f"{robots}:3: " in done.err
    assert f"{robots}:4: " in done.err
    summary = run(
        "import", robots, "--from", "clean-param", "--site", "shop.test", "-o", tmp_path / "r", "--json"
    )
    assert json.loads(summary.out)["rules"] == 1
    assert len(json.loads(summary.out)["skipped"]) == 2


SEEN = """\
url,cluster
http://shop.test/a?sid=1&b=1,one
http://shop.test/a?b=1,one
http://shop.test/a?b=1&ref=2,one
http://shop.test/b?y=1&x=2,two
http://shop.test/b?x=2&y=1,two
"""


def test_the_effect_on_a_sample_is_told(rules: Path, tmp_path: Path) -> None:
    """The last line compares what the exported rules remove with what all rules remove."""
    sample = tmp_path / "sample.csv"
    sample.write_text(SEEN, encoding="utf-8")
    done = run("export", rules, "--to", "nginx", "-o", tmp_path / "undust.conf", "--sample", sample)
    assert done.err.splitlines()[-1] == (
        "these 1 of 2 rules remove 66.7 % of the duplicates instead of 100.0 %, and lose 0.0 % of the pages"
    )
    done = run("export", rules, "--to", "nginx", "-o", tmp_path / "undust.conf", "--sample", sample, "--json")
    effect = json.loads(done.out)["effect"]
    assert (effect["exported"], effect["active"], effect["left_out"]) == (1, 2, 1)
    assert effect["sample"]["removed"] == pytest.approx(2 / 3)
    assert effect["sample"]["removed_by_all"] == pytest.approx(1)
    assert effect["sample"]["lost"] == 0


def test_without_a_sample_the_effect_when_learned_is_told(tmp_path: Path) -> None:
    """The counts of the rule file are told, nothing is said about lost pages, and nothing is invented."""
    path = tmp_path / "rules.json"
    drop, refused = shop.rules_of(DROP, shop.REFUSED[0])
    RuleSet([replace(drop, saves=3106), replace(refused, saves=1204)]).save(path)
    last = run("export", path, "--to", "nginx").err.splitlines()[-1]
    assert last == "the rule left out removed 1,204 of 4,310 URLs when learned; give --sample for the effect"
    RuleSet([drop, refused]).save(path)
    done = run("export", path, "--to", "nginx", "-o", tmp_path / "undust.conf", "--json")
    effect = json.loads(done.out)["effect"]
    assert effect["text"].startswith("the rule file does not say what the rule left out removed")
    assert effect["removed_by_left_out_when_learned"] is None
    assert effect["sample"] is None
    RuleSet([drop]).save(path)
    assert run("export", path, "--to", "nginx").err.splitlines()[-1].startswith("no rule is left out")


def test_a_file_without_a_rule_in_effect_is_told(tmp_path: Path) -> None:
    """Rules that are off, proposed, or that need one that is off are not "left out"; the exit code is 1."""
    path, sample = tmp_path / "rules.json", tmp_path / "sample.csv"
    sample.write_text(SEEN, encoding="utf-8")
    drop, other = shop.rules_of(DROP, shop.MORE[3])
    for rules in (
        (),
        (replace(drop, status="disabled"), replace(other, status="proposed")),
        (replace(drop, status="disabled"), replace(other, needs=(drop.id,))),
    ):
        RuleSet(rules).save(path)
        for words in (list[str](), ["--sample", str(sample)]):
            done = run("export", path, "--to", "nginx", *words)
            assert done.code == 1
            assert done.err.splitlines()[-1].startswith(
                "no rule of the file is in effect, so nothing is exported"
            )


def test_a_sample_of_other_sites_is_a_problem(rules: Path, tmp_path: Path) -> None:
    """A sample that says nothing about the rules is an error, and nothing is written."""
    sample = tmp_path / "sample.csv"
    sample.write_text(SEEN.replace("shop.test", "other.test"), encoding="utf-8")
    done = run("export", rules, "--to", "nginx", "-o", tmp_path / "undust.conf", "--sample", sample)
    assert done.code != 0
    assert "the sample has no URL" in done.err
    assert not (tmp_path / "undust.conf").exists()
