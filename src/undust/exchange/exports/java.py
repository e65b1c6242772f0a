r"""Apache Nutch, StormCrawler and Heritrix: expressions of Java, each applied once, from top to bottom.

`regex-normalize.xml` of Nutch and StormCrawler has patterns and substitutions. Each pattern replaces all its
matches, once. So what may happen many times in one URL is written as a pattern that goes on where its last
match ended (`\G`).

A regex rule in the canonicalization policy of a Heritrix job applies if its expression matches the whole URL,
once. So a rule that may have to act on its own result is written several times.

None of them starts again, so the rules are written in an order in which one pass does what the canonicalizer
does in many steps. One pass is enough if a
rule follows all rules on whose results it may act, and rules that may act on the same URL keep the
order of the file: whatever the canonicalizer would do next is then still to come.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, ExportRefusal, Target
from undust.exchange.exports.expressible import said, without
from undust.exchange.exports.expressions import NOT_STANDARD, STANDARD_FORM_AT_ONCE, without_groups
from undust.exchange.exports.overlap import PathIndex, may_meet
from undust.exchange.exports.rule_order import MANY_KEEPS, MOST_KEEPS, Following
from undust.exchange.exports.statements import by_site, expression, guard, replacement, shield
from undust.exchange.exports.steps import UNESCAPED
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule
    from undust.exchange.exports.steps import ExpressionStep


TURNS = 8
"""How often a rule that may act on its own result is written."""
ONCE_EACH = (
    "http(s) URLs in standard form, on which no rule has to act more than eight times; any other spelling is"
    " left alone"
)
_BOTH = "it would have to precede and follow rule {}, and each rule is applied once"


def in_one_pass(found: Sequence[ExpressedRule]) -> tuple[list[ExpressedRule], list[ExportRefusal]]:
    """Return rules in such an order, without those that have no place in it."""
    many = {number for number, keeps in _keeps_before(found).items() if len(keeps) > MOST_KEEPS}
    left = [each for each in found if each.numbered.number not in many]
    refused = [
        ExportRefusal(each.numbered.number, each.rule, MANY_KEEPS)
        for each in found
        if each.numbered.number in many
    ]
    while True:
        ordered, circle = _sorted([each for each in left if each.image is not None], left)
        if not circle:
            return ordered, refused
        # Of a `replace` the least is known, so that it excludes others most often.
        last = next((each for each in reversed(circle) if each.rule.kind == "replace"), circle[-1])
        left = [each for each in left if each is not last]
        other = next(each for each in circle if each is not last)
        refused.append(ExportRefusal(last.numbered.number, last.rule, _BOTH.format(other.numbered.number)))


def _sorted(
    rules: list[ExpressedRule], found: Sequence[ExpressedRule]
) -> tuple[list[ExpressedRule], list[ExpressedRule]]:
    """Return the rules sorted, or rules that would have to precede each other."""
    behind = _orders(rules, found)
    before: list[list[int]] = [[] for _ in rules]
    for place, others in enumerate(behind):
        for other in others:
            before[other].append(place)
    missing = [len(others) for others in behind]
    ready = [place for place, count in enumerate(missing) if not count]
    ordered: list[int] = []
    while ready:
        ordered.append(heappop(ready))
        for place in before[ordered[-1]]:
            missing[place] -= 1
            if not missing[place]:
                heappush(ready, place)
    waiting = sorted(set(range(len(rules))).difference(ordered))
    return [rules[place] for place in ordered], [rules[place] for place in _circle(waiting, behind)]


def _circle(waiting: list[int], behind: list[set[int]]) -> list[int]:
    """Return some of those that wait, each for the next and the last for the first."""
    way: list[int] = []
    place = waiting[0] if waiting else -1
    while waiting and place not in way:
        way.append(place)
        place = min(behind[place] & set(waiting))
    return sorted(way[way.index(place) :]) if way else []


def _orders(rules: list[ExpressedRule], found: Sequence[ExpressedRule]) -> list[set[int]]:
    """Return for each rule those that must precede it."""
    behind: list[set[int]] = [set() for _ in rules]
    keeps = _keeps_before(found)
    for places in by_site(rules):
        following = Following([rules[place] for place in places])
        last: Sequence[int] = ()
        for block in _parted(following.blocks(), len(places)):
            for place in block:
                behind[places[place]].update(places[other] for other in last)
            for place, others in _in_block(following, block, keeps).items():
                behind[places[place]].update(places[other] for other in others)
            last = block
    return behind


def _parted(blocks: list[range], count: int) -> Iterator[range]:
    """Yield the blocks, and each rule between them as a block of its own, which stays where it is."""
    start = 0
    for block in (*blocks, range(count, count)):
        yield from (range(place, place + 1) for place in range(start, block.start))
        if block:
            yield block
        start = block.stop


def _in_block(following: Following, block: range, keeps: Keeps) -> dict[int, set[int]]:
    """Return for each rule of a block those of the block that must precede it."""
    rules = following.rules
    woken = {place: {other for other in following.woken[place] if other in block} for place in block}
    behind: dict[int, set[int]] = {place: set() for place in block}
    for place in block:
        for later in woken[place]:
            behind[later].add(place)
    for later in block:
        followers = {later} | _reached(later, woken)
        for place in range(block.start, later):
            if place in behind[later]:
                continue
            if may_meet(rules[place].source, rules[later].source) and any(
                not _are_apart(rules[place], rules[follower], keeps) for follower in followers
            ):
                behind[later].add(place)
    return behind


def _reached(start: int, woken: dict[int, set[int]]) -> set[int]:
    found: set[int] = set()
    waiting = [start]
    while waiting:
        new = woken[waiting.pop()] - found
        found |= new
        waiting += new
    return found


Keeps = dict[int, list["ExpressedRule"]]
"""The keeps before each rule, by the number of the rule."""


def _are_apart(one: ExpressedRule, other: ExpressedRule, keeps: Keeps) -> bool:
    """Whether two rules do the same in either order: neither they nor their keeps look at each other."""
    for first, second in ((one, other), (other, one)):
        watched = [second.watches, *(keep.watches for keep in keeps[second.numbered.number])]
        if any(first.touches.meet(watches) for watches in watched):
            return False
    return one is not other


def _keeps_before(found: Sequence[ExpressedRule]) -> Keeps:
    """Return for each rule that writes the keeps before it that may match the same URLs; some, if many."""
    seen: list[ExpressedRule] = []
    indexes: defaultdict[str, PathIndex] = defaultdict(PathIndex)
    keeps: Keeps = {}
    for each in found:
        if each.image is None:
            indexes[each.rule.site].add(each.source, len(seen))
            seen.append(each)
            continue
        sites = indexes if each.rule.site == ANY_SITE else {each.rule.site, ANY_SITE} & indexes.keys()
        near = (place for site in sites for place in indexes[site].candidates(each.source))
        met = (place for place in near if may_meet(seen[place].source, each.source))
        keeps[each.numbered.number] = [seen[place] for place in sorted(islice(met, MOST_KEEPS + 1))]
    return keeps


def shields(found: Sequence[ExpressedRule]) -> dict[int, str]:
    """Return for each rule, by its number, look aheads for what the keeps before it keep."""
    return {
        number: "".join(shield(step) for keep in keeps for step in keep.steps)
        for number, keeps in _keeps_before(found).items()
    }


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
