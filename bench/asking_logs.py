"""What is proposed from real logs, lists and indexes, and what the content of a crawl says of it."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import undust
from undust.rules.language import LIKELY, is_proposed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCES: Mapping[str, dict[str, Any]] = {
    "logs/trac.vhost_access.log.gz": {},
    "logs/docs.access.log.gz": {"base": "http://docs.example.test"},
    "logs/log_semicomplete.tsv.gz": {"base": "http://semicomplete.example"},
    "logs/log_dabeaz.tsv.gz": {"base": "http://dabeaz.example"},
    "cdx/cdx_avalanches_forum.tsv.gz": {},
    "cdx/cdx_avalanches_phpbb2.tsv.gz": {},
    "cdx/cdx_spacecraftreplicas.tsv.gz": {},
    "lists/urls_top100.txt.gz": {},
    "lists/reddit_links_dev.tsv.gz": {},
}
"""Files below the folder of data, and what must be said to read them."""
CRAWLED = {"logs/trac.vhost_access.log.gz": "trac", "logs/docs.access.log.gz": "docs"}
"""Those of which a crawl tells the pages."""
FIRST, PRECISION, MOST_FALSE = 20, 0.6, 0.01
SHOWN = 8


def logs(folder: str, names: Sequence[str]) -> int:
    """Print what is proposed from each source, and return 1 if too little of the first is right."""
    failed = 0
    for name, said in SOURCES.items():
        path = Path(folder, name)
        if not path.exists() or (names and not any(each in name for each in names)):
            continue
        rules = [rule for rule in undust.learn(undust.read(path, **said)) if is_proposed(rule)]
        ranked = sorted(rules, key=lambda rule: -rule.extra[LIKELY]["urls"])
        sites = len({rule.site for rule in ranked})
        print(f"{name}: {len(ranked)} proposed on {sites} sites", flush=True)
        pages = labelled(Path(folder, "crawls"), CRAWLED[name]) if name in CRAWLED else {}
        verdicts = [verdict(rule, pages) for rule in ranked[:FIRST]] if pages else []
        for place, rule in enumerate(ranked[: FIRST if pages else SHOWN]):
            counts = rule.extra[LIKELY]
            told = f"  {verdicts[place]}" if pages else ""
            alike = f"{counts['urls']:6,} URLs, {counts['alike']:,} alike, {counts['unlike']:,} not"
            print(f"  {alike}{told}  {rule}")
        if pages:
            right = sum(text.startswith("true") for text in verdicts)
            print(f"  {right} of the first {len(verdicts)} are true")
            failed |= right < PRECISION * len(verdicts)
    return failed


def labelled(folder: Path, name: str) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the page of each URL of a crawl, under the hosts of the log, and the sketch of the page."""
    with gzip.open(folder / f"{name}.labels.tsv.gz", "rt") as lines:
        next(lines)
        pages = dict(line.rstrip("\n").split("\t") for line in lines)
    sketches: dict[str, tuple[int, ...]] = {}
    with gzip.open(folder / f"{name}.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("sketch") and row["url"] in pages:
                sketches.setdefault(pages[row["url"]], tuple(row["sketch"]))
    urls = {url: undust.normalize(url).replace(f"{name}-site.test", "example.test") for url in pages}
    return {urls[url]: (page, sketches.get(page, ())) for url, page in pages.items()}


def verdict(rule: undust.Rule, pages: Mapping[str, tuple[str, tuple[int, ...]]]) -> str:
    """Return whether a rule merges at most one page in a hundred wrongly, near copies forgiven."""
    keys = undust.RuleSet([rule.with_status("active")]).compile().batch(list(pages), keys=True).to_pylist()
    groups: dict[str, Counter[tuple[str, tuple[int, ...]]]] = defaultdict(Counter)
    touched = {key for key, url in zip(keys, pages, strict=True) if key != url}
    for key, page in zip(keys, pages.values(), strict=True):
        if key in touched:
            groups[key][page] += 1
    merged = sum(sum(group.values()) - 1 for group in groups.values())
    wrong = 0
    for group in groups.values():
        main = min(group, key=lambda page: (-group[page], page[0]))
        wrong += sum(page[0] != main[0] and not _is_near(page[1], main[1]) for page in group)
    word = "unseen" if not merged else "true" if wrong <= MOST_FALSE * merged else "false"
    return f"{word} ({merged} merged, {wrong} wrong)"


def _is_near(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return bool(left and right) and sum(map(int.__eq__, left, right)) * 32 >= 29 * len(left)
