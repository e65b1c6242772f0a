"""One site's observations to clusters: each kind of evidence, what is known, how it is split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undust
from bench.raw.changes import changing_site
from tests.pages.clustering.sites import Site, shop_full_of_lies, shuffled, sketch, table
from undust.errors import SourceError
from undust.pages.clustering import SiteClusters, find_in_site
from undust.pages.clustering.clusters import CLUSTER_SCHEMA

HOST = "http://a.test"


def found(*rows: dict[str, Any]) -> SiteClusters:
    """The clusters of `a.test`; URLs are given as paths."""
    full = [row | {"url": HOST + row["url"]} for row in rows]
    return find_in_site(table(*full), "a.test")


def groups(clusters: SiteClusters) -> list[set[str]]:
    """The clusters of more than one URL, as paths."""
    by_number: dict[int, set[str]] = {}
    for url, number in zip(clusters.urls.to_pylist(), clusters.cluster.tolist(), strict=True):
        by_number.setdefault(number, set()).add(url.removeprefix(HOST))
    return [group for _, group in sorted(by_number.items()) if len(group) > 1]


def reasons(clusters: SiteClusters) -> dict[str, str | None]:
    """Why each URL is where it is."""
    urls = (url.removeprefix(HOST) for url in clusters.urls.to_pylist())
    return dict(zip(urls, clusters.evidence.to_pylist(), strict=True))


def test_each_kind_of_evidence_joins_and_says_so() -> None:
    """A label, a redirect, a digest, a canonical, a sketch, and the normal form."""
    clusters = found(
        {"url": "/l1", "cluster": "7"}, {"url": "/l2", "cluster": "7"},
        {"url": "/r1", "status": 301, "redirect": f"{HOST}/r2"}, {"url": "/r2", "digest": "r"},
        {"url": "/d1", "digest": "d"}, {"url": "/d2", "digest": "d"},
        {"url": "/c1", "canonical": f"{HOST}/c2"}, {"url": "/c2"},
        {"url": "/s1", "sketch": sketch("s")}, {"url": "/s2", "sketch": sketch("s", changed=1)},
        {"url": "/n"}, {"url": "/%6E"},
        {"url": "/alone", "digest": "alone"},
    )  # fmt: skip
    assert groups(clusters) == [
        {"/c1", "/c2"}, {"/d1", "/d2"}, {"/l1", "/l2"}, {"/n", "/%6E"}, {"/r1", "/r2"}, {"/s1", "/s2"},
    ]  # fmt: skip
    why = reasons(clusters)
    assert why["/l1"] == why["/l2"] == "label"
    assert why["/r1"] == why["/r2"] == "redirect"
    assert why["/d1"] == why["/d2"] == "digest"
    assert why["/c1"] == why["/c2"] == "canonical"
    assert why["/s1"] == why["/s2"] == "sketch"
    assert why["/n"] == why["/%6E"] == "normal"
    assert why["/alone"] is None


def test_reasons_add_up_and_every_edge_has_one() -> None:
    """Two kinds of evidence for one URL are both told."""
    clusters = found(
        {"url": "/a", "digest": "d", "canonical": f"{HOST}/b"},
        {"url": "/b", "digest": "d"},
        {"url": "/old", "status": 301, "redirect": f"{HOST}/a"},
    )
    assert groups(clusters) == [{"/a", "/b", "/old"}]
    assert reasons(clusters) == {
        "/a": "canonical+digest+redirect",
        "/b": "canonical+digest",
        "/old": "redirect",
    }
    assert {edges.kind: len(edges) for edges in clusters.edges if len(edges)} == {
        "digest": 1, "canonical": 1, "redirect": 1,
    }  # fmt: skip


def test_targets_that_nobody_saw_join_and_are_not_told() -> None:
    """Two URLs that redirect to one unseen URL are one page; chains are followed."""
    clusters = found(
        {"url": "/1", "status": 301, "redirect": f"{HOST}/3"},
        {"url": "/2", "status": 301, "redirect": f"{HOST}/unseen"},
        {"url": "/3", "status": 302, "redirect": f"{HOST}/unseen"},
        {"url": "/4", "status": 302, "redirect": "http://b.test/unseen"},
        {"url": "/5", "status": 302, "redirect": "http://b.test/unseen"},
    )
    assert groups(clusters) == [{"/1", "/2", "/3"}]
    assert clusters.table()["url"].to_pylist() == [f"{HOST}/{i}" for i in range(1, 6)]


def test_a_difference_of_sizes_tells_pages_apart() -> None:
    """Ranges of sizes that do not meet are different pages; those that meet say nothing (G10)."""
    sizes = {"/a": (10, 20), "/b": (21, 30), "/c": (20, 30), "/d": ()}
    clusters = found(
        *({"url": url} | ({"size": size} if size else {}) for url in sizes for size in sizes[url] or (0,))
    )
    place = {url.removeprefix(HOST): i for i, url in enumerate(clusters.node_urls.to_pylist())}

    def relation(left: str, right: str) -> int:
        return int(clusters.relation(np.array([place[left]]), np.array([place[right]]))[0])

    assert groups(clusters) == []
    assert relation("/a", "/b") == relation("/b", "/a") == -1
    assert relation("/a", "/c") == relation("/b", "/c") == 0
    assert relation("/a", "/d") == 0
    assert relation("/a", "/a") == 1


def test_same_different_and_nobody_can_tell() -> None:
    """Content tells pages apart where both have it; in between, and without it, nobody can tell."""
    clusters = found(
        {"url": "/a", "digest": "a", "sketch": sketch("a")},
        {"url": "/a1", "digest": "a1", "sketch": sketch("a", changed=1)},
        {"url": "/a3", "digest": "a3", "sketch": sketch("a", changed=3)},
        {"url": "/a4", "digest": "a4", "sketch": sketch("a", changed=4)},
        {"url": "/b", "digest": "b", "sketch": sketch("b")},
        {"url": "/digest", "digest": "c"},
        {"url": "/nothing"},
        {"url": "/redirect", "status": 302, "redirect": "http://b.test/"},
        {"url": "/clock", "digest": "12:00"},
        {"url": "/clock", "digest": "13:00"},
    )
    names = [url.removeprefix(HOST) for url in clusters.node_urls.to_pylist()]

    def relations(name: str) -> dict[str, int]:
        left = np.full(len(names), names.index(name))
        return dict(zip(names, clusters.relation(left, np.arange(len(names))).tolist(), strict=True))

    assert relations("/a") == {
        "/a": 1, "/a1": 1, "/a3": 0, "/a4": -1, "/b": -1, "/digest": -1,
        "/nothing": 0, "/redirect": 0, "/clock": 0,
    }  # fmt: skip
    assert relations("/nothing") == {name: int(name == "/nothing") for name in names}


def test_a_redirect_shows_what_its_target_shows() -> None:
    """A URL without content of its own is known to differ by that of its cluster."""
    clusters = found(
        {"url": "/a", "digest": "a"},
        {"url": "/b", "digest": "b"},
        {"url": "/old", "status": 301, "redirect": f"{HOST}/a"},
        {"url": "/older", "status": 301, "redirect": f"{HOST}/unseen"},
    )
    old, older = np.array([2, 2]), np.array([3, 3])
    assert clusters.node_urls.to_pylist()[2:4] == [f"{HOST}/old", f"{HOST}/older"]
    assert clusters.relation(old, np.array([0, 1])).tolist() == [1, -1]
    assert clusters.relation(older, np.array([0, 1])).tolist() == [0, 0]


def test_labels_are_the_last_word() -> None:
    """What a person keeps apart stays apart, and the evidence that says otherwise is told."""
    clusters = found(
        {"url": "/a", "cluster": "1", "digest": "d"},
        {"url": "/b", "cluster": "2", "digest": "d"},
        {"url": "/c", "digest": "d"},
        {"url": "/e", "cluster": "2"},
    )
    assert groups(clusters) == [{"/b", "/e"}]
    assert [group.kind for group in clusters.found] == ["evidence against your labels"]
    assert clusters.relation(np.array([0]), np.array([1])).tolist() == [-1]


def test_clusters_are_numbered_by_their_first_url() -> None:
    """0, 1, 2 in the order of URLs; the table has the promised columns, one row per URL as seen."""
    clusters = found({"url": "/c", "digest": "x"}, {"url": "/a", "digest": "y"}, {"url": "/b", "digest": "x"})
    rows = clusters.table()
    assert rows.schema.names == CLUSTER_SCHEMA.names
    assert rows.cast(CLUSTER_SCHEMA).to_pylist() == [
        {
            "site": "a.test",
            "url": f"{HOST}/a",
            "cluster": 0,
            "evidence": None,
            "size": 1,
            "probability": None,
        },
        {
            "site": "a.test",
            "url": f"{HOST}/b",
            "cluster": 1,
            "evidence": "digest",
            "size": 2,
            "probability": None,
        },
        {
            "site": "a.test",
            "url": f"{HOST}/c",
            "cluster": 1,
            "evidence": "digest",
            "size": 2,
            "probability": None,
        },
    ]


@pytest.mark.parametrize("seed", range(3))
def test_row_order_and_batches_cannot_be_seen(seed: int) -> None:
    """The same clusters and the same remarks, whatever the order of rows and the size of batches."""
    seen = shop_full_of_lies().table()
    other = pa.Table.from_batches(shuffled(seen, seed).to_batches(max_chunksize=7))
    left, right = (find_in_site(rows, "shop.test") for rows in (seen, other))
    assert left.table().equals(right.table())
    assert left.found == right.found


def test_a_split_is_by_cluster_and_stays() -> None:
    """No cluster is in both parts, nothing is lost, and more data does not move a cluster."""
    site = Site()
    for number in range(300):
        for form in ("", "?x=1"):
            site.page(f"/p{number}{form}", str(number))
    duplicates = undust.find_duplicates(site.table())
    training, held_out = undust.split(duplicates, held_out=0.3)
    urls = [set(part.table()["url"].to_pylist()) for part in (training, held_out)]
    assert not urls[0] & urls[1]
    assert urls[0] | urls[1] == set(site.truth)
    assert not {site.truth[url] for url in urls[0]} & {site.truth[url] for url in urls[1]}
    assert 60 <= held_out.summary.clusters <= 120
    site.page("/q", "one more")
    again = undust.split(undust.find_duplicates(site.table()), held_out=0.3)[1]
    assert set(again.table()["url"].to_pylist()) - {f"http://{site.host}/q"} == urls[1]
    part = next(iter(held_out))
    assert part.cluster.max() + 1 == part.cluster_count == held_out.summary.clusters
    with pytest.raises(ValueError, match="between 0 and 1"):
        undust.split(duplicates, held_out=2)


def test_the_summary_says_what_cannot_be_known() -> None:
    """How many URLs have content to compare, a redirect by its target; nothing where all have."""
    page, moved = (
        {"url": f"{HOST}/a", "digest": "a"},
        {"url": f"{HOST}/old", "status": 301, "redirect": f"{HOST}/a"},
    )
    silent = {"url": f"{HOST}/silent", "size": 7}
    assert "content to compare" not in str(undust.find_duplicates(table(page, moved)))
    some = str(undust.find_duplicates(table(page, moved, silent)))
    assert "\ncontent to compare: 2 URLs (67%); of the others only sizes can show" in some
    assert "\ncontent to compare: none; only sizes" in str(undust.find_duplicates(table(silent)))


def test_sites_apart_and_what_is_no_url() -> None:
    """Each site on its own, in order; what is no URL is counted; a table without URLs is refused."""
    rows = [
        {"url": url, "digest": "d"}
        for url in ("http://b.test/", "http://www.a.test/", "http://a.test/", "mailto:x")
    ]
    duplicates = undust.find_duplicates(table(*rows))
    assert [part.site for part in duplicates] == ["a.test", "b.test"]
    assert duplicates["a.test"].sizes.tolist() == [2]
    assert duplicates.summary.not_urls == 1
    assert repr(duplicates) == "<Duplicates: 3 URLs of 2 sites in 2 clusters, 1 duplicate>"
    assert str(duplicates).startswith("3 URLs of 2 sites in 2 clusters: 1 duplicate (33%)")
    assert pa.table(duplicates).num_rows == 3
    assert len(undust.find_duplicates(table())) == 0
    with pytest.raises(KeyError):
        duplicates["c.test"]
    with pytest.raises(SourceError, match="no column 'url'"):
        undust.find_duplicates(pa.table({"address": ["http://a.test/"]}))


def test_clusters_say_how_likely_they_are() -> None:
    """Where pages were taken apart, each URL of a cluster of several has a probability; others have none."""
    rows = [row for _, row in changing_site("counter", 1.0, 30)]
    found = undust.find_duplicates(pa.Table.from_pylist(rows)).table().to_pylist()
    assert {row["probability"] is None for row in found if row["size"] > 1} == {False}
    assert all(0.5 < row["probability"] <= 1 for row in found if row["size"] > 1)
    alone = [{"url": f"http://a.test/{at}", "digest": "x"} for at in range(2)]
    found = undust.find_duplicates(pa.Table.from_pylist(alone)).table().to_pylist()
    assert [row["probability"] for row in found] == [None, None]
