"""A site too large to be looked at together: a stable sample, held against all of it."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import undust
from undust.engines import LocalEngine, spool
from undust.jobs.combined import learn_combined
from undust.jobs.find_duplicates import table_with_site
from undust.jobs.one_site import LearningTask, learn_clusters
from undust.jobs.records import FAILED, held_against_all, site_state_of
from undust.jobs.sampled_sites import Giants
from undust.learning import Requirements
from undust.learning.bounds import with_bounds
from undust.learning.edited import combined_rules
from undust.measuring.targets import with_targets
from undust.reading.observations import table_of

PAGES = 1200


def giant(pages: int = PAGES, site: str = "giant.test") -> pa.Table:
    """A site whose session ids change nothing, whose old paths redirect, and whose pages of a list differ."""
    rows: list[tuple[str, int, str | None, str | None]] = []
    for page in range(pages):
        plain = f"http://{site}/item/{page}"
        rows += [(plain, 200, f"d{page}", None), (f"{plain}?sid={page * 7}", 200, f"d{page}", None)]
        rows += [
            (f"{plain}?page=2", 200, f"d{page} 2", None),
            (f"http://{site}/old/{page}", 301, None, plain),
        ]
    columns = zip(*rows, strict=True)
    return table_of(pa.table(dict(zip(("url", "status", "digest", "redirect"), columns, strict=True))))


def small(site: str) -> pa.Table:
    """A site with the same habits that fits anywhere."""
    return giant(40, site)


def crowd() -> pa.Table:
    """The giant and three others."""
    return pa.concat_tables([giant(), *map(small, ("a.test", "b.test", "c.test"))])


@pytest.fixture
def _rows_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A site of more than a thousand rows is too large."""
    monkeypatch.setattr(spool, "SITE_ROWS", 1000)


@pytest.mark.usefixtures("_rows_are_few")
def test_the_sample_is_by_page_and_stable() -> None:
    """Whole pages, with what redirects to them; the same in any order and any batches."""
    table = table_with_site(giant())
    with LocalEngine() as engine:
        sample = engine.collect(Giants(engine, table, {"giant.test": len(table)}).sample())
        order = list(range(len(table)))
        random.Random(3).shuffle(order)
        other = engine.collect(Giants(engine, table.take(order), {"giant.test": len(table)}).sample())
    assert 400 < len(sample) <= 1000
    assert sorted(sample["url"].to_pylist()) == sorted(other["url"].to_pylist())
    urls = set(sample["url"].to_pylist())
    for url in urls:
        if "/item/" in url and "page=2" not in url:
            page = url.rpartition("/")[2].partition("?")[0]
            plain = f"http://giant.test/item/{page}"
            assert {plain, f"{plain}?sid={int(page) * 7}", f"http://giant.test/old/{page}"} <= urls


@pytest.mark.usefixtures("_rows_are_few")
def test_one_page_with_more_rows_than_fit_is_thinned() -> None:
    """All rows show one page, so the sample cannot be of whole pages."""
    table = table_with_site(
        table_of(pa.table({"url": [f"http://a.test/{n}" for n in range(5000)], "digest": ["d"] * 5000}))
    )
    with LocalEngine() as engine:
        for digest in ("d", "e", "f", "g"):  # one of them is drawn
            same = pa.array([digest] * len(table))
            rows = table.set_column(table.schema.get_field_index("digest"), "digest", same)
            assert len(engine.collect(Giants(engine, rows, {"a.test": 5000}).sample())) < 1100


@pytest.mark.usefixtures("_rows_are_few")
def test_a_giant_is_learned_from_a_sample_and_told_as_a_whole() -> None:
    """Its rules are those of the whole, the figures are of all URLs, and nothing else notices it."""
    table = crowd()
    outcome = learn_combined(table)
    (own,) = (site for site in outcome.sites if site.site == "giant.test")
    assert 0 < own.sampled <= 1000
    assert outcome.as_json()["sampled"] == {"giant.test": {"sampled": own.sampled, "urls": 4 * PAGES}}
    assert (own.urls, own.pages, own.lost) == (4 * PAGES, 2 * PAGES, 0)
    assert [str(rule) for rule in own.rules]
    assert own.left == len(set(undust.RuleSet(own.rules).compile().batch(giant()["url"]).to_pylist()))
    order = list(range(len(table)))
    random.Random(5).shuffle(order)
    assert learn_combined(table.take(order), threads=2).rules.dumps() == outcome.rules.dumps()


@pytest.mark.usefixtures("_rows_are_few")
def test_a_rule_that_fails_outside_of_the_sample_is_dropped() -> None:
    """The sample is clean; on the rest of the site the parameter shows other pages."""
    table = table_with_site(giant())
    with LocalEngine() as engine:
        sample = engine.collect(Giants(engine, table, {"giant.test": len(table)}).sample())
        drawn = pc.is_in(table["url"], sample["url"])
        matters = pc.and_(pc.invert(drawn), pc.match_substring(table["url"], "sid="))
        digest = pc.if_else(matters, pc.binary_join_element_wise(table["url"], "x", ""), table["digest"])
        spoiled = table.set_column(table.schema.get_field_index("digest"), "digest", digest)
        giants = Giants(engine, spoiled, {"giant.test": len(table)})
        (site,) = undust.find_duplicates(sample)
        task = LearningTask(Requirements(), sampled=frozenset({"giant.test"}))
        learned = learn_clusters(site, task)
        assert any("sid" in str(rule) for rule in learned.rules.rules)
        clean = Giants(engine, table, {"giant.test": len(table)})
        kept = clean.held_against_all({"giant.test": learned}, task)["giant.test"]
        held = giants.held_against_all({"giant.test": learned}, task)["giant.test"]
    assert kept.rules.rules == learned.rules.rules
    assert not any("sid" in str(rule) for rule in held.rules.rules)
    assert held.rules.rejected[FAILED] >= 1
    assert held.rules.lost == 0


def test_the_sample_within_a_site_is_held_against_all_of_it() -> None:
    """The same where the site fits into memory and only learning looks at a part."""
    (site,) = undust.find_duplicates(giant())
    requirements = replace(Requirements(), most_urls=800)
    rules = combined_rules(site, requirements)
    assert 0 < rules.sampled <= 800
    whole = held_against_all(site, rules, requirements)
    assert whole.rules == rules.rules
    assert (whole.urls, whole.pages) == (4 * PAGES, 2 * PAGES)
    stands = site_state_of(site, rules.rules, requirements)
    assert stands.left[0] == whole.urls
    assert stands.left[-1] == whole.left < whole.urls
    assert np.all(np.diff(stands.left) <= 0)
    assert site_state_of(site, (), requirements) == (whole.urls, stands.left[:1], stands.lost[:1])
    learned = learn_clusters(site, LearningTask(requirements)).rules
    assert learned.checked.pages > 0
    leading = with_bounds(with_targets(site, whole.rules))
    assert learned == replace(whole, rules=leading, checked=learned.checked)
