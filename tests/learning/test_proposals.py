"""What is proposed from the forms of a page, and under which conditions a rule is tried again."""

from __future__ import annotations

from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.differences import KEPT_VALUES, LONG_NAME, LONGEST
from tests.oracles.differences import differences as twin
from tests.strategies import urls
from undust import RuleSet, _core, normalize
from undust.learning.failing_pages import as_whole, by_chance, conditions_of, exceptions, where_it_holds
from undust.learning.proposals import defaults, differences, drops, equivalences, published
from undust.learning.texts import UrlForms, pieces_of
from undust.proposing.idle_parts import USUAL_PARTS
from undust.rules import Rule
from undust.urls import site_of

SEGMENTS = st.sampled_from(
    [
        "",
        "a",
        "item",
        "12",
        "34",
        "the-title",
        "a_b.html",
        "x;y=1",
        "%7Bp**%7D",
        "%zz",
        "averyverylongname",
        "12-the-title",
    ]
)
PARAMETERS = st.builds(
    lambda name, value: name + value,
    st.sampled_from(["id", "a", "q", "sort", "bad!", "averyverylongname", ""]),
    st.sampled_from(
        ["", "=", "=12", "=34", "=item/12", "=the-title", "=a;b", "=a=b", "=12-the%20title", "=a/b/c"]
    ),
)
URLS = st.builds(
    lambda host, path, query: f"{host}/{'/'.join(path)}{'?' if query else ''}{'&'.join(query)}",
    st.sampled_from(["http://a.test", "http://www.a.test", "https://a.test", "http://a.test:81"]),
    st.lists(SEGMENTS, max_size=4),
    st.lists(PARAMETERS, max_size=3),
)
PAGES = st.lists(st.lists(URLS, min_size=2, max_size=4), min_size=1, max_size=4)


def forms_of(*pages: tuple[str, ...]) -> UrlForms:
    """Return the forms of pages, each a tuple of URLs."""
    rows = [(url, number) for number, page in enumerate(pages) for url in page]
    return UrlForms("a.test", [url for url, _ in rows], [number for _, number in rows])


def proposed(forms: UrlForms) -> set[str]:
    """Return the differences as text."""
    return {str(rule) for rule in differences(forms) if rule is not None}


def test_a_parameter_that_became_a_path_is_seen() -> None:
    """What stands on both sides is captured, and typed by what it was."""
    pages = [(f"http://a.test/show.php?id={n}", f"http://a.test/item/{n}") for n in (3, 41, 59)]
    assert "rewrite {s}://{h}/show.php?id={a:int}&{rest**} → {s}://{h}/item/{a}?{rest}" in proposed(
        forms_of(*pages)
    )


def test_a_difference_on_two_pages_is_none() -> None:
    """It takes three."""
    pages = [(f"http://a.test/show.php?id={n}", f"http://a.test/item/{n}") for n in (3, 41)]
    assert not proposed(forms_of(*pages))


def test_two_places_at_once() -> None:
    """The rule that the authors of DustBuster left open."""
    days = [("06", "06", "27", 2), ("06", "07", "01", 11), ("05", "12", "24", 9)]
    pages = [
        (f"http://a.test/print.pl?sid={y}/{m}/{d}/{n}", f"http://a.test/newsvac/{y}/{m}/{d}/-{n}.shtml")
        for y, m, d, n in days
    ]
    found = RuleSet(
        [rule for rule in differences(forms_of(*pages)) if rule and "newsvac" in (rule.target or "")]
    )
    assert (
        found.compile()("http://a.test/print.pl?sid=07/01/02/5") == "http://a.test/newsvac/07/01/02/-5.shtml"
    )


def test_a_value_that_is_the_path() -> None:
    """A value keeps its slashes on the way into the path."""
    paths = ["a/b/c", "d/e", "x/y/z/w"]
    pages = [(f"http://a.test/?url={path}", f"http://a.test/{path}") for path in paths]
    found = proposed(forms_of(*pages))
    assert "rewrite {s}://{h}/?url={a}&{rest**} → {s}://{h}/{a}?{rest}" in found


def test_a_part_of_the_scheme_is_never_forgotten() -> None:
    """A slug has many values and may be forgotten; `guide` and `item` say where one is."""
    slugs = ["red-cup", "blue-pot", "green-bowl", "tin", "old-whisk", "tray"]
    pages = [(f"http://a.test/p/{slug}/{n}", f"http://a.test/p/{n}") for n, slug in enumerate(slugs)]
    assert "rewrite {s}://{h}/p/{*}/{a:int}?{rest**} → {s}://{h}/p/{a}?{rest}" in proposed(forms_of(*pages))
    kinds = ["guide", "item"] * 3
    pages = [(f"http://a.test/{kind}/{n}", f"http://a.test/{n}") for n, kind in enumerate(kinds)]
    assert not any("{*}" in text for text in proposed(forms_of(*pages)))


def test_a_session_id_in_the_path() -> None:
    """What is always there is written, what changes is forgotten."""
    pages = [(f"http://a.test/x{n};jsessionid=A{n}B", f"http://a.test/x{n}") for n in range(6)]
    found = proposed(forms_of(*pages))
    assert "rewrite {s}://{h}/{a};jsessionid={*}?{rest**} → {s}://{h}/{a}?{rest}" in found


def test_the_name_of_one_page_is_never_written() -> None:
    """Long constants on the right come from one page, and other pages would vanish under it."""
    pages = [(f"http://a.test/{n}", "http://a.test/incomprehensibilities") for n in range(5)]
    assert not any("incomprehensibilities" in text.partition("→")[2] for text in proposed(forms_of(*pages)))


def test_parameters_alone_together_and_by_family() -> None:
    """`utm_*` merges nothing one by one."""
    pages = [(f"http://a.test/{n}?utm_source=x&utm_medium=y&page=1", f"http://a.test/{n}") for n in range(4)]
    found = {str(rule) for rule in drops(forms_of(*pages)) if rule}
    start, end = "rewrite {s}://{h}/{p**}?", "&{rest**} → {s}://{h}/{p}?{rest}"
    assert f"{start}utm_source={{**}}{end}" in found
    assert f"{start}utm_medium={{**}}&utm_source={{**}}{end}" in found
    assert f"{start}{{**:utm_*}}{end}" in found
    assert f"{start}page=1{end}" in {str(rule) for rule in defaults(forms_of(*pages)) if rule}


def test_equivalences_name_the_hosts_and_schemes_that_are_there() -> None:
    """Nothing is proposed about a host that nobody saw."""
    found = {str(rule) for rule in equivalences(forms_of(("http://a.test/", "https://www.a.test/"))) if rule}
    assert "rewrite {s}://www.a.test/{p**}?{rest**} → {s}://a.test/{p}?{rest}" in found
    assert "rewrite http://{h}/{p**}?{rest**} → https://{h}/{p}?{rest}" in found
    one = {str(rule) for rule in equivalences(forms_of(("http://a.test/",))) if rule}
    assert not any("https" in text or "www" in text for text in one)


@given(urls())
def test_every_condition_of_a_url_holds_for_it(url: str) -> None:
    """So narrowing by one of them never leaves the URL out that it was taken from."""
    normal = normalize(url)
    site = site_of(normal)
    if site is None or "@" in normal or ".." in site:  # a rule has no such site
        return
    for condition in conditions_of(normal):
        try:
            rule = Rule(site, "keep", "{s}://{h}/{p**}?{rest**}", when=(condition,))
        except ValueError:
            continue
        assert RuleSet([rule]).compile().explain(normal).steps, condition


@given(urls())
def test_pieces_are_what_the_url_is_made_of(url: str) -> None:
    """Joined again they are the URL, but for a question mark with nothing behind it."""
    normal = normalize(url)
    if site_of(normal) is None:
        return
    pieces = pieces_of(normal)
    query = "?" + "&".join(pieces.query) if pieces.query else ""
    joined = f"{pieces.scheme}://{pieces.host}/{'/'.join(pieces.segments)}{query}"
    assert joined == (normal if pieces.query else normal.removesuffix("?"))


@given(st.integers(1, 12), st.data())
def test_luck_is_counted_as_combinations_count_it(trials: int, data: st.DataObject) -> None:
    """The probability that `kept` of the trials, drawn at random, hold no failure."""
    failures = data.draw(st.integers(0, trials))
    kept = data.draw(st.integers(1, trials))
    expected = comb(trials - failures, kept) / comb(trials, kept)
    if trials - kept < failures:
        assert expected == 0 or failures == 0
    else:
        assert by_chance(trials, failures, kept) == pytest.approx(expected)


def test_where_a_rule_holds_and_what_it_spares() -> None:
    """Conditions that separate what holds from what fails."""
    good = [f"http://a.test/item/{n}?s=1" for n in range(20)]
    bad = [f"http://a.test/list/{n}?s=1" for n in range(4)]
    assert "/item/{**}" in where_it_holds(good, bad, 5)
    assert exceptions(good, bad) == ("/list/{**}",)
    assert exceptions(good, good[:3]) == ()
    moved = [*good, *bad, "http://a.test/LIST/7", "http://a.test/list-of/7"]
    assert exceptions(good, bad, moved) == ("/list/{**}", "/LIST/{**}")


@pytest.mark.parametrize(
    ("condition", "whole"),
    [
        ("?do=edit", "{s}://{h}/{p**}?do=edit&{rest**}"),
        ("/a/{**}", "{s}://{h}/a/{**}?{rest**}"),
        ("{s}://www.a.test", "{s}://www.a.test/{p**}?{rest**}"),
    ],
)
def test_a_condition_as_a_whole_url(condition: str, whole: str) -> None:
    """What is not written matches anything there too."""
    assert as_whole(condition) == whole


def test_captures_take_the_longest_text_first() -> None:
    """And words that only the left side has can be forgotten, if they had many values."""
    titles = ("the-title", "a-word", "of-mice", "and-men", "my-life")
    pages = [(f"http://a.test/a/{title}/1{n}", f"http://a.test/b/1{n}") for n, title in enumerate(titles)]
    assert "rewrite {s}://{h}/a/{*}/{a:int}?{rest**} → {s}://{h}/b/{a}?{rest}" in proposed(forms_of(*pages))


def test_the_published_learners_propose_from_the_forms_at_hand() -> None:
    """Several of them see a session id; none may bring a rule that never ends, or a page's own name."""
    seen = [f"http://a.test/item/{n}{tail}" for n in range(40) for tail in ("", f"?sid={n}", "?view=print")]
    pages = [n for n in range(40) for _ in range(3)]
    found = list(published(UrlForms("a.test", seen, pages)))
    assert {rule.learned_by for rule in found} >= {"substring", "alignment"}
    assert any("sid" in rule.source and "sid" not in (rule.target or "") for rule in found)
    assert not any(rule.kind == "replace" and rule.source in (rule.target or "") for rule in found)
    named = [f"http://a.test/{name}?p={n}" for n in range(40) for name in ("thenameofonepage", "q")]
    names = list(published(UrlForms("a.test", named, [n // 2 for n in range(80)])))
    assert not any("/thenameofonepage" in f"{rule.source}{rule.target}" for rule in names)


@given(PAGES, st.integers(1, 2), st.sampled_from([3, 1000]))
@settings(max_examples=200)
def test_differences_are_those_of_a_plain_twin(pages: list[list[str]], least: int, most: int) -> None:
    """Both sides, the texts that were captured and forgotten, and the order by pages."""
    urls = [normalize(url) for page in pages for url in page]
    first = np.cumsum([0, *map(len, pages)]).tolist()
    pairs = [
        (first[page] + left, first[page] + right, page)
        for page, some in enumerate(pages)
        for left in range(len(some))
        for right in range(len(some))
        if left != right
    ]
    bounds = _core.DifferenceBounds(
        longest=LONGEST, long_name=LONG_NAME, kept_values=KEPT_VALUES, least_pages=least, most=most
    )
    left, right, page = np.ascontiguousarray(np.array(pairs, np.int64).T)
    found = _core.differences(pa.array(urls, pa.large_string()), left, right, page, bounds)
    assert [(source, target, list(map(set, values))) for source, target, values in found] == twin(
        urls, pairs, least, most
    )


def test_rows_that_are_none_are_refused() -> None:
    """A row beyond the URLs is one sentence, and no read beyond their end."""
    bounds = _core.DifferenceBounds(longest=6, long_name=14, kept_values=5, least_pages=1, most=9)
    here, beyond, none = (np.array(rows, np.int64) for rows in ([0], [1], []))
    urls = pa.array(["http://a.test/"], pa.large_string())
    with pytest.raises(IndexError, match="rows of the URLs"):
        _core.differences(urls, here, beyond, here, bounds)
    with pytest.raises(ValueError, match="columns over pairs"):
        _core.differences(urls, here, none, here, bounds)


def test_very_long_urls_are_not_compared() -> None:
    """Anybody can send hundreds of parameters; the differences between the other URLs are found as before."""
    names = "&".join(f"n{number}=1" for number in range(USUAL_PARTS + 1))
    plain = [f"http://a.test/{kind}/{page}" for page in range(20) for kind in ("old", "new")]
    long = [f"{url}?{names}" for url in plain]
    pages = [page for page in range(20) for _ in range(2)]
    alone = list(differences(UrlForms("a.test", plain, pages)))
    assert alone
    assert list(differences(UrlForms("a.test", [*plain, *long], pages * 2))) == alone
    assert list(differences(UrlForms("a.test", long, pages))) == []
