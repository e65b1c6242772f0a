"""Exports carried out: by Python's `re`, by DuckDB, by Java, by PCRE, each as the file itself says."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_STEPS = 300
JAVA_PROGRAM = Path(__file__).with_name("Normalizer.java")
PCRE_PROGRAM = Path(__file__).with_name("apply_pairs.pl")


def program(name: str) -> str:
    """Where a program lies; without it the test is skipped."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def by_python(text: str, urls: Sequence[str]) -> list[str]:
    """What the pairs of a regex export make of URLs, with Python's `re`."""
    content = json.loads(text)
    standard = re.compile(content["standard_form"])
    pairs = [(re.compile(pair["pattern"]), pair["python"]) for pair in content["pairs"]]
    return [_by_pairs(pairs, url) if standard.match(url) else url for url in urls]


def _by_pairs(pairs: list[tuple[re.Pattern[str], Any]], url: str) -> str:
    for _ in range(MOST_STEPS):
        pair = next((pair for pair in pairs if pair[0].match(url)), None)
        if pair is None or pair[1] is None:
            return url
        changed = pair[0].sub(pair[1], url)
        assert changed != url, f"{pair[0].pattern} writes the same again"
        url = changed
    pytest.fail(f"no end: {url}")


def by_duckdb(text: str, urls: Sequence[str]) -> list[str]:
    """What a CASE expression makes of URLs when it is repeated until nothing changes."""
    with duckdb.connect() as database:
        database.execute("CREATE TABLE pages AS SELECT unnest(?) AS url", [list(urls)])
        found = database.execute(f"""
            WITH RECURSIVE steps(page, url, step) AS (
                SELECT rowid, url, 0 FROM pages
                UNION ALL
                SELECT page, changed, step + 1 FROM (SELECT *, {text} AS changed FROM steps)
                WHERE changed <> url AND step < {MOST_STEPS}
            )
            SELECT arg_max(url, step) FROM steps GROUP BY page ORDER BY page
        """).fetchall()  # noqa: S608 -- the expression is what is tested
    return [row[0] for row in found]


def by_java(text: str, urls: Sequence[str], folder: Path) -> list[str]:
    """What the file of Nutch or Heritrix makes of URLs, with Java's expressions, applied as they do."""
    program("javac")
    rules = folder / "rules.xml"
    rules.write_text(text, encoding="utf-8")
    return _by_program([program("java"), "-XX:TieredStopAtLevel=1", str(JAVA_PROGRAM), str(rules)], urls)


def by_perl(text: str, urls: Sequence[str], folder: Path) -> list[str]:
    """What the pairs of a regex export make of URLs, with the expressions of Perl, which PCRE follows."""
    pairs = folder / "pairs.json"
    pairs.write_text(text, encoding="utf-8")
    return _by_program([program("perl"), str(PCRE_PROGRAM), str(pairs)], urls)


def by_duplicate_url_discarder(text: str, urls: Sequence[str], folder: Path) -> list[str]:
    """What the file makes of URLs, with duplicate-url-discarder itself."""
    module = pytest.importorskip("duplicate_url_discarder.url_canonicalizer")
    extraction = importlib.import_module("tldextract.tldextract")
    # Its own copy of the suffix list; without this it would ask the network first.
    vars(extraction)["TLD_EXTRACTOR"] = extraction.TLDExtract(suffix_list_urls=(), cache_dir=None)
    rules = folder / "rules.json"
    rules.write_text(text, encoding="utf-8")
    canonicalizer = module.UrlCanonicalizer([rules])
    return [canonicalizer.process_url(url) for url in urls]


def _by_program(command: list[str], urls: Sequence[str]) -> list[str]:
    lines = "".join(f"{url}\n" for url in urls)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
