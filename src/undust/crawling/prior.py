"""The rules of most sites: used on a site only after tests on that site, and dropped if one fails.

A crawl sees the pairs that prove a rule late, and pays for each of them. These rules need none to start
with: the first URLs that each would skip are fetched to test it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

PRIOR = "prior"
"""What `learned_by` says of such a rule."""
TRACKING = (
    *("utm_*", "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid"),
    *("_ga", "_gl", "srsltid", "wbraid", "gbraid", "ttclid", "twclid"),
)
SESSIONS = (
    *("sid", "PHPSESSID", "phpsessid", "jsessionid", "JSESSIONID", "sessionid", "session_id", "session"),
    *("osCsid", "zenid", "CFID", "CFTOKEN"),
)
_REST = "{s}://{h}/{p}?{rest}"


def _dropped(names: Sequence[str]) -> str:
    return f"rewrite {{s}}://{{h}}/{{p**}}?{{**:{'|'.join(names)}}}&{{rest**}} -> {_REST}"


TEXTS = (
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest}",
    _dropped(TRACKING),
    *(_dropped([name]) for name in SESSIONS),
    'replace "//" -> "/"',
    "rewrite {s}://{h}/{p**}/{x}/?{rest**} -> {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:unique}",
    *(
        f"rewrite {{s}}://{{h}}/{{p**}}/{name}?{{rest**}} -> {{s}}://{{h}}/{{p}}/?{{rest}}"
        for name in ("index.html", "index.htm", "index.php", "default.aspx")
    ),
    "rewrite http://{h}/{p**}?{rest**} -> https://{h}/{p}?{rest}",
)


@cache
def _parsed() -> tuple[Rule, ...]:
    return tuple(Rule.parse(text, site="a.test") for text in TEXTS)


def prior_rules(site: str) -> tuple[Rule, ...]:
    """Return the rules that may hold on a new site.

    >>> len(prior_rules("shop.test")) == len(TEXTS)
    True
    """
    return tuple(replace(rule, site=site, learned_by=PRIOR) for rule in _parsed())
