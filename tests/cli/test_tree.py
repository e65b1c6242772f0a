"""`undust tree`: a site's URL scheme that a person can read, with whatever is known about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import run, sentence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WIDTH = 100


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop with items in two forms, a small wiki, and a site of one page."""
    rows = []
    for number in range(60):
        rows.append((f"http://www.shop.test/item/{number}", f"item {number}"))
        rows.append((f"http://www.shop.test/show.php?id={number}&sid={number * 77}", f"item {number}"))
    rows += [(f"http://www.shop.test/help/topic-{number}.html", f"help {number}") for number in range(30)]
    rows += [(f"http://wiki.test/Page_{number}", f"page {number}") for number in range(20)]
    rows.append(("http://tiny.test/", "tiny"))
    path = tmp_path_factory.mktemp("crawl") / "seen.jsonl"
    path.write_text("".join(json.dumps({"url": u, "digest": d}) + "\n" for u, d in rows), encoding="utf-8")
    return path


def test_the_largest_sites_come_first_and_their_number_is_said(crawl: Path) -> None:
    """Two of three sites are shown, and how to see more."""
    ended = run("tree", crawl, "--sites", "2")
    text = ended.out.decode()
    assert ended.code == 0
    headings = [line.partition(":")[0] for line in text.splitlines() if " URLs after normalization, " in line]
    assert headings == ["shop.test", "wiki.test"]
    assert "The 2 largest of 3 sites" in text


def test_forms_have_share_duplicates_and_an_example(crawl: Path) -> None:
    """The three forms of the shop, each on a line of at most a hundred columns."""
    lines = run("tree", crawl, "--site", "shop.test").out.decode().splitlines()
    assert max(map(len, lines)) <= WIDTH
    (show,) = [line for line in lines if "/show.php?id=*&sid=*" in line]
    assert show.split()[:4] == ["40", "%", "0", "%"]
    assert "/show.php?id=" in show.rpartition("  ")[2]
    root = next(line for line in lines if line.startswith("100 %"))
    assert root.split()[2:4] == ["40", "%"]


def test_json_has_every_branch(crawl: Path) -> None:
    """The same tree, unfolded, for programs; the children of a branch hold all its URLs."""
    told = json.loads(run("tree", crawl, "--json", "--sites", "1").out)
    assert (told["sites"], told["shown"]) == (3, 1)
    (tree,) = told["trees"]
    assert (tree["site"], tree["urls"]) == ("shop.test", 150)

    def check(branch: dict[str, object]) -> None:
        children = branch["children"]
        assert isinstance(children, list)
        if children:
            assert sum(child["urls"] for child in children) == branch["urls"]
        for child in children:
            check(child)

    check(tree["tree"])
    assert tree["tree"]["duplicate_rate"] == pytest.approx(0.4)


def test_a_plain_list_of_urls_is_enough(tmp_path: Path) -> None:
    """Without evidence the forms are shown all the same, and nobody pretends to know the duplicates."""
    path = tmp_path / "urls.txt"
    path.write_text("".join(f"http://a.test/news/{n}\n" for n in range(30)), encoding="utf-8")
    text = run("tree", path).out.decode()
    assert "no evidence of duplicates" in text
    assert "dup." not in text
    assert "/news/*" in text


def test_an_unknown_site_is_one_sentence(crawl: Path) -> None:
    """The sentence names the site there is most of."""
    assert "shop.test" in sentence(run("tree", crawl, "--site", "nowhere.test"))


def test_an_input_without_a_url_says_so(tmp_path: Path) -> None:
    """Nothing to show is no error, and no crash."""
    path = tmp_path / "none.csv"
    path.write_text("url\nnot a url\n", encoding="utf-8")
    ended = run("tree", path, "--json")
    assert ended.code == 0
    assert json.loads(ended.out) == {"sites": 0, "shown": 0, "trees": []}


def test_strange_urls_are_counted(tmp_path: Path) -> None:
    """A user name in a URL is no form of the site, and odd bytes are no problem."""
    path = tmp_path / "urls.txt"
    path.write_bytes(b"http://u@a.test/x\nhttp://a.test/caf\xe9?q=%zz;&&=\nhttp://a.test//..//\n")
    text = run("tree", path).out.decode()
    assert "1 of no usual form" in text


@pytest.mark.parametrize("name", ["crawls/docs.jsonl.gz", "crawls/smf.jsonl.gz"])
def test_real_sites_fit_a_page(name: str, needs_data: Callable[[str], Path]) -> None:
    """A real site reads at a hundred columns, in no more lines than a person reads."""
    lines = run("tree", needs_data(name), "--min-share", "2").out.decode().splitlines()
    assert 5 < len(lines) < 80
    assert max(map(len, lines)) <= WIDTH


def test_a_site_that_is_not_there_is_told_even_of_nothing(tmp_path: Path) -> None:
    """Without a single URL there is no largest site to name."""
    path = tmp_path / "empty.csv"
    path.write_text("url\n", encoding="utf-8")
    assert "there is no URL in it" in sentence(run("tree", path, "--site", "a.test"))
