"""What a person should do with a rule: nothing, look at it, or treat it as a risk; and the one reason why.

    risky   it is known to merge different pages, or to lead to URLs that do not work
    look    too little is known of it, or it does what is often a mistake
    ok      the observations support it, or a person approved it

The verdict follows from the rule and its evidence alone, so that a file means the same everywhere. It looks
at the words that a rule writes, too: a printer's form or another language is rarely the better target. What
the person then decides is kept in the rule's `review`: verdict, who, when, and a note.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from undust.errors import UndustError
from undust.rules.compiled import rules_in_effect
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.rules.language import Rule


_LESSER = re.compile(
    r"(?:^|[/.?&=_-])(?:print\w*|amp|mobile|m|wap|pda|feeds?|rss\w*|atom|textonly)(?:$|[/.?&=_-])",
    re.IGNORECASE,
)
_CAPTURE = re.compile(r"\{[^{}]*\}")
_HOST = re.compile(r"^\^?[^/]*://[^/]*")
_LANGUAGES = frozenset(
    re.findall(
        "..",
        "arbgbncacsdadeeleneoesetfafifrgaglhehihrhuitjakakoltlvmkmsnbnlnnplptroruskslsqsrsvtathtrukurvizh",
    )
)
"""Codes of ISO 639-1 that sites name their translations by, without those that are English words."""
_WORD = re.compile(r"(?:^|(?<=[/.=]))([A-Za-z]{2})(?:[-_][A-Za-z]{2})?(?=$|[/.&])")


def names_lesser_form(text: str) -> bool:
    """Return whether a text names a printer's, mobile or feed form."""
    return bool(_LESSER.search(text))


def prefers_lesser_form(rule: Rule) -> bool:
    """Return whether a rule writes the name of a printer's, mobile or feed form that it did not read.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/guide/{id:int} → {s}://{h}/print.php?id={id}"
    >>> prefers_lesser_form(Rule.parse(text, site="shop.test"))
    True
    >>> text = "rewrite {s}://{h}/print/news/{id:int} → {s}://{h}/amp/news/{id}"
    >>> prefers_lesser_form(Rule.parse(text, site="shop.test"))
    True
    """
    sides = (_CAPTURE.sub("/", side or "") for side in (rule.source, rule.target))
    read, written = (
        {found[0].strip("/.?&=_-").lower() for found in _LESSER.finditer(side)} for side in sides
    )
    return bool(written - read)


def prefers_other_form(rule: Rule) -> bool:
    """Return whether a rule leads to a lesser form of a page, or to a language that it did not read."""
    return prefers_lesser_form(rule) or language_written(rule) is not None


def name_other_form(written: Iterable[str], read: Iterable[str]) -> bool:
    """Return whether words name a lesser form of a page, or a language that others do not name.

    >>> name_other_form(["da"], ["manual", "en"]), name_other_form(["2.4"], ["manual", "en"])
    (True, False)
    """
    known = set().union(*map(_languages, read))
    return any(names_lesser_form(word) or _languages(word) - known for word in written)


def language_written(rule: Rule) -> str | None:
    """Return the code of a language that a rule writes and did not read; else None.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/docs/{a}?{rest**} → {s}://{h}/manual/ru/{a}?{rest}"
    >>> language_written(Rule.parse(text, site="a.test"))
    'ru'
    """
    read, written = map(_languages, (rule.source, rule.target or ""))
    return min(written - read, default=None)


def _languages(side: str) -> set[str]:
    # The end of a host is a country's, not a language.
    texts = _CAPTURE.sub("{}", _HOST.sub("", side))
    return {found.lower() for found in _WORD.findall(texts)} & _LANGUAGES


VerdictLevel = Literal["risky", "look", "ok", "proposed", "off"]
LEVELS: tuple[VerdictLevel, ...] = get_args(VerdictLevel)
"""From what needs a person most to what needs none."""

_MOST_FALSE = 0.01
_FEW_PAIRS = 10
_LEAST_WORKING = 0.5
_MOST_RISK = 0.3
"""A rule that may lose more than this share of its pages rests on a handful of them."""
NOT_KNOWN = "where it leads is not known"
_HALF_PER_CENT = 0.005
_LITTLE_KNOWN = "too few show that it is right"
_PAGING = frozenset({"page", "p", "pg", "paged", "start", "offset", "skip", "from", "limitstart", "cursor"})
_NAMED = re.compile(r"[?&]([^={}&]+)=\{\*\*\}|\{\*\*:([^{}]*)\}")


class RuleVerdict(NamedTuple):
    """What to do with a rule, and why."""

    level: VerdictLevel
    reason: str


class Leading(NamedTuple):
    """Where the results of a rule lead, of those that were looked at."""

    seen: int
    redirected: int
    unseen: int
    wrong: int

    @property
    def total(self) -> int:
        """How many results were looked at."""
        return sum(self)

    @property
    def works(self) -> float:
        """The share that was seen to work, or that the site itself leads to."""
        return (self.seen + self.redirected) / self.total if self.total else 0.0

    def __str__(self) -> str:
        """Return one line for people."""
        if not self.total:
            return "unknown"
        parts = (
            (self.seen, "seen to work"),
            (self.redirected, "by redirect"),
            (self.unseen, "unseen"),
            (self.wrong, "wrong"),
        )
        return ", ".join(f"{_rounded(count / self.total)} {name}" for count, name in parts if count)


def _rounded(share: float) -> str:
    return "under 1%" if share < _HALF_PER_CENT else f"{share:.0%}"


def leading(rule: Rule) -> Leading:
    """Return where the results of a rule lead, as far as its evidence shows."""
    known = rule.targets or {}
    return Leading(*(known.get(name, 0) for name in Leading._fields))


def use_of(rule: Rule) -> str:
    """Return what the results of a rule are good for.

    >>> from undust.rules import Rule
    >>> use_of(Rule("shop.test", "replace", "?sid", "", fetch=False))
    'compare-only'
    """
    if rule.kind == "keep":
        return "keep"
    if not rule.fetch or ":any}" in (rule.target or ""):
        return "compare-only"
    return "redirect-safe" if leading(rule).total else NOT_KNOWN


def verdicts(rules: Iterable[Rule]) -> list[RuleVerdict]:
    """Return the verdict of each rule, in the order of the set."""
    given = list(rules)
    acting = {rule.id for rule in rules_in_effect(given)}
    return [verdict(rule, is_acting=rule.id in acting) for rule in given]


def most_urgent_first(judged: Sequence[RuleVerdict]) -> list[int]:
    """Return the places of rules, those that need a person first; of one level in their order."""
    return sorted(range(len(judged)), key=lambda place: LEVELS.index(judged[place].level))


def first_of_each_reason(reasons: Sequence[str], most: int) -> list[int]:
    """Return the first places of a list, and the first place of each reason.

    >>> first_of_each_reason(["a", "a", "a", "b", "b"], 2)
    [0, 1, 3]
    """
    first = {reason: at for at, reason in reversed(list(enumerate(reasons)))}
    return [at for at, reason in enumerate(reasons) if at < most or first[reason] == at]


def alike_on_sites(rules: Sequence[Rule], judged: Sequence[RuleVerdict]) -> list[list[int]]:
    """Return the places of rules, those together that are the same on several sites with one verdict.

    The name of the site itself may differ. The groups that need a person come first.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://www.%s/{p**}?{r**} -> {s}://%s/{p}?{r}"
    >>> rules = [Rule.parse(text % (site, site), site=site) for site in ("a.test", "b.test")]
    >>> alike_on_sites(rules, verdicts(rules))
    [[0, 1]]
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for place in most_urgent_first(judged):
        rule = rules[place]
        said = "\n".join((rule.source, rule.target or "", *rule.when, "", *rule.unless))
        text = said if rule.site == ANY_SITE else said.replace(rule.site, "\0")
        groups.setdefault((judged[place].level, rule.kind, rule.fetch, text), []).append(place)
    return list(groups.values())


def verdict(rule: Rule, *, is_acting: bool = True) -> RuleVerdict:
    """Return what a person should do with one rule.

    >>> from undust.rules import Rule
    >>> verdict(Rule("shop.test", "replace", "?sid", "", support=120, false_positives=0)).level
    'ok'
    """
    if rule.status == "proposed":
        return RuleVerdict("proposed", "it is likely and not proven; `undust validate` asks the site")
    if rule.status == "disabled":
        return RuleVerdict("off", "it is switched off")
    return _reviewed(rule) or _risk(rule) or _doubt(rule, is_acting=is_acting) or _fine(rule)


def _reviewed(rule: Rule) -> RuleVerdict | None:
    said = rule.review or {}
    by = f" by {said['by']}" if said.get("by") else ""
    if said.get("verdict") == "rejected":
        return RuleVerdict("risky", f"it was rejected{by}, and is still active")
    return RuleVerdict("ok", f"approved{by}") if said.get("verdict") == "approved" else None


def _risk(rule: Rule) -> RuleVerdict | None:
    false, support = rule.false_positives or 0, rule.support or 0
    if false and false > _MOST_FALSE * support:
        return RuleVerdict("risky", f"{false:,} of {support:,} pairs that it merges are different pages")
    return wrong_targets(rule, leading(rule))


def wrong_targets(rule: Rule, lead: Leading) -> RuleVerdict | None:
    """Return the verdict on a rule whose results are fetched though too many of them do not work."""
    if not rule.fetch or lead.wrong <= _MOST_FALSE * lead.total:
        return None
    return RuleVerdict("risky", f"{lead.wrong:,} of {lead.total:,} results show another page or nothing")


def _doubt(rule: Rule, *, is_acting: bool) -> RuleVerdict | None:
    reason = None if is_acting else "it is out of effect, for a rule that it needs is"
    if rule.kind != "keep":
        reason = reason or _weakness(rule)
    return None if reason is None else RuleVerdict("look", reason)


def _weakness(rule: Rule) -> str | None:
    """Return what is doubtful about a rule that no evidence refutes."""
    lead, paging, language = leading(rule), sorted(_PAGING & _removed(rule)), language_written(rule)
    weak = (
        (rule.false_positives, f"{rule.false_positives} of {rule.support or 0:,} pairs are different pages"),
        (paging, f"it removes `{(*paging, '')[0]}`, which often chooses what a page shows"),
        (language, f"it leads to `{language}`, which often names a translation"),
        (rule.fetch and prefers_lesser_form(rule), "it leads to a printer's, mobile or feed form of a page"),
        (rule.support is None, "it has no evidence"),
        ((rule.support or 0) < _FEW_PAIRS, f"it rests on {rule.support or 0:,} pairs of URLs"),
        (
            (rule.fpr_upper or 0.0) > _MOST_RISK,
            f"up to {rule.fpr_upper or 0.0:.0%} of its pages may be lost: {_LITTLE_KNOWN}",
        ),
        (
            rule.fetch and lead.total and lead.works < _LEAST_WORKING,
            f"only {lead.works:.0%} of its results were seen to work",
        ),
    )
    return next((reason for applies, reason in weak if applies), None)


def _fine(rule: Rule) -> RuleVerdict:
    if rule.kind == "keep":
        return RuleVerdict("ok", "it leaves URLs as they are")
    return RuleVerdict("ok", f"{rule.support or 0:,} pairs of URLs agree, none differs")


def _removed(rule: Rule) -> set[str]:
    """Return the names of the parameters that a rule removes with any value."""
    if rule.kind != "rewrite":
        return set()
    names = {name for found in _NAMED.findall(rule.source) for name in "|".join(found).split("|") if name}
    return {name.lower() for name in names if f"{name}=" not in (rule.target or "")}


def decision(verdict: str | None, note: str | None, by: str | None = None) -> dict[str, str]:
    """Return what is written into `review` now; without `by`, the user of this machine decides.

    >>> sorted(decision("approved", None, "ann"))
    ['by', 'verdict', 'when']
    """
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = {"verdict": verdict, "by": by or _user(), "when": when, "note": note}
    return {key: value for key, value in said.items() if value is not None}


def _user() -> str:
    try:
        from getpass import getuser  # noqa: PLC0415 -- only for those who decide

        return getuser()
    except (KeyError, OSError):
        message = "this user has no name; say who decides with --by NAME"
        raise UndustError(message) from None
