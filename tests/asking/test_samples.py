"""URLs that were not seen yet: made of numbers that were, and of none else."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from undust.asking.samples import MOST_DIGITS, ValuePlace, like_those, made_urls, value_place, values_for

PAGED = "rewrite {s}://{h}/list?page={*:int}&{rest**} -> {s}://{h}/list?{rest}"
FIRST = "rewrite {s}://{h}/list?id={*:int}&{rest**} -> {s}://{h}/list?id=1&{rest}"


def made(rule: str, asked: list[str], others: list[str] | None = None) -> list[tuple[str, str]]:
    """All that is made of some URLs, beside others that the site has."""
    step = undust.RuleSet([undust.Rule.parse(rule, site="a.test")]).compile().program.step
    pairs = [(url, step(url)[1]) for url in asked]
    return list(made_urls([], pairs, pa.array([*asked, *(others or [])]), step))


def test_large_numbers_come_first_for_each_list() -> None:
    """Short lists show one page for all small numbers."""
    asked = ["http://a.test/list?id=7&page=2", "http://a.test/list?id=8&page=1"]
    found = made(PAGED, asked, ["http://a.test/other?page=40"])
    assert found[:3] == [
        ("http://a.test/list?id=7&page=40", "http://a.test/list?id=7"),
        ("http://a.test/list?id=8&page=40", "http://a.test/list?id=8"),
        ("http://a.test/list?id=8&page=2", "http://a.test/list?id=8"),
    ]


def test_where_one_number_is_written_for_all_each_other_is_tried_once() -> None:
    """The rest of the URL says little."""
    asked = ["http://a.test/list?id=3", "http://a.test/list?id=5&x=y"]
    found = made(FIRST, asked, ["http://a.test/other/8/", "http://a.test/more/11/"])
    assert found == [
        ("http://a.test/list?id=5", "http://a.test/list?id=1"),
        ("http://a.test/list?id=8", "http://a.test/list?id=1"),
    ]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://a.test/list?sid=9f86d081884c", "http://a.test/list"),
        ("http://a.test/list?t=1763450000", "http://a.test/list"),
        ("http://a.test/list?a=1&b=2", "http://a.test/list"),
        ("http://a.test/list/7", "http://a.test/list"),
        ("http://a.test/list?x", "http://a.test/list"),
    ],
)
def test_nothing_is_made_where_no_single_number_is_removed(url: str, target: str) -> None:
    """Session ids, times, several parameters, parts of paths, parameters without a value."""
    assert value_place(url, target) is None
    assert not list(made_urls([(url, target)], [], pa.array([url]), lambda _: (None, target)))


def test_numbers_are_those_of_the_parameter_then_others_of_its_length() -> None:
    """A number of more digits counts something else."""
    urls = ["http://a.test/?u=2", "http://a.test/x?a=b&u=7", "http://a.test/y/5/", "http://a.test/z?n=512"]
    place = ValuePlace("u", "2", is_replaced=True)
    assert values_for(place, pa.array(urls)) == ["7", "2", "5"]


@given(
    numbers=st.lists(st.integers(0, 10**MOST_DIGITS - 1), min_size=1, max_size=8),
    names=st.lists(st.sampled_from(["page", "id", "p", "xpage"]), min_size=1, max_size=4, unique=True),
)
def test_a_made_url_differs_in_one_number_and_is_new(numbers: list[int], names: list[str]) -> None:
    """And the rule makes of it what it makes of the one it was made of."""
    urls = [f"http://a.test/list?{name}={number}" for name in names for number in numbers]
    urls += [f"http://a.test/list?{name}={numbers[0]}&page={number}" for name in names for number in numbers]
    urls = sorted({url for url in urls if url.count("page=") == 1 and "?page=" not in url})
    seen = set(urls)
    for url, target in made(PAGED, urls):
        assert url not in seen
        assert target in {"http://a.test/list", *(each.partition("&page=")[0] for each in urls)}
        assert url.partition("page=")[2] in set(map(str, numbers))


ORDERED = "rewrite {s}://{h}/list?order={*}&{rest**} -> {s}://{h}/list?{rest}"


def test_words_are_tried_beside_what_was_wrong_and_only_those_that_several_urls_have() -> None:
    """One that a single URL has may be the name of a visitor."""
    step = undust.RuleSet([undust.Rule.parse(ORDERED, site="a.test")]).compile().program.step
    names = [name for name in ("date", "owner", "size") for _ in range(2)] + ["alice"]
    urls = [f"http://a.test/list?id={n}&order={name}" for n, name in enumerate(names)]
    pairs = [(url, step(url)[1]) for url in urls]
    found = [url for url, _ in made_urls(pairs[:1], pairs[1:], pa.array(urls), step)]
    assert found == [f"http://a.test/list?id=0&order={name}" for name in ("owner", "size")]
    assert not list(made_urls([], pairs, pa.array(urls), step))


def test_what_is_like_a_wrong_url_comes_first() -> None:
    """The list that has several rows, in any order, under any session."""
    pairs = [(f"http://a.test/q?list={n % 9}&order=o{n % 2}&sid={n}", "") for n in range(40)]
    found = like_those(["http://a.test/q?list=4&order=o0&sid=99"], pairs)
    assert {url.partition("&")[0][-1] for url, _ in found[:4]} == {"4"}
    assert sorted(found) == sorted(pairs)
