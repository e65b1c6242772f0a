"""The tables of the DustBuster paper on generated sites of its sizes, with its own figures beside them.

Each site has three lists of URLs, as the paper has logs of different days: rules are detected in the first,
validated on URLs of the second by asking the generated server, and applied to the third. The forum and the
university are access logs, where only sizes are known; the news sites are crawls with sketches.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import undust
from bench.published_sites import (
    PUBLISHED_DEPARTMENT,
    PUBLISHED_FORUM,
    PUBLISHED_LARGE_NEWS,
    PUBLISHED_SMALL_NEWS,
)
from bench.sites import Crawl, Site
from undust.asking.sampling import Sampling, urls_of, validate, validate_rule
from undust.proposing.papers.substring import SubstringOptions, cues_of, likely_pairs, propose_substrings
from undust.rules import RuleSet
from undust.urls.views import TokenView

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.sites.model import Kind
    from undust.asking.sampling import Answer, Judge, Sampled
    from undust.judging.verdict import Candidate
    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.substring import LikelyPairs

LISTS = 3
FIRST_ERROR, FIRST_REDIRECT = 400, 300
MOST_REDIRECTS = 5
LOG = ("status", "size")
CRAWL = ("status", "size", "digest", "sketch", "redirect")
RANKS = (10, 50, 100)
TOKENS_MORE = (8, 16)
"""By so many tokens, half in the host and half in the path, URLs are made longer: `www.a.b.c.org/x/y/`."""
FEW = 40
"""Samples after which the paper saw no change any more."""


@dataclass(frozen=True)
class Published:
    """One of the paper's sites, and what it says of it."""

    name: str
    kind: Kind
    domain: str
    urls: int
    evidence: tuple[str, ...]
    sightings: float = 1.0
    epsilon: float = 0.05
    delta: float = 0.0
    figures: dict[str, Any] = field(default_factory=dict)


SITES = (
    Published(
        "forum", PUBLISHED_FORUM, "forum.co.test", 15_608, LOG, 38_816 / 15_608,
        figures={"urls": 15_608, "likely": 402, "left": 37, "eliminated": 0.91, "valid": 7,
                 "same_after_40": 1.0, "directions_tried": "19 of 56", "reduction": 0.047,
                 "precision": "> 0.8 of 40-50"},
    ),
    Published(
        "academic", PUBLISHED_DEPARTMENT, "ee.university.ac.test", 17_742, LOG, 344_266 / 17_742,
        figures={"urls": 17_742, "likely": 26_899, "left": 2_041, "eliminated": 0.92, "valid": 52,
                 "reduction": 0.18, "coverage": 0.471,
                 "duplicates_left_by_family": "images 25.7%, files 17.9%, errors 7.5%",
                 "precision": "> 0.8 of 100; half without sizes"},
    ),
    Published(
        "large news", PUBLISHED_LARGE_NEWS, "largenews.test", 11_883, CRAWL,
        figures={"urls": 11_883, "likely": 12_144, "left": 1_243, "eliminated": 0.90, "valid": 62,
                 "reduction": 0.06, "precision": "0.42 of 50; 0.24 without sketches"},
    ),
    Published(
        "small news", PUBLISHED_SMALL_NEWS, "smallnews.test", 9_456, CRAWL, 1.0, 0.10, 0.5,
        figures={"urls": 9_456, "likely": 4_220, "left": 96, "eliminated": 0.98, "valid": 5,
                 "reduction": 0.26},
    ),
)  # fmt: skip


def tables(urls: int | None = None) -> list[dict[str, Any]]:
    """Return one row of figures for each site, ours and the published ones; `urls` for smaller sites."""
    return [_figures(each, urls or each.urls) for each in SITES]


def _figures(wanted: Published, urls: int) -> dict[str, Any]:
    site = Site(wanted.kind, LISTS * urls, seed=1, name=wanted.domain)
    crawl = Crawl(sightings=wanted.sightings, evidence=wanted.evidence)
    detection, proof, test = _lists(site, crawl, urls)
    judge = _server(site)
    options = SubstringOptions(delta=wanted.delta)
    sampling = Sampling(epsilon=wanted.epsilon)
    likely, left, precision = _detected(detection, options, judge, proof, sampling)
    without = _detected(detection, SubstringOptions(evidence="none"), judge, proof, sampling)
    proposal = propose_substrings(detection, options)
    done = validate(proposal.candidates, urls_of(proof), judge, sampling)
    valid = [rule for each in done if each.found == "valid" for rule in each.candidate.rules]
    rules = RuleSet({rule.id: rule for rule in valid}.values())
    few = {
        each.candidate.text
        for each in done
        if each.asked
        and validate_rule(each.candidate, urls_of(proof), judge, Sampling(FEW, wanted.epsilon)).found
        == each.found
    }
    reduction, coverage, left_by = _saved(rules, test, site)
    return {
        "site": wanted.name,
        "urls": len(np.flatnonzero(detection.cluster_of_node >= 0)),
        "likely": likely,
        "left": left,
        "eliminated": round(1 - left / max(1, likely), 3),
        "in_longer_urls": _in_longer_urls(detection, options),
        "precision": precision,
        "likely_without_evidence": without[0],
        "precision_without_evidence": without[2],
        "pairs_tried": _pairs_tried(done),
        "directions_tried": sum(each.asked > 0 for each in done),
        "fetched_pairs": sum(each.asked for each in done),
        "valid": len(rules),
        "valid_substitutions": sum(rule.kind == "replace" for rule in rules),
        "same_after_40": round(len(few) / max(1, sum(each.asked > 0 for each in done)), 3),
        "reduction": round(reduction, 3),
        "coverage": round(coverage, 3),
        "duplicates_left_by_family": left_by,
        **{f"published_{name}": value for name, value in wanted.figures.items()},
    }


def _lists(site: Site, crawl: Crawl, urls: int) -> tuple[SiteClusters, SiteClusters, pa.Array]:
    """Return three lists of different URLs: two with what is known of them, one of URLs alone."""
    table = site.observations(crawl)
    names, codes = np.unique(table.column("url").to_numpy(zero_copy_only=False), return_inverse=True)
    first = np.full(len(names), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    part = np.argsort(np.argsort(first))[codes] // urls
    lists = [table.filter(pa.array(part == number)) for number in range(LISTS)]
    found = [undust.find_duplicates(rows).sites[0] for rows in lists[:2]]
    return found[0], found[1], undust.find_duplicates(lists[2]).sites[0].urls


def _server(site: Site) -> Judge:
    """Return a judge that fetches: what cannot be fetched is no outcome, as in the paper's Fig. 4."""

    @lru_cache(1 << 18)
    def shown(url: str) -> str | None:
        for _ in range(MOST_REDIRECTS):
            answer = site.answer(url)
            if answer.status >= FIRST_ERROR:
                return None
            if answer.status < FIRST_REDIRECT:
                return f"{answer.page} {answer.shows}" if not answer.shows else f"notice {answer.shows}"
            url = answer.headers["Location"]
        return None

    def judge(left: str, right: str) -> Answer:
        before = shown(left)
        if before is None:
            return "unknown"
        return "same" if before == shown(right) else "different"

    return judge


def _detected(
    site: SiteClusters, options: SubstringOptions, judge: Judge, proof: SiteClusters, sampling: Sampling
) -> tuple[int, int, dict[str, float]]:
    """Return how many pairs are likely, how many are left, and the precision of the best before any fetch."""
    pairs = _pairs(site, options)
    both = _pairs_of(propose_substrings(site, options).candidates)
    few = Sampling(FEW, sampling.epsilon)
    is_valid = [
        any(validate_rule(each, urls_of(proof), judge, few).found == "valid" for each in directions)
        for directions in both[: max(RANKS)]
    ]
    precision = {f"@{rank}": round(float(np.mean(is_valid[:rank])), 2) for rank in RANKS if is_valid}
    return len(pairs), len(pairs) - int(pairs.is_redundant.sum()), precision


def _pairs(site: SiteClusters, options: SubstringOptions, tokens_more: int = 0) -> LikelyPairs:
    """Return what phases 1 and 2 find; with longer URLs, as if the site had a longer name and lay deeper."""
    nodes = np.flatnonzero(site.cluster_of_node >= 0)
    urls = site.node_urls.take(pa.array(nodes))
    name, folder = ".x" * (tokens_more // 4), "/y" * (tokens_more // 4)
    view = TokenView.of(pc.replace_substring_regex(urls, r"^(https?://[^/]+)/", rf"\1{name}{folder}/"))
    return likely_pairs(view, cues_of(site, nodes, options.evidence, options.delta), options)


def _in_longer_urls(site: SiteClusters, options: SubstringOptions) -> str:
    """Return likely pairs, those left and the share eliminated, by how much longer every URL is made."""
    told = []
    for more in TOKENS_MORE:
        pairs = _pairs(site, options, more)
        gone = int(pairs.is_redundant.sum())
        told.append(f"+{more}: {len(pairs):,}, {len(pairs) - gone:,}, {gone / max(1, len(pairs)):.1%}")
    return "; ".join(told)


def _pairs_of(candidates: tuple[Candidate, ...]) -> list[list[Candidate]]:
    """Return the substitutions with both directions together, in their order."""
    found: dict[frozenset[str | None], list[Candidate]] = {}
    for candidate in candidates:
        rule = candidate.rules[0]
        if rule.kind == "replace":
            found.setdefault(frozenset((rule.source, rule.target)), []).append(candidate)
    return list(found.values())


def _pairs_tried(done: tuple[Sampled, ...]) -> str:
    tried = _pairs_of(tuple(each.candidate for each in done if each.asked))
    return f"{len(tried):,} of {len(_pairs_of(tuple(each.candidate for each in done))):,}"


def _saved(rules: RuleSet, urls: pa.Array, site: Site) -> tuple[float, float, str]:
    """Return the discovered redundancy and the coverage of the paper, by the true pages, and what is left.

    What is left is a share of all duplicates, by the first folder below a person's, which tells copied
    images and files (`images`, `docs`) from the rest.
    """
    truth = site.truth()
    page = dict(zip(truth.column("url").to_pylist(), truth.column("page").to_pylist(), strict=True))
    before = urls.to_pylist()
    images = rules.compile().batch(urls).to_pylist()
    after = len(set(images))
    pages = len({page[url] for url in before})
    duplicates = max(1, len(before) - pages)
    sorts: Counter[str] = Counter()
    of_page: set[Any] = set()
    for image, url in dict(zip(images, before, strict=True)).items():
        sorts[_folder(image)] += page[url] in of_page
        of_page.add(page[url])
    left = ", ".join(f"{name} {count / duplicates:.1%}" for name, count in sorts.most_common(4) if count)
    return 1 - after / len(before), (len(before) - after) / duplicates, left


def _folder(url: str) -> str:
    parts = url.split("/")[3:-1]
    return parts[1] if len(parts) > 1 and parts[0].startswith("~") else "other"


def beside(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures of one site, a line each, with the published one behind ours."""
    for name, value in result.items():
        if not name.startswith("published_"):
            published = result.get(f"published_{name}", "")
            told = f"(published: {published})" if published != "" else ""
            yield f"{name:28} {value!s:>34}  {told}".rstrip()
