"""The judges that ask the sites themselves whether two URLs show one page.

A page may change between two visits, so before a difference counts both URLs are asked for once more: it
counts where each page is still itself, or at least far more like itself than like the other. And a site may
show one thing for many pages, a form to log in or its regrets that there is nothing: what three different
pages show says nothing about any of them.

`Asking` holds them: one visitor for each site, one journal, one pace for each host, one budget for all.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from undust.asking.answers import (
    BUSY,
    FIRST_ERROR,
    FIRST_FAILURE,
    AnswerJournal,
    JournalFile,
    RecordedAnswers,
    sketch_text,
)
from undust.asking.fetching import Fetcher
from undust.asking.rule_file import Judges
from undust.asking.visitor import RequestBudget, VisitedHosts, Visitor
from undust.pages.clustering.near_copies import ALIKE, SAME_SHARE
from undust.reading.text import resemblance
from undust.rules import RuleSet
from undust.statistics import interval
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    import pyarrow as pa

    from undust.asking.answers import Answer
    from undust.asking.limits import Manners
    from undust.asking.outcome import RuleOutcome
    from undust.asking.rule_file import SiteSamples
    from undust.asking.sampling import Answer as Said
    from undust.asking.visitor import AnswerSource, VisitedPage
    from undust.rules import Rule


_BY_CHANCE = 0.01
"""How seldom something must be by chance to count."""
CHANGES = "a page that changes from one visit to the next"
NOTHING_NEW = "other pages show the same notice"
NOTICE = 3
"""If this many different pages show the same text, it is a notice."""
TEMPLATE_TEXTS = 30
"""Texts from which the template of a site is learned."""


@dataclass(frozen=True)
class PairVerdict:
    """What is thought of a pair of URLs, and why."""

    said: Said
    because: str
    left: VisitedPage
    right: VisitedPage | None = None

    @property
    def time(self) -> float:
        """When the newer of the two was seen."""
        return max(side.last.time for side in (self.left, self.right) if side is not None)

    def to_json(self) -> dict[str, Any]:
        """Return all that a person would want to see."""
        sides = {"left": self.left, "right": self.right}
        shown = {name: _side(side) for name, side in sides.items() if side is not None}
        return {"said": self.said, "because": self.because, **shown, "time": round(self.time, 3)}


def _side(shown: VisitedPage) -> dict[str, Any]:
    last = shown.last
    said = {
        "url": last.url,
        "status": last.status,
        "digest": last.digest,
        "sketch": sketch_text(last.sketch),
        "problem": shown.problem,
    }
    return {name: value for name, value in said.items() if value is not None}


class LiveJudge:
    """Compares what a visitor finds."""

    def __init__(self, visitor: Visitor, page_of: Callable[[str], str]) -> None:
        """Take the visitor, and a function that distinguishes pages as well as is known."""
        self._visitor = visitor
        self.page_of = page_of
        self._shown_by: dict[object, set[str]] = {}
        """URLs by what they show."""
        self.opinion: PairVerdict | None = None
        """The last one."""
        self.because = ""
        self.time = 0.0
        self.apart: dict[tuple[str, str], None] = {}
        """Pairs of URLs that show two pages."""

    @property
    def fetches(self) -> int:
        """Requests so far, recorded ones included."""
        return self._visitor.fetches

    def get_to_know(self, urls: Iterable[str]) -> None:
        """Look at pages until there are enough to know what is on each of them."""
        for url in urls:
            if not self._visitor.needs_template or self._visitor.texts() >= TEMPLATE_TEXTS:
                break
            self._visitor.look(url)
        if self._visitor.needs_template:
            self._visitor.learn_template()

    def __call__(self, left: str, right: str) -> Said:
        """Return whether two URLs show one page."""
        self.opinion = self._thought(left, right)
        self.because = self.opinion.because
        self.time = max(self.time, self.opinion.time)
        return self.opinion.said

    def _thought(self, left: str, right: str) -> PairVerdict:
        first = self._visitor.look(left)
        if first.outside is None and not first.last.is_page:
            return PairVerdict("unknown", first.problem or _no_page(first.last), first)
        if first.outside is None and (reason := self._says_nothing(first)):
            return PairVerdict("unknown", reason, first)
        second = self._visitor.look(right)
        if first.outside is not None or second.outside is not None:
            same = first.outside == second.outside
            return PairVerdict(
                "unknown", "both leave the site" if same else "one leaves the site", first, second
            )
        if second.problem is not None:
            return PairVerdict("unknown", second.problem, first, second)
        return self._compared(first, second) if second.last.is_page else self._no_target(first, second)

    def _says_nothing(self, shown: VisitedPage) -> str | None:
        """Return why a page cannot be compared with any other."""
        if self._is_notice(shown):
            return NOTHING_NEW
        again = self._visitor.looked_again(shown.last.url)
        return CHANGES if again is not None and _alike(shown.last, again) == "different" else None

    def _no_target(self, first: VisitedPage, second: VisitedPage) -> PairVerdict:
        """Return what to think of a target that answers with an error, or with nothing."""
        answer = second.last
        status = answer.status or 0
        if status >= FIRST_FAILURE:
            again = self._visitor.look_again(answer.url)
            if again is not None and (again.problem is not None or again.status != status):
                return PairVerdict("unknown", "the target's errors come and go", first, second)
        if status >= FIRST_ERROR and status not in BUSY:
            return PairVerdict("different", f"the target {_no_page(answer)}", first, second)
        return PairVerdict("unknown", f"the target {_no_page(answer)}", first, second)

    def _compared(self, first: VisitedPage, second: VisitedPage) -> PairVerdict:
        if self._is_notice(second) and self._is_notice(first):
            return PairVerdict("unknown", NOTHING_NEW, first, second)
        if first.last.url == second.last.url:
            return PairVerdict("same", "one redirects to the other", first, second)
        alike = _alike(first.last, second.last)
        if alike == "same":
            return PairVerdict("same", "the same content", first, second)
        if alike == "unknown":
            return PairVerdict("unknown", "nearly the same content", first, second)
        return self._looked_again(first, second)

    def _looked_again(self, first: VisitedPage, second: VisitedPage) -> PairVerdict:
        """Return what to think of two URLs that differ, each beside itself at another visit."""
        visits: list[list[Answer]] = [[first.last], [second.last]]
        for own, other in (visits, visits[::-1]):
            again = self._visitor.look_again(own[0].url)
            if again is None:
                continue
            if not again.is_page:
                return PairVerdict("unknown", "a page that is missing at the next visit", first, second)
            own.append(again)
            across = [(left, right) for left in own for right in other]
            if any(_alike(left, right) == "same" for left, right in across):
                return PairVerdict("same", "the same content at a second look", first, second)
            if _alike(*own) != "same" and not _is_further(_most(across), *own):
                return PairVerdict("unknown", CHANGES, first, second)
        self.apart[first.url, second.url] = None
        return PairVerdict("different", "another content", first, second)

    def _is_notice(self, shown: VisitedPage) -> bool:
        """Return whether too many pages show this; each that is looked at is one more."""
        urls = [self._shown_by.setdefault(content, set()) for content in _contents(shown.last)]
        for each in urls:
            each.add(shown.url)
        return any(len(each) >= NOTICE and len(set(map(self.page_of, each))) >= NOTICE for each in urls)


def _contents(answer: Answer) -> list[object]:
    sketch = None if answer.sketch is None else answer.sketch.tobytes()
    return [content for content in (answer.digest, sketch) if content is not None]


def _alike(left: Answer, right: Answer) -> Said:
    if left.digest == right.digest:
        return "same"
    if left.sketch is None or right.sketch is None:
        return "different"
    share = resemblance(left.sketch, right.sketch)
    return "same" if share >= SAME_SHARE else "different" if share < ALIKE else "unknown"


def _most(pairs: Iterable[tuple[Answer, Answer]]) -> int:
    """Return in how many minima the most similar of the pairs agree."""
    return max(_agreeing(left, right) for left, right in pairs)


def _agreeing(left: Answer, right: Answer) -> int:
    if left.sketch is None or right.sketch is None:
        return 0
    return int((left.sketch == right.sketch).sum())


def _is_further(agreeing: int, first: Answer, again: Answer) -> bool:
    """Return whether a page that changes is still so much itself that the other one is another page.

    As many minima would seldom agree by chance if the other page were this one, changed once more: at
    most once in a hundred times, by a cautious estimate of how much of it stays.
    """
    size = 0 if first.sketch is None else len(first.sketch)
    stays = interval(_agreeing(first, again), size)[0] if size else 0.0
    chances = (
        math.comb(size, hits) * stays**hits * (1 - stays) ** (size - hits) for hits in range(agreeing + 1)
    )
    return sum(chances) < _BY_CHANCE


def _no_page(answer: Answer) -> str:
    return f"answers with status {answer.status}" if answer.status not in {None, 200} else "shows nothing"


_LOOKED_AT = 2 * TEMPLATE_TEXTS
"""URLs that are requested at most to learn a template: some show nothing, some the same."""
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
        """Take what is requested, how, and where it is recorded.

        Args:
            manners: How requests are made.
            archive: Observations that answer instead of the sites; before them, if those are asked too.
            journal: The file to which answers are written.
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
        """Divide the budget by the number of rules: the first site must not use all of it."""
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

    def note(self, rule: Rule, left: str, right: str, said: Said) -> None:
        """Record the verdict on a pair, and the pair."""
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
        """Record the verdicts."""
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
