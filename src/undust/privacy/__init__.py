"""What looks secret in a URL: mail addresses, passwords, session ids, tokens, keys of one visitor.

This is the only place that decides. An id and a secret cannot be distinguished with certainty, so four things
count, and `docs/report.md` lists them with examples:

* how a text is made: long and random (`is_random`), a mail address, a user name before a host, a JWT;
* the text before it: `token=`, `/reset/`, `password=` (`Context`);
* whether a rule removes it, which is how session ids behave;
* what it is for: the hash of a commit, in the address of a repository browser, is public.

Short numbers, words, titles and dates are never secret, even if a rule removes them.
"""

from __future__ import annotations

import re
from enum import IntEnum
from itertools import pairwise
from urllib.parse import unquote_to_bytes


class Context(IntEnum):
    """How strongly the surroundings of a text suggest a secret; more counts for less random texts."""

    NOTHING = 0
    REMOVED = 1
    """A rule removes it, or it follows a word such as `code`, which announces many things."""
    ANNOUNCED = 2
    """It follows a word such as `token`, `sid`, `reset` or `invite`."""
    PASSWORD = 3
    """It follows `password` or the like."""


LONG = 16
"""Letters and digits of a random text that is secret wherever it is; ids of videos and products have
11 or fewer, session ids 16 or more."""
REMOVED_LONG, ANNOUNCED_LONG = 8, 6
"""The same, for what a rule removes and for what a word announces."""
LONG_NUMBER, ANNOUNCED_NUMBER = 20, 6
"""Digits of a number that is secret anywhere (EAN, ISBN, times and snowflake ids have at most 19), and of
one that a word announces."""
SHORT_NUMBER = 4
"""Digits of a number that may be a password; `pass=2` is a count."""
PHONE = 7
"""Digits of a telephone number."""

_ANNOUNCING = (
    "sid sess session sessionid sessid phpsessid jsessionid cftoken cfid zenid token jwt bearer csrf xsrf"
    " nonce auth oauth apikey otp secret credential credentials invite invites invitation invitations reset"
    " resetpassword activate activation unsubscribe magic sig signature hmac"
)
_PERHAPS = "key code hash pin ticket confirm confirmation verify verification login"
_ACTIONS = "confirm confirmation verify verification"
_PASSWORDS = "password passwd passwort passphrase pwd pass pw"
_PHONES = "phone telephone tel mobile fax whatsapp msisdn"
_SWITCHES = "0 1 true false yes no on off"
ANNOUNCING = frozenset(_ANNOUNCING.split())
"""Words before secrets: names of parameters, or parts of a path."""
PERHAPS_ANNOUNCING = frozenset(_PERHAPS.split())
"""Words before secrets and before much else."""
ACTIONS = frozenset(_ACTIONS.split())
"""Of these, those after which a path has a key; /ticket/7 and /code/de have none."""
PASSWORDS, PHONES, SWITCHES = (frozenset(some.split()) for some in (_PASSWORDS, _PHONES, _SWITCHES))

_ENDINGS = ("sessid", "sessionid", "sid", "token", "csrf", "apikey")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[A-Za-z]+")

USER = re.compile(
    r"(?<![a-z0-9+.\-])([a-z][a-z0-9+.\-]{0,20}://)([^/?#\s{}@]+(?:@[^/?#\s{}@]+)*)@", re.IGNORECASE
)
# `logo@2x.png` is a picture, and `jquery@3.6.0` a release.
MAIL = re.compile(
    r"(?:[\w.+\-]|%2B){1,64}(?:@|%40|%2540)(?!\dx\.)[a-z0-9\-]{1,63}(?:\.[a-z0-9\-]{1,63}){0,8}\.[a-z]{2,24}(?![a-z0-9])",
    re.IGNORECASE,
)
JWT = re.compile(r"(?<![\w\-])eyJ[\w\-]{8,}+\.[\w\-]{8,}+(?:\.[\w\-]*+)?", re.ASCII)
UUID = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])")
BASE64 = re.compile(r"(?<![\w%+])(?:[A-Za-z0-9]|%2[BbFf]){16,}+(?:=|%3[Dd]){0,2}+(?![\w%])", re.ASCII)
"""With + and / escaped, as forms send it."""
_PHONE = re.compile(r"(?:\+|00)?[0-9][0-9 ()./\-]{5,20}[0-9]")
_INTERNATIONAL = re.compile(r"\+[1-9][0-9 ()\-]{6,18}[0-9]")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", re.IGNORECASE | re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(
    r"(?:[/=]|^)(?:commits?|commitdiff|tree|blob|blame|blobdiff|changeset|rev|revision|compare|diff|patch"
    r"|shortlog|log|snapshot|plain)(?=[/?&;]|$)",
    re.IGNORECASE,
)
_TIME = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}T[0-9]{2}[0-9:.\-]{2,10}Z?")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_ATOM = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_TURN = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")

# How a letter follows another (rows: the first, a to z; columns: the second) in the words of seventeen
# languages that are written in Latin letters, accents removed: 4 as often as by chance, 3 twice as often, 5
# half as often, and so on.
_FOLLOWING = (
    "54447645464332658233556755 16672877268376279356387958 28573882374477279454488975 "
    "26751776266565269457477866 56445546564342657223656565 27652368178477269355397869 "
    "26752754386564369345376868 18862886276566279464387969 35343547664342457433657765 "
    "17752787285565369646378986 17672774295476269444375959 26652666276355379754368958 "
    "13772788297556339756388878 27433526265665379742468946 55446656564332548234445775 "
    "27672765397377248254388869 39775969499597566565086998 26542657275545368544467966 "
    "37472674284566347632467955 27672774286566379344377857 34454657454332548233666765 "
    "17671778298675379557589948 17662776287674369457597847 35353576297657428652587458 "
    "26353766365434339534465856 16652866275564369765465945"
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BITS = {
    first + second: int(bits) - 4
    for first, row in zip(_LETTERS, _FOLLOWING.split(), strict=True)
    for second, bits in zip(_LETTERS, row, strict=True)
}
"""By how many bits two letters in a row are more likely in a random text than in a word."""
_BREAK, _RUN_ON = 2.0, -0.5
"""The same for a digit beside a letter or a capital within a word, and for going on alike."""
SURE = 2.0
"""Bits of a short text that is called random."""


def names_a_person(text: str) -> bool:
    """Return whether there is a mail address, a user name or a password in a text.

    >>> [names_a_person(text) for text in ("/logo@2x.png", "?to=joe@a.test", "http://joe@a.test/")]
    [False, True, True]
    """
    return bool(("@" in text or "%40" in text) and (USER.search(text) or MAIL.search(text)))


def announced_by(word: str) -> Context:
    """Return what the name of a parameter, or the part of a path before a text, shows about it.

    >>> [announced_by(word).name for word in ("PHPSESSID", "resetKey", "user%5Bpassword%5D", "code", "page")]
    ['ANNOUNCED', 'ANNOUNCED', 'PASSWORD', 'REMOVED', 'NOTHING']
    """
    if len(word) > LONG * 4:
        return Context.NOTHING
    words = [part.lower() for part in _WORD.findall(_HUMP.sub("-", decoded(word)))]
    whole = "".join(words)
    if words and (words[-1] in PASSWORDS or whole in PASSWORDS):
        return Context.PASSWORD
    if ANNOUNCING.intersection(words) or whole in ANNOUNCING or whole.endswith(_ENDINGS):
        return Context.ANNOUNCED
    return Context.REMOVED if PERHAPS_ANNOUNCING.intersection(words) else Context.NOTHING


def announced_in_path(segment: str) -> Context:
    """Return what a part of a path shows about those after it, and about the parameters.

    >>> [announced_in_path(segment).name for segment in ("reset-password", "confirm", "ticket", "page")]
    ['ANNOUNCED', 'ANNOUNCED', 'NOTHING', 'NOTHING']
    """
    is_action = len(segment) <= LONG * 4 and not ACTIONS.isdisjoint(_WORD.findall(segment.lower()))
    return Context.ANNOUNCED if is_action or announced_by(segment) > Context.REMOVED else Context.NOTHING


def announces_phone(word: str) -> bool:
    """Return whether the name of a parameter marks its value as a telephone number."""
    words = _WORD.findall(_HUMP.sub("-", decoded(word)).lower()) if len(word) <= LONG * 4 else ()
    return not PHONES.isdisjoint(words)


def is_of_repository(url: str) -> bool:
    """Return whether a URL belongs to a repository browser.

    Everyone who can see the repository can name its commits, and only the hash distinguishes two pages
    apart: so it is shown. The same hash as the value of `token=` is not.

    >>> is_of_repository("https://git.test/a.git/commit/?id=1b64")
    True
    """
    return _REPOSITORY.search(url) is not None


def is_commit(text: str) -> bool:
    """Return whether a text has the form of the name of a commit."""
    return _COMMIT.fullmatch(text) is not None


def decoded(text: str) -> str:
    """Return a text without percent escapes; bytes of another encoding become letters of no alphabet.

    >>> decoded("joe%2540a.test") == decoded("joe%40a.test") == "joe@a.test"
    True
    """
    for _ in range(2):
        if "%" not in text:
            break
        text = unquote_to_bytes(text).decode("utf-8", "replace")
    return text


def looks_secret(text: str, context: Context = Context.NOTHING) -> bool:
    """Return whether a value, a part of a path or a word looks secret in its place.

    >>> [looks_secret(text) for text in ("15", "books", "2024-01-15", "4f2a90cc1b3d77e0", "joe@a.test")]
    [False, False, False, True, True]
    >>> [looks_secret(text, Context.ANNOUNCED) for text in ("15", "books", "4f2a90")]
    [False, False, True]
    """
    plain = decoded(text)
    if context is Context.PASSWORD:
        is_count = plain.isdigit() and len(plain) < SHORT_NUMBER
        return bool(plain) and not is_count and plain.lower() not in SWITCHES
    if UUID.search(plain) or JWT.search(plain) or MAIL.search(plain) or _INTERNATIONAL.fullmatch(plain):
        return True
    if is_random(plain) or _is_iban(plain):
        return True
    if context is Context.NOTHING:
        return False
    if plain.isascii() and plain.isdigit():
        return context is Context.ANNOUNCED and len(plain) >= ANNOUNCED_NUMBER
    return _is_mixed(plain, context)


def _is_iban(text: str) -> bool:
    """Return whether a text is the number of a bank account with its two check digits."""
    if not _IBAN.fullmatch(text):
        return False
    return int("".join(str(int(char, 36)) for char in (text[4:] + text[:4]).upper())) % 97 == 1


def looks_like_phone(text: str) -> bool:
    """Return whether a text can be a telephone number, given a name that suggests one."""
    plain = decoded(text).replace("+", " ").strip()
    return bool(_PHONE.fullmatch(plain)) and sum(map(str.isdigit, plain)) >= PHONE


def is_random(text: str) -> bool:
    """Return whether a text is long and random, so that it looks secret wherever it is.

    >>> [is_random(text) for text in ("annual-report-2024", "77de68daecd823babbb58edb1c8e14d7")]
    [False, True]
    """
    count = sum(char.isalnum() or char in "-_" for char in text)
    if count < LONG or not text.isascii() or _TIME.fullmatch(text):
        return False
    if text.isdigit():
        return len(text) >= LONG_NUMBER
    if _HEX.fullmatch(text) and len(_TURN.findall(text)) >= 3:  # noqa: PLR2004 -- dates with a letter have 2
        return True
    return randomness(text) > 0


def _is_mixed(text: str, context: Context) -> bool:
    """Return whether a text that is announced, or removed, is more than words and numbers."""
    if _TIME.fullmatch(text):
        return False
    parts = re.findall(r"[A-Za-z0-9]+", text)
    count = sum(map(len, parts))
    noisy = sum(len(part) for part in parts if _is_noisy(part, context))
    if context is Context.ANNOUNCED:
        return count >= ANNOUNCED_LONG and noisy > 0
    return count >= REMOVED_LONG and noisy * 2 >= count


def _is_noisy(part: str, context: Context) -> bool:
    """Return whether a run of letters and digits is neither a word nor a number."""
    if part.isdigit():
        return False
    if context is Context.ANNOUNCED:
        is_odd = 2 * len(_HUMP.findall(part)) >= len(part) - 2 > 0
        is_mixed = is_odd or not part.isalpha()
        return is_mixed or (len(part) >= ANNOUNCED_LONG and randomness(part) > 0)
    is_hex = _HEX.fullmatch(part) is not None and len(_TURN.findall(part)) > 1
    return is_hex or randomness(part) > SURE


def randomness(text: str) -> float:
    """Return by how many bits a text is more likely to be random than to be made of words and numbers.

    >>> randomness("internationalization") < 0 < randomness("qzkxvwpjfhgtrbd")
    True
    """
    is_plain = text.isalpha() and (text.islower() or text.isupper())
    bits, before = 0.0, ""
    for atom in _ATOM.findall(text):
        if not atom.isalnum():
            before = ""
            continue
        letters = atom.lower()
        bits += sum(_BITS[one + other] for one, other in pairwise(letters)) if atom.isalpha() else 0.0
        bits += 0.0 if is_plain else (len(atom) - 1) * _RUN_ON
        bits += _BREAK if before else 0.0
        before = atom
    return bits
