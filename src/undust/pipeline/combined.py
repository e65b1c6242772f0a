"""The main job through an engine: each site on its own, then one small pass over what they gave.

So a cluster of machines shuffles the observations once and nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from undust.duplicates import Duplicates
from undust.engines import SITE
from undust.engines.local import LocalEngine
from undust.learning import Care, Outcome
from undust.observations import Observations
from undust.pipeline.finding import declared_in, table_with_site
from undust.pipeline.giants import Giants
from undust.pipeline.one_site import LEARNED, Task, failed_row, learn_clusters, learn_rows
from undust.pipeline.records import from_text
from undust.pipeline.together import outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from undust.engines import Engine
    from undust.pipeline.records import Learned
    from undust.rules import Rule, RuleSet

TASK_ROWS = 5_000
"""Observations that another process learns from before it tells; learning takes its time."""


def learn_combined(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    care: Care | None = None,
    *,
    keep_values: bool = False,
    across: bool = True,
    update: RuleSet | None = None,
    today: str | None = None,
    threads: int = 1,
    engine: Engine | None = None,
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
        engine: Where the work runs, instead of this machine with so many threads.
        watch: Is told each site that is done.

    """
    before: dict[str, list[Rule]] = {}
    for rule in update or ():
        before.setdefault(rule.site, []).append(rule)
    by_site = {site: tuple(rules) for site, rules in before.items()}
    task = Task(care or Care(), across, by_site, today, declared_in(seen))
    failed: dict[str, str] = {}
    if isinstance(seen, Duplicates):
        task = task.for_sites(len(seen.sites))
        found = [learn_clusters(site, task) for site in seen]
    elif engine is None:
        with LocalEngine(threads=threads, task_rows=TASK_ROWS) as local:
            found = list(_through(local, seen, task, failed, watch))
    else:
        found = list(_through(engine, seen, task, failed, watch))
    return replace(outcome_of(found, task, update, keeps_values=keep_values), failed=failed)


def _through(
    engine: Engine,
    seen: Any,  # noqa: ANN401
    task: Task,
    failed: dict[str, str],
    watch: Callable[[str], object] | None,
) -> Iterator[Learned]:
    """Yield what each site gives, as an engine brings it; note the sites that failed."""
    is_sited = isinstance(seen, Observations) and SITE in seen.table.schema.names
    table = seen.table if is_sited else table_with_site(seen)
    survey = engine.survey(table, engine.site_rows)
    task = replace(task.for_sites(survey.sites), sampled=frozenset(survey.large))

    def learned(rows: Any, done: Container[str] = ()) -> Iterator[Learned]:  # noqa: ANN401
        function = partial(learn_rows, task=task)
        for some in engine.each_site(rows, function, LEARNED, done, failed_row):
            for row in some.to_pylist():
                if watch:
                    watch(row[SITE])
                if row["failure"] is None:
                    yield from_text(row["learned"])
                else:
                    failed[row[SITE]] = row["failure"]

    if survey.large:
        giants = Giants(engine, table, survey.large)
        found = {each.rules.site: each for each in learned(giants.sample())}
        yield from giants.held_against_all(found, task).values()
    yield from learned(table, survey.large)
