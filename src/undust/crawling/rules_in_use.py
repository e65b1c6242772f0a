"""The rules of one site at a moment of a crawl: those given, learned, guessed, and those of most sites.

A crawl sees the pairs that prove a rule late, and pays for each of them. The rules of most sites need none to
start with: the first URLs that each would skip are fetched to test it, and it is dropped if one fails. On
most sites most of them concern no URL; so each waits, for all sites in one place, until a site shows a URL
that it would change.

When rules are learned again, those of before may stay. What a crawl has fetched is not a fair sample:
duplicates that a rule skips are missing from it. So a rule that is right may not be learned a second time,
and without it everything that it skipped would be fetched.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from undust.crawling.fetched import keys_by, shown
from undust.crawling.guesses import GUESS
from undust.crawling.places import OUTCOME_PLACE, all_steps, until_one
from undust.edits.making import SESSIONS, TRACKING, dropped
from undust.rules import Rule, program_of
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from undust._core import Program
    from undust.crawling.fetched import Fetched
    from undust.crawling.places import Steps
    from undust.crawling.rule_tests import RuleTests
    from undust.rules import RuleSet


PRIOR = "prior"
"""What `learned_by` says of such a rule."""

TEXTS = (
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest}",
    dropped(*TRACKING).text,
    *(dropped(name).text for name in SESSIONS),
    'replace "//" -> "/"',
    "rewrite {s}://{h}/{p**}/{x}/?{rest**} -> {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:unique}",
    *(
        f"rewrite {{s}}://{{h}}/{{p**}}/{name}?{{rest**}} -> {{s}}://{{h}}/{{p}}/?{{rest}}"
        for name in ("index.html", "index.htm", "index.php", "default.aspx")
    ),
    "rewrite http://{h}/{p**}?{rest**} -> https://{h}/{p}?{rest}",
)
_SECURED = len(TEXTS) - 1
"""The place of the rule that concerns every URL of a site without https: it waits for both schemes."""
MOST_WITHDRAWN = 2
"""A rule that was withdrawn may come back if it is learned again, for what refuted it was seen then; not a
rule that was withdrawn this often."""
MOST_FOLLOWED = 300
"""URLs of a site by which it is seen whether rules undo each other."""


@cache
def _parsed() -> tuple[Rule, ...]:
    return tuple(replace(Rule.parse(text, site=ANY_SITE), learned_by=PRIOR) for text in TEXTS)


@cache
def _program(places: frozenset[int]) -> Program:
    """Return some of the rules for all sites; few sets of them ever wait."""
    return program_of([_parsed()[place] for place in sorted(places)])


@dataclass
class PriorRules:
    """The rules of most sites, on one site.

    >>> prior = PriorRules("shop.test")
    >>> prior.wake("http://shop.test/item?id=7"), prior.wake("http://shop.test/item?id=7&sid=4f1e")
    (False, True)
    >>> [str(rule) for rule in prior.awake]
    ['rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}']
    >>> prior.wake("https://shop.test/")  # both schemes
    True
    """

    site: str
    _waiting: frozenset[int] = frozenset(range(len(TEXTS)))
    _awake: dict[int, Rule] = field(default_factory=dict)
    _scheme: str = ""
    """The scheme of all URLs so far."""

    def __post_init__(self) -> None:
        self._watch(self._waiting)

    def _watch(self, waiting: frozenset[int]) -> None:
        self._waiting = waiting
        self._changed = _program(waiting - {_SECURED}).canonical

    @property
    def awake(self) -> list[Rule]:
        """The rules that would change a URL of the site, in their order."""
        return [self._awake[place] for place in sorted(self._awake)]

    def wake(self, url: str, known: Container[str] = (), off: Program | None = None) -> bool:
        """Wake the rules that would change a URL; return whether there are any.

        Args:
            url: A new one of the site.
            known: Ids of rules that stay as they are.
            off: Rules that a person switched off: what does the same to the URL is not woken.

        """
        scheme = url[:5]
        is_other = bool(self._scheme) and scheme != self._scheme and _SECURED in self._waiting
        self._scheme = scheme
        if not is_other and self._changed(url) == url:
            return False
        waiting = sorted(self._waiting - {_SECURED})
        made = _program(frozenset(waiting)).matches(url)
        found = {waiting[place]: after for place, after in made if after != url}
        if is_other:
            found[_SECURED] = ""
        unwanted = {after for _, after in off.matches(url)} if off else set()
        rules = {place: replace(_parsed()[place], site=self.site) for place in found}
        self._watch(self._waiting.difference(found))
        new = {
            place: rule
            for place, rule in rules.items()
            if rule.id not in known and found[place] not in unwanted
        }
        self._awake |= new
        return bool(new)

    def wake_again(self, ids: Container[str]) -> None:
        """Wake the rules with these ids."""
        rules = {place: replace(_parsed()[place], site=self.site) for place in self._waiting}
        found = {place: rule for place, rule in rules.items() if rule.id in ids}
        self._awake |= found
        self._watch(self._waiting.difference(found))


@dataclass
class RulesInUse:
    """The rules of one site, in their order."""

    site: str
    base: RuleSet
    """The rules that the crawl was started with, of this site and for all sites."""
    prior: PriorRules
    withdrawn: dict[str, int] = field(default_factory=dict)
    """Ids of rules that failed, with how often each did."""

    def __post_init__(self) -> None:
        self._given = tuple(self.base)
        self.given_ids = frozenset(self.base.ids)
        off = [rule.with_status("active") for rule in self._given if rule.status == "disabled"]
        self._off = program_of(off) if off else None
        self.use(self.base)

    def use(self, rules: RuleSet) -> None:
        """Use other rules from now on."""
        self.all = rules
        self.ids = rules.ids
        self.program = rules.program

    @property
    def supports(self) -> list[tuple[str, int]]:
        """The ids, each with the pages that supported the rule when it was learned."""
        return [(id_, int(raw.get("support") or 0)) for id_, raw in zip(self.ids, self.all.raw, strict=True)]

    # Which rules there are

    def of_site(self) -> list[dict[str, Any]]:
        """Return the rules of this site that only this crawl knows, as a rule file has them."""
        return [raw for raw in self.all.raw if raw["site"] != ANY_SITE and raw.get("learned_by") != PRIOR]

    def given(self) -> tuple[list[Rule], list[Rule]]:
        """Return the rules that the crawl was started with: those to learn beside, and those to avoid."""
        own = [rule for rule in self._given if rule.site == self.site and rule.id not in self.withdrawn]
        off = [rule for rule in own if rule.status == "disabled"]
        return [rule for rule in own if rule.status == "active"], off

    def proved(self, tests: RuleTests) -> list[Rule]:
        """Return the rules that later fetches have proved, on pages that they were not learned from."""
        return [rule for rule in self.all if rule.site == self.site and tests.of[rule.id].is_confirmed]

    def never_failed(self, tests: RuleTests) -> list[Rule]:
        """Return those of them that no test contradicts and no person gave; tests count as support."""
        proved = [(rule, tests.of[rule.id]) for rule in self.proved(tests) if rule.id not in self.given_ids]
        return [
            replace(rule, support=(rule.support or 0) + test.good) for rule, test in proved if not test.bad
        ]

    def guessed(self) -> list[Rule]:
        """Return those that are guesses."""
        return [rule for rule in self.all if rule.learned_by == GUESS]

    def learned(self) -> list[Rule]:
        """Return those of this site that are neither guesses nor rules of most sites."""
        return [rule for rule in self.all if rule.learned_by not in {GUESS, PRIOR} and rule.site != ANY_SITE]

    # Which rules there should be

    def wakes(self, form: str) -> bool:
        """Return whether rules of most sites concern a new form, and did not concern any other before."""
        return self.prior.wake(form, self.given_ids, self._off)

    def with_more(self, guessed: Sequence[Rule] = ()) -> RuleSet:
        """Return the rules with new guesses and with those of most sites that are awake now.

        No other rule changes its place: what URLs become depends on the order, and those that were skipped
        for one that was fetched would come back. Rules of most sites that were proved may be among learned
        ones.
        """
        rules = list(self.all)
        last = [at for at, rule in enumerate(rules, 1) if rule.learned_by != PRIOR and rule.site != ANY_SITE]
        fixed = [*rules[: max(last, default=0)], *guessed]
        known = {*self.withdrawn, *(rule.id for rule in fixed)}
        rest = [rule for rule in (*self.prior.awake, *self._given) if rule.id not in known]
        return self.base.with_rules([*fixed, *rest])

    def ordered(self, own: Sequence[Rule], guessed: Sequence[Rule]) -> RuleSet:
        """Return the rules to use: given ones, learned ones, guesses, and those of most sites."""
        found = {rule.id: rule for rule in own}
        given = [rule for rule in self._given if rule.id not in self.withdrawn]
        prior = [rule for rule in self.prior.awake if rule.id not in self.withdrawn]
        for_all = [rule for rule in given if rule.site == ANY_SITE]
        start = [rule for rule in given if rule.site != ANY_SITE and rule.id not in found]
        rest = [rule for rule in (*guessed, *prior, *for_all) if rule.id not in found]
        return self.base.with_rules({rule.id: rule for rule in (*start, *own, *rest)}.values())

    def without(self, ids: set[str]) -> RuleSet:
        """Return the rules without some, which have failed."""
        for id_ in sorted(ids):
            self.withdrawn[id_] = self.withdrawn.get(id_, 0) + 1
        return self.all.with_rules(rule for rule in self.all if rule.id not in ids)

    def may_use(self, rule: Rule) -> bool:
        """Return whether a rule that was learned may be used: it did not fail too often, and fits a crawl.

        Pages that change are left to the tests of the crawl: a rule that keeps them would undo all others. A
        text that ends within a parameter (`?do=`) leaves its value in the name of a page, so that the tests
        no longer know the place of the URL.
        """
        cuts = rule.kind == "replace" and rule.source.endswith("=") and not str(rule.target).endswith("=")
        return rule.kind != "keep" and not cuts and not self.is_refuted(rule)

    def is_refuted(self, rule: Rule) -> bool:
        """Return whether a rule failed too often to be used again."""
        return self.withdrawn.get(rule.id, 0) >= MOST_WITHDRAWN

    def restored(self, own: list[Rule], withdrawn: dict[str, int], ids: Sequence[str]) -> RuleSet:
        """Return the rules as they were, in the order of these ids: those of this site, and shared ones."""
        self.withdrawn = withdrawn
        # States of before hold learned rules that leave pages alone, which are not used in a crawl.
        own = [rule for rule in own if rule.kind != "keep" or rule.id in self.given_ids]
        self.prior.wake_again({*ids, *withdrawn})
        kept = [rule for rule in self.prior.awake if rule.id not in self.withdrawn]
        kept += [rule for rule in self._given if rule.site == ANY_SITE and rule.id in ids]
        known = {rule.id for rule in own}
        rules = [*own, *(rule for rule in kept if rule.id not in known)]
        place = {id_: at for at, id_ in enumerate(ids)}
        # States of before name only the rules that are not of this site, which came last.
        return self.base.with_rules(sorted(rules, key=lambda rule: place.get(rule.id, -1)))


def idle_guesses(rules: RuleSet, urls: Iterable[str]) -> set[str]:
    """Return the ids of guesses that others have made redundant: no URL needs them."""
    column = pa.array(urls, pa.large_string())
    used = set(pa.array(rules.program.used(column)[1]).unique().to_pylist())
    return {
        id_
        for place, (id_, raw) in enumerate(zip(rules.ids, rules.raw, strict=True))
        if raw.get("learned_by") == GUESS and place not in used
    }


class CrawledUrls(NamedTuple):
    """What is known of the URLs of a site."""

    fetched: Fetched
    pending: list[str]
    skipped: list[str]

    def wrong_pairs(self, rules: RuleSet) -> set[tuple[str, str]]:
        """Return fetched URLs that rules make one though they showed different pages."""
        pages = self.fetched.pages()
        first: dict[str, str] = {}
        found = set()
        for url, key in zip(pages, keys_by(rules.program, pages), strict=True):
            other = first.setdefault(key, url)
            if other != url and self.fetched.compare(url, other) == "different":
                found.add((url, other))
        return found

    def uncovered(self, rules: RuleSet) -> int:
        """Return how many URLs would be handed back under rules."""
        covered = shown(self.fetched, rules.program)[0].keys() | set(keys_by(rules.program, self.pending))
        return len(set(keys_by(rules.program, self.skipped)) - covered)


def without_cycles(rules: RuleSet, urls: Sequence[str], given: Container[str] = ()) -> RuleSet:
    """Return rules of which none undoes what others do, by what they do to some URLs.

    A URL that comes back is changed no further, so that two rules of which one is the other turned round put
    all others out of effect. Of those in a cycle the last one is left out, unless a person gave it.
    """
    some = urls[:: 1 + len(urls) // MOST_FOLLOWED]
    while True:
        explain, ids = rules.program.explain, rules.ids
        cycles = [_in_cycle(way[1]) for way in map(explain, some) if way[OUTCOME_PLACE] == "cycle"]
        own = [{place for place in cycle if ids[place] not in given} for cycle in cycles]
        left_out = {ids[max(places)] for places in own if places}
        if not left_out:
            return rules
        rules = rules.with_rules(rule for rule in rules if rule.id not in left_out)


def _in_cycle(steps: Steps) -> list[int]:
    """Return the rules of the steps since a URL was seen that came back last."""
    last = steps[-1][1]
    start = max((at + 1 for at, (_, url) in enumerate(steps[:-1]) if url == last), default=0)
    return [place for place, _ in steps[start:]]


def best_of(own: Sequence[Rule], before: RulesInUse, known: CrawledUrls) -> RuleSet:
    """Return rules that were learned now, with those of before if they join no more and skip more.

    Those of before come behind or in front of the new ones.

    Args:
        own: The rules that were learned now.
        before: The rules that are used so far.
        known: What they are compared on.

    """
    guessed = before.guessed()
    only_new = before.ordered(own, guessed)
    if not known.skipped:
        return only_new
    known_ids = before.given_ids | {rule.id for rule in own}
    old = [rule for rule in before.learned() if rule.id not in known_ids]
    wrong = known.wrong_pairs(only_new)
    best, least = only_new, known.uncovered(only_new)
    for rules in (before.ordered([*own, *old], guessed), before.ordered([*old, *own], guessed)):
        pairs = known.wrong_pairs(rules)
        if len(pairs) > len(wrong):
            blamed = _that_join(rules, pairs - wrong) & {rule.id for rule in old}
            rules = rules.with_rules(rule for rule in rules if rule.id not in blamed)  # noqa: PLW2901
            pairs = known.wrong_pairs(rules)
        uncovered = known.uncovered(rules)
        if len(pairs) <= len(wrong) and uncovered < least:
            best, least = rules, uncovered
    return best


def _that_join(rules: RuleSet, pairs: set[tuple[str, str]]) -> set[str]:
    """Return the ids of the rules that make the URLs of pairs one."""
    explain, ids = rules.program.explain, rules.ids
    ways = ([all_steps(explain(url), ids) for url in pair] for pair in pairs)
    return {step[0] for mine, its in ways for step in until_one(mine, its)}
