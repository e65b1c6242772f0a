"""Sites without duplicates are set aside from columns, and nothing that they could say is lost."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.engines import LocalEngine, spool
from undust.jobs import combined
from undust.jobs.find_duplicates import table_with_site
from undust.jobs.first_look import QUIET_TEST, SILENT_TEST
from undust.jobs.one_site import LearningTask, learn_rows
from undust.jobs.records import from_text
from undust.learning import Requirements
from undust.reading.observations import SCHEMA, sites_in
from undust.statistics import Totals

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from undust.engines import SiteTest
    from undust.jobs.records import SiteOutcome

PATHS = (
    *("/", "/a", "/a/", "/A", "/a.html", "/a.php", "/b/index.html", "/b/", "/c/index.html", "/d/index.html"),
    *(
        "/e?sid=1",
        "/e?sid=2",
        "/e",
        "/f;jsessionid=1",
        "/f",
        "//g",
        "/%61",
        "/h?page=1&b=2",
        "/i/./j",
        "/k+l",
    ),
    *("/news/1", "/news/2", "/news/3", "/m/", "/n/", "/o/", "/p?", "/q:r", "/s,t"),
)
SAME = ("seen", "seen_normalized", "seen_left", "judged", "pages", "normalized", "left")


def crawl(sites: int, chance: random.Random) -> pa.Table:
    """Return sites of few URLs, most of them with a page each, some with what makes a site not quiet."""
    rows: list[dict[str, Any]] = []
    for number in range(sites):
        for path in chance.sample(PATHS, chance.choice((1, 1, 2, 2, 3, 5))):
            host = f"{chance.choice(('', '', 'www.'))}s{number}.test"
            row = {
                "url": f"http{chance.choice(('', 's'))}://{host}{path}",
                "digest": f"{chance.getrandbits(99):x}",
            }
            odd: dict[str, Any] = chance.choice(
                (
                    *({},) * 30,
                    *(
                        {"digest": None},
                        {"digest": "same"},
                        {"status": 404},
                        {"status": 301, "redirect": "/"},
                    ),
                    *({"canonical": f"http://{host}/"}, {"sketch": [1, 2]}, {"url": f"http://{host}:8080/a"}),
                )
            )
            rows.append(row | odd)
    return table_with_site(pa.Table.from_pylist(rows, SCHEMA))


def learned_aside(table: pa.Table, test: SiteTest) -> Iterator[tuple[pa.Table, SiteOutcome]]:
    """Yield the rows of each site that a test sets aside, and what learning gives of it: no rule, no word."""
    with LocalEngine(threads=1) as engine:
        left, counts = engine.set_aside(table, test)
        others = set(engine.collect(left)["site"].to_pylist())
    aside = [(site, rows) for site, rows in sites_in(table) if site not in others]
    assert (len(aside), sum(len(rows) for _, rows in aside)) == counts
    assert 50 < len(aside) < 200, "a test of both kinds"
    for site, rows in aside:
        told = from_text(learn_rows(site, rows, LearningTask(Requirements()))["learned"][0].as_py())
        assert (told.rules.rules, told.shown, told.proposed, told.doubts) == ((), [], (), ()), site
        yield rows, told


def test_a_quiet_site_has_nothing_to_say() -> None:
    """Learning from a site that is set aside gives no rule, no word on a shape, and every URL as a page."""
    table = crawl(250, random.Random(3))
    for rows, told in learned_aside(table, QUIET_TEST):
        assert told.totals == Totals(**dict.fromkeys(SAME, len(rows))), rows["url"]
        assert told.has_evidence


def hosts_of_a_log(sites: int, chance: random.Random) -> pa.Table:
    """Return hosts with few URLs and no evidence, but for some that have a little."""
    rows: list[dict[str, Any]] = []
    for number in range(sites):
        for path in chance.sample(PATHS, chance.choice((1, 1, 2, 3, 4, 5, 7))):
            odd = chance.choice((*({},) * 30, {"digest": "x"}, {"status": 404}, {"canonical": "/"}))
            rows.append({"url": f"http://h{number}.test{path}", "size": chance.randrange(3)} | odd)
    return table_with_site(pa.Table.from_pylist(rows, SCHEMA))


def test_of_few_urls_without_evidence_nothing_is_proposed() -> None:
    """Learning from a site that is set aside gives nothing at all, and judges no URL."""
    table = hosts_of_a_log(250, random.Random(4))
    for rows, told in learned_aside(table, SILENT_TEST):
        assert told.totals == Totals(**dict.fromkeys(SAME[:3], len(rows))), rows["url"]
        assert (told.rules.urls, told.rules.pages, told.has_evidence) == (len(rows), len(rows), False)


def test_a_log_of_many_hosts_counts_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of the whole is the same whether hosts are looked at or set aside."""
    table = hosts_of_a_log(60, random.Random(6))
    learn = partial(combined.learn_combined, table, threads=1)
    one_by_one = learn()
    monkeypatch.setattr(combined, "COUNTED_TOGETHER", 10)
    together = learn()
    assert list(together.proposed) == list(one_by_one.proposed)
    assert together.all_totals == one_by_one.all_totals
    assert together.as_json()["sites_without_rules"] > 20
    for name in ("sites", "urls", "clusters", "totals", "rules"):
        assert together.as_json()[name] == one_by_one.as_json()[name]


def test_sites_are_tested_on_disk_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit is the same, also where a folder has a quote in its name; nothing is left."""
    table = crawl(120, random.Random(8))
    with LocalEngine(threads=1) as engine:
        expected = engine.set_aside(table, QUIET_TEST)[1]
    folder = tmp_path / "it's here"
    folder.mkdir()
    monkeypatch.setattr(spool, "HELD_SHARE", 1e-9)
    with LocalEngine("1GB", 1, str(folder)) as engine:
        left, quiet = engine.set_aside(table, QUIET_TEST)
        assert quiet == expected
        assert left.num_rows == len(table) - quiet.rows
    assert list(folder.iterdir()) == []


def test_the_rules_and_counts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many sites, quiet ones are counted together: the same rules, the same sums."""
    chance = random.Random(5)
    table = crawl(40, chance)
    pairs = [
        {"url": f"http://d{site}.test/p{page}{end}", "digest": f"{site}-{page}"}
        for site in range(8)
        for page in range(12)
        for end in ("", f"?sid={page * 7 + site}")
    ]
    table = pa.concat_tables([table, table_with_site(pa.Table.from_pylist(pairs, SCHEMA))])
    learn = partial(combined.learn_combined, table, threads=1)
    one_by_one = learn()
    monkeypatch.setattr(combined, "COUNTED_TOGETHER", 10)
    together = learn()
    assert len(one_by_one.rules) > 3
    assert together.rules.dumps() == one_by_one.rules.dumps()
    assert together.all_totals == one_by_one.all_totals
    assert 0 < len(together.sites) < len(one_by_one.sites)
    counts, all_counts = together.as_json(), one_by_one.as_json()
    for name in ("sites", "urls", "clusters", "totals", "rules", "rules_for_all_sites"):
        assert counts[name] == all_counts[name]
