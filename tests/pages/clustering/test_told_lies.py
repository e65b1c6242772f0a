"""Evidence that was not used is told in full: what it is, how many URLs, which, and the numbers behind it."""

from __future__ import annotations

from tests.pages.clustering.sites import Site, shop_full_of_lies, sketch, table
from undust.pages.clustering import find_in_site
from undust.pages.clustering.distrust import TINY_BYTES, Distrusted

HOME = "http://www.shop.test/"
ELSEWHERE = "which elsewhere on this site leads to different content in 100% of the cases"


def told(site: Site) -> dict[str, Distrusted]:
    """What was not trusted, by its name."""
    return {group.kind: group for group in find_in_site(site.table(), "shop.test").found}


def test_a_shop_full_of_lies_word_for_word() -> None:
    """Each of the three lies with its evidence, its target, the reason and three URLs far apart."""
    assert told(shop_full_of_lies()) == {
        "soft-404 or empty result": Distrusted(
            "soft-404 or empty result",
            "digest",
            240,
            "",
            f"120 values of the path segment 2, {ELSEWHERE}",
            (f"{HOME}product/0", f"{HOME}product/270?sid=130", f"{HOME}product/92?sid=548"),
        ),
        "site-wide canonical": Distrusted(
            "site-wide canonical",
            "canonical",
            863,
            HOME,
            "91% of the site's URLs, with 400 values of the path segment 2",
            (f"{HOME}?sid=4", f"{HOME}product/265", f"{HOME}product/9?sid=271"),
        ),
        "login or consent wall": Distrusted(
            "login or consent wall",
            "redirect",
            60,
            f"{HOME}login?next=%2Faccount%2Forders%2F0",
            "the target names itself a page to log in or to consent",
            (f"{HOME}account/orders/0", f"{HOME}account/orders/36", f"{HOME}account/orders/9"),
        ),
    }


def test_pages_that_are_gone_redirect_to_one() -> None:
    """Elsewhere the number decides what is shown, so these forty are not one page."""
    site = Site()
    site.page("/sorry", "sorry", size=700)
    for number in range(400):
        site.page(f"/item/{number}", f"item {number}")
    for number in range(400, 440):
        site.redirect(f"/item/{number}", "/sorry", f"item {number}")
    kind = "different pages redirect to one"
    examples = (f"{HOME}item/400", f"{HOME}item/420", f"{HOME}item/439")
    why = f"40 values of the path segment 2, {ELSEWHERE}"
    assert told(site) == {kind: Distrusted(kind, "redirect", 40, f"{HOME}sorry", why, examples)}


def test_a_parameter_is_called_by_its_name() -> None:
    """People look for `id` in their URLs, not for a place."""
    site = Site()
    for number in range(200):
        more = {"sketch": sketch("gone"), "size": 600} if number % 4 == 0 else {}
        site.page(f"/item?id={number}", f"item {number}", **more)
    (group,) = told(site).values()
    assert (group.urls, group.why) == (50, f"50 values of the parameter 'id', {ELSEWHERE}")


def test_a_body_of_just_enough_bytes_counts() -> None:
    """One byte fewer is as good as nothing."""
    for size, clusters in ((TINY_BYTES - 1, 2), (TINY_BYTES, 1)):
        rows = [{"url": f"{HOME}{name}", "digest": "x", "size": size} for name in "ab"]
        assert find_in_site(table(*rows), "shop.test").cluster_count == clusters


def test_evidence_against_a_label_is_not_used() -> None:
    """What a person keeps apart stays apart, whatever joins it; all else is joined as before."""
    rows = [
        {"url": f"{HOME}a", "digest": "1", "cluster": "x"},
        {"url": f"{HOME}b", "digest": "1", "cluster": "y"},
        {"url": f"{HOME}c", "digest": "2", "cluster": "z"},
        {"url": f"{HOME}d", "digest": "2"},
    ]
    clusters = find_in_site(table(*rows), "shop.test")
    numbers = dict(zip(clusters.urls.to_pylist(), clusters.cluster.tolist(), strict=True))
    assert numbers[f"{HOME}a"] != numbers[f"{HOME}b"]
    assert numbers[f"{HOME}c"] == numbers[f"{HOME}d"]
    (group,) = clusters.found
    assert (group.kind, group.evidence, group.urls) == ("evidence against your labels", "digest", 2)
