"""Rules for sites never seen: what several sites prove, and too few of them contradict.

Each site is one trial of a shape: it holds there, or it fails. Shapes of one family share a prior of
how often they fail, learned from all of them (a beta-binomial over sites), so that the first sites of a
parameter weigh less where most parameters matter. One that fails somewhere is taken only if it was seen
to hold on many more sites, and never works where it fails.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

import pyarrow as pa

from undust.learning.beliefs import log_beta
from undust.learning.drift import retired
from undust.learning.generic import BY
from undust.learning.user_disabled import does, work_of
from undust.rules import Rule, RuleSet
from undust.rules.language import ANY_SITE
from undust.statistics import interval, upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.learning.drift import Fate
    from undust.learning.generic import SiteTally
    from undust.learning.requirements import Requirements
    from undust.rules.language import Kind

SITES = 3
"""At least this many sites must prove a rule for all."""
FAILING = 0.05
"""The chance that a rule for all fails on the next site must be smaller: less than one site in twenty."""
_RETIRED = 0.1
"""… and one from before is retired when the chance exceeds this: a rule that comes and goes is of no use."""
_QUIET = 1 / 3
"""This share of the URLs that a rule changes must become a form that was observed on the site; where most
are sent to forms that were not observed, they may not exist on the next site."""
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
    by_shape: dict[tuple[str, str, str, str], list[SiteTally]] = defaultdict(list)
    for each in sorted(shown):
        by_shape[each.family, each.kind, each.source, each.target].append(each)
    trials = {shape: _trials(sites, requirements) for shape, sites in by_shape.items()}
    families: dict[str, list[Trials]] = defaultdict(list)
    for (family, *_), seen in trials.items():
        families[family].append(seen)
    priors = {family: prior_of(seen) for family, seen in families.items()}
    taken = []
    for shape, sites in by_shape.items():
        failing = priors[shape[0]].failing(trials[shape])
        proved = sum(proves(each, requirements) for each in sites)
        if proved >= SITES and failing < FAILING:
            taken.append((_rule(sites, requirements, proved, failing), sites))
    return tuple(_needed(taken))


def _needed(taken: Iterable[tuple[Rule, Sequence[SiteTally]]]) -> Iterator[Rule]:
    """Yield the rules, those that save most first, without those whose work is done by then."""
    kept: list[Rule] = []
    canonical = RuleSet(kept).compile()
    for rule, sites in sorted(taken, key=lambda item: (-(item[0].saves or 0), str(item[0]))):
        proofs = [(each.example, each.becomes) for each in sites if each.example]
        if any(canonical(example) != canonical(becomes) for example, becomes in proofs):
            kept.append(rule)
            yield rule
            if len(kept) == MOST_RULES_ACROSS:
                return
            canonical = RuleSet(kept).compile()


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


def proves(shown: SiteTally, requirements: Requirements) -> bool:
    """Return whether one site proves a shape."""
    return _is_quiet(shown) and shown.pages >= requirements.min_support and not opposes(shown, requirements)


def opposes(shown: SiteTally, requirements: Requirements) -> bool:
    """Return whether a site's own pages contradict a shape there; a little doubt is enough."""
    return _is_above(shown.lost, shown.pages, requirements) or _is_above(
        shown.own_lost, shown.own_pages, requirements
    )


def _is_quiet(shown: SiteTally) -> bool:
    return shown.saved >= _QUIET * shown.moved


def _is_above(lost: int, pages: int, requirements: Requirements) -> bool:
    return lost > requirements.max_fpr * (lost + pages)


def _trials(sites: Sequence[SiteTally], requirements: Requirements) -> Trials:
    holds = fails = 0.0
    for each in sites:
        seen = each.lost + each.pages
        if each.lost and _at_least(each.lost, seen) > requirements.max_fpr:
            fails += min(1.0, each.lost / requirements.min_support)
        elif _is_quiet(each):
            holds += min(1.0, each.pages / requirements.min_support)
    return Trials(holds, fails)


@lru_cache(1 << 16)
def _at_least(lost: int, seen: int) -> float:
    return interval(lost, seen)[0]


def prior_of(seen: Sequence[Trials]) -> Prior:
    """Return the prior under which the trials of all shapes of a family are most likely.

    Two invented shapes, one that holds and one that fails, keep it from being sure of few.
    """
    # Many shapes are seen on one site alone, and alike.
    counts = Counter([*seen, Trials(1.0, 0.0), Trials(0.0, 1.0)])
    priors = [Prior(mean * size, (1 - mean) * size) for mean in _MEANS for size in _STRENGTHS]
    return max(
        priors,
        key=lambda prior: sum(prior.likelihood(trials) * count for trials, count in sorted(counts.items())),
    )


def _rule(sites: Sequence[SiteTally], requirements: Requirements, proved: int, failing: float) -> Rule:
    """Return the rule for all sites, with what the sites that it works on have shown."""
    first = sites[0]
    where = [each for each in sites if not opposes(each, requirements)]
    pages, lost = sum(each.pages for each in where), sum(each.lost for each in where)
    rule = Rule(
        ANY_SITE,
        cast("Kind", first.kind),
        first.source,
        first.target,
        learned_by=BY,
        support=pages + lost,
        false_positives=lost,
        fpr=round(lost / (pages + lost), 6),
        fpr_upper=round(upper_bound(lost, pages + lost), 6),
        saves=sum(each.saved for each in where),
        examples=tuple(_examples(where)),
        extra={BY: {"sites": proved, "failing": round(failing, 4)}},
    )
    return excepting([rule], sites, requirements)[0]


def _examples(sites: Iterable[SiteTally]) -> Iterator[tuple[str, str]]:
    ranked = sorted((each for each in sites if each.example), key=lambda each: (-each.pages, each.site))
    yield from ((each.example, each.becomes) for each in ranked[:_EXAMPLES])
