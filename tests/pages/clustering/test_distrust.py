"""Evidence that lies: no cluster is glued by it, each lie is named, and true duplicates stay together."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.pages.clustering.sites import Site, shop_full_of_lies, sketch, table
from undust.pages.clustering import SiteClusters, find_in_site

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = "http://www.shop.test/"


def found(site: Site, **options: Any) -> SiteClusters:  # noqa: ANN401
    """The clusters of a site."""
    return find_in_site(site.table(), "shop.test", **options)


def pages_by_cluster(clusters: SiteClusters, truth: dict[str, str]) -> Iterator[set[str]]:
    """The pages that share a cluster."""
    pages: dict[int, set[str]] = defaultdict(set)
    for url, number in zip(clusters.urls.to_pylist(), clusters.cluster.tolist(), strict=True):
        pages[number].add(truth[url])
    yield from pages.values()


def is_together(clusters: SiteClusters, *paths: str) -> bool:
    """Whether URLs are in one cluster."""
    number = dict(zip(clusters.urls.to_pylist(), clusters.cluster.tolist(), strict=True))
    return len({number[HOME.rstrip("/") + path] for path in paths}) == 1


def kinds(clusters: SiteClusters) -> set[str]:
    """The names of what was not trusted."""
    return {group.kind for group in clusters.found}


def test_a_shop_full_of_lies() -> None:
    """30 % soft-404s, a login wall and a canonical to `/` on every page glue nothing, and are named.

    The true duplicates are still found.
    """
    site = shop_full_of_lies()
    clusters = found(site)
    assert all(len(pages) == 1 for pages in pages_by_cluster(clusters, site.truth))
    by_kind = {group.kind: group for group in clusters.found}
    assert set(by_kind) == {"soft-404 or empty result", "login or consent wall", "site-wide canonical"}
    assert by_kind["soft-404 or empty result"].urls == 240
    assert by_kind["login or consent wall"].urls == 60
    assert by_kind["site-wide canonical"].about == HOME
    assert by_kind["site-wide canonical"].urls == 800 + 60 + 3
    assert all(len(group.examples) == 3 and group.why for group in clusters.found)
    for number in range(400):
        if number % 10 >= 3:
            assert is_together(
                clusters, f"/product/{number}", f"/product/{number}?sid={number * 7919 % 1000}"
            )
    assert is_together(clusters, "/", "/index.html", "/?sid=4", "/?sid=9")
    assert all(is_together(clusters, f"/p{number}", f"/product/{number * 10 + 5}") for number in range(30))
    assert is_together(clusters, *(f"/login?next=%2Faccount%2Forders%2F{number}" for number in range(60)))


def test_what_is_distrusted_is_not_known() -> None:
    """A soft-404 is neither the same as another nor known to differ from anything."""
    clusters = found(shop_full_of_lies())
    urls = clusters.node_urls.to_pylist()
    gone, also_gone, there = (urls.index(f"{HOME}product/{number}") for number in (0, 1, 5))
    assert clusters.distrusted[gone]
    assert not clusters.known[gone]
    relations = clusters.relation(np.array([gone, gone]), np.array([also_gone, there]))
    assert relations.tolist() == [0, 0]


def test_an_error_page_that_echoes_the_address() -> None:
    """Each "not found" is a little different: digests say nothing, but sketches glue, and are caught."""
    site = Site()
    for number in range(200):
        is_gone = number % 4 == 0
        more = {"sketch": sketch("gone"), "size": 600} if is_gone else {}
        site.page(f"/item/{number}", f"item {number}", **more)
    clusters = found(site)
    assert all(len(pages) == 1 for pages in pages_by_cluster(clusters, site.truth))
    assert kinds(clusters) == {"soft-404 or empty result"}


def test_numbers_and_titles_that_change_together() -> None:
    """No two URLs differ in one value alone; the skeleton as a whole tells that they are different pages."""
    site = Site()
    for number in range(200):
        more = {"digest": "gone", "sketch": None, "size": 600} if number % 4 == 0 else {"sketch": None}
        site.page(f"/item/{number}/title-of-{number}", f"item {number}", **more)
    clusters = found(site)
    assert all(len(pages) == 1 for pages in pages_by_cluster(clusters, site.truth))
    assert kinds(clusters) == {"soft-404 or empty result"}


def test_a_page_with_many_sessions_is_no_glue() -> None:
    """A hundred session ids on each of a few pages are true duplicates: the value matters nowhere."""
    site = Site()
    for page in range(6):
        for session in range(100):
            site.page(f"/page-{page}?sid={session * 17 + page}", f"page {page}")
    clusters = found(site)
    assert clusters.cluster_count == 6
    assert clusters.found == ()


@pytest.mark.parametrize("repositories", [2, 4])
def test_a_value_that_does_not_matter_in_one_corner(repositories: int) -> None:
    """Elsewhere `id` decides; under `/refs` it does not, on several pages: these are true duplicates."""
    site = Site()
    for number in range(120):
        site.page(f"/repo-1/commit?id={number}", f"commit {number}")
    for repository in range(repositories):
        for number in range(40):
            site.page(f"/repo-{repository}/refs?id={number}", f"refs of {repository}", size=900)
    clusters = found(site)
    assert clusters.cluster_count == 120 + repositories
    assert clusters.found == ()


@pytest.mark.parametrize(("gone", "is_caught"), [(24, False), (25, True)])
def test_so_many_values_are_suspicious_and_one_fewer_are_not(gone: int, *, is_caught: bool) -> None:
    """Twenty-four pages may show one thing; of twenty-five it is asked what their numbers do elsewhere."""
    site = Site()
    for number in range(400):
        more = {"digest": "gone", "sketch": sketch("gone"), "size": 600} if number < gone else {}
        site.page(f"/item/{number}", f"item {number}", **more)
    clusters = found(site)
    assert clusters.cluster_count == (400 if is_caught else 401 - gone)
    assert [(group.kind, group.urls) for group in clusters.found] == (
        [("soft-404 or empty result", gone)] if is_caught else []
    )


def test_most_of_a_site_is_gone() -> None:
    """What pages usually weigh is learned from those that are not suspected, be they the smaller part."""
    site = Site()
    for number in range(200):
        more = {"digest": "gone", "sketch": sketch("gone"), "size": 600} if number % 10 < 7 else {}
        site.page(f"/item/{number}", f"item {number}", **more)
    clusters = found(site)
    assert clusters.cluster_count == 200
    assert kinds(clusters) == {"soft-404 or empty result"}


def test_one_page_with_many_sessions_where_all_others_were_seen_once() -> None:
    """Nobody knows what a session does elsewhere; but the titles are one title, so it is one page."""
    site = Site()
    for number in range(60):
        site.page(f"/title-{number}?sid={number}", f"page {number}", sketch=None, size=900 + number)
    for number in range(100, 140):
        site.page(f"/title-0?sid={number}", "page 0", sketch=None, size=900)
    clusters = found(site)
    assert clusters.cluster_count == 60
    assert clusters.found == ()


def test_a_long_thread_is_no_error_page() -> None:
    """Forty addresses of posts lead to one thread: it is longer than other pages, not shorter."""
    site = Site()
    for post in range(400):
        thread = 0 if post < 40 else post
        site.page(f"/post/{post}", f"thread {thread}", size=40_000 if thread == 0 else 3000)
    clusters = found(site)
    assert clusters.cluster_count == 361
    assert clusters.found == ()
    assert found(site, glue_values=50).cluster_count == 361


def test_everything_redirects_home() -> None:
    """A site that sends what it no longer has to its front page."""
    site = Site()
    site.page("/", "home")
    for number in range(60):
        site.page(f"/shop/{number}", f"shop {number}")
        site.redirect(f"/old/{number}/print.html", "/", f"old {number}")
    clusters = found(site)
    assert all(len(pages) == 1 for pages in pages_by_cluster(clusters, site.truth))
    assert [(group.kind, group.about, group.urls) for group in clusters.found] == [
        ("everything redirects to one page", HOME, 60)
    ]


def test_sessions_that_redirect_home_are_the_home_page() -> None:
    """The front page under three hundred session ids is the front page."""
    site = Site()
    site.page("/", "home")
    for number in range(300):
        site.redirect(f"/?sid={number}", "/", "home")
    clusters = found(site)
    assert clusters.cluster_count == 1
    assert clusters.found == ()


@pytest.mark.parametrize(
    "login", ["/login", "/user/login.php?next=/a", "/index.php?action=login", "/sso/start?to=1"]
)
def test_redirects_to_a_login_say_nothing(login: str) -> None:
    """Even two of them: the target names itself."""
    site = Site()
    site.redirect("/my/orders", login, "orders")
    site.redirect("/my/address", login, "address")
    site.redirect("/login-help", "/help/login-and-password", "help")
    site.page("/help/login-and-password", "help")
    clusters = found(site)
    assert all(len(pages) == 1 for pages in pages_by_cluster(clusters, site.truth))
    assert kinds(clusters) == {"login or consent wall"}
    assert is_together(clusters, "/login-help", "/help/login-and-password")


def test_a_wall_shown_in_place() -> None:
    """Thirty pages show what the login page shows, with status 200."""
    site = Site()
    site.page("/account/login", "wall", size=900)
    for number in range(30):
        site.page(f"/members/{number}", f"member {number}", digest="wall", sketch=sketch("wall"), size=900)
    clusters = found(site)
    assert all(len(pages) == 1 for pages in pages_by_cluster(clusters, site.truth))
    assert kinds(clusters) == {"login or consent wall"}


def test_a_wall_takes_no_other_group_with_it() -> None:
    """Two pages with thirty session ids each stay what they are, beside a wall of as many."""
    site = Site()
    for number in range(30):
        site.page(f"/members/{number}", f"member {number}", digest="wall", sketch=sketch("wall"), size=900)
        for name in ("a", "b"):
            site.page(f"/{name}?sid={number}", f"page {name}")
    site.page("/account/login", "wall", size=900)
    clusters = found(site)
    assert [(group.kind, group.urls) for group in clusters.found] == [("login or consent wall", 31)]
    assert is_together(clusters, "/a?sid=0", "/a?sid=29")
    assert is_together(clusters, "/b?sid=0", "/b?sid=29")
    assert not is_together(clusters, "/a?sid=0", "/b?sid=0")


@pytest.mark.parametrize(
    "body",
    [
        {"digest": "d41d8cd98f00b204e9800998ecf8427e"},
        {"digest": "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},
        {"digest": "x", "size": 0},
        {"digest": "x", "size": 2, "sketch": sketch("ok")},
    ],
)
def test_an_empty_or_tiny_body_joins_nothing(body: dict[str, Any]) -> None:
    """Two answers of nothing are not one page."""
    clusters = find_in_site(table({"url": HOME + "a"} | body, {"url": HOME + "b"} | body), "shop.test")
    assert clusters.cluster_count == 2
    assert kinds(clusters) == {"empty or tiny body"}


def test_content_decides_over_canonical_and_redirect() -> None:
    """A canonical between pages whose texts differ is not followed, and told; so is a redirect."""
    rows: list[dict[str, Any]] = [
        {"url": HOME + "list", "digest": "1", "sketch": sketch("list")},
        {"url": HOME + "list?page=2", "digest": "2", "sketch": sketch("page 2"), "canonical": HOME + "list"},
        {
            "url": HOME + "list?sid=7",
            "digest": "3",
            "sketch": sketch("list", changed=1),
            "canonical": HOME + "list",
        },
        {"url": HOME + "moved", "digest": "4", "sketch": sketch("moved"), "status": 200},
        {"url": HOME + "moved", "status": 301, "redirect": HOME + "list", "time": 1},
    ]
    clusters = find_in_site(table(*rows), "shop.test")
    assert is_together(clusters, "/list", "/list?sid=7")
    assert not is_together(clusters, "/list", "/list?page=2")
    assert not is_together(clusters, "/list", "/moved")
    assert kinds(clusters) == {"canonical contradicts content", "redirect contradicts content"}


def test_sources_of_an_unseen_canonical_are_compared_with_each_other() -> None:
    """The target was never fetched: what most of its sources show is taken for it."""
    rows = [
        {"url": f"{HOME}list?sid={i}", "sketch": sketch("list"), "canonical": HOME + "list"} for i in range(3)
    ]
    rows += [
        {"url": f"{HOME}list?page={i}", "sketch": sketch(i), "canonical": HOME + "list"} for i in range(2)
    ]
    clusters = find_in_site(table(*rows), "shop.test")
    assert sorted(clusters.sizes.tolist()) == [1, 1, 3]
    assert kinds(clusters) == {"canonical contradicts content"}


def test_a_digest_alone_contradicts_only_in_numbers() -> None:
    """One digest that differs may be a clock; thirty sources that all differ from each other are not."""
    one = [{"url": HOME + "a", "digest": "1"}, {"url": HOME + "a?x", "digest": "2", "canonical": HOME + "a"}]
    assert find_in_site(table(*one), "shop.test").cluster_count == 1
    facets = [{"url": f"{HOME}a?color={i}", "digest": str(i), "canonical": HOME + "a"} for i in range(2, 32)]
    clusters = find_in_site(table(one[0], *facets), "shop.test")
    assert clusters.cluster_count == 31
    assert clusters.found
