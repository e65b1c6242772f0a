"""What each parameter of a site does, as far as pages, sizes and declarations tell."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from undust.edits import making
from undust.judging import KeyState, effects
from undust.proposing import SeenSite
from undust.proposing.idle_parts import is_plain
from undust.proposing.seen import frequent
from undust.searching.sized_site import site_of_clusters

if TYPE_CHECKING:
    from undust.edits import Edit
    from undust.judging import EditEffect
    from undust.pages.clustering import SiteClusters

DOES_NOTHING, HAS_DEFAULT, DOES_MATTER, UNKNOWN = "does nothing", "default value", "matters", "unknown"
MOST_NAMES, MOST_VALUES = 200, 8
"""Parameters of a site that are judged, and values of each, the most frequent first."""
LEAST_VOTES = 3
"""Pages that must tell something before anything is said."""
_WRONG, _MATTERS = 0.05, 0.2
"""The share of pages that are others: at most, for a parameter that does nothing, and at least, for one that
matters."""
_LONGEST = 40


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
    """Return what tells pages of the site apart."""
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
