"""What a rule must show before it is accepted: enough pages, of enough kinds, and next to nothing lost.

What it removes must have been seen to have no effect: each parameter by itself, and with several values. A
rule for lists that removes all but the page number may be right on every list and never have met two
searches; and a parameter with one value says nothing about its others.

A number that it removes may name a version of the page: a wiki shows every revision of a page at
`?title=Tea&oldid=417`. A revision differs from the page as little as two fetches of one page do, so content
does not show whether it matters. The URLs can: a number that does not matter is seen with several values on
one page (`sid=1`, `sid=2`), or with one value on several pages (`print=1`). A number that belongs to one
page, and is the only one there, may name a version of it.

The likelihood ratios of the pages that come together are never judged by their sum or mean, in which evidence
for pays for evidence against: a false rule has a tail. Two numbers are asked: the mean of the worst tenth,
and the share of pages that are expected to be right.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.edits import Given, whole_places
from undust.judging.verdict import LEAST_RISK
from undust.learning.bounds import PUBLISHED_METHODS, Beliefs, are_convincing, votes_of
from undust.learning.failing_pages import CALM, UnstablePages
from undust.learning.outcome import MADE_UP_URLS, MERGED
from undust.learning.reach import UNPROVED, holds_in_all_folders, proofs_of, shortens_safely, witnesses_of
from undust.learning.texts import adds_a_value, changes_a_value, makes_up, renames, renumbers
from undust.privacy import is_random
from undust.rules import program_of
from undust.rules.verdict import prefers_other_form
from undust.searching.doubts import other_numbers
from undust.searching.removed_texts import is_page_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from undust.learning.site_pages import Requirements, SitePages
    from undust.learning.state import Effect, State
    from undust.rules import Rule

    Floats = NDArray[np.float64]
    Numbers = tuple[str, ...]


_SEVERAL, _SHARE = 3, 0.15
"""At least this many proofs, and this share of them, must come from values other than the most frequent."""
_OF_ONE_VISITOR = 10
"""Proofs with one value that looks random: more pages than one has."""
PROOFS, _NAMES = 2, 3
"""A parameter is idle with this many proofs; to remove any name takes this many idle ones."""
_KNOWN = frozenset({"utm_"})
"""How names start that no site has for itself: other sites add them to links, to count visits."""
_FIRST = frozenset({"0", "1"})
_DROP = re.compile(r"\{s\}://\{h\}/\{p\*\*\}\?((?:[^={}&]+=\{\*\*\}&)+)\{rest\*\*\}")
_DROPPED = re.compile(r"([^={}&]+)=")
_FAMILY = re.compile(r"[^?]*\?\{\*\*:([^{}|]+)\*\}&\{rest\*\*\}")
_LISTS = re.compile(r"\{(\w+)\*\*:([^{}*]+)\}")
_KEEP_ONLY = re.compile(r"[^?]*\?\{k\*\*:([^{}]+)\}&\{\*\*\}")
IDLE_NUMBERS, IDLE_SHARE = 3, 0.15
"""URLs, and share of the URLs that lose a number, which must show that the number does not matter."""
LOSING_SHARE = 0.5
"""Share of the changed URLs that must lose a number before the rule is one about numbers."""
_NUMBER = re.compile(r"(?<![^\W_])\d{1,9}(?![^\W_])")
"""Longer numbers are times and tokens."""
MET = {"differences": 0.5, "parameters": 0.05, "equivalences": 0.1, "settings": 0.1}
MET |= dict.fromkeys(sorted(PUBLISHED_METHODS), 0.1)
"""Share of the merges that must lead to a form seen before, so that what a rule writes can be fetched. Where
a part is never missing, no value of it is better than the others: keys hide such a part instead."""

DEFAULTS = 3
"""Lists that identify the default of a number."""

UNFOUNDED = 0.5
"""The largest share of the URLs that a rule creates that were never observed."""


@dataclass
class Acceptance:
    """The demands on the rules of one site."""

    requirements: Requirements
    pages: SitePages
    beliefs: Beliefs = field(default_factory=Beliefs)
    """What became of other candidates."""
    unstable: UnstablePages = CALM
    """How many pages show another text at every fetch."""

    def are_met(self, state: State, effect: Effect, rule: Rule) -> bool:
        """Return whether a rule may be accepted for what it does to a state."""
        least = self.least_pages(rule)
        if effect.pages < least or effect.pages_held < self.requirements.held_pages:
            return False
        if effect.target_seen_share < MET.get(rule.learned_by or "", 0.0) or not is_diverse(
            state, effect, rule, self.requirements.number_support
        ):
            return False
        is_apart = self.pages.has_blocks and not self._are_one(state, effect, rule)
        if is_apart or not holds_in_all_folders(state, effect, rule):
            return False
        is_narrow = rule.when or rule.unless
        loses_little = effect.lost == 0 if is_narrow else self._loses_little(state, effect, rule)
        if not loses_little or not self._leads_somewhere(state, effect, rule):
            return False
        if not removes_parameters(state, effect, rule, least):
            return False
        witnesses = witnesses_of(state, effect)
        is_safe = shortens_safely(rule, witnesses, effect.lost, self.requirements.max_fpr)
        return is_safe and self._is_one_place(state, rule) and self._is_default(state, effect, rule)

    @staticmethod
    def _are_one(state: State, effect: Effect, rule: Rule) -> bool:
        """Return whether the blocks of the pages that come together say that they are one."""
        return are_convincing(votes_of(effect)) and not may_name_versions(state, effect, rule)

    def _is_one_place(self, state: State, rule: Rule) -> bool:
        """Return whether two places that a rule gives one name are one wherever both were seen."""
        whole = whole_places(rule) if renames(rule) else None
        if whole is None:
            return True
        effect = state.effect(whole)
        return effect.lost <= self.requirements.max_fpr * (effect.lost + effect.pages)

    def _is_default(self, state: State, effect: Effect, rule: Rule) -> bool:
        """Return whether the values that a rule removes are defaults, and lists are not merely short."""
        others_of = dict(item for each in state.rules for item in Given(rule=each).defaults.items())
        for name, value in Given(rule=rule).defaults.items():
            # A parameter has one default: another value is as doubtful as any.
            is_second = others_of.get(name, value) != value
            if is_second and effect.pages < self.requirements.number_support:
                return False
            if not value.isdigit():
                continue
            others = other_numbers(zip(state.texts, state.page_of_image.tolist(), strict=True), name, value)
            is_idle = not others.telling and effect.pages >= self.requirements.number_support
            if not is_idle and not others.confirm(DEFAULTS):
                return False
        return True

    def refusal(self, state: State, effect: Effect, rule: Rule) -> str:
        """Return why a rule that was not accepted was not."""
        if effect.lost:
            return MERGED
        is_made_up = (
            makes_up(rule)
            and effect.pages >= self.least_pages(rule)
            and state.unseen_target_share(effect, rule) > UNFOUNDED
        )
        return MADE_UP_URLS if is_made_up else "too few pages to decide"

    def least_pages(self, rule: Rule) -> int:
        """Return for how many pages a rule must hold."""
        requirements = self.requirements
        least = (
            requirements.min_support
            if self.pages.has_sketches
            else max(requirements.min_support, requirements.blind_support)
        )
        if conditions := len(rule.when) + len(rule.unless):
            least = max(least, requirements.narrowed_support) * conditions
        if adds_a_value(rule) or renames(rule):
            least = max(least, requirements.literal_support)
        if renumbers(rule) or changes_a_value(rule):
            least = max(least, requirements.number_support)
        if rule.learned_by not in PUBLISHED_METHODS:
            return least
        is_blind = self.pages.is_blind
        return max(least, requirements.number_support if is_blind else requirements.published_support)

    def _loses_little(self, state: State, effect: Effect, rule: Rule) -> bool:
        if rule.learned_by in PUBLISHED_METHODS and effect.lost:
            return False
        most = self.requirements.max_fpr * (effect.lost + effect.pages)
        if effect.lost > most:
            return self.unstable.excuses(effect.lost, effect.pages) and self._on_calm(state, effect) <= most
        return self.beliefs.risk(rule, effect) <= max(self.requirements.max_fpr, LEAST_RISK)

    def _on_calm(self, state: State, effect: Effect) -> int:
        """Return how many images a rule would move wrongly, though other rules show that the page is calm."""
        pages = state.page_of_image[effect.sources[effect.blamed]]
        return int(np.isin(pages, self.unstable.calm).sum())

    def _leads_somewhere(self, state: State, effect: Effect, rule: Rule) -> bool:
        """Return whether next to nothing is sent to where the site was seen to have no page."""
        gone = state.leading_nowhere(effect, rule)
        if gone is not None and int(gone.sum()) > self.requirements.max_fpr * effect.moved:
            return False
        if prefers_other_form(rule) and state.welcome_share(effect, rule) <= UNFOUNDED:
            return False
        return not makes_up(rule) or state.unseen_target_share(effect, rule) <= UNFOUNDED


def is_diverse(state: State, effect: Effect, rule: Rule, least_numbers: int) -> bool:
    """Return whether the proofs of a rule are of all the kinds that it speaks about.

    Args:
        state: Where the URLs stand.
        effect: What the rule would do.
        rule: It removes a parameter, several, or all but some.
        least_numbers: Proofs that are needed where what is removed may be the page of a list.

    """
    if match := _DROP.fullmatch(rule.source):
        names = _DROPPED.findall(match[1])
        return all(_has_several_values(state, effect, name, least_numbers) for name in names)
    if match := _FAMILY.fullmatch(rule.source):
        return _has_several_names(state, effect, match[1])
    if match := _KEEP_ONLY.fullmatch(rule.source):
        return _each_is_idle(state, effect, rule, frozenset(match[1].split("|")), least_numbers)
    unwritten = _unwritten_names(rule)
    return not any(_may_name_pages(state, effect, name, least_numbers) for name in unwritten)


def removes_parameters(state: State, effect: Effect, rule: Rule, least: int) -> bool:
    """Return whether enough proofs are without the parameters that a rule removes.

    Of a URL that has a parameter twice it removes one, and the other still says which page is meant.
    """
    read, written = (
        {name for name in map(_name, _query(side or "")) if "{" not in name}
        for side in (rule.source, rule.target)
    )
    removed = read - written if rule.kind == "rewrite" else set()
    if not removed:
        return True
    names = (Counter(map(_name, _query(url))) for url in proofs_of(state, effect))
    return sum(all(counts[name] < 2 for name in removed) for counts in names) >= least  # noqa: PLR2004 -- twice


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]


def _has_several_values(state: State, effect: Effect, name: str, least_numbers: int) -> bool:
    """Return whether a parameter was idle with several values; one alone says nothing about the others.

    Where most values are small numbers, the same on many pages, short lists show one page for all of them,
    and longer ones do not: larger numbers must have been idle on many pages.
    """
    proved = _proved_values(state, effect, name)
    if is_of_one_visitor(proved):
        return True
    values = Counter(parameter.partition("=")[2] for parameter in proved.elements())
    if _may_be_pages(values):
        return _larger_numbers(values) >= least_numbers
    others = proved.total() - max(proved.values(), default=0)
    return others >= _SEVERAL and others >= _SHARE * proved.total()


def _unwritten_names(rule: Rule) -> list[str]:
    """Return the parameters that a rule reads wherever they are (`{n**:v|w}`), and does not write."""
    lists = _LISTS.findall(rule.source.partition("?")[2]) if rule.target else []
    return [
        name
        for capture, names in lists
        if f"{{{capture}" not in str(rule.target)
        for name in names.split("|")
    ]


def _may_name_pages(state: State, effect: Effect, name: str, least_numbers: int) -> bool:
    """Return whether a parameter may say which page is meant, as far as the proofs show."""
    proved = _proved_values(state, effect, name)
    values = Counter(parameter.partition("=")[2] for parameter in proved.elements())
    return _may_be_pages(values) and _larger_numbers(values) < least_numbers


def _proved_values(state: State, effect: Effect, name: str) -> Counter[str]:
    return Counter(
        parameter for url in proofs_of(state, effect) for parameter in _query(url) if _name(parameter) == name
    )


def _larger_numbers(values: Counter[str]) -> int:
    return sum(count for value, count in values.items() if is_page_number(value))


def _may_be_pages(values: Counter[str]) -> bool:
    """Return whether most values are small numbers, the same on many pages."""
    small = sum(count for value, count in values.items() if value in _FIRST or is_page_number(value))
    return 2 * small > values.total() and 2 * len(values) <= values.total()


def is_of_one_visitor(proved: Counter[str]) -> bool:
    """Return whether what was idle on many pages looks like the own value of one visitor.

    A session id that is the same on all pages of a crawl names no page, and another visitor has another one.
    """
    frequent = max(proved, key=lambda text: (proved[text], text), default="")
    return proved[frequent] >= _OF_ONE_VISITOR and is_random(frequent.partition("=")[2])


def _has_several_names(state: State, effect: Effect, head: str) -> bool:
    """Return whether several parameters whose names start alike were idle: the rule applies to all others."""
    proved = Counter(
        name
        for url in proofs_of(state, effect)
        for name in {parameter.partition("=")[0] for parameter in _query(url)}
        if name.startswith(head)
    )
    least = PROOFS if head in _KNOWN else _NAMES
    return sum(count >= PROOFS for count in proved.values()) >= least


def _each_is_idle(state: State, effect: Effect, rule: Rule, kept: frozenset[str], least_numbers: int) -> bool:
    """Return whether each removed parameter was seen to differ between URLs of one page."""
    urls = state.some_texts(effect.sources)
    images = pa.array(program_of([rule]).batch(state.images.take(pa.array(effect.sources)))).to_pylist()
    together: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for url, image, page in zip(urls, images, state.page_of_image[effect.sources].tolist(), strict=True):
        together[image, page].append(url)
    for (image, page), group in together.items():
        row = bisect_left(state.texts, image)  # the texts are in order
        if state.texts[row : row + 1] == [image] and state.page_of_image[row] == page:
            group.append(image)
    several = [group for group in together.values() if len(group) > 1]
    apart = [(name, some) for group in several for name, some in _differing(group, kept).items()]
    proofs = Counter(name for name, _ in apart)
    values: defaultdict[str, set[str]] = defaultdict(set)
    for name, some in apart:
        values[name] |= some
    idle = {name for name, count in proofs.items() if count >= PROOFS and len(values[name]) > 1}
    idle -= _page_names(urls, {name for name in idle if proofs[name] < least_numbers})
    if len(idle) < _NAMES:
        return False
    untested = sum(not idle.issuperset(_forgotten(url, kept)) for url in urls)
    return untested <= UNPROVED * len(urls)


def _page_names(urls: Iterable[str], names: set[str]) -> set[str]:
    """Return which of some parameters may say which page of a list is meant."""
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    if not names:
        return names
    for name, _, value in (parameter.partition("=") for url in urls for parameter in _query(url)):
        if name in names:
            values[name][value] += 1
    return {name for name, some in values.items() if _may_be_pages(some)}


def _differing(group: list[str], kept: frozenset[str]) -> dict[str, set[str]]:
    """Return the names that are removed and do not have one value in the URLs of a group, with the values."""
    having = Counter(chain.from_iterable(set(_query(url)) for url in group))
    found: defaultdict[str, set[str]] = defaultdict(set)
    for parameter, count in having.items():
        name, _, value = parameter.partition("=")
        if count < len(group) and name not in kept:
            found[name].add(value)
    return found


def _forgotten(url: str, kept: frozenset[str]) -> set[str]:
    return {parameter.partition("=")[0] for parameter in _query(url)} - kept


def _query(url: str) -> list[str]:
    query = url.partition("?")[2]
    return query.split("&") if query else []


def may_name_versions(state: State, effect: Effect, rule: Rule) -> bool:
    """Return whether a rule removes numbers that were never seen to be without meaning."""
    sources = state.some_texts(effect.sources)
    becomes = program_of([rule]).batch(state.images.take(pa.array(effect.sources)))
    moves = [
        (lost, target)
        for source, target in zip(sources, pa.array(becomes).to_pylist(), strict=True)
        if (lost := _lost_numbers(source, target))
    ]
    if len(moves) < LOSING_SHARE * len(sources):
        return False
    values: defaultdict[str, set[Numbers]] = defaultdict(set)
    targets: defaultdict[Numbers, set[str]] = defaultdict(set)
    for lost, target in moves:
        values[target].add(lost)
        targets[lost].add(target)
    idle = sum(len(values[target]) > 1 or len(targets[lost]) > 1 for lost, target in moves)
    return idle < max(IDLE_NUMBERS, IDLE_SHARE * len(moves))


def _lost_numbers(source: str, target: str) -> Numbers:
    """Return the numbers of a URL that its target does not have.

    >>> _lost_numbers("http://a.test/wiki?title=Tea&oldid=417", "http://a.test/Tea")
    ('417',)
    """
    lost = Counter(_NUMBER.findall(source)) - Counter(_NUMBER.findall(target))
    return tuple(sorted(lost.elements()))
