"""URLs that were not seen yet, made of numbers that were: a rule can be asked about with them too.

A rule that removes a number from URLs, or writes one number for all, applies to every number. If few of its
URLs were seen, or one of them contradicts it, other numbers show more. Short lists show one page for small
numbers and for those past their end, so that large ones are tried first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undust.asking.samples import removed_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_DIGITS = 6
"""Of a number that may count something; longer ones are times, or name visits."""
MOST_NUMBERS = 40
"""Numbers that are tried in one place."""
_PARAMETER = re.compile(rf"([^=]+)=([0-9]{{1,{MOST_DIGITS}}})")
_ANY_NUMBER = r"[=/_](?P<number>[0-9]{1,%d})(?:[&#?/;.]|$)"


class NumberPlace(NamedTuple):
    """A parameter of a URL whose number a rule removes."""

    name: str
    number: str
    is_replaced: bool
    """Whether the rule writes another number there. Then the rest of a URL matters little."""

    def with_number(self, url: str, number: str) -> str:
        """Return the URL with another number.

        >>> NumberPlace("page", "2", is_replaced=False).with_number("http://a.test/?id=2&page=2", "31")
        'http://a.test/?id=2&page=31'
        """
        place = re.compile(rf"(?<=[?&;]){re.escape(self.name)}={self.number}(?=[&;#]|$)")
        return place.sub(f"{self.name}={number}", url, count=1)


def number_place(url: str, target: str) -> NumberPlace | None:
    """Return where the number is that a rule removes, if that is all it removes.

    >>> number_place("http://a.test/member?u=5&x=1", "http://a.test/member?u=1&x=1")
    NumberPlace(name='u', number='5', is_replaced=True)
    >>> number_place("http://a.test/item?sid=9f86d081884c", "http://a.test/item")
    """
    removed = removed_by(url, target)
    found = _PARAMETER.fullmatch(removed[0]) if len(removed) == 1 else None
    if found is None:
        return None
    return NumberPlace(found[1], found[2], bool(removed_by(target, url)))


def numbers_for(place: NumberPlace, urls: pa.Array) -> list[str]:
    """Return numbers to try in a place: those of its name, the largest first, then others of its length."""
    own = _numbers(urls, rf"[?&;]{re.escape(place.name)}=(?P<number>[0-9]{{1,{MOST_DIGITS}}})(?:[&;#]|$)")
    longest = max([len(place.number), *map(len, map(str, own))])
    others = _numbers(urls, _ANY_NUMBER % longest) - own
    return list(map(str, [*sorted(own, reverse=True), *sorted(others)]))[:MOST_NUMBERS]


def _numbers(urls: pa.Array, pattern: str) -> set[int]:
    found = pc.extract_regex(urls, pattern)
    return {int(text) for text in pc.struct_field(found, "number").unique().to_pylist() if text}


def made_urls(
    pairs: Sequence[tuple[str, str]],
    urls: pa.Array,
    step: Callable[[str], tuple[object, str]],
) -> Iterator[tuple[str, str]]:
    """Yield URLs that are not among those of a site, with what a rule makes of them.

    Args:
        pairs: URLs that the rule changes, with the outcome; the most important first.
        urls: All that were seen of the site.
        step: What the rule makes of a URL.

    """
    bases = [(url, place) for url, target in pairs if (place := number_place(url, target)) is not None]
    if not bases:
        return
    first = bases[0][1]
    bases = [(url, place) for url, place in bases if place.name == first.name]
    numbers = numbers_for(first, urls)
    if first.is_replaced:
        made = [place.with_number(url, number) for url, place in bases[:1] for number in numbers]
    else:
        made = [place.with_number(url, number) for number in numbers for url, place in bases]
    made = list(dict.fromkeys(made))
    is_seen = pc.is_in(pa.array(made, urls.type), urls).to_pylist()
    for url in (url for url, seen in zip(made, is_seen, strict=True) if not seen):
        target = step(url)[1]
        if target != url:
            yield url, target
