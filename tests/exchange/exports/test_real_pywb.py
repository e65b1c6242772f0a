"""A real pywb that replays pages under URLs that were never captured.

pywb is under the GPL, so it is no dependency: it runs as a program of an environment of its own, which
`UNDUST_PYWB` names (its folder of programs). Without it these tests are skipped; `test_pywb.py` follows what
pywb documents.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from tests.cli.command import run
from tests.servers import free_port
from undust import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = 20
RULES = (
    "rewrite {s}://{h}/p/{*}/{id:int} → {s}://{h}/p/{id}",
    "rewrite {s}://{h}/product.php?id={id:int} → {s}://{h}/p/{id}",
    "rewrite {s}://{h}/{p**}?{**:sid|utm_*}&{rest**} → {s}://{h}/{p}?{rest}",
)
KINDS = {
    "a title in the path": "http://shop.test/p/any-title/{}",
    "an older address": "http://shop.test/product.php?id={}",
    "a session and a campaign": "http://www.shop.test/p/{}?utm_source=mail&sid=abc",
}
OTHERS = {
    **KINDS,
    "the canonical form": "http://shop.test/p/{}",
    "as captured": "http://shop.test/p/{0}?sid=s{0}",
}
CONFIG = "collections_root: collections\nrules_file: rules.yaml\nenable_auto_fetch: false\n"


@pytest.fixture(scope="module")
def programs() -> Path:
    """Give the folder with pywb's programs."""
    found = os.environ.get("UNDUST_PYWB")
    if not found or not (Path(found) / "wayback").exists():
        pytest.skip("set UNDUST_PYWB to the bin folder of an environment that has pywb")
    return Path(found)


def body_of(text: str) -> str:
    """Return the page with a text, as it is captured."""
    return f"<html><body><p>{text}</p></body></html>"


def write_archive(path: Path, urls: dict[str, str]) -> None:
    """Write captures of pages, each with a text of its own."""
    with path.open("wb") as file:
        for number, (url, text) in enumerate(urls.items()):
            body = body_of(text)
            answer = (
                f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            )
            head = (
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{UUID(int=number)}>\r\n"
                f"WARC-Target-URI: {url}\r\nWARC-Date: 2026-11-01T00:00:00Z\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n\r\n"
            )
            file.write(gzip.compress(f"{head}{answer}\r\n\r\n".encode()))


def collection(programs: Path, folder: Path, urls: dict[str, str]) -> Path:
    """Make a collection of pywb with these captures; return its folder of indexes."""
    write_archive(folder / "shop.warc.gz", urls)
    for words in (["init", "web"], ["add", "web", "shop.warc.gz"]):
        subprocess.run([programs / "wb-manager", *words], cwd=folder, check=True, capture_output=True)
    return folder / "collections" / "web" / "indexes"


@contextmanager
def replaying(programs: Path, folder: Path) -> Iterator[str]:
    """Run pywb on loopback; give where it replays pages as they were captured."""
    if not (folder / "config.yaml").exists():
        (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    port = free_port()
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [programs / "wayback", "-b", "127.0.0.1", "-p", str(port), "-t", "1"],
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    try:
        for _ in range(1200):
            assert server.poll() is None, (folder / "log").read_text()
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/web/20261101000000id_/"
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def replayed(address: str, url: str) -> str:
    """Return what pywb shows for a URL; nothing where it has no page."""
    try:
        with urllib.request.urlopen(address + url, timeout=200) as answer:  # noqa: S310 -- loopback
            return str(answer.read().decode())
    except urllib.error.HTTPError:
        return ""


def rule_file(folder: Path) -> Path:
    """Write the rules."""
    RuleSet(Rule.parse(text, site="shop.test") for text in RULES).save(folder / "rules.json")
    return folder / "rules.json"


@pytest.mark.parametrize("has_base", [False, True], ids=["alone", "in pywb's own file"])
def test_pages_are_replayed_under_their_other_urls(programs: Path, tmp_path: Path, *, has_base: bool) -> None:
    """Of three kinds of URLs that were never captured, every one shows its page, and no other does."""
    collection(programs, tmp_path, {f"http://shop.test/p/{n}": f"page {n}." for n in range(PAGES)})
    words: list[str | Path] = ["export", rule_file(tmp_path), "--to", "pywb", "-o", tmp_path / "rules.yaml"]
    if has_base:
        [own] = programs.parent.glob("lib/python*/site-packages/pywb/rules.yaml")
        words += ["--base", own]
    assert run(*words).code == 0
    with replaying(programs, tmp_path) as address:
        for kind, url in KINDS.items():
            shown = [replayed(address, url.format(n)) for n in range(PAGES)]
            assert shown == [body_of(f"page {n}.") for n in range(PAGES)], kind
        for other in (
            "/p/any-title/99",
            "/product.php?id=99",
            "/p/99?sid=1",
            "/p/1?page=2&sid=1",
            "/q/1?sid=1",
        ):
            assert replayed(address, f"http://shop.test{other}") == "", other


def test_a_rekeyed_index_finds_captures_of_other_urls(programs: Path, tmp_path: Path) -> None:
    """Pages that were captured with a session id only are replayed under their canonical URL, and others."""
    captured = {f"http://shop.test/p/{n}?sid=s{n}": f"page {n}." for n in range(PAGES)}
    indexes = collection(programs, tmp_path, captured)
    shutil.copy(indexes / "index.cdxj", tmp_path / "old.cdxj")
    rules = rule_file(tmp_path)
    assert run("rekey", rules, tmp_path / "old.cdxj", "-o", indexes / "index.cdxj").code == 0
    assert run("export", rules, "--to", "pywb", "-o", tmp_path / "rules.yaml").code == 0
    with replaying(programs, tmp_path) as address:
        for kind, url in OTHERS.items():
            shown = [replayed(address, url.format(n)) for n in range(PAGES)]
            assert shown == [body_of(f"page {n}.") for n in range(PAGES)], kind


def test_the_documented_steps(programs: Path, tmp_path: Path, repository: Path) -> None:
    """The commands and the setting of docs/archives.md, as they stand there, replay pages of three kinds."""
    page = (repository / "docs" / "archives.md").read_text(encoding="utf-8")
    section = page.partition("## The lookup in pywb\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```(\w+)\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _ in blocks] == ["sh", "text", "sh"]
    exporting, setting, rekeying = (dedent(text) for _, text in blocks)
    captured = {f"http://shop.test/p/{n}?sid=s{n}": f"page {n}." for n in range(PAGES)}
    collection(programs, tmp_path, captured)
    rule_file(tmp_path)
    [installed] = programs.parent.glob("lib/python*/site-packages")
    (tmp_path / "config.yaml").write_text(f"collections_root: collections\n{setting}", encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for text in (exporting.replace(".../site-packages", str(installed)), rekeying):
        done = subprocess.run(
            ["/bin/sh", "-ec", text],
            cwd=tmp_path,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    with replaying(programs, tmp_path) as address:
        for kind, url in OTHERS.items():
            shown = [replayed(address, url.format(n)) for n in range(PAGES)]
            assert shown == [body_of(f"page {n}.") for n in range(PAGES)], kind
