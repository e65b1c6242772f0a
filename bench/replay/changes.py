"""A site that changes its scheme in the middle of a crawl: how soon wrong rules end, and what is lost.

    python -m bench.replay.changes                three changes, five seeds each

In the first half of each crawl a part of the URLs does nothing, and rules for it are learned and proved.
Then it names another page. Printed is how many URLs were fetched after the change until a test failed, how
many at most from the first failure of a rule until it was withdrawn, and how many pages of the new scheme
were never seen.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import TYPE_CHECKING, NamedTuple

import undust
from bench.common import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_FETCHES = 50
"""From the first failure until wrong rules are withdrawn."""
FORMS = 4
SITE = "shop.test"
HOST = f"http://{SITE}"


def _parameter(item: int, form: int, chance: random.Random) -> str:
    """A visit that becomes the number of a part of a page."""
    part = f"{chance.getrandbits(24):06x}" if item % 2 else str(form)
    return f"{HOST}/item?id={item}" + (f"&part={part}" if form else "")


def _order(item: int, form: int, _: random.Random) -> str:
    """An order of parts that does nothing, and then does."""
    return f"{HOST}/list?id={item}" + ("", "&order=up", "&order=down", "&order=new")[form]


def _path(item: int, form: int, _: random.Random) -> str:
    """A slash at the end and an index page, which become pages of their own."""
    return f"{HOST}/news/{item}" + ("", "/", "/index.html", "/index.php")[form]


CHANGES: tuple[Callable[[int, int, random.Random], str], ...] = (_parameter, _order, _path)


class Changed(NamedTuple):
    """What became of one crawl."""

    skipped: int
    """URLs that were skipped in the first half: otherwise nothing was learned."""
    until_failure: int
    withdrawn: int
    until_withdrawn: int
    never_seen: int
    pages: int
    fetched: int


def crawled(make: Callable[[int, int, random.Random], str], items: int, seed: int) -> Changed:
    """Crawl both halves, each in a random order."""
    chance = random.Random(seed)
    learner, seen = undust.CrawlLearner(seed=seed), set[str]()
    old = _half(make, range(items), chance, is_new=False)
    fetches = sum(1 for _ in _fetched(learner, old, chance, seen))
    site = learner._sites.named(SITE)  # noqa: SLF001 -- what each rule was tested for is shown nowhere
    skipped, at_change = len(site.skipped), fetches
    before = {id_: test.bad for id_, test in site.tests.of.items()}
    failed: dict[str, int] = {}
    ended: dict[str, int] = {}
    new = _half(make, range(items, 2 * items), chance, is_new=True)
    # What comes back of the first half is fetched as well.
    for _ in _fetched(learner, new, chance, seen, old):
        fetches += 1
        withdrawn = site.rules.withdrawn
        for id_, bad in before.items():
            test = site.tests.of.get(id_)
            if (test.bad > bad) if test else id_ in withdrawn:
                failed.setdefault(id_, fetches)
            if test is None and id_ in failed:
                ended.setdefault(id_, fetches)
    waits = [at - failed[id_] for id_, at in ended.items()]
    wanted = set(new.values())
    first = min(failed.values(), default=fetches) - at_change
    return Changed(
        skipped, first, len(ended), max(waits, default=-1), len(wanted - seen), len(wanted), fetches
    )


def _half(
    make: Callable[[int, int, random.Random], str], items: range, chance: random.Random, *, is_new: bool
) -> dict[str, str]:
    """Return the URLs of some items, each with its page."""
    return {
        make(item, form, chance): f"{item} {form}" if is_new else f"{item}"
        for item in items
        for form in range(FORMS)
    }


def _fetched(
    learner: undust.CrawlLearner,
    urls: dict[str, str],
    chance: random.Random,
    seen: set[str],
    others: dict[str, str] | None = None,
) -> Iterator[str]:
    """Crawl in a random order, and yield each URL that is fetched."""
    waiting = list(urls)
    chance.shuffle(waiting)
    page_of = urls | (others or {})
    while waiting:
        url = waiting.pop()
        if learner.decide(url).is_fetch:
            seen.add(page_of[url])
            learner.observe({"url": url, "status": 200, "digest": f"page {page_of[url]}"})
            yield url
        waiting += learner.returned()


def main() -> None:
    """Crawl, print a table, and fail if a page is lost or a wrong rule stays."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--items", type=int, default=300, help="of each half [%(default)s]")
    ask.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    told = ask.parse_args()
    print(f"sites that change ({machine()})", file=sys.stderr)
    is_missed = False
    for make in CHANGES:
        for seed in told.seeds:
            found = crawled(make, told.items, seed)
            is_missed |= found.never_seen > 0 or found.until_withdrawn > MOST_FETCHES
            print(
                f"{make.__name__[1:]:<10} seed {seed}: {found.skipped:,} skipped before the change;"
                f" {found.until_failure} fetches until a test failed; {found.withdrawn} rules withdrawn,"
                f" at most {found.until_withdrawn} fetches after their first failure; {found.never_seen}"
                f" of {found.pages:,} pages never seen, {found.fetched:,} fetched",
                flush=True,
            )
    sys.exit(is_missed)


if __name__ == "__main__":
    main()
