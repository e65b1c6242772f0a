"""What the two views promise for every column of URLs."""

from __future__ import annotations

import itertools
from typing import Literal

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from tests.laws.texts import columns, usual_urls
from tests.urls.hostile import hostile_urls
from undust import normalize
from undust.urls import KeyValueView, TokenView, Url
from undust.urls.views import TOKEN_STYLES, TokenStyle

Separators = Literal["&", "&;"]

STYLES = st.sampled_from(TOKEN_STYLES)
SEPARATORS: st.SearchStrategy[Separators] = st.sampled_from(("&", "&;"))


def normal_urls(column: list[str | None]) -> list[str]:
    """Return the normal forms of those texts that are URLs."""
    return [normalize(text) for text in column if text is not None and Url.parse(text)]


@given(columns(), STYLES)
def test_tokens_give_every_text_back(column: list[str | None], style: TokenStyle) -> None:
    """The token view inverts for any text, URL or not."""
    assert TokenView.of(column, style).urls().to_pylist() == column


@given(columns(), SEPARATORS)
def test_keys_give_every_normalized_url_back(column: list[str | None], separators: Separators) -> None:
    """The key-value view inverts for every URL in normal form."""
    urls = normal_urls(column)
    assert KeyValueView.of(urls, separators).urls().to_pylist() == urls


@given(st.lists(usual_urls(), max_size=6), SEPARATORS)
@example(["http://h//?&;&=;=#"], "&;")
@example(["http://h/?a#2&a", "http://h/?a&a"], "&")
def test_keys_give_every_usual_url_back(urls: list[str], separators: Separators) -> None:
    """The key-value view inverts for every URL of the usual shape, normalized or not."""
    assert KeyValueView.of(urls, separators).urls().to_pylist() == urls


@given(columns(), SEPARATORS)
def test_a_row_is_given_back_or_has_no_keys(column: list[str | None], separators: Separators) -> None:
    """A row comes back exactly, or not at all; what is no URL never does."""
    back = KeyValueView.of(column, separators).urls().to_pylist()
    for text, again in zip(column, back, strict=True):
        assert again in {None, text}
        assert again is None or Url.parse(again)


def test_views_give_many_hostile_urls_back() -> None:
    """Both views invert on more URLs than hypothesis tries."""
    urls = normal_urls(list(hostile_urls(4000, seed=3)))
    assert len(urls) > 1000
    assert KeyValueView.of(urls, "&;").urls().to_pylist() == urls
    for style in TOKEN_STYLES:
        assert TokenView.of(urls, style).urls().to_pylist() == urls


def coded(view: TokenView | KeyValueView) -> list[list[tuple[int, ...]]]:
    """Return the codes of each row."""
    columns = (view.codes,) if isinstance(view, TokenView) else (view.keys, view.values, view.separators)
    entries = list(zip(*(column.to_pylist() for column in columns), strict=True))
    offsets = view.offsets.to_pylist()
    return [entries[begin:end] for begin, end in itertools.pairwise(offsets)]


@given(st.permutations(range(6)), st.lists(usual_urls(), min_size=6, max_size=6), STYLES)
def test_codes_do_not_depend_on_the_order_of_rows(
    order: list[int], urls: list[str], style: TokenStyle
) -> None:
    """Shuffled rows have the same codes, shuffled, and the same vocabulary."""
    shuffled = [urls[place] for place in order]
    for make in (lambda rows: TokenView.of(rows, style), KeyValueView.of):
        one, other = make(urls), make(shuffled)
        assert [coded(one)[place] for place in order] == coded(other)
        names = ("vocabulary",) if isinstance(one, TokenView) else ("key_names", "value_texts")
        assert all(getattr(one, name).equals(getattr(other, name)) for name in names)


@given(st.lists(usual_urls(), min_size=1, max_size=6), STYLES)
def test_repeated_rows_change_no_code(urls: list[str], style: TokenStyle) -> None:
    """A row that comes again adds nothing to the vocabulary."""
    for make in (lambda rows: TokenView.of(rows, style), KeyValueView.of):
        assert coded(make(urls + urls)) == coded(make(urls)) * 2


@given(columns(), st.integers(0, 8), st.integers(0, 8))
def test_a_slice_has_the_view_of_its_copy(column: list[str | None], begin: int, end: int) -> None:
    """A slice, or chunks, of a column have the view that a fresh column of these rows has."""
    rows = column[begin:end]
    whole = pa.array(column, pa.string())
    chunked = pa.chunked_array([whole[: begin + 1], whole[begin + 1 :]])
    for make in (TokenView.of, KeyValueView.of):
        assert coded(make(whole[begin : max(begin, end)])) == coded(make(rows))
        assert coded(make(chunked)) == coded(make(column))
