"""What sites say of shapes is added up by an engine: the same rules for all sites as in memory."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from undust.engines import LocalEngine, spool
from undust.files import temporary
from undust.jobs import combined
from undust.jobs.records import SAID, EngineShapes, said_rows
from undust.learning import Requirements, SiteTally, rules_across
from undust.learning.across import rules_of_shapes
from undust.learning.generic import HeldShapes
from undust.reading.observations import table_of

if TYPE_CHECKING:
    from pathlib import Path

    from undust.engines import Engine

CARE = Requirements()


def tallies(sites: int, chance: random.Random) -> list[SiteTally]:
    """What sites might say of forty parameters: some idle nearly everywhere, some often not."""
    said = []
    for site in range(sites):
        for name in chance.sample(range(40), 6):
            family = "parameter" if name % 4 else "lone parameter"
            fails = chance.random() < (0.01 if name < 30 else 0.4)
            pages, lost = (0, chance.randrange(1, 30)) if fails else (chance.randrange(1, 30), 0)
            host = f"s{site}.test"
            source, target = f"{{s}}://{{h}}/{{p**}}?n{name}={{**}}&{{rest**}}", "{s}://{h}/{p}?{rest}"
            shown = (f"http://{host}/ä?n{name}=1", f"http://{host}/ä") if pages else ("", "")
            counts = (pages + lost, pages, pages, lost, pages, lost)
            said.append(SiteTally(host, family, "rewrite", source, target, *counts, *shown))
    return said


def shapes_with(engine: Engine, said: list[SiteTally]) -> EngineShapes:
    """The table of an engine, a part of which came from elsewhere."""
    rows, cut = said_rows(said, CARE), len(said) // 3
    kept = engine.map_rows(rows.slice(cut), lambda batch: batch, SAID)
    return EngineShapes(engine, kept, [rows.slice(0, cut)])


def assert_same(engine: Engine) -> None:
    """The engine's sums, tallies and rules are those in memory."""
    said = tallies(300, random.Random(4))
    held, shapes = HeldShapes(said, CARE), shapes_with(engine, said)
    assert shapes.families() == held.families()
    assert sorted(shapes.proved(30)) == sorted(held.proved(30))
    some = [each.shape for each in held.proved(30)][:5]
    assert list(shapes.tallies(some)) == list(held.tallies(some))
    rules = rules_across(said, CARE)
    assert len(rules) > 10
    assert sum(bool(rule.except_sites) for rule in rules) > 3
    assert rules_of_shapes(shapes, CARE) == rules
    assert rules_of_shapes(EngineShapes(engine, SAID.empty_table()), CARE) == ()


@pytest.mark.parametrize("held", [0.125, 1e-9])
def test_an_engine_adds_up_what_memory_does(
    held: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory and on disk."""
    monkeypatch.setattr(spool, "HELD_SHARE", held)
    with LocalEngine("1GB", 1, str(tmp_path)) as engine:
        assert_same(engine)


def crawl() -> pa.Table:
    """Sites with a rule, sites that are learned from and give none, and sites without duplicates."""
    rows = [
        {"url": f"http://d{site}.test/p{page}{end}", "digest": f"{site}-{page}"}
        for site in range(6)
        for page in range(12)
        for end in ("", f"?sid={page * 7 + site}")
    ]
    rows += [
        {"url": f"http://o{site}.test/{page}", "digest": f"o{site}-{page % 2}"}
        for site in range(9)
        for page in range(4)
    ]
    rows += [{"url": f"http://q{site}.test/", "digest": f"q{site}"} for site in range(20)]
    return table_of(pa.Table.from_pylist(rows))


def test_sites_without_rules_leave_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted: the rules and the counts of all sites are the same."""
    learn = partial(combined.learn_combined, crawl(), threads=1, keep_refused=False)
    one_by_one = learn()
    monkeypatch.setattr(combined, "COUNTED_TOGETHER", 10)
    together = learn()
    assert {site.site for site in together.sites} == {f"d{number}.test" for number in range(6)}
    assert together.rules.dumps() == one_by_one.rules.dumps()
    assert [rule.site for rule in together.rules].count("*") == len(together.across) > 0
    counts = together.as_json()
    assert (counts.pop("sites_without_duplicates"), counts.pop("sites_without_rules")) == (20, 9)
    alone = one_by_one.as_json()
    # Those of sites without duplicates were never made.
    for name in ("candidates", "rejected"):
        counts.pop(name), alone.pop(name)
    assert counts == alone
    assert together.site_counts == one_by_one.site_counts
    # A report counts all sites itself.
    reported = replace(together, totals=one_by_one.totals, is_by_all=True)
    assert reported.all_totals == one_by_one.all_totals


@pytest.mark.parametrize("keeps_values", [False, True])
def test_sites_with_rules_lie_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, keeps_values: bool
) -> None:
    """The rules and the counts are those of sites in memory, whatever order they came in; nothing stays."""
    log = [
        {"url": f"http://l{site}.test/{n}?sid={n}{end}"}
        for site in range(4)
        for n in range(40)
        for end in "ab"
    ]
    rows = pa.concat_tables([crawl(), table_of(pa.Table.from_pylist(log))])
    learn = partial(combined.learn_combined, rows, keep_values=keeps_values, keep_refused=False)
    one_by_one = learn()
    monkeypatch.setattr(combined, "COUNTED_TOGETHER", 10)
    monkeypatch.setattr(temporary, "HELD_LINE_BYTES", 4096)
    with LocalEngine("1GB", 1, str(tmp_path)) as engine:
        together = learn(engine=engine)
        # What is masked has numbers of its own on each site, for the memory must not grow with the sites.
        bytes_of = [re.sub(rb"[*]{3}[0-9]+", b"***", each.rules.dumps()) for each in (together, one_by_one)]
        assert bytes_of[0] == bytes_of[1]
        if keeps_values:
            assert together.rules.dumps() == one_by_one.rules.dumps()
    assert list(tmp_path.iterdir()) == []
    assert len(together.proposed) == len(one_by_one.proposed) > 0
    by_site = together.by_site()
    assert by_site == {site: one_by_one.by_site()[site] for site in by_site}
    assert list(by_site) == sorted(by_site)
    assert together.sites[-1] == next(site for site in one_by_one.sites if site.site == list(by_site)[-1])
    held = together.rules.with_rules(together.rules)
    for path in (f"{tmp_path}/parts/", f"{tmp_path}/rules.json"):
        together.rules.save(path)
        held.save(path.replace("/parts/", "/expected/").replace("rules.json", "expected.json"))
    assert (tmp_path / "rules.json").read_bytes() == (tmp_path / "expected.json").read_bytes()
    parts, expected = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("parts", "expected")
    )
    assert parts == expected
