"""The main job through an engine: each site on its own, then one small pass over what they gave.

So a cluster of machines shuffles the observations once and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from undust.engines import NONE_SET_ASIDE, SITE
from undust.engines.local import LocalEngine
from undust.jobs.find_duplicates import declared_in, table_with_site
from undust.jobs.one_site import LEARNED, LearningTask, failed_row, labelled_of, learn_clusters, learn_rows
from undust.jobs.quiet_sites import COUNTED_TOGETHER, QUIET_TEST
from undust.jobs.records import from_text, to_text
from undust.jobs.sampled_sites import Giants
from undust.jobs.stages import ACROSS, CLUSTERING, GIANTS, GROUPING, LEARNING, Stages
from undust.jobs.together import outcome_of
from undust.learning import Outcome, Requirements
from undust.measuring.judged import has_labels
from undust.pages.clustering import Duplicates
from undust.reading.observations import Observations

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from undust.engines import Engine, SetAside
    from undust.jobs.records import SiteOutcome
    from undust.jobs.site_journal import SiteJournal
    from undust.rules import Rule, RuleSet
    from undust.searching.priors import KindPrior


class Watch(Protocol):
    """A receiver of progress."""

    def expect(self, sites: int, rows: int) -> None:
        """Hear how many sites and observations there are."""

    def tell(self, site: str, rows: int) -> None:
        """Receive that a site with this many observations is done."""


def learn_combined(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    requirements: Requirements | None = None,
    *,
    keep_values: bool = False,
    across: bool = True,
    update: RuleSet | None = None,
    today: str | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    journal: SiteJournal | None = None,
    stages: Stages | None = None,
    keep_refused: bool = True,
    watch: Watch | None = None,
    edits: bool = False,
    priors: Mapping[str, KindPrior] | None = None,
) -> Outcome:
    """Return what all evidence and all proposals together give.

    Args:
        seen: What `read` or `find_duplicates` returned, or any Arrow table with a column `url`.
        requirements: What a rule must show.
        keep_values: Show the values of dropped parameters in examples.
        across: Learn rules for all sites too, if there are several.
        update: Rules from before, which are proved again.
        today: The day that is written beside them.
        threads: How many sites to learn at a time; the result is the same.
        engine: Where the work runs, instead of this machine with this many threads.
        journal: Where finished sites are kept, and from where a job goes on.
        stages: Counts where the time goes.
        keep_refused: Return the refused candidates one by one, and not only their counts.
        watch: Called with what there is to do, and each site that is done.
        edits: Search among typed edits of each site instead.
        priors: What is known of kinds of edits, instead of what undust brings along.

    """
    before: dict[str, list[Rule]] = {}
    for rule in update or ():
        before.setdefault(rule.site, []).append(rule)
    by_site = {site: tuple(rules) for site, rules in before.items()}
    task = LearningTask(
        requirements or Requirements(),
        is_across=across,
        before=by_site,
        today=today,
        declared=declared_in(seen),
        keeps_refused=keep_refused,
        edits=edits,
        priors=priors,
    )
    run = EngineRun(task, journal, stages or Stages(), watch)
    if isinstance(seen, Duplicates):
        run.task = task.for_sites(len(seen.sites))
        found = [learn_clusters(site, run.task, labelled_of(site)) for site in seen]
    elif engine is None:
        with LocalEngine(threads=threads) as local:
            found = list(run.through(local, seen))
    else:
        found = list(run.through(engine, seen))
    with run.stages.timed(ACROSS):
        outcome = outcome_of(found, run.task, update, keeps_values=keep_values, quiet=run.quiet)
    return replace(outcome, failed=run.failed)


@dataclass
class EngineRun:
    """The sites of one job on their way through an engine."""

    task: LearningTask
    journal: SiteJournal | None
    stages: Stages
    watch: Watch | None
    failed: dict[str, str] = field(default_factory=dict)
    quiet: SetAside = NONE_SET_ASIDE

    def through(self, engine: Engine, seen: Any) -> Iterator[SiteOutcome]:  # noqa: ANN401
        """Yield what each site gives, as an engine brings it; note the sites that failed."""
        is_sited = isinstance(seen, Observations) and SITE in seen.table.schema.names
        table = seen.table if is_sited else table_with_site(seen)
        done = self.journal.found if self.journal else {}
        with self.stages.timed(GROUPING):
            survey = engine.survey(table, engine.site_rows)
            self.task = replace(
                self.task.for_sites(survey.sites),
                has_labels=isinstance(table, pa.Table) and has_labels(table),
                sampled=frozenset(survey.large),
            )
            if self._may_be_quiet and survey.sites >= COUNTED_TOGETHER:
                table, self.quiet = engine.set_aside(table, QUIET_TEST)
            if self.watch:
                self.watch.expect(survey.sites - self.quiet.sites, survey.rows - self.quiet.rows)
            for site, text in done.items():
                self._tell(site, 0)
                yield from_text(text)
            large = {site: rows for site, rows in survey.large.items() if site not in done}
            if large:
                yield from self._giants(engine, table, large)
            for row in self._rows(engine, table, {*done, *survey.large}):
                self._note(row[SITE], row["learned"], row["rows"])
                yield from_text(row["learned"])

    @property
    def _may_be_quiet(self) -> bool:
        """Whether only the observations say something of sites: no rules from before, no labels."""
        return not (self.task.before or self.task.declared or self.task.has_labels)

    def _giants(self, engine: Engine, table: Any, large: Mapping[str, int]) -> Iterator[SiteOutcome]:  # noqa: ANN401
        with self.stages.timed(GIANTS):
            giants = Giants(engine, table, large)
            rows = self._rows(engine, giants.sample())
            found = {row[SITE]: from_text(row["learned"]) for row in rows}
            for site, learned in giants.held_against_all(found, self.task).items():
                self._note(site, to_text(learned), large[site])
                yield learned

    def _rows(self, engine: Engine, table: Any, done: Container[str] = ()) -> Iterator[dict[str, Any]]:  # noqa: ANN401
        """Yield the rows of the sites that did not fail."""
        function = partial(learn_rows, task=self.task)
        for some in engine.each_site(table, function, LEARNED, done, failed_row):
            for row in some.to_pylist():
                self.stages.add(CLUSTERING, row["clustering"])
                self.stages.add(LEARNING, row["learning"])
                if row["failure"] is None:
                    yield row
                else:
                    self.failed[row[SITE]] = row["failure"]
                    self._tell(row[SITE], row["rows"])

    def _note(self, site: str, text: str, rows: int) -> None:
        if self.journal:
            self.journal.add(site, text)
        self._tell(site, rows)

    def _tell(self, site: str, rows: int) -> None:
        if self.watch:
            self.watch.tell(site, rows)
