"""What is done where a rule fails: conditions under which it holds, and pages that change between fetches.

If a page shows new text each time, every rule that moves one of its URLs seems to fail. One rule that fails
there may be wrong; but where no single rule explains why all the URLs of a page differ, and those rules hold
elsewhere, it is the page. Such pages are silent: they count neither for a rule nor against it. How many
pages are so decides how many failures a correct rule may show on undecided pages.

Whole classes change too: edit forms with locks, lists with counters and clocks. Where rules that hold
elsewhere fail together, the URLs are kept as they are, so that the rules themselves can stay simple and few.

The conditions under which a rule holds that fails elsewhere name hosts, segments, endings and parameters.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import exp, inf, lgamma, log, log1p
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.judging.unstable import MIXED, SEEN, SEEN_CHANGING
from undust.learning.texts import keeping, pieces_of, with_conditions
from undust.proposing.idle_parts import is_plain
from undust.rules import program_of
from undust.searching.classes import is_of_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.learning.state import Effect, State
    from undust.learning.texts import UrlPieces
    from undust.rules import Rule

    Ints = NDArray[np.int64]


BY_CHANCE = 0.00002
"""Several dozen conditions are tried for each rule; one that separates by luck must be rarer than this."""
EXCEPTIONS = 3
"""A rule has at most this many of them, each with at least this many failures."""
FEW_FAILURES = 0.02
LEAST_FAILURES, LOST_FOR_SAVED, _TOGETHER = 2, 5, 0.002
"""A rule that is good has an exception where it fails at least this often, at most this many times what fails
there held."""
LONGEST_VALUE, LONGEST_SEGMENT = 40, 24
VALUE_PREFIX = re.compile(r"[A-Za-z0-9]{1,16}[:,._-](?=[^;&/])")
"""What a site writes before a name or a number: `File:`, `topic,`, `msg_`."""
_RUN = re.compile(r"[^;&]+")
_REMEMBERED = 1 << 17
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,6}$")


@lru_cache(_REMEMBERED)
def conditions_of(url: str) -> tuple[str, ...]:
    """Return the conditions that hold for a URL, as patterns, each once."""
    pieces = pieces_of(url)
    found = (f"{{s}}://{pieces.host}", *_of_path(pieces.segments), *_of_query(pieces))
    return tuple(dict.fromkeys(found))


def _of_path(segments: tuple[str, ...]) -> Iterator[str]:
    first, *others = segments
    if not others:
        yield f"/{first}"
        return
    if first:
        yield f"/{_folder(first)}/{{**}}"
        if len(others) > 1 and others[0] and not is_of_time(first, others[0]):
            yield f"/{_folder(first)}/{others[0]}/{{**}}"
            if _RUN.fullmatch(first):
                yield f"/{{*}}/{others[0]}/{{**}}"
    # A run never crosses a semicolon or an ampersand.
    yield "/" + "/".join(_RUN.sub("{*}", segment) for segment in segments)
    last = segments[-1]
    if _RUN.fullmatch(last) and (ending := _ENDING.search(last)) and ending.start():
        yield f"/{{**}}/{{*}}{ending[0]}"
    if _RUN.fullmatch(last) and (prefix := VALUE_PREFIX.match(last)):
        yield f"/{{**}}/{prefix[0]}{{*}}"
    if len(last) < LONGEST_SEGMENT:
        yield f"/{{**}}/{last}"


def _folder(name: str) -> str:
    """Return what a folder is called; a number, such as a year, is one of many and no class of its own."""
    return "{*:int}" if name.isdigit() and name.isascii() else name


def _of_query(pieces: UrlPieces) -> Iterator[str]:
    for parameter in pieces.query:
        name, equals, value = parameter.partition("=")
        if not is_plain(name):
            continue
        if ";" in value:
            # Text after a semicolon is not a parameter of its own in the rule language.
            yield f"?{name}={_open(value)}"
            yield f"?{name}={';'.join('{*}' * bool(part) for part in value.split(';'))}"
            continue
        yield f"?{name}={{**}}"
        if equals and not value:
            yield f"?{name}="
        elif equals:
            yield from _of_value(name, value)


def _of_value(name: str, value: str) -> Iterator[str]:
    if len(value) < LONGEST_VALUE:
        yield f"?{name}={value}"
    if prefix := VALUE_PREFIX.match(value):
        yield f"?{name}={prefix[0]}{{*}}"
    if (ending := _ENDING.search(value)) and ending.start():
        yield f"?{name}={{*}}{ending[0]}"
    if value.isdigit() and value.isascii():
        yield f"?{name}={{*:int}}"


def _open(value: str) -> str:
    """Return a value with semicolons in which names are written and values are open."""
    first, *others = value.split(";")
    return ";".join(["{*}" if first and "=" not in first else _named(first), *map(_named, others)])


def _named(part: str) -> str:
    name, equals, value = part.partition("=")
    return f"{name}={{*}}" if equals and value else part


def counted(urls: Iterable[str]) -> Counter[str]:
    """Return of how many URLs each condition holds."""
    return Counter(chain.from_iterable(map(conditions_of, urls)))


def where_it_holds(good: Sequence[str], bad: Sequence[str], least: int, most: int = 6) -> list[str]:
    """Return conditions under which nearly nothing fails, those that keep most first."""
    holds, fails = counted(good), counted(bad)
    found = [
        (-count, pattern)
        for pattern, count in holds.items()
        if count >= least and fails[pattern] <= FEW_FAILURES * count and fails[pattern] < len(bad)
    ]
    return [pattern for _, pattern in sorted(found)[:most]]


def exceptions(good: Sequence[str], bad: Sequence[str], moved: Sequence[str] = ()) -> tuple[str, ...]:
    """Return conditions that cover what fails and little of what holds; none if there are no such.

    Of what a rule moves, even if it has not met another page yet, all that differs from these in capitals
    alone has conditions too: where `sheet4.html` fails, `Sheet4.html` is the same page on most sites.
    """
    fails, chosen = [*map(conditions_of, bad)], list[str]()
    if max(counted(bad).values(), default=0) < EXCEPTIONS:
        return ()
    holds = [*map(conditions_of, good)]
    while fails and len(chosen) < EXCEPTIONS:
        ours, theirs = (Counter(chain.from_iterable(some)) for some in (holds, fails))
        best = max(theirs, key=lambda condition: (theirs[condition] - ours[condition] / 2, condition))
        if theirs[best] <= ours[best] / 2 or theirs[best] < EXCEPTIONS:
            return ()
        chosen.append(best)
        holds = [some for some in holds if best not in some]
        fails = [some for some in fails if best not in some]
    if fails or 3 * len(holds) <= len(good):
        return ()
    small = {condition.lower() for condition in chosen}
    others = {also for url in moved for also in conditions_of(url) if also.lower() in small}
    return (*chosen, *sorted(others.difference(chosen)))


def worst_exception(good: Sequence[str], bad: Sequence[str]) -> str | None:
    """Return the condition that holds for failures more often than luck would have it; None if none does."""
    fails = counted(bad)
    if max(fails.values(), default=0) < LEAST_FAILURES:
        return None
    holds, total, failures = counted(good), len(good) + len(bad), len(bad)
    found = [
        (fails[pattern] * LOST_FOR_SAVED - holds[pattern], pattern)
        for pattern in fails
        if fails[pattern] >= LEAST_FAILURES
        and fails[pattern] * LOST_FOR_SAVED > holds[pattern]
        and all_by_chance(total, failures, fails[pattern] + holds[pattern], fails[pattern]) < _TOGETHER
    ]
    return max(found)[1] if found else None


def all_by_chance(trials: int, failures: int, drawn: int, found: int) -> float:
    """Return the chance of finding this many failures or more among trials drawn at random."""
    most = min(drawn, failures)
    return min(1.0, sum(exp(_drawn(trials, failures, drawn, some)) for some in range(found, most + 1)))


def _drawn(trials: int, failures: int, drawn: int, found: int) -> float:
    """Return the logarithm of the hypergeometric probability."""
    if drawn - found > trials - failures:
        return -inf
    return _choose(failures, found) + _choose(trials - failures, drawn - found) - _choose(trials, drawn)


def _choose(total: int, some: int) -> float:
    return lgamma(total + 1) - lgamma(some + 1) - lgamma(total - some + 1)


def by_chance(trials: int, failures: int, kept: int) -> float:
    """Return how likely a condition that has nothing to do with it would leave out every failure.

    Of all trials, `kept` ones drawn at random contain none of the failures (hypergeometric).

    >>> round(by_chance(trials=10, failures=2, kept=5), 3)
    0.222
    """
    if kept <= 0 or trials - kept < failures:
        return 1.0
    return exp(_drawn(trials, failures, kept, 0))


_PAGES, _FAILING = 10, 0.2
"""Rules are used that hold for this many pages, and fail for no more than this share."""
_RULES = 24
SAME_WORK = 0.9
"""Two rules do the same if they bring together so much of what the smaller one does."""
_SEVERAL = 3
_BY = "volatile"
_PAGES_ELSEWHERE = 15
"""A rule holds elsewhere if it does so for this many pages …"""
_FAILING_ELSEWHERE = 0.15
"""… and fails for no more than this share."""
FAILURES, _RULES_OF_CLASS, RATE, _SHARE = 5, 2, 0.3, 0.5
"""A class is unstable with this many failures, of this many rules, at this rate, if it is not the site."""
HOME = "/"
_TRIED = 6
WORTH = 2
"""What the rules remove elsewhere against what they would have removed there."""


@dataclass(frozen=True)
class UnstablePages:
    """What is known about unstable pages of a site."""

    pages: Ints
    """Those that are found out."""
    rate: float
    """Their share among pages where it can be seen."""
    calm: Ints
    """Pages of URLs some of which agree; where a rule fails on them, it is the rule."""

    def excuses(self, lost: int, pages: int) -> bool:
        """Return whether a rule that fails so often is far likelier to be true than to be false."""
        trials = lost + pages
        if not self.rate or lost > _MOST * trials:
            return False
        true = lost * log(self.rate) + pages * log1p(-self.rate)
        false = [exp(lost * log(each) + pages * log1p(-each) - true) for each in FALSE]
        return sum(false) / len(FALSE) < 1 / LIKELIER


_MOST = 0.2
FALSE = (0.25, 0.35, 0.45, 0.6, 0.8)
"""How often a false rule fails; one that fails less often looks like a correct one on an unstable site."""
LIKELIER = 20
CALM = UnstablePages(np.zeros(0, np.int64), 0.0, np.zeros(0, np.int64))


def restless_pages(state: State, rules: Sequence[Rule]) -> UnstablePages:
    """Return the pages whose URLs all differ for no single rule's fault."""
    probable = _probable(state, rules)
    if len(probable) < 2:  # noqa: PLR2004 -- two witnesses
        return CALM
    whole = _images(state, probable)
    tested, accused, mixed = _suspects(state, whole)
    for left_out in range(len(probable)):
        if not len(tested):
            break
        fewer = _images(state, [rule for at, rule in enumerate(probable) if at != left_out])
        tested = tested[_meet_again(whole, fewer, tested)]
    accused, mixed = np.intersect1d(accused, tested), np.intersect1d(mixed, tested)
    # Two wrong rules leave many groups in which some URLs agree; an unstable page leaves none, and wrong
    # labels a few.
    if len(tested) < SEEN or len(accused) < SEEN_CHANGING or len(mixed) > MIXED * len(accused):
        return CALM
    pages = np.unique(state.page_of_image[np.isin(whole, accused)])
    return UnstablePages(pages, len(accused) / len(tested), _agreeing(state, whole))


def _probable(state: State, rules: Sequence[Rule]) -> list[Rule]:
    """Return rules that hold in most places and do not do each other's work, the simplest first."""
    found = []
    for rule, effect in zip(rules, state.effects(rules), strict=True):
        failed, tried = int(effect.blamed.sum()), int((effect.blamed | effect.merging).sum())
        if effect.pages >= _PAGES and failed <= _FAILING * tried:
            together = effect.sources[effect.blamed | effect.merging]
            found.append((len(str(rule)), str(rule), rule, np.unique(together)))
    chosen: list[Rule] = []
    work: list[Ints] = []
    for _, _, rule, rows in sorted(found, key=lambda item: item[:2]):
        # A second rule that brings the same together would support the first where that one is wrong.
        if all(len(np.intersect1d(rows, other)) < SAME_WORK * min(len(rows), len(other)) for other in work):
            chosen.append(rule)
            work.append(rows)
    return chosen[:_RULES]


def _images(state: State, rules: Sequence[Rule]) -> Ints:
    """Return where rules would send each image, as numbers."""
    keeps = [rule for rule in state.rules if rule.kind == "keep"]
    after = pa.array(program_of([*keeps, *rules]).batch(state.images))
    return np.asarray(after.dictionary_encode().indices, np.int64)


def _suspects(state: State, whole: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the groups of several images; those in which no two show one page; those in which some do."""
    size, count = np.bincount(whole), state.pages.count + 1
    pages = np.unique(whole * count + state.page_of_image) // count
    distinct = np.bincount(pages, minlength=len(size))
    tested = np.flatnonzero(size >= _SEVERAL)
    differ = distinct[tested] == size[tested]
    return tested, tested[differ], tested[~differ & (distinct[tested] > 1)]


def _agreeing(state: State, whole: Ints) -> Ints:
    """Return the pages of groups in which several images show one page."""
    count = state.pages.count + 1
    pairs, times = np.unique(whole * count + state.page_of_image, return_counts=True)
    return np.unique(state.page_of_image[np.isin(whole, pairs[times > 1] // count)])


def _meet_again(whole: Ints, fewer: Ints, groups: Ints) -> NDArray[np.bool_]:
    """Return of groups whether two of their images meet without one of the rules too."""
    parts = np.unique(whole * (int(fewer.max()) + 1) + fewer) // (int(fewer.max()) + 1)
    return np.bincount(parts, minlength=int(whole.max()) + 1)[groups] < np.bincount(whole)[groups]


def volatile_class(
    state: State, rules: Sequence[Rule], is_good: Callable[[Effect, Rule], bool]
) -> Rule | None:
    """Return a `keep` for the class of URLs where rules that hold elsewhere fail most, if there is one.

    Where pages are compared by likelihood, a class needs a witness: a URL of it that was seen to change.
    """
    fails: dict[str, Counter[int]] = defaultdict(Counter)
    holds: Counter[str] = Counter()
    failing: list[Rule] = []
    for rule, effect in zip(rules, state.effects(rules), strict=True):
        if effect.pages < _PAGES_ELSEWHERE or not 0 < effect.lost <= _FAILING_ELSEWHERE * (
            effect.lost + effect.pages
        ):
            continue
        for pattern, count in counted(state.some_texts(effect.sources[effect.failing])).items():
            fails[pattern][len(failing)] += count
        holds += counted(state.some_texts(effect.sources[effect.merging & ~effect.failing]))
        failing.append(rule)
    shares = counted(state.texts) if fails else Counter()
    changing = counted(state.pages.changing) if fails and state.pages.has_blocks else None
    for pattern in _suspected_classes(fails, holds, shares, len(state.texts)):
        if changing is not None and not changing[pattern]:
            continue
        spared = [with_conditions(rule, unless=(pattern,)) for rule in failing]
        sayable = [rule for each, rule in zip(spared, failing, strict=True) if each]
        effects = zip(state.effects(list(filter(None, spared))), sayable, strict=True)
        gain = sum(effect.saved for effect, rule in effects if is_good(effect, rule))
        if gain > WORTH * holds[pattern]:
            return keeping(rules[0].site, _BY, as_whole(pattern))
    return None


def _suspected_classes(
    fails: dict[str, Counter[int]], holds: Counter[str], shares: Counter[str], urls: int
) -> list[str]:
    found = []
    for pattern, by_rule in fails.items():
        total = by_rule.total()
        rate = total / (total + holds[pattern])
        if pattern == HOME:
            continue  # with its open query it would be every URL that carries its page in a parameter
        if (
            total >= FAILURES
            and len(by_rule) >= _RULES_OF_CLASS
            and rate >= RATE
            and shares[pattern] < _SHARE * urls
        ):
            found.append((-total * rate, pattern))
    return [pattern for _, pattern in sorted(found)[:_TRIED]]


def as_whole(condition: str) -> str:
    """Return the pattern of a whole URL that says what a condition says.

    >>> as_whole("?do=edit")
    '{s}://{h}/{p**}?do=edit&{rest**}'
    """
    head, mark, query = condition.partition("?")
    scheme, _, rest = head.rpartition("://")
    host, slash, path = rest.partition("/")
    written = path if slash else "{p**}"
    return f"{scheme or '{s}'}://{host or '{h}'}/{written}?{query + '&' if mark else ''}{{rest**}}"
