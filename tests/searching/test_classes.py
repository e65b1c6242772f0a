"""Classes of URLs in which a rule fails that holds elsewhere."""

from __future__ import annotations

import pytest

from undust.searching.classes import classes_apart

PAGES = [f"http://a.test/{folder}/{name}.html" for folder in "xyz" for name in ("a", "b")]
LISTINGS = [f"http://a.test/pub/{n}.html" for n in range(5)]


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
