r"""Apache Nutch, StormCrawler and Heritrix: expressions of Java, each applied once, from top to bottom.

`regex-normalize.xml` of Nutch and StormCrawler has patterns and substitutions. Each pattern replaces all its
matches, once. So what may happen many times in one URL is written as a pattern that goes on where its last
match ended (`\G`).

A regex rule in the canonicalization policy of a Heritrix job applies if its expression matches the whole URL,
once. So a rule that may have to act on its own result is written several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.expressible import said, without
from undust.exchange.exports.expressions import NOT_STANDARD, STANDARD_FORM_AT_ONCE, without_groups
from undust.exchange.exports.passing import ONCE_EACH, TURNS, in_one_pass, shields
from undust.exchange.exports.statements import expression, guard, replacement
from undust.exchange.exports.steps import UNESCAPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule
    from undust.exchange.exports.steps import ExpressionStep

STANDARD_GUARD = f"(?!{NOT_STANDARD})(?={STANDARD_FORM_AT_ONCE}$)"


def pair(step: ExpressionStep, shields: str) -> tuple[str, str]:
    """Return an expression and a replacement of Java."""
    return expression(step, STANDARD_GUARD + shields), written(step)


def written(step: ExpressionStep) -> str:
    """Return a replacement of Java."""
    return replacement(step, "${}".format, _escaped)


def _escaped(text: str) -> str:
    # A digit behind `$1` would belong to the number of the group.
    start = "\\" if text[:1].isdigit() else ""
    return start + text.replace("\\", r"\\").replace("$", r"\$")


def as_xml(text: str) -> str:
    """Return a text for an element or an attribute."""
    return escape(text, {'"': "&quot;"})


def as_comment(text: str) -> str:
    """Return a text for a comment, which cannot hold two hyphens."""
    return text.replace("--", "- -")


_NUTCH_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by undust, for the plugin urlnormalizer-regex. -->
<regex-normalize>
"""


def write_nutch(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the file."""
    found, refused = said(rules)
    ordered, more = in_one_pass(found)
    away = shields(found)
    body = "".join(_element(each, away[each.numbered.number]) for each in ordered)
    return ExportedText(f"{_NUTCH_HEAD}{body}</regex-normalize>\n", (*refused, *more))


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


NUTCH = Target(
    "nutch", "regex-normalize.xml, for Nutch and StormCrawler", ONCE_EACH, write_nutch, fetches=True
)


_HERITRIX_HEAD = """\
<!-- Written by undust: put this bean into crawler-beans.cxml, for the canonicalizationPolicy there. -->
<bean id="canonicalizationPolicy" class="org.archive.modules.canonicalize.RulesCanonicalizationPolicy">
  <property name="rules">
    <list>
"""
_TAIL = """\
    </list>
  </property>
</bean>
"""


def write_heritrix(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the bean."""
    found, refused = said(rules)
    found, many = without(found, _require_few)
    ordered, more = in_one_pass(found)
    away = shields(found)
    body = "".join(_beans(each, away[each.numbered.number]) for each in ordered)
    return ExportedText(_HERITRIX_HEAD + body + _TAIL, (*refused, *many, *more))


def _require_few(each: ExpressedRule) -> None:
    if each.compiled.escaping:
        message = (
            "a value of any length moves into the path, and each of its `+` would need a rule of its own"
        )
        raise CannotExpress(message)


def _beans(each: ExpressedRule, away: str) -> str:
    beans = "".join(
        '      <bean class="org.archive.modules.canonicalize.RegexRule">\n'
        f'        <property name="regex" value="{as_xml(pattern)}"/>\n'
        f'        <property name="format" value="{as_xml(text)}"/>\n      </bean>\n'
        for pattern, text in (pair(step, away) for step in each.steps)
    )
    turns = TURNS if each.acts_on_own_result else 1
    return f"\n      <!-- {as_comment(str(each.numbered))} -->\n" + beans * turns


HERITRIX = Target(
    "heritrix",
    "a canonicalization policy of regex rules, a bean for crawler-beans.cxml",
    ONCE_EACH,
    write_heritrix,
)
