"""Judges that ask: one visitor for each site, one journal, one pace for each host, one budget for all."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from undust.asking.fetching import Fetcher
from undust.asking.hosts import RequestBudget, VisitedHosts
from undust.asking.journal import AnswerJournal, JournalFile, RecordedAnswers
from undust.asking.live_judge import TEMPLATE_TEXTS, LiveJudge
from undust.asking.rule_file import Judges
from undust.asking.visitor import Visitor
from undust.rules import RuleSet
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    import pyarrow as pa

    from undust.asking.fetch_options import Manners
    from undust.asking.outcome import RuleOutcome
    from undust.asking.rule_file import SiteSamples
    from undust.asking.sampling import Answer
    from undust.asking.visitor import AnswerSource
    from undust.rules import Rule

_LOOKED_AT = 2 * TEMPLATE_TEXTS
"""URLs that are asked for at most to learn a template: some show nothing, some the same."""
FOR_TEMPLATE = 4
"""... and no more than this part of the budget."""


class Asking(Judges):
    """Asks the sites, or their archive."""

    def __init__(  # noqa: PLR0913 -- what is asked, how, and where it is written down
        self,
        manners: Manners,
        archive: pa.Table | None,
        journal: str | PathLike[str] | None,
        *,
        job: str,
        resume: bool,
        watch: Callable[[Rule, str, int], object] | None = None,
        is_live: bool = False,
    ) -> None:
        """Take what is asked, how, and where it is written down.

        Args:
            manners: How sites are asked.
            archive: Observations that answer instead of the sites; before them, if those are asked too.
            journal: The file in which answers are written down.
            job: What the journal is for.
            resume: Go on with the journal.
            watch: Called with every request.
            is_live: Ask the sites for what the archive does not hold.

        """
        super().__init__()
        self._manners = manners
        self._journal = AnswerJournal() if journal is None else JournalFile(journal, job, resume=resume)
        kept = None if archive is None else RecordedAnswers(archive)
        self._archive = kept if is_live else None
        self._source: AnswerSource = kept if kept is not None and not is_live else Fetcher(manners)
        self._hosts = VisitedHosts(manners, is_resumed=resume)
        self._watch = watch
        self._judges: dict[str, LiveJudge] = {}
        self._visitors: dict[str, Visitor] = {}
        self._budgets: dict[str, RequestBudget] = {}
        self._turn = threading.local()
        self.told: dict[str, list[tuple[str, str, bool]]] = {}
        """By site: pairs of URLs, and whether they show one page."""
        self.against: dict[str, list[str]] = {}
        """By the id of a rule: URLs that show another page than what it made of them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()
        self._journal.close()

    @property
    def hosts(self) -> int:
        """Hosts that were asked."""
        return len(self._hosts)

    @property
    def fetches(self) -> int:
        """Requests of all sites so far, recorded ones included."""
        return sum(visitor.fetches for visitor in list(self._visitors.values()))

    def begin(self, groups: Sequence[SiteSamples]) -> None:
        """Share the budget out, by the number of rules: who comes first must not take it all."""
        total = max(1, sum(group.tried for group in groups))
        left = max(0, self._manners.max_fetches - self.fetches)
        for group in groups:
            share = left * group.tried // total
            self._budgets[group.site] = RequestBudget(share, self._manners.max_fetches_per_host)

    def of(self, group: SiteSamples, site: str) -> LiveJudge:
        """Return the judge of a site, which knows what is on each of its pages."""
        budget = self._budgets[group.site]
        self.watch(group.rules[0])
        if site not in self._judges:
            said: dict[str, Any] = {"watch": self._tell, "archive": self._archive}
            visitor = Visitor(self._source, self._journal, self._manners, self._hosts, budget, **said)
            self._visitors[site], self._judges[site] = visitor, LiveJudge(visitor, _key_under(group))
            own = (url for url in group.samples.scattered(group.rules) if site_of(url) == site)
            self._judges[site].get_to_know(islice(own, min(_LOOKED_AT, budget.for_one_host // FOR_TEMPLATE)))
        self._visitors[site].budget = budget
        if group.beside:
            self._judges[site].page_of = _key_under(group)
        return self._judges[site]

    def _tell(self, url: str) -> None:
        rule = getattr(self._turn, "rule", None)
        if self._watch and rule is not None:
            self._watch(rule, url, self.fetches)

    def note(self, rule: Rule, left: str, right: str, said: Answer) -> None:
        """Write down what was thought of a pair, and of what."""
        site = site_of(left) or ""
        if said != "unknown":
            self.told.setdefault(site, []).append((left, right, said == "same"))
        if said == "different":
            self.against.setdefault(rule.id, []).append(left)
        opinion = self._judges[site].opinion
        if opinion is not None and opinion.said == said:
            self._journal.add("pair", {"rule": rule.id, "from": left, "to": right, **opinion.to_json()})

    def watch(self, rule: Rule) -> None:
        """Remember the current rule, for the progress display."""
        self._turn.rule = rule

    def done(self, outcomes: Sequence[RuleOutcome]) -> None:
        """Write down the verdicts."""
        for outcome in outcomes:
            self._journal.add("verdict", {**outcome.to_json(), "rule": outcome.rule.id})
        self._journal.add("done", {"rules": len(outcomes)})

    def stop(self) -> None:
        """End what is under way."""
        self._hosts.stop()
        self._source.close()


def _key_under(group: SiteSamples) -> Callable[[str], str]:
    """Return what distinguishes pages if all rules of a group are right."""
    return RuleSet([rule.with_status("active") for rule in (*group.rules, *group.beside)]).compile().key
