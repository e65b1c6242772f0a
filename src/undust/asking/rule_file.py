"""A whole rule file: the rules of each site on their own, sites side by side, those of all sites last."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.asking.outcome import Validation
from undust.asking.proof import NOTHING_BEFOREHAND, SiteProof
from undust.judging.tidying import dispensable
from undust.rules.language import ANY_SITE
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from undust.asking.outcome import How, RuleOutcome
    from undust.asking.proof import Beforehand, CountingJudge
    from undust.asking.samples import Samples
    from undust.asking.sampling import Answer, Judge, Sampling
    from undust.rules import Rule, RuleSet

SITES_AT_ONCE = 8


@dataclass(frozen=True)
class SiteSamples:
    """The rules of one site, and the URLs to try them on."""

    site: str
    rules: tuple[Rule, ...]
    samples: Samples
    tried: int
    """Rules among them that are to be proved."""
    beside: tuple[Rule, ...] = ()
    """More rules that distinguish its pages."""


class Judges:
    """Where the judges of sites come from; these fetch nothing, and keep nothing."""

    def __init__(self, judges: Mapping[str, CountingJudge] | None = None) -> None:
        self._known = dict(judges or {})

    @property
    def hosts(self) -> int:
        """Hosts that were asked."""
        return 0

    @property
    def fetches(self) -> int:
        """Requests that were made."""
        return 0

    def begin(self, groups: Sequence[SiteSamples]) -> None:
        """Get ready for these."""

    def of(self, group: SiteSamples, site: str) -> CountingJudge:  # noqa: ARG002 -- for those who ask
        """Return the judge of a site, for the rules of a group."""
        return self._known.get(site) or Known(lambda *_: "unknown")

    def note(self, rule: Rule, left: str, right: str, said: Answer) -> None:
        """Receive a pair and its verdict."""

    def watch(self, rule: Rule) -> None:
        """Receive a rule before it is tried."""

    def done(self, outcomes: Sequence[RuleOutcome]) -> None:
        """Receive the end of the work."""

    def stop(self) -> None:
        """Receive that the rest is not needed."""


class Known:
    """A judge that fetches nothing."""

    because = "one of them was never seen"
    fetches = 0

    def __init__(self, judge: Judge, time: float = 0.0) -> None:
        self._judge, self.time = judge, time
        self.apart: dict[tuple[str, str], None] = {}

    def __call__(self, left: str, right: str) -> Answer:
        """Return whether two URLs show one page."""
        return self._judge(left, right)


def run(  # noqa: PLR0913 -- all that a proof is made of
    rules: RuleSet,
    groups: Sequence[SiteSamples],
    judges: Judges,
    sampling: Sampling,
    how: How,
    *,
    beforehand: Beforehand = NOTHING_BEFOREHAND,
) -> Validation:
    """Prove the rules of all groups; return them in the order of the file."""
    by_id = prove_groups(groups, judges, sampling, how, beforehand)
    outcomes = [outcome for rule in rules for outcome in by_id[rule.id]]
    return concluded(rules, outcomes, groups, judges)


def prove_groups(
    groups: Sequence[SiteSamples],
    judges: Judges,
    sampling: Sampling,
    how: How,
    beforehand: Beforehand = NOTHING_BEFOREHAND,
) -> dict[str, list[RuleOutcome]]:
    """Return by the id of each rule what was found, sites side by side.

    Args:
        groups: The rules of each site.
        judges: What answers for them.
        sampling: How many samples are taken.
        how: What the answers come from.
        beforehand: What is known of rules before that.

    """
    judges.begin(groups)

    def prove(group: SiteSamples) -> dict[str, list[RuleOutcome]]:
        judge = _General(group, judges) if group.site == ANY_SITE else judges.of(group, group.site)
        proof = SiteProof(group.samples, judge, sampling, how, judges.note, judges.watch, beforehand)
        return proof.outcomes(group.rules)

    single = [group for group in groups if group.site != ANY_SITE]
    with ThreadPoolExecutor(SITES_AT_ONCE) as threads:
        try:
            parts = list(threads.map(prove, single))
        except BaseException:
            judges.stop()
            raise
    parts += [prove(group) for group in groups if group.site == ANY_SITE]
    return {key: found for part in parts for key, found in part.items()}


def concluded(
    rules: RuleSet, outcomes: Sequence[RuleOutcome], groups: Sequence[SiteSamples], judges: Judges
) -> Validation:
    """Return what came of all rules, those switched off that the set can do without."""
    judges.done(outcomes)
    proved = rules.with_rules(outcome.rule for outcome in outcomes)
    urls = {group.site: group.samples.urls for group in groups if group.site != ANY_SITE}
    outcomes = _tidied(proved, outcomes, urls)
    proved = rules.with_rules(outcome.rule for outcome in outcomes)
    return Validation(proved, tuple(outcomes), judges.fetches, judges.hosts)


def _tidied(
    proved: RuleSet, outcomes: Sequence[RuleOutcome], urls: Mapping[str, pa.Array]
) -> list[RuleOutcome]:
    """Return the outcomes with rules switched off that the set can do without."""
    confirmed = [outcome.rule.id for outcome in outcomes if outcome.verdict == "confirmed"]
    days = [(outcome.rule.validated or {}).get("when") for outcome in outcomes]
    when = max((str(day) for day in days if day), default=None)
    needless = dispensable(proved, confirmed, urls)
    return [outcome.retired(needless.get(outcome.rule.id), when) for outcome in outcomes]


class _General:
    """The judge of rules for all sites: for each pair that of its site."""

    def __init__(self, group: SiteSamples, judges: Judges) -> None:
        self._group, self._judges = group, judges
        self._own: dict[str, CountingJudge] = {}
        self.because = ""
        self.time = 0.0

    @property
    def fetches(self) -> int:
        """Requests of all of them."""
        return sum(judge.fetches for judge in self._own.values())

    @property
    def apart(self) -> dict[tuple[str, str], None]:
        """Pairs of URLs that show two pages, of all of them."""
        return {pair: None for judge in self._own.values() for pair in judge.apart}

    def __call__(self, left: str, right: str) -> Answer:
        """Return whether two URLs show one page."""
        site = site_of(left) or ""
        if site not in self._own:
            self._own[site] = self._judges.of(self._group, site)
        judge = self._own[site]
        said = judge(left, right)
        self.because, self.time = judge.because, max(self.time, judge.time)
        return said
