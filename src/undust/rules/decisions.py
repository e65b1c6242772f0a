"""What a person decided about a rule, as it is kept in its `review`: verdict, who, when, and a note."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime

from undust.errors import UndustError


def decision(verdict: str | None, note: str | None, by: str | None = None) -> dict[str, str]:
    """Return what is written into `review` now; without `by`, the user of this machine decides.

    >>> sorted(decision("approved", None, "ann"))
    ['by', 'verdict', 'when']
    """
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = {"verdict": verdict, "by": by or _user(), "when": when, "note": note}
    return {key: value for key, value in said.items() if value is not None}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        message = "this user has no name; say who decides with --by NAME"
        raise UndustError(message) from None
