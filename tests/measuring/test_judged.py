"""A rule set on labelled URLs: totals, sites, single rules, and what is refused."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

import undust
from undust.cli import main
from undust.errors import UndustError

RULES = undust.RuleSet(
    [
        undust.Rule.parse(
            "rewrite {s}://{h}/{p**}?{**:sid}&{rest**} → {s}://{h}/{p}?{rest}", site="shop.test"
        ),
        undust.Rule.parse('replace "/old/" → "/new/"', site="shop.test"),
        undust.Rule.parse("rewrite {s}://{h}/list?page={*} → {s}://{h}/list", site="shop.test"),
    ]
)
LABELLED: dict[str, str | None] = {
    "http://shop.test/a": "A",
    "http://shop.test/a?sid=1": "A",
    "HTTP://SHOP.test/a?sid=2": "A",
    "http://shop.test/new/b": "B",
    "http://shop.test/old/b": "B",
    "http://shop.test/list?page=1": "L1",
    "http://shop.test/list?page=2": "L2",
    "http://other.test/": "O",
}


def seen(labelled: dict[str, str | None]) -> pa.Table:
    """Return observations with labels and nothing else."""
    schema = pa.schema([("url", pa.string()), ("cluster", pa.string()), ("sketch", pa.list_(pa.uint32()))])
    rows = [{"url": url, "cluster": page, "sketch": None} for url, page in labelled.items()]
    return pa.Table.from_pylist(rows, schema)


def test_totals_sites_and_rules() -> None:
    """Three of three duplicates are gone, and one page of five is lost, by the rule that says so."""
    found = undust.evaluate(RULES, seen({**LABELLED, "http://shop.test/unknown": None}))
    assert (found.total.urls, found.total.clusters, found.total.canonical_urls) == (8, 5, 4)
    assert (found.total.removed, found.total.lost) == (1.0, 0.2)
    assert sorted(found.sites) == ["other.test", "shop.test"]
    assert found.macro(lambda one: one.lost) == pytest.approx(0.125)
    assert (found.unlabelled, found.active) == (1, 3)
    assert [(row.kind, row.saved, row.lost) for row in found.rules] == [
        ("irrelevant component", 2, 0),
        ("substitution", 1, 0),
        ("irrelevant component", 1, 1),
    ]
    assert [(row.name, row.saved) for row in found.classes] == [
        ("substitution", 1),
        ("irrelevant component", 3),
        ("general", 0),
    ]
    assert (found.duplicates_only.urls, found.duplicates_only.lost_pages) == (5, 0)


def test_a_rule_is_measured_with_the_keeps_before_it() -> None:
    """What a `keep` shields from a rule is no loss of that rule."""
    keep = undust.Rule.parse("keep {s}://{h}/list?{rest**}", site="shop.test")
    found = undust.evaluate(undust.RuleSet([keep, *RULES]), seen(LABELLED))
    assert [(row.saved, row.lost) for row in found.rules] == [(2, 0), (1, 0), (0, 0)]


def test_a_near_copy_under_a_label_of_its_own_is_no_loss() -> None:
    """Sketches beside the labels tell what two pages have in common."""
    table = seen(LABELLED)
    near = {"L1": list(range(32)), "L2": [99, *range(1, 32)]}
    sketches = pa.array([near.get(page) for page in table["cluster"].to_pylist()], pa.list_(pa.uint32()))
    found = undust.evaluate(RULES, table.set_column(2, "sketch", sketches))
    assert (found.total.lost_pages, found.total.lost_unlike) == (1, 0)
    assert undust.evaluate(RULES, table).total.lost_unlike == 1


def test_without_labels_the_evidence_tells_the_pages() -> None:
    """Equal digests make a page, and what has no evidence is judged nowhere."""
    table = pa.table(
        {
            "url": [
                "http://shop.test/a",
                "http://shop.test/a?sid=1",
                "http://shop.test/b",
                "http://shop.test/c",
            ],
            "status": pa.array([200] * 4, pa.int16()),
            "digest": ["d" * 32, "d" * 32, "e" * 32, None],
        }
    )
    found = undust.evaluate(RULES, table)
    assert (found.total.urls, found.total.clusters, found.unlabelled) == (3, 2, 1)
    assert found.total.removed == 1.0


def test_refusals() -> None:
    """No label at all, two labels for one URL, no site in common: one sentence each."""
    with pytest.raises(UndustError, match="says of no URL which page it shows"):
        undust.evaluate(RULES, pa.table({"url": ["http://shop.test/"]}))
    twice = pa.concat_tables([seen({"http://shop.test/": "A"}), seen({"http://shop.test/": "B"})])
    with pytest.raises(UndustError, match="has the labels 'A' and 'B'; give each URL one"):
        undust.evaluate(RULES, twice)
    with pytest.raises(UndustError, match=r"rules are for shop\.test and the input is of other\.test"):
        undust.evaluate(RULES, seen({"http://other.test/": "O"}))


def test_row_order_and_threads_change_nothing() -> None:
    """The same figures, however the rows are ordered."""
    backwards = dict(reversed(LABELLED.items()))
    assert undust.evaluate(RULES, seen(LABELLED)) == undust.evaluate(RULES, seen(backwards), threads=2)


def test_command(tmp_path: pytest.TempPathFactory) -> None:
    """`undust evaluate` prints tables for people, and JSON with the promised names."""
    rules, labelled = f"{tmp_path}/rules.json", f"{tmp_path}/labelled.csv"
    RULES.save(rules)
    with open(labelled, "w", encoding="utf-8") as file:  # noqa: PTH123 -- a fixture's path is a text here
        file.write("url,page\n" + "".join(f"{url},{page}\n" for url, page in LABELLED.items()))
    arguments = ["evaluate", rules, labelled, "--column", "cluster=page"]
    shown = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert shown.exit_code == 0
    assert "standard normalization removes 0 of the 3 duplicates, the 3 rules remove 3 more" in shown.output
    assert max(map(len, shown.output.splitlines())) <= 100
    told = json.loads(CliRunner().invoke(main, [*arguments, "--json"], catch_exceptions=False).output)
    promised = (
        "urls canonical_urls clusters compression_rate dup_reduction_rate reduction_ratio coverage removed "
        "lost support_pairs false_positive_pairs fpr rules seconds peak_memory_bytes"
    )
    assert set(promised.split()) <= told.keys()
    assert (told["urls"], told["rules"], told["removed"]) == (8, 3, 1.0)


def test_rules_of_another_version(tmp_path: pytest.TempPathFactory) -> None:
    """A rule file that this undust cannot read ends the command with one sentence, and nothing measured."""
    rules, labelled = f"{tmp_path}/rules.json", f"{tmp_path}/labelled.csv"
    with open(rules, "w", encoding="utf-8") as file:  # noqa: PTH123 -- a fixture's path is a text here
        json.dump({"format": "undust-rules", "version": 99, "rules": []}, file)
    with open(labelled, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("url,cluster\nhttp://shop.test/,A\n")
    done = CliRunner().invoke(main, ["evaluate", rules, labelled])
    assert done.exit_code == 1
    (said,) = done.output.splitlines()
    assert rules in said
    assert "99" in said
