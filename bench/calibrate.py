"""Fit what is known beforehand of kinds of edits, on labelled sites, leaving each site out in turn.

    python -m bench.calibrate                    the table: how often kinds are true, and how false ones fail
    python -m bench.calibrate --write            the same into the file that undust ships
    python -m bench.calibrate --folder priors    a file for each site, fitted without it, for bench.edits

On half of the pages of a site edits are proposed and judged as learning judges them; the other half, with its
labels, says which of them are true. The score is the mean logarithm of what the model says about that.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from importlib.resources import files
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

import undust
from bench.quality import Case, generated, halves, real
from bench.sites import KINDS as SITES
from bench.sites import Crawl
from undust.judging import KeyState, Site, effects
from undust.proposing import PROPOSERS, SeenSite
from undust.searching import Search
from undust.searching.classes import context_of
from undust.searching.guards import Guards
from undust.searching.kinds import GUARDED, IN_OTHER_FOLDERS, SEARCH_KINDS, base_kind_of, kind_of
from undust.searching.objective import KindPrior, Risk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.edits import Edit
    from undust.judging import EditEffect

LEAST_PAGES, LEAST_SHOWN = 3, 3
"""Pages that must support an edit in one half, and that must show in the other whether it is true."""
FEW = 0.3
"""The share of failures in a folder where an edit holds."""
TRUE = 0.01
"""A true edit merges at most this share of the pages wrongly."""
NOISE = 0.002
PSEUDO = 4.0
"""So many edits of the mean kind are added to each kind."""
URLS, MOST_ROWS = 1500, 20_000
"""Of a generated kind; and of a real site, which otherwise takes longer than it teaches."""
NARROWED = 30


class Trial(NamedTuple):
    """One edit: what it is, what one half said of it, and what the other half shows."""

    site: str
    kind: str
    edit: Edit
    right: float
    wrong: float
    shown_right: int
    shown_wrong: int

    @property
    def is_true(self) -> bool:
        """Whether the half that was not seen says so."""
        return self.shown_wrong <= TRUE * (self.shown_right + self.shown_wrong)


def trials(case: Case, *, is_quick: bool) -> Iterator[Trial]:
    """Yield the edits that are proposed on a site, from where it stands first and in the end."""
    training, test = halves(case, 0, None)
    for found, judged in _sites(training, test):
        states = [KeyState(found)] if is_quick else [KeyState(found), Search(KeyState(found)).run()]
        seen: set[str] = set()
        for state in states:
            other = KeyState(judged, state.edits)
            offered = [edit for propose in PROPOSERS for edit in propose(SeenSite(state))]
            edits = {edit.text: edit for edit in offered if edit.text not in seen and edit.rules(found.name)}
            yield from _judged(case.name, state, other, list(edits.values()))
            failing = [effect for effect in effects(state, list(edits.values())) if effect.lost]
            failing = sorted(failing, key=lambda effect: (-effect.pages, effect.edit.text))[:NARROWED]
            guards = Guards()
            some = [guards.where_it_holds(state, effect, LEAST_PAGES) for effect in failing]
            narrow = {
                each.edit.text: each.edit for tried in some for each in tried if each.edit.rules(found.name)
            }
            yield from _judged(case.name, state, other, list(narrow.values()))
            seen |= {*edits, *narrow}


def _sites(training: pa.Table, test: Iterable) -> Iterator[tuple[Site, Site]]:  # type: ignore[type-arg]
    known = {found.site: found for found in undust.find_duplicates(training)}
    for one in test:
        labels = pa.table({"url": one.urls, "cluster": pa.array(list(one.pages), pa.string())})
        (judged,) = undust.find_duplicates(labels).sites
        if one.site in known:
            yield Site.of(known[one.site]), Site.of(judged)


def _judged(site: str, state: KeyState, other: KeyState, edits: list[Edit]) -> Iterator[Trial]:
    for effect, shown in zip(effects(state, edits), effects(other, edits), strict=True):
        is_seen = effect.pages + effect.lost >= LEAST_PAGES and effect.saved > 0 and effect.pages > 0
        if is_seen and shown.pages + shown.lost >= LEAST_SHOWN:
            yield Trial(
                site, kind_of(effect), effect.edit, effect.pages, effect.wrong, shown.pages, shown.lost
            )
            if not (effect.edit.when or effect.edit.unless) and (folders := _folders(other, shown)):
                name = f"{base_kind_of(effect)}{IN_OTHER_FOLDERS}"
                yield Trial(site, name, effect.edit, 1.0, 0.0, *folders)


def _folders(state: KeyState, shown: EditEffect) -> tuple[int, int] | None:
    """Return in how many folders an edit holds and fails, beside one where it was seen to hold."""
    votes: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    sides = np.where(np.isin(shown.left, shown.moved), shown.left, shown.right).tolist()
    for image, ratio in zip(sides, shown.ratios.tolist(), strict=True):
        if ratio:
            votes[str(context_of(state.image_texts[image]))][ratio < 0] += 1
    told = [counts for counts in votes.values() if sum(counts) >= LEAST_SHOWN]
    holds = sum(wrong <= FEW * right for right, wrong in told)
    return (holds - 1, len(told) - holds) if holds and len(told) > 1 else None


def fitted(some: list[Trial]) -> dict[str, KindPrior]:
    """Return the priors that trials say, kind by kind; those with few trials lean on all."""
    by_kind: dict[str, list[Trial]] = defaultdict(list)
    for trial in some:
        by_kind[trial.kind].append(trial)
    mean = _share(some, 0.3)
    wrong, right = _spread([trial for trial in some if not trial.is_true], (0.7, 0.7))
    found = {}
    for kind in (
        name for each in SEARCH_KINDS for name in (each, f"{each}{GUARDED}", f"{each}{IN_OTHER_FOLDERS}")
    ):
        true = _share(by_kind[kind], mean)
        spread = _spread([trial for trial in by_kind[kind] if not trial.is_true], (wrong, right))
        found[kind] = KindPrior(round(true, 3), NOISE, *(round(number, 2) for number in spread))
    return found


def _share(some: list[Trial], mean: float) -> float:
    true = sum(trial.is_true for trial in some)
    return min(0.95, max(0.02, (true + PSEUDO * mean) / (len(some) + PSEUDO)))


def _spread(false: list[Trial], usual: tuple[float, float]) -> tuple[float, float]:
    """Return the beta distribution with the mean and spread of how often false edits are wrong."""
    least = 8
    if len(false) < least:
        return usual
    rates = [trial.shown_wrong / (trial.shown_wrong + trial.shown_right) for trial in false]
    mean = sum(rates) / len(rates)
    spread = sum((rate - mean) ** 2 for rate in rates) / len(rates)
    size = max(0.3, mean * (1 - mean) / max(spread, 1e-3) - 1)
    return max(0.1, mean * size), max(0.1, (1 - mean) * size)


def score(priors: dict[str, KindPrior], some: list[Trial]) -> float:
    """Return the mean logarithm of what the model says of each page that was shown."""
    risk = Risk(priors)
    total = 0.0
    for trial in some:
        rate = min(0.999, max(0.001, risk.rate(trial.kind, trial.edit, trial.right, trial.wrong)))
        count = trial.shown_right + trial.shown_wrong
        total += (trial.shown_wrong * log(rate) + trial.shown_right * log(1 - rate)) / count
    return total / max(1, len(some))


def cases() -> Iterator[Case]:
    """Yield the sites to fit on."""
    yield from (case for case in real(["crawls", "mirrors"]) if len(case.seen) <= MOST_ROWS)
    yield from generated(SITES, URLS, 0, Crawl())


def main() -> None:
    """Fit, and print or write."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.calibrate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--write", action="store_true")
    ask.add_argument("--quick", action="store_true", help="only what is proposed before anything is learned")
    ask.add_argument("--sites", nargs="*", help="these alone")
    ask.add_argument("--folder", type=Path, help="write a file for each site, fitted without it")
    told = ask.parse_args()
    found: list[Trial] = []
    for case in cases():
        if told.sites is None or case.name in told.sites:
            some = list(trials(case, is_quick=told.quick))
            print(f"{case.name}: {len(some)} edits", file=sys.stderr, flush=True)
            found += some
    sites = sorted({trial.site for trial in found})
    apart = []
    for site in sites:
        priors = fitted([trial for trial in found if trial.site != site])
        apart.append(score(priors, [trial for trial in found if trial.site == site]))
        if told.folder:
            _write(told.folder / f"{site}.json", priors, len(sites) - 1, apart[-1])
    priors = fitted(found)
    mean = sum(apart) / len(apart)
    print(f"{len(found)} edits of {len(sites)} sites; score {mean:.4f} on sites that were left out")
    for kind, prior in priors.items():
        count = sum(trial.kind == kind for trial in found)
        spread = f"wrong {prior.wrong:5.2f}  right {prior.right:5.2f}"
        print(f"{kind:28} {count:5} edits  true {prior.true:.3f}  {spread}")
    if told.write:
        _write(Path(str(files("undust.searching") / "priors.json")), priors, len(sites), mean)


def _write(path: Path, priors: dict[str, KindPrior], sites: int, mean: float) -> None:
    data = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "data": f"{sites} sites: real crawls, mirrors and generated kinds",
        "score": round(mean, 4),
        "kinds": {kind: vars(prior) for kind, prior in sorted(priors.items())},
    }
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    print(f"{path}: written", file=sys.stderr)


if __name__ == "__main__":
    main()
