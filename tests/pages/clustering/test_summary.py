"""What was found, as people and programs are told it: every count in its place, sites added up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from undust.pages.clustering import GROUPS_TOLD, MOST_KEPT, Summary
from undust.pages.clustering.distrust import Distrusted
from undust.pages.clustering.nodes import SightingCounts


def lie(urls: int = 9, about: str = "", kind: str = "site-wide canonical") -> Distrusted:
    """Evidence that was not used."""
    return Distrusted(kind, "canonical", urls, about, "because", ("http://a.test/1 → http://a.test/2",))


def summary() -> Summary:
    """A site with something of everything."""
    return Summary(
        sites=1,
        urls=1000,
        clusters=400,
        largest=7,
        known=250,
        not_urls=2,
        counts=SightingCounts(sightings=2000, failed=3, changing=4, leaving=5, odd_sketches=6),
        evidence=Counter(digest=600, redirect=20),
        distrusted_groups=Counter({"site-wide canonical": 1}),
        distrusted_urls=Counter({"site-wide canonical": 9}),
        distrusted=[("a.test", lie(about="http://a.test/"))],
    )


def test_a_person_is_told_everything() -> None:
    """Headline, evidence, what was not trusted, what was left out: in this order, with a line between."""
    assert summary().text(80) == (
        "1,000 URLs of 1 site in 400 clusters: 600 duplicates (60%), up to 7 URLs in one\n"
        "  cluster\n"
        "content to compare: 250 URLs (25%); of the others only sizes can show that they\n"
        "  differ\n"
        "\n"
        "evidence   URLs\n"
        "redirect     20  one redirects to the other, or both to the same URL\n"
        "digest      600  equal content\n"
        "\n"
        "not trusted, and not used\n"
        "  site-wide canonical: 9 URLs\n"
        "    a.test: 9 URLs, because\n"
        "      → http://a.test/\n"
        "      http://a.test/1\n"
        "        → http://a.test/2\n"
        "\n"
        "left out\n"
        "  3 sightings with a 4xx or 5xx\n"
        "  2 rows that are not URLs\n"
        "  5 redirects to other sites\n"
        "  6 sketches of another size\n"
        "  4 URLs' earlier contents (the latest counts)"
    )


def test_a_program_is_told_everything() -> None:
    """Each count has its name, and groups their site."""
    assert summary().as_json() == {
        "sites": 1,
        "urls": 1000,
        "clusters": 400,
        "duplicates": 600,
        "largest_cluster": 7,
        "comparable_urls": 250,
        "evidence": {"digest": 600, "redirect": 20},
        "distrusted": [
            {
                "site": "a.test",
                "kind": "site-wide canonical",
                "evidence": "canonical",
                "urls": 9,
                "about": "http://a.test/",
                "why": "because",
                "examples": ("http://a.test/1 → http://a.test/2",),
            }
        ],
        "distrusted_urls": {"site-wide canonical": 9},
        "sightings": 2000,
        "failed": 3,
        "not_urls": 2,
        "changing": 4,
        "leaving": 5,
        "odd_sketches": 6,
    }


def test_sites_are_added_up() -> None:
    """Counts add, the largest cluster is the larger one, and the largest lies come first."""
    both, other = summary(), replace(summary(), largest=5, distrusted=[("b.test", lie(urls=30))])
    both.add(other)
    told, one = both.as_json(), summary().as_json()
    for name in (
        "sites",
        "urls",
        "clusters",
        "duplicates",
        "comparable_urls",
        "sightings",
        "failed",
        "not_urls",
    ):
        assert told[name] == 2 * one[name], name
    assert told["evidence"] == {"digest": 1200, "redirect": 40}
    assert told["distrusted_urls"] == {"site-wide canonical": 18}
    assert told["largest_cluster"] == 7
    assert [group["site"] for group in told["distrusted"]] == ["b.test", "a.test"]
    assert "site-wide canonical: 18 URLs in 2 groups\n" in both.text()


def test_kinds_with_most_urls_come_first_and_few_groups_are_told() -> None:
    """A crawl can hold thousands of lies: the heaviest are told, the others counted."""
    many = [("a.test", lie(kind="b kind", urls=100 - number)) for number in range(MOST_KEPT + 5)]
    full = replace(
        summary(),
        distrusted=many,
        distrusted_groups=Counter({"b kind": 205, "a kind": 1}),
        distrusted_urls=Counter({"b kind": 99, "a kind": 5}),
    )
    lines = full.text().splitlines()
    assert lines.index("  b kind: 99 URLs in 205 groups") < lines.index("  a kind: 5 URLs")
    assert sum(line.startswith("    a.test: ") for line in lines) == GROUPS_TOLD
    assert f"    … and {205 - GROUPS_TOLD} more groups" in lines
    full.add(Summary())
    assert len(full.distrusted) == MOST_KEPT


def test_nothing_found_is_said_in_a_line() -> None:
    """Without a duplicate there are no duplicates; without a URL there is no content to miss."""
    assert Summary().text() == "0 URLs of 0 sites in 0 clusters"
    assert Summary(sites=1, urls=2, clusters=2, known=2).text() == "2 URLs of 1 site in 2 clusters"
    assert Summary(sites=1, urls=2, clusters=2).text().endswith("can show that pages differ")


def test_a_strange_url_does_nothing_to_a_terminal() -> None:
    """What strangers wrote is cut to the width, and control characters are replaced."""
    strange = replace(lie(), examples=(f"http://a.test/\x1b[31m{'x' * 200}",))
    text = replace(summary(), distrusted=[("a.test", strange)]).text(80)
    assert "\x1b" not in text
    assert f"      {'http://a.test/�[31m' + 'x' * 200}"[:79] + "…" in text.splitlines()


def test_what_just_fits_is_not_cut() -> None:
    """A line may be as long as the terminal is wide."""
    url = "http://a.test/".ljust(74, "x")
    text = replace(summary(), distrusted=[("a.test", replace(lie(), examples=(url,)))]).text(80)
    assert f"      {url}" in text.splitlines()
