"""What one site gave, as a text: it comes from another process or machine, or from a journal of yesterday.

JSON, and not what Python pickles: a journal lies in a folder that others may write to, and a text of
theirs can then be wrong but can do nothing.
"""

from __future__ import annotations

import json
import sys
from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from undust.jobs.site_state import SiteState
from undust.judging.checked import CheckedPages
from undust.learning import RefusedRule, SiteRules, SiteTally
from undust.pages.totals import Totals
from undust.rules import Rule

if TYPE_CHECKING:
    from undust.learning.drift import Fate

    Fated = list[tuple[Fate, Rule]]


class SiteOutcome(NamedTuple):
    """What one site gave."""

    rules: SiteRules
    again: Fated
    """Its rules from before, with what became of them."""
    shown: list[SiteTally]
    """What it says of rules for all sites."""
    has_evidence: bool
    stands: SiteState | None = None
    """The URLs that it was learned from, under its rules, if they are only some of the site's."""
    doubts: tuple[str, ...] = ()
    """Where there is no evidence: the names of what would be, and is not believed."""
    totals: Totals = Totals()
    """What becomes of its URLs under its own rules, counted as everywhere."""
    proposed: tuple[Rule, ...] = ()
    """Rules that are likely, without evidence of which URLs show one page."""


def to_text(learned: SiteOutcome) -> str:
    """Return what a site gave as a line of JSON."""
    site: dict[str, Any] = {each.name: getattr(learned.rules, each.name) for each in fields(SiteRules)}
    site["rules"] = [rule.to_json() for rule in learned.rules.rules]
    site["rejected"] = dict(learned.rules.rejected)
    site["checked"] = astuple(learned.rules.checked)
    site["refused"] = [vars(one) | {"rule": one.rule.to_json()} for one in learned.rules.refused]
    again = [(fate, rule.to_json()) for fate, rule in learned.again]
    proposed = [rule.to_json() for rule in learned.proposed]
    told = [site, again, *learned[2:-2], astuple(learned.totals), proposed]
    return json.dumps(told, separators=(",", ":"))


def from_text(text: str) -> SiteOutcome:
    """Return what the line says."""
    site, again, shown, has_evidence, stands, doubts, totals, proposed = json.loads(text)
    site["rules"] = tuple(map(Rule.from_json, site["rules"]))
    site["refused"] = tuple(
        RefusedRule(**one | {"rule": Rule.from_json(one["rule"])}) for one in site["refused"]
    )
    site["checked"] = CheckedPages(*site.get("checked", ()))
    site["restless"] = tuple(site.get("restless", ()))
    fated = [(cast("Fate", fate), Rule.from_json(rule)) for fate, rule in again]
    stood = stands and SiteState(stands[0], tuple(stands[1]), tuple(stands[2]))
    told = [_shown(row) for row in shown]
    likely = tuple(map(Rule.from_json, proposed))
    known = (SiteRules(**site), fated, told, has_evidence, stood, tuple(doubts))
    return SiteOutcome(*known, Totals(*totals), likely)


def _shown(row: list[Any]) -> SiteTally:
    """Return what a site says of one shape; ten thousand sites say it in the same words."""
    return SiteTally._make(sys.intern(value) if isinstance(value, str) else value for value in row)
