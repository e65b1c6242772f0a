"""Whether what a rule removes was seen to have no effect: each parameter by itself, and with several values.

A rule for lists that removes all but the page number may be right on every list and never have met two
searches; and a parameter with one value says nothing about its others.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from undust.privacy import is_random
from undust.rules import RuleSet
from undust.searching.forgotten import is_page_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.learning.state import Effect, State
    from undust.rules import Rule

_SEVERAL, _SHARE = 3, 0.15
"""At least this many proofs, and this share of them, must come from values other than the most frequent."""
_OF_ONE_VISITOR = 10
"""Proofs with one value that looks random: more pages than one has."""
UNPROVED = 0.02
"""Of the URLs that a rule changes, at most this share may have a parameter that it removes untested."""
PROOFS, _NAMES = 2, 3
"""A parameter is idle with this many proofs; to remove any name takes this many idle ones."""
_KNOWN = frozenset({"utm_"})
"""How names start that no site has for itself: other sites add them to links, to count visits."""
_FIRST = frozenset({"0", "1"})
_DROP = re.compile(r"\{s\}://\{h\}/\{p\*\*\}\?((?:[^={}&]+=\{\*\*\}&)+)\{rest\*\*\}")
_DROPPED = re.compile(r"([^={}&]+)=")
_FAMILY = re.compile(r"[^?]*\?\{\*\*:([^{}|]+)\*\}&\{rest\*\*\}")
_KEEP_ONLY = re.compile(r"[^?]*\?\{k\*\*:([^{}]+)\}&\{\*\*\}")


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
    return True


def _has_several_values(state: State, effect: Effect, name: str, least_numbers: int) -> bool:
    """Return whether a parameter was idle with several values; one alone says nothing about the others.

    Where most values are small numbers, the same on many pages, short lists show one page for all of them,
    and longer ones do not: larger numbers must have been idle on many pages.
    """
    proved = Counter(
        parameter
        for url in _proofs(state, effect)
        for parameter in _query(url)
        if parameter.partition("=")[0] == name
    )
    if is_of_one_visitor(proved):
        return True
    values = Counter(parameter.partition("=")[2] for parameter in proved.elements())
    if _may_be_pages(values):
        return sum(count for value, count in values.items() if is_page_number(value)) >= least_numbers
    others = proved.total() - max(proved.values(), default=0)
    return others >= _SEVERAL and others >= _SHARE * proved.total()


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
        for url in _proofs(state, effect)
        for name in {parameter.partition("=")[0] for parameter in _query(url)}
        if name.startswith(head)
    )
    least = PROOFS if head in _KNOWN else _NAMES
    return sum(count >= PROOFS for count in proved.values()) >= least


def _proofs(state: State, effect: Effect) -> list[str]:
    return state.some_texts(effect.sources[effect.merging & ~effect.failing])


def _each_is_idle(state: State, effect: Effect, rule: Rule, kept: frozenset[str], least_numbers: int) -> bool:
    """Return whether each removed parameter was seen to differ between URLs of one page."""
    urls = state.some_texts(effect.sources)
    becomes = RuleSet([rule]).compile()
    together: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for url, page in zip(urls, state.page_of_image[effect.sources].tolist(), strict=True):
        together[becomes(url), page].append(url)
    for (image, page), group in together.items():
        row = bisect_left(state.texts, image)  # the texts are in order
        if state.texts[row : row + 1] == [image] and state.page_of_image[row] == page:
            group.append(image)
    proofs = Counter(name for group in together.values() for name in _differing(group, kept))
    idle = {name for name, count in proofs.items() if count >= PROOFS}
    idle -= {name for name in _page_names(urls) if proofs[name] < least_numbers}
    if len(idle) < _NAMES:
        return False
    untested = sum(not idle.issuperset(_forgotten(url, kept)) for url in urls)
    return untested <= UNPROVED * len(urls)


def _page_names(urls: Iterable[str]) -> set[str]:
    """Return the parameters that may say which page of a list is meant."""
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, _, value in (parameter.partition("=") for url in urls for parameter in _query(url)):
        values[name][value] += 1
    return {name for name, some in values.items() if _may_be_pages(some)}


def _differing(group: list[str], kept: frozenset[str]) -> Iterator[str]:
    """Yield the names that are removed and have several values in the URLs of a group."""
    if len(group) < 2:  # noqa: PLR2004 -- one alone differs from nothing
        return
    having = Counter(parameter for url in group for parameter in sorted(set(_query(url))))
    found = {parameter.partition("=")[0] for parameter, count in having.items() if count < len(group)}
    yield from sorted(found - kept)


def _forgotten(url: str, kept: frozenset[str]) -> set[str]:
    return {parameter.partition("=")[0] for parameter in _query(url)} - kept


def _query(url: str) -> list[str]:
    query = url.partition("?")[2]
    return query.split("&") if query else []
