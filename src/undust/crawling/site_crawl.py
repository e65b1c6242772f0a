"""One site in a crawl: what was fetched, what was skipped and for which URL, and the rules of the moment.

One sentence holds at any time: the key of every skipped URL is the key of a URL that was fetched or is to
be fetched. Whatever breaks it (a rule that is withdrawn, new rules, an error instead of a page, a crawl
that was killed) makes skipped URLs come back, one for each key.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.crawling.decision import (
    ASKED_AGAIN,
    COVERED_KEY,
    IN_A_TRAP,
    NEW_KEY,
    TESTS_RULES,
    WAS_FETCHED,
    Decision,
)
from undust.crawling.guesses import GUESS, MOST_GUESSES, guesses, has_many_values
from undust.crawling.prior import PRIOR
from undust.crawling.records import PageRecord, compared
from undust.crawling.relearning import next_learning
from undust.crawling.responses import joined
from undust.crawling.rule_tests import RuleTest
from undust.rules import Rule
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust._core import Program
    from undust.crawling.rule_tests import RuleTests
    from undust.crawling.traps import Traps
    from undust.rules import RuleSet

MOST_ERRORS = 3
"""URLs of one key that are tried one after the other while all of them give errors."""
LEAST_NEW = 0.02
"""Rules are learned again after one failed if the site has grown by this share since the last time."""
MOST_GUESS_TESTS = 200
"""Fetched URLs that a guess is tested on at once."""
DOUBLED = 2
"""A rule that was withdrawn may come back once, with this many times the support that it had."""


@dataclass
class SiteCrawl:
    """The state of one site; its user holds the lock of the learner."""

    site: str
    base: RuleSet
    """The rules that the crawl was started with, of this site and for all sites."""
    tests: RuleTests
    traps: Traps
    seen: dict[str, bytes] = field(default_factory=dict)
    """Observed URLs, each with its latest record, in the order in which they came."""
    pending: dict[str, None] = field(default_factory=dict)
    """URLs that are to be fetched, and for which nothing was observed yet."""
    skipped: dict[str, None] = field(default_factory=dict)
    covers: dict[str, str] = field(default_factory=dict)
    """Each key with the first URL that has it."""
    errors: Counter[str] = field(default_factory=Counter)
    """Keys with the number of their URLs that gave an error."""
    returned: deque[str] = field(default_factory=deque)
    withdrawn: dict[str, int] = field(default_factory=dict)
    """Ids of rules that failed, with the support that each had."""
    banned: set[str] = field(default_factory=set)
    """Ids of rules that failed twice."""
    texts: dict[int, str] = field(default_factory=dict)
    """Texts by their numbers, each with the first URL that showed it."""
    guessed: set[str] = field(default_factory=set)
    """Ids of all rules that were guessed."""
    has_sketches: bool = False
    learned_at: int = 0
    """How many URLs were observed when rules were learned last."""
    is_due_early: bool = False
    is_learning: bool = False
    can_learn: bool = True
    """Whether rules can name this site: some hosts that browsers take for one cannot be registered."""
    is_restoring: bool = False
    """Whether the past is done again from the file of the state: then nothing is handed back."""

    def __post_init__(self) -> None:
        self._use(self.base)

    def _use(self, rules: RuleSet) -> None:
        self.rules = rules
        self.ids = rules.ids
        self.tentative = {
            id_
            for id_, raw in zip(self.ids, rules.raw, strict=True)
            if raw.get("learned_by") in {PRIOR, GUESS}
        }
        self.key = rules.program.key
        # Without masks the key of a URL is its canonical form.
        self.has_masks = any(":any" in f"{raw['from']} {raw.get('to')}" for raw in rules.raw)
        self.tests.begin(
            (id_, int(raw.get("support") or 0)) for id_, raw in zip(self.ids, rules.raw, strict=True)
        )

    # What a crawler asks

    def decide(self, url: str) -> tuple[Decision, bool]:
        """Return what to do with a URL, and whether it is skipped for the first time."""
        key = self.key(url)
        canonical = self.rules.program.canonical(url) if self.has_masks else key
        if url in self.seen:
            return Decision(url, "skip", key, canonical, WAS_FETCHED), False
        cover = self.covers.get(key)
        if cover is None or cover == url:
            reason = ASKED_AGAIN if url in self.pending else NEW_KEY
            if reason is NEW_KEY and self.traps.holds(url):
                return Decision(url, "skip", key, canonical, IN_A_TRAP), self._skip(url)
            self._fetch(url, key)
            return Decision(url, "fetch", key, canonical, reason), False
        if url not in self.skipped and self._explores(url, cover):
            self.pending[url] = None
            return Decision(url, "fetch", key, canonical, TESTS_RULES, explore=True), False
        return Decision(url, "skip", key, canonical, COVERED_KEY), self._skip(url)

    def _explores(self, url: str, cover: str) -> bool:
        lot = self.tests.lot(url)
        # Which rules decide takes longer to find out than most URLs need.
        return lot < self.tests.ceiling and lot < self.tests.chance(self.deciding(url, cover), cover)

    def _skip(self, url: str) -> bool:
        self.pending.pop(url, None)
        is_new = url not in self.skipped
        self.skipped[url] = None
        return is_new

    def _fetch(self, url: str, key: str) -> None:
        self.covers[key] = url
        self.pending[url] = None
        self.skipped.pop(url, None)

    def deciding(self, one: str, other: str) -> list[str]:
        """Return the ids of the rules that act on two URLs until they have become one."""
        left, right = self._way(one), self._way(other)
        common = {url for url, _ in left} & {url for url, _ in right}
        ids: set[str] = set()
        for way in (left, right):
            for url, id_ in way:
                ids |= {id_} if id_ else set()
                if url in common:
                    break
        return sorted(ids)

    def _way(self, url: str) -> list[tuple[str, str | None]]:
        """Return each form of a URL on its way to its key, with the rule that made it."""
        normal, steps, canonical, compared, masks, _, _ = self.rules.program.explain(url)
        found: list[tuple[str, str | None]] = [(normal, None)]
        found += [(after, self.ids[place]) for place, after in steps]
        found += [(canonical, None)]
        return [*found, *((after, self.ids[place]) for place, after in (*compared, *masks))]

    # What a crawler reports

    def observe(self, url: str, record: PageRecord) -> bool:
        """Take what a response showed; return whether rules failed by it and are withdrawn."""
        self.pending.pop(url, None)
        self.skipped.pop(url, None)
        self.has_sketches |= bool(record.sketch)
        is_again = url in self.seen
        self.seen[url] = record.to_bytes()
        key = self.key(url)
        cover = self.covers.setdefault(key, url)
        if record.is_error:
            self._on_error(url, key)
            return False
        if not is_again:
            self.traps.note(url, record)
        if self.tests.explore and self.can_learn:
            self._guess(url, record)
        if record.is_redirect and record.redirect is not None:
            self._expect(joined(url, record.redirect))
        return cover != url and cover in self.seen and self._test(url, record, cover)

    def _guess(self, url: str, record: PageRecord) -> None:
        """Look for a rule that explains why this page was seen before under another URL."""
        known = [self.texts.setdefault(number, url) for number in record.numbers]
        other = next((each for each in known if each != url), None)
        if other is None or len(self.guessed) >= MOST_GUESSES:
            return
        one, its = self.key(url), self.key(other)
        if one == its:
            return
        for text in guesses(one, its):
            rule = replace(Rule.parse(text, site=self.site), learned_by=GUESS)
            if rule.id not in self.guessed and rule.id not in self.ids and self._try(rule):
                self.install(self._with_guess(rule))

    def _with_guess(self, rule: Rule) -> RuleSet:
        return self.base.with_rules(self._ordered(self._learned(), [*self._guesses(), rule]))

    def _try(self, rule: Rule) -> bool:
        """Test a rule on what was fetched; return whether it may be used."""
        fetched = [url for url, data in self.seen.items() if not PageRecord.from_bytes(data).is_error]
        if not has_many_values(rule, fetched):
            return False
        self.guessed.add(rule.id)
        key = self._with_guess(rule).program
        test = RuleTest(0, places=frozenset())
        first: dict[str, tuple[str, str]] = {}
        for url, old, new in zip(fetched, self._keys(fetched), keys_by(key, fetched), strict=True):
            cover, its_old = first.setdefault(new, (url, old))
            if old == its_old or test.good + test.bad >= MOST_GUESS_TESTS:
                continue
            records = (PageRecord.from_bytes(self.seen[each]) for each in (url, cover))
            verdict = compared(*records, has_sketches=self.has_sketches)
            if verdict != "unknown":
                test.note(cover, is_good=verdict == "same")
                if test.fails:
                    return False
        self.tests.of[rule.id] = test
        return True

    def _guesses(self) -> list[Rule]:
        return [rule for rule in self.rules if rule.learned_by == GUESS]

    def _learned(self) -> list[Rule]:
        return [
            rule for rule in self.rules if rule.learned_by not in {GUESS, PRIOR} and rule.site != ANY_SITE
        ]

    def _expect(self, target: str) -> None:
        """Let the target of a redirect be fetched, though its key is that of the URL that led there."""
        if target not in self.seen and self.key(target) in self.covers:
            self.covers[self.key(target)] = target
            self.pending[target] = None

    def _on_error(self, url: str, key: str) -> None:
        """Give another URL of the key its turn, if one was skipped for this one."""
        self.errors[key] += 1
        if self.covers.get(key) != url or self.errors[key] > MOST_ERRORS:
            return
        del self.covers[key]
        self._hand_back(other for other in self.skipped if self.key(other) == key)

    def _test(self, url: str, record: PageRecord, cover: str) -> bool:
        known = PageRecord.from_bytes(self.seen[cover])
        verdict = compared(record, known, has_sketches=self.has_sketches)
        ids = self.deciding(url, cover)
        if verdict == "unknown":
            is_unclear = record.digest is not None and known.digest is not None
            tentative = [id_ for id_ in ids if id_ in self.tentative]
            failing = self.tests.note_unclear(tentative) if is_unclear else []
        else:
            failing = self.tests.note(ids, cover, is_good=verdict == "same")
        if failing:
            self.withdraw(failing)
        return bool(failing)

    def withdraw(self, ids: Iterable[str]) -> None:
        """Stop using rules, and hand back what they skipped."""
        off = set(ids)
        for id_ in sorted(off):
            if id_ in self.withdrawn:
                self.banned.add(id_)
            self.withdrawn[id_] = self.tests.of[id_].support
        self.install(self.rules.with_rules(rule for rule in self.rules if rule.id not in off))
        self.is_due_early = len(self.seen) >= self.learned_at * (1 + LEAST_NEW)

    # What learning gives

    @property
    def is_due(self) -> bool:
        """Whether rules should be learned now."""
        return (self.can_learn and not self.is_learning) and (
            self.is_due_early or len(self.seen) >= next_learning(self.learned_at)
        )

    @property
    def own_rules(self) -> list[dict[str, Any]]:
        """The rules of this site that only this crawl knows, as a rule file has them."""
        return [raw for raw in self.rules.raw if raw["site"] != ANY_SITE and raw.get("learned_by") != PRIOR]

    @property
    def believed(self) -> list[dict[str, Any]]:
        """The rules of this site that held for enough pages, and what a person gave."""
        found = []
        for id_, raw in zip(self.ids, self.rules.raw, strict=True):
            test = self.tests.of[id_]
            if id_ not in self.tentative:
                found += [raw] if raw["site"] != ANY_SITE else []
            elif test.is_proven:
                found.append(raw | {"support": test.good})
        return found

    def given(self) -> tuple[list[Rule], list[Rule]]:
        """Return the rules that the crawl was started with: those to learn beside, and those to avoid."""
        own = [
            rule
            for rule in self.base
            if rule.site == self.site and rule.id not in self.withdrawn and rule.learned_by != PRIOR
        ]
        off = [rule for rule in own if rule.status == "disabled"]
        return [rule for rule in own if rule.status == "active"], off

    def believe(self, learned: Sequence[Rule], rows: int) -> None:
        """Use rules that were learned from this many observations, except those that failed in this crawl."""
        own = [rule for rule in learned if self._may_return(rule)]
        self.learned_at, self.is_due_early = rows, False
        self.install(self.base.with_rules(self._ordered(own, self._guesses())))

    def _ordered(self, own: Sequence[Rule], guessed: Sequence[Rule]) -> list[Rule]:
        """Return the rules to use: given ones, learned ones, guesses, and those of most sites."""
        found = {rule.id: rule for rule in own}
        given = [rule for rule in self.base if rule.id not in self.withdrawn]
        first = [rule for rule in given if rule.site != ANY_SITE and rule.learned_by != PRIOR]
        prior = [rule for rule in given if rule.learned_by == PRIOR]
        for_all = [rule for rule in given if rule.site == ANY_SITE]
        start = [rule for rule in first if rule.id not in found]
        rest = [rule for rule in (*guessed, *prior, *for_all) if rule.id not in found]
        return list({rule.id: rule for rule in (*start, *own, *rest)}.values())

    def _may_return(self, rule: Rule) -> bool:
        if rule.id in self.banned:
            return False
        before = self.withdrawn.get(rule.id)
        return before is None or (rule.support or 0) >= DOUBLED * before

    def install(self, rules: RuleSet) -> None:
        """Use other rules from now on: every URL gets its new key."""
        self._use(rules)
        self.covers = {}
        failed = {url for url, data in self.seen.items() if PageRecord.from_bytes(data).is_error}
        fetched = [url for url in self.seen if url not in failed]
        fetched += self.pending
        for url, key in zip(fetched, self._keys(fetched), strict=True):
            self.covers.setdefault(key, url)
        self.errors = Counter(self._keys(list(failed)))
        for key, count in self.errors.items():
            if count > MOST_ERRORS:
                self.covers.setdefault(key, "")
        self._hand_back(self.skipped)

    def _hand_back(self, urls: Iterable[str]) -> None:
        """Hand back the first skipped URL of each key that nothing covers."""
        some = [] if self.is_restoring else list(urls)
        for url, key in zip(some, self._keys(some), strict=True):
            if key not in self.covers and not self.traps.holds(url):
                self._fetch(url, key)
                self.returned.append(url)

    def restored(self) -> None:
        """Go on from the past: hand back what was skipped for URLs that a killed crawl never fetched."""
        self.is_restoring = False
        self.pending.clear()
        self.returned.clear()
        self.install(self.rules)

    def _keys(self, urls: list[str]) -> list[str]:
        return keys_by(self.rules.program, urls)


def keys_by(program: Program, urls: list[str]) -> list[str]:
    """Return the keys of URLs under some rules."""
    if not urls:
        return []
    keys: list[str] = pa.array(program.batch(pa.array(urls, pa.large_string()), keys=True)).to_pylist()
    return keys
