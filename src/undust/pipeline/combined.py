"""The main job, site by site through an engine: clusters, rules, and what the site shows of all sites.

Each site gives one row, on its own and anywhere. One small pass over the rows then decides what holds for
all sites, so that a cluster of machines shuffles the observations once and nothing else.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undust.duplicates import Duplicates, find_in_site
from undust.duplicates.glue import VALUES
from undust.engines import SITE
from undust.engines.local import LocalEngine
from undust.learning import (
    SITES,
    Care,
    Drift,
    Outcome,
    is_off,
    learn_site,
    merged,
    proved_again,
    proved_again_across,
    rules_across,
    shown_by,
    wanted,
)
from undust.pipeline.finding import declared_in, table_with_site
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from undust.duplicates import Declaration, SiteClusters
    from undust.learning import Shown, SiteRules
    from undust.learning.drift import Fate
    from undust.rules import Rule, RuleSet

    Fated = list[tuple[Fate, Rule]]

LEARNED = pa.schema(
    [pa.field(SITE, pa.string(), nullable=False), pa.field("learned", pa.binary(), nullable=False)]
)
TASK_ROWS = 5_000
"""Observations that another process learns from before it tells; learning takes its time."""


@dataclass(frozen=True)
class Task:
    """What is to be done with each site."""

    care: Care
    is_across: bool = True
    before: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    """The rules from before, by site."""
    today: str | None = None


class Learned(NamedTuple):
    """What one site gave."""

    rules: SiteRules
    again: Fated
    """Its rules from before, with what became of them."""
    shown: list[Shown]
    has_evidence: bool


def learn_combined(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    care: Care | None = None,
    *,
    keep_values: bool = False,
    across: bool = True,
    update: RuleSet | None = None,
    today: str | None = None,
    threads: int = 1,
    watch: Callable[[str], object] | None = None,
) -> Outcome:
    """Return what all evidence and all proposals together give.

    Args:
        seen: What `read` or `find_duplicates` returned, or any Arrow table with a column `url`.
        care: What a rule must show.
        keep_values: Show the values of dropped parameters in examples.
        across: Learn rules for all sites too, if there are several.
        update: Rules from before, which are proved again.
        today: The day that is written beside them.
        threads: How many sites to learn at a time; the result is the same.
        watch: Is told each site that is done.

    """
    before: dict[str, list[Rule]] = {}
    for rule in update or ():
        before.setdefault(rule.site, []).append(rule)
    task = Task(
        care or Care(),
        across,
        {site: tuple(rules) for site, rules in before.items()},
        today,
    )
    if isinstance(seen, Duplicates):
        task = _without_need(task, len(seen.sites))
        found: Iterable[Learned] = (learn_one(site, task) for site in seen)
    else:
        found = _through_engine(seen, task, threads)
    return _outcome(_watched(found, watch), task, update, keeps_values=keep_values)


def learn_one(site: SiteClusters, task: Task) -> Learned:
    """Return what one site gives; a pure function of its clusters and the task."""
    known = task.before.get(site.site, ())
    again = proved_again(site, known, task.care, task.today) if known else []
    unwanted = [rule for _, rule in again if is_off(rule)]
    given = [rule for fate, rule in again if fate in {"holds", "not seen"}]
    rules = learn_site(site, task.care, given, unwanted)
    shown = []
    if task.is_across:
        shown = shown_by(site, task.care, rules.rules, _known_across(task))
    has_evidence = bool(site.known.any()) or bool((site.sizes > 1).any())
    return Learned(rules, again, shown, has_evidence)


def _known_across(task: Task) -> list[Rule]:
    return [rule for rule in task.before.get(ANY_SITE, ()) if rule.status == "active"]


def _without_need(task: Task, sites: int) -> Task:
    """Return the task without what too few sites could not answer."""
    is_across = task.is_across and (sites >= SITES or bool(_known_across(task)))
    return Task(task.care, is_across, task.before, task.today)


def _through_engine(seen: Any, task: Task, threads: int) -> Iterator[Learned]:  # noqa: ANN401
    table = table_with_site(seen)
    task = _without_need(task, pc.count_distinct(table.column(SITE)).as_py())
    function = partial(_row_of, task=task, declared=declared_in(seen))
    with LocalEngine(threads=threads, task_rows=TASK_ROWS) as engine:
        for row in engine.each_site(table, function):
            for learned in row["learned"].drop_null():
                yield pickle.loads(learned.as_py())  # noqa: S301 -- written by ourselves, a moment ago


def _row_of(
    site: str, rows: pa.Table, task: Task, declared: Mapping[str, tuple[Declaration, ...]]
) -> pa.Table:
    """Return what one site gives as a row, so that it can come from another process or machine."""
    if not site:  # what is no URL
        return LEARNED.empty_table()
    learned = learn_one(find_in_site(rows, site, declared.get(site, ()), VALUES), task)
    return pa.table({SITE: [site], "learned": [pickle.dumps(learned)]}, LEARNED)


def _watched(found: Iterable[Learned], watch: Callable[[str], object] | None) -> Iterator[Learned]:
    for each in found:
        if watch:
            watch(each.rules.site)
        yield each


def _outcome(found: Iterable[Learned], task: Task, update: RuleSet | None, *, keeps_values: bool) -> Outcome:
    """Return the outcome over all sites: what each gave, and what they say together."""
    learned = list(found)
    sites = tuple(each.rules for each in learned)
    shown = [row for each in learned for row in each.shown]
    has_evidence = any(each.has_evidence for each in learned)
    new = rules_across(shown, task.care)
    if update is None:
        return Outcome(sites, keeps_values, has_evidence, new)
    fates: dict[str, Fated] = {site: _not_seen(rules) for site, rules in task.before.items()}
    fates |= {each.rules.site: merged(each.again, each.rules.rules) for each in learned}
    # Rules of one site come before those for all, in use as in the file.
    fates.pop(ANY_SITE, None)
    off = [rule for rule in update if is_off(rule)]
    own_off = [rule for rule in off if rule.site != ANY_SITE]
    again = proved_again_across(task.before.get(ANY_SITE, ()), shown, task.care, task.today)
    again = [(fate, each) for fate, rule in again for each in wanted([rule], own_off)]
    for_all = merged(again, wanted(new, off))
    everything = [each for rules in (*fates.values(), for_all) for each in rules]
    across = tuple(rule for _, rule in for_all)
    return Outcome(sites, keeps_values, has_evidence, across, update, Drift(tuple(everything)))


def _not_seen(rules: Iterable[Rule]) -> Fated:
    return [("not seen" if rule.status == "active" else "off", rule) for rule in rules]
