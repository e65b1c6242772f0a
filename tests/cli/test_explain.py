"""`undust explain` as people run it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import UNDUST, run, sentence
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from pathlib import Path

LINES = (
    "keep {s}://{h}/cart",
    "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}",
    'replace ".php3?" → "?"',
    "rewrite {s}://{h}/u/{x} → {s}://{h}/u/{x:any}",
    'replace "grow" → "grow.grow"',
    "rewrite {s}://{h}/{x}/swap/{y} → {s}://{h}/{y}/swap/{x}",
)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rule file."""
    path: Path = tmp_path_factory.mktemp("rules") / "rules.json"
    RuleSet([Rule.parse(line, site="shop.test") for line in LINES]).save(path)
    return path


def told(rules: Path, *urls: str) -> str:
    """What the command prints."""
    ended = run("explain", rules, *urls)
    assert (ended.code, ended.err) == (0, "")
    return ended.out.decode()


def rule_line(number: int) -> str:
    """How a rule is named in an explanation."""
    rule = Rule.parse(LINES[number - 1], site="shop.test")
    return f"     rule {number}  {rule.id[:8]}  {rule}\n"


def test_each_step_and_its_rule(rules: Path) -> None:
    """The URLs one below the other, and what made each."""
    assert told(rules, "HTTP://shop.test/a.php3?b&sid=1") == (
        "HTTP://shop.test/a.php3?b&sid=1\n"
        " → http://shop.test/a.php3?b&sid=1\n"
        "     standard form\n"
        " → http://shop.test/a.php3?b\n"
        f"{rule_line(2)}"
        " → http://shop.test/a?b\n"
        f"{rule_line(3)}"
        "canonical  http://shop.test/a?b\n"
    )


def test_keys_keeps_cycles_and_what_is_no_url(rules: Path) -> None:
    """Every way in which a URL can end, several URLs apart from each other."""
    urls = (
        "http://shop.test/u/7",
        "http://shop.test/cart",
        "http://shop.test/b/swap/a",
        "mailto:x",
        "http://u@shop.test/",
    )
    assert told(rules, *urls) == (
        "http://shop.test/u/7\n"
        "     no rule changes it\n"
        "canonical  http://shop.test/u/7\n"
        " → http://shop.test/u/*\n"
        f"{rule_line(4)}"
        "key        http://shop.test/u/*\n"
        "\n"
        "http://shop.test/cart\n"
        f"{rule_line(1)}"
        "canonical  http://shop.test/cart\n"
        "\n"
        "http://shop.test/b/swap/a\n"
        " → http://shop.test/a/swap/b\n"
        f"{rule_line(6)}"
        " → http://shop.test/b/swap/a\n"
        f"{rule_line(6)}"
        "     this URL was there before; of the URLs in the circle, the smallest is taken\n"
        "canonical  http://shop.test/a/swap/b\n"
        "\n"
        "mailto:x\n"
        "     no http(s) URL, so it stays as it is\n"
        "canonical  mailto:x\n"
        "\n"
        "http://u@shop.test/\n"
        "     with a user name, or longer than 64 KiB, a URL is only brought into its standard form\n"
        "canonical  http://u@shop.test/\n"
    )


def test_a_url_without_end_is_told_in_short(rules: Path) -> None:
    """Nobody reads 256 steps."""
    text = told(rules, "http://shop.test/grow")
    assert text.count(rule_line(5)) == 7
    assert "     … 249 more steps …\n" in text
    assert "     no end within 256 steps and 64 KiB, so it is only brought into its standard form\n" in text
    assert text.endswith("canonical  http://shop.test/grow\n")


def test_json(rules: Path) -> None:
    """One object per URL, with all that the text says."""
    ended = run("explain", "--json", rules, "HTTP://shop.test/?sid", "http://shop.test/u/7")
    first, second = map(json.loads, ended.out.splitlines())
    drop = Rule.parse(LINES[1], site="shop.test")
    assert first == {
        "url": "HTTP://shop.test/?sid",
        "normalized": "http://shop.test/?sid",
        "steps": [{"number": 2, "id": drop.id, "rule": str(drop), "url": "http://shop.test/"}],
        "canonical": "http://shop.test/",
        "compared": [],
        "masks": [],
        "key": "http://shop.test/",
        "outcome": "resolved",
    }
    assert [step["number"] for step in second["masks"]] == [4]
    assert second["key"] == "http://shop.test/u/*"


def test_square_brackets_are_no_markup(rules: Path) -> None:
    """What looks like a style to the table printer is a URL."""
    assert "http://[2001:db8::1]/a[bold]\n" in told(rules, "http://[2001:db8::1]/a[bold]")


def test_a_terminal_gets_colour(rules: Path) -> None:
    """Colour on a terminal, none in a pipe."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [*UNDUST, "explain", rules, "http://shop.test/?sid"], stdout=theirs, env=environment
    ):
        pass
    os.close(theirs)
    text = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "\x1b[" in text
    assert "\x1b[" not in told(rules, "http://shop.test/?sid")


def test_wrong_usage_and_bad_rules(rules: Path, tmp_path: Path) -> None:
    """A URL is needed, and rules that can be read."""
    assert sentence(run("explain", rules), 2) == "missing argument 'URL...'; see 'undust explain --help'"
    (tmp_path / "bad.json").write_text("{")
    place = tmp_path / "bad.json"
    assert sentence(run("explain", place, "http://a.test/")).startswith(f"{place}:1: not JSON, column 2: ")
