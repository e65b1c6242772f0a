"""What a rule does, in a few words, measures by their names, and both as a notebook shows them.

A change of a URL is shown as the pieces that stay, that go and that come, read at a glance. The names of the
measures are those that other tools rely on: `evaluate --json`, `compare --json`, the report.

For a notebook, text becomes escaped HTML without script or style sheet: a rule set is a table, one rule a
sheet with its examples as diffs, an evaluation a table by site and by rule.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from html import escape
from typing import TYPE_CHECKING, Any

from undust.privacy.masking import forgotten_parameters
from undust.rules.language import short_ids
from undust.rules.verdict import verdict
from undust.showing.listing import RISK_HEAD, described, lost_pages, rate_of, site_name, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.measuring.judged import Evaluation, RuleRow
    from undust.measuring.measures import Measures
    from undust.rules.language import Rule
    from undust.rules.ruleset import RuleSet


KEPT, GONE, NEW = "=", "-", "+"
_WORDS = re.compile(r"\*{3}[0-9]*|[0-9A-Za-z]+|%[0-9A-Fa-f]{2}|.", re.DOTALL)
_CAPTURES = re.compile(r"(?:\{[^{}]*\})+")
LONGEST = 400
"""Words that are compared one by one; a longer middle is taken as a whole."""


def pieces(before: str, after: str) -> list[tuple[str, str]]:
    """Return the pieces of both URLs in order, each with what becomes of it.

    >>> pieces("http://www.a.test/x?sid=4", "http://a.test/x")
    [('=', 'http://'), ('-', 'www.'), ('=', 'a.test/x'), ('-', '?sid=4')]
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    inner_old, inner_new = old[start : len(old) - end], new[start : len(new) - end]
    found = [(KEPT, "".join(old[:start]))]
    if max(len(inner_old), len(inner_new)) > LONGEST:
        found += [(GONE, "".join(inner_old)), (NEW, "".join(inner_new))]
    else:
        for _, i, j, k, m in SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes():
            is_kept = inner_old[i:j] == inner_new[k:m]
            found += [(KEPT if is_kept else GONE, "".join(inner_old[i:j]))]
            found += [] if is_kept else [(NEW, "".join(inner_new[k:m]))]
    found.append((KEPT, "".join(old[len(old) - end :])))
    return _joined([(mark, text) for mark, text in found if text])


def _common(one: list[str], other: list[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _joined(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    done: list[tuple[str, str]] = []
    for mark, text in found:
        if done and done[-1][0] == mark:
            done[-1] = (mark, done[-1][1] + text)
        else:
            done.append((mark, text))
    return done


FORMS = {
    "lower": "writes lower case",
    "capital": "writes a capital first",
    "sorted": "sorts the parameters",
    "unique": "drops parameters that are repeated",
    "first": "keeps the first of parameters with one name",
    "last": "keeps the last of parameters with one name",
    "amp": "writes & for ;",
    "plain": "decodes what needs no encoding",
    "any": "ignores a value when URLs are compared",
}
_FORM = re.compile(r"\{\w+:(\w+)\}")
_ONLY = re.compile(r"\{\w+\*\*:([^}]+)\}&\{\*\*\}")
_SIDE = re.compile(r"([^:/]+)://([^/?]*)([^?]*)(?:\?(.*))?", re.DOTALL)


def in_words(rule: Rule) -> str:
    """Return what a rule does, without its conditions.

    >>> from undust.rules import Rule
    >>> in_words(Rule.parse('replace ".php3?" -> "?"', site="shop.test"))
    'replaces “.php3?” with “?”'
    >>> in_words(Rule.parse("rewrite {s}://www.a.test/{p**}?{r**} -> {s}://a.test/{p}?{r}", site="a.test"))
    'replaces www.a.test with a.test'
    """
    if rule.kind == "keep":
        return "keeps these URLs as they are"
    if rule.kind == "replace":
        return f"replaces “{rule.source}” with “{rule.target}”" if rule.target else f"removes “{rule.source}”"
    return "; ".join(_parts(rule)) or "writes the same page in another form"


def in_words_with_conditions(rule: Rule) -> str:
    """Return what a rule does and where, as a headline.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/{p**}?page={**}&{r**} -> {s}://{h}/{p}?{r}"
    >>> rule = Rule.parse(f"{text} when ?page=1, /c/{{**}} unless ?q={{**}}", site="a.test")
    >>> in_words_with_conditions(rule)
    'removes page=1 where it is below /c/, unless it has q'
    """
    values = _removed_values(rule)
    where = " and ".join(_condition(each) for each in rule.when if each not in values)
    unless = " or ".join(map(_condition, rule.unless))
    said = in_words(rule)
    for pattern, name in values.items():
        said = re.sub(rf"(?<=[ ]){re.escape(name)}(?=,|;|$)", pattern.removeprefix("?"), said, count=1)
    if where:
        said = f"{said} {where}" if where.startswith("where") else f"{said} where it is {where}"
        said = said.replace(" and where ", " and ").replace("where it is it has", "where it has")
    return f"{said}, unless {unless.replace('where ', '')}" if unless else said


def _removed_values(rule: Rule) -> dict[str, str]:
    """Return the conditions that say which value of a removed parameter is removed, with its name."""
    names = set(forgotten_parameters(rule)) if ":any}" not in (rule.target or "") else set()
    found = {}
    for pattern in rule.when:
        name, equals, value = pattern.removeprefix("?").partition("=")
        if pattern.startswith("?") and equals and name in names and not set("{&") & set(value):
            found[pattern] = name
    return found


def _condition(pattern: str) -> str:
    """Return a condition in words; one that is not plain is shown as it is written."""
    name, equals, value = pattern.removeprefix("?").partition("=")
    if pattern.startswith("?") and "&" not in pattern and "{" not in name:
        text = _CAPTURES.sub("…", value)
        return f"where {name}={text}" if equals and text != "…" else f"it has {name}"
    if (folder := pattern.removesuffix("{**}")) != pattern and folder.startswith("/") and "{" not in folder:
        return f"below {folder}"
    host = pattern.removeprefix("{s}://")
    return f"on {host}" if host != pattern and "/" not in host and "{" not in host else pattern


def _parts(rule: Rule) -> Iterator[str]:
    target = rule.target or ""
    left, right = _SIDE.fullmatch(rule.source), _SIDE.fullmatch(target)
    if left and right:
        yield from (
            f"replaces {left[at]} with {right[at]}" for at in (1, 2) if _is_other(left[at], right[at])
        )
    is_mask = ":any}" in target
    names = [name.removeprefix(";") for name in forgotten_parameters(rule)]
    if names:
        yield f"{'ignores the value of' if is_mask else 'removes'} {', '.join(names)}"
    yield from (FORMS[form] for form in _FORM.findall(target) if form in FORMS and form != "any")
    if left and right:
        yield from _path(left[3], right[3], is_mask=is_mask)
        yield from _query(left[4] or "", right[4] or "", names)


def _path(left: str, right: str, *, is_mask: bool) -> Iterator[str]:
    if "{*}" in left and not is_mask:
        yield "removes a part of the path"
    elif _fixed(left) != _fixed(right):
        yield f"replaces {_fixed(left) or '/'} with {_fixed(right) or '/'} in the path"


def _query(left: str, right: str, forgotten: list[str]) -> Iterator[str]:
    if only := _ONLY.search(left):
        yield f"keeps only {only[1].replace('|', ', ')} of the parameters"
    before, after = _entries(left), _entries(right)
    gone = [_fixed(one) for one in before if one not in after and one.partition("=")[0] not in forgotten]
    new = [_fixed(one) for one in after if one not in before]
    if gone and new:
        yield f"replaces {'&'.join(gone)} with {'&'.join(new)}"
    elif gone:
        yield f"removes {'&'.join(gone)}"
    elif new:
        yield f"adds {'&'.join(new)}"


def _entries(query: str) -> list[str]:
    """Return the parameters that a side names, without the rest and without their classes."""
    entries = re.sub(r":\w+\}", "}", query).split("&")
    return [entry for entry in entries if entry and not re.fullmatch(r"\{[^}]*\}", entry)]


def _is_other(left: str, right: str) -> bool:
    return re.sub(r":\w+\}", "}", left) != re.sub(r":\w+\}", "}", right)


def _fixed(text: str) -> str:
    """Return a part of a URL with its captures as dots."""
    return re.sub(r"\{[^}]*\}", "…", text)


COUNTS = (
    "urls", "canonical_urls", "clusters", "support_pairs", "false_positive_pairs",
    "lost_pages", "lost_unlike", "removed_urls", "duplicate_clusters", "collapsed_clusters",
)  # fmt: skip
RATES = (
    "compression_rate", "duplicate_rate", "dup_reduction_rate", "coverage", "removed", "lost",
    "fpr", "url_fpr", "lost_content_rate", "cluster_reduction",
)  # fmt: skip
JUDGED = ("sensitivity", "specificity", "precision", "accuracy")


def figures(measures: Measures) -> dict[str, Any]:
    """Return counts, rates, and the intervals of the rates."""
    found: dict[str, Any] = {name: getattr(measures, name) for name in (*COUNTS, *RATES)}
    table = measures.contingency
    found |= {"reduction_ratio": measures.compression_rate}
    found |= {name: getattr(table, name) for name in JUDGED}
    return found | {"intervals": {name: list(ends) for name, ends in measures.intervals().items()}}


def figures_of_rule(row: RuleRow) -> dict[str, Any]:
    """Return what one rule, or one class of rules, does alone."""
    return {
        "name": row.name,
        "class": row.kind,
        "saved": row.saved,
        "removed_urls": row.saved,
        "lost_pages": row.lost,
        "fpr": row.measures.fpr,
    }


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
