"""A sample of a giant site has enough of what only few of its URLs show."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tests.jobs.test_sampled_sites import giant
from undust.engines import Engine, LocalEngine, spool
from undust.jobs.combined import learn_combined
from undust.jobs.find_duplicates import table_with_site
from undust.jobs.first_look import shape_texts
from undust.jobs.sampled_sites import Giants
from undust.reading.observations import table_of

RARE, FORMS, MOST_ROWS = 30, 400, 1000


def crawl() -> pa.Table:
    """A giant of which thirty pages have a print view, and many missing pages show one form to log in."""
    printed = [(f"http://giant.test/item/{page}/print", f"d{page}") for page in range(RARE)]
    # The form is also what some URLs of the rare shape show.
    places = [f"item/{number}/print" for number in range(9000, 9004)]
    places += [f"gone/{number}" for number in range(FORMS)]
    forms = [(f"http://giant.test/{place}", "form") for place in places]
    urls, digests = zip(*printed, *forms, strict=True)
    few = table_of(pa.table({"url": urls, "digest": digests, "status": [200] * len(urls)}))
    return pa.concat_tables([giant(), few])


@pytest.fixture(autouse=True)
def _rows_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "SITE_ROWS", MOST_ROWS)


def sampled(engine: Engine, table: pa.Table) -> list[str]:
    """The URLs of the sample."""
    sited = table_with_site(table)
    sample = Giants(engine, sited, {"giant.test": len(sited)}).sample()
    return sorted(engine.collect(sample)["url"].to_pylist())


def assert_rare_shapes_are_drawn(engine: Engine) -> None:
    """All of a rare shape and what it stands beside; not all that shows the form."""
    table = crawl()
    urls = sampled(engine, table)
    assert len(urls) <= MOST_ROWS
    for page in range(RARE):
        assert {f"http://giant.test/item/{page}/print", f"http://giant.test/item/{page}"} <= set(urls)
    order = random.Random(6).sample(range(len(table)), len(table))
    assert sampled(engine, table.take(order)) == urls


def test_rare_shapes_are_drawn() -> None:
    """In any order of the rows."""
    with LocalEngine() as engine:
        assert_rare_shapes_are_drawn(engine)


def test_a_rule_is_learned_from_few_of_very_many() -> None:
    """One URL in a hundred and fifty: a plain sample would have four of them."""
    rules = learn_combined(crawl()).rules
    canonical = rules.compile()
    assert canonical("http://giant.test/item/77777/print") == canonical("http://giant.test/item/77777")


def test_a_shape_has_no_values() -> None:
    """Words stay, and names of parameters."""
    urls = [
        "http://a.test/x/b12/c.html?id=5&q=7#f",
        "https://a.test/x/z9/c.html?id=&q=abc#f",
        "http://a.test/x/y",
    ]
    one, two, other = shape_texts(pa.array(urls)).to_pylist()
    assert one == two == "a.test/x/0/c.html?id=&q="
    assert other == "a.test/x/y"
