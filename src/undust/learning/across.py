"""Rules for sites never seen: what several sites prove, and too few of them contradict.

Each site is one trial of a shape: it holds there, or it fails. Shapes of one family share a prior of
how often they fail, learned from all of them (a beta-binomial over sites), so that the first sites of a
parameter weigh less where most parameters matter. One that fails somewhere is taken only if it was seen
to hold on many more sites, and never works where it fails.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from undust.learning.drift import retired
from undust.learning.generic import BY, HeldShapes, opposes, shape_of, vote_of
from undust.learning.outcome import does, work_of
from undust.rules import Rule, RuleSet
from undust.rules.language import ANY_SITE
from undust.statistics import log_beta, upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undust.learning.drift import Fate
    from undust.learning.generic import ShapeSums, ShapeTable, SiteTally
    from undust.learning.site_pages import Requirements

SITES = 3
"""At least this many sites must prove a rule for all."""
FAILING = 0.05
"""The chance that a rule for all fails on the next site must be smaller: less than one site in twenty."""
_RETIRED = 0.1
"""… and one from before is retired when the chance exceeds this: a rule that comes and goes is of no use."""
_EXAMPLES = 3
_MOST_SITES = 1_000_000
"""That a file may claim to have proved a rule; with more nothing could contradict it any more."""
_MEANS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
_STRENGTHS = (0.25, 0.5, 1.0, 2.0)
MOST_RULES_ACROSS = 300
"""Rules for all sites, those that save most; 28 sites of `bench.across` have 5. Each is compared with all
before it, and who owns three sites can make up thousands. A site still has the others as its own rules."""


class Trials(NamedTuple):
    """On how many sites something held, and on how many it failed; a site with few pages counts in part."""

    holds: float
    fails: float


class Prior(NamedTuple):
    """How often a shape fails before anything is seen of it: a beta distribution."""

    fails: float
    holds: float

    def failing(self, trials: Trials) -> float:
        """Return the chance that it fails on the next site."""
        fails, holds = self.fails + trials.fails, self.holds + trials.holds
        return fails / (fails + holds)

    def likelihood(self, trials: Trials) -> float:
        """Return how likely the trials are, as a logarithm, but for what does not depend on the prior."""
        return log_beta(self.fails + trials.fails, self.holds + trials.holds) - log_beta(
            self.fails, self.holds
        )


def rules_across(shown: Iterable[SiteTally], requirements: Requirements) -> tuple[Rule, ...]:
    """Return the rules for all sites; the order of what was shown does not matter."""
    return rules_of_shapes(HeldShapes(shown, requirements), requirements)


def rules_of_shapes(table: ShapeTable, requirements: Requirements) -> tuple[Rule, ...]:
    """Return the rules for all sites, those that save most first, less those whose work is done by then."""
    priors = {
        family: prior_of(Counter({_of_sites(*pages, requirements): count for pages, count in seen.items()}))
        for family, seen in table.families().items()
    }
    failing = {
        each: priors[each.shape.family].failing(_of_sites(each.holds, each.fails, requirements))
        for each in table.proved(SITES)
    }
    taken = [each for each, chance in failing.items() if chance < FAILING]
    taken.sort(key=lambda each: (-each.saves, str(each.shape.rule), each.shape))
    kept: list[Rule] = []
    canonical = RuleSet(kept).compile()
    said = groupby(table.tallies([each.shape for each in taken]), shape_of)
    for each, (_, sites) in zip(taken, said, strict=False):
        together = _Together(requirements, canonical)
        for tally in sites:
            together.add(tally)
        if not together.is_needed:
            continue
        kept.append(together.rule(each, failing[each]))
        if len(kept) == MOST_RULES_ACROSS:
            break
        canonical = RuleSet(kept).compile()
    return tuple(kept)


class _Together:
    """What sites say of one shape, heard one after the other: sums, a few examples, and who is against it."""

    def __init__(self, requirements: Requirements, canonical: Callable[[str], str]) -> None:
        self._requirements = requirements
        self._canonical = canonical
        self._pages = self._lost = self._saved = 0
        self._against: list[str] = []
        self._best: list[tuple[int, str, str, str]] = []
        self.is_needed = False
        """Whether a URL is left that the rules before it do not bring to its page's form."""

    def add(self, shown: SiteTally) -> None:
        """Hear a site."""
        if shown.example and not self.is_needed:
            self.is_needed = self._canonical(shown.example) != self._canonical(shown.becomes)
        if opposes(shown, self._requirements):
            self._against.append(shown.site)
            return
        self._pages += shown.pages
        self._lost += shown.lost
        self._saved += shown.saved
        if shown.example:
            insort(self._best, (-shown.pages, shown.site, shown.example, shown.becomes))
            del self._best[_EXAMPLES:]

    def rule(self, sums: ShapeSums, failing: float) -> Rule:
        """Return the rule for all sites, with what the sites that it works on have shown."""
        pages, lost = self._pages, self._lost
        return replace(
            sums.shape.rule,
            support=pages + lost,
            false_positives=lost,
            fpr=round(lost / (pages + lost), 6),
            fpr_upper=round(upper_bound(lost, pages + lost), 6),
            saves=self._saved,
            examples=tuple((example, becomes) for *_, example, becomes in self._best),
            except_sites=tuple(sorted(self._against)),
            extra={BY: {"sites": sums.proved, "failing": round(failing, 4)}},
        )


def excepting(
    rules: Iterable[Rule], shown: Iterable[SiteTally], requirements: Requirements
) -> tuple[Rule, ...]:
    """Return rules for all sites, each switched off on sites whose own pages contradict it."""
    against: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for each in shown:
        if opposes(each, requirements):
            against[each.kind, each.source, each.target].add(each.site)
    return tuple(
        _off_on(rule, against.get((rule.kind, rule.source, rule.target or ""), ())) for rule in rules
    )


def _off_on(rule: Rule, sites: Iterable[str]) -> Rule:
    return replace(rule, except_sites=tuple(sorted({*rule.except_sites, *sites})))


def proved_again_across(
    rules: Iterable[Rule], shown: Iterable[SiteTally], requirements: Requirements, today: str | None = None
) -> list[tuple[Fate, Rule]]:
    """Return rules for all sites, each with what sites that were seen anew say of it.

    What was known of a rule is the prior now. Rules that a person wrote are never retired.
    """
    by_text: dict[tuple[str, str, str], list[SiteTally]] = defaultdict(list)
    for each in sorted(shown):
        by_text[each.kind, each.source, each.target].append(each)
    done: list[tuple[Fate, Rule]] = []
    for rule in rules:
        sites = by_text.get((rule.kind, rule.source, rule.target or ""), [])
        if rule.status != "active":
            done.append(("off", rule))
        elif rule.learned_by != BY or not sites:
            done.append(("not seen", rule))
        else:
            done.append(_again(rule, sites, requirements, today))
    return done


def _again(
    rule: Rule, sites: Sequence[SiteTally], requirements: Requirements, today: str | None
) -> tuple[Fate, Rule]:
    trials, before = _trials(sites, requirements), _known_of(rule)
    count, share = before["sites"], before["failing"]
    failing = Prior(share * count, (1 - share) * count).failing(trials)
    if failing > _RETIRED:
        failed = [each.site for each in sites if opposes(each, requirements)]
        where = f"{', '.join(failed[:_EXAMPLES])}{' and others' * (len(failed) > _EXAMPLES)}"
        reason = f"it fails on {where}" if failed else "it failed too often before, and holds on too few now"
        return "retired", retired(rule, reason, today)
    proved = replace(
        rule,
        validated={"how": "new evidence", "when": today} if today else rule.validated,
        extra={**rule.extra, BY: {"sites": int(count), "failing": round(failing, 4)}},
    )
    return "holds", excepting([proved], sites, requirements)[0]


def _known_of(rule: Rule) -> dict[str, float]:
    """Return what the file says of a rule; a person may have changed it."""
    said = rule.extra.get(BY)
    found = {"sites": float(SITES), "failing": FAILING}
    for name in found:
        value = said.get(name) if isinstance(said, dict) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            found[name] = float(min(value, 1.0) if name == "failing" else max(1, min(value, _MOST_SITES)))
    return found


def wanted(rules: Iterable[Rule], off: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return rules for all sites, without the work of those that a person switched off.

    Where it was a rule of one site, a rule for all that does the same is off on that site.
    """
    rules = tuple(rules)
    # What a person wrote has no examples; those of the others show what it would do.
    seen = sorted({url for rule in (*rules, *off) for url, _ in rule.examples})
    urls = pa.array(seen, pa.large_string())
    work = [(rule.site, work_of([rule], urls)) for rule in off]
    everywhere = [pair for site, pairs in work if site == ANY_SITE for pair in pairs]
    left = []
    for rule in rules:
        if not does(rule, everywhere):
            sites = {
                site
                for site, pairs in work
                if site not in {ANY_SITE, *rule.except_sites} and does(rule, pairs)
            }
            left.append(replace(rule, except_sites=tuple(sorted({*rule.except_sites, *sites}))))
    return tuple(left)


def _of_sites(holds: int, fails: int, requirements: Requirements) -> Trials:
    """Return the trials that this many pages amount to."""
    return Trials(holds / requirements.min_support, fails / requirements.min_support)


def _trials(sites: Iterable[SiteTally], requirements: Requirements) -> Trials:
    votes = [vote_of(each, requirements) for each in sites]
    return _of_sites(sum(vote.holds for vote in votes), sum(vote.fails for vote in votes), requirements)


def prior_of(seen: Iterable[Trials]) -> Prior:
    """Return the prior under which the trials of all shapes of a family, or their counts, are most likely.

    Two invented shapes, one that holds and one that fails, keep it from being sure of few.
    """
    # Many shapes are seen on one site alone, and alike.
    counts = Counter(seen)
    counts.update((Trials(1.0, 0.0), Trials(0.0, 1.0)))
    priors = [Prior(mean * size, (1 - mean) * size) for mean in _MEANS for size in _STRENGTHS]
    return max(
        priors,
        key=lambda prior: sum(prior.likelihood(trials) * count for trials, count in sorted(counts.items())),
    )
