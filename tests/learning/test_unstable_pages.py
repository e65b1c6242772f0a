"""Pages that differ at every fetch are told from rules that are wrong."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from undust.learning import Requirements
from undust.learning.failing_pages import CALM, UnstablePages
from undust.learning.loop import Learning

if TYPE_CHECKING:
    from collections.abc import Iterable

MINIMA = 32


def crawl(rows: Iterable[tuple[str, str]]) -> pa.Table:
    """What a crawl saw: URLs, and of each the digest and the sketch of its content."""
    urls, contents = zip(*rows, strict=True)
    draws = [Random(text) for text in contents]
    sketches = [[draw.getrandbits(32) for _ in range(MINIMA)] for draw in draws]
    return pa.table({"url": urls, "digest": contents, "sketch": pa.array(sketches, pa.list_(pa.uint32()))})


def shop(restless: float, seed: int = 1) -> list[tuple[str, str]]:
    """Items under three forms; some of them show other text at every fetch. Page numbers matter."""
    draw = Random(seed)
    rows = []
    for item in range(160):
        forms = [
            f"http://a.test/item/{item}{tail}" for tail in ("", f"?sid={item * 7919}", "?ref=mail", "?ref=x")
        ]
        changes = draw.random() < restless
        rows += [(url, f"item {item} {place if changes else ''}") for place, url in enumerate(forms)]
    rows += [
        (f"http://a.test/list?page={n}{tail}", f"list {n}") for n in range(40) for tail in ("", f"&sid={n}x")
    ]
    return rows


def restless_of(table: pa.Table) -> UnstablePages:
    """What is found about restless pages of a site."""
    return Learning(undust.find_duplicates(table).sites[0], Requirements()).unstable()


def test_true_rules_are_learned_though_one_page_in_seven_never_stays_the_same() -> None:
    """Failures without a pattern are the pages' fault; a parameter that selects is kept all the same."""
    canonical = undust.learn(crawl(shop(0.15))).compile()
    assert canonical("http://a.test/item/999?sid=1") == "http://a.test/item/999"
    assert canonical("http://a.test/item/999?ref=y") == "http://a.test/item/999"
    assert canonical("http://a.test/list?page=7&sid=1") == "http://a.test/list?page=7"


def test_how_many_are_restless_is_known_roughly() -> None:
    """Three forms of a page and two rules tell it; a calm site has none."""
    found = restless_of(crawl(shop(0.15)))
    assert 0.05 < found.rate < 0.3
    assert len(found.pages) > 30  # each form of such a page is a page of its own
    assert restless_of(crawl(shop(0.0))) is CALM


def test_a_rule_that_reorders_does_not_do_the_work_of_those_that_remove() -> None:
    """It changes the same URLs, but brings other ones together: all of them tell which pages change."""
    draw = Random(1)
    rows = []
    for item in range(240):
        own = f"http://a.test/item?id={item}&lang=en"
        forms = (
            own,
            f"{own}&gclid=q{item}",
            f"{own}&aff=p{item % 5}",
            f"http://a.test/item?lang=en&id={item}",
        )
        changes = draw.random() < 0.1
        rows += [(url, f"item {item} {place if changes else ''}") for place, url in enumerate(forms)]
    found = restless_of(crawl(rows))
    assert 0.05 < found.rate < 0.15
    canonical = undust.learn(crawl(rows)).compile()
    urls = [f"http://a.test/item?{query}" for query in ("lang=en&id=9", "id=9&lang=en&gclid=z&aff=web")]
    assert canonical(urls[0]) == canonical(urls[1])
    assert canonical(urls[0]) != canonical("http://a.test/item?id=8&lang=en")


def test_a_session_in_the_path_tells_which_pages_change_too() -> None:
    """It stands behind a semicolon, and is a parameter like those of a query."""
    draw = Random(1)
    rows = []
    for item in range(240):
        session = f"{draw.getrandbits(64):016x}"
        forms = (
            f"item.do?id={item}",
            f"item.do;sid={session}?id={item}",
            f"item.do?id={item}&ref=p{item % 5}",
        )
        changes = draw.random() < 0.1
        rows += [
            (f"http://a.test/{form}", f"item {item} {place if changes else ''}")
            for place, form in enumerate(forms)
        ]
    assert 0.05 < restless_of(crawl(rows)).rate < 0.15
    canonical = undust.learn(crawl(rows)).compile()
    assert canonical("http://a.test/item.do;sid=0?id=9&ref=x") == canonical("http://a.test/item.do?id=9")


def test_wrong_labels_do_not_hide_restless_pages() -> None:
    """A few pages of which one URL shows another page are no sign of wrong rules, though they are more."""
    rows = shop(0.06)
    calm = {item for item in range(160) if (f"http://a.test/item/{item}", f"item {item} ") in rows}
    wrong = set(sorted(calm)[: 160 - len(calm) + 4])
    mislabelled = [
        (
            url,
            f"other {url}"
            if url.endswith("ref=x") and int(url.split("/")[4].split("?")[0]) in wrong
            else text,
        )
        for url, text in rows
    ]
    found = restless_of(crawl(mislabelled))
    assert 0 < found.rate < 0.15
    assert (
        undust.learn(crawl(mislabelled)).compile()("http://a.test/item/999?sid=1") == "http://a.test/item/999"
    )


def test_two_wrong_rules_are_no_restless_site() -> None:
    """Where two parameters matter on some pages each, some forms of those pages still agree."""
    draw, rows = Random(3), []
    for item in range(160):
        matters = draw.random() < 0.25, draw.random() < 0.25
        for sid in ("", "a", "b"):
            for ref in ("", "c"):
                tail = "&".join(filter(None, (sid and f"sid={sid}{item}", ref and f"ref={ref}")))
                content = f"{item} {sid if matters[0] else ''} {ref if matters[1] else ''}"
                rows.append((f"http://a.test/item/{item}{'?' * bool(tail)}{tail}", content))
    assert restless_of(crawl(rows)) is CALM


def test_an_excuse_needs_a_restless_site_and_few_failures() -> None:
    """The same failures count on a calm site; and no site excuses one failure in two."""
    restless = UnstablePages(CALM.pages, 0.1, CALM.calm)
    assert restless.excuses(lost=4, pages=36)
    assert not CALM.excuses(lost=4, pages=36)
    assert not restless.excuses(lost=20, pages=20)
    assert not restless.excuses(lost=1, pages=4), "too few pages to decide a true rule from a false one"


def test_pages_that_others_show_to_be_calm_are_no_excuse() -> None:
    """A tenth of the items changes at every fetch, and on some others a parameter selects what is shown."""
    rows, fetch = [], 0
    for item in range(200):
        for tail in ("", "?sid=1", "?sid=7", "?ref=2", "?ref=9", "?view=a", "?view=b", "?view=c"):
            fetch += 1
            shown = f"{fetch}" if item < 20 else tail * ("view" in tail and 40 <= item < 56)
            rows.append((f"http://a.test/item/{item}{tail}", f"item {item} {shown}"))
    for most in (0.01, 0.0):
        canonical = undust.learn(crawl(rows), max_fpr=most).compile()
        assert canonical("http://a.test/item/999?ref=9&sid=1") == "http://a.test/item/999"
        assert len({canonical(f"http://a.test/item/44?view={value}") for value in "abc"}) == 3


def test_restless_pages_say_nothing_of_rules_for_all_sites() -> None:
    """Sessions are idle on four such sites, and so on a fifth that nobody saw."""
    sites = [
        [(url.replace("a.test", f"s{place}.test"), f"{place} {text}") for url, text in shop(0.15, place)]
        for place in range(4)
    ]
    rules = undust.learn(crawl(row for rows in sites for row in rows))
    for_all = undust.RuleSet(rule for rule in rules if rule.site == "*")
    assert for_all.compile()("http://new.test/p?sid=1") == "http://new.test/p"
