"""Rules that give one place the name of another, and the two places as a whole.

`/manual/de/mod/{a}` → `/docs/mod/{a}` may hold because one folder was not translated yet. Where the two
places differ in others, they are two places, and what is equal there is so by chance, or for now.
"""

from __future__ import annotations

import re

from undust.errors import UndustError
from undust.rules import Rule

_CAPTURE = re.compile(r"\{(\w+)[^{}]*\}")
_BEGINNING = re.compile(r"\^?[^/]*://[^/]*/")


def whole_places(rule: Rule) -> Rule | None:
    """Return the rule that gives a whole place the name of another one; None if a rule names none.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/manual/de/{a}/{b}?{rest**} → {s}://{h}/docs/2.4/{a}/{b}?{rest}"
    >>> print(whole_places(Rule.parse(text, site="a.test")))
    rewrite {s}://{h}/manual/de/{p**}?{rest**} → {s}://{h}/docs/2.4/{p}?{rest}
    """
    sides = [
        _BEGINNING.split(_CAPTURE.sub(r"{\1}", side or ""), maxsplit=1) for side in (rule.source, rule.target)
    ]
    if rule.kind == "keep" or not all(len(side) > 1 for side in sides):
        return None
    read, written = (side[1].partition("?")[0].split("/") for side in sides)
    length = len(read)
    while len(read) > 1 and len(written) > 1 and read[-1] == written[-1]:
        read, written = read[:-1], written[:-1]
    place, other = "/".join(read), "/".join(written)
    if len(read) == length or place == other or "{" in place + other:
        return None
    try:
        return Rule(
            rule.site,
            "rewrite",
            f"{{s}}://{{h}}/{place}/{{p**}}?{{rest**}}",
            f"{{s}}://{{h}}/{other}/{{p}}?{{rest}}",
        )
    except (UndustError, ValueError):
        return None
