"""Candidates of any learner as a graph: what each leaves, and where it leads to.

The pattern tree knows its nodes. Of other rules the vertices are the sides themselves, with the names of
captures taken away: `http://{h}/{x}/dp/{id}` and `http://{a}/{b}/dp/{c}` are one. How large a vertex is,
and which lies above which, is asked of the URLs: a side is above another if it has all its URLs and more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.proposing.papers.selection.graph import Edge, Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.judging.verdict import Candidate
    from undust.proposing.papers.selection.measuring import TrialUrls
    from undust.rules import Rule

_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)?(\**)(:[^{}]*)?\}")


def graph_of(candidates: Sequence[Candidate], measured: TrialUrls) -> Graph:
    """Return the graph of candidates, edge by edge in their order."""
    numbers: dict[str, int] = {}
    rows: dict[int, set[int]] = {}
    edges = []
    done = measured.images([candidate.rules for candidate in candidates])
    for candidate, (touched, images) in zip(candidates, done, strict=True):
        mapped = mapping_rules(candidate)
        source = numbers.setdefault("\n".join(left_side(rule) for rule in mapped), len(numbers))
        target = numbers.setdefault("\n".join(right_side(rule) for rule in mapped), len(numbers))
        rows.setdefault(source, set()).update(touched.tolist())
        rows.setdefault(target, set()).update(images[images < len(measured.urls)].tolist())
        fpr = measured.fpr_of(touched, images) if candidate.fpr is None else candidate.fpr
        edges.append(Edge(source, target, fpr, len(touched)))
    sides = list(numbers)
    volumes = [len(rows[vertex]) for vertex in range(len(sides))]
    return Graph(volumes, edges, _above(rows, volumes), [side.count("{") for side in sides])


def _above(rows: dict[int, set[int]], volumes: list[int]) -> list[tuple[int, ...]]:
    """Return for each vertex those that have all its URLs and more, the largest first."""
    holders: dict[int, list[int]] = {min(own): [] for own in rows.values() if own}
    for vertex in sorted(rows, key=lambda each: (-volumes[each], each)):
        for row in rows[vertex] & holders.keys():
            holders[row].append(vertex)
    return [
        tuple(
            other
            for other in (holders[min(own)] if own else ())
            if volumes[other] > len(own) and own <= rows[other]
        )
        for own in (rows[vertex] for vertex in range(len(volumes)))
    ]


def mapping_rules(candidate: Candidate) -> tuple[Rule, ...]:
    """Return the rules of a candidate that lead somewhere; all of them if none does."""
    leading = tuple(rule for rule in candidate.rules if left_side(rule) != right_side(rule))
    return leading or candidate.rules


def left_side(rule: Rule) -> str:
    """Return what a rule takes, without names."""
    return _NAME.sub(lambda found: f"{{{found[2][:2] or '*'}{found[3] or ''}}}", rule.source)


def right_side(rule: Rule) -> str:
    """Return what a rule leads to, as the side of a rule that would take it."""
    captures = {found[1]: found for found in _NAME.finditer(rule.source) if found[1]}

    def written(found: re.Match[str]) -> str:
        origin = captures.get(found[1])
        stars = origin[2][:2] if origin else ""
        detail = (origin[3] or "") if origin else ""
        return f"{{{stars or '*'}{detail}}}"

    return _NAME.sub(written, rule.target or rule.source)
