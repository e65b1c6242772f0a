"""`undust params`: each parameter with its URLs, requests, who asks, and what it does."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

import undust
from tests.cli.command import run, sentence

if TYPE_CHECKING:
    from pathlib import Path

BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
LINE = '9.9.9.9 - - [{day}/Nov/2026:10:00:00 +0000] "GET {path} HTTP/1.1" 200 {size} "-" "{agent}"\n'


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop: `sid` does nothing, `page` matters but for the first, and a robot asks for most of it."""
    path = tmp_path_factory.mktemp("params") / "access.log"
    lines = []
    for n in range(40):
        size = 4000 + 137 * n
        for form, agent in (("", "Mozilla/5.0"), (f"?sid={n:06x}", BOT), (f"?sid=f{n:05x}", BOT)):
            lines.append(LINE.format(day=10 + n % 2, path=f"/p/{n}{form}", size=size, agent=agent))
        for page in ("", "?page=1", "?page=2", "?page=3"):
            other = 61 * int(page[-1:] or 1) - 61
            lines.append(LINE.format(day=10, path=f"/list/{n}{page}", size=9000 + 211 * n + other, agent=BOT))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def table(log: Path, *more: str) -> dict[str, Any]:
    """What machines read."""
    done = run("params", log, "--base", "https://shop.test", "--json", *more)
    assert done.code == 0
    said: dict[str, Any] = json.loads(done.out)
    return said


def test_each_parameter_has_its_counts_and_a_verdict(log: Path) -> None:
    """With the evidence, and the default value where there is one."""
    rows = {row["name"]: row for row in table(log)["params"]}
    sid, page = rows["sid"], rows["page"]
    assert (sid["urls"], sid["values"], sid["requests"]) == (80, 80, 80)
    assert sid["verdict"] == "does nothing"
    assert "size" in sid["evidence"]
    assert (page["urls"], page["values"]) == (120, 3)
    assert (page["verdict"], page["default"]) == ("default value", "1")
    assert sid["by_crawler"] == {"Googlebot": 80}
    assert sid["request_share"] == round(80 / 280, 4)
    assert 0 < sid["byte_share"] < 1
    assert rows["/p/{n}"]["kind"] == "path"
    assert rows["/p/{n}"]["by_crawler"] == {"Googlebot": 80, "people and others": 40}


def test_what_rules_save_is_told_by_day_and_by_who_asks(log: Path, tmp_path: Path) -> None:
    """Requests for other forms of a page are those that rules make needless."""
    path = tmp_path / "rules.json"
    text = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"
    undust.RuleSet([undust.Rule.parse(text, site="shop.test")]).save(path)
    everybody, robot, *others = table(log, "--rules", str(path))["savings"]
    assert (everybody["crawler"], everybody["saved_requests"]) == ("all", 80)
    assert everybody["saved_requests_per_day"] == 40.0
    assert robot["crawler"] == "Googlebot"
    assert 0 < robot["saved_bytes"] <= everybody["saved_bytes"]
    told = run("params", log, "--base", "https://shop.test", "--rules", path).out.decode()
    assert "the rules make 80 of the 280 requests redundant" in told
    base = ("--base", "https://shop.test", "--json")
    evaluated = json.loads(run("evaluate", path, log, *base).out)
    page = tmp_path / "report.html"
    reported = json.loads(run("report", path, log, "-o", page, *base).out)
    assert reported["savings"] == evaluated["savings"] == [everybody, robot, *others]
    assert '"saved_requests":80' in page.read_text(encoding="utf-8")


def test_the_table_is_csv_too(log: Path) -> None:
    """With a header, and with nothing that a table program would run."""
    done = run("params", log, "--base", "https://shop.test", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.out.decode())))
    assert {row["name"] for row in rows} >= {"sid", "page"}
    hostile = run("params", "-", "--format", "urls", "--csv", data=b"http://a.test/?=cmd|calc=1\n" * 3)
    assert hostile.code == 0
    assert "\n=" not in hostile.out.decode()
    assert ",=" not in hostile.out.decode()


def test_a_terminal_reads_it_too(log: Path) -> None:
    """The verdicts in words."""
    told = run("params", log, "--base", "https://shop.test").out.decode()
    assert "does nothing" in told
    assert "?page=1" in told
    assert "Googlebot" in told


def test_nothing_of_the_evidence_is_cut_off(log: Path) -> None:
    """Who asks stands behind it, on lines of its own where there is no room."""
    told = " ".join(run("params", log, "--base", "https://shop.test").out.decode().split())
    assert "have the same size whatever it is; Googlebot 80" in told


def test_no_url_is_told(tmp_path: Path) -> None:
    """In one sentence."""
    path = tmp_path / "urls.txt"
    path.write_text("mailto:a@a.test\n", encoding="utf-8")
    assert "there is no URL in the input" in sentence(run("params", path, "--format", "urls", "-q"))


def test_lists_without_sizes_say_that_they_do_not_know(tmp_path: Path) -> None:
    """No claim about pages that nobody saw."""
    path = tmp_path / "urls.txt"
    path.write_text("".join(f"http://a.test/{n}?a={n}\n" for n in range(20)), encoding="utf-8")
    done = run("params", path, "--format", "urls", "--json")
    (row,) = [row for row in json.loads(done.out)["params"] if row["kind"] == "parameter"]
    assert row["verdict"] == "unknown"
    assert row["request_share"] is None
