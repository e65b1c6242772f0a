r"""Apache Nutch and StormCrawler: `regex-normalize.xml`, patterns and substitutions of Java.

Each pattern replaces all its matches, once, from top to bottom. So what may happen many times in one URL is
written as a pattern that goes on where its last match ended (`\G`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.dialects import guard
from undust.exchange.exports.expressible import said
from undust.exchange.exports.expressions import without_groups
from undust.exchange.exports.java import STANDARD_GUARD, as_comment, as_xml, pair
from undust.exchange.exports.passing import ONCE_EACH, TURNS, in_one_pass, shields
from undust.exchange.exports.steps import UNESCAPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule
    from undust.exchange.exports.steps import ExpressionStep

_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by undust, for the plugin urlnormalizer-regex. -->
<regex-normalize>
"""


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the file."""
    found, refused = said(rules)
    ordered, more = in_one_pass(found)
    away = shields(found)
    body = "".join(_element(each, away[each.numbered.number]) for each in ordered)
    return ExportedText(f"{_HEAD}{body}</regex-normalize>\n", (*refused, *more))


def _element(each: ExpressedRule, away: str) -> str:
    lines = [f"\n<!-- {as_comment(str(each.numbered))} -->\n"]
    for pattern, substitution in _pairs(each, away):
        lines.append(
            f"<regex>\n  <pattern>{as_xml(pattern)}</pattern>\n"
            f"  <substitution>{as_xml(substitution)}</substitution>\n</regex>\n"
        )
    return "".join(lines)


def _pairs(each: ExpressedRule, away: str) -> Iterator[tuple[str, str]]:
    if each.compiled.dropped is not None:
        yield _without(each, each.compiled.dropped.expression, away)
        return
    escaping = [_everywhere(step, away) for step in each.compiled.escaping]
    for _ in range(TURNS if each.acts_on_own_result else 1):
        for step in each.compiled.steps:
            yield from escaping
            yield pair(step, away)


def _everywhere(step: ExpressionStep, away: str) -> tuple[str, str]:
    """Return a pair that writes a character of a value in another way, anywhere in the value."""
    url, mark, head, character, _ = step.pieces
    texts = [piece if isinstance(piece, str) else piece.expression for piece in (url, mark, head)]
    # A step takes the first of both characters; here each has a pattern of its own.
    whole = without_groups(step.pieces).replace(UNESCAPED, "[^&;]*")
    start = f"^{STANDARD_GUARD}{away}{guard(step)}(?={whole}$)"
    first = "".join(texts).removesuffix(UNESCAPED)
    value, triplet = ("[^&;+]*", "%20") if character == r"\+" else ("[^&;?]*", "%3F")
    return rf"(?:{start}({first})|\G(?!^))({value}){character}", f"$1$2{triplet}"


def _without(each: ExpressedRule, one: str, away: str) -> tuple[str, str]:
    """Return a pair that removes parameters anywhere in the query."""
    step = each.compiled.steps[0]
    url = without_groups(step.pieces[:-1])
    start = f"^{STANDARD_GUARD}{away}{guard(step)}"
    nothing_left = rf"\?(?:{one}(?:&{one})*+(?:&(?:&{one})*+)?|(?:&{one})++)$"
    others = rf"[^&]*(?:&(?!(?:{one})(?:&|$))[^&]*)*+"
    pattern = rf"{start}({url}){nothing_left}|{start}({url}\?)(?:{one}&)*+|\G(?!^)({others})(?:&{one})++"
    return pattern, "$1$2$3"


NUTCH = Target("nutch", "regex-normalize.xml, for Nutch and StormCrawler", ONCE_EACH, write, fetches=True)
