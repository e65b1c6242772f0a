"""What rules, or methods, do to URLs whose pages are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.jobs.arguments import names_of, require_demands
from undust.jobs.find_duplicates import find_duplicates
from undust.judging.verdict import VerdictLimits, limits_from
from undust.learning.single import HELD_OUT, Job
from undust.measuring import evaluate as judge
from undust.measuring.compare import (
    TEST,
    Comparison,
    compare_methods,
    methods_named,
    require_both_sides,
    split_by_evidence,
    split_by_labels,
)
from undust.measuring.judged import (
    has_labels,
    labelled_from_duplicates,
    labelled_from_labels,
    require_pages,
    seen_by_site,
)
from undust.reading.observations import arrow_table, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from undust.measuring import Evaluation, Labelled
    from undust.rules import RuleSet


def evaluate(
    rules: RuleSet,
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    threads: int = 1,
) -> Evaluation:
    """Return every published measure of a rule set, on URLs whose pages are known.

    Args:
        rules: What is judged, by the keys it gives.
        seen: Observations. Where some have a label in `cluster`, those are judged by it; otherwise
            the pages are those that `find_duplicates` finds.
        threads: How many to use; the result is the same.

    """
    sites, unjudged, every = _labelled(seen)
    return judge(rules, sites, unjudged, threads=threads, seen=every)


def known_pages(seen: Any) -> list[Labelled]:  # noqa: ANN401 -- any Arrow object
    """Return the URLs whose pages are known, site by site: by labels if there are any, else by evidence."""
    sites, _, _ = _labelled(seen)
    require_pages(sites)
    return sites


def _labelled(seen: Any) -> tuple[list[Labelled], int, dict[str, Any]]:  # noqa: ANN401 -- any Arrow object
    table = table_of(seen)
    if has_labels(table):
        return *labelled_from_labels(table), seen_by_site(table)
    duplicates = find_duplicates(seen)
    return *labelled_from_duplicates(duplicates), {found.site: found.urls for found in duplicates}


def compare(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    methods: Iterable[str] | None = None,
    *,
    labels: Any = None,  # noqa: ANN401 -- any Arrow object
    options: Mapping[str, object] | None = None,
    max_fpr: float | Sequence[float] = VerdictLimits.max_fpr,
    min_support: int | None = None,
    test: float = TEST,
    held_out: float = HELD_OUT,
    seed: int = 0,
    threads: int = 1,
    watch: Callable[[str], object] = lambda _: None,
) -> Comparison:
    """Return what all methods, trained on the same pages, do to the same pages that none of them saw.

    Args:
        seen: Observations; what they say of pages (labels in `cluster` first of all) is what methods
            learn from, and what they are judged by.
        methods: Their names, or all there are.
        labels: A table of `url` and `cluster` to judge by instead, which no method sees.
        options: Of learners, by their written names, as in `{"substring.max_bucket": 6}`.
        max_fpr: The largest share of false pairs that is accepted; one row for each, if there are several.
        min_support: The number of pages that must show a candidate to be right, instead of what each
            method demands by itself.
        test: The share of the pages that are judged.
        held_out: The share of the others that learners do not see either, to prove their candidates on.
        seed: Another number splits in another way.
        threads: How many to use; the result is the same.
        watch: Called with the name of each method before it starts.

    """
    chosen = methods_named(None if methods is None else names_of(methods))
    bounds = (max_fpr,) if isinstance(max_fpr, int | float | str) else tuple(max_fpr)
    for bound in bounds:
        require_demands(bound, min_support)
    if labels is None:
        training, judged, unlabelled = split_by_evidence(find_duplicates(seen), arrow_table(seen), test, seed)
    else:
        rest, judged, unlabelled = split_by_labels(arrow_table(seen), arrow_table(labels), test, seed)
        training = find_duplicates(rest)
    require_both_sides(training.summary.clusters, judged)
    job = Job((), dict(options or {}), limits_from(min_support), held_out, seed, threads, min_support)
    rows = compare_methods(training, judged, chosen, job, bounds=bounds, watch=watch)
    return Comparison.of(rows, training, judged, unlabelled)
