"""Where the rules of `undust learn` lead: whether the URLs that `canonical` writes were seen to work.

    python -m bench.targets                     the real sites of the data folder
    python -m bench.targets --folders crawls    some of them
    python -m bench.targets --split 3           another half of the pages
    python -m bench.targets --kinds shop wiki   generated sites instead
    python -m bench.targets --json              one JSON object a site

The rules are learned from half of a site's pages. Of the URLs of the other half that `canonical` changes, it
is counted where they are sent, by what the whole crawl knows: to a URL of the same page or of a near copy
(*works*), to one of another page or one that was not found (*wrong*), or to one that nobody saw. *Kept* is
what `canonical` alone removes of what `key` removes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import undust
from bench.common import machine
from bench.quality import generated, halves, real
from bench.sites import KINDS, Crawl
from undust.measuring import Measures
from undust.measuring.compare import with_labels
from undust.measuring.counts import is_near
from undust.measuring.judged import labelled_from_labels

if TYPE_CHECKING:
    import pyarrow as pa

    from bench.quality import Case

MISSING = (404, 410)


@dataclass(frozen=True)
class Targets:
    """What the rules of a site do to URLs of pages that they were not learned from."""

    group: str
    site: str
    rules: int
    compared: int
    """Rules that are for comparing only."""
    urls: int
    changed: int
    works: int
    wrong: int
    removed_by_key: int
    removed_by_canonical: int
    lost: float
    """Share of the pages lost by key."""

    def __add__(self, other: Targets) -> Targets:
        """Return the counts of both; of what is lost the larger one."""
        return Targets(
            self.group,
            "all",
            self.rules + other.rules,
            self.compared + other.compared,
            self.urls + other.urls,
            self.changed + other.changed,
            self.works + other.works,
            self.wrong + other.wrong,
            self.removed_by_key + other.removed_by_key,
            self.removed_by_canonical + other.removed_by_canonical,
            max(self.lost, other.lost),
        )


@dataclass(frozen=True)
class Known:
    """The page of each URL of a crawl in standard form, None where there is no page; and what pages show."""

    pages: dict[str, str | None]
    sketches: dict[str, Any]

    def ends(self, url: str, target: str) -> str:
        """Return what a URL finds at its target: `works`, `wrong`, or `unseen`."""
        if target not in self.pages:
            return "unseen"
        ours, theirs = self.pages.get(url), self.pages[target]
        if ours is None or theirs is None:
            return "wrong"
        is_same = ours == theirs or is_near(self.sketches.get(ours), self.sketches.get(theirs))
        return "works" if is_same else "wrong"


def known_urls(case: Case) -> Known:
    """Return what a whole crawl knows."""
    standard = undust.RuleSet().compile()
    seen = case.seen
    status = seen["status"].to_pylist() if "status" in seen.column_names else [None] * len(seen)
    found: dict[str, str | None] = {
        standard(url): None
        for url, code in zip(seen["url"].to_pylist(), status, strict=True)
        if code in MISSING
    }
    labelled, _ = labelled_from_labels(with_labels(seen.drop_columns("cluster"), case.labels))
    sketches: dict[str, Any] = {}
    for one in labelled:
        found |= dict(zip(map(standard, _texts(one.urls)), map(str, one.pages), strict=True))
        sketches |= one.sketches
    return Known(found, sketches)


def _texts(urls: pa.Array) -> list[str]:
    return [str(url) for url in urls.to_pylist()]


def targets(case: Case, split: int) -> Targets:
    """Return where the rules of a site lead the pages of its other half."""
    training, test = halves(case, split, None)
    rules = undust.learn(training)
    canonical, standard, known = rules.compile(), undust.RuleSet().compile(), known_urls(case)
    urls = sorted({standard(url) for one in test for url in _texts(one.urls)})
    ends = Counter(known.ends(url, target) for url in urls if (target := canonical(url)) != url)
    none, by_key, by_canonical = (
        sum((one.measured_by(some.batch(one.urls, keys=keys)) for one in test), Measures())
        for some, keys in ((standard, True), (canonical, True), (canonical, False))
    )
    return Targets(
        case.group,
        case.name,
        len(rules),
        sum(not rule.fetch for rule in rules),
        none.urls,
        ends.total(),
        ends["works"],
        ends["wrong"],
        none.canonical_urls - by_key.canonical_urls,
        none.canonical_urls - by_canonical.canonical_urls,
        by_key.lost,
    )


def main() -> None:
    """Learn, count, and print a table or JSON."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.targets",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--folders", nargs="*", default=["crawls", "mirrors"])
    ask.add_argument("--sites", nargs="*", default=[], help="only these of them")
    ask.add_argument("--split", type=int, default=1)
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
        print("| site | rules | comparing | URLs | changed | works | wrong | removed by key | kept | lost |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    groups: dict[str, Targets] = {}
    for case in cases:
        if told.sites and case.name not in told.sites:
            continue
        one = targets(case, told.split)
        groups[one.group] = groups[one.group] + one if one.group in groups else one
        print(json.dumps(asdict(one)) if told.json else _line(one.site, one), flush=True)
    for group, total in groups.items():
        print(json.dumps(asdict(total)) if told.json else _line(f"all {group}", total))


def _line(name: str, one: Targets) -> str:
    cells = (
        f"{one.rules:,}",
        f"{one.compared:,}",
        f"{one.urls:,}",
        f"{one.changed:,}",
        _share(one.works, one.changed),
        _share(one.wrong, one.changed),
        f"{one.removed_by_key:,}",
        _share(one.removed_by_canonical, one.removed_by_key),
        f"{one.lost:.2%}",
    )
    return f"| {name} | {' | '.join(cells)} |"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""


if __name__ == "__main__":
    main()
