"""Rules that look true and are false: whether `undust learn` takes any, on every kind of site, seed by seed.

    python -m bench.false_rules                          14 kinds, 20 seeds, a row for each kind
    python -m bench.false_rules --kinds forum --seeds 3 --noise 0.2 --json
    python -m bench.false_rules --method edits           another learner

Every generated site states rules that tempt and do harm: page numbers, languages, sorts. One counts as taken
if the learned rules bring together more than a tenth of the URLs of different pages that it would. Ends with
1 if any was taken.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

import undust
from bench.common import machine
from bench.sites import KINDS, Crawl, site
from undust.learning.edited import combined_rules, edited_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bench.sites import Site
    from undust import RuleSet
    from undust.learning import SiteRules
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

TAKEN = 0.1


LEARNERS: dict[str, Callable[[SiteClusters], SiteRules]] = {
    "undust": combined_rules,
    "edits": edited_rules,
}
"""The learners that can be tried, by name."""


class Trial(NamedTuple):
    """One false rule of one site."""

    kind: str
    seed: int
    rule: str
    harm: int
    """URLs that it would bring together with one of another page."""
    done: int
    """… that the learned rules bring together."""

    @property
    def is_taken(self) -> bool:
        """Whether it was learned, in whatever words."""
        return self.done > TAKEN * self.harm


def trials_of(made: Site, crawl: Crawl, kind: str, seed: int, method: str) -> Iterable[Trial]:
    """Yield every false rule of a site with the harm it would do and what the learned rules do of it."""
    seen = made.observations(crawl).drop_columns("cluster")
    learn = LEARNERS[method]
    rules = undust.RuleSet(rule for found in undust.find_duplicates(seen) for rule in learn(found).rules)
    truth = made.truth()
    page = dict(zip(truth["url"].to_pylist(), truth["page"].to_pylist(), strict=True))
    for false in made.false_rules:
        harmed = list(_harmed(false, page))
        learned = _images(rules, [url for pair in harmed for url in pair])
        done = sum(left == right for left, right in zip(learned[::2], learned[1::2], strict=True))
        yield Trial(kind, seed, str(false), len(harmed), done)


def _harmed(rule: Rule, page: dict[str, str]) -> Iterable[tuple[str, str]]:
    """Yield pairs of URLs of two pages that a rule brings together."""
    urls = sorted(page)
    first: dict[str, str] = {}
    for url, image in zip(urls, _images(undust.RuleSet([rule]), urls), strict=True):
        other = first.setdefault(image, url)
        if page[other] != page[url]:
            yield other, url


def _images(rules: RuleSet, urls: list[str]) -> list[str]:
    return rules.compile().batch(pa.array(urls, pa.large_string()), keys=True).to_pylist()  # type: ignore[no-any-return]


def main() -> int:
    """Try every kind with every seed, and print a row for each kind."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    ask.add_argument("--seeds", type=int, default=20)
    ask.add_argument("--urls", type=int, default=3000)
    ask.add_argument("--method", default="undust", choices=list(LEARNERS))
    ask.add_argument("--noise", type=float, default=0.02)
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    crawl = Crawl(noise=told.noise, coverage=0.5)
    taken = []
    if not told.json:
        print(f"{machine()}\n\n{'kind':<14} {'tried':>6} {'harmful':>8} {'taken':>6}")
    for kind in told.kinds:
        found = [
            trial
            for seed in range(told.seeds)
            for trial in trials_of(site(kind, urls=told.urls, seed=seed), crawl, kind, seed, told.method)
        ]
        harmful = [trial for trial in found if trial.harm]
        taken += [trial for trial in harmful if trial.is_taken]
        if told.json:
            for trial in found:
                print(json.dumps({**trial._asdict(), "taken": trial.is_taken}), flush=True)
        else:
            count = sum(trial.is_taken for trial in harmful)
            print(f"{kind:<14} {len(found):>6} {len(harmful):>8} {count:>6}", flush=True)
    for trial in taken:
        print(
            f"taken: {trial.kind}, seed {trial.seed}: {trial.rule} ({trial.done} of {trial.harm})",
            file=sys.stderr,
        )
    return int(bool(taken))


if __name__ == "__main__":
    sys.exit(main())
