"""Methods side by side: nothing leaks, nothing is faked, and what cannot be compared is said so."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner

import undust
from tests.measuring.sites import Drops, Names, labelled, shuffled_labels
from undust.cli import main
from undust.errors import UndustError
from undust.measuring import methods
from undust.measuring.compare import Meter, methods_named
from undust.proposing import papers
from undust.proposing.papers import LEARNERS, Learner

if TYPE_CHECKING:
    from pathlib import Path

    from undust.measuring.compare import Comparison, MethodRow

FIXED = ("none", "standard", "drop-query")


@pytest.fixture
def drops(monkeypatch: pytest.MonkeyPatch) -> Drops:
    """The simple learner, beside those there are."""
    learner = Drops()
    monkeypatch.setattr(papers, "LEARNERS", (*LEARNERS, Learner("drops", learner.propose, Names)))
    return learner


def row_of(found: Comparison, method: str) -> MethodRow:
    """The row of a method."""
    return next(row for row in found.rows if row.method == method)


@pytest.mark.usefixtures("drops")
def test_rows_by_hand() -> None:
    """Nothing removes nothing, the learner removes all sessions, and dropping the query loses the lists."""
    found = undust.compare(labelled(), [*FIXED, "drops"])
    assert [row.method for row in found.rows] == ["none", "standard", "drop-query", "drops"]
    nothing, learned, careless = (row_of(found, name) for name in ("none", "drops", "drop-query"))
    assert (nothing.total.removed, nothing.total.canonical_urls) == (0.0, found.test_urls)
    assert (learned.total.removed, learned.total.lost) == (1.0, 0.0)
    assert (learned.candidates, learned.valid, learned.rules) == (4, 2, 2)
    assert learned.ranking.valid == (False, False, True, True)
    lists = found.test_pages - careless.total.canonical_urls + 2
    assert (careless.total.removed, careless.total.lost_pages) == (1.0, lists - 2)
    assert set(learned.sites) == {"a.test", "b.test"}
    assert learned.macro(lambda one: one.removed) == 1.0
    assert learned.duplicates_only.urls < learned.total.urls
    assert found.train_urls + found.test_urls == labelled().num_rows
    assert learned.published is None  # no paper says how it applies its rules


def test_no_page_is_on_both_sides(drops: Drops) -> None:
    """What is shown to a learner, what proves its candidates and what judges them share no label."""
    table = labelled()
    page_of = dict(zip(*(table[name].to_pylist() for name in ("url", "cluster")), strict=True))
    for seed in range(3):
        drops.shown.clear()
        found = undust.compare(table, ["drops"], seed=seed)
        seen = {url for site in drops.shown for url in site.urls.to_pylist()}
        assert len(seen) < found.train_urls  # some were kept for the proof
        for site, one in row_of(found, "drops").sites.items():
            mine = {page_of[url] for url in seen if f"//{site}/" in url}
            everything = {page for url, page in page_of.items() if f"//{site}/" in url}
            assert one.clusters <= len(everything - mine)


@pytest.mark.usefixtures("drops")
def test_shuffled_labels_leave_nothing_to_learn() -> None:
    """Without any truth in the labels no method compresses the unseen URLs."""
    table = labelled(pages=120)
    names = [method.name for method in methods_named() if method.learns]
    honest, shuffled = (undust.compare(one, ["standard", *names]) for one in (table, shuffled_labels(table)))
    assert row_of(honest, "drops").total.compression_rate > 0.3
    for name in names:
        plain = row_of(shuffled, "standard").total.compression_rate
        assert row_of(shuffled, name).total.compression_rate <= plain + 0.01, name


def test_labels_apart_are_seen_by_nobody(drops: Drops) -> None:
    """Methods learn from digests; the labels only judge, and no judged URL was ever shown."""
    table = labelled()
    digests = pa.table({"url": table["url"], "digest": table["cluster"]})
    found = undust.compare(digests, ["drops"], labels=table)
    assert row_of(found, "drops").total.removed == 1.0
    assert all((site.label < 0).all() for site in drops.shown)
    assert found.train_urls + found.test_urls == table.num_rows
    # Labels that contradict the digests change the judgement and nothing else.
    wrong = undust.compare(digests, ["drops"], labels=shuffled_labels(table))
    assert row_of(wrong, "drops").total.removed < 0.2


@pytest.mark.usefixtures("drops")
def test_a_sweep_shows_each_bound() -> None:
    """One row a bound for those who learn, one for the others; a looser bound accepts no fewer."""
    noisy = labelled().to_pylist()
    for number, row in enumerate(noisy[::7]):
        row["cluster"] = f"noise {number}"
    bounds = (0.0, 0.01, 0.2, 1.0)
    found = undust.compare(pa.Table.from_pylist(noisy), ["standard", "drops"], max_fpr=bounds)
    assert [(row.method, row.max_fpr) for row in found.rows] == [
        ("standard", None),
        *(("drops", bound) for bound in bounds),
    ]
    valid = [row.valid for row in found.rows[1:]]
    assert valid == sorted(valid)
    assert valid[0] < valid[-1]


def test_refusals() -> None:
    """Unlabelled, one page only, labels of other sites, a method that is not there: one sentence each."""
    urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3"]
    with pytest.raises(UndustError, match="says of no URL which page it shows; it needs a column"):
        undust.compare(pa.table({"url": urls}))
    with pytest.raises(UndustError, match="show one page, and a comparison needs pages to learn from"):
        undust.compare(pa.table({"url": urls, "cluster": ["A"] * 3}))
    with pytest.raises(UndustError, match=r"labels are for b\.test and the input is of a\.test"):
        undust.compare(
            pa.table({"url": urls}), labels=pa.table({"url": ["http://b.test/"], "cluster": ["B"]})
        )
    with pytest.raises(UndustError, match="have no column 'cluster'; they need 'url' and 'cluster'"):
        undust.compare(pa.table({"url": urls}), labels=pa.table({"url": urls}))
    with pytest.raises(UndustError, match="there is no method 'magic'; there are none, standard, "):
        undust.compare(labelled(), ["magic"])
    with pytest.raises(UndustError, match="left no page to judge by; give more of the site, or another"):
        undust.compare(pa.table({"url": urls, "cluster": ["A", "B", "C"]}), test=1e-9)


def test_what_is_not_installed_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A baseline without its package is no row, rather than an empty or an invented one."""
    absent = {"w3lib", "duplicate_url_discarder_rules"}
    monkeypatch.setattr(methods, "find_spec", lambda name: None if name in absent else find_spec(name))
    names = [method.name for method in methods_named()]
    assert not {"w3lib", "duplicate-url-discarder"} & set(names)
    assert "drop-query" in names


def test_a_baseline_that_fails_leaves_the_url() -> None:
    """Nothing raises on a strange URL, whatever other libraries do."""

    def canonicalize(url: str) -> str:
        raise ValueError(url)

    assert methods.careful(canonicalize)("http://[") == "http://["


def test_baselines_take_any_url() -> None:
    """Those that are installed give a text for every text, and need no network."""
    for _, make in methods.baselines():
        image = make()
        assert all(
            isinstance(image(url), str) for url in ("http://a.test/?b=1#c", "http://[", "", "x y", "//")
        )


@pytest.mark.usefixtures("drops")
def test_same_rows_whatever_the_order_and_the_threads() -> None:
    """Only the seed, seconds and memory change a row."""
    table = labelled(pages=30)
    backwards = table.take(pa.array(range(table.num_rows - 1, -1, -1)))
    first, second = (
        undust.compare(one, [*FIXED, "drops"], threads=threads)
        for one, threads in ((table, 1), (backwards, 2))
    )
    assert [row.sites for row in first.rows] == [row.sites for row in second.rows]
    other = undust.compare(table, ["none"], seed=1)
    assert other.rows[0].sites != first.rows[0].sites


def test_meter_forgets_what_was_before() -> None:
    """Memory that was given back before a method ran is not laid at its door."""
    big = bytearray(300_000_000)
    big[:: 1 << 12] = b"x" * len(big[:: 1 << 12])
    with Meter() as with_it:
        pass
    del big
    with Meter() as without:
        sum(range(1000))
    assert without.seconds > 0
    assert without.peak_memory_bytes < with_it.peak_memory_bytes - 100_000_000


PROMISED = (
    "urls canonical_urls clusters compression_rate dup_reduction_rate reduction_ratio coverage removed lost "
    "support_pairs false_positive_pairs fpr rules seconds peak_memory_bytes method candidates valid "
    "train_urls test_urls qualified_rate precision_at intervals macro duplicates_only by_site as_published"
)


@pytest.mark.usefixtures("drops")
def test_command(tmp_path: Path) -> None:
    """`undust compare` prints a table that fits, and JSON with the promised names."""
    path = tmp_path / "labelled.csv"
    table = labelled(pages=200, sites=("a.test",))
    rows = zip(*(table[name].to_pylist() for name in ("url", "cluster")), strict=True)
    path.write_text("url,page\n" + "".join(f"{url},{page}\n" for url, page in rows), encoding="utf-8")
    arguments = ["compare", str(path), "--column", "cluster=page"]
    shown = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert shown.exit_code == 0
    assert max(map(len, shown.output.splitlines())) <= 100
    assert all(method.name in shown.output for method in methods_named())
    swept = [*arguments, "--method", "none", "--method", "drops", "--max-fpr", "0..0.1"]
    told = json.loads(CliRunner().invoke(main, [*swept, "--json"], catch_exceptions=False).output)
    assert [row["max_fpr"] for row in told["rows"][1:]] == [step / 100 for step in range(11)]
    for row in told["rows"]:
        assert set(PROMISED.split()) <= row.keys()
    assert told["rows"][1]["removed"] == 1.0
    assert told["rows"][1]["precision_at"]["10"] == 0.5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--max-fpr", "much"], "is not a share from 0 to 1"),
        (["--max-fpr", "0..2"], "is not a share from 0 to 1"),
        (["--option", "bucket=6"], "is not LEARNER.OPTION=VALUE"),
        (["--test", "1"], "--test"),
    ],
)
def test_wrong_usage(wrong: list[str], said: str) -> None:
    """What an option cannot be is said before anything is read."""
    done = CliRunner().invoke(main, ["compare", "nothing.csv", *wrong])
    assert done.exit_code == 2
    assert said in done.output
