"""The canonicalizer, slowly and plainly: the twin that the compiled one is tested against.

It goes through all rules one by one, as docs/rules.md defines c(u) and key(u), and keeps every step.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from publicsuffixlist import PublicSuffixList

from tests.oracles.normalize import Url, parse
from tests.oracles.rule_matching import match
from tests.oracles.rule_reading import read_rule
from tests.oracles.rule_writing import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.oracles.rule_syntax import Replacement, Rule

MOST_STEPS = 256
MOST_BYTES = 64 * 1024


@cache
def suffix_list() -> PublicSuffixList:
    """The bundled public suffix list, private suffixes on."""
    return PublicSuffixList()


@lru_cache(maxsize=1024)
def site_of_host(host: str) -> str:
    """The registered domain, or the host itself where nothing is registered below a suffix."""
    name = host.removesuffix(".")
    if "" in name.split("."):
        return host
    if host.startswith("[") or re.fullmatch(r"[0-9]+(\.[0-9]+){3}", name):
        return name
    return suffix_list().privatesuffix(name) or name


def site_of(url: str) -> str | None:
    """The site of an http(s) URL."""
    parsed = parse(url)
    return None if parsed is None else site_of_host(parsed.host)


@dataclass(frozen=True)
class Step:
    """A URL of the orbit and the rule (by its index) that made it; the first has none."""

    rule: int | None
    url: str


@dataclass(frozen=True)
class Explanation:
    """How a URL came to its canonical form: `resolved`, `unresolved`, `skipped` or `not a URL`."""

    canonical: str
    key: str
    steps: tuple[Step, ...]
    outcome: str


@cache
def _read(fields: str) -> Rule:
    """One rule from the text of its keys; a property tries few rules in many sets."""
    return read_rule(json.loads(fields))


class Canonicalizer:
    """A list of rules, each with the keys of a rule file, ready to answer."""

    def __init__(self, rules: Sequence[Mapping[str, Any]]) -> None:
        """Read the rules; RuleError if one is wrong."""
        self.rules = [_read(json.dumps(fields)) for fields in rules]
        self.acting = self.in_effect()

    def canonical(self, url: str) -> str:
        """What to fetch."""
        return self.explain(url).canonical

    def key(self, url: str) -> str:
        """What to compare by."""
        return self.explain(url).key

    def explain(self, url: str) -> Explanation:
        """c(u) and key(u) with each step."""
        parsed = parse(url)
        if parsed is None:
            return Explanation(url, url, (), "not a URL")
        start = str(parsed)
        if parsed.userinfo is not None or len(start) > MOST_BYTES:
            return Explanation(start, start, (Step(None, start),), "skipped")
        steps = self.orbit(start, comparing=False)
        repeating = repeating_part([step.url for step in steps])
        canonical = smallest(repeating, start)
        compared = self.orbit(canonical, comparing=True)
        key = self.masked(smallest(repeating_part([step.url for step in compared]), canonical))
        return Explanation(canonical, key, steps, "resolved" if repeating else "unresolved")

    def in_effect(self) -> set[str]:
        """The ids of the largest set of active rules in which every rule has what it needs."""
        acting = {rule.id: rule for rule in self.rules if rule.active}
        while True:
            left = {
                rule.id: rule
                for rule in acting.values()
                if all(need in acting and is_beside(acting[need], rule) for need in rule.needs)
            }
            if len(left) == len(acting):
                return set(left)
            acting = left

    def orbit(self, start: str, *, comparing: bool) -> tuple[Step, ...]:
        """n(u), f(n(u)), … up to the first URL that was there before, too long, or one step too many."""
        steps = [Step(None, start)]
        seen = {start}
        while len(steps) <= MOST_STEPS and len(steps[-1].url) <= MOST_BYTES:
            steps.append(self.step(steps[-1].url, comparing=comparing))
            if steps[-1].url in seen:
                break
            seen.add(steps[-1].url)
        return tuple(steps)

    def step(self, url: str, *, comparing: bool) -> Step:
        """f(u), or for comparing g(u), with the rule that made it."""
        for index, rule in self.rules_for(url):
            if not rule.fetched and not comparing:
                continue
            if rule.kind == "keep" and matches(rule, url):
                return Step(index, url)
            result = apply(rule, url)
            if result != url:
                return Step(index, result)
        return Step(None, url)

    def rules_for(self, url: str) -> list[tuple[int, Rule]]:
        """R(u): the active rules of the site, then those of all sites, each in file order."""
        site = site_of(url)
        active = [
            (index, rule) for index, rule in enumerate(self.rules) if rule.active and rule.id in self.acting
        ]
        own = [(index, rule) for index, rule in active if rule.site == site]
        shared = [
            (index, rule) for index, rule in active if rule.site == "*" and site not in rule.except_sites
        ]
        return own + shared

    def masked(self, canonical: str) -> str:
        """key(u) of c(u): each matching mask once, in order, up to a keep that matches."""
        url = parse(canonical)
        if url is None:
            return canonical
        for _, rule in self.rules_for(canonical):
            if rule.kind == "keep" and matches_url(rule, url):
                break
            if rule.is_mask:
                url = apply_mask(rule, url)
        return str(url)


def repeating_part(orbit: Sequence[str]) -> Sequence[str]:
    """The cycle at the end of an orbit whose last URL was there before; empty if it was not."""
    last = orbit[-1]
    first_seen = orbit.index(last)
    return orbit[first_seen : len(orbit) - 1]


def smallest(repeating: Sequence[str], otherwise: str) -> str:
    """The member with the fewest bytes, then the first bytewise."""
    return min(repeating, key=lambda member: (len(member), member), default=otherwise)


def is_beside(needed: Rule, rule: Rule) -> bool:
    """Whether a needed rule is there wherever the rule that needs it is."""
    if needed.site == "*" == rule.site:
        return needed.except_sites <= rule.except_sites
    return needed.site == rule.site or (needed.site == "*" and rule.site not in needed.except_sites)


def matches(rule: Rule, url: str) -> bool:
    """Whether the left side of a keep or rewrite matches and the conditions allow it."""
    parsed = parse(url)
    return parsed is not None and matches_url(rule, parsed)


def matches_url(rule: Rule, url: Url) -> bool:
    """The same for a URL in its parts."""
    return rule.pattern is not None and match(rule.pattern, url) is not None and is_allowed(rule, url)


def is_allowed(rule: Rule, url: Url) -> bool:
    """All of `when` match, none of `unless`."""
    all_of = all(match(pattern, url) is not None for pattern in rule.when)
    return all_of and not any(match(pattern, url) is not None for pattern in rule.unless)


def apply(rule: Rule, url: str) -> str:
    """r(u): the result of a replace or rewrite, or u itself. Masks and keeps change nothing here."""
    parsed = parse(url)
    if parsed is None or rule.is_mask or not is_allowed(rule, parsed):
        return url
    if rule.replacement:
        return apply_replacement(rule.replacement, url)
    captures = match(rule.pattern, parsed) if rule.pattern and rule.target else None
    if captures is None or rule.target is None:
        return url
    written = write(rule.target, captures)
    return url if written is None else accepted(str(written), url)


def accepted(result: str, url: str) -> str:
    """n(result) if it is a URL of the same site without userinfo, else u."""
    parsed = parse(result)
    if parsed is None or parsed.userinfo is not None or site_of_host(parsed.host) != site_of(url):
        return url
    return str(parsed)


def apply_replacement(replacement: Replacement, url: str) -> str:
    """The text replaced at the leftmost place whose result is another URL of the same site."""
    if replacement.old not in url:
        return url
    token_edges = {0}
    for token in re.finditer(r"%[0-9A-F]{2}|[A-Za-z0-9]+|.", url):
        token_edges.add(token.end())
    for start in sorted(token_edges):
        end = start + len(replacement.old)
        if not url.startswith(replacement.old, start) or end not in token_edges:
            continue
        if (replacement.at_start and start != 0) or (replacement.at_end and end != len(url)):
            continue
        result = accepted(url[:start] + replacement.new + url[end:], url)
        if result != url:
            return result
    return url


def apply_mask(rule: Rule, url: Url) -> Url:
    """The URL with `*` for each `:any`, if the mask matches and the site stays."""
    captures = match(rule.pattern, url) if rule.pattern else None
    if captures is None or rule.target is None or not is_allowed(rule, url):
        return url
    written = write(rule.target, captures)
    if written is None:
        return url
    host, port = split_written_host(written.host)
    if site_of_host(host) != site_of_host(url.host):
        return url
    return Url(written.scheme, None, host, port or written.port, written.path or "/", written.query or None)


def split_written_host(text: str) -> tuple[str, str]:
    """Host and port of a masked host; an IPv6 literal keeps its colons."""
    literal, closed, rest = text.rpartition("]")
    host, _, port = rest.partition(":")
    return literal + closed + host, port
