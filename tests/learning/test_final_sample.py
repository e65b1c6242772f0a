"""What learning states about pages that it did not see."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from undust.jobs.one_site import LearningTask, learn_clusters
from undust.judging.checked import CheckedPages
from undust.learning import Requirements, edited
from undust.learning.edited import FinalSample, is_checked_site
from undust.learning.outcome import SiteRules
from undust.rules import Rule

if TYPE_CHECKING:
    import pytest

    from undust.pages.clustering import SiteClusters


def site(articles: int = 60, *, is_false: bool = False) -> SiteClusters:
    """Articles under a session id; `is_false`: of the last third, another one is shown with it."""
    pages = {}
    for n in range(articles):
        pages[f"http://a.test/p/{n}"] = f"p{n}"
        pages[f"http://a.test/p/{n}?sid={7919 * n}"] = f"x{n}" if is_false and n % 3 == 0 else f"p{n}"
    table = pa.table({"url": list(pages), "digest": list(pages.values())})
    return undust.find_duplicates(table).sites[0]


def test_a_small_site_is_learned_from_all_its_pages_and_checked_on_some() -> None:
    """The rules are those of all pages; each page that is checked, by rules that were learned without it."""
    seen = []

    def learn(some: SiteClusters) -> object:
        seen.append(some)
        return learned.rules

    task = LearningTask(Requirements())
    learned = learn_clusters(site(), task)
    assert learned.rules.checked == CheckedPages(33, 0, 0)
    final = FinalSample.of(site(), Requirements())
    assert final.source.cluster_count == 60
    assert final.checked(learned.rules, learn) == CheckedPages(33, 0, 0)  # type: ignore[arg-type]
    assert sum(60 - some.cluster_count for some in seen) == 33
    assert len(seen) == edited.CHECKED_PARTS[0][1]


def test_the_pages_do_not_depend_on_the_order_of_rows() -> None:
    """Nor on which other pages there are."""
    table = pa.table(
        {"url": [f"http://a.test/{n}" for n in range(50)], "digest": [str(n) for n in range(50)]}
    )
    drawn = []
    for rows in (table, table.take(list(range(49, -1, -1))), table.slice(10)):
        found = undust.find_duplicates(rows).sites[0]
        part = FinalSample.of(found, Requirements()).part
        drawn.append(dict(zip(found.urls.to_pylist(), part[found.cluster].tolist(), strict=True)))
    assert drawn[0] == drawn[1]
    assert drawn[2].items() <= drawn[0].items()


def test_of_a_large_site_pages_are_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is learned from them, and learning runs once."""
    monkeypatch.setattr(edited, "SETS_ASIDE", 100)
    found = site(200)
    final = FinalSample.of(found, Requirements())
    assert final.is_large
    aside = 200 - final.source.cluster_count
    assert 10 < aside < 80
    learned = learn_clusters(found, LearningTask(Requirements())).rules
    assert learned.checked == CheckedPages(aside, 0, 0)
    assert (learned.urls, learned.pages) == (400, 200)


def test_of_a_giant_site_all_pages_are_looked_at_that_meet_a_checked_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though only some of its pages are drawn: what is counted is the same as on the whole site."""
    monkeypatch.setattr(edited, "SETS_ASIDE", 100)
    found = site(300, is_false=True)
    drop = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
    learned = replace(learn_clusters(found, LearningTask(Requirements())).rules, rules=(drop,))
    some = FinalSample.of(found, Requirements(most_urls=300))
    whole = replace(some, requirements=Requirements())
    checked = some.checked(learned, lambda _: learned)
    assert checked == whole.checked(learned, lambda _: learned)
    assert checked.pages == int((some.part == 0).sum()) > 60
    assert checked.lost > 5


def test_of_a_large_site_most_pages_are_set_aside_that_learning_can_do_without() -> None:
    """It needs some 15,000; never more than half of the pages, or of the URLs that are looked at."""
    share = edited.share_aside
    assert share(5_000, 25_000, 60_000) == share(18_000, 40_000, 60_000) == 0.2
    assert share(25_000, 55_000, 60_000) == 0.4
    assert share(100_000, 120_000, 60_000) * 100_000 == 20_000
    assert share(30_000, 300_000, 60_000) * 300_000 == 30_000


def test_the_other_pages_are_one_part_where_enough_are_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules are then learned from about as many pages as those that are used, and only once more."""
    monkeypatch.setattr(edited, "SETS_ASIDE", 100)
    for aside, more in ((0.2, 2), (0.44, 2), (0.46, 1)):
        monkeypatch.setattr(edited, "ASIDE", aside)
        final = FinalSample.of(site(200), Requirements())
        assert (final.parts, final.more) == (1, more)
        assert set(final.part.tolist()) == set(range(more + 1))


def test_rules_from_before_that_know_the_pages_leave_nothing_to_check() -> None:
    """Learned from the same URLs, they were chosen on them; other rules from before are checked."""
    first = learn_clusters(site(), LearningTask(Requirements())).rules.rules
    assert first
    task = LearningTask(Requirements(), before={"a.test": first})
    assert learn_clusters(site(), task).rules.checked == CheckedPages()
    written = tuple(replace(rule, extra={}) for rule in first)
    task = LearningTask(Requirements(), before={"a.test": written})
    assert learn_clusters(site(), task).rules.checked.pages == 33


def test_without_rules_there_is_nothing_to_check() -> None:
    """A set of nothing loses nothing."""
    learned = learn_clusters(site(is_false=True), LearningTask(Requirements())).rules
    assert not learned.rules
    assert learned.checked == CheckedPages()


def many_sites(count: int) -> pa.Table:
    """Sites of a few articles under a session id."""
    rows = [
        {"url": f"http://s{n}.test/p/{page}{form}", "digest": f"{n} {page}"}
        for n in range(count)
        for page in range(16)
        for form in ("", f"?sid={7919 * page + n}")
    ]
    return pa.Table.from_pylist(rows)


def test_of_many_sites_a_sample_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is drawn by name; the rules are the same, and what the others state comes from their kinds."""
    table = many_sites(24)
    everything = undust.learn(table, details=True)
    monkeypatch.setattr(edited, "CHECKED_SITES", 6)
    found = undust.learn(table, details=True)
    assert list(found.rules) == list(everything.rules)
    checked = {site for site, counts in found.sites.items() if counts["checked"]["pages"]}
    assert checked == {site for site in found.sites if is_checked_site(site, 24)}
    assert 0 < len(checked) < 15
    assert found.bound.pages == sum(everything.sites[site]["checked"]["pages"] for site in checked)
    assert str(found.bound).endswith(f"{found.bound.pages} pages of {len(checked)} of 24 sites checked)")
    assert found.bound.upper >= everything.bound.upper
    for site, counts in found.sites.items():
        if site not in checked:
            assert counts["checked"]["unchecked"] == 1
            assert 0 < counts["checked"]["upper"] < 1
            assert "from what is known of such rules" in counts["checked"]["says"]


def test_few_sites_are_all_checked_and_of_very_many_a_fixed_share() -> None:
    """About fifty of a thousand, two hundred of ten thousand; another seed draws others."""
    names = [f"s{n}.test" for n in range(10_000)]
    assert all(is_checked_site(name, edited.CHECKED_SITES) for name in names)
    assert 25 < sum(is_checked_site(name, 1_000) for name in names[:1_000]) < 80
    drawn = [{name for name in names if is_checked_site(name, 10_000, seed)} for seed in (0, 1)]
    assert all(150 < len(some) < 250 for some in drawn)
    assert len(drawn[0] & drawn[1]) < 30


def test_where_pages_change_the_others_are_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learned again without them: those set aside would leave open whether as many as change are lost."""
    monkeypatch.setattr(edited, "SETS_ASIDE", 100)
    forms = ("", "?sid={n}", "?ref={n}", "?print={n}")
    ways = [way for count in (2, 2, 3) for way in combinations(forms, count)]
    pages = {}
    for n in range(2_400):
        for form in ways[n % len(ways)]:
            pages[f"http://a.test/p/{n}{form.format(n=7919 * n)}"] = f"{n}{form if n % 29 == 0 else ''}"
    table = pa.table({"url": list(pages), "digest": list(pages.values())})
    found = undust.find_duplicates(table).sites[0]
    rules = tuple(
        Rule.parse(
            f"rewrite {{s}}://{{h}}/{{p**}}?{name}={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}",
            site="a.test",
        )
        for name in ("sid", "ref", "print")
    )
    learned = SiteRules("a.test", rules, 3, {}, urls=len(pages), left=2_400, pages=2_400, lost=0)
    final, again = FinalSample.of(found, Requirements()), []

    def learn(some: SiteClusters) -> SiteRules:
        again.append(some.cluster_count)
        return learned

    checked = final.checked(learned, learn)
    assert len(again) == edited.OTHER_PARTS
    assert all(0.5 < count / found.cluster_count < 0.7 for count in again)
    assert checked.pages + checked.unstable == found.cluster_count
    few = replace(final, more=0).checked(learned, learn)
    assert few.pages < 0.25 * found.cluster_count
    assert checked.upper < 0.7 * few.upper
    sure = {url: shown.partition("?")[0] for url, shown in pages.items()}
    again.clear()
    table = pa.table({"url": list(sure), "digest": list(sure.values())})
    FinalSample.of(undust.find_duplicates(table).sites[0], Requirements()).checked(learned, learn)
    assert not again
