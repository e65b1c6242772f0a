"""What rules remove is masked if it looks secret, wherever it stands, and shown if it is a word."""

from __future__ import annotations

from functools import partial

import pytest

from tests.timing import quickest
from undust.learning import masked
from undust.privacy.masking import Masks, forgotten_names, removed_from
from undust.rules import Rule

ID = "1b6453892473a467d07372d45eb05abc2031647a"


def shown(text: str, url: str) -> str:
    """Return a URL as the example of a rule shows it."""
    return Masks().text(url, removed_from(url, forgotten_names([Rule.parse(text, site="a.test")])))


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("/s/{*:hex}/{x}/{p**}?{r**} -> {s}://{h}/{x}/{p}?{r}", f"/s/{ID[:10]}/p/0", "/s/***1/p/0"),
        ("/(S({*:hex}))/{p**} -> {s}://{h}/{p}", f"/(S({ID[:10]}))/p/0.aspx", "/(S(***1))/p/0.aspx"),
        ("/p/{a:int};{*} -> {s}://{h}/p/{a}", f"/p/7;j={ID[:10]}", "/p/7;j=***1"),
        ("/{p**}/{*:uuid} -> {s}://{h}/{p}", f"/a/b/{ID[:8]}-1111-4222-8333-{ID[:12]}", "/a/b/***1"),
        ("/{**}/p/{id} -> {s}://{h}/p/{id}", f"/x/{ID[:10]}/joe@b.test/p/7", "/x/***2/***1/p/7"),
        ("/{t}/p/{id} -> {s}://{h}/{t:any}/p/{id}", f"/{ID[:10]}/p/7", "/***1/p/7"),
        ("/{*}-{a}-{b}/x -> {s}://{h}/{a}-{b}", f"/{ID[:10]}-y-z/x", "/***1/x"),
        ("/{*:en|de}/{x} -> {s}://{h}/{x}", "/de/a7-b8", "/de/a7-b8"),
        (
            "/v?{k**:id|n_*}&{**} -> {s}://{h}/v?{k}",
            f"/v?id=7&n_1=2&m={ID[:8]}&x=15",
            "/v?id=7&n_1=2&m=***1&x=15",
        ),
        ("/v?id={n}&{**} -> {s}://{h}/v?id={n}", f"/v?id=7&m=8&n={ID[:8]}", "/v?id=7&m=8&n=***1"),
        ("/v?{k**:id}&{**} -> {s}://{h}/v?{k}", f"/w?id=7&m={ID[:8]}", f"/w?id=7&m={ID[:8]}"),
        (f"/{{p**}}?{ID}={{**}}&{{r**}} -> {{s}}://{{h}}/{{p}}?{{r}}", f"/p/0?{ID}", "/p/0?***1"),
        (f"/s/{ID}/{{p**}} -> {{s}}://{{h}}/{{p}}", f"/s/{ID}/7", "/s/***1/7"),
        (f"/{{p}} -> {{s}}://{{h}}/s/{ID}/{{p}}", f"/s/{ID}/7", "/s/***1/7"),
    ],
)
def test_what_is_forgotten_is_hidden_wherever_it_stands(text: str, url: str, expected: str) -> None:
    """In a segment, in a part of one, in several, behind a `;`, as a name, as a fixed text."""
    assert shown(f"rewrite {{s}}://{{h}}{text}", f"http://a.test{url}") == f"http://a.test{expected}"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("/{*}/{id} -> {s}://{h}/{id}", "/books/p-7"),
        ("/{*}/{id} -> {s}://{h}/{id}", f"/books/{ID[:10]}"),
        ("/s/{*:hex}/{x} -> {s}://{h}/{x}", f"/t/{ID[:10]}/x"),
        ("/s/{*:hex}/{x} -> {s}://{h}/{x}", f"/s/{ID[:10]}/x/y"),
        ("/a/{*}/{p**}/b/c -> {s}://{h}/{p}", "/a/b"),
        ("/a/{*}/{p**}/b -> {s}://{h}/{p}", f"/a/{ID[:10]}/x/c"),
        ("/v?{k**:id}&{**} -> {s}://{h}/v?{k}", "/v?id=7&limit=15&page=1&mail=me"),
    ],
)
def test_folders_and_what_stays_are_shown(text: str, url: str) -> None:
    """Examples are there to be read: short words, what the rule keeps, URLs it does not match."""
    assert shown(f"rewrite {{s}}://{{h}}{text}", f"http://a.test{url}") == f"http://a.test{url}"


@pytest.mark.parametrize(
    "text",
    [f'replace ";sid={ID}" -> ""', f'replace "/s/{ID}/" -> "/"', f'replace "/" -> "/s/{ID}/"'],
)
def test_examples_of_single_learners_are_masked(text: str) -> None:
    """Their rules name the ids that they saw: the rule cannot but say them, its examples can."""
    rule = Rule.parse(text, site="a.test").to_json()
    other = Rule.parse('replace "/index.php" -> "/"', site="a.test").to_json()
    example = (f"http://a.test/s/{ID}/;sid={ID}", "http://a.test/s/x")
    for one in masked(Rule.from_json(each | {"examples": [example]}) for each in (rule, other)):
        assert ID not in str(one.examples)
        assert "***" in one.examples[0][0]


def test_examples_of_different_values_stay_different() -> None:
    """Each value of a rule file has a number, and learning again from a masked file keeps the numbers."""
    rule = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{r**} -> {s}://{h}/{p}?{r}", site="a.test").to_json()
    examples = [
        (f"http://a.test/{n}?sid={ID[n : n + 9]}&page={n}", f"http://a.test/{n}?page={n}") for n in (1, 2)
    ]
    (one,) = masked([Rule.from_json(rule | {"examples": examples})])
    assert [url for url, _ in one.examples] == [f"http://a.test/{n}?sid=***{n}&page={n}" for n in (1, 2)]
    assert masked([one]) == [one]


@pytest.mark.slow
def test_hostile_rules_and_urls_are_masked_in_no_time() -> None:
    """Nothing here looks back and forth over a text without bounds."""
    names = forgotten_names(
        [Rule.parse("rewrite {s}://{h}/" + "{*}-" * 30 + "x/{**}/y -> {s}://{h}/", site="a.test")]
    )
    for piece in ("-", "a.", "/a"):
        urls = (f"http://a.test/{piece * (length // len(piece))}" for length in (10_000, 40_000))
        patterns = [*names, "/{*}-{a}", "/{*:hex}{b}"]
        short, long = (quickest(partial(removed_from, url, patterns)) for url in urls)
        assert long < 16 * short + 0.05, piece
