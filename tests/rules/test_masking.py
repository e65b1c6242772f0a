"""What nobody should see in an example: what a rule forgets, wherever it stands, and people's addresses."""

from __future__ import annotations

import time

import pytest

from undust.learning import masked
from undust.privacy import is_random, is_secret, without_people, without_secrets
from undust.rules import Rule
from undust.rules.masking import forgotten_names, without_values

ID = "1b6453892473a467d07372d45eb05abc2031647a"


def shown(text: str, url: str) -> str:
    """Return a URL as the example of a rule shows it."""
    return without_values(url, forgotten_names([Rule.parse(text, site="a.test")]))


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("/s/{*:hex}/{x}/{p**}?{r**} -> {s}://{h}/{x}/{p}?{r}", f"/s/{ID}/p/0", "/s/***/p/0"),
        ("/(S({*:hex}))/{p**} -> {s}://{h}/{p}", f"/(S({ID}))/p/0.aspx", "/(S(***))/p/0.aspx"),
        ("/p/{a:int};{*} -> {s}://{h}/p/{a}", f"/p/7;jsessionid={ID}", "/p/7;jsessionid=***"),
        ("/{p**}/{*:uuid} -> {s}://{h}/{p}", f"/a/b/{ID[:8]}-1111-4222-8333-{ID[:12]}", "/a/b/***"),
        ("/{**}/p/{id} -> {s}://{h}/p/{id}", f"/x/{ID}/joe@b.test/p/7", "/x/***/***/p/7"),
        ("/{t}/p/{id} -> {s}://{h}/{t:any}/p/{id}", f"/{ID}/p/7", "/***/p/7"),
        ("/{*}-{a}-{b}/x -> {s}://{h}/{a}-{b}", f"/{ID}-y-z/x", "/***/x"),
        ("/{*:en|de}/{x} -> {s}://{h}/{x}", f"/de/{ID}", f"/de/{ID}"),
        ("/v?{k**:id|n_*}&{**} -> {s}://{h}/v?{k}", "/v?id=7&n_1=2&mail=me&x", "/v?id=7&n_1=2&mail=***&x"),
        ("/v?id={n}&{**} -> {s}://{h}/v?id={n}", "/v?id=7&m=8", "/v?id=7&m=***"),
        ("/v?{k**:id}&{**} -> {s}://{h}/v?{k}", "/w?id=7&m=8", "/w?id=7&m=8"),
        (f"/{{p**}}?{ID}={{**}}&{{r**}} -> {{s}}://{{h}}/{{p}}?{{r}}", f"/p/0?{ID}", "/p/0?***"),
        (f"/s/{ID}/{{p**}} -> {{s}}://{{h}}/{{p}}", f"/s/{ID}/7", "/s/***/7"),
        (f"/{{p}} -> {{s}}://{{h}}/s/{ID}/{{p}}", f"/s/{ID}/7", "/s/***/7"),
    ],
)
def test_what_is_forgotten_is_hidden_wherever_it_stands(text: str, url: str, expected: str) -> None:
    """In a segment, in a part of one, in several, behind a `;`, as a name, as a fixed text."""
    assert shown(f"rewrite {{s}}://{{h}}{text}", f"http://a.test{url}") == f"http://a.test{expected}"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("/{*}/{id} -> {s}://{h}/{id}", "/books/p-7"),
        ("/{*}/{id} -> {s}://{h}/{id}", f"/books/{ID}"),
        ("/s/{*:hex}/{x} -> {s}://{h}/{x}", f"/t/{ID}/x"),
        ("/s/{*:hex}/{x} -> {s}://{h}/{x}", f"/s/{ID}/x/y"),
        ("/a/{*}/{p**}/b/c -> {s}://{h}/{p}", "/a/b"),
        ("/a/{*}/{p**}/b -> {s}://{h}/{p}", f"/a/{ID}/x/c"),
        (f"/c/{ID}/{{*}} -> {{s}}://{{h}}/c/{ID}", f"/c/{ID}/x"),
    ],
)
def test_folders_and_what_stays_are_shown(text: str, url: str) -> None:
    """Examples are there to be read: short words, what the rule keeps, URLs it does not match."""
    assert shown(f"rewrite {{s}}://{{h}}{text}", f"http://a.test{url}") == f"http://a.test{url}"


def test_the_line_between_words_and_secrets() -> None:
    """Eight characters with a digit, hexadecimal digits, mixed letters, mail; as the documentation says."""
    assert all(
        map(is_secret, ("20240115", "a1b2c3d4", "deadbeef", "aBcDeFgHiJkLmNoPqR", "x@a.test", "x%40a.test"))
    )
    assert not any(
        map(is_secret, ("", "books", "a1b2c3d", "teapots-and-their-lids", "Encyclopaedia", "ABOUT"))
    )
    assert all(map(is_random, (ID, f"{ID[:8]}-1111-4222-8333-{ID[:12]}", "joe@a.test")))
    assert not any(map(is_random, ("annual-report-2024", "1234567890123456", "internationalization")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://alice:s3cret@a.test/x", "http://***@a.test/x"),
        ("http://alice@a.test:80", "http://***@a.test:80"),
        ("http://a.test/?u=https://b:c@d.test/", "http://a.test/?u=https://***@d.test/"),
        ("http://a.test/u/alice.smith@example.org/p", "http://a.test/u/***/p"),
        ("http://a.test/?m=alice%40example.org&x", "http://a.test/?m=***&x"),
        ("mailto:joe@a.test", "mailto:***"),
        ("http://a.test/logo@2x.png", "http://a.test/logo@2x.png"),
        ("http://a.test/npm/jquery@3.6.0/a.js", "http://a.test/npm/jquery@3.6.0/a.js"),
        ("http://a.test/@joe/7", "http://a.test/@joe/7"),
    ],
)
def test_people_are_hidden_everywhere(text: str, expected: str) -> None:
    """Mail addresses, names and passwords; pictures, releases and handles are none."""
    assert without_people(text) == without_values(text, ()) == expected


def test_the_text_of_a_rule_shows_no_secrets() -> None:
    """Values and random texts go, patterns and words stay."""
    text = f"rewrite {{s}}://{{h}}/a-2024-01;j={ID}?m={{*:joe@a.test|b@c.test}}&v=1 → {{s}}://{{h}}/?b=%3Ft%3D{ID}"
    hidden = "rewrite {s}://{h}/a-2024-01;j=***?m={*:***|***}&v=1 → {s}://{h}/?b=%3Ft%3D***"
    assert without_secrets(text) == hidden


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


def test_hostile_rules_and_urls_are_masked_in_no_time() -> None:
    """Nothing here looks back and forth over a text without bounds."""
    names = forgotten_names(
        [Rule.parse("rewrite {s}://{h}/" + "{*}-" * 30 + "x/{**}/y -> {s}://{h}/", site="a.test")]
    )
    start = time.thread_time()
    for url in ("-" * 60_000, "a." * 30_000 + "@", "a@" * 30_000, "/a" * 30_000, "a@b." * 15_000):
        without_values(f"http://a.test/{url}", [*names, "/{*}-{a}", "/{*:hex}{b}"])
    assert time.thread_time() - start < 5
