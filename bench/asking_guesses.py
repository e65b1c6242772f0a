"""How strict a published learner should be where pages are known by their size alone.

python -m bench.asking_guesses --seeds 3 5 6       the same for some seeds of all generated kinds

`rewrite` compares pages and drops what goes wrong too often. Two visits to one page often differ in size, so
that a strict bound drops true rules; a lax one proposes false ones, which cost fetches when a site is asked.
For each bound: rules proposed, the share of them that is true, and the share of duplicates that the true ones
remove.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from bench.asking import COLUMNS, effect, is_false, is_in_log
from bench.sites import KINDS, site
from undust.jobs.proposals import proposed_by
from undust.pages.clustering import find_in_site

if TYPE_CHECKING:
    from bench.sites import Site

BOUNDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
METHOD = "rewrite"


def main() -> None:
    """Measure every bound on every site, and print the sums."""
    ask_for = argparse.ArgumentParser(
        prog="python -m bench.asking_guesses", description=__doc__.splitlines()[0]
    )
    ask_for.add_argument("kinds", nargs="*", metavar="KIND", help="some kinds only")
    ask_for.add_argument("--urls", type=int, default=1_600, help="URLs of each site [%(default)s]")
    ask_for.add_argument("--seeds", type=int, nargs="+", default=[3], help="which sites [%(default)s]")
    told = ask_for.parse_args()
    print("seed  bound  proposed  true  precision  removed")
    for seed in told.seeds:
        sites = [site(kind, told.urls, seed) for kind in told.kinds or KINDS]
        for bound in BOUNDS:
            rows = [judged(each, bound) for each in sites]
            proposed, true = (sum(row[place] for row in rows) for place in (0, 1))
            removed = sum(row[2] for row in rows) / len(rows)
            share = true / max(1, proposed)
            print(f"{seed:4}  {bound:5}  {proposed:8}  {true:4}  {share:9.1%}  {removed:7.1%}", flush=True)


def judged(made: Site, bound: float) -> tuple[int, int, float]:
    """Return how many rules are proposed from the log of a site, how many are true, and what those remove."""
    every = made.observations()
    seen = every.filter(pa.array([is_in_log(url) for url in every.column("url").to_pylist()]))
    truth = made.truth()
    pages = dict(zip(truth.column("url").to_pylist(), truth.column("page").to_pylist(), strict=True))
    found = find_in_site(seen.select(list(COLUMNS)), made.domain)
    rules = proposed_by(found, [METHOD], {f"{METHOD}.max_fpr": bound})
    true = [rule.with_status("active") for rule in rules if not is_false(rule, pages)]
    return len(rules), len(true), effect(undust.RuleSet(true), pages).removed


if __name__ == "__main__":
    main()
