"""The literals of rules in standard form, as the core compares them, and as regular expressions.

A rule file may say `%7euser` or `Bücher.example`; a URL in standard form never does.
"""

from __future__ import annotations

from functools import lru_cache

from undust.errors import CannotExpress
from undust.urls import normalize

# Around a literal, so that it is neither a dot segment nor the start of a triplet.
_GUARD = "z"
_SPECIAL = frozenset(r".^$*+?{}[]()|\ ")


@lru_cache(4096)
def path_literal(text: str) -> str:
    """Return a piece of a path in standard form."""
    return _between("http://guard.test/", text)


@lru_cache(4096)
def query_literal(text: str) -> str:
    """Return a piece of a query, or a text of a `replace`, in standard form."""
    return _between("http://guard.test/?", text)


def _between(before: str, text: str) -> str:
    url = normalize(f"{before}{_GUARD}{text}{_GUARD}")
    return url[len(before) + len(_GUARD) : -len(_GUARD)]


def host_literal(text: str) -> str:
    """Return a whole host, without its port, in standard form."""
    url = normalize(f"http://{text}/")
    return url.removeprefix("http://").removesuffix("/")


def label_literal(text: str) -> str:
    """Return a piece of a label in standard form."""
    if not text.isascii() or "%" in text:
        message = "a piece of a host label is not ASCII"
        raise CannotExpress(message)
    return text.lower()


def escaped(text: str) -> str:
    """Return the regular expression of a literal, alike in all dialects."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in text)


def quoted(text: str) -> str:
    """Return a text between single quotes, as SQL and YAML read it."""
    return "'" + text.replace("'", "''") + "'"
