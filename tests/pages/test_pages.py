"""Evidence for pairs of URLs: equal to its plain twin, calibrated on the site, silent without content."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pyarrow as pa
import pytest

import undust
from tests.oracles import evidence as oracle
from undust.pages import EVIDENCE_MOST, SiteEvidence
from undust.reading.text import read_html

MENU = "<ul><li>Home page of the shop<li>All our products in one list<li>Contact us and imprint</ul>"


def text_of(seed: int, count: int = 60) -> str:
    """A text of its own."""
    drawn = random.Random(seed)
    return " ".join("".join(drawn.choices("abcdefghijklmnop", k=6)) for _ in range(count))


def row(url: str, body: str, title: str = "", **more: object) -> dict[str, object]:
    """The observation of a page."""
    page = read_html(f"<html><title>{title}</title>{MENU}{body}</html>".encode())
    blocks = np.frombuffer(page.blocks, np.int64).tolist()
    return {"url": url, "digest": f"{hash_of(page.text)}", "blocks": blocks, "page_title": page.title} | more


def hash_of(text: bytes) -> str:
    """A digest."""
    return hashlib.md5(text, usedforsecurity=False).hexdigest()


def evidence_of(rows: list[dict[str, object]]) -> tuple[SiteEvidence, dict[str, int]]:
    """The evidence of a site, and the row of each URL."""
    names = sorted({name for each in rows for name in each})
    table = pa.table({name: [each.get(name) for each in rows] for name in names})
    site = undust.find_duplicates(table)["s.test"]
    return site.evidence_of_pairs, {url: at for at, url in enumerate(site.node_urls.to_pylist())}


def ratio(rows: list[dict[str, object]], left: str, right: str) -> float:
    """The ratio of two URLs of a site."""
    evidence, at = evidence_of(rows)
    return float(evidence.ratios([at[left]], [at[right]])[0])


def shop(count: int = 60) -> list[dict[str, object]]:
    """Products, each with a text of its own."""
    return [
        row(f"http://s.test/p?id={at}", f"<p>{text_of(at)}<p>Price {at} EUR", f"Product {text_of(at, 2)}")
        for at in range(count)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_features_equal_the_plain_twin(seed: int) -> None:
    """The core and the twin agree on pages that share blocks, numbers and titles."""
    drawn = random.Random(seed)
    parts = [f"{text_of(at, drawn.randrange(1, 9))} {drawn.randrange(4)}" for at in range(40)]
    rows = [
        row(
            f"http://s.test/{at}",
            "".join(f"<p>{part.replace('3', str(drawn.randrange(9)))}" for part in drawn.sample(parts, 12)),
            " ".join(drawn.sample(["tea", "pot", "cup", "jug"], 2)),
        )
        for at in range(12)
    ]
    evidence, _ = evidence_of(rows)
    made = evidence.composition
    pairs = [(left, right) for left in range(12) for right in range(12)]
    got = np.asarray(evidence.core.features(*(np.array(side) for side in zip(*pairs, strict=True))))
    for (left, right), found in zip(pairs, got.reshape(-1, 7).tolist(), strict=True):
        blocks, titles = [], []
        for one in (left, right):
            some = slice(made.first_block[one], made.first_block[one + 1])
            blocks.append(
                list(
                    zip(
                        made.blocks[some].tolist(),
                        made.weights[some].tolist(),
                        made.number_weights[some].tolist(),
                        strict=True,
                    )
                )
            )
            some = slice(made.first_title_word[one], made.first_title_word[one + 1])
            titles.append(
                dict(zip(made.title_words[some].tolist(), made.title_weights[some].tolist(), strict=True))
            )
        last = min(made.last_key[left], made.last_key[right])
        expected = oracle.features(blocks[0], blocks[1], int(last), titles[0], titles[1])
        assert found == pytest.approx(expected)


def test_a_counter_does_not_make_two_pages() -> None:
    """A page that says how often it was viewed is likely one page with itself."""
    same = [row(f"http://s.test/p?id=7&sid={sid}", f"<p>{text_of(7)}<p>Price 7 EUR<p>viewed {sid} times",
                f"Product {text_of(7, 2)}") for sid in (31, 99)]  # fmt: skip
    assert ratio([*shop(), *same], "http://s.test/p?id=7&sid=31", "http://s.test/p?id=7&sid=99") > 1
    assert ratio(shop(), "http://s.test/p?id=7", "http://s.test/p?id=8") < -1


def test_labels_and_digests_are_the_extremes() -> None:
    """What the user says is certain, equal digests nearly so; this needs no blocks."""
    rows: list[dict[str, object]] = [
        {"url": f"http://s.test/{at}", "digest": digest, "cluster": label}
        for at, (digest, label) in enumerate([("a", "x"), ("b", "x"), ("a", "y"), ("a", None), ("b", None)])
    ]
    urls = [f"http://s.test/{at}" for at in range(5)]
    assert ratio(rows, urls[0], urls[1]) == EVIDENCE_MOST
    assert ratio(rows, urls[0], urls[2]) == -EVIDENCE_MOST
    assert ratio(rows, urls[2], urls[3]) > 2
    assert ratio(rows, urls[3], urls[4]) < 0


def test_rows_without_content_are_silent() -> None:
    """A URL of which only the status is known speaks neither for one page nor for two."""
    evidence, at = evidence_of([*shop(), {"url": "http://s.test/p?id=7&x=1", "status": 200}])
    unknown = at["http://s.test/p?id=7&x=1"]
    assert evidence.silent([unknown, 0]).tolist() == [True, False]
    assert evidence.ratios([unknown], [0]).tolist() == [0.0]
    assert evidence.judged == len(at) - 1


def test_the_language_tells_translations_apart() -> None:
    """Two pages in two languages are two pages, even where one falls back to the text of the other."""
    urls = ["http://s.test/p?id=7&hl=de", "http://s.test/p?id=7&hl=en"]
    body, title = f"<p>{text_of(7)}<p>Price 7 EUR<p>x", f"Product {text_of(7, 2)}"
    known = [row(url, body, title, page_language=url[-2:]) for url in urls]
    alike = [row(url, body, title) for url in urls]
    assert ratio([*shop(), *known], *urls) < ratio([*shop(), *alike], *urls) - 2


def test_a_site_whose_pages_name_any_language_is_no_witness_of_it() -> None:
    """Where one URL names another language at every fetch, two languages say little about two URLs."""
    urls = ["http://s.test/p?id=7&hl=de", "http://s.test/p?id=7&hl=en"]
    body, title = f"<p>{text_of(7)}<p>Price 7 EUR<p>x", f"Product {text_of(7, 2)}"
    known = [row(url, body, title, page_language=url[-2:]) for url in urls]

    def twice(*languages: str) -> list[dict[str, object]]:
        return [
            each | {"page_language": language, "time": f"2026-11-1{day}T00:00:00Z"}
            for each in shop()
            for day, language in enumerate(languages)
        ]

    assert ratio([*twice("de", "de"), *known], *urls) < ratio([*twice("de", "en"), *known], *urls) - 2


def variants(**more: object) -> list[dict[str, object]]:
    """Two forms of one product that show nearly the same."""
    body = f"<p>{text_of(7)}<p>Price 7 EUR"
    title = f"Product {text_of(7, 2)}"
    return [
        row(f"http://s.test/p?id=7&color={color}", f"{body}<p>x{color}", title, **more) for color in (1, 2)
    ]


def test_a_sitemap_names_each_page_once() -> None:
    """Two URLs of the sitemap are two pages, however alike they are."""
    urls = [str(each["url"]) for each in variants()]
    plain = [each | {"listed": True} for each in shop()]
    listed = ratio([*plain, *variants(listed=True)], *urls)
    assert listed < ratio([*plain, *variants()], *urls) - 2


def test_a_sitemap_that_lists_copies_is_no_witness() -> None:
    """Where equal pages are listed under several URLs, two listed URLs say little."""
    urls = [str(each["url"]) for each in variants()]
    plain = [each | {"listed": True} for each in shop()]
    copies = [each | {"url": f"{each['url']}&sid=1"} for each in plain]
    listed = [*plain, *variants(listed=True)]
    assert ratio([*listed, *copies], *urls) > ratio(listed, *urls) + 2


def test_a_reliable_canonical_is_a_witness() -> None:
    """Where pages of one rel=canonical look alike, two more of them are likelier one page."""
    copies = [
        row(f"http://s.test/p?id={at}&sid=9", f"<p>{text_of(at)}<p>Price {at} EUR<p>seen {at * 7} times",
            f"Product {text_of(at, 2)}", canonical=f"http://s.test/p?id={at}")
        for at in range(30)
    ]  # fmt: skip
    with_canonical = ratio([*shop(), *copies], "http://s.test/p?id=3", "http://s.test/p?id=3&sid=9")
    assert with_canonical == EVIDENCE_MOST
    misleading = [each | {"canonical": "http://s.test/"} for each in copies]
    assert ratio([*shop(), *misleading], "http://s.test/p?id=3&sid=9", "http://s.test/p?id=4&sid=9") < 0


def test_two_fetches_of_a_page_show_what_changes() -> None:
    """Where fetches of one URL differ as two copies do, the copies are likelier one page."""
    body = [f"<p>{text_of(at)}" for at in range(40)]
    again = [
        row(f"http://s.test/p?id={at}", f"{body[at]}<p>{text_of(1000 + 2 * at + day, 25)}", f"Product {at}",
            time=f"2026-11-1{day}T00:00:00Z")
        for at in range(40) for day in range(2)
    ]  # fmt: skip
    copy = row("http://s.test/p?id=7&sid=1", f"{body[7]}<p>{text_of(5000, 25)}", "Product 7")
    urls = "http://s.test/p?id=7", "http://s.test/p?id=7&sid=1"
    assert ratio([*again, copy], *urls) > ratio([*again[1::2], copy], *urls)


def test_a_page_that_is_another_one_every_time_is_silent() -> None:
    """A URL whose fetches share nothing speaks neither for a rule nor against it."""
    url = "http://s.test/p?id=random"
    fetches = [row(url, f"<p>{text_of(500 + at)}", "", time=f"2026-11-1{at}T00:00:00Z") for at in range(2)]
    evidence, at = evidence_of([*shop(), *fetches])
    assert evidence.silent([at[url], at["http://s.test/p?id=7"]]).tolist() == [True, False]


def test_one_page_with_many_equal_copies_does_not_hide_that_numbers_change() -> None:
    """Whether counters change all over the site is asked of each page once, however many copies it has."""

    def url_of(at: int, copy: int) -> str:
        return f"http://s.test/p?id={at}" + (f"&sid={at}x{copy}" if copy else "")

    def page(at: int, copy: int) -> dict[str, object]:
        views = 1 if at == 0 else at * 70 + copy
        body = f"<p>{text_of(at, 300)}<p>Price {at} EUR<p>seen {views} times"
        return row(url_of(at, copy), body, f"Product {text_of(at, 2)}", digest=f"{at} {copy}")

    rows = [page(at, copy) for at in range(40) for copy in range(12 if at == 0 else 2 if at < 14 else 1)]
    site = undust.find_duplicates(pa.Table.from_pylist(rows))["s.test"]
    cluster = dict(zip(site.urls.to_pylist(), site.cluster.tolist(), strict=True))
    assert all(cluster[url_of(at, 0)] == cluster[url_of(at, 1)] for at in range(14))
    assert len(set(cluster.values())) == 40


def test_pages_that_repeat_with_another_month_are_not_one_cluster() -> None:
    """Where nearly every URL of a shape shows a page of its own, two with one other word are two pages."""
    months = [text_of(1000 + at, 1) for at in range(12)]
    about = [at // 2 if at < 8 else at for at in range(60)]
    rows = [
        row(f"http://s.test/events/{at}", f"<p>{text_of(of, 120)}<p>in {months[at % 12]}", f"Event {of}")
        for at, of in enumerate(about)
    ]
    site = undust.find_duplicates(pa.Table.from_pylist(rows))["s.test"]
    assert site.cluster_count == len(rows)
    urls = site.node_urls.to_pylist()
    pair = [urls.index(f"http://s.test/events/{at}") for at in (0, 1)]
    assert site.evidence_of_pairs.ratios(pair[:1], pair[1:])[0] > 3
