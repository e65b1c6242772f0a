"""Blocks: equal to their plain twin, bounded, the same in any layout, numbers apart from words."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import blocks as oracle
from undust import _core
from undust.reading.text import DIGITS_MASK, DIGITS_SHIFT, KEY_SHIFT, MOST_BLOCKS, blocks_of, read_html

PART = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"], exclude_characters="<&"),
        st.sampled_from("aAzZ0919 .,-_\u00e9\u0e01\u4e00\u3042\uff21"),
    ),
    max_size=80,
)


def found(html: str) -> list[int]:
    """The blocks of a page."""
    return np.frombuffer(read_html(html.encode()).blocks, np.int64).tolist()  # type: ignore[no-any-return]


def text_of(count: int, seed: int = 0) -> list[str]:
    """Words nobody wrote."""
    drawn = random.Random(seed)
    return ["".join(drawn.choices("abcdefghijklmnop", k=7)) for _ in range(count)]


@given(st.lists(PART, max_size=8))
def test_blocks_equal_the_plain_twin(parts: list[str]) -> None:
    """The core and the twin agree on every text, in any script, cut by any layout."""
    html = "".join(f"<p>{part}</p>" for part in parts)
    assert found(html) == oracle.blocks(parts)


@given(PART)
def test_plain_text_has_the_blocks_of_one_paragraph(text: str) -> None:
    """A text without layout is cut by its words alone."""
    assert np.frombuffer(blocks_of(text.encode()), np.int64).tolist() == oracle.blocks([text])


def test_a_page_keeps_at_most_2_kib() -> None:
    """The bound holds for any page, and what is kept does not depend on what else is there."""
    first, second = text_of(5000), text_of(5000, 1)
    kept = found(" ".join(first))
    assert len(kept) == MOST_BLOCKS
    both = found(" ".join([*first, *second]))
    assert len(both) == MOST_BLOCKS
    keys = {block >> KEY_SHIFT for block in kept if block <= both[-1]}
    assert len(keys - {block >> KEY_SHIFT for block in both}) <= 2


def test_the_layout_hardly_matters() -> None:
    """A print view with other tags around the same text shares nearly all of its blocks."""
    words = text_of(400)
    page = "".join(f"<p>{' '.join(words[at : at + 40])}</p>" for at in range(0, 400, 40))
    in_print = f"<pre>{' '.join(words)}</pre>"
    ours, theirs = ({block >> KEY_SHIFT for block in found(html)} for html in (page, in_print))
    assert len(ours & theirs) > 0.8 * len(ours)


def test_numbers_are_apart_from_words() -> None:
    """Two texts that differ in a number alone have blocks of the same words and other digits."""
    ours, theirs = (found(f"<p>viewed {times} times") for times in (9005, 9100))
    assert [block >> KEY_SHIFT for block in ours] == [block >> KEY_SHIFT for block in theirs]
    digits = [{block >> DIGITS_SHIFT & DIGITS_MASK for block in side} - {0} for side in (ours, theirs)]
    assert digits[0] != digits[1]


@pytest.mark.parametrize("token", ["9f86d081884c7d65", "d081884c7d659a2f", "abc1def2ghi3"])
def test_a_token_is_a_number(token: str) -> None:
    """Two texts that differ in a token have blocks of the same words and other digits; a code has words."""
    ours, theirs = (found(f"<p>request {each} of you") for each in (token, "5feceb66ffc86f38"))
    assert [block >> KEY_SHIFT for block in ours] == [block >> KEY_SHIFT for block in theirs]
    assert ours != theirs
    assert ours == oracle.blocks([f"request {token} of you"])
    short = found("<p>request b1c2d3 of you")
    assert {block >> KEY_SHIFT for block in short} != {block >> KEY_SHIFT for block in ours}


def test_forms_show_what_a_reader_sees() -> None:
    """The text of a text area and the values of open fields are content; tokens and passwords are not."""
    shown = (
        '<textarea name=t>caf&eacute; au\nlait</textarea><input value="seven"><input type=SUBMIT value=Go>'
    )
    hidden = "<input type=hidden value=token1><input type=password value=secret><input type=checkbox value=8>"
    assert read_html(f"<form>{shown}{hidden}</form>".encode()).text.decode() == "café au lait seven Go"
    assert found(f"<p>one{hidden}") == found(f"<p>one{hidden.replace('token1', 'token2')}")


def test_title_and_language_are_read() -> None:
    """The first title and the language of the page are known."""
    page = read_html(b"<html lang='DE_at'><title> Tee &amp;\n Kaffee</title><body><title>no</title>x")
    assert (page.title, page.language) == ("Tee & Kaffee", "de-at")
    assert read_html(b"<html lang='<x>'><p>y").language is None
    assert len(read_html(b"<title>" + b"x" * 5000).title or "") == 200


def test_words_are_counted() -> None:
    """The core reports how many words a text has."""
    assert _core.blocks(b"one two, three-4")[1] == 4
