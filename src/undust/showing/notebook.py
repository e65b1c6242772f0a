"""Rules and measures as a notebook shows them: text in, escaped HTML out, no script and no style sheet.

A rule set is a table, one rule a sheet with its examples as diffs, an evaluation a table by site and by rule.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from undust.rules.language import short_ids
from undust.rules.verdict import verdict
from undust.showing.listing import RISK_HEAD, described, lost_pages, rate_of, site_name, summary
from undust.showing.words import in_words, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.measuring.judged import Evaluation
    from undust.measuring.measures import Measures
    from undust.rules.language import Rule
    from undust.rules.ruleset import RuleSet

CODE = "font-family:monospace;overflow-wrap:anywhere;unicode-bidi:bidi-override;direction:ltr"
_MARKS = {"=": "{}", "-": "<del>{}</del>", "+": "<ins>{}</ins>"}


class HtmlText(str):
    """Text that is HTML already."""

    __slots__ = ()


def code(text: str) -> HtmlText:
    """Return a URL or a pattern as code; line breaks stay."""
    lines = "<br>".join(map(escape, text.split("\n")))
    return HtmlText(f'<code style="{CODE}">{lines}</code>')


def change(pieces: Iterable[tuple[str, str]]) -> HtmlText:
    """Return what turns one URL into another, with what goes struck out and what comes underlined."""
    shown = "".join(_MARKS[mark].format(escape(text)) for mark, text in pieces)
    return HtmlText(f'<code style="{CODE}">{shown}</code>')


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a caption."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    words = f"<caption>{escape(caption)}</caption>"
    return f"<div><table>{words}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{text if isinstance(text, HtmlText) else escape(text)}</td>'


_MOST_SITES = 20
_MOST_RULES = 40


def evaluation_as_html(found: Evaluation) -> str:
    """Return two tables: the sites with what is removed and lost, the rules with what each does alone."""
    largest = sorted(found.sites.items(), key=lambda item: (-item[1].urls, item[0]))[:_MOST_SITES]
    heads = ("site", "URLs", "pages", "left", "removed", "95 %", "lost", "95 %")
    sites = table(
        f"{found.active:,} rules; {len(largest):,} of {len(found.sites):,} sites, the largest first",
        heads,
        [_row(name, one) for name, one in [*largest, ("all", found.total)]],
    )
    best = sorted(found.rules, key=lambda row: (-row.saved, row.name))[:_MOST_RULES]
    rules = table(
        f"alone, beyond standard normalization; {len(best):,} of {len(found.rules):,} rules",
        ("removed", "lost", "rule"),
        [(f"{row.saved:,}", f"{row.lost:,}", code(row.name)) for row in best],
    )
    return sites + rules


def _row(name: str, one: Measures) -> tuple[str, ...]:
    counts = (f"{count:,}" for count in (one.urls, one.clusters, one.canonical_urls))
    rates = (
        text
        for rate in ("removed", "lost")
        for text in (f"{getattr(one, rate):.2%}", "{:.2%} to {:.2%}".format(*one.interval_of(rate)))
    )
    return (name, *counts, *rates)


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
