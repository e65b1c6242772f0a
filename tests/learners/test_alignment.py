"""Rules by alignment: the worked examples of the specification, and what each option and limit does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.learners.labelled import labelled, proposed, rules_of
from undust.learners.alignment.consensus import consensus
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.candidates import Proposal
    from undust.duplicates import SiteClusters

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
