"""Which pages are lost on real sites: by standard normalization, by what nobody disputes, or by other rules.

    python -m bench.lost                       eight splits of the crawls
    python -m bench.lost --splits 2 --groups mirrors
    python -m bench.lost --show                with the URLs of every page that other rules lose
    python -m bench.lost --json                one JSON object for each split and site

Two URLs of a lost page may be equal in standard form, or differ in nothing but `www.`, slashes, the order of
parameters, or a session or campaign. Whoever merges those loses the page, because it changed between two
fetches. So much is lost by every rule set that removes sessions and campaigns.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import undust
from bench.common import machine
from bench.quality import halves, real
from undust.edits.making import names_visit
from undust.measuring.counts import is_near

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.quality import Case

NORMALIZED, UNDISPUTED, OTHER = CAUSES = ("normalization", "undisputed", "other rules")


class LostPage(NamedTuple):
    """A page that lies under the key of another."""

    cause: str
    url: str
    other: str
    """A URL of the page that it lies under."""


def undisputed(url: str) -> tuple[object, ...]:
    """Return what is left of a URL without what distinguishes no pages anywhere.

    >>> undisputed("http://www.a.test//x/?b=1&sid=9&a=2") == undisputed("http://a.test/x?a=2&b=1&utm_source=z")
    True
    """
    parts = urlsplit(url)
    path = re.sub(r"/+", "/", parts.path).rstrip("/")
    query = {pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not names_visit(pair[0])}
    return (parts.hostname or "").removeprefix("www."), path, tuple(sorted(query))


def lost_pages(case: Case, split: int) -> tuple[list[LostPage], int]:
    """Return the pages that the rules of one half lose in the other, and how many pages there are."""
    training, test = halves(case, split, None)
    canonical, plain = undust.learn(training).compile(), undust.RuleSet().compile()
    found: list[LostPage] = []
    pages = 0
    for one in test:
        urls = one.urls.to_pylist()
        normal = dict(zip(urls, plain.batch(one.urls, keys=True).to_pylist(), strict=True))
        under: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for url, page, key in zip(
            urls, one.pages, canonical.batch(one.urls, keys=True).to_pylist(), strict=True
        ):
            under[key][page].append(url)
        sketches = one.known.sketches
        measured = one.measured_by(canonical.batch(one.urls, keys=True))
        pages += measured.clusters
        lost = list(lost_among(under, sketches, normal))
        assert len(lost) == measured.lost_unlike, "counted as the judge counts"  # noqa: S101
        found += lost
    return found, pages


def lost_among(
    under: Mapping[str, Mapping[str, list[str]]],
    sketches: Mapping[str, Sequence[int]],
    normal: Mapping[str, str],
) -> Iterator[LostPage]:
    """Yield the pages under each key that are not the one that most of its URLs show, nor near it."""
    for there in under.values():
        main = max(sorted(there), key=lambda page: len(there[page]))
        for page, urls in there.items():
            if page == main or is_near(sketches.get(page), sketches.get(main)):
                continue
            others = [url for each, some in there.items() if each != page for url in some]
            if {normal[url] for url in urls} & {normal[url] for url in others}:
                cause = NORMALIZED
            elif set(map(undisputed, urls)) & set(map(undisputed, others)):
                cause = UNDISPUTED
            else:
                cause = OTHER
            yield LostPage(cause, urls[0], there[main][0])


def main() -> None:
    """Count, and print a table or JSON."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.lost",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--splits", type=int, default=8, help="how many; the first is number 1")
    ask.add_argument("--groups", nargs="*", default=["crawls"], choices=["crawls", "mirrors"])
    ask.add_argument("--show", action="store_true")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    shares: dict[str, Counter[str]] = defaultdict(Counter)
    for split in range(1, told.splits + 1):
        for case in real(told.groups):
            lost, pages = lost_pages(case, split)
            counts = Counter(each.cause for each in lost)
            for cause in CAUSES:
                shares[case.name][cause] += 100 * counts[cause] / pages / told.splits
            if told.json:
                row = {cause: counts[cause] for cause in CAUSES}
                print(json.dumps({"split": split, "site": case.name, "pages": pages, **row}), flush=True)
            if told.show:
                for each in lost:
                    if each.cause == OTHER:
                        print(f"{case.name} {split}  {each.url}  {each.other}", flush=True)
    if told.json:
        return
    print(f"{machine()}; {told.splits} splits; lost in per cent of the pages\n")
    print("| site | " + " | ".join(CAUSES) + " | all |")
    print("| --- " + "| ---: " * (len(CAUSES) + 1) + "|")
    for name, row in (*sorted(shares.items()), ("mean", _mean(shares))):
        told_here = [row[cause] for cause in CAUSES]
        print(f"| {name} | " + " | ".join(f"{share:.3f}" for share in (*told_here, sum(told_here))) + " |")


def _mean(shares: dict[str, Counter[str]]) -> Counter[str]:
    return Counter({cause: sum(row[cause] for row in shares.values()) / len(shares) for cause in CAUSES})


if __name__ == "__main__":
    main()
