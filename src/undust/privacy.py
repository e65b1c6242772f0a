"""What looks as if it belonged to one visitor: mail addresses, passwords, session ids, tokens.

Nobody can tell an id from a secret by its looks alone. So only mail addresses and user information count
anywhere; the rest counts where a rule says besides that no page depends on it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MASK = "***"
SHORTEST = 8
"""Characters of a forgotten text with a digit that is no longer a mere word."""

_USER = re.compile(r"(\b[a-z][a-z0-9+.\-]{0,20}://)[^/?#\s{}]+@", re.IGNORECASE)
# `logo@2x.png` is a picture, and `jquery@3.6.0` a release.
_MAIL = re.compile(
    r"(?:[\w.+\-]|%2B){1,64}(?:@|%40)(?!\dx\.)[a-z0-9\-]{1,63}(?:\.[a-z0-9\-]{1,63}){0,8}\.[a-z]{2,24}(?![a-z0-9])",
    re.IGNORECASE,
)
_HEX = re.compile(r"[0-9A-Fa-f]{8,}")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TOKEN = re.compile(r"[A-Za-z0-9_+\-]{16,}={0,2}")
_RANDOM = re.compile(r"\w{16,}", re.ASCII)
_LITERAL = re.compile(r"(=|%3D|%3d)?((?:%40|[^/?&=;{}:|()\"“”,^$\s%])+)")


def without_people(text: str) -> str:
    """Return a text without the mail addresses, user names and passwords in it.

    >>> without_people("http://joe:pw@a.test/to/joe@b.test?by=joe%40b.test")
    'http://***@a.test/to/***?by=***'
    """
    return _MAIL.sub(MASK, _USER.sub(rf"\1{MASK}@", text)) if "@" in text or "%40" in text else text


def names_a_person(text: str) -> bool:
    """Return whether there is a mail address, a user name or a password in a text.

    >>> [names_a_person(text) for text in ("/logo@2x.png", "?to=joe@a.test", "http://joe@a.test/")]
    [False, True, True]
    """
    return without_people(text) != text


def is_secret(text: str) -> bool:
    """Return whether a text that a rule forgets looks like more than a word.

    >>> [is_secret(text) for text in ("books", "p-7", "4f2a90cc1b", "joe@a.test", "aBcDeFgHiJkLmNoP")]
    [False, False, True, True, True]
    """
    if len(text) >= SHORTEST and any(map(str.isdigit, text)):
        return True
    if _TOKEN.fullmatch(text):
        return not (text.islower() or text.isupper())
    return bool(_HEX.fullmatch(text) or _MAIL.search(text))


def is_random(text: str) -> bool:
    """Return whether a text looks like a secret, whoever wrote it and wherever it stands.

    >>> [is_random(text) for text in ("annual-report-2024", "77de68daecd823babbb58edb1c8e14d7")]
    [False, True]
    """
    if _UUID.fullmatch(text) or _MAIL.fullmatch(text):
        return True
    return bool(_RANDOM.fullmatch(text)) and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def secrets_in(pattern: str) -> Iterator[str]:
    """Yield what looks like a secret in the text of a rule: values, and what is random anywhere.

    >>> list(secrets_in("{s}://{h}/s/77de68daecd823babbb58edb/{p**}?sid=abcd1234&v=1"))
    ['77de68daecd823babbb58edb', 'abcd1234']
    """
    for is_value, text in _LITERAL.findall(pattern):
        if is_random(text) or (is_value and is_secret(text)):
            yield text


def without_secrets(pattern: str) -> str:
    """Return the text of a rule, or a sentence about it, as strangers may see it.

    >>> without_secrets("rewrite {s}://{h}/a;sid=77de68daecd823babbb58edb → {s}://{h}/a")
    'rewrite {s}://{h}/a;sid=*** → {s}://{h}/a'
    """
    for secret in sorted(set(secrets_in(pattern)), key=len, reverse=True):
        pattern = pattern.replace(secret, MASK)
    return without_people(pattern)
