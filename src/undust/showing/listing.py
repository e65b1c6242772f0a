"""A rule set as a table for people: each rule with the URLs it removed, the pages it lost, and its risk.

The rules of a file are also listed by how much they need a person, as a table and as CSV. Tables are those of
rich if it is installed, else the same without colour.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from undust.display import PlainGroup, PlainTable, PlainText, how_many
from undust.rules.language import SHORTEST_ID, short_ids
from undust.rules.verdict import (
    LEVELS,
    alike_on_sites,
    leading,
    most_urgent_first,
    use_of,
    verdict,
    verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    from undust.rules.language import Rule
    from undust.rules.reasoning.check import Difference, Finding
    from undust.rules.ruleset import RuleSet
else:
    try:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text
    except ModuleNotFoundError:
        Group, Table, Text = PlainGroup, PlainTable, PlainText

__all__ = [
    "RISK_HEAD",
    "Text",
    "as_csv",
    "as_text",
    "described",
    "difference_table",
    "findings_table",
    "judged_rules",
    "listed",
    "lost_pages",
    "rate_of",
    "sheet",
    "site_name",
    "summary",
    "verdict_lines",
]

_WIDTH = 100
"""Columns of a table that goes nowhere in particular, such as a string or a pipe."""
_GAP = "  "
ID_COLUMN = 1
RISK_HEAD = "risk ≤"
"""The heading of the upper bound (95 % confidence) of the share of false merges of a rule."""
_OFF = "dim"


def as_text(rules: RuleSet) -> str:
    """Return the rules as plain text."""
    return "\n".join(listed(list(rules), _WIDTH, lambda text, _style: text))


def listed(
    rules: Sequence[Rule], width: int, styled: Callable[[str, str], str], *, origins: bool = False
) -> Iterator[str]:
    """Yield the lines of a table of the rules, and one that counts them; `styled(text, style)` colours.

    A library's table takes a millisecond for a row; a file may have a hundred thousand.

    Args:
        rules: In their order.
        width: Of a line.
        styled: Returns a text in a style.
        origins: Also show which method proposed each rule, and an example.

    """
    has_evidence = any(rule.saves is not None or rule.fpr_upper is not None for rule in rules)
    short = short_ids(rules)
    heads = ["#", "id", *(["removed", "lost", RISK_HEAD] if has_evidence else [])]
    rows = [
        [
            str(number),
            short[rule.id],
            *((_count(rule.saves), lost_pages(rule), rate_of(rule.fpr_upper)) if has_evidence else ()),
        ]
        for number, rule in _in_order(rules)
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    rest = max(width - sum(widths) - len(_GAP) * len(widths), 8)

    def cells(row: Sequence[str]) -> str:
        padded = (
            text.ljust(size) if place == ID_COLUMN else text.rjust(size)
            for place, (text, size) in enumerate(zip(row, widths, strict=True))
        )
        return _GAP.join(padded) + _GAP

    blank = " " * len(cells([""] * len(widths)))
    yield styled(cells(heads) + "rule", "bold").rstrip()
    group = None
    for row, (_, rule) in zip(rows, _in_order(rules), strict=True):
        if group != (rule.site, rule.status == "proposed"):
            group = rule.site, rule.status == "proposed"
            yield blank + styled(site_name(rule.site) + ", proposed and not applied" * group[1], "bold")
        style = "" if rule.status == "active" else _OFF
        lines = [(line, style) for line in described(rule).split("\n")]
        lefts = [cells(row)]
        if origins:
            lines += [(line, _OFF) for line in _example(rule)]
            lefts += [styled(left, _OFF) for left in _proposer(rule, widths[0], len(blank))]
        beside = iter(lefts)
        for line, look in lines:
            for start in range(0, len(line), rest):
                yield (next(beside, blank) + styled(line[start : start + rest], look)).rstrip()
        yield from (left.rstrip() for left in beside)
    yield summary(rules)


def _in_order(rules: Sequence[Rule]) -> list[tuple[int, Rule]]:
    """Return rules with their numbers; what is only proposed comes last."""
    return sorted(enumerate(rules, 1), key=lambda each: each[1].status == "proposed")


def site_name(site: str) -> str:
    """Return how people call a site."""
    return "all sites" if site == "*" else site


def described(rule: Rule) -> str:
    """Return a rule over a few short lines: left side, right side, conditions."""
    quote = '"' if rule.kind == "replace" else ""
    lines = [f"{rule.kind:<8}{quote}{rule.source}{quote}"]
    if rule.target is not None:
        lines.append(f"      → {quote}{rule.target}{quote}")
    conditions = (("when", rule.when), ("unless", rule.unless), ("except", rule.except_sites))
    lines += [f"{word:>7} {', '.join(texts)}" for word, texts in conditions if texts]
    if not rule.fetch:
        lines.append("        for comparing only")
    if rule.needs:
        lines.append(f"  needs {', '.join(need[:SHORTEST_ID] for need in rule.needs)}")
    if rule.status == "disabled":
        lines.append(f"    off{_why_off(rule)}")
    return "\n".join(lines)


def _proposer(rule: Rule, number: int, width: int) -> Iterator[str]:
    """Yield the method that proposed a rule, to be shown under its id, after the columns of its number."""
    if rule.learned_by:
        said, room = f"{'':{number}}{_GAP}by {rule.learned_by}", width - len(_GAP)
        yield (said if len(said) <= room else f"{said[: room - 1]}…").ljust(width)


def _example(rule: Rule) -> Iterator[str]:
    """Yield the shortest of a rule's examples."""
    if rule.examples:
        url, result = min(rule.examples, key=lambda pair: (len(pair[0]), pair))
        yield from (f"  as in {url}", f"      → {result}")


def _why_off(rule: Rule) -> str:
    """Return why evidence switched a rule off; nothing where a person did."""
    said = rule.extra.get("retired")
    if not isinstance(said, dict):
        return ""
    return f"  retired{' ' * ('when' in said)}{said.get('when', '')}: {said.get('reason', 'no reason given')}"


def summary(rules: Sequence[Rule]) -> str:
    """Return how many rules there are, of how many sites, and how many are off."""
    sites = len({rule.site for rule in rules})
    counts = {
        "off": sum(rule.status == "disabled" for rule in rules),
        "proposed": sum(rule.status == "proposed" for rule in rules),
        "for comparing only": sum(rule.status == "active" and not rule.fetch for rule in rules),
    }
    saved = sum(rule.saves or 0 for rule in rules if rule.status == "active")
    words = [f"{how_many(len(rules), 'rule')} of {how_many(sites, 'site')}"]
    words += [f"{count:,} {word}" for word, count in counts.items() if count]
    words += [f"{how_many(saved, 'held-out URL')} removed"] if saved else []
    return ", ".join(words)


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def lost_pages(rule: Rule) -> str:
    """Return how many held-out pages a rule merged into a different one; nothing if it was not measured.

    Rules that were learned before pages were counted have only the number of false pairs.
    """
    counted = rule.extra.get("counted")
    if isinstance(counted, dict) and isinstance(counted.get("lost"), int):
        return _count(counted["lost"])
    return "≥1" if rule.false_positives else _count(rule.false_positives)


def rate_of(value: float | None) -> str:
    """Return a rate as people read it; nothing where it is unknown."""
    return "" if value is None else f"{value:.2%}"


def sheet(rule: Rule) -> RenderableType:
    """Return one rule with all that is known about it."""
    grid = _grid("", "", header=False)
    facts: dict[str, str | Text] = {
        "id": rule.id,
        "site": site_name(rule.site),
        "rule": described(rule),
        "status": {"active": "on", "disabled": "off"}.get(rule.status, rule.status),
        "verdict": ": ".join(verdict(rule)),
        "leads": str(leading(rule)) if rule.targets else "",
        "needs": ", ".join(rule.needs),
        "review": ", ".join(f"{key} {value}" for key, value in (rule.review or {}).items()),
        "learned by": rule.learned_by or "",
        "support": _count(rule.support),
        "false pairs": _count(rule.false_positives),
        "fpr": rate_of(rule.fpr),
        "removed": _count(rule.saves),
        "lost": lost_pages(rule),
        RISK_HEAD: rate_of(rule.fpr_upper),
        "examples": "\n".join(f"{url}\n→ {result}" for url, result in rule.examples),
        "validated": ", ".join(f"{key} {value}" for key, value in (rule.validated or {}).items()),
        **{key: json.dumps(value, ensure_ascii=False) for key, value in rule.extra.items()},
    }
    for name, fact in facts.items():
        if fact:
            grid.add_row(Text(name, style="cyan"), fact)
    return grid


def findings_table(findings: Sequence[Finding], count: int) -> RenderableType:
    """Return findings as paragraphs, one each."""
    if not findings:
        return Text(f"{how_many(count, 'rule')}, nothing found")
    grid = _grid("", "", header=False)
    for finding in findings:
        grid.add_row(Text(finding.kind, style="yellow"), finding.message)
        for number, rule in zip(finding.numbers, finding.rules, strict=True):
            grid.add_row("", Text(f"{number}: {rule}", style="dim"))
        grid.add_row("", "")
    return Group(grid, Text(f"{how_many(len(findings), 'finding')} in {how_many(count, 'rule')}"))


def difference_table(difference: Difference) -> RenderableType:
    """Return what came, went, changed and moved, one rule a row."""
    grid = _grid("", "id", "rule", header=False)
    marked = (
        ("+", "green", difference.added),
        ("-", "red", difference.removed),
        ("moved", "", difference.moved),
    )
    for mark, style, rules in marked:
        for rule in rules:
            grid.add_row(Text(mark, style=style), rule.id[:SHORTEST_ID], f"{site_name(rule.site)}: {rule}")
    for change in difference.changed:
        told = "; ".join(f"{key} {_shown(old)} → {_shown(new)}" for key, (old, new) in change.fields.items())
        grid.add_row(Text("~", style="yellow"), change.after.id[:SHORTEST_ID], f"{change.after}\n{told}")
    counts = (difference.added, difference.removed, difference.changed, difference.moved)
    words = ("added", "removed", "changed", "moved")
    summary_line = ", ".join(
        f"{len(rules):,} {word}" for rules, word in zip(counts, words, strict=True) if rules
    )
    return Group(grid, Text(summary_line or "no difference"))


def _grid(*names: str, header: bool) -> Table:
    grid = Table(box=None, show_header=header, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in names[:-1]:
        grid.add_column(name, no_wrap=True)
    grid.add_column(names[-1], overflow="fold")
    return grid


def _shown(value: object) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


_STYLES = {"risky": "bold", "look": "bold", "ok": ""}
_NAMED_SITES = 3
"""Sites that are named where a rule is the same on several."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula."""


def judged_rules(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """Return all that a person needs to decide on each rule, the most urgent first."""
    judged = verdicts(rules)
    return [
        {
            "number": place + 1,
            "id": rules[place].id,
            "site": rules[place].site,
            "rule": str(rules[place]),
            "status": rules[place].status,
            "verdict": judged[place].level,
            "reason": judged[place].reason,
            "use": use_of(rules[place]),
            "leads": str(leading(rules[place])) if rules[place].kind != "keep" else "",
            **_targets(rules[place]),
            "needs": " ".join(rules[place].needs),
            "removed": rules[place].saves,
            "pairs": rules[place].support,
            "false_pairs": rules[place].false_positives,
            "risk": rules[place].fpr_upper,
            "review": (rules[place].review or {}).get("verdict", ""),
            "by": (rules[place].review or {}).get("by", ""),
            "when": (rules[place].review or {}).get("when", ""),
            "note": (rules[place].review or {}).get("note", ""),
        }
        for place in most_urgent_first(judged)
    ]


def _targets(rule: Rule) -> dict[str, float | None]:
    """Return which share of the results of a rule was seen to work, and how; None if none is known."""
    lead = leading(rule)
    names = {
        "works_share": lead.seen,
        "redirect_share": lead.redirected,
        "unseen_share": lead.unseen,
        "wrong_share": lead.wrong,
    }
    return {name: round(count / lead.total, 4) if lead.total else None for name, count in names.items()}


def as_csv(rules: Sequence[Rule]) -> bytes:
    """Return the same for spreadsheets."""
    text = io.StringIO(newline="")
    rows = judged_rules(rules)
    names = list(rows[0]) if rows else ["number", "id", "site", "rule", "status", "verdict", "reason"]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:  # noqa: ANN401 -- a text or a number
    # Rules come from strangers' crawls, and a cell that begins so is run by spreadsheets.
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def verdict_lines(rules: Sequence[Rule], styled: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a line and a few more for each rule, the most urgent first, then the counts.

    Rules that are the same on several sites, with the same verdict, are shown once.
    """
    short = short_ids(rules)
    judged = verdicts(rules)
    rows = {row["number"]: row for row in judged_rules(rules)}
    for places in alike_on_sites(rules, judged):
        own = [rows[place + 1] for place in places]
        row = max(own, key=lambda one: (one["removed"] or 0, -one["number"]))
        level = styled(f"{row['verdict']:<8}", _STYLES.get(row["verdict"], "dim"))
        name = site_name(row["site"]) if len(own) == 1 else how_many(len(own), "site")
        yield f"{level}  {short[row['id']]}  {name}: {row['reason']}"
        yield f"          {row['rule']}"
        more = [row["use"]] + [f"results: {row['leads']}"] * (row["leads"] not in {"", "unknown"})
        removed = sum(one["removed"] or 0 for one in own)
        more += [f"removed {removed:,} URLs"] * bool(removed)
        more += [f"risk at most {rate_of(row['risk'])}"] * (row["risk"] is not None)
        more += [f"note: {row['note']}"] * bool(row["note"])
        yield styled(f"          {'; '.join(more)}", "dim")
        if len(own) > 1:
            yield styled(f"          on {_few_of([one['site'] for one in own])}", "dim")
    counts = Counter(each.level for each in judged)
    yield ", ".join(f"{counts[level]:,} {level}" for level in LEVELS if counts[level]) or "no rules"


def _few_of(sites: Sequence[str]) -> str:
    """Return some names and how many more there are."""
    more = f" and {len(sites) - _NAMED_SITES:,} more" if len(sites) > _NAMED_SITES else ""
    return f"{', '.join(sites[:_NAMED_SITES])}{more}"
