"""What the words that a rule writes say about where it leads: a printer's form, or another language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.rules.language import Rule

_LESSER = re.compile(
    r"(?:^|[/.?&=_-])(?:print\w*|amp|mobile|m|wap|pda|feeds?|rss\w*|atom|textonly)(?:$|[/.?&=_-])",
    re.IGNORECASE,
)
_CAPTURE = re.compile(r"\{[^{}]*\}")
_HOST = re.compile(r"^\^?[^/]*://[^/]*")
_LANGUAGES = frozenset(
    re.findall(
        "..",
        "arbgbncacsdadeeleneoesetfafifrgaglhehihrhuitjakakoltlvmkmsnbnlnnplptroruskslsqsrsvtathtrukurvizh",
    )
)
"""Codes of ISO 639-1 that sites name their translations by, without those that are English words."""
_WORD = re.compile(r"(?:^|(?<=[/.=]))([A-Za-z]{2})(?:[-_][A-Za-z]{2})?(?=$|[/.&])")


def names_lesser_form(text: str) -> bool:
    """Return whether a text names a printer's, mobile or feed form."""
    return bool(_LESSER.search(text))


def prefers_lesser_form(rule: Rule) -> bool:
    """Return whether a rule writes the name of a printer's, mobile or feed form that it did not read.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/guide/{id:int} → {s}://{h}/print.php?id={id}"
    >>> prefers_lesser_form(Rule.parse(text, site="shop.test"))
    True
    """
    read, written = (_CAPTURE.sub("/", side or "") for side in (rule.source, rule.target))
    return names_lesser_form(written) and not names_lesser_form(read)


def prefers_other_form(rule: Rule) -> bool:
    """Return whether a rule leads to a lesser form of a page, or to a language that it did not read."""
    return prefers_lesser_form(rule) or language_written(rule) is not None


def name_other_form(written: Iterable[str], read: Iterable[str]) -> bool:
    """Return whether words name a lesser form of a page, or a language that others do not name.

    >>> name_other_form(["da"], ["manual", "en"]), name_other_form(["2.4"], ["manual", "en"])
    (True, False)
    """
    known = set().union(*map(_languages, read))
    return any(names_lesser_form(word) or _languages(word) - known for word in written)


def language_written(rule: Rule) -> str | None:
    """Return the code of a language that a rule writes and did not read; else None.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/docs/{a}?{rest**} → {s}://{h}/manual/ru/{a}?{rest}"
    >>> language_written(Rule.parse(text, site="a.test"))
    'ru'
    """
    read, written = map(_languages, (rule.source, rule.target or ""))
    return min(written - read, default=None)


def _languages(side: str) -> set[str]:
    # The end of a host is a country's, not a language.
    texts = _CAPTURE.sub("{}", _HOST.sub("", side))
    return {found.lower() for found in _WORD.findall(texts)} & _LANGUAGES
