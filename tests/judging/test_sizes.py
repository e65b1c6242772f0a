"""What sizes say of two URLs: equal ones for one page, far ones against it, missing ones nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from undust.judging.sizes import FEW, LEAST_PAIRS, SizeEvidence, pages_by_size, size_offsets
from undust.pages.clustering import SiteClusters, find_in_site
from undust.reading.observations import table_of

SITE = "a.test"


def clusters(sizes: list[int | None], digests: list[str | None] | None = None) -> SiteClusters:
    """A site with a URL for each size, in their order."""
    urls = [f"http://a.test/{number:04}" for number in range(len(sizes))]
    columns = {"url": urls, "size": pa.array(sizes, pa.int64()), "digest": digests or [None] * len(urls)}
    return find_in_site(table_of(pa.table(columns)), SITE)


def ratio(evidence: SizeEvidence, left: int, right: int) -> float:
    """What is said of one pair."""
    return float(evidence.ratios(np.array([left]), np.array([right]))[0])


def test_equal_sizes_speak_for_one_page_and_far_ones_against() -> None:
    """The nearer, the more; where a size is missing, nothing is said."""
    site = clusters([5000, 5000, 5003, 9000, None, *range(10_000, 90_000, 400)])
    evidence = SizeEvidence(site, np.arange(len(site.node_urls)))
    equal, near, far = (ratio(evidence, 0, other) for other in (1, 2, 3))
    assert equal > 0 > far
    assert equal >= near > far
    assert ratio(evidence, 0, 4) == 0
    assert evidence.silent(np.array([0, 4])).tolist() == [False, True]


def test_a_size_that_all_pages_have_says_nothing() -> None:
    """Pages of one template may all have one size; then an equal size is no sign of one page."""
    site = clusters([5000] * 50)
    assert ratio(SizeEvidence(site, np.arange(50)), 0, 1) < 0.1


def test_content_and_what_was_asked_go_before_sizes() -> None:
    """Digests that differ outweigh an equal size, unless they are raw; answers of the site outweigh both."""
    site = clusters([5000, 5000, *range(6000, 26_000, 400)], ["a", "b", *map(str, range(50))])
    nodes = np.arange(len(site.node_urls))
    assert ratio(SizeEvidence(site, nodes), 0, 1) < 0
    assert ratio(SizeEvidence(site, nodes, has_content=False), 0, 1) > 0
    asked = [
        ("http://a.test/0000", "http://a.test/0001", True),
        ("http://a.test/none", "http://a.test/0001", True),
    ]
    assert ratio(SizeEvidence(site, nodes, asked=asked), 1, 0) > 0


def test_pages_by_size_are_few_urls_of_one_steady_size() -> None:
    """A size that very many URLs have is that of a notice; one without a size stands alone."""
    sizes: list[int | None] = [700, 700, None, None, *([900] * (FEW + 1))]
    site = clusters(sizes)
    page, says = pages_by_size(site, np.arange(len(sizes)))
    assert page[0] == page[1]
    assert page[2] != page[3]
    assert len(set(page[4:].tolist())) == FEW + 1
    assert says.tolist() == [size is not None for size in sizes]


def offsets(sizes: dict[str, int]) -> dict[str, int]:
    """What is added, by URL."""
    return dict(zip(sizes, size_offsets(list(sizes), np.array(list(sizes.values()))).tolist(), strict=True))


def test_what_a_form_always_adds_belongs_to_the_form() -> None:
    """The usual form adds nothing; a rare one with two parameters adds what each of them does."""
    sizes = {f"http://a.test/story/{n}": 4000 + 137 * n for n in range(30)}
    sizes |= {f"http://a.test/story/{n}?view=print": 4011 + 137 * n for n in range(10)}
    sizes |= {f"http://a.test/amp/story/{n}": 4018 + 137 * n for n in range(10)}
    sizes |= {f"http://a.test/story/{n}?ref=mail": 4000 + 137 * n for n in range(10)}
    sizes["http://a.test/story/3?ref=mail&view=print"] = 4011 + 137 * 3
    found = offsets(sizes)
    assert found["http://a.test/story/3"] == found["http://a.test/story/3?ref=mail"] == 0
    assert found["http://a.test/story/3?view=print"] == 11
    assert found["http://a.test/amp/story/3"] == 18
    assert found["http://a.test/story/3?ref=mail&view=print"] == 11


def test_what_differs_from_page_to_page_is_left_as_it_is() -> None:
    """Nor is anything said from fewer pairs than tell."""
    sizes = {f"http://a.test/story/{n}": 4000 + 137 * n for n in range(30)}
    other = sizes | {f"http://a.test/story/{n}?page=x": 4000 + 71 * n * n for n in range(10)}
    assert set(offsets(other).values()) == {0}
    few = sizes | {f"http://a.test/amp/story/{n}": 4018 + 137 * n for n in range(LEAST_PAIRS - 1)}
    assert set(offsets(few).values()) == {0}


def test_sizes_that_are_not_known_say_nothing() -> None:
    """A list has none."""
    assert set(offsets({f"http://a.test/{n}": -1 for n in range(9)}).values()) == {0}
    assert size_offsets([], np.zeros(0, np.int64)).tolist() == []
