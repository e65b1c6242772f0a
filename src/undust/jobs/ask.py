"""Likely rules against the sites themselves, in rounds: the answers decide what to propose next.

A round proves what is proposed. What it refuted and what it saw is evidence for the next one, which finds
narrower rules where a wide one failed, and others that it hid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.asking.live_judge import Asking
from undust.asking.outcome import RuleOutcome
from undust.asking.rule_file import SiteSamples, concluded, prove_groups
from undust.asking.samples import samples_from
from undust.asking.sampling import Sampling
from undust.engines import SITE
from undust.jobs.find_duplicates import declared_in
from undust.jobs.proposals import proposed_rules
from undust.jobs.read import WITH_SITE, read, with_site
from undust.jobs.validate import BEFOREHAND
from undust.pages.clustering import find_in_site
from undust.reading.observations import Observations, sites_in, table_of
from undust.rules import RuleSet
from undust.rules.language import LIKELY, is_proposed
from undust.searching.likely import without_visits
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from undust.asking.limits import Manners
    from undust.asking.outcome import Validation
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

ASKING_ROUNDS = 3
ATTEMPTS_PER_SAMPLE = 3


class AskedSite(NamedTuple):
    """What is known of a site that is asked."""

    rows: pa.Table
    clusters: SiteClusters

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each URL that was always seen with one."""
        found = self.clusters
        steady = np.flatnonzero((found.size_max >= 0) & (found.size_min == found.size_max))
        urls = found.node_urls.take(pa.array(steady)).to_pylist()
        return dict(zip(urls, found.size_max[steady].tolist(), strict=True))


def ask(  # noqa: PLR0913 -- one for each thing that a person may say
    rules: RuleSet,
    seen: Any,  # noqa: ANN401 -- any Arrow object
    manners: Manners,
    *,
    max_fpr: float = 0.01,
    samples: int = 100,
    epsilon: float = 0.05,
    seed: int = 0,
    archives: Iterable[str | PathLike[str]] = (),
    journal: str | PathLike[str] | None = None,
    resume: bool = False,
    job: str = "",
    watch: Callable[[Rule, str, int], object] | None = None,
) -> Validation:
    """Return the rules with those that were proposed decided, as far as the sites say; others as they are.

    Args:
        rules: With proposed ones among them.
        seen: What they were proposed from.
        manners: Which hosts are asked, and how.
        max_fpr: The largest expected share of false merges of a rule when it is confirmed.
        samples: Answers for one rule, at most.
        epsilon: The share of answers against a rule that refutes it.
        seed: Another number draws other URLs.
        archives: Web archives; the pages in them are not asked for.
        journal: A file in which every answer is written down as it comes.
        resume: Go on with that journal.
        job: What the journal is for; one of another job is not gone on with.
        watch: Called before each request with the rule, the URL, and the number of requests so far.

    """
    sampling = Sampling(
        samples, epsilon, attempts=ATTEMPTS_PER_SAMPLE * samples, max_unknown=1.0, max_fpr=max_fpr, seed=seed
    )
    sites = _asked_sites(rules, seen, manners)
    paths = list(archives)
    kept = read(*paths).table if paths else None
    said: dict[str, Any] = {"job": job, "resume": resume, "watch": watch, "is_live": True}
    with Asking(manners, kept, journal, **said) as asking:
        rounds = AskingRounds(rules, sites, asking, sampling)
        return rounds.run()


class AskingRounds:
    """Rules of several sites on their way through the rounds."""

    def __init__(
        self,
        rules: RuleSet,
        sites: Mapping[str, AskedSite],
        asking: Asking,
        sampling: Sampling,
    ) -> None:
        self._rules, self._sites, self._asking = rules, sites, asking
        self._sampling = sampling
        self._outcomes: dict[str, list[RuleOutcome]] = {}
        self._new: list[Rule] = []
        """Rules of later rounds, in the order in which they were proposed."""

    def run(self) -> Validation:
        """Prove, propose again, and prove, until nothing new is proposed."""
        groups: list[SiteSamples] = []
        for number in range(ASKING_ROUNDS):
            groups = self._groups(self._proposed() if number else self._given())
            if not any(group.tried for group in groups):
                break
            found = prove_groups(groups, self._asking, self._sampling, "live", BEFOREHAND)
            self._outcomes |= found
        every = [*self._rules, *self._new]
        outcomes = [outcome for rule in every for outcome in self._outcomes.get(rule.id) or [_as_it_is(rule)]]
        return concluded(self._rules, outcomes, self._all_groups(), self._asking)

    def _given(self) -> dict[str, list[Rule]]:
        given: dict[str, list[Rule]] = {site: [] for site in self._sites}
        for rule in self._rules:
            if rule.site in given and is_proposed(rule):
                given[rule.site].append(rule)
        return given

    def _proposed(self) -> dict[str, list[Rule]]:
        """Return what is proposed after what was answered, without what is decided or was tried."""
        found: dict[str, list[Rule]] = {}
        for site, known in self._sites.items():
            likely = [*self._beside_others(site), *self._proposed_again(site, known)]
            likely = list({rule.id: rule for rule in likely}.values())
            found[site] = [rule for rule in likely if rule.id not in self._outcomes]
            self._new += found[site]
        return found

    def _beside_others(self, site: str) -> list[Rule]:
        """Return rules that failed, without the URLs of one that holds, if only those contradicted them."""
        outcomes, held = self._of_site(site), self._held(site)
        urls = self._sites[site].clusters.node_urls
        found = []
        failed = [each.rule for each in outcomes if each.verdict != "confirmed" and each.negatives]
        for rule in (rule for rule in failed if not rule.unless):
            against = pa.array(sorted(set(self._asking.against.get(rule.id, []))), pa.large_string())
            for other in held:
                rows = RuleSet([other]).compile().touched(against)[0].to_pylist()
                if len(against) and len(set(rows)) == len(against):
                    unless = other.when or (other.source,)
                    narrow = replace(rule, status="proposed", validated=None, unless=unless)
                    if len(RuleSet([narrow.with_status("active")]).compile().touched(urls)[0]):
                        found.append(narrow)
                        break
        return found

    def _proposed_again(self, site: str, known: AskedSite) -> list[Rule]:
        """Return what is likely now: a refuted rule where the input shows it at work, or another one."""
        refuted = {each.rule.id: each.rule for each in self._of_site(site) if each.verdict == "refuted"}
        said: dict[str, Any] = {"asked": self._asking.told.get(site, []), "seed": self._sampling.seed}
        said["too_wide"] = [_edit_text(rule) for rule in refuted.values()]
        said["against"] = list(refuted.values())
        said["given"] = self._held(site)
        likely = proposed_rules(known.clusters, **said)
        again = [_edit_text(rule) for rule in likely if rule.id in refuted]
        # Nothing narrower is left of these, and they hide others.
        return proposed_rules(known.clusters, refuted=again, **said) if again else likely

    def _held(self, site: str) -> list[Rule]:
        """Return the rules of a site that were confirmed."""
        return [each.rule for each in self._of_site(site) if each.verdict == "confirmed"]

    def _of_site(self, site: str) -> list[RuleOutcome]:
        return [each for some in self._outcomes.values() for each in some if each.rule.site == site]

    def _groups(self, rules: Mapping[str, Sequence[Rule]]) -> list[SiteSamples]:
        groups = []
        for site, some in rules.items():
            beside = [rule for rule in self._rules if rule.site == site and rule.status == "active"]
            beside += self._held(site)
            group = self._group(site, some, {rule.id: rule for rule in beside if rule not in some})
            groups.append(group)
        return [group for group in groups if group.tried]

    def _group(self, site: str, rules: Sequence[Rule], beside: Mapping[str, Rule]) -> SiteSamples:
        rows = self._sites[site].rows
        every = [*rules, *beside.values()]
        url, status = (rows.column(name).combine_chunks() for name in ("url", "status"))
        samples = replace(
            samples_from(url, status, every, self._sampling.seed),
            sizes=self._sites[site].sizes,
            visits=without_visits(site),
            doubtful=self._doubtful(site),
        )
        return SiteSamples(site, tuple(rules), samples, len(rules), tuple(beside.values()))

    def _doubtful(self, site: str) -> frozenset[str]:
        """Return the URLs that showed another page than what a rule made of them."""
        told = self._asking.told.get(site, [])
        return frozenset(url for *pair, is_one in told if not is_one for url in pair)

    def _all_groups(self) -> list[SiteSamples]:
        return [self._group(site, [], {}) for site in self._sites]


def _edit_text(rule: Rule) -> str:
    said = rule.extra.get(LIKELY)
    text = said.get("edit") if isinstance(said, dict) else None
    return text if isinstance(text, str) else str(rule)


def _as_it_is(rule: Rule) -> RuleOutcome:
    return RuleOutcome(rule, "undecided", "no site was asked about it")


def _asked_sites(rules: RuleSet, seen: Any, manners: Manners) -> dict[str, AskedSite]:  # noqa: ANN401
    """Return the sites that have proposed rules and a host that may be asked."""
    wanted = {rule.site for rule in rules if is_proposed(rule)} & set(_named_sites(manners))
    if not wanted:
        return {}
    table = _rows_of(wanted, seen.table if isinstance(seen, Observations) else seen)
    declared = declared_in(seen)
    return {
        site: AskedSite(rows, find_in_site(rows.drop_columns([SITE]), site, declared.get(site, ())))
        for site, rows in sites_in(table)
    }


def _rows_of(wanted: set[str], seen: Any) -> pa.Table:  # noqa: ANN401 -- any Arrow object
    """Return the rows of some sites, which are few even where all rows do not fit into memory."""
    batches = seen.to_batches() if isinstance(seen, pa.Table) else pa.RecordBatchReader.from_stream(seen)
    names = pa.array(sorted(wanted), pa.string())
    parts = [WITH_SITE.empty_table()]
    for batch in batches:
        rows = with_site(table_of(pa.table(batch)))
        parts.append(rows.filter(pc.is_in(rows.column(SITE), names)).cast(WITH_SITE))
    return pa.concat_tables(parts)


def _named_sites(manners: Manners) -> Iterable[str]:
    for host in manners.ask_hosts or ():
        yield site_of(f"http://{host.removeprefix('*.')}/") or ""
