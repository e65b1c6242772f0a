"""The page as people meet it: in a browser, from disk, with the network cut off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from playwright.sync_api import expect

import undust
from tests.browsing import serious_faults
from tests.showing.report.painting import paint_ratio
from undust.rules import Rule, RuleSet
from undust.showing.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from tests.browsing import Open

OPEN_ALL = """
for (const row of document.querySelectorAll("tr")) if (row.openRule) row.openRule(true);
for (const item of document.querySelectorAll(".tree li")) if (item.openBranch) item.openBranch(true);
for (const part of document.querySelectorAll("#view details")) part.open = true;
"""
MOST_SHEETS = 20
WIDTHS = (1280, 768, 390)
TRIES = 4
"""Of a time that must be short once: what runs beside it may delay a page, and makes none quicker."""


@pytest.fixture(scope="module")
def page_file(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the sample, with methods side by side and with what learning refused."""
    from undust.jobs.combined import learn_combined  # noqa: PLC0415 -- only here
    from undust.jobs.learn_files import refusals_of  # noqa: PLC0415 -- only here

    seen = undust.read(sample("shop.jsonl.gz"))
    outcome = learn_combined(undust.find_duplicates(seen))
    row = {
        "method": "undust", "max_fpr": 0.01, "removed": 0.9, "lost": 0.001, "fpr": 0.0, "rules": 11,
        "seconds": 1.5, "intervals": {"removed": [0.85, 0.95], "lost": [0.0, 0.02]},
    }  # fmt: skip
    compared = {
        "sites": 1,
        "train_urls": 411,
        "test_urls": 190,
        "test_pages": 56,
        "rows": [row, row | {"method": "none", "removed": 0.0}],
    }
    path = tmp_path_factory.mktemp("page") / "report.html"
    *first, last = outcome.rules
    rules = RuleSet([*first, last.with_status("disabled")], name="rules.json")
    undust.report(rules, seen, path, compared=compared, refusals=refusals_of(outcome))
    return path


def facts_of(page: Page) -> dict[str, Any]:
    """What the page carries."""
    return dict(json.loads(page.locator("#facts").text_content() or ""))


def test_it_opens_from_disk_without_a_word(page_file: Path, opened: Open) -> None:
    """All sections are drawn; nothing is asked of the network, nothing is said to the console."""
    with opened(page_file) as page:
        ids = page.locator("main section:visible").evaluate_all("all => all.map((one) => one.id)")
        assert ids == [
            *("headline", "rules", "curve", "scheme", "unexplained"),
            *("distrusted", "refused", "evidence", "methods"),
        ]
        assert page.locator("figure svg").count() == 3
        assert page.title() == "rules.json · undust report"


def test_headline_tells_the_figures_of_evaluate(page_file: Path, opened: Open) -> None:
    """The large numbers are those that were measured."""
    with opened(page_file) as page:
        found = facts_of(page)["figures"]
        tiles = dict(
            zip(
                page.locator(".tile dt").all_inner_texts(),
                page.locator(".tile .big").all_inner_texts(),
                strict=True,
            )
        )
        totals = facts_of(page)["totals"]
        assert tiles["URLs judged"] == f"{found['urls']:,}"
        assert tiles["Pages"] == f"{found['clusters']:,}"
        assert tiles["Duplicates"] == f"{100 * found['duplicate_rate']:.1f} %"
        normalized, ruled = (
            totals[f"removed_by_{name}"] / totals["duplicates"] for name in ("normalization", "rules")
        )
        assert tiles["Normalization removes"] == f"{100 * normalized:.1f} %"
        assert tiles["The rules remove"] == f"{100 * ruled:.1f} %"
        assert normalized + ruled == pytest.approx(found["removed"])
        assert tiles["Pages lost"] == f"{100 * found['lost']:.2f} %"
        low, high = found["intervals"]["removed"]
        assert (
            f"95 %: {100 * low:.1f}–{100 * high:.1f} %"
            in page.locator("[data-tile='The rules remove']").inner_text()
        )


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_search_finds_rules_and_urls(page_file: Path, opened: Open, by: str) -> None:
    """A text finds the rules and the URLs that have it; a rule that was found opens."""
    with opened(page_file) as page:
        if by == "mouse":
            page.locator("#search").click()
        else:
            page.keyboard.press("/")
        page.keyboard.type("sid")
        # It answers to every key; what counts is the answer to all of them.
        expect(page.locator("#results mark").first).to_have_text("sid", ignore_case=True)
        assert "rule" in page.locator("#found").inner_text()
        first = page.locator("#results a").first
        if by == "mouse":
            first.click()
        else:
            page.keyboard.press("Enter")
            page.keyboard.press("Enter")
        page.wait_for_selector("tr.detail:not([hidden])")
        assert page.locator("tr.detail:visible h3").first.inner_text() == "Examples"
        page.locator("#search").focus()
        page.keyboard.press("Escape")
        assert page.locator("#results").is_hidden()


def test_search_says_when_there_is_nothing(page_file: Path, opened: Open) -> None:
    """No silence: the number found is said, zero included."""
    with opened(page_file) as page:
        page.locator("#search").fill("no such text anywhere")
        expect(page.locator("#found")).to_contain_text("0 rules and 0 URLs")


def press(target: Locator, by: str) -> None:
    """Press a button or a link, with the mouse or with the keyboard."""
    if by == "mouse":
        target.click()
    else:
        target.focus()
        target.page.keyboard.press("Enter")


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_rules_open_and_sort(page_file: Path, opened: Open, by: str) -> None:
    """A rule opens to its diff; columns sort both ways, and say so."""
    with opened(page_file) as page:
        opener = page.locator("#rule-table .opener").first
        press(opener, by)
        assert opener.get_attribute("aria-expanded") == "true"
        assert page.locator("tr.detail:visible del").count() > 0
        press(opener, by)
        assert page.locator("tr.detail:visible").count() == 0
        head = page.locator("#rule-table thead th").first
        press(head.locator("button"), by)
        numbers = [
            int(each) for each in page.locator("#rule-table tbody td:first-child.number").all_inner_texts()
        ]
        assert numbers == sorted(numbers)
        assert head.get_attribute("aria-sort") == "ascending"
        press(head.locator("button"), by)
        numbers = [
            int(each) for each in page.locator("#rule-table tbody td:first-child.number").all_inner_texts()
        ]
        assert numbers == sorted(numbers, reverse=True)
        assert head.get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_the_scheme_unfolds(page_file: Path, opened: Open, by: str) -> None:
    """Branches open and close, whichever way they are asked."""
    with opened(page_file) as page:
        closed = page.locator(".tree .opener[aria-expanded=false]").first
        closed.evaluate("one => { one.id = 'tried' }")
        opener = page.locator("#tried")
        before = page.locator(".tree .branch:visible").count()
        if by == "mouse":
            opener.click()
        else:
            opener.focus()
            page.keyboard.press("Space")
        assert opener.get_attribute("aria-expanded") == "true"
        assert page.locator(".tree .branch:visible").count() > before


def test_charts_have_axes_with_units(page_file: Path, opened: Open) -> None:
    """Each chart names what its axes count."""
    with opened(page_file) as page:
        texts = page.locator("figure svg").evaluate_all("all => all.map((one) => one.textContent)")
        words = (
            ("distinct URLs",),
            ("pages lost, % of pages", "duplicates removed, %"),
            ("duplicates removed, %", "pages lost, %"),
        )
        for text, wanted in zip(texts, words, strict=True):
            assert all(word in text for word in wanted), text
        assert "chosen:" in texts[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_sticks_out(page_file: Path, opened: Open, theme: str) -> None:
    """From a desk to a phone, in both themes, no part is wider than the window."""
    with opened(page_file, color_scheme=theme) as page:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            page.evaluate(OPEN_ALL)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#theme").inner_text() == "Theme: auto"
        page.locator("#theme").click()
        page.locator("#theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"


def test_it_prints_what_needs_a_person(page_file: Path, opened: Open) -> None:
    """On paper nothing can be clicked: what loses pages is open, the others have their line; few sheets."""
    with opened(page_file) as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        facts = page.evaluate("JSON.parse(document.getElementById('facts').textContent)")
        rules = [rule for site in facts["sites"].values() for rule in site["rules"]]
        urgent = [rule for rule in rules if rule["verdict"] == "risky" or rule.get("wrong")]
        assert page.locator("tr.detail:visible").count() == len(urgent) < page.locator("tr.detail").count()
        assert page.locator("#rule-table .why-verdict:visible").count() == len(rules)
        assert page.locator("#rule-table .opener:visible").count() == page.locator("tr.detail").count()
        assert page.locator(".top").is_hidden()
        sheets = page.pdf().count(b"/Type /Page\n")
        assert 0 < sheets <= MOST_SHEETS


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_no_serious_fault_for_those_who_do_not_see_it(
    page_file: Path, opened: Open, width: int, theme: str
) -> None:
    """axe-core finds nothing serious, with rules and branches open as well."""
    with opened(page_file, color_scheme=theme, viewport={"width": width, "height": 900}) as page:
        for opener in page.locator(".opener").all()[:8]:
            opener.click()
        page.locator("#refused details").first.evaluate("(one) => { one.open = true; }")
        page.locator("#search").fill("sid")
        page.wait_for_selector("#results a")
        assert serious_faults(page) == []


def test_the_keyboard_reaches_everything(page_file: Path, opened: Open) -> None:
    """The first stop skips to the report; every stop can be seen."""
    with opened(page_file) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
        page.keyboard.press("Enter")
        stops: list[str] = []
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break  # after the last stop
            stops.append(page.evaluate("document.activeElement.tagName"))
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        assert {"BUTTON", "SUMMARY"} <= set(stops)
        assert len(stops) > 20


@pytest.mark.slow
def test_first_paint_is_as_quick_as_that_of_an_empty_page(
    page_file: Path, browser: Browser, tmp_path: Path
) -> None:
    """What a person waits for is the file, not what is drawn from it; with a margin for shared machines."""
    assert any(paint_ratio(browser, page_file, tmp_path, rounds=5) < 2.5 for _ in range(TRIES))


@pytest.fixture(scope="module")
def many_sites(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about ten thousand sites, one of them in full."""
    made = undust.report(undust.load(sample("rules.json")), undust.read(sample("shop.jsonl.gz")))
    others = [
        [f"s{n}.test", 1000 + n, 990 + n, 500, n, 400 + n, 0.2 + n / 1e5, n / 1e6, 4] for n in range(9_999)
    ]
    rows = sorted([*others, *made.facts["overview"]], key=lambda row: (-row[4] - row[5], row[0]))
    path = tmp_path_factory.mktemp("many") / "report.html"
    Report({**made.facts, "site_count": len(rows), "overview": rows}).save(path)
    return path


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_ten_thousand_sites_sort_filter_and_open(many_sites: Path, opened: Open, by: str) -> None:
    """Those with most removed URLs come first; a click sorts, a word filters, a site opens and closes."""
    assert many_sites.stat().st_size < 3_000_000
    with opened(many_sites) as page:
        assert page.locator("#sites tbody tr").first.locator("th").inner_text() == "s9998.test"
        assert page.locator("#sites tbody tr").count() == 100
        assert "100 of 10,000 sites" in page.locator("#sites [role=status]").inner_text()
        press(page.locator("#sites thead button", has_text="Site"), by)
        assert page.locator("#sites tbody tr").first.locator("th").inner_text() == "s0.test"
        page.locator("#site-filter").fill("teapots")
        assert page.locator("#sites tbody tr").count() == 1
        press(page.locator("#sites tbody a"), by)
        expect(page.locator("h1")).to_have_text("teapots.test")
        assert page.locator("#rule-table tbody tr").count() > 0
        press(page.locator("#back a"), by)
        expect(page.locator("#sites")).to_be_visible()


@pytest.mark.parametrize(
    ("rules", "urls", "words"),
    [
        ([], [("http://a.test/1", "1"), ("http://a.test/1?sid=2", "1")], "There is no rule for these URLs"),
        ([], [("http://a.test/1", "1"), ("http://a.test/2", "2")], "there is nothing to remove"),
        (
            [],
            [("http://a.test/1", None)],
            "None of 1 URL could be judged: the input has no evidence",
        ),
        ([], [], "0 URLs of 0 sites"),
    ],
)
def test_odd_cases_make_sense(
    rules: list[Any], urls: list[tuple[str, str | None]], words: str, opened: Open, tmp_path: Path
) -> None:
    """No rules, no duplicates, no evidence, no URL: the page opens, and says what is the case."""
    table = pa.table(
        {
            "url": pa.array([url for url, _ in urls], pa.string()),
            "cluster": pa.array([page for _, page in urls], pa.string()),
        }
    )
    path = tmp_path / "report.html"
    undust.report(RuleSet(rules, name="rules.json"), table, path)
    with opened(path) as page:
        assert words in page.locator("main").inner_text()


@pytest.mark.huge
def test_a_hundred_thousand_urls_stay_light(opened: Open, browser: Browser, tmp_path: Path) -> None:
    """Of a large site the page carries a sample and says so; it is small, and painted like an empty one."""
    urls = [f"http://a.test/{n % 400}/{n // 4}?sid={n % 4}" for n in range(100_000)]
    table = pa.table({"url": urls, "cluster": [str(n // 4) for n in range(100_000)]})
    rule = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} -> {s}://{h}/{p}?{rest}", site="a.test")
    path = tmp_path / "report.html"
    undust.report(RuleSet([rule]), table, path)
    assert path.stat().st_size < 3_000_000
    with opened(path) as page:
        assert page.evaluate("document.querySelectorAll('*').length") < 5_000
        page.locator("#search").fill("/399/")
        expect(page.locator("#found")).to_contain_text("4,000 of 100,000 URLs are on this page")
    assert any(paint_ratio(browser, path, tmp_path, rounds=5) < 2 for _ in range(TRIES))


@pytest.mark.huge
def test_a_large_real_site_is_painted_like_an_empty_page(
    needs_data: Callable[[str], Path], browser: Browser, tmp_path: Path
) -> None:
    """The same for the largest site there is; `bench/report.py` has the other data."""
    path = tmp_path / "report.html"
    undust.report(RuleSet(), undust.read(needs_data("mirrors/momopeds.jsonl.gz")), path)
    assert path.stat().st_size < 3_000_000
    assert any(paint_ratio(browser, path, tmp_path, rounds=5) < 2 for _ in range(TRIES))
