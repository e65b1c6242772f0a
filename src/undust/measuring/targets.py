"""Where rules lead: whether what they write was seen to work, and so whether it may be fetched.

A rule is judged by which URLs it merges. That the URL it writes works is another question: a form that
was not observed may answer with an error or something else. Each rule is counted on the URLs on whose
way it acts, by the canonical URL at the end of that way. A rule with too few results that were seen to
work is for comparing only; the others are then counted again without it, for it may have led them astray.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.pages.clustering.clusters import SAME_PAGE
from undust.rules import RuleSet
from undust.rules.verdict import prefers_lesser_form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

_SEEN, _REDIRECTED, _UNSEEN, _WRONG = "seen", "redirected", "unseen", "wrong"
"""The kinds of result: it shows the page, the site leads from it to the page, it was not observed, or it
shows another page or nothing."""
LEAST_WORKING = 0.5
"""Share of the results of a rule that must have been seen to work …"""
MOST_WRONG = 0.002
"""… and that may be wrong, …"""
MOST_AWAY = 0.02
"""… and that the site prefers in their old form."""
_LEAST_OF_FORM = 5
"""Results with the same parameters, none of which was seen to work, contradict a rule …"""
_LEAST_SHARE_OF_FORM = 0.05
"""… if they are such a share of all."""
_MOST_URLS = 4_000
"""URLs that are looked at; of more a part that is spread over all."""


class _Way(NamedTuple):
    """One URL, the rules on its way, and what became of it."""

    rules: frozenset[int]
    ends: str
    form: tuple[str, ...]
    is_away: bool


def with_targets(site: SiteClusters, rules: Sequence[Rule], unstable: Sequence[int] = ()) -> tuple[Rule, ...]:
    """Return rules, each with where it leads; without enough that works, for comparing only.

    Rules that act on no URL of the site stay as they are.

    Args:
        site: What was seen of it.
        rules: Its rules.
        unstable: Pages that differ at every fetch: they say nothing of where a rule leads.

    """
    if not rules:
        return ()
    found = [replace(rule, fetch=True) if _writes(rule) else rule for rule in rules]
    seen = _SeenPages(site, frozenset(unstable))
    counts: dict[int, Counter[str]] = {}
    while True:
        ways: defaultdict[int, list[_Way]] = defaultdict(list)
        for way in seen.ways(found):
            for place in way.rules:
                ways[place].append(way)
        writing = [place for place, rule in enumerate(found) if rule.fetch and _writes(rule)]
        now = {place: Counter(way.ends for way in ways[place]) for place in writing}
        counts |= {place: count for place, count in now.items() if count.total()}
        failing = [place for place in now if _fails(found[place], ways[place])]
        if not failing:
            break
        # The one that leads astray most; what the others do is seen without it.
        worst = min(failing, key=lambda place: (_working(now[place]), -place))
        found[worst] = replace(found[worst], fetch=False)
    if not seen.merges_no_more(found):
        # Keys start from the canonical URL. Without any, they are what the rules were judged by.
        found = [replace(rule, fetch=False) if _writes(rule) else rule for rule in found]
    return tuple(
        replace(found[place], targets=_shown(counts[place])) if place in counts else rule
        for place, rule in enumerate(rules)
    )


def _writes(rule: Rule) -> bool:
    return rule.kind != "keep" and ":any}" not in (rule.target or "")


def _shown(count: Counter[str]) -> dict[str, int]:
    names = (_SEEN, _REDIRECTED, _UNSEEN, *([_WRONG] if count[_WRONG] else []))
    return {name: count[name] for name in names}


def _working(count: Mapping[str, int]) -> float:
    total = sum(count.values())
    return (count.get(_SEEN, 0) + count.get(_REDIRECTED, 0)) / total if total else 1.0


def _fails(rule: Rule, own: Sequence[_Way]) -> bool:
    """Return whether the results of a rule are not to be fetched, by what becomes of the URLs it changes."""
    if not own:
        return False
    if prefers_lesser_form(rule):
        return True
    count = Counter(way.ends for way in own)
    if count[_WRONG] > MOST_WRONG * len(own) or _working(count) < LEAST_WORKING:
        return True
    if sum(way.is_away for way in own) > MOST_AWAY * len(own):
        return True
    forms: defaultdict[tuple[str, ...], list[bool]] = defaultdict(list)
    for way in own:
        forms[way.form].append(way.ends in {_SEEN, _REDIRECTED})
    unknown = [len(works) for works in forms.values() if not any(works) and len(works) >= _LEAST_OF_FORM]
    return sum(unknown) >= _LEAST_SHARE_OF_FORM * len(own) and bool(unknown)


@dataclass
class _SeenPages:
    """What was seen of a site, asked by URL."""

    site: SiteClusters
    unstable: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        cluster = self.site.cluster_of_node
        seen: NDArray[np.int64] = np.flatnonzero((cluster >= 0) & ~np.isin(cluster, list(self.unstable)))
        self.urls: pa.Array = self.site.node_urls.take(pa.array(seen)).cast(pa.large_string())
        self.nodes = seen

    @cached_property
    def _all(self) -> pa.Array:
        return self.site.node_urls.cast(pa.large_string())

    @cached_property
    def _gone(self) -> frozenset[str]:
        return frozenset(self.site.gone.to_pylist())

    @cached_property
    def _preferred(self) -> NDArray[np.bool_]:
        """Of each node: whether the site sends others there by a redirect or rel=canonical, and none away."""
        preferred = np.zeros(len(self.site.node_urls), np.bool_)
        edges = [each for each in self.site.edges if each.kind in {"canonical", "redirect"}]
        for each in edges:
            preferred[each.hub] = True
        for each in edges:
            preferred[each.member] = False
        return preferred

    def merges_no_more(self, rules: Sequence[Rule]) -> bool:
        """Return whether rules have no key in common for URLs that would have two if all were fetched."""
        if all(rule.fetch for rule in rules):
            return True
        judged, now = (
            RuleSet(some).program.batch(self.urls, keys=True)
            for some in ([replace(rule, fetch=True) for rule in rules], rules)
        )
        both = pa.table({"judged": pa.array(judged), "now": pa.array(now)})
        return len(both.group_by(["judged", "now"]).aggregate([])) == len(pc.unique(both["now"]))

    def ways(self, rules: Sequence[Rule]) -> list[_Way]:
        """Return what becomes of the URLs that rules change, or of a part that is spread over all."""
        program = RuleSet(rules).program
        images = pa.array(program.batch(self.urls)).cast(pa.large_string())
        moved = np.flatnonzero(np.asarray(pc.not_equal(images, self.urls)))
        moved = moved[:: 1 + len(moved) // _MOST_URLS]
        texts = self.urls.take(pa.array(moved)).to_pylist()
        targets = images.take(pa.array(moved))
        places = np.asarray(pc.fill_null(pc.index_in(targets, value_set=self._all), -1), np.int64)
        ends = self._ends(self.nodes[moved], targets, places)
        away = self._preferred[self.nodes[moved]] & ~(self._preferred[places] & (places >= 0))
        return [
            _Way(
                frozenset(rule for rule, _ in program.explain(text)[1]),
                end,
                _form(target),
                bool(is_away),
            )
            for text, target, end, is_away in zip(texts, targets.to_pylist(), ends, away, strict=True)
        ]

    def _ends(self, nodes: NDArray[np.int64], targets: pa.Array, places: NDArray[np.int64]) -> list[str]:
        """Return of each node what it finds at its target."""
        site = self.site
        is_node = places >= 0
        there = np.maximum(places, 0)
        is_seen = is_node & (site.cluster_of_node[there] >= 0)
        relation = np.zeros(len(nodes), np.int64)
        relation[is_seen] = site.relation(nodes[is_seen], there[is_seen])
        is_same = relation == SAME_PAGE
        both = site.known[site.speakers[nodes]] & site.known[site.speakers[there]]
        is_alike = is_seen & (relation == 0) & both
        is_other = is_seen & ((relation < 0) | (site.distrusted[there] & ~site.distrusted[nodes] & ~is_same))
        hubs = np.zeros(len(site.node_urls), np.bool_)
        for edges in site.edges:
            if edges.kind in {"canonical", "redirect"}:
                hubs[edges.hub] = True
        ends = np.full(len(nodes), _UNSEEN, object)
        # The site itself names it, though it was not fetched.
        ends[is_node & ~is_seen & hubs[there]] = _REDIRECTED
        ends[is_seen & (is_same | is_alike)] = _SEEN
        ends[is_seen & is_same & site.redirects[there]] = _REDIRECTED
        ends[is_other] = _WRONG
        gone = self._gone
        if gone:
            ends[[target in gone for target in targets.to_pylist()]] = _WRONG
        return [str(end) for end in ends]


def _form(url: str) -> tuple[str, ...]:
    """Return the parameters that a URL has, by name."""
    query = url.partition("?")[2]
    return tuple(sorted({each.partition("=")[0] for each in query.split("&")})) if query else ()
