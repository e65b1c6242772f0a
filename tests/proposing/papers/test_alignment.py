"""Rules by alignment: the worked examples of the specification, and what each option and limit does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.proposing.papers.labelled import labelled, proposed, rules_of
from undust.errors import UndustError
from undust.measuring.methods import methods_named
from undust.proposing.papers.alignment.groups import consensus
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.judging.verdict import Proposal
    from undust.pages.clustering import SiteClusters

AMAZON = "http://www.amazon.com"
TITLES = {
    "0545010225": ("Deathly-Hallows", "Harry-Potter", "Any-string"),
    "0439064864": ("A-b", "C-d", "E-f"),
}


def site_of(*clusters: Iterable[str]) -> SiteClusters:
    """A site with these clusters."""
    return labelled({url: str(number) for number, urls in enumerate(clusters) for url in urls})


def found(*clusters: Iterable[str], **options: object) -> Proposal:
    """What alignment proposes."""
    return proposed(site_of(*clusters), "alignment", **options)


def images(proposal: Proposal, urls: Iterable[str]) -> list[str]:
    """What the rules of a proposal compare URLs by."""
    rules = [rule for candidate in proposal.candidates for rule in candidate.rules]
    key = RuleSet(rules).compile().key
    return [key(url) for url in urls]


def test_g19_scheme_and_index_page() -> None:
    """G19: one consensus, and a rule for the combination that was not in it."""
    urls = ["https://example.com/?id=5", "http://example.com/?id=5", "http://example.com/index.php?id=5"]
    said = "{http,https} : / / example . com / {index,λ} {.,λ} {php,λ} ? id = 5"
    assert str(consensus(urls)) == said
    proposal = found(urls, min_clusters=1)
    assert images(proposal, ["https://example.com/index.php?id=6"]) == ["http://example.com/?id=6"]
    assert images(proposal, urls) == ["http://example.com/?id=5"] * 3


def test_g20_columns_of_many() -> None:
    """G20: two columns with six and seven members; all seven become the smallest of each."""
    texts = [f"a.b.{one}.c.{two}" for one, two in zip("uvwxyzz", "rstopmn", strict=True)]
    spots = consensus(texts).spots
    assert [len(spot.tokens) for spot in spots] == [1, 1, 1, 1, 6, 1, 1, 1, 7]
    proposal = found([f"http://x.test/{text}" for text in texts], min_clusters=1)
    assert set(images(proposal, (f"http://x.test/{text}" for text in texts))) == {"http://x.test/a.b.u.c.m"}


def test_g21_titles_and_sessions() -> None:
    """G21: titles vary column by column; a parameter of one URL alone is optional as a whole."""
    urls = [f"{AMAZON}/{title}/dp/0545010225" for title in TITLES["0545010225"]]
    said = "http : / / www . amazon . com / {Any,Deathly,Harry} - {Hallows,Potter,string} / dp / 0545010225"
    assert str(consensus(urls)) == said
    session = ["http://x.com/show.php?sid=1&id=7", "http://x.com/show.php?id=7"]
    said = "http : / / x . com / show . php ? {sid,λ} {=,λ} {1,λ} {&,λ} id = 7"
    assert str(consensus(session)) == said


def test_g22_hosts() -> None:
    """G22: the number of a mirror is a column of its own, and half a label is never matched."""
    urls = [f"http://{host}ex.com/a/1.html" for host in ("", "www.", "www2.")]
    assert str(consensus(urls)) == "http : / / {www,λ} {2,λ} {.,λ} ex . com / a / 1 . html"
    proposal = found(urls, min_clusters=1)
    assert set(images(proposal, urls)) == {"http://ex.com/a/1.html"}
    strange = ["http://2.ex.com/a/1.html", "http://w.ex.com/a/1.html"]
    assert images(proposal, strange) == strange


def test_two_places_at_once() -> None:
    """The rule that DustBuster's authors leave open, also for pages that nobody saw."""

    def forms(day: str, number: int) -> list[str]:
        return [
            f"http://slash.test/print.pl?sid={day}/{number}",
            f"http://slash.test/newsvac/{day}/-{number}.shtml",
        ]

    proposal = found(forms("06/06/27", 2), forms("06/11/04", 5), forms("05/12/30", 1))
    (rule,) = rules_of(proposal)
    assert rule == (
        "rewrite http://slash.test/newsvac/{p1:int}/{p2:int}/{p3:int}/-{p4:int}.shtml"
        " → http://slash.test/print.pl?sid={p1}/{p2}/{p3}/{p4}"
    )
    unseen = images(proposal, forms("07/01/02", 9))
    assert unseen == [forms("07/01/02", 9)[0]] * 2


def test_one_cluster_is_no_evidence() -> None:
    """What one cluster says is not proposed, and counted; two that say the same are enough."""
    pages = [[f"http://x.test/p{page}.html", f"http://x.test/p{page}.html?print=1"] for page in range(2)]
    alone = found(pages[0])
    assert alone.candidates == ()
    assert alone.cut == {"rules seen in too few clusters": 1}
    (candidate,) = found(*pages).candidates
    assert (candidate.pages, candidate.support, candidate.counted) == (2, 2, "pairs")
    assert rules_of(found(*pages)) == ["rewrite http://x.test/{p1}?print=1 → http://x.test/{p1}"]


def test_what_comes_back_is_a_name() -> None:
    """A value that many clusters have is part of the rule; one that never comes back is data."""
    pages = [
        [
            f"http://x.test/a/{page}",
            f"http://x.test/a/{page}?page=1",
            f"http://x.test/a/{page}?sid={page * 77}",
        ]
        for page in range(8)
    ]
    assert rules_of(found(*(each[:2] for each in pages))) == [
        "rewrite http://x.test/a/{p2:int}?page=1 → http://x.test/a/{p2}"
    ]
    assert rules_of(found(*(each[::2] for each in pages))) == [
        "rewrite http://x.test/a/{p2:int}?sid={*:int} → http://x.test/a/{p2}"
    ]


def test_captures_are_typed_by_all_clusters() -> None:
    """One page with another kind of value widens the capture, in every place it was seen."""
    names = ["12", "77", "4", "901"]
    types = {"x": "{p2:word}", "ab": "{p2:hex}", "a-b": "{p2:word}", "a.b": "{p2}", "5": "{p2:int}"}
    for odd, said in types.items():
        pages = [[f"http://x.test/i/{name}", f"http://x.test/i/{name}?p=1"] for name in [*names, odd]]
        (rule,) = rules_of(found(*pages))
        assert rule == f"rewrite http://x.test/i/{said}?p=1 → http://x.test/i/{{p2}}"


def test_a_part_that_no_value_works_for_is_masked() -> None:
    """Titles of other pages are never written: URLs are compared without them."""
    pages = [[f"{AMAZON}/{title}/dp/{number}" for title in titles] for number, titles in TITLES.items()]
    proposal = found(*pages)
    unseen = [f"{AMAZON}/{title}/dp/111" for title in ("Any-other", "Some-thing", "One-more-title")]
    assert images(proposal, unseen) == [f"{AMAZON}/*/dp/111"] * 3
    assert found(*pages, min_clusters=3).candidates == ()


SLUGS = ("alpha", "bravo-carbon", "delta-ember-falcon", "gamma-harbor", "island", "lemon-mango-nectar-olive")


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        ("/{title}/dp/{n}", "/{p1:word}/dp/{p3:int} → http://x.test/{p1:any}/dp/{p3}"),
        ("/shop/{title}-{n}", "/shop/{p2:word}-{p3:int} → http://x.test/shop/{p2:any}-{p3}"),
        ("/{title}-p{n}.html", "/{p1:word}-p{p2:int}.html → http://x.test/{p1:any}-p{p2}.html"),
        ("/{n}-{title}.html", "/{p1:int}-{p2:word}.html → http://x.test/{p1}-{p2:any}.html"),
        ("/v?ref={title}-{n}", "/v?ref={p2:word}-{p3:int} → http://x.test/v?ref={p2:any}-{p3}"),
    ],
)
def test_a_title_of_any_number_of_words_is_one_capture(form: str, rule: str) -> None:
    """E5: an id beside it in the same segment stays apart, whatever titles a page has."""
    pages = [
        [f"http://x.test{form.format(title=SLUGS[(n + 2 * k) % 6], n=100 + n)}" for k in range(3)]
        for n in range(12)
    ]
    wanted = f"rewrite http://x.test{rule}"
    assert wanted in rules_of(found(*pages, word_runs=True))
    assert (wanted in rules_of(found(*pages, word_runs=False))) == (form == "/{title}/dp/{n}")


def test_too_many_forms_are_refused_and_counted() -> None:
    """Nine forms are one too many; the sample is tried again in halves, unless that is switched off."""
    forms = ["", "?a=1", "?b=1", "?c=1", "?d=1", "?e=1", "?f=1", "?g=1", "?h=1"]
    pages = [[f"http://x.test/p/{page}{form}" for form in forms] for page in range(3)]
    strict = found(*pages, halves=False)
    assert strict.candidates == ()
    assert strict.cut == {"samples with too many optional parts": 3}
    assert len(found(*(page[:8] for page in pages), halves=False).candidates) == 1
    halved = found(*pages)
    assert halved.cut["samples with too many optional parts"] == 3
    assert images(halved, ["http://x.test/p/99?h=1", "http://x.test/p/99?a=1"]) == ["http://x.test/p/99"] * 2


def test_only_forms_that_were_seen_are_written() -> None:
    """Where no URL is without the optional parts, none is made up."""
    pages = [
        [f"http://x.test/view/{page}", f"http://x.test/show.php?id={page}", f"http://x.test/t/view/{page}"]
        for page in range(5)
    ]
    urls = {url for page in pages for url in page}
    proposal = found(*pages)
    assert proposal.candidates
    assert set(images(proposal, urls)) < urls


def test_rules_across_hosts() -> None:
    """On demand clusters of several hosts make one rule, for these hosts."""
    pages = [
        [f"http://{host}.x.test/p/{host}9", f"http://{host}.x.test/p/{host}9?s=1"] for host in ("a", "b") * 2
    ]
    pages[2:] = [[url.replace("9", "8") for url in page] for page in pages[2:]]
    assert len(found(*pages).candidates) == 2
    (rule,) = rules_of(found(*pages, across_hosts=True))
    assert rule == "rewrite http://{h:a.x.test|b.x.test}/p/{p3:hex}?s=1 → http://{h}/p/{p3}"


def test_several_hosts_of_one_cluster() -> None:
    """Mirrors inside a cluster need no option: their label is what varies."""
    pages = [[f"http://{host}.x.test/{page}" for host in ("us", "de", "fr")] for page in range(10, 14)]
    (rule,) = rules_of(found(*pages))
    assert rule == "rewrite http://{*:de|fr|us}.x.test/{p2:int} → http://de.x.test/{p2}"


def test_pairs_find_what_whole_clusters_hide() -> None:
    """Clusters with a form of their own each share no consensus, but pairs of their URLs do."""
    odd = ["x{n}", "y/{n}", "z.{n}", "w/w/{n}", "v;{n}"]
    pages = [
        [f"http://x.test/i/{n}", f"http://x.test/i/{n}?s=1", f"http://x.test/{odd[n].format(n=n)}"]
        for n in range(5)
    ]
    told = "rewrite http://x.test/i/{p2:int}?s=1 → http://x.test/i/{p2}"
    assert told not in rules_of(found(*pages))
    assert told in rules_of(found(*pages, sample=2, samples=9))


def test_a_giant_cluster_costs_its_samples_only() -> None:
    """Of a large cluster three samples are aligned; what is left out is told."""
    urls = [f"http://x.test/show?sid={number}" for number in range(20_000)]
    proposal = found(urls, ["http://x.test/show?id=1", "http://x.test/show?id=1&a=2"], min_clusters=1)
    aligned = 3 * 10 - 2
    assert proposal.cut["URLs of large clusters that were not aligned"] == len(urls) - aligned
    assert proposal.notes == (f"{aligned + 4} URLs aligned in 4 samples",)
    assert images(proposal, urls[:2]) == [images(proposal, urls[2:3])[0]] * 2


def test_a_long_url_is_left_out() -> None:
    """The work grows with the square of the length, so that a URL of a trap is not aligned, but counted."""
    trap = "http://x.test/" + "a/" * 3_000
    pages = [[f"http://x.test/p/{page}", f"http://x.test/p/{page}?s=1"] for page in range(20, 23)]
    proposal = found(*pages, [trap, f"{trap}?s=1"])
    assert proposal.cut == {"URLs that are too long to align": 2}
    assert len(proposal.candidates) == 1


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("aligner", "best", r"alignment\.aligner=best is unknown; there are plain, anchored, banded"),
        ("scoring", "x", r"there are typed, jaccard"),
        ("order", "x", r"there are score, share"),
        ("sample", "1", r"alignment\.sample=1 should be between 2 and 1,000"),
        ("samples", "0", r"alignment\.samples=0 should be between 1 and"),
        ("max_tokens", "99999", r"should be between 1 and 5,000"),
        ("max_forms", "65", r"should be between 1 and 64"),
        ("max_forms", "many", r"alignment\.max_forms=many should be a whole number"),
    ],
)
def test_bad_options_are_told(option: str, value: str, message: str) -> None:
    """One sentence says what is wrong and what there is."""
    with pytest.raises(UndustError, match=message):
        found(["http://x.test/"], **{option: value})


def test_nothing_to_align() -> None:
    """A site without duplicates, or with URLs that no rule sees, has no candidates."""
    assert found(["http://x.test/"], ["http://x.test/a"]).candidates == ()
    assert found(["http://u@x.test/", "http://u@x.test/a"], min_clusters=1).candidates == ()


def test_rows_of_the_comparison() -> None:
    """Alignment is compared as a whole and by pairs; its name stands for both."""
    assert [method.name for method in methods_named(["alignment"])] == ["alignment", "alignment-pairs"]
