"""The rules of one site, run on URLs made of their own patterns: what a set does before it meets a crawl.

A capture is filled with a value that occurs in no rule, so that whatever another rule does with the URL,
it does to every such value; then, one place at a time, with the other values that could make a
difference: each item of a list, nothing at all, two segments, a trailing slash, a semicolon, a triplet.
The core decides whether a URL really matches.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from undust.rules.compiled import Canonicalizer, rules_in_effect
from undust.rules.language import ANY_SITE, condition_of
from undust.rules.pattern import Capture, Parameter, Pattern, Text, is_stretch, meet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.rules.compiled import OrderedRules, Outcome
    from undust.rules.language import Rule


MOST_URLS = 48
"""URLs made of one rule."""
SAMPLE_SITE = "site.example"
"""Where rules of all sites are tried."""

_OF_CLASS = {
    "int": ("7301",),
    "alpha": ("Zq",),
    "hex": ("7fe3", "ABCD"),
    "word": ("Zq_7-x",),
    "uuid": ("0f0e7d6c-5b4a-4392-8171-605f4e3d2c1b",),
    "date": ("2031-07-29",),
    None: ("Zq7", "zq.7"),
}

# Where the text of a `replace` rule can be in a URL: alone, in the host, the path or the query.
_FRAMES = (
    "http://{site}/Zq{text}7",
    "http://{site}/Zq/{text}/zq",
    "http://{site}/Zq{text}",
    "http://{site}{text}",
    "http://{site}{text}7",
    "http://{site}/{text}",
    "http://{site}/?{text}",
    "http://{site}/?zq=7{text}",
    "http://{site}/?zq=7{text}8",
    "http://{site}/?zq=7{text}&zr=8",
    "http://{text}",
    "http://{text}7",
    "http://{text}/zq",
    "http://www{text}7",
    "http://{text}.{site}/zq",
    "{text}",
    "{text}7",
    "{text}zq/7",
    "{text}{site}/zq",
    "{text}www.{site}/zq",
    "https://{site}/Zq/{text}/zq",
)


def urls_of(rule: Rule, others: Sequence[Rule] = ()) -> list[str]:
    """Return URLs that the rule is likely to match, those that `others` might match too at the end."""
    urls = dict.fromkeys(islice(_own_urls(rule), MOST_URLS))
    for other in others:
        urls.update(dict.fromkeys(_shared_urls(rule, other)))
    return list(urls)


def site_for(rule: Rule) -> str:
    """Return the site on which a rule is tried."""
    return SAMPLE_SITE if rule.site == ANY_SITE else rule.site


def _own_urls(rule: Rule) -> Iterator[str]:
    site = site_for(rule)
    if rule.kind == "replace":
        yield from _framed(rule.source, site)
        return
    pattern = Pattern.parse(rule.source)
    for text in rule.when:
        pattern = meet(pattern, Pattern.parse(text, is_condition=True), is_condition=True) or pattern
    yield from _filled(pattern, site)


def _shared_urls(rule: Rule, other: Rule) -> Iterator[str]:
    site = site_for(rule)
    if rule.kind == other.kind == "replace":
        for text in _overlaps(rule.source, other.source):
            yield from _framed(text, site)
    elif rule.kind != "replace" and other.kind != "replace":
        both = meet(Pattern.parse(rule.source), Pattern.parse(other.source))
        if both is not None:
            yield from islice(_filled(both, site), 2)


def _framed(text: str, site: str) -> Iterator[str]:
    # Anchors fix the place of the text, and the frames try both ends anyway.
    text = text.removeprefix("^").removesuffix("$")
    for frame in _FRAMES:
        yield frame.format(site=site, text=text)


def _overlaps(first: str, second: str) -> Iterator[str]:
    """Yield texts that hold both: one inside the other, or the end of one being the start of the other."""
    ends, starts = (
        [text.removesuffix("$") for text in (first, second)],
        [text.removeprefix("^") for text in (second, first)],
    )
    for left, right in zip(ends, starts, strict=True):
        if right in left:
            yield left
        for size in range(min(len(left), len(right)) - 1, 0, -1):
            if left.endswith(right[:size]):
                yield left + right[size:]
                break


def _filled(pattern: Pattern, site: str) -> Iterator[str]:
    """Yield the pattern filled with first choices, then with each other choice at one place."""
    holes = _holes(pattern, site)
    first = [choices[0] for choices in holes]
    yield "".join(first)
    for place, choices in enumerate(holes):
        for choice in choices[1:]:
            yield "".join((*first[:place], choice, *first[place + 1 :]))


def _holes(pattern: Pattern, site: str) -> list[tuple[str, ...]]:
    """Return the pieces of a URL in order, each with its possible texts."""
    pieces: list[tuple[str, ...]] = [_scheme_texts(pattern.scheme or ()), ("://",)]
    pieces.extend(_host_holes(pattern, site))
    for segment in pattern.path or ((),):
        pieces.extend(
            [("/Zq7", "", "/Zq7/zr", "/", "/zq%3A7")]
            if is_stretch(segment)
            else [("/",), *_text_holes(segment)]
        )
    pieces.append(_query_texts([_entry_texts(entry) for entry in pattern.query or ()]))
    return pieces


def _query_texts(entries: list[tuple[str, ...]]) -> tuple[str, ...]:
    first = [texts[0] for texts in entries]
    varied = (
        [*first[:place], text, *first[place + 1 :]]
        for place, texts in enumerate(entries)
        for text in texts[1:]
    )
    queries = ("&".join(filter(None, texts)) for texts in (first, *varied))
    return tuple(f"?{query}" if query else "" for query in queries)


def _scheme_texts(scheme: Text) -> tuple[str, ...]:
    return (scheme[0],) if scheme and isinstance(scheme[0], str) else ("http", "https")


def _host_holes(pattern: Pattern, site: str) -> Iterator[tuple[str, ...]]:
    host = pattern.host or ()
    port = f":{pattern.port}" if pattern.port else ""
    match host:
        case ((Capture(detail=None),),) | ():
            yield tuple(f"{name}{port}" for name in (site, f"www.{site}"))
        case ((Capture(detail=str(items)),),):
            yield tuple(f"{name}{port}" for name in items.split("|"))
        case _:
            for place, label in enumerate(host):
                yield ("." if place else "",)
                yield from [("zq", "zq.zr")] if is_stretch(label) else _text_holes(label)
            yield (port,)


def _text_holes(text: Text) -> list[tuple[str, ...]]:
    return [(piece,) if isinstance(piece, str) else _values(piece.detail) for piece in text]


def _values(detail: str | None) -> tuple[str, ...]:
    known = _OF_CLASS.get(detail)
    return known or tuple((detail or "").split("|"))


def _entry_texts(entry: Parameter) -> tuple[str, ...]:
    if entry.several is not None:
        return _list_texts(entry.several)
    if entry.value is None:
        return (entry.name,)
    if is_stretch(entry.value):
        return (f"{entry.name}=Zq7", f"{entry.name}=", entry.name)
    holes = _text_holes(entry.value)
    first = "".join(choices[0] for choices in holes)
    others = tuple(choice for choices in holes[:1] if len(holes) == 1 for choice in choices[1:])
    return tuple(f"{entry.name}={value}" for value in (first, *others))


def _list_texts(several: Capture) -> tuple[str, ...]:
    if several.detail is None:
        return ("Zq=7", "", "zr=8&Zq=7", "zr&zr=8&zr=8", "zq=7;zr=8", "zq=7%2F8")
    names = [f"{name[:-1]}zq" if name.endswith("*") else name for name in several.detail.split("|")]
    each = tuple(f"{name}=7" for name in names)
    return (*each, "&".join(each), "") if several.name else (*each, "&".join(each))


MOST_PAIRS = 40_000
"""Pairs of rules of one site for which common URLs are looked for; 200 rules have that many."""


class NumberedRule(NamedTuple):
    """A rule and its place in the set, from 1 on."""

    number: int
    rule: Rule

    def __hash__(self) -> int:
        return self.number


class Did(NamedTuple):
    """What one rule did in a run."""

    by: NumberedRule
    url: str


@dataclass(frozen=True)
class UrlRun:
    """One URL on its way through all rules of its site."""

    url: str
    steps: tuple[Did, ...]
    masks: tuple[Did, ...]
    """What was done for the key alone."""
    canonical: str
    key: str
    outcome: Outcome

    def has(self, tested: NumberedRule) -> bool:
        """Whether a rule changed the URL."""
        return any(step.by.number == tested.number for step in (*self.steps, *self.masks))

    @property
    def first(self) -> NumberedRule:
        """The rule that acted first."""
        return (*self.steps, *self.masks)[0].by

    @property
    def circle(self) -> tuple[tuple[NumberedRule, ...], tuple[str, ...]]:
        """The rules of the cycle at the end of the run, and the URLs between them."""
        end = self.steps[-1].url
        urls = [step.url for step in self.steps]
        start = urls.index(end) if end in urls[:-1] else -1
        around = self.steps[start + 1 :]
        return tuple(step.by for step in around), (end, *(step.url for step in around[:-1]))


def trials_of(rules: OrderedRules) -> Iterator[Trial]:
    """Yield the rules in effect site by site, each site with the rules of all sites after its own."""
    by_site: dict[str, list[NumberedRule]] = {}
    acting = {rule.id for rule in rules_in_effect(rules)}
    for number, rule in enumerate(rules, 1):
        if rule.id in acting:
            by_site.setdefault(rule.site, []).append(NumberedRule(number, rule))
    shared = by_site.get(ANY_SITE, [])
    for site, own in by_site.items():
        behind = [] if site == ANY_SITE else [each for each in shared if site not in each.rule.except_sites]
        yield Trial(rules, tuple(own), tuple(behind))


@dataclass(frozen=True)
class Trial:
    """One site's own rules, and those of all sites, which follow them."""

    whole: OrderedRules
    """The set that they are of."""
    own: tuple[NumberedRule, ...]
    shared: tuple[NumberedRule, ...]
    _swapped: dict[tuple[int, int], tuple[Canonicalizer, Canonicalizer]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @cached_property
    def rules(self) -> tuple[NumberedRule, ...]:
        """The rules in the order in which they are tried."""
        return self.own + self.shared

    @cached_property
    def canonicalizer(self) -> Canonicalizer:
        """All rules of the site."""
        return self._compiled(self.rules)

    @cached_property
    def runs(self) -> dict[int, tuple[UrlRun, ...]]:
        """For each own rule, by number, the runs of URLs on which it acts when it is alone."""
        return {each.number: tuple(map(self.run, self._urls_of(each))) for each in self.own}

    def candidates(self, tested: NumberedRule) -> list[str]:
        """Return the URLs made from a rule, alone and with each other rule of the site."""
        near = self.rules if len(self.own) * len(self.rules) <= MOST_PAIRS else ()
        return urls_of(tested.rule, [each.rule for each in near if each is not tested])

    def _urls_of(self, tested: NumberedRule) -> Iterator[str]:
        alone = self._compiled([tested])
        for url in self.candidates(tested):
            explained = alone.explain(url)
            if explained.steps or explained.compared or explained.masks:
                yield explained.normalized

    def run(self, url: str) -> UrlRun:
        """Return what all rules of the site do to a URL."""
        explained = self.canonicalizer.explain(url)
        did = [
            tuple(Did(self.rules[step.number - 1], step.url) for step in steps)
            for steps in (explained.steps, (*explained.compared, *explained.masks))
        ]
        return UrlRun(
            explained.normalized, did[0], did[1], explained.canonical, explained.key, explained.outcome
        )

    def is_needed(self, tested: NumberedRule) -> bool:
        """Return whether another rule is only safe together with this one, or repeats what this one keeps."""
        said = condition_of(tested.rule) if tested.rule.kind == "keep" else None
        return any(tested.rule.id in each.rule.needs or said in each.rule.unless for each in self.rules)

    def stands_before(self, first: NumberedRule, second: NumberedRule) -> bool:
        """Return whether a rule is tried before another one."""
        places = [each.number for each in self.rules]
        return places.index(first.number) < places.index(second.number)

    def swapped(self, first: NumberedRule, tested: NumberedRule) -> tuple[Canonicalizer, Canonicalizer]:
        """Return all rules of the site with `tested` before `first`, in the two ways that move one rule.

        Either `tested` moves up to stand right before `first`, or `first` moves down to stand right behind
        `tested`. Where one of them changes nothing, the order of the two rules is not what matters.
        """
        key = first.number, tested.number
        if key not in self._swapped:
            up = _moved(self.rules, tested, first, behind=False)
            down = _moved(self.rules, first, tested, behind=True)
            self._swapped[key] = self._compiled(up), self._compiled(down)
        return self._swapped[key]

    def is_special_case(self, first: NumberedRule, tested: NumberedRule) -> bool:
        """Return whether a rule acts on every URL that was made from a rule before it.

        Then the special rule has to come first, or it would never be applied.
        """
        alone = self._compiled([tested])
        found = (alone.explain(run.url) for run in self.runs[first.number])
        return all(each.steps or each.compared or each.masks for each in found)

    def is_same_without(self, gone: Sequence[NumberedRule], runs: Sequence[UrlRun]) -> bool:
        """Whether all these URLs end in the same place without some rules."""
        numbers = {each.number for each in gone}
        rest = self._compiled(each for each in self.rules if each.number not in numbers)
        return all(rest(run.url) == run.canonical and rest.key(run.url) == run.key for run in runs)

    def _compiled(self, rules: Iterable[NumberedRule]) -> Canonicalizer:
        # All needs are met here, and a rule is also looked at alone.
        return Canonicalizer(self.whole.with_rules(replace(each.rule, needs=()) for each in rules))


def _moved(
    rules: Iterable[NumberedRule], moved: NumberedRule, to: NumberedRule, *, behind: bool
) -> list[NumberedRule]:
    left = [each for each in rules if each.number != moved.number]
    place = [each.number for each in left].index(to.number) + behind
    return [*left[:place], moved, *left[place:]]
