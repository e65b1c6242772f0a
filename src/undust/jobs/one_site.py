"""What is done with each site, a pure function that any engine can map, and then with all of them.

A site's observations go in; one row comes out, with its rules, its figures and what it says of rules for
all sites. A site whose learning fails gives a row that says why, so that the others lose nothing by it.

A small pass over what all sites gave follows: the rules for all of them, and the outcome as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import process_time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.engines import SITE
from undust.errors import UndustError
from undust.files.temporary import give_back_memory
from undust.jobs.proposals import proposed_beside
from undust.jobs.records import (
    LEFT_BY_SHAPES,
    SiteOutcome,
    held_against_all,
    said_rows,
    site_state_of,
    to_text,
)
from undust.judging.checked import CheckedPages
from undust.learning import (
    SITES,
    Drift,
    Outcome,
    Requirements,
    is_off,
    merged,
    proved_again,
    proved_again_across,
    rules_across,
    shown_by,
    wanted,
)
from undust.learning.across import rules_of_shapes
from undust.learning.bounds import modelled_loss, with_bounds
from undust.learning.edited import FinalSample, combined_rules, edited_rules, is_checked_site
from undust.measuring import totals_of
from undust.measuring.judged import has_labels, labelled_from_duplicates, labelled_from_labels
from undust.measuring.targets import with_targets
from undust.pages.clustering import Duplicates, find_in_site
from undust.pages.clustering.distrust import EMPTY
from undust.pages.clustering.false_clusters import VALUES
from undust.rules import RuleSet
from undust.rules.language import ANY_SITE
from undust.statistics import Totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undust.jobs.learn_result import SitesTogether
    from undust.jobs.records import Fated
    from undust.learning import SiteRules, SiteTally
    from undust.measuring import Labelled
    from undust.pages.clustering import Declaration, SiteClusters
    from undust.rules import Rule
    from undust.searching.objective import KindPrior


LEARNED = pa.schema(
    [
        pa.field(SITE, pa.string(), nullable=False),
        pa.field("learned", pa.large_string()),
        pa.field("failure", pa.string()),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("clustering", pa.float64(), nullable=False),
        pa.field("learning", pa.float64(), nullable=False),
        *LEFT_BY_SHAPES,
    ]
)
"""One row a site: what it gave (see `records`) or why it failed, its observations, and processor seconds; and
one for each shape that it speaks about, where these are added up by the engine."""
NO_MEMORY = (
    "there was not enough memory for it; try fewer --threads, or a smaller --memory, with which it is "
    "learned from a sample"
)


@dataclass(frozen=True)
class LearningTask:
    """What is to be done with each site; it can travel to any process or machine."""

    requirements: Requirements
    is_across: bool = True
    before: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    """The rules from before, by site."""
    today: str | None = None
    declared: Mapping[str, tuple[Declaration, ...]] = field(default_factory=dict)
    """What sites say about their own parameters."""
    keeps_refused: bool = True
    """Whether to return the refused candidates one by one."""
    has_labels: bool = False
    """Whether labels show the pages of some sites; then those of the others are not known."""
    edits: bool = False
    """Whether to search among typed edits, instead of learning with all methods together."""
    priors: Mapping[str, KindPrior] | None = None
    """What is known of kinds of edits beforehand, instead of what undust brings along."""
    sampled: frozenset[str] = frozenset()
    """Sites of which only a sample of the observations is given."""
    sites: int = 1
    """How many sites there are; of many, a sample is checked."""
    tells_shapes: bool = False
    """Whether what a site says of shapes is returned in rows of its own as well."""

    @property
    def known_across(self) -> list[Rule]:
        """The rules for all sites from before."""
        return [rule for rule in self.before.get(ANY_SITE, ()) if rule.status == "active"]

    def for_sites(self, count: int) -> LearningTask:
        """Return the task for this number of sites, without what too few could not answer."""
        is_across = self.is_across and (count >= SITES or bool(self.known_across))
        return replace(self, is_across=is_across, sites=count)


def learn_rows(site: str, rows: pa.Table, task: LearningTask) -> pa.Table:
    """Return what the observations of one site give, as a row of `LEARNED`; none for what is not a URL."""
    if not site:
        return LEARNED.empty_table()
    started = process_time()
    found = None
    try:
        found = find_in_site(rows, site, task.declared.get(site, ()), VALUES)
        clustered = process_time()
        learned = learn_clusters(found, task, labelled_in(rows, found, task))
        text = to_text(learned)
    except MemoryError:
        return failed_row(site, NO_MEMORY, len(rows))
    except Exception as error:  # noqa: BLE001 -- any error belongs to this site, and is reported
        stage = "finding its duplicates" if found is None else "learning from them"
        return failed_row(site, f"{stage} failed: {type(error).__name__}: {error}", len(rows))
    spent = clustered - started, process_time() - clustered
    told = [_row(site, len(rows), text, None, spent)]
    if task.tells_shapes and learned.shown:
        nothing = _row(site, 0, None, None, (0.0, 0.0))
        told += [nothing | row for row in said_rows(learned.shown, task.requirements).to_pylist()]
    return pa.Table.from_pylist(told, LEARNED)


def failed_row(site: str, reason: str, rows: int = 0) -> pa.Table:
    """Return the row of a site that gave nothing but a reason."""
    return pa.Table.from_pylist([_row(site, rows, None, " ".join(reason.split()), (0.0, 0.0))], LEARNED)


def _row(
    site: str, rows: int, text: str | None, failure: str | None, spent: tuple[float, float]
) -> dict[str, object]:
    return dict(zip(LEARNED.names, (site, text, failure, rows, *spent), strict=False))


def learn_clusters(site: SiteClusters, task: LearningTask, labelled: Labelled | None = None) -> SiteOutcome:
    """Return what one site gives; a pure function of its clusters, the task, and the pages to count by."""
    known = task.before.get(site.site, ())
    final = FinalSample.of(site, task.requirements)
    _give_back(final)
    rules, again = _learned(final.source, task)
    _give_back(final)
    rules = final.completed(rules)
    is_checked = final.is_large or is_checked_site(site.site, task.sites, task.requirements.seed)
    if is_checked:
        rules = replace(rules, checked=final.checked(rules, lambda part: _learned(part, task)[0], known))
    rules = replace(rules, rules=with_targets(site, rules.rules, rules.unstable))
    rules = replace(rules, rules=with_bounds(rules.rules))
    rules = replace(rules, rules=final.safe_apart(rules.rules, known, rules.unstable))
    if not is_checked and rules.rules:
        modelled = modelled_loss(rules.rules, rules.pages)
        rules = replace(rules, checked=CheckedPages(unchecked=1, modelled=modelled))
    leading = {rule.id: rule for rule in rules.rules}
    again = [(fate, _leading(rule, leading.get(rule.id))) for fate, rule in again]
    shown: list[SiteTally] = []
    if task.is_across:
        shown = shown_by(site, task.requirements, rules.rules, task.known_across, rules.unstable)
    has_evidence = bool(site.known.any()) or bool((site.nodes_of_cluster > 1).any())
    told = replace(rules, refused=rules.refused if task.keeps_refused else (), unstable=())
    is_part = site.site in task.sampled
    stands = site_state_of(site, rules.rules, task.requirements) if is_part else None
    doubts = () if has_evidence else _doubts(site)
    _give_back(final)
    totals = Totals() if is_part else totals_of(site.urls, labelled, RuleSet(rules.rules))
    proposed = proposed_beside(site, (*rules.rules, *known), task.requirements.seed)
    return SiteOutcome(told, again, shown, has_evidence, stands, doubts, totals, proposed)


def _give_back(final: FinalSample) -> None:
    """Give back what a stage left of a large site, for the next one takes as much again."""
    if final.is_large:
        give_back_memory()


def _learned(site: SiteClusters, task: LearningTask) -> tuple[SiteRules, Fated]:
    """Return what pages of a site give, and what became of its rules from before."""
    known = task.before.get(site.site, ())
    again = proved_again(site, known, task.requirements, task.today) if known else []
    unwanted = [rule for _, rule in again if is_off(rule)]
    given = [rule for fate, rule in again if fate in {"holds", "not seen"}]
    learn = edited_rules if task.edits else combined_rules
    rules = learn(site, task.requirements, given, unwanted, task.priors)
    return (held_against_all(site, rules, task.requirements) if rules.sampled else rules), again


def _leading(rule: Rule, seen: Rule | None) -> Rule:
    """Return a rule from before with where it leads now, and with what it needs."""
    if seen is None:
        return rule
    return replace(rule, fetch=seen.fetch, needs=seen.needs, targets=seen.targets, fpr_upper=seen.fpr_upper)


def labelled_of(site: SiteClusters) -> Labelled | None:
    """Return the URLs of a site whose page is known from evidence."""
    return next(iter(labelled_from_duplicates(Duplicates((site,)))[0]), None)


def labelled_in(rows: pa.Table, site: SiteClusters, task: LearningTask) -> Labelled | None:
    """Return the URLs of a site whose page is known, as `evaluate` takes them from the whole input."""
    if has_labels(rows):
        try:
            return next(iter(labelled_from_labels(rows)[0]), None)
        except UndustError:
            # Labels that contradict each other: what is left of them is in the clusters.
            return labelled_of(site)
    return None if task.has_labels else labelled_of(site)


def _doubts(site: SiteClusters) -> tuple[str, ...]:
    """Return by name what the site says of its pages and is not believed."""
    kinds = {each.kind for each in site.found}
    # Contents that are too short to compare are reported only where they would have joined something.
    return tuple(sorted(kinds or ({EMPTY} if site.distrusted.any() else ())))


def outcome_of(
    found: Iterable[SiteOutcome],
    task: LearningTask,
    update: RuleSet | None,
    *,
    keeps_values: bool,
    together: SitesTogether | None = None,
) -> Outcome:
    """Return the outcome over all sites, in whatever order they come: each one's, and what they say together.

    Args:
        found: What each site gave.
        task: What was done with each.
        update: Rules from before.
        keeps_values: Whether examples show the values of parameters that are dropped.
        together: What is known of all of them together, if there are very many; then nothing is in `found`.

    """
    if together is not None:
        across = rules_of_shapes(together.shapes, task.requirements) if task.is_across else ()
        return together.outcome(across, keeps_values=keeps_values)
    learned = sorted(found, key=lambda each: each.rules.site)
    sites = tuple(each.rules for each in learned)
    shown = [row for each in learned for row in each.shown]
    has_evidence = any(each.has_evidence for each in learned)
    totals = {each.rules.site: each.totals for each in learned}
    doubts = tuple(sorted({doubt for each in learned for doubt in each.doubts}))
    proposed = tuple(rule for each in learned for rule in each.proposed)
    counted: dict[str, Any] = {"doubts": doubts, "totals": totals, "proposed": proposed}
    new = rules_across(shown, task.requirements)
    if update is None:
        return Outcome(sites, keeps_values, has_evidence, new, **counted)
    fates: dict[str, Fated] = {site: _not_seen(rules) for site, rules in task.before.items()}
    fates |= {each.rules.site: merged(each.again, each.rules.rules) for each in learned}
    # Rules of one site come before those for all, in use as in the file.
    fates.pop(ANY_SITE, None)
    off = [rule for rule in update if is_off(rule)]
    own_off = [rule for rule in off if rule.site != ANY_SITE]
    again = proved_again_across(task.before.get(ANY_SITE, ()), shown, task.requirements, task.today)
    again = [(fate, each) for fate, rule in again for each in wanted([rule], own_off)]
    for_all = merged(again, wanted(new, off))
    everything = [each for rules in (*fates.values(), for_all) for each in rules]
    across = tuple(rule for _, rule in for_all)
    drift = Drift(tuple(everything))
    return Outcome(sites, keeps_values, has_evidence, across, update, drift, **counted)


def _not_seen(rules: Iterable[Rule]) -> Fated:
    return [("not seen" if rule.status == "active" else "off", rule) for rule in rules]
