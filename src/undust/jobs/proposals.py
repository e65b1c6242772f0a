"""Methods by their names, and likely rules as rules of a file: proposed, with the evidence for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from undust.errors import UndustError
from undust.learning import is_off
from undust.learning.outcome import Unwanted
from undust.proposing.papers import LEARNERS, learner_named, propose
from undust.rules.language import LIKELY
from undust.searching.likely import LEAST_URLS, forgotten_by, likely_of, likely_rules, of_visits
from undust.searching.sized_site import clusters_by_size, has_raw_digests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule
    from undust.searching.likely import LikelyRule

COMBINED = "undust"
"""The method that is all others together."""
EDITS = "edits"
"""The search among typed edits, which is to take its place."""
LIKELY_BY = "likely"
BY_THEMSELVES = ("substring",)
"""Learners that look at sizes themselves."""
GUESSING: dict[str, dict[str, object]] = {
    "rewrite": {"rewrite.max_fpr": 0.2},
    "tree": {"tree.min_pages": 1},
}
"""Options of learners that compare pages, where a page is a size. Two visits to one page often differ in
size, so that more pairs seem false than are; what is proposed is judged by sizes once more. The bound is the
strictest of those with most true rules on generated sites of the seeds 3 and 5 (`bench.asking_guesses`). Few
URLs of a log have one size, so that the tree's proposals may rest on a page each."""


def require_methods(names: Iterable[str]) -> None:
    """Raise unless these are methods to learn with, before any work is done."""
    chosen = tuple(names)
    if not chosen:
        known = ", ".join(learner.name for learner in LEARNERS)
        message = f"no method is named; leave methods out, or name '{COMBINED}' alone or some of {known}"
        raise UndustError(message)
    for alone, what in ((COMBINED, "is all methods together"), (EDITS, "works by itself")):
        if alone in chosen and len(chosen) > 1:
            message = f"'{alone}' {what}; name it alone, or name others"
            raise UndustError(message)
    for name in chosen:
        if name not in {COMBINED, EDITS}:
            learner_named(name)


def proposed_rules(  # noqa: PLR0913 -- one for each thing that is known beforehand
    found: SiteClusters,
    *,
    asked: Iterable[tuple[str, str, bool]] = (),
    refuted: Iterable[str] = (),
    too_wide: Iterable[str] = (),
    against: Sequence[Rule] = (),
    given: Sequence[Rule] = (),
    seed: int = 0,
) -> list[Rule]:
    """Return the rules that are likely on a site, those that would remove most URLs first.

    Args:
        found: Its clusters.
        asked: Pairs of URLs, and whether the site itself shows one page for both.
        refuted: The texts of edits that it has refuted, and of which nothing narrower is left.
        too_wide: The texts of edits that hold, if at all, only where the input shows them at work.
        against: The rules that it has refuted.
        given: Those that it has confirmed: what is likely is seen behind them.
        seed: Another number draws other URLs.

    """
    matters = frozenset(name for rule in against if not rule.when for name in forgotten_by(rule))
    said: dict[str, Any] = {"refuted": refuted, "too_wide": too_wide, "matters": matters, "seed": seed}
    likely = {each.rule.id: each for each in likely_rules(found, asked=asked, given=given, **said)}
    for each in of_visits(found, refuted={rule.id for rule in against}, seed=seed):
        likely.setdefault(each.rule.id, each)
    ranked = sorted(likely.values(), key=lambda each: (-each.urls, str(each.rule)))
    return [as_proposed(each) for each in ranked]


def proposed_beside(found: SiteClusters, rules: Sequence[Rule], seed: int = 0) -> tuple[Rule, ...]:
    """Return what is likely on a site whose pages are not known, without what is a rule of it already."""
    if not _needs_guesses(found, has_rules=any(rule.status == "active" for rule in rules)):
        return ()
    known = {rule.id for rule in rules}
    new = [rule for rule in proposed_rules(found, seed=seed) if rule.id not in known]
    off = [rule for rule in rules if is_off(rule)]
    if not off:
        return tuple(new)
    unwanted = Unwanted(off, found.node_urls)
    return tuple(rule for rule in new if not unwanted.done_by(rule.with_status("active"), []))


def proposed_by(
    found: SiteClusters,
    methods: Sequence[str],
    options: Mapping[str, object] | None = None,
    *,
    rules: Sequence[Rule] = (),
    seed: int = 0,
) -> list[Rule]:
    """Return what published learners propose for a site whose pages are not known, as far as it is likely.

    Args:
        found: Its clusters.
        methods: The names of the learners.
        options: Of theirs, by their written names.
        rules: That they have proved.
        seed: Another number draws other URLs.

    """
    if not _needs_guesses(found, has_rules=any(rule.status == "active" for rule in rules)):
        return []
    known = {rule.id for rule in rules}
    likely: dict[str, Rule] = {}
    by_size = clusters_by_size(found)
    for name in methods:
        said = {**GUESSING.get(name, {}), **(options or {})}
        candidates = propose(found if name in BY_THEMSELVES else by_size, [name], said)[name].candidates
        alone = [each.rules[0] for each in candidates if len(each.rules) == 1]
        for each in likely_of(found, alone, seed=seed):
            if each.rule.id not in known:
                likely.setdefault(each.rule.id, replace(as_proposed(each), learned_by=name))
    return sorted(likely.values(), key=lambda rule: (-rule.extra[LIKELY]["urls"], str(rule)))


def _needs_guesses(found: SiteClusters, *, has_rules: bool) -> bool:
    """Return whether too little is known of a site's pages to learn from: nothing, or digests that change."""
    seen = found.cluster_of_node >= 0
    count = int(seen.sum())
    if count < LEAST_URLS:
        return False
    # Evidence that is known and not trusted does not allow a guess.
    pages = seen & ~found.redirects
    silent = int((pages & ~found.known & ~found.distrusted).sum())
    return 2 * silent > int(pages.sum()) or (not has_rules and has_raw_digests(found))


def as_proposed(likely: LikelyRule) -> Rule:
    """Return a likely rule as a file has it."""
    said: dict[str, object] = {
        "urls": likely.urls,
        "alike": likely.alike,
        "unlike": likely.unlike,
        "true": likely.true,
    }
    if likely.edit != str(likely.rule):
        said["edit"] = likely.edit
    return replace(
        likely.rule, status="proposed", learned_by=LIKELY_BY, examples=likely.examples, extra={LIKELY: said}
    )
