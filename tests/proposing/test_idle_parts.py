"""What is proposed of parameters."""

from __future__ import annotations

import pyarrow as pa

import undust
from undust.edits import making
from undust.judging import KeyState, Site
from undust.proposing import SeenSite
from undust.proposing.idle_parts import on_any_path
from undust.searching import learn_site


def seen(pages: dict[str, str]) -> Site:
    """Labelled URLs as a site."""
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table)
    return Site.of(found)


FOLDERS = ("", "books/", "music/", "books/old/", "maps/", "news/", "help/", "shop/")
INDEX = {f"http://a.test/{folder}p?idx=n{n}": f"i{n}" for n in range(40) for folder in FOLDERS[n % 3 :: 3]}
PAGES = {f"http://a.test/{folder}p?v=n{n}": f"{folder}{n}" for n in range(20) for folder in FOLDERS}


def test_a_parameter_that_names_the_page_on_every_path() -> None:
    """Only where pages show it."""
    both = SeenSite(KeyState(seen(INDEX | PAGES)))
    assert [edit.text for edit in on_any_path(both)] == [making.on_any_path("idx").text]


def test_the_path_is_left_out_of_keys_where_it_says_nothing() -> None:
    """It is learned, by key alone, and nothing is lost of pages that the path names."""
    learned = learn_site(seen(INDEX | PAGES))
    assert learned.lost == 0
    rules = undust.RuleSet(learned.rules).compile()
    assert rules.key("http://a.test/maps/p?idx=new") == rules.key("http://a.test/help/q?idx=new")
    assert rules.key("http://a.test/maps/p?v=new") != rules.key("http://a.test/help/p?v=new")
    assert rules.canonical("http://a.test/maps/p?idx=new") == "http://a.test/maps/p?idx=new"
