"""How fast WARC files become observations, beside a plain loop of fastwarc and resiliparse.

    python -m bench.warc [--pages 2000] [--rounds 3] [--json]

The loop does less: it reads each response and makes the visible text of each HTML page, as the manual of
resiliparse shows it. undust also makes the digest, the sketch without the site's template, canonical and
redirect, and a table, and counts what it leaves out. A bare read by warcio makes nothing of what it reads.
One thread each, over the same file. The generated pages all differ: no body is seen twice.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.html import HTMLTree
from rich.console import Console
from rich.table import Table
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

import undust
from bench.common import Contender, best_seconds_per_url, data_folder, machine

OURS = "undust.read"
LOOP = "fastwarc + resiliparse text"
FASTEST_LOOP = "… with its fastest options"
BARE = "warcio, only reading"
TARGET = 1.0
"""How many times as fast as the loop reading has to be."""


def generated_archive(count: int) -> bytes:
    """Return a WARC of pages as they are today: a long head, a menu, an article, a footer, much markup."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(5000)]
    menu = "".join(
        f'<li class="nav-item nav-{n}"><a href="/c/{n}" title="{words[n]}">{words[n]}</a></li>'
        for n in range(120)
    )
    script = "".join(f"window.v{n} = function(a, b) {{ return a < b && {n}; }};\n" for n in range(150))
    records = [
        _record(f"http://shop.test/p/{n}", _page(n, words, menu, script, chance)) for n in range(count)
    ]
    return b"".join(map(gzip.compress, records))


def _page(number: int, words: list[str], menu: str, script: str, chance: random.Random) -> bytes:
    paragraphs = "".join(
        f'<div class="row"><p id="p{place}">{" ".join(chance.choices(words, k=60))} <a href="/p/{place}">'
        f"<b>{chance.choice(words)}</b></a> &amp; more &ndash; caf\u00e9</p></div>\n"
        for place in range(chance.randint(5, 30))
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Page {number}</title>'
        f'<link rel="canonical" href="/p/{number}"><script>{script}</script><style>.a{{b:c}}</style></head>'
        f'<body class="x"><nav><ul>{menu}</ul></nav><main><h1>Article {number}</h1>{paragraphs}</main>'
        "<footer><p>imprint</p></footer></body></html>"
    ).encode()


def _record(url: str, body: bytes) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: x\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-11-15T00:23:57Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def read_with_a_loop(path: str) -> list[str]:
    """Return the visible texts, as the manual has it."""
    texts = []
    for record in ArchiveIterator(path, record_types=WarcRecordType.response, auto_decode="all"):
        body = record.reader.read()
        if record.http_content_type in {"text/html", "application/xhtml+xml"}:
            texts.append(extract_plain_text(HTMLTree.parse_from_bytes(body, detect_encoding(body))))
    return texts


def read_with_the_fastest_loop(path: str) -> list[str]:
    """Return the visible texts, everything taken for UTF-8 and without any formatting."""
    texts = []
    for record in ArchiveIterator(path, record_types=WarcRecordType.response, auto_decode="all"):
        body = record.reader.read()
        if record.http_content_type in {"text/html", "application/xhtml+xml"}:
            tree = HTMLTree.parse(body.decode("utf-8", "replace"))
            texts.append(
                extract_plain_text(
                    tree, preserve_formatting=False, links=False, list_bullets=False, alt_texts=False
                )
            )
    return texts


def read_with_warcio(path: str) -> int:
    """Return how many bytes there are."""
    size = 0
    with Path(path).open("rb") as file:
        for record in WarcioIterator(file):
            size += len(record.content_stream().read())
    return size


def measure(path: str, rounds: int) -> dict[str, Any]:
    """Return the figures of one file."""
    rows = len(undust.read(path))
    contenders = [
        Contender(OURS, lambda: undust.read(path), rows),
        Contender(LOOP, lambda: read_with_a_loop(path), rows),
        Contender(FASTEST_LOOP, lambda: read_with_the_fastest_loop(path), rows),
        Contender(BARE, lambda: read_with_warcio(path), rows),
    ]
    best = best_seconds_per_url(contenders, rounds)
    return {
        "responses": rows,
        "bytes": Path(path).stat().st_size,
        "microseconds_per_response": {name: round(each * 1e6, 1) for name, each in best.items()},
        "times_as_fast": {name: round(each / best[OURS], 2) for name, each in best.items()},
        "reach": TARGET,
        "met": best[LOOP] / best[OURS] >= TARGET,
    }


def main() -> None:
    """Measure, and print a table for each file, or everything as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.warc", description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=2_000, help="so many generated pages")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "generated.warc.gz")
        made.write_bytes(generated_archive(options.pages))
        files = {"generated": made}
        real = data_folder() / "warc" / "fixture_aut_example.warc.gz"
        if real.exists():
            files["an archive of Heritrix"] = real
        for name, path in files.items():
            results[name] = measure(str(path), options.rounds)
    if options.json:
        print(json.dumps({"machine": machine(), "files": results}, indent=2))
        return
    console = Console()
    for name, result in results.items():
        table = Table(title=f"{name}: {result['responses']:,} responses", title_justify="left")
        for heading in ("contender", "µs per response", "undust is so many times as fast"):
            table.add_column(heading, justify="left" if heading == "contender" else "right")
        for contender, each in result["microseconds_per_response"].items():
            table.add_row(contender, f"{each:,.0f}", f"{result['times_as_fast'][contender]:.2f}")
        console.print(table)
        console.print(f"{'reached' if result['met'] else 'MISSED'}: ≥ {TARGET:g} × {LOOP}")


if __name__ == "__main__":
    main()
