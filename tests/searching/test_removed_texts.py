"""What an edit removes must have been seen to vary, each part by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import undust
from undust.edits import making
from undust.judging import KeyState, Site, effects
from undust.judging.effect import SUPPORTS, transition
from undust.searching import learn_site
from undust.searching.likely import Guess
from undust.searching.removed_texts import (
    is_varied,
    may_name_versions,
    removed_by,
    untested_parts,
    votes_beside_default,
)

if TYPE_CHECKING:
    from undust.edits import Edit
    from undust.judging import EditEffect


def labelled(pages: dict[str, str]) -> pa.Table:
    """URLs with the names of their pages."""
    return pa.table({"url": list(pages), "cluster": list(pages.values())})


def effect_of(edit: Edit, pages: dict[str, str]) -> EditEffect:
    """What an edit does to labelled URLs."""
    (found,) = undust.find_duplicates(labelled(pages))
    (effect,) = effects(KeyState(Site.of(found)), [edit])
    return effect


def learned(pages: dict[str, str]) -> undust.Canonicalizer:
    """What is learned of labelled URLs."""
    (found,) = undust.find_duplicates(labelled(pages))
    return undust.RuleSet(learn_site(found).rules).compile()


def with_tails(*tails: str, count: int = 20) -> dict[str, str]:
    """Pages, each under these tails."""
    return {f"http://a.test/p/{n}{tail.format(n=n)}": str(n) for n in range(count) for tail in tails}


@pytest.mark.parametrize(
    ("edit", "tails", "untested"),
    [
        (making.dropped("s"), ("", "?s={n}"), set()),
        (making.dropped("s"), ("", "?s=1"), {"s"}),
        (making.dropped("s"), ("", "?s="), {"s"}),
        (making.dropped("s"), ("", "?s=77de68daecd823babbb58edb1c8e14d7"), set()),
        (making.masked("s"), ("?s={n}", "?s=x{n}"), set()),
        (making.masked("s", "t"), ("?s={n}&t=1", "?s=x{n}&t=1"), {"t"}),
        (making.only("id"), ("?id=1", "?id=1&s={n}", "?id=1&s=x{n}"), set()),
        (making.only("id"), ("?id=1&q=a", "?id=1&q=a&s={n}", "?id=1&q=a&s=x{n}"), {"q"}),
        (making.only("id"), ("?id=1", "?id=1&q=a", "?id=1&s={n}"), {"q"}),
        (making.only("id"), ("?id=1", "?id=1&q=a", *(f"?id=1&{name}={{n}}" for name in "abcde")), {"q"}),
        (making.only("id"), ("?id=1&q=a", *(f"?id=1&q=a&{name}={{n}}" for name in "abcde")), {"q"}),
        (making.on_any_path("t"), ("?t={n}", "/x{n}?t={n}"), set()),
        (making.dropped("o_*"), ("", "?o_a={n}", "?o_b=x{n}"), {"o_*"}),
        (making.dropped("o_*"), ("", "?o_a={n}", "?o_b=x{n}", "?o_c=y{n}"), set()),
        (making.dropped("utm_*"), ("", "?utm_a={n}", "?utm_b=x{n}"), set()),
        (making.respelled("sorted"), ("?a=1&b=2", "?b=2&a=1"), set()),
    ],
)
def test_parts_that_nobody_saw_vary_are_named(edit: Edit, tails: tuple[str, ...], untested: set[str]) -> None:
    """One value says nothing of others, two names are no family, and what stays the same was not tested."""
    effect = effect_of(edit, with_tails(*tails))
    assert effect.saved
    assert untested_parts(effect) == untested
    assert is_varied(effect) is not bool(untested)


@pytest.mark.parametrize(
    ("tails", "may"),
    [
        (("", "?rev=9{n}"), True),
        (("", "?rev=9{n}", "?rev=7{n}"), False),
        (("", "?rev=1"), False),
        (("", "?rev=16924915767{n}"), False),
        (("", "?rev=x{n}"), False),
    ],
)
def test_a_number_of_one_page_may_name_a_version(tails: tuple[str, ...], *, may: bool) -> None:
    """Several numbers of one page, or one number of several pages, are no versions; nor is a time."""
    assert may_name_versions(effect_of(making.dropped("rev"), with_tails(*tails))) is may


@pytest.mark.parametrize(
    ("tails", "may"),
    [
        (("?rev=9{n}", "?rev=7{n}"), False),
        (("?rev=x{n}", "?rev=y{n}"), False),
        (("", "?rev=9{n}"), True),
    ],
)
def test_a_part_that_is_never_missing_is_read_on_both_sides(tails: tuple[str, ...], *, may: bool) -> None:
    """Two numbers of one page are two, and words are no numbers; a mask is judged as it is tried and kept."""
    (found,) = undust.find_duplicates(labelled(with_tails(*tails)))
    edit = making.masked("rev") if all(tails) else making.dropped("rev")
    bare = KeyState(Site.of(found))
    (tried,) = effects(bare, [edit])
    kept = transition(bare, KeyState(bare.site, (edit,)), edit)
    assert tried.saved == kept.saved == 20
    assert may_name_versions(tried) is may_name_versions(kept) is may


def test_what_is_removed_is_told_by_name() -> None:
    """Parameters by their names, members of a family by both; what stays is not told."""
    url = "http://a.test/x?utm_a=1&id=7&utm_b=2"
    parts = list(removed_by(making.dropped("utm_*"), url))
    assert [(part.label, part.name, part.text) for part in parts] == [
        ("utm_*", "utm_a", "1"),
        ("utm_*", "utm_b", "2"),
    ]
    assert [part.name for part in removed_by(making.only("id"), url)] == ["utm_a", "utm_b"]
    assert not list(removed_by(making.respelled("sorted"), url))


def test_numbers_that_no_vote_is_sure_about_are_judged_all_the_same() -> None:
    """Votes that support nothing and refute nothing leave an edit as doubtful as its kind is."""
    effect = effect_of(making.dropped("page"), with_tails("", "?page=2"))
    unsure = replace(effect, ratios=np.full(len(effect.ratios), 1.0))
    worth = Guess().worth_having(unsure)
    assert worth is None or worth.lost > 0


def test_the_page_of_a_list_is_never_too_rare_to_be_tested() -> None:
    """A parameter on one URL of a hundred may go untested, unless its value may be a page's number."""
    many = with_tails("", "?s={n}", "?s=x{n}", count=60)
    rare = {"http://a.test/p/7?s=1&t=word": "7"}
    paged = {"http://a.test/p/7?s=1&start=20": "7"}
    assert untested_parts(effect_of(making.only("id"), many | rare)) == set()
    assert untested_parts(effect_of(making.only("id"), many | paged)) == {"start"}


@pytest.mark.parametrize(
    ("edit", "tails", "right"),
    [
        (making.dropped("s"), ("", "?s=a"), 0),
        (making.dropped("s"), ("", "?s=a", "?s=a&t=1", "?s=b"), 20),
        (making.dropped("s"), ("", "?s={n}"), 19),
        (making.masked("s"), ("?s=a", "?s=b"), 20),
        (making.on_any_path("t"), ("?t={n}", "/x?t={n}"), 20),
    ],
)
def test_the_usual_value_says_nothing_of_others(edit: Edit, tails: tuple[str, ...], right: int) -> None:
    """It may be the default; pages where another value was removed are counted by themselves."""
    votes = votes_beside_default(effect_of(edit, with_tails(*tails)), SUPPORTS)
    assert votes == (right, 0, 0)


def test_a_default_is_not_a_parameter_that_does_nothing() -> None:
    """Two pages with another value do not say that every value does nothing."""
    pages = {f"http://a.test/p/{n}{tail}": str(n) for n in range(40) for tail in ("", "?sort=name")}
    pages |= {
        f"http://a.test/p/{n}?sort={value}": str(n) for n in range(4) for value in ("age", "size", "by")
    }
    rules = learned(pages)
    assert rules.key("http://a.test/p/7?sort=name") == "http://a.test/p/7"
    assert rules.key("http://a.test/p/7?sort=price") == "http://a.test/p/7?sort=price"
