"""A real application on loopback, hgweb: its log in, rules out, judged by what a full crawl has seen.

python -m bench.asking_application              a repository of 40 files and 60 changes, 1,500 URLs
python -m bench.asking_application --urls 600

The repository is made here, served by `hg serve` and crawled: links are followed, and what visitors add to
URLs (campaigns, session ids) is added to some. From the log of the crawl alone likely rules are learned and
asked about; pages with one text are one page, and tell what the rules are worth.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

import pyarrow as pa

import undust
from bench.asking import effect
from undust.asking.limits import Manners, connection_from
from undust.jobs.ask import ask

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "hg.example.test"
FILES, CHANGES = 40, 60
OK, NOISY, LONGEST = 200, 110, 300
"""The status of a page; how many of 256 URLs get what visitors add; characters of a URL that is followed."""
HG = shutil.which("hg") or "hg"
NOISE = ("utm_source=mail&utm_medium=news", "sid={:08x}", "_={:d}")
_HREF = re.compile(rb'href="([^"]+)"')
_TAGS = re.compile(rb"(?s)<(script|style)\b.*?</\1>|<[^>]*>")
_AGES = re.compile(rb"\d+ (?:seconds?|minutes?|hours?) ago|less than a second ago")


class Visit(NamedTuple):
    """One answer of the crawl."""

    url: str
    status: int
    size: int
    page: str


def main() -> None:
    """Run the application, crawl it, learn from the log, ask, and judge."""
    told = argparse.ArgumentParser(
        prog="python -m bench.asking_application", description=__doc__.splitlines()[0]
    )
    told.add_argument("--urls", type=int, default=1_500, help="URLs of the crawl [%(default)s]")
    most = told.parse_args().urls
    if HG == "hg":
        sys.exit("hg is not installed")
    with tempfile.TemporaryDirectory() as folder, served(make_repository(Path(folder))) as port:
        visits = crawl(port, most)
        log = pa.table(
            {
                "url": [each.url for each in visits],
                "status": [each.status for each in visits],
                "size": [each.size for each in visits],
            }
        )
        pages = {each.url: each.page for each in visits if each.status == OK}
        likely = undust.learn(log)
        places = dict([connection_from(f"{HOST}=127.0.0.1:{port}")])
        done = ask(likely, log, Manners(delay_s=0.0, connect_to=places, ask_hosts=frozenset({HOST})))
    active = undust.RuleSet([rule for rule in done.rules if rule.status == "active"])
    whole = undust.learn(pa.table({"url": list(pages), "digest": list(pages.values())}))
    print(f"{len(visits)} URLs crawled, {len(pages)} with a page, {len(set(pages.values()))} pages")
    for name, rules in (("from all pages", whole), ("from the log, by asking", active)):
        found = effect(rules, pages)
        print(f"{name}: {len(rules)} rules, {found.removed:.1%} removed, {found.lost:.2%} lost")
    counts = ", ".join(f"{done.count(name)} {name}" for name in ("confirmed", "refuted", "undecided"))
    print(f"{len(likely)} proposed, {counts}, {done.fetches} fetches")
    for rule in active:
        print(f"  {rule}")
    for each in done.outcomes:
        if each.verdict != "confirmed":
            print(f"  {each.verdict}: {each.rule} ({each.reason})")


def make_repository(folder: Path) -> Path:
    """Return a repository with some files, each changed a few times."""
    place = folder / "repository"
    place.mkdir()
    _hg(place, "init")
    for change in range(CHANGES):
        name = place / f"part{change % FILES % 5}" / f"file{change % FILES}.txt"
        name.parent.mkdir(exist_ok=True)
        words = [
            hashlib.blake2b(f"{change} {word}".encode(), digest_size=3).hexdigest() for word in range(120)
        ]
        with name.open("a", encoding="utf-8") as out:
            out.writelines(f"{' '.join(words[at : at + 8])}\n" for at in range(0, len(words), 8))
        _hg(place, "add", "-q", str(name))
        _hg(
            place,
            "commit",
            "-q",
            "-m",
            f"change number {change}: {words[0]} {words[1]}",
            "-u",
            f"author{change % 7}",
            "-d",
            f"{1_600_000_000 + 86_400 * change} 0",
        )
    return place


def _hg(place: Path, *words: str) -> None:
    subprocess.run([HG, "--cwd", str(place), *words], check=True, capture_output=True)


@contextmanager
def served(place: Path) -> Iterator[int]:
    """Serve a repository on loopback, and stop at the end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = int(listening.getsockname()[1])
    words = [
        "hg",
        "--cwd",
        str(place),
        "serve",
        "-a",
        "127.0.0.1",
        "-p",
        str(port),
        "--config",
        "web.descend=True",
    ]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def crawl(port: int, most: int) -> list[Visit]:
    """Follow links from the first page, and ask for some URLs again with what visitors add."""
    waiting, seen = [f"http://{HOST}/"], {f"http://{HOST}/"}
    visits: list[Visit] = []
    while waiting and len(visits) < most:
        url = waiting.pop(0)
        visit, links = _visited(port, url)
        visits.append(visit)
        chance = hashlib.blake2b(url.encode(), digest_size=4).digest()[0]
        if visit.status == OK and chance < NOISY and not any(name in url for name in ("utm_", "sid=", "_=")):
            noise = NOISE[chance % len(NOISE)].format(len(visits) * 7919)
            links.append(f"{url}{'&' if '?' in url else '?'}{noise}")
        for link in links:
            if link.startswith(f"http://{HOST}/") and link not in seen and len(link) < LONGEST:
                seen.add(link)
                waiting.append(link)
    return visits


def _visited(port: int, url: str) -> tuple[Visit, list[str]]:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", url.partition(HOST)[2], headers={"Host": HOST})
        response = connection.getresponse()
        body = response.read()
    except (OSError, HTTPException):
        return Visit(url, 599, 0, url), []
    finally:
        connection.close()
    is_page = "html" in (response.getheader("Content-Type") or "")
    text = _AGES.sub(b"", _TAGS.sub(b" ", body))
    page = hashlib.blake2b(b" ".join(text.split()), digest_size=8).hexdigest()
    links = (
        [html.unescape(found.decode("utf-8", "replace")) for found in _HREF.findall(body)] if is_page else []
    )
    return Visit(url, response.status, len(body), page), [
        urljoin(url, link).partition("#")[0] for link in links
    ]


if __name__ == "__main__":
    main()
