"""One site in a crawl: what was fetched, what was skipped and for which URL, and the rules of the moment.

One sentence holds at any time: the key of every skipped URL is the key of a URL that was fetched or is to
be fetched. Whatever breaks it (a rule that is withdrawn, new rules, an error instead of a page, a crawl
that was killed) makes skipped URLs come back, one for each key.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.crawling.fetched import Fetched, keys_by, shown
from undust.crawling.guesses import Guessing
from undust.crawling.messages import (
    ASKED_AGAIN,
    COVERED_KEY,
    IN_A_TRAP,
    IS_UNSTABLE,
    NAMED_BY_PAGE,
    NEW_KEY,
    TESTS_RULES,
    WAS_FETCHED,
    Decision,
    joined,
)
from undust.crawling.places import (
    FORM_PLACE,
    KEY_PLACE,
    PlaceTest,
    UnstablePlaces,
    all_steps,
    until_one,
    uses_in,
)
from undust.crawling.relearning import FinalRules, next_learning
from undust.crawling.rule_tests import Canonicals
from undust.crawling.rules_in_use import CrawledUrls, best_of, idle_guesses, without_cycles
from undust.learning.outcome import Unwanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.crawling.fetched import PageRecord
    from undust.crawling.places import RuleUse, Step, Traps, Way
    from undust.crawling.rule_tests import RuleTests
    from undust.crawling.rules_in_use import RulesInUse
    from undust.rules import Rule, RuleSet

MOST_ERRORS, LED_AWAY = 3, 2
"""URLs of one key that are tried one after the other while all of them give errors; one that redirects to
another key counts for as many."""
_HASH_BITS = 0xFF
"""Of the hash of a key that are kept; Python has such numbers ready, so they take no memory."""
LEAST_NEW = 0.1
"""Rules are learned again after one failed if the site has grown by this share since the last time."""


@dataclass
class SiteCrawl:
    """The state of one site; its user holds the lock of the learner."""

    site: str
    rules: RulesInUse
    tests: RuleTests
    traps: Traps
    fetched: Fetched = field(default_factory=Fetched)
    pending: dict[str, None] = field(default_factory=dict)
    """URLs that are to be fetched, and for which nothing was observed yet."""
    skipped: dict[str, int] = field(default_factory=dict)
    """URLs that were skipped, each with a few bits of the hash of its key."""
    covers: dict[str, str] = field(default_factory=dict)
    """Each key with the first URL that has it."""
    errors: Counter[str] = field(default_factory=Counter)
    """Keys with the number of their URLs that gave an error."""
    returned: deque[str] = field(default_factory=deque)
    learned_at: int = 0
    """How many URLs were observed when rules were learned last."""
    is_unexplained: bool = True
    """Whether URLs of one page were fetched since then though no rule makes them one; before, who knows."""
    is_due_early: bool = False
    is_learning: bool = False
    can_learn: bool = True
    """Whether rules can name this site: some hosts that browsers take for one cannot be registered."""
    is_restoring: bool = False
    """Whether the past is done again from the file of the state: then nothing is handed back."""
    final: FinalRules = field(default_factory=FinalRules)
    is_changed: bool = False
    """Whether other rules are used than those that were written down."""

    def __post_init__(self) -> None:
        self.guessing = Guessing(self.site)
        self.canonicals = Canonicals()
        self.unstable = UnstablePlaces()
        self._use(self.rules.base)

    def _use(self, rules: RuleSet) -> None:
        self.rules.use(rules)
        program = self.rules.program
        self.key, self.canonical, self.explain = program.key, program.canonical, program.explain
        self.canonicals.form = self.canonical
        self.tests.begin(self.rules.supports)

    # What a crawler asks

    def decide(self, url: str) -> tuple[Decision, bool]:
        """Return what to do with a URL, and whether it is skipped for the first time."""
        way = self.explain(url)
        canonical, key = way[FORM_PLACE], way[KEY_PLACE]
        cover = self.covers.get(key)
        if url in self.fetched.records:
            # Of a page that another URL has shown no error needs to be tried again.
            is_found = cover != url and cover in self.fetched.records
            return Decision(url, "skip", key, canonical, COVERED_KEY if is_found else WAS_FETCHED), False
        if cover is None and (page := self.canonicals.page_for(key)) is not None:
            return self._decide_named(url, way, page)
        if cover is None or cover == url:
            return self._decide_new(url, way)
        is_again = url in self.pending and self.unstable.holds(canonical)
        if is_again or (url not in self.skipped and self.unstable.wants(canonical, key)):
            self.pending[url] = None
            return Decision(url, "fetch", key, canonical, IS_UNSTABLE), False
        if url not in self.skipped and self._explores(url, way, cover):
            self.pending[url] = None
            return Decision(url, "fetch", key, canonical, TESTS_RULES, explore=True), False
        return Decision(url, "skip", key, canonical, COVERED_KEY), self._skip(url, key)

    def _decide_new(self, url: str, way: Way) -> tuple[Decision, bool]:
        """Return the same for a URL whose key is new."""
        canonical, key = way[FORM_PLACE], way[KEY_PLACE]
        reason = ASKED_AGAIN if url in self.pending else NEW_KEY
        if reason is NEW_KEY and self.traps.holds(url):
            return Decision(url, "skip", key, canonical, IN_A_TRAP), self._skip(url, key)
        self._fetch(url, key)
        return Decision(url, "fetch", key, canonical, reason), False

    def _decide_named(self, url: str, way: Way, page: str) -> tuple[Decision, bool]:
        """Return the same for a URL that a page which was fetched names as its own."""
        canonical, key = way[FORM_PLACE], way[KEY_PLACE]
        chance = self.canonicals.chance(page, self.tests.explore)
        if url not in self.skipped and self.tests.lot(url) < chance and not self.traps.holds(url):
            self._fetch(url, key)
            return Decision(url, "fetch", key, canonical, TESTS_RULES, explore=True), False
        return Decision(url, "skip", key, canonical, NAMED_BY_PAGE), self._skip(url, key)

    def _explores(self, url: str, way: Way, cover: str) -> bool:
        if not self.tests.explore or self.traps.holds(url):
            return False
        if self.unstable.doubts(way[FORM_PLACE]):
            return True
        mine, its = all_steps(way, self.rules.ids), self._steps_of(cover, way[KEY_PLACE])
        if not self.tests.may_ask(url, cover, mine + its):
            return False
        steps = until_one(mine, its)
        questions = self.tests.questions(steps, cover)
        if self.tests.lot(url) >= self.tests.chance(steps, questions, cover):
            return False
        self.tests.note_asked(questions)
        return True

    def _steps_of(self, url: str, key: str) -> list[Step]:
        """Return what rules do to a URL until it is its key."""
        return [] if url == key else all_steps(self.explain(url), self.rules.ids)

    def _steps(self, way: Way, cover: str) -> list[Step]:
        """Return what rules do to a URL and to another until they are one."""
        return until_one(all_steps(way, self.rules.ids), self._steps_of(cover, way[KEY_PLACE]))

    def _skip(self, url: str, key: str) -> bool:
        self.pending.pop(url, None)
        is_new = url not in self.skipped
        self.skipped[url] = hash(key) & _HASH_BITS
        return is_new

    def _fetch(self, url: str, key: str) -> None:
        self.covers[key] = url
        self.pending[url] = None
        self.skipped.pop(url, None)

    # What a crawler reports

    def observe(self, url: str, record: PageRecord) -> bool:
        """Take what a response showed; return whether rules failed by it and are withdrawn."""
        self.pending.pop(url, None)
        self.skipped.pop(url, None)
        is_again = url in self.fetched
        if not is_again and not self.is_restoring and self.rules.wakes(self.canonical(url)):
            self.install(self.rules.with_more())
        self.fetched.add(url, record)
        key = self.key(url)
        cover = self.covers.setdefault(key, url)
        if record.is_error:
            self._on_error(url, key)
            return False
        is_new = self.fetched.is_new_text(record)
        if not is_again and is_new is not None:
            self.traps.note(url, is_new=is_new)
        self._note_pair(url, key, record)
        if (target := self.fetched.redirects.get(url)) is not None:
            self._expect(target)
            if self.key(target) != key:
                self._on_error(url, key, LED_AWAY)
        fails = cover != url and cover in self.fetched and self._test(url, record, cover)
        if cover == url and not is_again:
            fails = self._test_statement(url, key)
        if record.canonical and self.tests.explore:
            target = joined(url, record.canonical)
            if target != url and self.key(target) != key:
                self.canonicals.add(url, target, self.key)
        if not self.is_restoring and self.guessing.is_due(len(self.fetched)):
            self._guess()
        return fails

    def _note_pair(self, url: str, key: str, record: PageRecord) -> None:
        """Note the URL under which this page was seen before, if no rule says that it is one."""
        if (target := self.fetched.redirects.get(url)) is not None:
            other = target if target in self.fetched else None
        else:
            other = self.fetched.other_with(url, record)
        if other is None or self.key(other) == key:
            return
        self.is_unexplained = True
        if not (self.tests.explore and self.can_learn):
            return
        self.fetched.sharing[other] += 1
        if self.fetched.distinguishes(record):
            self.guessing.add(other, url)

    def _test_statement(self, url: str, key: str) -> bool:
        """Test whether a page that names this URL as its own shows the same."""
        page = self.canonicals.page_for(key)
        if page is None or page == url:
            return False
        verdict = self.fetched.compare(url, page)
        if verdict == "unknown" or not self.canonicals.note(page, is_good=verdict == "same"):
            return False
        self._hand_back(self.skipped)
        return True

    def _guess(self) -> None:
        known = self.fetched
        keys = {
            key: url for key, url in self.covers.items() if url in known.records and url not in known.failed
        }
        found = self.guessing.found(self.rules.program, keys, known)
        if found and (off := self.rules.given()[1]):
            unwanted = Unwanted(off, pa.array(list(known.records), pa.large_string()))
            found = [each for each in found if not unwanted.done_by(each[0], [])]
        if found:
            for rule, test in found:
                self.tests.of[rule.id], self.tests.needed[rule.id] = test, test.needed
            self.install(self.rules.with_more([rule for rule, _ in found]))

    def _expect(self, target: str) -> None:
        """Let the target of a redirect be fetched, though its key is that of the URL that led there."""
        if target not in self.fetched and self.key(target) in self.covers:
            self.covers[self.key(target)] = target
            self.pending[target] = None

    def _on_error(self, url: str, key: str, weight: int = 1) -> None:
        """Give another URL of the key its turn, if one was skipped for this one."""
        self.errors[key] += weight
        if self.covers.get(key) != url or self.errors[key] > MOST_ERRORS:
            return
        del self.covers[key]
        bits = hash(key) & _HASH_BITS
        some = [other for other, its in self.skipped.items() if its == bits]
        self._hand_back([other for other in some if self.key(other) == key])

    def _test(self, url: str, record: PageRecord, cover: str) -> bool:
        """Count what a fetch says of the rules that make it a duplicate; return whether any fails by it."""
        steps = self._steps(self.explain(url), cover)
        verdict = self.fetched.compare(url, cover)
        is_good = verdict == "same"
        if is_good:
            self.tests.note_asked(self.tests.questions(steps, cover), is_answered=True)
        form = self.canonical(url)
        if self.unstable.is_silent(form) or (is_good and not self.fetched.distinguishes(record)):
            return False
        uses = uses_in(steps)
        if verdict == "unknown" and not self._has_sketches(url, cover):
            if record.sketch:
                # What was fetched before sketches were known cannot be compared with anything.
                self.covers[self.key(url)] = url
            failing = self.tests.note_unclear(uses, is_blind=True)
        elif self._is_proven(uses) and self._is_unstable(url, uses, is_good=is_good):
            self._hand_back(self.skipped)
            return False
        elif verdict == "unknown":
            failing = self.tests.note_unclear(uses, is_blind=False)
        else:
            failing = self.tests.note(uses, cover, is_good=is_good)
        if failing:
            self.withdraw(failing)
        return bool(failing)

    def _is_unstable(self, url: str, uses: Sequence[RuleUse], *, is_good: bool) -> bool:
        test = PlaceTest(url, frozenset(part for use in uses for part in use.blamed), is_good)
        return self.unstable.note(test, self.canonical(url))

    def _is_proven(self, uses: Iterable[RuleUse]) -> bool:
        return all(self.tests.of[use.id].is_proven for use in uses if use.id in self.tests.of)

    def _has_sketches(self, url: str, cover: str) -> bool:
        return bool(self.fetched.record(url).sketch and self.fetched.record(cover).sketch)

    def withdraw(self, ids: Iterable[str]) -> None:
        """Stop using rules, and hand back what they skipped."""
        self.install(self.rules.without(set(ids)))
        self.is_due_early = len(self.fetched) >= self.learned_at * (1 + LEAST_NEW)

    # What learning gives

    @property
    def is_due(self) -> bool:
        """Whether rules should be learned now."""
        return (self.can_learn and not self.is_learning) and (
            self.is_due_early or (self.is_unexplained and len(self.fetched) >= next_learning(self.learned_at))
        )

    def believe(self, learned: Sequence[Rule], rows: int) -> None:
        """Use rules that were learned from this many observations, except those that failed in this crawl."""
        own = [rule for rule in learned if self.rules.may_use(rule)]
        self.learned_at, self.is_due_early, self.is_unexplained = rows, False, False
        known = CrawledUrls(self.fetched, list(self.pending), list(self.skipped))
        rules = best_of(own, self.rules, known)
        idle = idle_guesses(rules, [*self.fetched.records, *self.skipped, *self.pending])
        self.guessing.tried -= idle
        self.install(rules.with_rules(rule for rule in rules if rule.id not in idle))

    def install(self, rules: RuleSet) -> None:
        """Use other rules from now on: every URL gets its new key."""
        before = self.tests.of.keys()
        self._use(without_cycles(rules, list(self.fetched.records), self.rules.given_ids))
        self.is_changed = True
        self.covers, away = shown(self.fetched, self.rules.program)
        self._credit(set(self.rules.ids) - before)
        pending = list(self.pending)
        for url, key in zip(pending, self._keys(pending), strict=True):
            self.covers.setdefault(key, url)
        self.canonicals.rekey(self._keys)
        self.unstable.rename(self._forms)
        self.errors = Counter(self._keys(list(self.fetched.failed)) + LED_AWAY * away)
        for key, count in self.errors.items():
            if count > MOST_ERRORS:
                self.covers.setdefault(key, "")
        self._hand_back(self.skipped)

    def _credit(self, new: set[str]) -> None:
        """Let new rules know for what they have held already."""
        pages = self.fetched.pages() if new else []
        covered = ((url, self.covers.get(key)) for url, key in zip(pages, self._keys(pages), strict=True))
        pairs = [(url, cover) for url, cover in covered if cover is not None and cover != url]
        if not pairs:
            return
        column = pa.array([url for url, _ in pairs], pa.large_string())
        rows, rules = (pa.array(each).to_pylist() for each in self.rules.program.used(column))
        wanted = {row for row, place in zip(rows, rules, strict=True) if self.rules.ids[place] in new}
        for row in sorted(wanted):
            url, cover = pairs[row]
            if self.fetched.compare(url, cover) == "same":
                for use in uses_in(self._steps(self.explain(url), cover)):
                    if use.id in new:
                        self.tests.of[use.id].holds(use)

    def _hand_back(self, urls: Iterable[str]) -> None:
        """Hand back the first skipped URL of each key that nothing covers."""
        some = [] if self.is_restoring else list(urls)
        for url, key in zip(some, self._keys(some), strict=True):
            if url in self.skipped:
                self.skipped[url] = hash(key) & _HASH_BITS
            is_covered = key in self.covers or self.canonicals.covers(key)
            if (is_covered and not self.unstable.wants(self.canonical(url), key)) or self.traps.holds(url):
                continue
            self.pending[url] = None
            self.covers.setdefault(key, url)
            self.skipped.pop(url, None)
            self.returned.append(url)

    def restore_rules(self, own: list[Rule], withdrawn: dict[str, int], ids: list[str]) -> None:
        """Use rules of the past again."""
        self.guessing.tried.update(withdrawn, (rule.id for rule in own))
        self.install(self.rules.restored(own, withdrawn, ids))

    def restored(self) -> None:
        """Go on from the past: hand back what was skipped for URLs that a killed crawl never fetched."""
        self.is_restoring = False
        self.pending.clear()
        self.returned.clear()
        self.install(self.rules.all)

    def _keys(self, urls: list[str]) -> list[str]:
        return keys_by(self.rules.program, urls)

    def _forms(self, urls: list[str]) -> list[str]:
        return [self.canonical(url) for url in urls]
