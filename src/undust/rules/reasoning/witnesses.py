"""URLs made from the rules themselves, to see what a rule set does before it meets a crawl.

A capture is filled with a value that occurs in no rule, so that whatever another rule does with the URL,
it does to every such value; then, one place at a time, with the other values that could make a
difference: each item of a list, nothing at all, two segments, a trailing slash, a semicolon, a triplet.
Whether a URL really matches is for the core to say.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from undust.rules.language import ANY_SITE
from undust.rules.pattern import Capture, Parameter, Pattern, Text, is_stretch, meet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    # Anchors say where the text must stand, and the frames try both ends anyway.
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
