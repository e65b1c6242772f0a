"""What rules, methods, or a change of rules do to URLs whose pages are known: removed and lost.

The command has checked its options. What calls from Python give is checked here before any work: a wrong
value raises one sentence.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

from undust.errors import UndustError
from undust.jobs.find_duplicates import find_duplicates
from undust.judging.verdict import VerdictLimits, limits_from
from undust.learning.single_methods import HELD_OUT, Job
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
from undust.measuring.counts import savings
from undust.measuring.judged import (
    has_labels,
    labelled_from_duplicates,
    labelled_from_labels,
    require_pages,
    seen_by_site,
)
from undust.reading.observations import arrow_table, table_of
from undust.rules import RuleSet
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyarrow as pa

    from undust.measuring import Evaluation, Labelled
    from undust.measuring.counts import Savings


def require_demands(max_fpr: object, min_support: object = None) -> None:
    """Raise unless these can be demanded of a rule; nan is not a share either."""
    if not isinstance(max_fpr, Real) or not 0 <= float(max_fpr) <= 1:
        message = f"max_fpr is {max_fpr!r}; give a number from 0 to 1, such as 0.01"
        raise UndustError(message)
    if min_support is not None and not (isinstance(min_support, Integral) and int(min_support) >= 1):
        message = f"min_support is {min_support!r}; give a whole number from 1 on, or leave it out"
        raise UndustError(message)


def require_rules(update: object) -> None:
    """Raise unless these are rules from before, or none."""
    if update is not None and not isinstance(update, RuleSet):
        message = f"update is {update!r} and no rules; load them first, with undust.load(path)"
        raise UndustError(message)


def names_of(methods: Iterable[str]) -> tuple[str, ...]:
    """Return the names of methods; a single one need not be in a list.

    >>> names_of("tree"), names_of(["tree", "substring"])
    (('tree',), ('tree', 'substring'))
    """
    return (methods,) if isinstance(methods, str) else tuple(methods)


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


class RulesJudged(NamedTuple):
    """What rules do to pages, if that is known, and what they save of the requests of a log."""

    evaluation: Evaluation | None
    why_not: str
    """Why nothing is known of the pages, where that is so."""
    saved: list[Savings]


def judge_rules(
    rules: RuleSet,
    seen: Any,  # noqa: ANN401 -- any Arrow object
    traffic: pa.Table,
    *,
    threads: int = 1,
) -> RulesJudged:
    """Return what rules do to pages and to requests; raise where neither is known.

    Args:
        rules: What is judged, by the keys it gives.
        seen: Observations, as `evaluate` takes them.
        traffic: The requests of logs, as `traffic_of` adds them up.
        threads: How many to use; the result is the same.

    """
    saved = savings(rules, traffic)
    try:
        return RulesJudged(evaluate(rules, seen, threads=threads), "", saved)
    except UndustError as error:
        if not saved:
            raise
        return RulesJudged(None, str(error), saved)


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


@dataclass(frozen=True)
class ChangeEffect:
    """Removed and lost on a sample, before a change of rules and after it."""

    urls: int
    pages: int
    removed_before: float
    """Share of the duplicates that are removed; standard normalization is counted."""
    removed_after: float
    lost_pages_before: int
    """Pages that are merged into a different one."""
    lost_pages_after: int

    @property
    def is_worse(self) -> bool:
        """Whether more pages are lost than before."""
        return self.lost_pages_after > self.lost_pages_before

    def __str__(self) -> str:
        """Return one sentence for people."""
        removed = (
            f"{self.removed_after:.1%} of the duplicates are removed instead of {self.removed_before:.1%}"
        )
        lost = f"pages lost: {self.lost_pages_after:,} instead of {self.lost_pages_before:,}"
        return f"on the sample of {self.urls:,} URLs, {removed}; {lost}"

    def to_json(self) -> dict[str, Any]:
        """Return the figures for programs."""
        return asdict(self) | {"worse": self.is_worse}


def effect_of_change(before: RuleSet, after: RuleSet, sample: Any) -> ChangeEffect:  # noqa: ANN401 -- any Arrow object
    """Return what turning one rule set into another does to a sample of observations.

    >>> import pyarrow as pa
    >>> from undust import Rule, RuleSet
    >>> rules = RuleSet([Rule.parse('replace "?x" -> ""', site="a.test")])
    >>> urls = ["http://a.test/p", "http://a.test/p?x", "http://a.test/q"]
    >>> seen = pa.table({"url": urls, "digest": ["1", "1", "2"]})
    >>> str(effect_of_change(RuleSet(), rules, seen))[-80:]
    '100.0% of the duplicates are removed instead of 0.0%; pages lost: 0 instead of 0'
    """
    sites = known_pages(sample)
    named = {rule.site for rules in (before, after) for rule in rules}
    if named and ANY_SITE not in named and named.isdisjoint(one.site for one in sites):
        message = "the sample has no URL with a known page on a site of the rules; give another --sample"
        raise UndustError(message)
    old, new = (
        sum(measured[1:], measured[0])
        for measured in ([one.measured(rules) for one in sites] for rules in (before, after))
    )
    return ChangeEffect(
        new.urls,
        new.clusters,
        old.removed,
        new.removed,
        *(round(each.lost * each.clusters) for each in (old, new)),
    )
