"""Pools in the words of our rule language.

The paper's rule is a regular expression with groups that may be missing, and what it writes need not be a
URL. Here each form is a rule of its own, which leads to the shortest that was seen.

* What is the same in a cluster is captured, and is a literal if it is the same in several clusters.
* What varies is removed, and the text that most clusters have in the written form takes its place; the
  smallest of several. If there is no such text, a mask hides it. If the form decides the
  text, each rule has its own literal, so that several places of a URL change at once.
* What is optional is not written, as published; but where all URLs have something, the shortest is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.errors import RuleError
from undust.judging.verdict import Candidate
from undust.proposing.papers.alignment.skeletons import HOST, OPTIONAL, SAME_UNIT
from undust.rules import Rule

if TYPE_CHECKING:
    from undust.proposing.papers.alignment.pooling import Pool

ALIGNMENT_NAME = "alignment"


class CannotSayError(Exception):
    """Why a pool is not a candidate."""


def candidate_of(pool: Pool, site: str) -> Candidate:
    """Return a pool as rules that are proved together; raise `CannotSayError` if it cannot be said."""
    words = _Words(pool)
    try:
        rules = [
            Rule(site, "rewrite", left, right, learned_by=ALIGNMENT_NAME) for left, right in words.sides()
        ]
    except RuleError:
        message = "rules that the language cannot say"
        raise CannotSayError(message) from None
    if not rules:
        message = "rules that change nothing"
        raise CannotSayError(message)
    return Candidate(tuple(rules), pool.pairs, "pairs", pool.clusters)


class _Words:
    def __init__(self, pool: Pool) -> None:
        self.skeleton, self.seen, self.forms = pool.skeleton, pool.seen, pool.forms
        self.is_alone = pool.clusters == 1
        self.names = _names(pool)
        self.varying = [
            unit
            for unit, kind in enumerate(self.skeleton.units)
            if kind not in (SAME_UNIT, HOST, OPTIONAL) and self.seen[unit].by_form is None
        ]
        self.masked = [unit for unit in self.varying if self.seen[unit].constant is None]

    def sides(self) -> list[tuple[str, str]]:
        """Return left and right sides: from each form to the one that is written, then the mask."""
        target = self._written()
        own = [0] if len(self.masked) < len(self.varying) else []
        found = [(self._matched(place), target) for place in [*range(1, len(self.forms)), *own]]
        if self.masked:
            found.append((self._matched_for_mask(), self._written(":any")))
        return [(left, right) for left, right in dict.fromkeys(found) if left != right]

    def _written(self, mark: str = "") -> str:
        def written(unit: int) -> str:
            kind, seen = self.skeleton.units[unit], self.seen[unit]
            if kind in (SAME_UNIT, HOST):
                before, after = seen.around
                return self._one(unit) or f"{before}{{{self.names[unit]}}}{after}"
            if seen.by_form is not None and kind != OPTIONAL:
                return seen.by_form[0]
            if unit in self.masked:
                return f"{{{self.names[unit]}{mark}}}"
            if seen.constant is None:
                message = "rules without a text known to work"
                raise CannotSayError(message)
            return seen.constant

        return self.skeleton.text(self.forms[0], written)

    def _matched_for_mask(self) -> str:
        def matched(unit: int) -> str:
            is_constant = unit in self.varying and unit not in self.masked
            return (self.seen[unit].constant or "") if is_constant else self._match(unit, 0)

        return self.skeleton.text(self.forms[0], matched)

    def _matched(self, place: int) -> str:
        return self.skeleton.text(self.forms[place], lambda unit: self._match(unit, place))

    def _match(self, unit: int, place: int) -> str:
        kind, seen = self.skeleton.units[unit], self.seen[unit]
        if seen.by_form is not None and kind not in (SAME_UNIT, HOST, OPTIONAL):
            return seen.by_form[place]
        if (text := self._one(unit)) is not None:
            return text
        is_kept = kind in (SAME_UNIT, HOST) or unit in self.masked
        name = self.names[unit] if is_kept else "*"
        # A scheme takes no class, and any host of the site may have a rule that many have.
        if unit == self.skeleton.items[0] or (kind == HOST and seen.texts is None):
            return f"{{{name}}}"
        if kind == SAME_UNIT and any(seen.around):
            return f"{seen.around[0]}{{{name}:{seen.kind}}}{seen.around[1]}"
        wanted = "|".join(seen.texts) if seen.texts is not None and kind != SAME_UNIT else seen.kind
        return f"{{{name}:{wanted}}}" if wanted else f"{{{name}}}"

    def _one(self, unit: int) -> str | None:
        """Return the text of a unit that has only one; what one cluster has may be anything elsewhere."""
        texts = self.seen[unit].texts
        is_literal = not (self.is_alone and self.skeleton.units[unit] == SAME_UNIT)
        return texts[0] if texts is not None and len(texts) == 1 and is_literal else None


def _names(pool: Pool) -> dict[int, str]:
    """Return names for units: that of the parameter they are the value of, or `p` and a number."""
    names: dict[int, str] = {}
    marked = pool.skeleton.text(pool.forms[0], lambda unit: f"\0{unit}\0")
    for unit, kind in enumerate(pool.skeleton.units):
        parameter = re.search(rf"[?&]([A-Za-z_][A-Za-z0-9_]*)=\0{unit}\0", marked)
        name = "h" if kind == HOST else parameter[1] if parameter else f"p{unit + 1}"
        names[unit] = name if name not in names.values() else f"{name}_{unit + 1}"
    return names
