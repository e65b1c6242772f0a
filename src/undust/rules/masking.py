"""Values that a rule forgets, hidden in whatever people pass around.

A session id or a mail address in a report is a leak, and it proves nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from undust.privacy import MASK, is_random, is_secret, secrets_in, without_people

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
    """Return what rules forget, for `without_values`.

    That is names of parameters (`;name` for those in a path), paths with captures that are forgotten
    (`/s/{*:hex}/{p**}`, and behind `?` the parameters that such a path keeps), and texts (`=text`) that
    look like secrets and stand on one side of a rule alone.

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
            one_sided = set(secrets_in(rule.source)) ^ set(secrets_in(rule.target or ""))
            names |= dict.fromkeys(f"={text}" for text in sorted(one_sided))
    return tuple(names)


def forgotten_parameters(rule: Rule) -> tuple[str, ...]:
    """Return the names of the parameters whose values a rule forgets, `;name` for those in a path."""
    names = dict.fromkeys(_PARAMETER.findall(rule.source))
    names |= dict.fromkeys(_MASKED.findall(rule.target or ""))
    names |= dict.fromkeys(name for some in _FAMILY.findall(rule.source) for name in some.split("|"))
    names |= dict.fromkeys(f";{name}" for name in _IN_PATH.findall(rule.source))
    return tuple(names)


def _forgotten_paths(rule: Rule) -> Iterator[str]:
    """Yield the path of a rule, if it forgets a part of it or parameters that it does not name."""
    ignored = set(_IGNORED.findall(rule.target or ""))
    source = re.sub(r"\{(\w+)", lambda found: "{*" if found[1] in ignored else found[0], rule.source)
    if side := _SIDE.fullmatch(source):
        path, query = side[1] or "/", side[2] or ""
        if _WHOLE.search(query):
            kept = [name for family, one in _KEPT.findall(query) for name in (family or one).split("|")]
            yield f"{path}?{'|'.join(kept)}"
        elif "{*" in _IN_PATH.sub("", path):
            yield path


def without_values(url: str, names: Sequence[str]) -> str:
    """Return a URL without what these names hide, and without people's addresses and passwords.

    Of what is forgotten in a path, only what looks like a secret is hidden: folders are no secrets.

    >>> without_values("http://a.test/;sid=4?id=7&utm_source=me", [";sid", "utm_*"])
    'http://a.test/;sid=***?id=7&utm_source=***'
    >>> without_values("http://joe:pw@a.test/s/4f2a90cc1b/books", ["/s/{*:hex}/{p**}"])
    'http://***@a.test/s/***/books'
    """
    head, mark, query = url.partition("?")
    hidden = list(names)
    for name in names:
        if name.startswith(";"):
            head = re.sub(rf"({re.escape(name)}=)[^;/]+", rf"\g<1>{MASK}", head, flags=re.IGNORECASE)
        elif name.startswith("/"):
            head, others = _in_path(head, name, query)
            hidden += others
    done = [_parameter(parameter, hidden) for parameter in query.split("&")] if mark else ()
    shown = f"{head}{mark}{'&'.join(done)}"
    texts = {name[1:] for name in names if name.startswith("=")} - {""}
    for text in sorted(texts, key=len, reverse=True):
        shown = shown.replace(text, MASK)
    return without_people(shown)


def _parameter(parameter: str, names: Sequence[str]) -> str:
    name, equals, value = parameter.partition("=")
    if not _is_among(name, names):
        return parameter
    # Some sites write the session id where others write a name.
    return f"{MASK if is_random(name) else name}{equals}{MASK if value else ''}"


def _in_path(head: str, place: str, query: str) -> tuple[str, list[str]]:
    """Return scheme, host and path without what a path forgets, and the parameters that go with it."""
    pattern, is_about_all, kept = place.partition("?")
    start = head.find("/", head.find("://") + 3)
    origin, path = (head[:start], head[start:]) if start >= 0 else (head, "/")
    masked = _masked(path.split("/"), pattern.split("/"))
    if masked is None:
        return head, []
    names = {parameter.partition("=")[0] for parameter in query.split("&")} if is_about_all else set()
    return origin + "/".join(masked), sorted(name for name in names if not _is_among(name, kept.split("|")))


def _is_among(name: str, names: Sequence[str]) -> bool:
    return any(name == one or (one.endswith("*") and name.startswith(one[:-1])) for one in names)


def _masked(segments: list[str], pattern: list[str]) -> list[str] | None:
    """Return segments without what a pattern forgets, or None where it says nothing of them."""
    first = next((at for at, part in enumerate(pattern) if "**" in part), None)
    if first is None:
        return _each(segments, pattern) if len(segments) == len(pattern) else None
    end = len(segments) - (len(pattern) - first - 1)
    if end < first:
        return None
    start, close = _each(segments[:first], pattern[:first]), _each(segments[end:], pattern[first + 1 :])
    if start is None or close is None:
        return None
    run = segments[first:end]
    return [*start, *(map(_hidden, run) if "{*" in pattern[first] else run), *close]


def _each(segments: list[str], pattern: list[str]) -> list[str] | None:
    done = []
    for segment, part in zip(segments, pattern, strict=True):
        shown = _segment(segment, part)
        if shown is None:
            return None
        done.append(shown)
    return done


def _segment(segment: str, part: str) -> str | None:
    if "{" not in part:
        return segment if segment == part else None
    if part.count("{") > _MOST_CAPTURES or len(segment) > _LONGEST:
        return _hidden(segment) if "{*" in part else segment
    found = _expression(part).fullmatch(segment)
    if found is None:
        return None
    shown, last = "", 0
    for group in range(1, len(found.groups()) + 1):
        shown += segment[last : found.start(group)] + _hidden(found[group])
        last = found.end(group)
    return shown + segment[last:]


@lru_cache(maxsize=4096)
def _expression(part: str) -> re.Pattern[str]:
    """Return what matches a segment as a pattern does, with a group for each capture that forgets."""
    return re.compile("".join(map(_piece, _CAPTURE.split(part))), re.DOTALL)


def _piece(text: str) -> str:
    if not _CAPTURE.fullmatch(text):
        return re.escape(text)
    name, _, kind = text[1:-1].partition(":")
    items = "|".join(map(re.escape, sorted(kind.split("|"), key=len, reverse=True)))
    run = _CLASSES.get(kind, items if "|" in kind else _RUN)
    return f"({run})" if name.startswith("*") else f"(?:{run})"


def _hidden(text: str) -> str:
    """Return a text that is forgotten, without its value where that looks like a secret."""
    name, equals, value = text.rpartition("=")
    return f"{name}{equals}{MASK}" if is_secret(value) else text
