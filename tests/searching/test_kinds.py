"""The kind of an edit: renamed places, and second values of a parameter that has a default."""

from __future__ import annotations

import pyarrow as pa
import pytest

import undust
from undust.edits import Given, Rewrite, Swap, making, shape_from
from undust.judging import KeyState, Site, effects
from undust.rules import Rule
from undust.searching.kinds import is_renaming, kind_of


@pytest.mark.parametrize(
    ("source", "target", "renames"),
    [
        ("{s}://{h}/notes.git/{a}?{rest**}", "{s}://{h}/tools.git/{a}?{rest}", True),
        ("{s}://{h}/{p**}?h=stable&{rest**}", "{s}://{h}/{p}?h=v0.2&{rest}", True),
        ("{s}://{h}/{a}:?{rest**}", "{s}://{h}/{a}:start?{rest}", False),
        ("{s}://{h}/?{rest**}", "{s}://{h}/index.php?{rest}", False),
        ("{s}://{h}/search?q={a:int}&{rest**}", "{s}://{h}/ticket/{a}?{rest}", False),
        ("{s}://{h}/{p**}?h=stable&{rest**}", "{s}://{h}/{p}?{rest}", False),
        ("{s}://{h}/{*:word}/{a}?{rest**}", "{s}://{h}/de/{a}?{rest}", False),
    ],
)
def test_a_word_for_another_is_another_place(source: str, target: str, *, renames: bool) -> None:
    """A word that is added or removed, and a name that moves elsewhere, name no other place."""
    assert is_renaming(Rewrite(source=shape_from(source), target=shape_from(target))) is renames


@pytest.mark.parametrize(
    ("old", "new", "renames"),
    [
        ("/blame/", "/tree/", True),
        ("=csv$", "=tab", True),
        ("=1$", "=2", True),
        ("//", "/", False),
        ("%3B", ":", False),
        ("http:", "https:", False),
        ("/www.", "/", False),
    ],
)
def test_a_text_for_another_is_another_place_if_both_have_names(old: str, new: str, *, renames: bool) -> None:
    """Marks, schemes and the label `www` are no names of places."""
    assert is_renaming(Swap(old=old, new=new)) is renames


def test_a_parameter_has_one_default() -> None:
    """What is removed with one value is as doubtful as any other value if some value is removed already."""
    tails = ("", "?page=1", "?page=4", "?sort=price")
    urls = {f"http://a.test/p/{n}{tail}": str(n) for n in range(20) for tail in tails}
    (found,) = undust.find_duplicates(pa.table({"url": list(urls), "cluster": list(urls.values())}))
    state = KeyState(Site.of(found))
    first, second, other = (
        making.dropped_value(*pair) for pair in (("page", "1"), ("page", "4"), ("sort", "price"))
    )
    assert [kind_of(each) for each in effects(state, [first, second, other])] == ["drop nothing"] * 3
    before = Rule.parse("rewrite {s}://{h}/{p**}?page=1&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
    for known in (first, Given(rule=before)):
        some = effects(state.with_edit(known), [second, other])
        assert [kind_of(each) for each in some] == ["drop number", "drop nothing"]
