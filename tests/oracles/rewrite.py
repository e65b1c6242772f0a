"""Rewrite rules by generalization, as published, one rule and one pair at a time.

Written from the paper (Dasgupta, Kumar, Sasturkar, KDD 2008, Algorithms 1 to 5) and from what is settled
where it is silent; shares no line with the learner. Everything is a dict of texts or a set of pairs of
URLs, and everything is quadratic or worse.

A rule is (context, action): tuples of (key, what) in key order, absent keys left out. `what` is `STAR`, a
value, and in an action also ("ref", key).
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import permutations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STAR = ("star",)
NO_EQUALS = ("no equals",)
ALONE = ("scheme", "host", "port", "slash")

Key = tuple[int, int, str, int]
Map = dict[Key, Any]
Rule = tuple[tuple[tuple[Key, Any], ...], tuple[tuple[Key, Any], ...]]
Pair = tuple[str, str]
NAMES = ("scheme", "host", "port", "path", "slash", "query")


def url_map(url: str, *, host_labels: bool = False) -> Map:
    """Parse a URL in normal form; keys sort as URLs are written, parameters by name."""
    scheme, _, rest = url.partition("://")
    rest, _, query = rest.partition("?")
    host, _, path = rest.partition("/")
    found: Map = {_key("scheme"): ("scheme", scheme)}
    if host_labels:
        name, _, port = host.partition(":")
        found |= {_key("host", at): label for at, label in enumerate(reversed(name.split(".")))}
        if port:
            found[_key("port")] = ("port", port)
    else:
        found[_key("host")] = ("host", host)
    if path.endswith("/"):
        found[_key("slash")] = ("slash", "1")
        path = path[:-1]
    if path or _key("slash") in found:
        found |= {_key("path", at): segment for at, segment in enumerate(path.split("/"))}
    seen: dict[str, int] = defaultdict(int)
    for pair in query.split("&") if query else []:
        name, equals, value = pair.partition("=")
        seen[name] += 1
        found[_key("query", 0, name, seen[name])] = value if equals else NO_EQUALS
    return dict(sorted(found.items()))


def _key(name: str, at: int = 0, text: str = "", again: int = 0) -> Key:
    return NAMES.index(name), at, text, again


def is_open(value: Any) -> bool:  # noqa: ANN401 -- a text or a mark
    """Whether the wildcard covers a value: not empty, no raw `;`, and something a capture could be."""
    if isinstance(value, tuple):
        return value[0] in {"scheme", "host"}
    return value != "" and ";" not in value


def generate_rule(u: Map, v: Map) -> Rule:
    """Algorithm 2."""
    action = {}
    for key, value in v.items():
        others = [k for k, other in u.items() if other == value and isinstance(value, str) and is_open(value)]
        if u.get(key) == value:
            action[key] = ("ref", key)
        elif others:
            action[key] = ("ref", min(others))
        else:
            action[key] = value
    return tuple(u.items()), tuple(action.items())


def specific_rules(clusters: Mapping[str, int], maps: Mapping[str, Map]) -> dict[Rule, set[Pair]]:
    """Algorithm 4, over all ordered pairs of one cluster."""
    rules: dict[Rule, set[Pair]] = defaultdict(set)
    by_cluster: dict[int, list[str]] = defaultdict(list)
    for url, cluster in clusters.items():
        by_cluster[cluster].append(url)
    for urls in by_cluster.values():
        for u, v in permutations(urls, 2):
            if maps[u] != maps[v]:
                rules[generate_rule(maps[u], maps[v])].add((u, v))
    return rules


def can_star(rule: Rule, side: int, key: Key) -> bool:
    """Whether the wildcard may take the place of what a rule has there."""
    context, action = dict(rule[0]), dict(rule[1])
    what = (context, action)[side].get(key)
    if what is None or what == STAR:
        return False
    if side == 1 and isinstance(what, tuple) and what[0] == "ref":
        return context.get(key) is None or context[key] == STAR or is_open(context[key])
    return is_open(what)


def starred(rule: Rule, side: int, key: Key) -> Rule:
    """The rule with a wildcard at a place."""
    sides = [tuple((k, STAR if k == key else what) for k, what in rule[at]) for at in (0, 1)]
    return (sides[0], rule[1]) if side == 0 else (rule[0], sides[1])


def keys_of(rule: Rule) -> list[Key]:
    """All keys that a rule says something about."""
    return sorted({key for side in rule for key, _ in side})


def residual(rule: Rule, key: Key) -> Rule:
    """Everything that a rule says except at one key."""
    context, action = (tuple(item for item in side if item[0] != key) for side in rule)
    return context, action


def covers(general: Rule, special: Rule, key: Key) -> bool:
    """Definition 3, on both sides (A19), for rules that differ at one key at most."""
    for side in (0, 1):
        above, below = dict(general[side]).get(key), dict(special[side]).get(key)
        if above != below and not (above == STAR and can_star(special, side, key)):
            return False
    return True


class Measures:
    """Support and false positives by definitions 4 and 5: every pair of URLs is tried."""

    def __init__(self, clusters: Mapping[str, int], maps: Mapping[str, Map]) -> None:
        self.clusters, self.maps = clusters, maps
        self._known: dict[Rule, tuple[set[Pair], set[Pair]]] = {}
        self._best: dict[Rule, float] = {}

    def matches(self, url: str, rule: Rule) -> bool:
        """Whether a URL has the context of a rule."""
        return self._fits(self.maps[url], dict(rule[0]))

    @staticmethod
    def _fits(found: Map, wanted: Map) -> bool:
        return found.keys() == wanted.keys() and all(
            is_open(found[key]) if what == STAR else found[key] == what for key, what in wanted.items()
        )

    def image(self, url: str, rule: Rule) -> Map:
        """What a rule makes of a URL that matches."""
        return {
            key: self.maps[url][what[1]] if isinstance(what, tuple) and what[0] == "ref" else what
            for key, what in rule[1]
        }

    def pairs(self, rule: Rule) -> tuple[set[Pair], set[Pair]]:
        """The pairs of one page and those of different pages."""
        if rule not in self._known:
            same: set[Pair] = set()
            different: set[Pair] = set()
            for u in self.maps:
                if not self.matches(u, rule):
                    continue
                image = self.image(u, rule)
                for v in self.maps:
                    if u != v and self._fits(self.maps[v], image):
                        (same if self.clusters[u] == self.clusters[v] else different).add((u, v))
            self._known[rule] = same, different
        return self._known[rule]

    def fpr(self, rule: Rule) -> float:
        """The share of false pairs."""
        same, different = self.pairs(rule)
        return len(different) / max(1, len(same) + len(different))

    def best_fpr(self, rule: Rule, free: list[Key] | None = None) -> float:
        """The least of a rule and of all rules above it (Algorithm 1), at any key or at those given."""
        if rule not in self._best:
            above = (self.best_fpr(other, free) for other in parents(rule, free))
            self._best[rule] = min(self.fpr(rule), *above, math.inf)
        return self._best[rule]


def parents(rule: Rule, free: Iterable[Key] | None = None) -> list[Rule]:
    """Every rule with one wildcard more, at any key or at one of those given."""
    keys = keys_of(rule) if free is None else free
    return [starred(rule, side, key) for side in (0, 1) for key in keys if can_star(rule, side, key)]


class Filter:
    """The filters; what each needs to know is in `options`."""

    def __init__(self, name: str, measures: Measures, **options: float) -> None:
        self.name, self.measures, self.options = name, measures, options

    def allows(self, counts: Iterable[int]) -> bool:
        """Whether a place may be generalized; for each different value the number of rules that have it."""
        numbers = list(counts)
        if self.name in {"fanout", "covered"}:
            return len(numbers) >= self.options["fanout"]
        if self.name == "entropy":
            total = sum(numbers)
            entropy = -sum(n / total * math.log(n / total) for n in numbers)
            return len(numbers) >= self.options["min_values"] and (
                entropy >= self.options["min_entropy"] * math.log(len(numbers)) - 1e-9
            )
        return True

    def judges(self, rule: Rule, support: set[Pair]) -> bool:
        """Whether a new rule stays."""
        if self.name == "estimate":
            context = [url for url in self.measures.maps if self.measures.matches(url, rule)]
            inside = [url for url in context if any(url in pair for pair in support)]
            return 1 - len(inside) / len(context) < self.options["max_fpr"]
        if self.name == "ideal":
            return self.measures.best_fpr(rule) <= self.options["max_fpr"]
        return True


def generalize(rules: dict[Rule, set[Pair]], chosen: Filter) -> list[dict[Rule, set[Pair]]]:
    """Algorithm 3, a generation of rules with equally many wildcards at a time."""
    generations = [dict(rules)]
    while generations[-1]:
        found: dict[Rule, set[Pair]] = defaultdict(set)
        buckets: dict[tuple[Key, Rule], list[Rule]] = defaultdict(list)
        for rule in generations[-1]:
            for key in keys_of(rule):
                buckets[key, residual(rule, key)].append(rule)
        for (key, _), members in buckets.items():
            for new in _generalized(key, members, chosen):
                for member in members:
                    if covers(new, member, key):
                        found[new] |= generations[-1][member]
        generations.append({rule: pairs for rule, pairs in found.items() if chosen.judges(rule, pairs)})
    return generations[:-1]


def _generalized(key: Key, members: list[Rule], chosen: Filter) -> set[Rule]:
    if len(members) == 1:
        return set()
    new = set()
    contexts: dict[Any, int] = defaultdict(int)
    actions: dict[Any, set[Any]] = defaultdict(set)
    for rule in members:
        if can_star(rule, 0, key):
            contexts[dict(rule[0])[key]] += 1
        if can_star(rule, 1, key):
            actions[dict(rule[0]).get(key)].add(dict(rule[1])[key])
    for rule in members:
        differ = can_star(rule, 0, key) and len(contexts) > 1
        counted = list(contexts.values())
        if chosen.name == "covered":
            above = starred(rule, 0, key) if differ else rule
            counted = [1 for other in members if can_star(other, 0, key) and covers(above, other, key)]
        if differ and chosen.allows(counted):
            new.add(starred(rule, 0, key))
        if can_star(rule, 1, key) and (chosen.name == "ideal" or not differ):
            several = actions[dict(rule[0]).get(key)]
            if len(several) > 1 and chosen.allows([1] * len(several)):
                new.add(starred(rule, 1, key))
    return new
