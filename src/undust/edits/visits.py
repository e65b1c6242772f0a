"""Parameters that most sites use to distinguish visitors and visits, and that name no page."""

from __future__ import annotations

TRACKING = (
    *("utm_*", "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid"),
    *("_ga", "_gl", "srsltid", "wbraid", "gbraid", "ttclid", "twclid"),
)
"""Added by other sites to count where visitors come from."""
SESSIONS = (
    *("sid", "PHPSESSID", "phpsessid", "jsessionid", "JSESSIONID", "sessionid", "session_id", "session"),
    *("osCsid", "zenid", "CFID", "CFTOKEN"),
)
"""Added by the site itself to know a visitor without cookies."""
_NAMES = frozenset(name.lower() for name in (*TRACKING, *SESSIONS) if not name.endswith("*"))
_FAMILIES = tuple(name.removesuffix("*") for name in TRACKING if name.endswith("*"))


def names_visit(name: str) -> bool:
    """Return whether a parameter, or a family of them, distinguishes visits on most sites that have it.

    >>> [name for name in ("utm_source", "utm_*", "GCLID", "id", "side", "u*") if names_visit(name)]
    ['utm_source', 'utm_*', 'GCLID']
    """
    return name.lower() in _NAMES or name.startswith(_FAMILIES)
