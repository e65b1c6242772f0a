"""Where the rules of `undust learn` lead: whether the site was seen to serve that, and prefers it.

    python -m bench.targets                     the real sites of the data folder
    python -m bench.targets --folders crawls    some of them
    python -m bench.targets --kinds shop wiki   generated sites instead
    python -m bench.targets --json              one JSON object a site

The rules are learned from all of a site. *Served* is a URL that was fetched; *preferred* is one of those to
which redirects or rel=canonical send other URLs, and which send nowhere themselves. All URLs are in standard
form, so that only what rules do is counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import undust
from bench.common import machine
from bench.quality import generated, real
from bench.sites import KINDS, Crawl

if TYPE_CHECKING:
    import pyarrow as pa

    from bench.quality import Case

ENDS = ("canonical", "redirect")


@dataclass(frozen=True)
class Targets:
    """What the rules of one site do to its URLs in standard form."""

    site: str
    rules: int
    urls: int
    moved: int
    """URLs that become another one."""
    to_served: int
    """… that was seen."""
    preferred: int
    preferred_moved: int
    """URLs that the site prefers and that become another one."""
    preferred_to_unserved: int
    """… that was not seen."""


def _wished(table: pa.Table, standard: undust.Canonicalizer) -> set[str]:
    """Return the URLs to which a site sends others, and which it sends nowhere."""
    hubs: set[str] = set()
    members: set[str] = set()
    for row in table.select(["url", *(name for name in ENDS if name in table.column_names)]).to_pylist():
        url = standard(row["url"])
        for end in filter(None, (row.get(name) for name in ENDS)):
            if (target := standard(end)) != url:
                hubs.add(target)
                members.add(url)
    return hubs - members


def targets(case: Case) -> Targets:
    """Return where the rules of a site lead."""
    seen = case.seen.drop_columns("cluster")
    rules, standard = undust.learn(seen), undust.RuleSet().compile()
    status = seen["status"].to_pylist() if "status" in seen.column_names else [None] * len(seen)
    served = {
        standard(url)
        for url, code in zip(seen["url"].to_pylist(), status, strict=True)
        if code in {None, 200, *range(301, 309)}
    }
    canonical = rules.compile()
    becomes = {url: canonical(url) for url in sorted(served)}
    moved = [url for url, image in becomes.items() if image != url]
    preferred = _wished(seen, standard) & served
    leaving = preferred.intersection(moved)
    return Targets(
        case.name,
        len(rules),
        len(served),
        len(moved),
        sum(becomes[url] in served for url in moved),
        len(preferred),
        len(leaving),
        sum(becomes[url] not in served for url in leaving),
    )


def main() -> None:
    """Learn, count, and print a table or JSON."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.targets",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--folders", nargs="*", default=["crawls", "mirrors"])
    ask.add_argument("--kinds", nargs="*", default=[], choices=KINDS, metavar="KIND")
    ask.add_argument("--urls", type=int, default=3_000, help="of each generated site [%(default)s]")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    crawl = Crawl(noise=0.02, coverage=0.5)
    cases = list(generated(told.kinds, told.urls, 0, crawl) if told.kinds else real(told.folders))
    if not cases:
        sys.exit("there are no real sites; name their folder in UNDUST_DATA")
    if not told.json:
        print(f"{machine()}\n")
        print("| site | rules | URLs | moved | to served | preferred | moved | to unserved |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in cases:
        one = targets(case)
        print(json.dumps(asdict(one)) if told.json else _line(one), flush=True)


def _line(one: Targets) -> str:
    share = f"{one.to_served / one.moved:.0%}" if one.moved else ""
    cells = (one.rules, one.urls, one.moved, share, one.preferred, one.preferred_moved)
    figures = (f"{cell:,}" if isinstance(cell, int) else cell for cell in (*cells, one.preferred_to_unserved))
    return f"| {one.site} | {' | '.join(figures)} |"


if __name__ == "__main__":
    main()
