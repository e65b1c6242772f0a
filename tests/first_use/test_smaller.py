"""Smaller faults of version 0.1: addresses, odd requests, lost evidence, imports, help, redundant rules."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

import duplicate_url_discarder_rules
import pyarrow as pa
import pytest

import undust
from tests.cli.command import UNDUST, run
from tests.first_use.files import DROP, SITE, crawl_file, items, rule_file, rules_of

if TYPE_CHECKING:
    from pathlib import Path

NOT_PUBLIC = (
    *("64:ff9b:1::7f00:1", "fec0::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "5f00::1", "3fff::1", "4000::1"),
    *("64:ff9b:1:ffff::1", "3fff:fff::1", "febf::1", "8000::1"),
)
AT_IMPORT = """
import os, signal, sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "undust.errors":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
"""


def test_c7_only_public_addresses_are_asked(tmp_path: Path) -> None:
    """Ranges that are not handed out to everybody are refused before a connection is tried."""
    rules, urls = tmp_path / "rules.json", tmp_path / "urls.txt"
    sites = [f"[{ip_address(each).compressed}]" for each in NOT_PUBLIC]
    undust.RuleSet([rule for site in sites for rule in rules_of(DROP.format("sid"), site=site)]).save(rules)
    urls.write_text("".join(f"http://{site}/x?sid=1\n" for site in sites), encoding="utf-8")
    done = run("validate", rules, "--sample", urls, "--delay", "0", "--timeout", "2", "--json")
    assert done.code == 0, done.err
    assert done.out.count(b"not a public address") >= len(sites)


def test_c8_ctrl_c_while_it_is_loaded_is_one_line(tmp_path: Path) -> None:
    """In the first moments, where it ended in a traceback."""
    (tmp_path / "sitecustomize.py").write_text(AT_IMPORT, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [*UNDUST, "normalize"],
        input=b"",
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert done.returncode == 130
    assert done.stderr.startswith(b"undust: stopped by Ctrl-C")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("length", ["9" * 5000, "0" * 5000 + "1"])
def test_c8_a_length_of_5000_digits_is_refused(length: str, tmp_path: Path) -> None:
    """By `undust review`, without a traceback on its terminal."""
    rules = rule_file(tmp_path, DROP.format("sid"))
    seen = crawl_file(tmp_path / "seen.jsonl", items(8, "?sid={n}"))
    words = [*UNDUST, "review", str(rules), str(seen), "--no-browser"]
    if b"--no-browser" not in run("review", "--help").out:
        words.pop()
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | {"BROWSER": "true"}
    ) as process:
        assert process.stdout is not None
        said, answer = "", b""
        try:
            for line in process.stdout:
                said += line.decode()
                if found := re.search(r"http://127\.0\.0\.1:(\d+)/\S*?token=([\w-]+)", said):
                    answer = answered(int(found[1]), found[2], length)
                    break
            process.send_signal(signal.SIGINT)
            said += process.communicate(timeout=200)[0].decode()
        finally:
            process.kill()
    assert b" 4" in answer[:13], answer
    assert "Traceback" not in said


def answered(port: int, token: str, length: str) -> bytes:
    """Return the beginning of what a review answers to a save of such a length, if it ever does."""
    host = f"127.0.0.1:{port}"
    head = f"POST /save HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nX-Undust-Token: {token}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=200) as connection, suppress(TimeoutError):
        connection.sendall(
            f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()
        )
        return connection.recv(100)
    return b""


@pytest.mark.parametrize("site", ["$(id)", "`id`", "a b.test", "-rf.test;ls"])
def test_c8_a_site_is_a_host(site: str, tmp_path: Path) -> None:
    """What a shell would run is not taken for a site in a rule file."""
    path = rule_file(tmp_path, DROP.format("sid"))
    path.write_text(path.read_text(encoding="utf-8").replace(SITE, site), encoding="utf-8")
    done = run("rules", "check", path)
    assert done.code == 1
    assert "is not a site" in done.err


def test_d9_an_update_adds_evidence_and_keeps_a_copy(tmp_path: Path) -> None:
    """Six pages do not replace what sixty have shown, and the file before is beside the new one."""
    large = crawl_file(tmp_path / "large.jsonl", items(120, "?sid={n}", "?sid={n}0"))
    small = crawl_file(
        tmp_path / "small.jsonl",
        [row | {"url": row["url"].replace("/item/", "/item/9")} for row in items(6, "?sid={n}", "?sid={n}0")],
    )
    rules = tmp_path / "rules.json"
    run("learn", large, "-o", rules, "-q")
    before, (old,) = rules.read_bytes(), undust.load(rules)
    done = run("learn", small, "--update", rules, "--yes", "-q")
    assert done.code == 0, done.err
    (new,) = undust.load(rules)
    assert (new.support or 0) >= (old.support or 0) > 6
    assert (tmp_path / "rules.json.bak").read_bytes() == before


@pytest.mark.parametrize("header", ['except=("id")', 'except=("id" "p")', 'key-order, except=("id")'])
def test_d12_every_form_of_except_is_imported(header: str, tmp_path: Path) -> None:
    """`except` alone means all other parameters; it was imported as nothing, silently."""
    path = tmp_path / "header.txt"
    path.write_text(f"No-Vary-Search: {header}\n", encoding="utf-8")
    rules = undust.import_rules(path, "no-vary-search", site=SITE).rules
    assert rules.compile()(f"http://{SITE}/a?id=1&x=2") == f"http://{SITE}/a?id=1"


def test_d12_published_rules_are_imported_or_counted() -> None:
    """Of the rules of duplicate-url-discarder all but one; 62 were left out."""
    paths = duplicate_url_discarder_rules.RULE_PATHS or []
    imported = [undust.import_rules(path, "duplicate-url-discarder") for path in paths]
    skipped = [each for one in imported for each in one.skipped]
    assert len(skipped) <= 1
    assert all(each.reason for each in skipped)


def test_d12_scrapy_redis_has_a_filter_of_ours() -> None:
    """Its own hashes URLs itself; tests/integrations/test_scrapy_redis.py crawls with both."""
    code = "from undust.integrations.scrapy.redis import RedisDupeFilter"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-300:]


def test_d14_help_shows_the_main_job_first() -> None:
    """`learn`, then `apply`; the first three examples were of `normalize`."""
    text = run("--help").out.decode()
    commands = re.findall(r"^ +undust (\w+) ", text, re.MULTILINE)
    assert commands[:2] == ["learn", "apply"]


def test_d14_learn_without_an_output_says_so_before_the_work(tmp_path: Path) -> None:
    """Not only at the end of an hour: it is the first thing on the terminal."""
    seen = crawl_file(tmp_path / "seen.jsonl", items(60, "?sid={n}"))
    done = subprocess.run(
        [*UNDUST, "learn", seen], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
    )
    first = done.stdout.decode().splitlines()[0]
    assert "-o" in first
    assert re.search(r"not written|written", first)


def test_d14_harmless_order_is_not_a_conflict() -> None:
    """The first rule acts before two others that disagree; where it stands changes nothing."""
    rules = rules_of(
        "rewrite http://{h}/{p**}?{r**} -> https://{h}/{p}?{r}",
        "rewrite {s}://{h}/{p**}/index.php?{r**} -> {s}://{h}/{p}/?{r}",
        "rewrite {s}://{h}/b/{x}?{r**} -> {s}://{h}/c/{x}?{r}",
    )
    assert {finding.numbers for finding in rules.check() if finding.kind == "conflict"} == {(2, 3)}


def test_d14_the_walk_through_needs_nothing_but_the_package(repository: Path) -> None:
    """The spider of the documentation can be copied: it imports nothing of the benchmarks."""
    paths = (repository / "docs" / "integrations").glob("scrapy*.md")
    texts = [path.read_text(encoding="utf-8") for path in paths]
    assert texts
    assert not any(re.search(r"\bbench\.", text) for text in texts)


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (
            (
                "rewrite {s}://{h}/a/{x}?{rest**} -> {s}://{h}/b/{x}?{rest}",
                "rewrite {s}://{h}/b/{x}?{rest**} -> {s}://{h}/a/{x}?{rest}",
            ),
            1,
        ),
        ((DROP.format("sid|ref"), DROP.format("sid")), 1),
    ],
)
def test_e6_after_validate_no_redundant_rule_is_active(texts: tuple[str, ...], left: int) -> None:
    """Nor both of two rules that undo each other."""
    pages = {
        f"http://{SITE}/{word}/{n}{query}": str(n)
        for n in range(20)
        for word in "ab"
        for query in ("", f"?sid={n}", f"?ref={n}&sid=1")
    }
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    done = undust.validate(rules_of(*texts), table)
    assert [rule.status for rule in done.rules].count("active") == left
