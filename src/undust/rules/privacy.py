"""Values that a rule forgets, hidden in whatever people pass around.

A session id or a mail address in a report is a leak, and it proves nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.rules.language import Rule

MASK = "***"
_PARAMETER = re.compile(r"[?&]([^={}&]+)=[^&]*\{\*")
_FAMILY = re.compile(r"\{\*\*:([^}]+)\}")
_MASKED = re.compile(r"[?&]([^={}&]+)=[^&]*:any\}")
_IN_PATH = re.compile(r";([^=;{}/?]+)=\{\*")


def forgotten_names(rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return the names of the parameters whose values rules forget, `;name` for those in a path.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} -> {s}://{h}/{p}?{rest}"
    >>> forgotten_names([Rule.parse(text, site="a.test")])
    ('sid',)
    """
    names: dict[str, None] = {}
    for rule in rules:
        if rule.kind != "rewrite":
            continue
        names |= dict.fromkeys(_PARAMETER.findall(rule.source))
        names |= dict.fromkeys(_MASKED.findall(rule.target or ""))
        names |= dict.fromkeys(name for some in _FAMILY.findall(rule.source) for name in some.split("|"))
        names |= dict.fromkeys(f";{name}" for name in _IN_PATH.findall(rule.source))
    return tuple(names)


def without_values(url: str, names: Sequence[str]) -> str:
    """Return a URL with the values of these parameters hidden.

    >>> without_values("http://a.test/;sid=4?id=7&utm_source=me", [";sid", "utm_*"])
    'http://a.test/;sid=***?id=7&utm_source=***'
    """
    head, mark, query = url.partition("?")
    for name in names:
        if name.startswith(";"):
            head = re.sub(rf"({re.escape(name)}=)[^;/]+", rf"\g<1>{MASK}", head, flags=re.IGNORECASE)
    done = []
    for parameter in query.split("&") if mark else ():
        name, equals, value = parameter.partition("=")
        hidden = value and any(name == n or (n.endswith("*") and name.startswith(n[:-1])) for n in names)
        done.append(f"{name}{equals}{MASK}" if hidden else parameter)
    return f"{head}{mark}{'&'.join(done)}"
