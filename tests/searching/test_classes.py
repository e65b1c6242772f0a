"""Classes of URLs in which a rule fails that holds elsewhere, and edits that remove only what was seen."""

from __future__ import annotations

import pyarrow as pa
import pytest

import undust
from undust.edits import Rewrite, Shape, ShapeCapture, making
from undust.edits.shapes import PATH, REST
from undust.rules import RuleSet
from undust.searching import learn_site
from undust.searching.classes import classes_apart, context_of, fitted, one_of

PAGES = [f"http://a.test/{folder}/{name}.html" for folder in "xyz" for name in ("a", "b")]
LISTINGS = [f"http://a.test/pub/{n}.html" for n in range(5)]
KEPT = ShapeCapture("a")
FOLDER_REMOVED = Rewrite(
    source=Shape(path=((PATH,), (ShapeCapture(),), (KEPT,))),
    target=Shape(path=((PATH,), (KEPT,)), query=(REST,)).written(),
)
FOLDER_MASKED = making.hidden(Shape(path=((ShapeCapture("x"),), (KEPT,))), ["x"])


def test_a_folder_is_a_class() -> None:
    """It holds all that fails, and nothing that holds."""
    assert classes_apart(PAGES, LISTINGS[:2], [*PAGES, *LISTINGS])[0] == "/pub/{**}"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ([*PAGES, LISTINGS[4]], LISTINGS[:2]),
        (PAGES[1:], [LISTINGS[0], PAGES[0]]),
    ],
    ids=["some of it holds", "what fails has nothing in common"],
)
def test_what_is_not_apart_is_no_class(right: list[str], wrong: list[str]) -> None:
    """A guard must leave out all that fails, and nothing that holds."""
    assert classes_apart(right, wrong, [*PAGES, *LISTINGS]) == []


def test_few_urls_are_no_class() -> None:
    """They are single pages."""
    assert classes_apart(PAGES, LISTINGS[:1], [*PAGES, *LISTINGS[:2]]) == []


def test_a_value_of_a_parameter_is_no_class_and_having_one_is() -> None:
    """Where one order of a list differs, the next one may."""
    right = [f"http://a.test/query?c={n}&order=id" for n in range(3)]
    wrong = [f"http://a.test/query?c={n}&order=owner" for n in range(3)]
    assert classes_apart(right, wrong, [*right, *wrong]) == []
    right = [f"http://a.test/query?c={n}" for n in range(3)]
    assert classes_apart(right, wrong, [*right, *wrong]) == ["?order={**}"]


def test_a_year_is_no_class_and_all_numbers_are_one() -> None:
    """Where a rule fails in one year, it may fail in the next."""
    right = [f"http://a.test/2008/{n}" for n in range(3)]
    wrong = [f"http://a.test/2009/{n}" for n in range(3)]
    assert classes_apart(right, wrong, [*right, *wrong]) == []
    assert classes_apart(PAGES, wrong, [*PAGES, *wrong])[0] == "/{*:int}/{**}"
    assert context_of(right[0]) == context_of(wrong[0]) != context_of(PAGES[0])
    assert one_of(map(context_of, (right[0], PAGES[0]))) is None


@pytest.mark.parametrize(
    ("folders", "segment"),
    [
        (["c-books", "c-doc-208", "c-music", "c-tea"], "c-{*:word}"),
        (["books.d", "tea.d", "doc.d"], "{*:word}.d"),
        (["1", "22", "333"], "{*:int}"),
        (["a.b", "c~d", "tea"], "{*}"),
        (["en", "de"] * 20, "{*:de|en}"),
        (["shop"] * 20, "shop"),
        (["c-books", "c-music"], "{*}"),
    ],
)
def test_a_removed_segment_is_like_those_that_were_seen(folders: list[str], segment: str) -> None:
    """What all have in common is written, a closed list of words is listed, and two texts show nothing."""
    urls = [f"http://s.test/top/{folder}/{n}" for n, folder in enumerate(folders)]
    (rule,) = fitted(FOLDER_REMOVED, urls, "s.test").rules("s.test") or ()
    assert rule.source.split("/")[-2:] == [segment, "{a}?{rest**}"]


def test_a_mask_is_fitted_on_both_sides() -> None:
    """The text that stays beside a masked part is written again."""
    urls = [f"http://s.test/c-{word}/{n}" for n, word in enumerate(("tea", "books", "music"))]
    edit = fitted(FOLDER_MASKED, urls, "s.test")
    assert edit.text.endswith("/c-{x:word}/{a}?{rest**} → {s}://{h}/c-{x:any}/{a}?{rest}")


def test_what_somebody_owns_is_not_listed() -> None:
    """A list of words holds no session, however often it was seen."""
    codes = ["9f86d081884c7d659a2feaa0", "7d865e959b2466918c9863af"] * 10
    urls = [f"http://s.test/top/{code}/{n}" for n, code in enumerate(codes)]
    assert not any(code in fitted(FOLDER_REMOVED, urls, "s.test").text for code in codes)


def test_other_edits_stay_as_they_are() -> None:
    """Edits of the query, and those that remove nothing, are not changed."""
    urls = ["http://s.test/c-1/x?sid=1", "http://s.test/c-2/x?sid=2", "http://s.test/c-3/x?sid=3"]
    for edit in (making.dropped("sid"), making.without_slash(), making.swapped("//", "/")):
        assert fitted(edit, urls, "s.test") is edit


def test_a_script_is_not_a_folder() -> None:
    """Folders that do not matter say nothing of what a script shows under the same name."""
    folders = [f"c-{word}" for word in ("books", "tea", "music", "doc", "art", "food")]
    pages = {f"http://s.test/p-{n}": str(n) for n in range(80)}
    pages |= {f"http://s.test/{folders[n % 6]}/p-{n}": str(n) for n in range(80)}
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table).sites
    canonical = RuleSet(learn_site(found).rules).compile()
    assert canonical.key("http://s.test/c-books/p-99") == canonical.key("http://s.test/p-99")
    assert canonical.key("http://s.test/index.php/p-99") != canonical.key("http://s.test/p-99")
