"""Verdicts: by hand, and against a plain count over all pairs."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from tests.pages.clustering.sites import Site, sketch
from undust.judging.held_out import HeldOut, prove_site
from undust.judging.verdict import Candidate, Verdict, VerdictLimits

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters

TEXTS = (
    "rewrite {s}://{h}/{p**}?{**:x}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?x={v}&{rest**} → {s}://{h}/{p}?x={v:any}&{rest}",
    'replace "/b" → "/a"',
    "rewrite {s}://{h}/{p} → {s}://{h}/a",
    'replace "nowhere" → ""',
)


def candidate(*texts: str, site: str = "shop.test") -> Candidate:
    """A candidate of these rules, proposed by nobody in particular."""
    rules = tuple(undust.Rule.parse(text, site=site) for text in texts)
    return Candidate(rules, support=1, counted="pairs")


def counted_plainly(proposed: Candidate, site: SiteClusters) -> dict[str, int]:
    """What a verdict counts, pair by pair and one URL at a time."""
    key = undust.RuleSet(proposed.rules).compile().key
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for node in np.flatnonzero(site.cluster_of_node >= 0):
        groups[key(site.node_urls[node].as_py())].append(int(node))
    found: Counter[str] = Counter()
    pages = set()
    for nodes in groups.values():
        sizes = Counter(int(site.cluster_of_node[node]) for node in nodes)
        main = min(sizes, key=lambda cluster: (-sizes[cluster], cluster))
        speaker = next(node for node in nodes if site.cluster_of_node[node] == main)
        bad = set()
        for cluster in sizes:
            other = next(node for node in nodes if site.cluster_of_node[node] == cluster)
            if cluster != main and site.relation(np.array([speaker]), np.array([other]))[0] == -1:
                bad.add(cluster)
        for left, right in itertools.combinations(nodes, 2):
            ends = {int(site.cluster_of_node[left]), int(site.cluster_of_node[right])}
            what = "support" if len(ends) == 1 else "false_pairs" if ends & bad else "unknown_pairs"
            found[what] += 1
        found["lost"] += len(bad)
        found["saves"] += len(nodes) - len(sizes)
        pages |= {cluster for cluster, size in sizes.items() if size > 1}
    return {name: found[name] for name in ("support", "false_pairs", "unknown_pairs", "lost", "saves")} | {
        "pages": len(pages)
    }


URLS = st.builds(
    lambda path, value: f"http://shop.test/{path}{f'?x={value}' if value else ''}",
    st.sampled_from(["a", "b", "c", "a/b", "a/c"]),
    st.sampled_from(["", "1", "2", "3"]),
)


@given(
    st.dictionaries(URLS, st.tuples(st.sampled_from("PQRS"), st.integers(0, 2)), min_size=1),
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2, unique=True),
    st.booleans(),
)
def test_counts_equal_a_plain_count(
    seen: dict[str, tuple[str, int]],
    texts: list[str],
    labelled: bool,  # noqa: FBT001
) -> None:
    """Pairs, pages and losses as counted the long way, with labels and with sketches that nearly agree."""
    if labelled:
        columns = {"url": list(seen), "cluster": [page for page, _ in seen.values()]}
    else:
        minima = [None if changed == 2 else sketch(page, 3 * changed) for page, changed in seen.values()]
        columns = {"url": list(seen), "sketch": pa.array(minima, pa.list_(pa.uint32()))}
    site = undust.find_duplicates(pa.table(columns)).sites[0]
    proposed = candidate(*texts)
    (verdict,) = HeldOut(site).measured([proposed])
    plain = counted_plainly(proposed, site)
    assert {name: getattr(verdict, name) for name in plain} == plain
    together = HeldOut(site).together([*proposed.rules, proposed.rules[0]])
    assert {name: getattr(together.verdict, name) for name in plain} == plain
    troubled = HeldOut(site).only(together.troubled).together(proposed.rules)
    assert (len(troubled.troubled), troubled.verdict.lost) == (len(together.troubled), verdict.lost)
    assert troubled.verdict.false_pairs == verdict.false_pairs


def shop(pages: int = 5) -> SiteClusters:
    """Each page with and without a session, and lists whose pages differ."""
    site = Site(host="shop.test")
    for number in range(pages):
        site.page(f"/p{number}", f"page {number}")
        site.page(f"/p{number}?sid={number}", f"page {number}")
        site.page(f"/list?page={number}", f"list {number}")
    return undust.find_duplicates(site.table()).sites[0]


DROP_SID = candidate("rewrite {s}://{h}/{p**}?{**:sid}&{rest**} → {s}://{h}/{p}?{rest}")
DROP_PAGE = candidate("rewrite {s}://{h}/{p**}?{**:page}&{rest**} → {s}://{h}/{p}?{rest}")


def test_a_true_rule_and_a_false_one() -> None:
    """Sessions are dropped for five pages; pages of a list are not one page."""
    right, wrong = prove_site([DROP_SID, DROP_PAGE], shop())
    assert (right.support, right.false_pairs, right.pages, right.saves, right.lost) == (5, 0, 5, 5, 0)
    assert right.accepted
    assert right.reason == "5 URLs of 5 pages saved, 0 lost"
    assert right.fpr_upper == pytest.approx(1 - 0.05 ** (1 / 5))
    assert right.examples[0] == ("http://shop.test/p0?sid=0", "http://shop.test/p0")
    assert (wrong.support, wrong.false_pairs, wrong.lost, wrong.saves) == (0, 10, 4, 0)
    assert (wrong.accepted, wrong.fpr, wrong.fpr_upper, wrong.examples) == (False, 1.0, 1.0, ())
    rule = right.rules[0]
    assert (rule.support, rule.false_positives, rule.saves) == (5, 0, 5)
    assert undust.RuleSet(right.rules).raw[0]["fpr"] == 0.0


@pytest.mark.parametrize(
    ("measured", "demands", "reason"),
    [
        ({}, {}, "no held-out URL is changed by it"),
        ({"moved": 3}, {}, "it brings no two held-out URLs of one page together"),
        (
            {"moved": 9, "saves": 9, "support": 98, "false_pairs": 2, "pages": 9},
            {},
            "2.0% of its pairs are different pages, more than 1.0%",
        ),
        ({"moved": 9, "saves": 9, "support": 36, "pages": 1}, {}, "only 1 page of at least 3 show it"),
        (
            {"moved": 9, "saves": 3, "support": 3, "pages": 3, "unknown": 4},
            {},
            "of 4 pages that it merges, it is not known what they show",
        ),
        ({"moved": 9, "saves": 3, "support": 3, "pages": 3, "unknown": 4}, {"max_unknown": 0.9}, None),
        ({"moved": 9, "saves": 9, "support": 98, "false_pairs": 2, "pages": 9}, {"max_fpr": 0.02}, None),
        ({"moved": 9, "saves": 9, "support": 36, "pages": 1}, {"min_support": 1}, None),
    ],
)
def test_every_refusal_has_a_reason(
    measured: dict[str, int], demands: dict[str, float], reason: str | None
) -> None:
    """What was not enough is said; other demands may be met by the same figures."""
    verdict = Verdict(DROP_SID, **measured).under(VerdictLimits(**demands))  # type: ignore[arg-type]
    assert verdict.accepted == (reason is None)
    assert verdict.reason == (reason or verdict.reason)


def test_a_rule_that_grows_is_refused_at_once() -> None:
    """What never ends changes nothing when deployed, and costs nothing when proved."""
    (verdict,) = prove_site([candidate('replace "$" → "?x$"')], shop(400))
    assert verdict.reason == "no held-out URL is changed by it"


def test_a_site_without_anything_held_out() -> None:
    """Nothing held out, nothing changed: refused, and no trouble."""
    nothing = shop().keeps(np.zeros(shop().cluster_count, np.bool_))
    (verdict,) = prove_site([DROP_SID], nothing)
    assert verdict.reason == "no held-out URL is changed by it"
