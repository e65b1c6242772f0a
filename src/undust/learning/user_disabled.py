"""What a person does not want: a rule that is switched off, and any other that would do its work."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.rules import RuleSet, program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.rules import Rule

    Work = tuple[tuple[str, str], ...]

_SHOWN = 200
"""A sample of this many URLs that a rule changes, from all over the site; and the first this
many, among which are neighbours that it brings together."""


def work_of(rules: Sequence[Rule], urls: pa.Array) -> Work:
    """Return what rules would do, if they were on: some of the URLs that they change, and to what."""
    found: list[tuple[str, str]] = []
    for rule in rules:
        canonical = RuleSet([_alone(rule.with_status("active"))]).compile()
        rows = np.unique(canonical.touched(urls)[0].to_numpy())
        spread = np.linspace(0, max(len(rows) - 1, 0), _SHOWN).astype(np.int64)
        some = rows[np.union1d(spread, np.arange(_SHOWN))] if len(rows) > _SHOWN else rows
        found += ((url, canonical(url)) for url in urls.take(pa.array(some)).to_pylist())
    return tuple(found)


def does(rule: Rule, work: Iterable[tuple[str, str]]) -> bool:
    """Return whether a rule does any of this work, or a part of it.

    One that changes a URL, and leaves alone what the work would make of it, is about the same part.
    """
    pairs = tuple(work)
    if not pairs:
        return False
    canonical = RuleSet([_alone(rule)]).compile()
    return any(
        (image := canonical(url)) == becomes or (image != url and canonical(becomes) == becomes)
        for url, becomes in pairs
    )


def _alone(rule: Rule) -> Rule:
    """Return a rule that acts, whatever it needs and whether or not its results are to be fetched."""
    return replace(rule, fetch=True, needs=())


class Unwanted:
    """Rules that are off, and URLs of a site that they would bring together."""

    def __init__(self, rules: Sequence[Rule], urls: pa.Array) -> None:
        self.rules = [_alone(rule.with_status("active")) for rule in rules]
        self.urls = pa.array(
            sorted({url for pair in work_of(rules, urls) for url in pair}), pa.large_string()
        )

    def done_by(self, rule: Rule, others: Sequence[Rule]) -> bool:
        """Return whether a rule beside others brings together what was to stay apart, in whatever form."""
        if not len(self.urls):
            return False
        together, before, after = (
            pa.array(program_of(rules).batch(self.urls, keys=True)).to_pylist()
            for rules in ([*others, *self.rules], others, [*others, rule])
        )
        met: dict[tuple[str, str], str] = {}
        return any(
            met.setdefault((group, now), stood) != stood
            for group, now, stood in zip(together, after, before, strict=True)
        )
