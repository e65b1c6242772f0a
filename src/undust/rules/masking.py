"""Which texts of a URL rules remove: those need be less random than others to look secret.

What a rule removes is often the session id of one visitor, and often a page number or a title. `secrets`
decides which it is, and `masking` hides it; here is only found where it stands.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from undust.privacy import Context, looks_secret
from undust.privacy.masking import pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.rules.language import Rule

_PARAMETER = re.compile(r"[?&]([^={}&]+)=[^&]*\{\*")
_FAMILY = re.compile(r"\{\*\*:([^}]+)\}")
_MASKED = re.compile(r"[?&]([^={}&]+)=[^&]*:any\}")
_IN_PATH = re.compile(r";([^=;{}/?]+)=\{\*[^}]*\}")

_SIDE = re.compile(r"[^:/]+://[^/?]*([^?]*)(?:\?(.*))?", re.DOTALL)
_IGNORED = re.compile(r"\{(\w+):any\}")
_CAPTURE = re.compile(r"(\{[^}]*\})")
_KEPT = re.compile(r"(?:^|&)(?:\{\w+\*\*:([^}]+)\}|([^={}&]+))")
_WHOLE = re.compile(r"(?:^|&)\{\*{1,2}\}(?:&|$)")
_CLASSES = {
    "int": "[0-9]+",
    "alpha": "[A-Za-z]+",
    "hex": "[0-9A-Fa-f]+",
    "word": r"[A-Za-z0-9_\-]+",
}
_RUN = "[^/;&]+"
_MOST_CAPTURES, _LONGEST = 2, 500
"""Of a segment that is taken apart; beyond, a stranger's rule could keep us busy for long."""


def forgotten_names(rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return what rules remove, for `removed_from`.

    That is names of parameters (`;name` for those in a path), paths with captures that are discarded
    (`/s/{*:hex}/{p**}`, and behind `?` the parameters that such a path keeps), and texts (`=text`) that
    look like secrets and are on one side of a rule only.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} -> {s}://{h}/{p}?{rest}"
    >>> forgotten_names([Rule.parse(text, site="a.test")])
    ('sid',)
    """
    names: dict[str, None] = {}
    for rule in rules:
        if rule.kind == "rewrite":
            names |= dict.fromkeys(forgotten_parameters(rule))
            names |= dict.fromkeys(_forgotten_paths(rule))
        if rule.kind != "keep":
            one_sided = pieces_of(rule.source) ^ pieces_of(rule.target or "")
            secret = (text for text in sorted(one_sided) if looks_secret(text, Context.REMOVED))
            names |= dict.fromkeys(f"={text}" for text in secret)
    return tuple(names)


def forgotten_parameters(rule: Rule) -> tuple[str, ...]:
    """Return the names of the parameters whose values a rule removes, `;name` for those in a path."""
    names = dict.fromkeys(_PARAMETER.findall(rule.source))
    names |= dict.fromkeys(_MASKED.findall(rule.target or ""))
    names |= dict.fromkeys(name for some in _FAMILY.findall(rule.source) for name in some.split("|"))
    names |= dict.fromkeys(f";{name}" for name in _IN_PATH.findall(rule.source))
    return tuple(names)


def _forgotten_paths(rule: Rule) -> Iterator[str]:
    """Yield the path of a rule, if it removes a part of it or parameters that it does not name."""
    ignored = set(_IGNORED.findall(rule.target or ""))
    source = re.sub(r"\{(\w+)", lambda found: "{*" if found[1] in ignored else found[0], rule.source)
    if side := _SIDE.fullmatch(source):
        path, query = side[1] or "/", side[2] or ""
        if _WHOLE.search(query):
            kept = [name for family, one in _KEPT.findall(query) for name in (family or one).split("|")]
            yield f"{path}?{'|'.join(kept)}"
        elif "{*" in _IN_PATH.sub("", path):
            yield path


def removed_from(url: str, names: Sequence[str]) -> set[str]:
    """Return the pieces of a URL that rules with these names remove.

    >>> sorted(removed_from("http://a.test/;sid=4?id=7&utm_source=me", [";sid", "utm_*"]))
    ['4', 'me', 'utm_source']
    >>> removed_from("http://a.test/s/4f2a90cc1b/books", ["/s/{*:hex}/{p**}"])
    {'4f2a90cc1b'}
    """
    head, _, query = url.partition("?")
    hidden, found = list(names), []
    for name in names:
        if name.startswith(";"):
            found += re.findall(rf"{re.escape(name)}=([^;/]+)", head, flags=re.IGNORECASE)
        elif name.startswith("/"):
            texts, others = _in_path(head, name, query)
            found += texts
            hidden += others
        elif name.startswith("="):
            found.append(name[1:])
    found += [parameter for parameter in query.split("&") if _is_among(parameter.partition("=")[0], hidden)]
    return {piece for text in found for piece in pieces_of(text)}


def _in_path(head: str, place: str, query: str) -> tuple[list[str], list[str]]:
    """Return the texts of a path that a place removes, and the parameters that go with it."""
    pattern, is_about_all, kept = place.partition("?")
    start = head.find("/", head.find("://") + 3)
    path = head[start:] if start >= 0 else "/"
    removed = _removed(path.split("/"), pattern.split("/"))
    if removed is None:
        return [], []
    names = {parameter.partition("=")[0] for parameter in query.split("&")} if is_about_all else set()
    return removed, sorted(name for name in names if not _is_among(name, kept.split("|")))


def _is_among(name: str, names: Sequence[str]) -> bool:
    return any(name == one or (one.endswith("*") and name.startswith(one[:-1])) for one in names)


def _removed(segments: list[str], pattern: list[str]) -> list[str] | None:
    """Return what a pattern removes from segments, or None if it does not mention them."""
    first = next((at for at, part in enumerate(pattern) if "**" in part), None)
    if first is None:
        return _each(segments, pattern) if len(segments) == len(pattern) else None
    end = len(segments) - (len(pattern) - first - 1)
    if end < first:
        return None
    start, close = _each(segments[:first], pattern[:first]), _each(segments[end:], pattern[first + 1 :])
    if start is None or close is None:
        return None
    return [*start, *(segments[first:end] if "{*" in pattern[first] else ()), *close]


def _each(segments: list[str], pattern: list[str]) -> list[str] | None:
    found: list[str] = []
    for segment, part in zip(segments, pattern, strict=True):
        removed = _segment(segment, part)
        if removed is None:
            return None
        found += removed
    return found


def _segment(segment: str, part: str) -> list[str] | None:
    if "{" not in part:
        return [] if segment == part else None
    if part.count("{") > _MOST_CAPTURES or len(segment) > _LONGEST:
        return [segment] if "{*" in part else []
    found = _expression(part).fullmatch(segment)
    return None if found is None else list(found.groups())


@lru_cache(maxsize=4096)
def _expression(part: str) -> re.Pattern[str]:
    """Return what matches a segment as a pattern does, with a group for each capture that is discarded."""
    return re.compile("".join(map(_piece, _CAPTURE.split(part))), re.DOTALL)


def _piece(text: str) -> str:
    if not _CAPTURE.fullmatch(text):
        return re.escape(text)
    name, _, kind = text[1:-1].partition(":")
    items = "|".join(map(re.escape, sorted(kind.split("|"), key=len, reverse=True)))
    run = _CLASSES.get(kind, items if "|" in kind else _RUN)
    return f"({run})" if name.startswith("*") else f"(?:{run})"
