"""Heritrix: regex rules for the canonicalization policy of a crawl job.

A rule applies if its expression matches the whole URL, once, from top to bottom. So a rule that may have to
act on its own result is written several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.expressible import said, without
from undust.exchange.exports.java import as_comment, as_xml, pair
from undust.exchange.exports.passing import ONCE_EACH, TURNS, in_one_pass, shields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule

_HEAD = """\
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


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the bean."""
    found, refused = said(rules)
    found, many = without(found, _require_few)
    ordered, more = in_one_pass(found)
    away = shields(found)
    body = "".join(_beans(each, away[each.numbered.number]) for each in ordered)
    return ExportedText(_HEAD + body + _TAIL, (*refused, *many, *more))


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
    "heritrix", "a canonicalization policy of regex rules, a bean for crawler-beans.cxml", ONCE_EACH, write
)
