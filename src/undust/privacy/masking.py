"""Secrets on their way to where strangers read: each is written as ***1, ***2, …, always by one number.

This is the only place that masks; `undust.privacy` decides what is masked. A report has one `Masks`, so that
different values stay different from its first line to its last, and equal ones stay equal. Numbers are given
in the order in which values are met: the same report has the same numbers.

Texts that rules remove need be less random than others to look secret, so those are found here too: what a
rule removes is often the session id of one visitor, and often a page number or a title.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from undust.privacy import (
    BASE64,
    JWT,
    LONG,
    MAIL,
    REMOVED_LONG,
    USER,
    UUID,
    Context,
    announced_by,
    announced_in_path,
    announces_phone,
    decoded,
    is_commit,
    is_of_repository,
    is_random,
    looks_like_phone,
    looks_secret,
    randomness,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence


STARS = "***"
_MASK = re.compile(r"\*\*\*[0-9]+")
# Characters that no text has (control characters, and surrogates, which stand for bytes that are not UTF-8)
# separate values too: a word in damaged data does not look random because of the bytes around it.
_UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\ud800-\udfff"
_EDGE = rf"/?&=;{{}}|()\"“”,^$\s<>\[\]:!*'#`→{_UNPRINTABLE}"
# Percent escapes of the same characters part values as well: %2F %3F %26 %3D %3B %7C %3A %20.
_ESCAPED = r"%(?:25)?(?:2[Ff6]|3[FfDdBbAa]|7[Cc]|20)"
_PIECE = re.compile(rf"(?P<edge>[{_EDGE}]|{_ESCAPED})|(?P<text>(?:(?!{_ESCAPED})[^{_EDGE}])+)")
_EQUALS = re.compile(r"=|%(?:25)?3[Dd]")
_WITHIN = frozenset(("{", "}", "*", ":", "|", "(", ")", "%20", "%2520"))
"""What a value may have in it, so that the same name still precedes the rest of it."""
_IN_PATH = re.compile(r"/|%(?:25)?2[Ff]")
_END_OF_PATH = re.compile(r"[?#&\s]|%(?:25)?(?:3[Ff]|26|20)")
_PARTS = re.compile(r"([._~\-]+)")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_LONGEST = 100_000
"""Characters that are looked at; the rest is removed."""


class Masks:
    """The numbers that secrets go by, in one report or one rule file."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        """How many different values were masked."""
        return len(self._numbers)

    def hide(self, value: str) -> str:
        """Return what is written for a value.

        >>> masks = Masks()
        >>> [masks.hide(value) for value in ("a", "b", "a")]
        ['***1', '***2', '***1']
        """
        number = self._numbers.setdefault(decoded(value), len(self._numbers) + 1)
        return f"{STARS}{number}"

    def text(self, text: str, removed: Container[str] = ()) -> str:
        """Return a URL, a rule or a sentence without the secrets in it.

        Args:
            text: What strangers would read.
            removed: Pieces of it that rules remove; they need be less random to be masked.

        >>> Masks().text("http://joe:pw@a.test/to/joe@b.test?token=4f2a90cc&page=15")
        'http://***1@a.test/to/***2?token=***3&page=15'

        """
        text = text[:_LONGEST]
        is_repository = is_of_repository(text)
        before, done = _Before(), []
        for piece, is_hidden in self._whole(text):
            if is_hidden:
                before.word(piece)
                done.append(piece)
            else:
                done += self._pieces(piece, before, removed, is_repository=is_repository)
        return "".join(done)

    def _whole(self, text: str) -> list[tuple[str, bool]]:
        """Return a text cut at what is secret as a whole, which is hidden already."""
        found = [(text, False)]
        # Masks of a file that was read have numbers of their own, which mean other values.
        for pattern in (_MASK, USER, MAIL, JWT, UUID, BASE64):
            if pattern is not MAIL or "@" in text or "%40" in text or "%2540" in text:
                found = [
                    one
                    for piece, is_hidden in found
                    for one in ([(piece, True)] if is_hidden else self._cut(piece, pattern))
                ]
        return found

    def _cut(self, text: str, pattern: re.Pattern[str]) -> list[tuple[str, bool]]:
        found, last, group = [], 0, 2 if pattern is USER else 0
        for match in pattern.finditer(text):
            if pattern is not BASE64 or _is_base64(match[0]):
                found += [(text[last : match.start(group)], False), (self.hide(match[group]), True)]
                last = match.end(group)
        return [*found, (text[last:], False)]

    def _pieces(
        self, text: str, before: _Before, removed: Container[str], *, is_repository: bool
    ) -> Iterator[str]:
        """Yield a text without secrets, piece by piece, each in the context of the text before it."""
        for match in _PIECE.finditer(text):
            piece = match[0]
            if match["edge"]:
                before.edge(piece)
                yield piece
                continue
            context = before.context
            if piece in removed:
                context = max(context, Context.REMOVED)
            if is_repository and context < Context.ANNOUNCED and is_commit(piece):
                yield piece
            elif before.is_phone and looks_like_phone(piece):
                yield self.hide(piece)
            else:
                yield self._shown(piece, context)
            before.word(piece)

    def _shown(self, piece: str, context: Context) -> str:
        """Return one piece without what is secret in it, and words beside that as they are."""
        if self._is_known(piece):
            return self.hide(piece)
        if not looks_secret(piece, context):
            return self._parts(piece) if len(piece) >= LONG else piece
        if context is Context.ANNOUNCED or not is_random(decoded(piece)):
            return self.hide(piece)
        parts = _ENDING.sub("", piece)
        if any(map(_is_rest, _PARTS.split(parts)[::2])):
            return self.hide(parts) + piece[len(parts) :]
        return self._parts(piece)

    def _is_known(self, piece: str) -> bool:
        """Return whether a piece was masked elsewhere: a rule may remove the word that announced it."""
        return len(piece) >= REMOVED_LONG and not piece.isdigit() and decoded(piece) in self._numbers

    def _parts(self, piece: str) -> str:
        """Return a piece whose words are shown and whose random parts are not."""
        return "".join(self.hide(part) if is_random(decoded(part)) else part for part in _PARTS.split(piece))


class _Before:
    """The text before a piece: the name of its parameter, or the parts of the path."""

    def __init__(self) -> None:
        self._last = self._name = self._edge = ""
        self._path = self._query = Context.NOTHING

    def edge(self, edge: str) -> None:
        """Take notice of a character between pieces."""
        if _EQUALS.fullmatch(edge):
            self._name = self._last
        elif edge not in _WITHIN and (edge.isprintable() or edge.isspace()):
            self._name = ""
        if edge.isspace():
            self._path = self._query = Context.NOTHING
        elif _END_OF_PATH.fullmatch(edge):
            # The key of /confirm?c=… goes by any name.
            self._query = max(self._query, self._path)
            self._path = Context.NOTHING
        self._edge = edge

    def word(self, piece: str) -> None:
        """Take notice of a piece; the 0 of `password[0]` is not a name."""
        if not (self._edge == "[" and piece.isdigit()):
            self._last = piece
        if _IN_PATH.fullmatch(self._edge):
            self._path = max(self._path, announced_in_path(piece))
        elif self._edge == "(" and piece == "S":
            # http://a.test/(S(lit3py55t21z5v55vlm25s55))/, as ASP.NET writes it
            self._path = Context.ANNOUNCED

    @property
    def context(self) -> Context:
        """What is known about the next piece."""
        return max(announced_by(self._name), self._query) if self._name else max(self._path, self._query)

    @property
    def is_phone(self) -> bool:
        """Whether the next piece is marked as a telephone number."""
        return bool(self._name) and announces_phone(self._name)


def _is_base64(text: str) -> bool:
    """Return whether a run of letters, digits, escaped + and / is a random text, and not a path or words."""
    plain = decoded(text)
    is_marked = "+" in plain or plain.endswith("=")
    return is_marked and is_random("".join(filter(str.isalnum, plain)))


def pieces_of(text: str) -> set[str]:
    """Return the pieces of a text that are judged one by one."""
    return {match["text"] for match in _PIECE.finditer(text) if match["text"]}


def _is_rest(part: str) -> bool:
    """Return whether a part beside a random one may belong to it: it is neither a word nor a number."""
    if is_random(part) or part.isdigit():
        return False
    if len(part) <= len("sid"):
        return not (part.islower() or (part.isalpha() and (part.isupper() or part.istitle())) or not part)
    return not part.isalpha() or randomness(part) > 0


_PARAMETER = re.compile(r"[?&]([^={}&]+)=[^&]*\{\*")
_FAMILY = re.compile(r"\{\*\*:([^}]+)\}")
_MASKED = re.compile(r"[?&]([^={}&]+)=[^&]*:any\}")
_PATH_PARAMETER = re.compile(r";([^=;{}/?]+)=\{\*[^}]*\}")

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
_MOST_CAPTURES, _LONGEST_SEGMENT = 2, 500
"""Of a segment that is taken apart; beyond, a stranger's rule could keep us busy for long."""


class RuleSides(Protocol):
    """What of a rule says which texts it removes."""

    @property
    def kind(self) -> str:
        """Whether it replaces, rewrites or keeps."""

    @property
    def source(self) -> str:
        """The left side."""

    @property
    def target(self) -> str | None:
        """The right side."""


def forgotten_names(rules: Iterable[RuleSides]) -> tuple[str, ...]:
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


def forgotten_parameters(rule: RuleSides) -> tuple[str, ...]:
    """Return the names of the parameters whose values a rule removes, `;name` for those in a path."""
    names = dict.fromkeys(_PARAMETER.findall(rule.source))
    names |= dict.fromkeys(_MASKED.findall(rule.target or ""))
    names |= dict.fromkeys(name for some in _FAMILY.findall(rule.source) for name in some.split("|"))
    names |= dict.fromkeys(f";{name}" for name in _PATH_PARAMETER.findall(rule.source))
    return tuple(names)


def _forgotten_paths(rule: RuleSides) -> Iterator[str]:
    """Yield the path of a rule, if it removes a part of it or parameters that it does not name."""
    ignored = set(_IGNORED.findall(rule.target or ""))
    source = re.sub(r"\{(\w+)", lambda found: "{*" if found[1] in ignored else found[0], rule.source)
    if side := _SIDE.fullmatch(source):
        path, query = side[1] or "/", side[2] or ""
        if _WHOLE.search(query):
            kept = [name for family, one in _KEPT.findall(query) for name in (family or one).split("|")]
            yield f"{path}?{'|'.join(kept)}"
        elif "{*" in _PATH_PARAMETER.sub("", path):
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
    if part.count("{") > _MOST_CAPTURES or len(segment) > _LONGEST_SEGMENT:
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
