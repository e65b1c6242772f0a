"""What a template repeats on a site must not make its pages look alike."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from undust.reading import text as sketching
from undust.reading.text import SAMPLE, Sketcher, resemblance, sketch

if TYPE_CHECKING:
    import pytest
    from numpy.typing import NDArray

MENU = " ".join(f"menu{number}" for number in range(300))


def text_of(number: int) -> bytes:
    """A short text inside a long template."""
    own = " ".join(f"word{number}x{place}" for place in range(40))
    return f"{MENU} {own} footer imprint contact home".encode()


def sketches_of(
    texts: list[bytes], sketcher: Sketcher | None = None, site: str = "shop.test"
) -> list[NDArray[np.uint32] | None]:
    """All sketches, in the order of the texts."""
    sketcher = sketcher or Sketcher()
    made: list[NDArray[np.uint32] | None] = [None] * len(texts)
    for place, text in enumerate(texts):
        sketcher.add(site, text, lambda one, place=place: made.__setitem__(place, one))  # type: ignore[misc]
    sketcher.settle()
    return made


def by_text(texts: list[bytes]) -> dict[bytes, list[int]]:
    """Each text with its sketch."""
    return {text: np.asarray(made).tolist() for text, made in zip(texts, sketches_of(texts), strict=True)}


def alike(left: NDArray[np.uint32] | None, right: NDArray[np.uint32] | None) -> float:
    """The resemblance of two sketches that exist."""
    assert left is not None
    assert right is not None
    return resemblance(left, right)


def test_pages_that_share_only_the_template_do_not_look_alike() -> None:
    """With their menu they resemble each other by nine parts in ten, without it not at all."""
    texts = [text_of(number) for number in range(30)]
    assert alike(sketch(texts[0]), sketch(texts[1])) > 0.6
    made = sketches_of(texts)
    assert max(alike(made[0], other) for other in made[1:]) < 0.2


def test_near_copies_still_look_alike() -> None:
    """One word changed in the text of a page leaves most of its sketch."""
    texts = [text_of(number) for number in range(30)]
    made = sketches_of([*texts, texts[3].replace(b"word3x20", b"changed")])
    assert alike(made[3], made[-1]) > 0.6
    assert alike(made[3], made[4]) < 0.2


def test_a_page_of_nothing_but_the_template_has_no_sketch() -> None:
    """An empty result in the site's frame is like no other page."""
    assert sketches_of([*(text_of(number) for number in range(30)), MENU.encode()])[-1] is None


def test_copies_are_one_text() -> None:
    """A page under a hundred addresses is no template, and all its sightings have one sketch."""
    made = sketches_of([b"one page and its own words " * 3] * 500)
    assert made[0] is not None
    assert all(alike(made[0], other) == 1 for other in made)


def test_few_pages_have_no_template() -> None:
    """Of nine texts nobody can tell what is common to a site."""
    texts = [text_of(number) for number in range(9)]
    assert [None if one is None else one.tolist() for one in sketches_of(texts)] == [
        one.tolist() for text in texts if (one := sketch(text)) is not None
    ]


def test_order_of_pages_changes_nothing_within_the_sample() -> None:
    """The same hundred texts, in any order, give the same sketches."""
    texts = [text_of(number) for number in range(SAMPLE)]
    assert by_text(texts) == by_text(random.Random(1).sample(texts, len(texts)))


def test_order_changes_nothing_for_a_clear_template_either() -> None:
    """Which pages are the sample does not matter where the template is on all of them."""
    texts = [text_of(number) for number in range(3 * SAMPLE)]
    assert by_text(texts) == by_text(random.Random(2).sample(texts, len(texts)))


def test_sites_have_their_own_templates_which_are_kept() -> None:
    """What was learned of a site holds for all its later pages; it says nothing of other sites."""
    sketcher = Sketcher()
    texts = [text_of(number) for number in range(30)]
    first = sketches_of(texts, sketcher)
    later = sketches_of(texts[:1], sketcher)
    assert alike(first[0], later[0]) == 1
    elsewhere = sketches_of(texts[:1], sketcher, "other.test")
    assert alike(first[0], elsewhere[0]) < 0.5


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no room to wait, sites are learned from what there is, and every page has its sketch."""
    monkeypatch.setattr(sketching, "MOST_WAITING", 20 * len(text_of(0)))
    sketcher = Sketcher()
    handed: list[int] = []
    for number in range(60):
        sketcher.add("shop.test", text_of(number), lambda _, number=number: handed.append(number))  # type: ignore[misc]
    assert handed == list(range(60))


def test_what_is_kept_of_templates_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sites that were learned first are forgotten first."""
    monkeypatch.setattr(sketching, "MOST_COMMON", 1000)
    sketcher = Sketcher()
    for site in range(10):
        sketches_of([text_of(number) for number in range(20)], sketcher, f"site{site}.test")
    assert sum(map(len, sketcher._common.values())) <= 1000  # noqa: SLF001 -- what is promised cannot be seen otherwise
    assert "site9.test" in sketcher._common  # noqa: SLF001
