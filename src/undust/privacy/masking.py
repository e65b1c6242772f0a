"""Secrets on their way to where strangers read: each is written as ***1, ***2, …, always by one number.

This is the only place that masks; `secrets` decides what is masked. A report has one `Masks`, so that
different values stay different from its first line to its last, and equal ones stay equal. Numbers are given
in the order in which values are met: the same report has the same numbers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

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
    from collections.abc import Container, Iterator

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
