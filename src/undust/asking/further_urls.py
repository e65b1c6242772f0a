"""Where a rule that is still undecided is most likely to fail: like what was wrong, and with other values.

A rule that removes a number from URLs, or writes one number for all, applies to every number. If few of its
URLs were seen, or one of them contradicts it, other numbers show more. Short lists show one page for small
numbers and for those past their end, so that large ones are tried first. And if one order of a list shows
another page, other orders of that list may too. URLs with such values are made where they were not seen.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undust.asking.samples import parts_of, removed_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_DIGITS, MOST_LETTERS = 6, 12
"""Of a number that may count something, longer ones are times, or name visits; and of a word of a site."""
MOST_TRIED_VALUES = 40
"""Values that are tried in one place."""
LEAST_SEEN = 2
"""URLs with a word, without which it may be the name of a visitor."""
_VALUE = f"[0-9]{{1,{MOST_DIGITS}}}|[A-Za-z]{{1,{MOST_LETTERS}}}"
_PARAMETER = re.compile(f"([^=]+)=({_VALUE})")
_ANY_NUMBER = r"[=/_](?P<value>[0-9]{1,%d})(?:[&#?/;.]|$)"


class ValuePlace(NamedTuple):
    """A parameter of a URL whose value a rule removes."""

    name: str
    value: str
    is_replaced: bool
    """Whether the rule writes another value there. Then the rest of a URL matters little."""

    @property
    def is_number(self) -> bool:
        """Whether the value is one."""
        return self.value.isdigit()

    def with_value(self, url: str, value: str) -> str:
        """Return the URL with another value.

        >>> ValuePlace("page", "2", is_replaced=False).with_value("http://a.test/?id=2&page=2", "31")
        'http://a.test/?id=2&page=31'
        """
        place = re.compile(rf"(?<=[?&;]){re.escape(self.name)}={self.value}(?=[&;#]|$)")
        return place.sub(f"{self.name}={value}", url, count=1)


def value_place(url: str, target: str) -> ValuePlace | None:
    """Return where the number or word is that a rule removes, if that is all it removes.

    >>> value_place("http://a.test/member?u=5&x=1", "http://a.test/member?u=1&x=1")
    ValuePlace(name='u', value='5', is_replaced=True)
    >>> value_place("http://a.test/item?sid=9f86d081884c", "http://a.test/item")
    """
    removed = removed_by(url, target)
    found = _PARAMETER.fullmatch(removed[0]) if len(removed) == 1 else None
    if found is None:
        return None
    return ValuePlace(found[1], found[2], bool(removed_by(target, url)))


def values_for(place: ValuePlace, urls: pa.Array) -> list[str]:
    """Return values to try in a place, as they were seen.

    Numbers of its name, the largest first, then others of its length; words of its name, usual ones first.
    """
    seen = _seen(urls, rf"[?&;]{re.escape(place.name)}=(?P<value>{_VALUE})(?:[&;#]|$)")
    if not place.is_number:
        words = [word for word, count in seen.most_common() if word.isalpha() and count >= LEAST_SEEN]
        return words[:MOST_TRIED_VALUES]
    own = {int(text) for text in seen if text.isdigit()}
    longest = max([len(place.value), *map(len, map(str, own))])
    others = set(map(int, _seen(urls, _ANY_NUMBER % longest))) - own
    return list(map(str, [*sorted(own, reverse=True), *sorted(others)]))[:MOST_TRIED_VALUES]


def _seen(urls: pa.Array, pattern: str) -> Counter[str]:
    """Return what a pattern finds in URLs, in the order of the alphabet, and how often."""
    values = pc.struct_field(pc.extract_regex(urls, pattern), "value").drop_null()
    counts = {each["values"]: each["counts"] for each in values.value_counts().to_pylist()}
    return Counter(dict(sorted(counts.items())))


def like_those(wrong: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pairs of a URL and its outcome, those first that have most in common with URLs that were wrong.

    A part that few URLs have counts more: the name of a list, and not that of its order.

    >>> pairs = [(f"/q?list={name}&order={n}", "") for name, n in (("a", 1), ("c", 1), ("b", 2))]
    >>> like_those(["/q?list=b&order=1"], pairs)[0]
    ('/q?list=b&order=2', '')
    """
    parts = [set(parts_of(url)) for url, _ in pairs]
    counts = Counter(part for some in parts for part in some)
    known = [set(parts_of(url)) for url in wrong]

    def shared(place: int) -> float:
        return max((sum(1.0 / counts[part] for part in each & parts[place]) for each in known), default=0.0)

    return [pairs[place] for place in sorted(range(len(pairs)), key=shared, reverse=True)]


def made_urls(
    wrong: Sequence[tuple[str, str]],
    right: Sequence[tuple[str, str]],
    urls: pa.Array,
    step: Callable[[str], tuple[object, str]],
) -> Iterator[tuple[str, str]]:
    """Yield URLs that are not among those of a site, with what a rule makes of them.

    Args:
        wrong: URLs that the rule changes, with the outcome, which is another page.
        right: The same, where it is the same page. They are used for numbers only.
        urls: All that were seen of the site.
        step: What the rule makes of a URL.

    """
    places = [(url, place) for url, target in wrong if (place := value_place(url, target)) is not None]
    others = [(url, place) for url, target in right if (place := value_place(url, target)) is not None]
    places += [(url, place) for url, place in others if place.is_number]
    if not places:
        return
    first = places[0][1]
    alike = [each for each in places if each[1].name == first.name and each[1].is_number == first.is_number]
    values = values_for(first, urls)
    if first.is_replaced:
        made = [place.with_value(url, value) for url, place in alike[:1] for value in values]
    else:
        made = [place.with_value(url, value) for value in values for url, place in alike]
    made = list(dict.fromkeys(made))
    is_seen = pc.is_in(pa.array(made, urls.type), urls).to_pylist()
    for url in (url for url, seen in zip(made, is_seen, strict=True) if not seen):
        target = step(url)[1]
        if target != url:
            yield url, target
