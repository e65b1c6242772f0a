"""Which URLs a rule is tried on, in which order: few fetches, many pages.

Rules of one site share what was fetched. So all of them draw from the same pages in the same order: the URLs
are shuffled once, their pages are what the rules together make of them, and each rule takes of each page a
URL that it changes. A URL that two rules change is fetched once, and so is a target that both lead to. One
URL of each page comes before the second of any, or a single page with a thousand addresses would decide.

A rule that is still undecided is tried where it is most likely to fail: on URLs like those that were wrong,
and with other values. A rule that removes a number from URLs, or writes one number for all, applies to every
number. If few of its URLs were seen, or one of them contradicts it, other numbers show more. Short lists show
one page for small numbers and for those past their end, so that large ones are tried first. And if one order
of a list shows another page, other orders of that list may too. URLs with such values are made where they
were not seen.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules import RuleSet
from undust.urls import Url, normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.rules import Canonicalizer, Rule

    Ints = NDArray[np.int64]


EXAMPLE, _SHOWN, LISTED, NOT_SHOWN = range(4)
"""How promising a URL is: of the rule's own examples; seen with a page; only listed; seen without a page."""
_OK = 200
_MASK = ":any"
"""What only rules have that change no URL, but its key."""
_HIDDEN = "***"
"""The mask of secret values in examples; a URL with it cannot be fetched."""


MOST_DOUBTFUL = 6
"""URLs that may contradict a rule, which are fetched before all others."""
FAR = 0.01
"""Sizes that differ by more than this share are those of two pages, by size alone."""
MOST_CLASSES = 8
"""Classes of URLs that a rule is tried on before it is confirmed, those with most URLs."""
_SMALL_CLASS = 0.02
"""The share of a rule's URLs below which a class is not tried."""
_CHOICE = 0.5
"""Distinct values that a rule removes, as a share of its URLs, up to which they are a choice of few; the
values of a session id are nearly as many as its URLs."""
_WORD, _DIGITS = 12, 2
"""Characters of a value that may be a word of the site's scheme, or one of few numbers."""


class SampleTrial(NamedTuple):
    """A URL to try a rule on."""

    url: str
    target: str
    of: str
    """Its class: URLs of one class are likely to be made by one part of the site."""
    classes: int
    """How many classes there are to ask about."""
    is_last: bool = False
    """Whether no other URL of its class is left."""
    is_choice: bool = False
    """Whether what the rule removes is one of few values, such as an order or a colour: most of them may do
    nothing, and one show another page."""


@dataclass(frozen=True)
class Samples:
    """The URLs of one site, in normal form and sorted, each with its place in the common order."""

    urls: pa.Array
    promise: NDArray[np.int8]
    page: Ints
    """The first place of its page: that of a URL of the page."""
    place: Ints
    """Its own place in the shuffled order of all URLs."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Of URLs, if a log or an index has them."""
    rules: tuple[Rule, ...] = ()
    """That are tried on them, or hold together with those."""
    visits: tuple[Rule, ...] = ()
    """Rules that remove what names visits on most sites: sizes are compared without it."""
    doubtful: frozenset[str] = frozenset()
    """URLs that showed another page than one that some rule made of them."""

    def pairs(self, rule: Rule, attempts: int) -> Iterator[tuple[str, str]]:
        """Yield URLs that a rule changes, with the outcome; for a mask, pairs of URLs that it makes equal."""
        canonicalizer = RuleSet([rule.with_status("active")]).compile()
        if _MASK in (rule.target or ""):
            yield from self._masked(canonicalizer, attempts)
            return
        rows = canonicalizer.touched(self.urls)[0].to_numpy()
        examples = {normalize(url) for url, _ in rule.examples if _HIDDEN not in url}
        own = pc.is_in(self.urls.take(pa.array(rows)), pa.array(sorted(examples), self.urls.type))
        promise = np.where(np.asarray(own, np.bool_), EXAMPLE, self.promise[rows])
        for row in self._in_order(rows, promise)[:attempts]:
            url = self.urls[row].as_py()
            yield url, canonicalizer.program.step(url)[1]

    def trials(self, rule: Rule, attempts: int) -> Iterator[SampleTrial]:
        """Yield what `pairs` does, but each removed value and each class of URLs in turn.

        What differs is found early: one value may be the default, and one part of the site ignore it.
        """
        every = list(self.pairs(rule, len(self.urls)))
        classes = [class_of(url) for url, _ in every]
        counts = Counter(classes)
        large = sum(count >= _SMALL_CLASS * len(every) for count in counts.values())
        removed = [removed_by(url, target) for url, target in every]
        is_choice = 1 < len(set(removed)) <= _CHOICE * len(every)
        order = sorted(range(len(every)), key=lambda place: (-counts[classes[place]], classes[place], place))
        order = _in_turn(_in_turn(order, classes), removed)
        # What contradicts the rule comes first: it decides most.
        doubtful = self._doubtful_of(rule, every)
        first = [place for place in order if place in doubtful][:MOST_DOUBTFUL]
        order = first + [place for place in order if place not in first]
        asked = min(large or len(counts), MOST_CLASSES)
        last = {classes[place]: place for place in order}
        for place in order[:attempts]:
            kind = classes[place]
            yield SampleTrial(*every[place], kind, asked, last[kind] == place, is_choice)

    def _doubtful_of(self, rule: Rule, every: Sequence[tuple[str, str]]) -> set[int]:
        """Return the places of pairs that may be two pages, by their sizes or because one was another before.

        A log seldom has both URLs of a pair as they are. So the sizes of all URLs count that the other rules
        make equal to one of the two, or that this rule makes equal to the target. And those count that are
        equal except for visits, since another rule may be so wrong that all sizes are alike.
        """
        found = {place for place, pair in enumerate(every) if any(url in self.doubtful for url in pair)}
        if self.sizes and every:
            others = [other.with_status("active") for other in self.rules if other.id != rule.id]
            found |= self._apart_by_size(every, others) | self._apart_by_size(every, self.visits)
        return found

    def _apart_by_size(self, every: Sequence[tuple[str, str]], beside: Sequence[Rule]) -> set[int]:
        """Return the places of pairs whose sizes are far apart, where other rules make URLs equal."""
        found: set[int] = set()
        key = RuleSet(beside).compile().batch
        known = pa.array(list(self.sizes), pa.large_string())
        sizes: dict[str, set[int]] = {}
        for form, size in zip(key(known, keys=True).to_pylist(), self.sizes.values(), strict=True):
            sizes.setdefault(form, set()).add(size)
        forms = [
            key(pa.array(side, pa.large_string()), keys=True).to_pylist() for side in zip(*every, strict=True)
        ]
        for place, (left, right) in enumerate(zip(*forms, strict=True)):
            own = sizes.get(left, set())
            if own and not _is_near(own, sizes.setdefault(right, own)):
                found.add(place)
        return found

    def _masked(self, canonicalizer: Canonicalizer, attempts: int) -> Iterator[tuple[str, str]]:
        """Yield neighbours among URLs that have one key and are not the same."""
        keys = canonicalizer.batch(self.urls, keys=True)
        rows = np.flatnonzero(np.asarray(pc.not_equal(keys, self.urls), np.bool_))
        rows = self._in_order(rows, self.promise[rows])
        before: dict[str, str] = {}
        for row in rows:
            url, key = self.urls[row].as_py(), keys[row].as_py()
            if attempts and key in before:
                attempts -= 1
                yield url, before[key]
            before[key] = url

    def _in_order(self, rows: Ints, promise: NDArray[np.int8]) -> Ints:
        """Return rows by their promise, one of each page, then the next one of each page, and so on."""
        order = np.lexsort((self.place[rows], self.page[rows]))
        rows, promise = rows[order], promise[order]
        starts = np.flatnonzero(np.diff(self.page[rows], prepend=-1))
        turn = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
        return rows[np.lexsort((self.page[rows], turn, promise))]

    def scattered(self, rules: Sequence[Rule]) -> Iterator[str]:
        """Yield URLs that some rule changes, of any page: a fair sample of the site."""
        active = RuleSet([rule.with_status("active") for rule in rules])
        rows = np.unique(active.compile().touched(self.urls)[0].to_numpy())
        for row in rows[np.lexsort((self.place[rows], self.promise[rows]))]:
            yield self.urls[row].as_py()


def class_of(url: str) -> str:
    """Return what URLs have in common that one part of a site makes: host, folder, parameters, words in them.

    >>> class_of("http://a.test/c/17?sort=price&sid=9f86d081884c")
    'a.test/c/0?sid&sort=price'
    """
    parsed = Url.parse(url)
    if parsed is None:
        return ""
    segments = ["0" if any(map(str.isdigit, part)) else part for part in parsed.path.split("/")[1:]]
    folder = "/".join([*segments[:1], *("*" if part != "0" else part for part in segments[1:])])
    names = sorted(_shown(part) for part in (parsed.query or "").split("&") if part)
    return f"{parsed.host}/{folder}?{'&'.join(names)}"


def _shown(parameter: str) -> str:
    name, _, value = parameter.partition("=")
    is_word = value.isalpha() and len(value) <= _WORD
    return parameter if is_word or (value.isdigit() and len(value) <= _DIGITS) else name


def _is_near(some: set[int], others: set[int]) -> bool:
    return any(abs(one - other) <= FAR * max(one, other) for one in some for other in others)


def removed_by(url: str, target: str) -> tuple[str, ...]:
    """Return the parts of a URL that are not in what a rule makes of it.

    >>> removed_by("http://a.test/c/17?sort=price&page=2", "http://a.test/c/17?page=2")
    ('sort=price',)
    """
    left = Counter(parts_of(url)) - Counter(parts_of(target))
    return tuple(sorted(left))


def parts_of(url: str) -> list[str]:
    """Return the host, the segments and the parameters of a URL."""
    return [part for part in re.split(r"[/?&;#]", url) if part]


def _in_turn(places: Iterable[int], kinds: Sequence[Hashable]) -> list[int]:
    """Return places with the first of each kind before the second of any, else in their order."""
    turn: Counter[Hashable] = Counter()
    order: list[tuple[int, int, int]] = []
    for number, place in enumerate(places):
        order.append((turn[kinds[place]], number, place))
        turn[kinds[place]] += 1
    return [place for *_, place in sorted(order)]


def samples_from(urls: pa.Array, statuses: pa.Array, rules: Sequence[Rule], seed: int = 0) -> Samples:
    """Return the URLs of one site to try its rules on: those listed, and those of the rules' examples."""
    of_rules = [url for rule in rules for pair in rule.examples for url in pair[:1] if _HIDDEN not in url]
    seen = pa.table({"url": normalize(urls.cast(pa.string())), "status": statuses.cast(pa.int64())})
    told = pa.table(
        {"url": normalize(pa.array(of_rules, pa.string())), "status": pa.nulls(len(of_rules), pa.int64())}
    )
    each = pa.concat_tables([seen, told]).group_by("url").aggregate([("status", "min")]).sort_by("url")
    every = each.column("url").combine_chunks()
    status = each.column("status_min").combine_chunks()
    known = np.asarray(pc.is_valid(status), np.bool_)
    is_ok = np.asarray(pc.fill_null(pc.equal(status, _OK), fill_value=False), np.bool_)
    promise = np.where(is_ok, _SHOWN, np.where(known, NOT_SHOWN, LISTED)).astype(np.int8)
    place = np.random.Generator(np.random.PCG64(seed)).permutation(len(every))
    canonical = RuleSet([rule.with_status("active") for rule in rules]).compile().batch(every)
    code = canonical.dictionary_encode().indices.to_numpy()
    first = np.full(len(every), len(every))
    np.minimum.at(first, code, place)
    return Samples(every, promise, first[code], place, rules=tuple(rules))


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
