"""`undust signatures`: the published tables come out, and the text is readable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.command import run, sentence
from tests.reading.formats.archives import Answer, by_warcio, page
from undust.jobs.signatures import reduction_rate
from undust.measuring.measures import Contingency

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Soon and Lee 2009, tables 4, 5 and 8: true positives, false negatives, false positives, true negatives.
PUBLISHED = {
    "standard": (168, 1511, 0, 3578),
    "body_text": (1679, 0, 235, 3343),
    "body_text_and_size": (1206, 473, 235, 3343),
}
# Tables 6 and 9: sensitivity, specificity, precision, accuracy.
RATES = {
    "standard": ("10.01%", "100.00%", "100.00%", "71.26%"),
    "body_text": ("100.00%", "93.43%", "87.72%", "95.53%"),
    "body_text_and_size": ("71.83%", "93.43%", "83.69%", "86.53%"),
}
# Table 10: regular, standard, and signature on top.
SITES = {
    "Arirang": (1017, 1016, 816),
    "BT": (849, 848, 134),
    "CNN": (594, 593, 531),
    "MMU": (891, 728, 598),
    "Weather": (1906, 1904, 1278),
}


@pytest.mark.parametrize("step", PUBLISHED)
def test_published_rates_follow_from_the_published_counts(step: str) -> None:
    """ALGORITHMS 9."""
    table = Contingency(*PUBLISHED[step])
    rates = (table.sensitivity, table.specificity, table.precision, table.accuracy)
    assert tuple(f"{rate:.2%}" for rate in rates) == RATES[step]


def test_published_reductions_follow_from_the_published_counts() -> None:
    """With |U_reg| below the line, as the numbers show, and not |U_std|, as the formula says."""
    regular, standard, final = (sum(counts) for counts in zip(*SITES.values(), strict=True))
    assert (regular, standard, final) == (5257, 5089, 3357)
    assert f"{reduction_rate(regular, standard):.2%}" == "3.20%"
    assert f"{reduction_rate(regular, final):.2%}" == "36.14%"
    assert f"{reduction_rate(regular, final) - reduction_rate(regular, standard):.2%}" == "32.95%"
    assert f"{(standard - final) / regular:.2%}" == "32.95%"  # 36.14 - 3.20 of rounded numbers is 32.94
    assert f"{reduction_rate(standard, final):.2%}" == "34.03%"
    assert f"{reduction_rate(891, 728):.2%}" == "18.29%"


def crawl_of_the_paper() -> Iterator[dict[str, Any]]:
    """A crawl with the counts of the paper: 3,578 pages under 5,257 URLs."""
    for number in range(3578):
        # The last 235 pages have the text and size of another one.
        text = number if number < 3343 else number - 3343
        row = {"digest": f"{text:032x}", "size": 1000 + text, "cluster": f"page {number}", "status": 200}
        yield row | {"url": f"http://site.test/~page/{number}"}
        if 1000 <= number < 1000 + 168:  # known by syntax alone
            yield row | {"url": f"http://SITE.test:80/%7Epage/{number}"}
        elif 1000 + 168 <= number < 1000 + 1206:
            yield row | {"url": f"http://site.test/~page/{number}/index.html"}
        elif 1000 + 1206 <= number < 1000 + 1679:  # one kilobyte more or less
            yield row | {"url": f"http://site.test/~page/{number}/index.html", "size": 9000 + number}


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crawl of the paper as JSON lines."""
    path = tmp_path_factory.mktemp("paper") / "crawl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in crawl_of_the_paper()), encoding="utf-8")
    return path


def test_experiment_gives_the_published_tables(paper: Path) -> None:
    """From rows to every count and rate, through the command."""
    ended = run("signatures", paper, "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert found["regular_urls"] == found["labelled_urls"] == 5257
    cells = ("true_positives", "false_negatives", "false_positives", "true_negatives")
    rates = ("sensitivity", "specificity", "precision", "accuracy")
    by_step = {step["step"]: step for step in found["steps"]}
    assert {name: tuple(step[cell] for cell in cells) for name, step in by_step.items()} == PUBLISHED
    assert {name: tuple(f"{step[rate]:.2%}" for rate in rates) for name, step in by_step.items()} == RATES
    assert [step["urls"] for step in found["steps"]] == [5089, 3343, 3816]
    assert [f"{step['reduction_rate']:.2f}" for step in found["steps"]] == ["0.03", "0.36", "0.27"]
    assert by_step["body_text"]["reduction_rate_of_standard"] == (5089 - 3343) / 5089
    assert found["sites"] == [
        {
            "site": "site.test",
            "regular": 5257,
            "standard": 5089,
            "body_text": 3343,
            "body_text_and_size": 3816,
        }
    ]


def test_text_is_readable_at_100_columns(paper: Path) -> None:
    """Every number of the paper is there, and no line is wider than a page."""
    ended = run("signatures", paper)
    assert ended.code == 0
    text = ended.out.decode()
    assert max(map(len, text.splitlines())) <= 100
    assert text.startswith("5,257 regular URLs\n")
    for piece in ("1,679", "235", "3,343", "36.41%", "87.72%", "95.53%", "site.test"):
        assert piece in text


def test_order_of_rows_changes_nothing(paper: Path, tmp_path: Path) -> None:
    """Backwards is the same."""
    backwards = tmp_path / "backwards.jsonl"
    backwards.write_text("".join(reversed(paper.read_text().splitlines(keepends=True))))
    assert run("signatures", paper, "--json").out == run("signatures", backwards, "--json").out


def test_without_labels_only_what_needs_no_truth(tmp_path: Path) -> None:
    """Pages out of an archive, their text read: counts and rates, and no contingency table."""
    answers = [
        Answer("http://a.test/x", page("same text")),
        Answer("http://a.test/x?sid=1", page("same  <b>text</b>")),
        Answer("http://a.test:80/x#top", page("same text")),
        Answer("http://a.test/empty", page("")),
        Answer("http://a.test/void", page("")),
        Answer("http://b.test/x", page("same text")),
        Answer("http://a.test/gone", page("not found"), status="404 Not Found"),
    ]
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(by_warcio(answers))
    found = json.loads(run("signatures", path, "--json").out)
    assert (found["regular_urls"], found["left_out"], found["without_signature"]) == (6, 1, 2)
    assert [step["urls"] for step in found["steps"]] == [5, 4, 5]
    assert "sensitivity" not in found["steps"][0]
    assert [(site["site"], site["body_text"]) for site in found["sites"]] == [("a.test", 3), ("b.test", 1)]
    text = run("signatures", path, "-q").out.decode()
    assert "sensitivity" not in text
    assert "6 regular URLs; 1 others left out; 2 have no signature and merge with none" in text


def test_regular_urls_are_in_every_session(tmp_path: Path) -> None:
    """With --sessions each file is a crawl, and what one of them lacks does not count."""
    for name, numbers in {"1": (1, 2, 3), "2": (2, 3, 4), "3": (3, 2, 9)}.items():
        rows = [{"url": f"http://a.test/{number}", "digest": "D"} for number in numbers]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    together = json.loads(run("signatures", tmp_path, "--json").out)
    assert (together["sessions"], together["regular_urls"]) == (1, 5)
    found = json.loads(run("signatures", "--sessions", tmp_path, "--json").out)
    assert (found["sessions"], found["regular_urls"], found["left_out"]) == (3, 2, 3)


def test_nothing_to_read_is_no_problem(tmp_path: Path) -> None:
    """An empty file is a crawl of nothing; a missing one is a sentence."""
    (tmp_path / "empty.jsonl").write_bytes(b"")
    found = json.loads(run("signatures", tmp_path / "empty.jsonl", "--json").out)
    assert found["regular_urls"] == 0
    assert run("signatures", tmp_path / "empty.jsonl").code == 0
    assert sentence(run("signatures", tmp_path / "none.jsonl")).endswith(
        "there is no such file; check the name"
    )
