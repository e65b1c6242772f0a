"""The judge beside a plain twin: keys counted one by one, with no index and no column."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undust
from undust.edits import Edit, Guard, Keep, ShapeParameter, making
from undust.judging import KeyState, Site, effects, ordered
from undust.judging.effect import keys_without, lost_in, transition
from undust.rules import RuleSet
from undust.searching import Objective

if TYPE_CHECKING:
    from collections.abc import Sequence

SITE = "s.test"
EDITS: tuple[Edit, ...] = (
    making.dropped("a"),
    making.dropped("b"),
    making.dropped("a", "b"),
    making.masked("a"),
    making.masked("a", "b"),
    making.dropped_value("a", "1"),
    making.respelled("sorted"),
    making.swapped("/x", "/y"),
    making.separated_by_ampersands(making.dropped("c")),
    making.dropped("a").guarded(when=[Guard(path=(("x",),))]),
)
KEEP = Keep(when=(Guard(query=(ShapeParameter("b", ("2",)),)),))


@st.composite
def sites(draw: st.DrawFn) -> dict[str, str]:
    """A few URLs of one site, and the page that each shows."""
    parts = st.tuples(
        st.sampled_from(["x", "y"]),
        st.lists(st.sampled_from(["a=1", "a=2", "b=1", "b=2", "a=1;c=1"]), max_size=2),
        st.sampled_from("PQRS"),
    )
    rows = draw(st.lists(parts, min_size=1, max_size=14))
    return {f"http://s.test/{path}{'?' * bool(q)}{'&'.join(q)}": page for path, q, page in rows}


def site_of(pages: dict[str, str]) -> Site:
    """Return the site as the judge sees it, told by labels."""
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table).sites
    return Site.of(found)


def keys_under(edits: Sequence[Edit], urls: Sequence[str]) -> dict[str, str]:
    """Return the key of each URL, asked one by one."""
    canonical = RuleSet(ordered(SITE, edits)).compile()
    return {url: canonical.key(url) for url in urls}


def plain(pages: dict[str, str], before: Sequence[Edit], edit: Edit) -> tuple[int, int, int]:
    """Return keys saved, keys under which a page comes together, and pages that come under another."""
    old, new = keys_under(before, list(pages)), keys_under([*before, edit], list(pages))
    shows: dict[str, Counter[str]] = defaultdict(Counter)
    for url, page in pages.items():
        shows[old[url]][page] += 1
    meets: dict[str, set[str]] = defaultdict(set)
    for url in pages:
        meets[new[url]].add(old[url])
    together, lost = 0, 0
    for some in meets.values():
        mains = {key: main_of(shows[key], pages, old, key) for key in some}
        weight: Counter[str] = Counter()
        for key in some:
            weight[mains[key]] += sum(shows[key].values())
        there = keys_there(some, new, old)
        first = min(
            some,
            key=lambda key: (-weight[mains[key]], -sum(shows[key].values()), key not in there, key),
        )
        others = [mains[key] for key in some if key != first]
        together += any(page == mains[first] for page in others)
        lost += len({page for page in others if page != mains[first]})
    return len(set(old.values())) - len(set(new.values())), together, lost


def keys_there(some: set[str], new: dict[str, str], old: dict[str, str]) -> set[str]:
    """Return keys that do not change."""
    return {key for key in some if any(old[url] == key == new[url] for url in old)}


def main_of(counts: Counter[str], pages: dict[str, str], old: dict[str, str], key: str) -> str:
    """Return the page that most URLs of a key show; of several, the one with the first URL."""
    first = {page: min(url for url in pages if pages[url] == page) for page in counts}
    assert key in old.values()
    return min(counts, key=lambda page: (-counts[page], first[page]))


@settings(max_examples=150, deadline=None)
@given(sites(), st.lists(st.sampled_from(EDITS), max_size=2, unique=True), st.sampled_from(EDITS))
def test_saved_keys_are_those_that_are_gone(pages: dict[str, str], before: list[Edit], edit: Edit) -> None:
    """From one state to the next, the judge counts the keys that a plain twin counts."""
    if edit in before:
        return
    state = KeyState(site_of(pages), tuple(before))
    after = state.with_edit(edit)
    saved, _, _ = plain(pages, before, edit)
    assert transition(state, after, edit).saved == saved
    assert len(state.keys) - len(after.keys) == saved


@settings(max_examples=150, deadline=None)
@given(sites(), st.lists(st.sampled_from((KEEP, *EDITS)), min_size=1, max_size=4, unique=True))
def test_a_state_is_the_same_step_by_step(pages: dict[str, str], edits: list[Edit]) -> None:
    """Edits taken one after the other lead where all of them lead from the start."""
    whole = KeyState(site_of(pages), tuple(edits))
    step = KeyState(whole.site)
    for edit in edits:
        step = step.with_edit(edit)
    assert step.images.equals(whole.images)
    assert step.keys.equals(whole.keys)
    assert np.array_equal(step.image, whole.image)
    assert np.array_equal(step.key, whole.key)


@settings(max_examples=100, deadline=None)
@given(sites(), st.lists(st.sampled_from(EDITS), min_size=1, max_size=4, unique=True))
def test_the_keys_without_an_edit_are_counted(pages: dict[str, str], edits: list[Edit]) -> None:
    """What a set would leave without one of its edits is what the others leave."""
    state = KeyState(site_of(pages), tuple(edits))
    for edit in edits:
        rest = keys_under([each for each in edits if each != edit], list(pages))
        assert keys_without(state, edit) == len(set(rest.values()))


@settings(max_examples=100, deadline=None)
@given(sites(), st.lists(st.sampled_from(EDITS), max_size=2, unique=True))
def test_edits_asked_together_do_what_each_does_alone(pages: dict[str, str], before: list[Edit]) -> None:
    """What one call of the core tells of many edits is what many calls tell of one."""
    state = KeyState(site_of(pages), tuple(before))
    for effect, edit in zip(effects(state, EDITS), EDITS, strict=True):
        (alone,) = effects(state, [edit])
        assert (effect.saved, effect.pages, effect.lost) == (alone.saved, alone.pages, alone.lost)
        assert np.array_equal(effect.moved, alone.moved)
        assert np.array_equal(effect.ratios, alone.ratios)


@settings(max_examples=150, deadline=None)
@given(sites(), st.sampled_from(EDITS))
def test_alone_an_edit_does_what_the_twin_says(pages: dict[str, str], edit: Edit) -> None:
    """With nothing before it, saved, supporting and lost pages are those of the plain twin."""
    effect = effects(KeyState(site_of(pages)), [edit])[0]
    saved, together, lost = plain(pages, [], edit)
    assert (effect.saved, effect.pages) == (saved, together)
    assert effect.lost == lost


@settings(max_examples=60, deadline=None)
@given(sites())
def test_what_is_kept_stays(pages: dict[str, str]) -> None:
    """No edit moves what a keep holds."""
    state = KeyState(site_of(pages), (KEEP,))
    for effect in effects(state, EDITS):
        assert not any("b=2" in state.image_texts[image].split("?")[-1].split("&") for image in effect.moved)


def test_masks_count() -> None:
    """A mask saves keys though it changes no canonical URL."""
    pages = {f"http://s.test/x?a={visit}{page}": str(page) for page in range(4) for visit in (7, 8)}
    # The page is the last digit of `a`: the mask is wrong, and its effect is by key.
    state = KeyState(site_of(pages))
    (effect,) = effects(state, [making.masked("a")])
    assert effect.saved == len(pages) - 1
    assert effect.lost == 3
    after = state.with_edit(making.masked("a"))
    assert len(after.images) == len(state.images)
    assert lost_in(after) == 3


def test_rows_that_say_nothing_are_silent() -> None:
    """URLs without content are neither for an edit nor against it."""
    table = pa.table({"url": [f"http://s.test/x?a={n}" for n in range(5)]})
    state = KeyState(Site.of(undust.find_duplicates(table).sites[0]))
    (effect,) = effects(state, [making.dropped("a")])
    assert (effect.pages, effect.lost, effect.silent) == (0, 0, 4)


def test_an_edit_without_end_does_nothing() -> None:
    """An edit that would go on for ever is worth nothing, and costs little."""
    pages = {f"http://s.test/x?a={n}": str(n) for n in range(5)}
    (effect,) = effects(KeyState(site_of(pages)), [making.swapped("/x", "/x/x")])
    assert effect.saved == 0
    assert not len(effect.moved)


@pytest.mark.parametrize("wrong", [0, 1])
def test_the_worst_tenth_is_heard(wrong: int) -> None:
    """One wrong merge among ten is seen where a mean would hide it."""
    pages = {f"http://s.test/{n}": str(n) for n in range(10)}
    pages |= {f"http://s.test/{n}?a=1": str(n if n >= wrong else 77 + n) for n in range(10)}
    (effect,) = effects(KeyState(site_of(pages)), [making.dropped("a")])
    assert (effect.worst < 0) == bool(wrong)
    assert effect.lost == wrong
    assert np.isclose(effect.wrong, wrong, atol=0.1)


def test_votes_that_are_not_sure_count_as_far_as_they_doubt() -> None:
    """Pages that are nearly alike speak neither for an edit nor against it, and may be other pages."""
    pages = {f"http://s.test/{n}{end}": str(n) for n in range(10) for end in ("", "?a=1")}
    (effect,) = effects(KeyState(site_of(pages)), [making.dropped("a")])
    assert effect.unsure == 0
    doubtful = replace(effect, ratios=np.where(np.arange(len(effect.ratios)) < 4, 1.0, effect.ratios))
    assert (doubtful.lost, doubtful.wrong) == (0, 0)
    assert np.isclose(doubtful.unsure, 4 / (1 + np.e))
    objective = Objective()
    assert objective.worth(doubtful).rate > objective.worth(effect).rate


def test_a_value_that_is_empty_is_no_default() -> None:
    """Nor is the same value, under other guards, a second one."""
    state = KeyState(site_of({"http://s.test/x?v=1": "x"}))
    assert not state.with_edit(making.dropped_value("v", "")).defaults
    assert state.with_edit(making.dropped_value("v", "1")).defaults == {("v", "1")}
