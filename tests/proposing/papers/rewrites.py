"""Rules of the rewrite learner as texts, so that they can be read and compared with the oracle's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

import undust
from tests.oracles import rewrite as oracle
from undust.proposing.papers.rewrite import RewriteOptions, learn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.rewrite.maps import Maps
    from undust.proposing.papers.rewrite.pairs import Rules
    from undust.proposing.papers.rewrite.qualified import LearnedCodes

Readable = tuple[dict[str, str], dict[str, str]]


def site_of(clusters: Mapping[str, int]) -> SiteClusters:
    """Return the site with these URLs, each in the cluster that it is said to be in."""
    labels = [str(cluster) for cluster in clusters.values()]
    table = pa.table({"url": list(clusters), "cluster": labels})
    return undust.find_duplicates(table).sites[0]


def labelled(*clusters: Iterable[str]) -> dict[str, int]:
    """Return the cluster of each URL."""
    return {url: number for number, urls in enumerate(clusters) for url in urls}


def closure(clusters: Mapping[str, int], **options: Any) -> LearnedCodes:  # noqa: ANN401 -- options
    """Return all generations of rules."""
    return learn(site_of(clusters), RewriteOptions(**{"min_support": 1, **options}))


def readable(maps: Maps, rules: Rules, rule: int) -> Readable:
    """Return context and action by the names of keys; `<key>` is what the source has at a key."""
    context, action = {}, {}
    for entry in range(int(rules.offsets[rule]), int(rules.offsets[rule + 1])):
        key = maps.key_names[rules.keys[entry]]
        if rules.context[entry] != -1:
            context[key] = _text(maps, int(rules.context[entry]))
        if rules.action[entry] != -1:
            action[key] = _text(maps, int(rules.action[entry]))
    return context, action


def _text(maps: Maps, code: int) -> str:
    if code >= 0:
        return str(maps.text(code))
    return "*" if code == -2 else f"<{maps.key_names[-3 - code]}>"


def as_oracle(
    learned: LearnedCodes, rules: Rules, urls: Sequence[str]
) -> dict[oracle.Rule, set[oracle.Pair]]:
    """Return rules as the oracle has them, with their pairs of URLs."""
    maps, found = learned.maps, {}
    keys = [_key(name) for name in maps.key_names]
    for rule in range(len(rules)):
        sides: list[list[tuple[oracle.Key, Any]]] = [[], []]
        for entry in range(int(rules.offsets[rule]), int(rules.offsets[rule + 1])):
            key = keys[rules.keys[entry]]
            for side, column in zip(sides, (rules.context, rules.action), strict=True):
                if column[entry] != -1:
                    side.append(
                        (key, _what(maps, int(column[entry]), maps.key_names[rules.keys[entry]], keys))
                    )
        pairs = rules.support[rules.support_offsets[rule] : rules.support_offsets[rule + 1]]
        ends = (learned.pairs.left[pairs], learned.pairs.right[pairs])
        texts = [[urls[maps.nodes[row]] for row in side] for side in ends]
        found[tuple(sides[0]), tuple(sides[1])] = set(zip(*texts, strict=True))
    assert len(found) == len(rules)
    return found


def _what(maps: Maps, code: int, name: str, keys: list[oracle.Key]) -> Any:  # noqa: ANN401 -- the oracle's
    if code == -2:
        return oracle.STAR
    if code < 0:
        return ("ref", keys[-3 - code])
    text = maps.text(code)
    if text is None:
        return oracle.NO_EQUALS
    return (name, text) if name in oracle.ALONE else text


def _key(name: str) -> oracle.Key:
    if name.startswith("?"):
        base, _, again = name[1:].partition("#")
        return (oracle.NAMES.index("query"), 0, base, int(again or 1))
    head, _, number = name.partition("_")
    return (oracle.NAMES.index(head) if head in oracle.NAMES else -1, int(number or 0), "", 0)
