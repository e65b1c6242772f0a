"""Rules as a notebook shows them: a table of a set, a sheet of one rule with its examples as diffs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.rules.verdict import verdict
from undust.showing.changes import pieces
from undust.showing.listing import RISK_HEAD, described, lost_pages, rate_of, short_ids, site_name, summary
from undust.showing.notebook import change, code, table
from undust.showing.words import in_words

if TYPE_CHECKING:
    from undust.rules.language import Rule
    from undust.rules.ruleset import RuleSet

MOST_ROWS = 200
_STATUS = {"active": "", "disabled": "off"}


def set_as_html(rules: RuleSet) -> str:
    """Return a table of the first rules, and how many there are."""
    shown = list(rules[:MOST_ROWS])
    short = short_ids(shown)
    more = f"; the first {MOST_ROWS} of {len(rules):,}" if len(rules) > MOST_ROWS else ""
    heads = ("#", "id", "site", "what it does", "rule", "removed", "lost", RISK_HEAD, "")
    rows = (
        (
            *(str(number), short[rule.id], site_name(rule.site), in_words(rule), code(described(rule))),
            *("" if rule.saves is None else f"{rule.saves:,}", lost_pages(rule), rate_of(rule.fpr_upper)),
            _STATUS.get(rule.status, rule.status),
        )
        for number, rule in enumerate(shown, 1)
    )
    return table(summary(list(rules)) + more, heads, rows)


def rule_as_html(rule: Rule) -> str:
    """Return what is known about one rule."""
    facts = {
        "what it does": in_words(rule),
        "rule": code(described(rule)),
        "site": site_name(rule.site),
        "status": _STATUS.get(rule.status, rule.status) or "on",
        "verdict": ": ".join(verdict(rule)),
        "learned by": rule.learned_by,
        "removed": None if rule.saves is None else f"{rule.saves:,} held-out URLs",
        "lost": lost_pages(rule),
        "support": None
        if rule.support is None
        else f"{rule.support:,} pairs, {rule.false_positives or 0:,} false",
        RISK_HEAD: rate_of(rule.fpr_upper),
        "id": rule.id,
    }
    rows: list[tuple[str, str]] = [(name, fact) for name, fact in facts.items() if fact]
    rows += [("example", change(pieces(*example))) for example in rule.examples]
    return table("A rule", ("", ""), rows)
