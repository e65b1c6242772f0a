"""A site without pages, of which only URLs and sizes are known: its clusters, and what its parameters do."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from undust.edits import making
from undust.judging import KeyState, Site, effects
from undust.judging.sizes import SizeEvidence, pages_by_size, sizes_without_form
from undust.proposing import SeenSite
from undust.proposing.idle_parts import frequent, is_plain
from undust.rules import program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.judging import EditEffect
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule


MOST_LOOKED_AT = 20_000
"""Of a larger site this many URLs are looked at, drawn by chance."""
LEAST_CHANGING, _CHANGING = 3, 0.02
"""URLs that were seen with several digests, and their share, from which on digests are not used."""
DOES_NOTHING, HAS_DEFAULT, DOES_MATTER, UNKNOWN = "does nothing", "default value", "matters", "unknown"
MOST_NAMES, MOST_VALUES = 200, 8
"""Parameters of a site that are judged, and values of each, the most frequent first."""
LEAST_VOTES = 3
"""Pages that must show something before a parameter is judged."""
_WRONG, _MATTERS = 0.05, 0.2
"""The share of pages that are others: at most, for a parameter that does nothing, and at least, for one that
matters."""
_LONGEST = 40


def _drawn(found: SiteClusters, seed: int) -> NDArray[np.int64]:
    nodes = np.flatnonzero(found.cluster_of_node >= 0)
    if len(nodes) <= MOST_LOOKED_AT:
        return nodes
    chance = np.random.Generator(np.random.PCG64(seed))
    return np.sort(chance.choice(nodes, MOST_LOOKED_AT, replace=False))


def site_of_clusters(
    found: SiteClusters,
    *,
    asked: Iterable[tuple[str, str, bool]] = (),
    given: Sequence[Rule] = (),
    seed: int = 0,
) -> Site:
    """Return a site as the judge sees it, with what sizes show where nothing else does.

    Args:
        found: Its clusters, with whatever evidence there is.
        asked: Pairs of URLs, and whether the site itself shows one page for both.
        given: Rules that hold: forms of pages are distinguished after them.
        seed: Another number draws other URLs of a large site.

    """
    nodes = _drawn(found, seed)
    urls = found.node_urls.take(pa.array(nodes)).cast(pa.large_string())
    images = pa.array(program_of(given).batch(urls)).to_pylist() if given else None
    sizes = sizes_without_form(found, nodes, images)
    page, says = pages_by_size(found, nodes, sizes)
    # Of a list of URLs no page is known; what is proposed from the URLs alone is asked about all the same.
    proposable = says if says.any() else np.ones(len(nodes), np.bool_)
    is_told = not has_raw_digests(found)
    evidence = SizeEvidence(found, nodes, sizes=sizes, has_content=is_told, asked=asked, seed=seed)
    site = Site.of(found, evidence, seed=seed)
    rows = np.searchsorted(np.flatnonzero(found.cluster_of_node >= 0), nodes)
    # A sitemap, or a page's own rel=canonical, names the URL that the site prefers.
    preferred = site.preferred[rows] | (found.evidence_of_pairs.facts.home[nodes] == nodes)
    return replace(site, urls=urls, page=page, is_labelled=proposable, preferred=preferred)


def has_raw_digests(found: SiteClusters) -> bool:
    """Return whether all that is known of pages are digests that change from one visit to the next."""
    if (found.sketch_row >= 0).any() or (found.label >= 0).any() or found.evidence_of_pairs.has_blocks:
        return False
    seen = found.cluster_of_node >= 0
    changing = int((found.is_changing & seen).sum())
    return changing >= LEAST_CHANGING and changing >= _CHANGING * int(seen.sum())


def clusters_by_size(found: SiteClusters) -> SiteClusters:
    """Return a site as learners of clusters take it, with URLs of one size as one page."""
    nodes = np.flatnonzero(found.cluster_of_node >= 0)
    page, says = pages_by_size(found, nodes, sizes_without_form(found, nodes))
    first = np.unique(page, return_index=True)[1]
    number = np.empty(len(first), np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    cluster = np.full(len(found.cluster_of_node), -1, np.int64)
    cluster[nodes] = number[page]
    known = found.known.copy()
    known[nodes] |= says
    label = np.where(known & (cluster >= 0), cluster, -1)
    return replace(found, cluster_of_node=cluster, known=known, label=label)


class ParameterVerdict(NamedTuple):
    """What is thought of a parameter."""

    verdict: str
    evidence: str
    """What that rests on, in words."""
    value: str | None = None
    """The default value."""


def judged_parameters(found: SiteClusters, *, seed: int = 0) -> dict[str, ParameterVerdict]:
    """Return what is thought of each parameter of a site, the most frequent ones."""
    site = site_of_clusters(found, seed=seed)
    if not len(site.urls):
        return {}
    state = KeyState(site)
    seen = SeenSite(state)
    names = [name for name in frequent(_names(site.texts), 1, MOST_NAMES) if is_plain(name)]
    edits: list[Edit] = [edit for name in names for edit in (making.dropped(name), making.masked(name))]
    judged = effects(state, edits)
    by = _means(found)
    values = _values(seen)
    verdicts: dict[str, ParameterVerdict] = {}
    for place, name in enumerate(names):
        drop, mask = judged[2 * place], judged[2 * place + 1]
        verdicts[name] = _thought(drop, mask, by)
        if verdicts[name].verdict != DOES_NOTHING:
            verdicts[name] = _default(state, name, values.get(name, []), by) or verdicts[name]
    return verdicts


def _names(urls: list[str]) -> Counter[str]:
    queries = (url.partition("?")[2] for url in urls)
    return Counter(
        name for query in queries for name in {part.partition("=")[0] for part in query.split("&") if part}
    )


def _values(seen: SeenSite) -> dict[str, list[str]]:
    counts: dict[str, Counter[str]] = {}
    for parts in seen.parts:
        for parameter in parts.query:
            name, equals, value = parameter.partition("=")
            if equals and len(value) <= _LONGEST:
                counts.setdefault(name, Counter())[value] += 1
    return {name: frequent(some, 2, MOST_VALUES) for name, some in counts.items()}


def _means(found: SiteClusters) -> str:
    """Return what distinguishes pages of the site."""
    seen = found.cluster_of_node >= 0
    known = int((found.known & seen).sum())
    if 2 * known >= int(seen.sum()):
        return "content"
    return "size" if bool((found.size_max[seen] >= 0).any()) else "content"


def _votes(effect: EditEffect) -> tuple[int, int]:
    return effect.pages, effect.lost


def _thought(drop: EditEffect, mask: EditEffect, by: str) -> ParameterVerdict:
    right, wrong = max(_votes(drop), _votes(mask), key=sum)
    if right + wrong < LEAST_VOTES:
        return ParameterVerdict(
            UNKNOWN, f"only {right + wrong} pages were seen with and without it, or with two values"
        )
    if wrong <= _WRONG * (right + wrong):
        return ParameterVerdict(
            DOES_NOTHING, f"{right} of {right + wrong} pages have the same {by} whatever it is"
        )
    if wrong >= _MATTERS * (right + wrong):
        return ParameterVerdict(DOES_MATTER, f"{wrong} of {right + wrong} pages have another {by}")
    return ParameterVerdict(
        UNKNOWN, f"{wrong} of {right + wrong} pages have another {by}, the others the same"
    )


def _default(state: KeyState, name: str, values: list[str], by: str) -> ParameterVerdict | None:
    """Return which value is what the site takes anyway, if one is."""
    edits = [making.dropped_value(name, value) for value in values]
    for value, effect in zip(values, effects(state, edits), strict=True):
        right, wrong = _votes(effect)
        if right >= LEAST_VOTES and wrong <= _WRONG * (right + wrong):
            text = f"{right} of {right + wrong} pages have the same {by} without {name}={value}"
            return ParameterVerdict(HAS_DEFAULT, text, value)
    return None
