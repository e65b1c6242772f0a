"""What a person does not want: a rule that is switched off, and any other that would do its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.rules import Rule

    Work = tuple[tuple[str, str], ...]

SHOWN = 50
"""So many of the URLs that a rule changes stand for all of them."""


def work_of(rules: Sequence[Rule], urls: pa.Array) -> Work:
    """Return what rules would do, if they were on: some of the URLs that they change, and to what."""
    found: list[tuple[str, str]] = []
    for rule in rules:
        canonical = RuleSet([rule.with_status("active")]).compile()
        rows = np.unique(canonical.touched(urls)[0].to_numpy())
        some = rows[np.unique(np.linspace(0, len(rows) - 1, SHOWN).astype(np.int64))] if len(rows) else rows
        found += ((url, canonical(url)) for url in urls.take(pa.array(some)).to_pylist())
    return tuple(found)


def does(rule: Rule, work: Iterable[tuple[str, str]]) -> bool:
    """Return whether a rule does any of this work, or a part of it.

    One that changes a URL, and leaves alone what the work would make of it, is about the same part.
    """
    pairs = tuple(work)
    if not pairs:
        return False
    canonical = RuleSet([rule]).compile()
    return any(
        (image := canonical(url)) == becomes or (image != url and canonical(becomes) == becomes)
        for url, becomes in pairs
    )
