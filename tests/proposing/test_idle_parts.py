"""What is proposed of parameters."""

from __future__ import annotations

import pyarrow as pa

import undust
from undust.edits import making
from undust.judging import KeyState, Site
from undust.proposing import SeenSite, swaps
from undust.proposing.idle_parts import lone_parameters, on_any_path, on_one_path
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


def test_a_parameter_may_mean_something_only_beside_others() -> None:
    """`ns` does nothing on a page, and chooses what a list shows."""
    pages = {f"http://a.test/p{n}": f"p{n}" for n in range(60)}
    pages |= {f"http://a.test/p{n}?ns=n{n % 7}": f"p{n}" for n in range(60)}
    pages |= {f"http://a.test/p{n}?do=list&ns=n{m}": f"l{n} {m}" for n in range(20) for m in range(4)}
    site = seen(pages)
    assert [edit.text for edit in lone_parameters(SeenSite(KeyState(site)))] == [
        making.dropped_alone("ns").text
    ]
    learned = learn_site(site)
    rules = undust.RuleSet(learned.rules).compile()
    assert learned.lost == 0
    assert rules.canonical("http://a.test/new?ns=n1") == "http://a.test/new"
    assert rules.key("http://a.test/new?do=list&ns=n1") != rules.key("http://a.test/new?do=list&ns=n2")


def test_a_product_in_any_category_is_at_one_place() -> None:
    """With the parameter that has to be said there."""
    pages = {f"http://a.test/c-{name}?id={n}": f"p{n}" for n in range(80) for name in ("box", f"x{n % 9}")}
    pages |= {f"http://a.test/index.php?id={n}&route=item": f"p{n}" for n in range(80)}
    pages |= {f"http://a.test/index.php?id={n}&route=list": f"l{n}" for n in range(80)}
    site = seen(pages)
    texts = [edit.text for edit in on_one_path(SeenSite(KeyState(site)))]
    assert texts == [making.on_one_path(1, "id", ["index.php"], ["route=item"]).text]
    learned = learn_site(site)
    assert learned.lost == 0
    rules = undust.RuleSet(learned.rules).compile()
    product = rules.key("http://a.test/c-new?id=900")
    assert product == rules.key("http://a.test/index.php?id=900&route=item")
    assert product != rules.key("http://a.test/index.php?id=900&route=list")


def test_a_sign_at_the_end_of_urls_is_removed() -> None:
    """The other direction of what is written at an end keeps its anchor; words there are left to others."""
    pages = {f"http://a.test/x?b={n}&a=1{end}": f"p{n}" for n in range(9) for end in ("", "&", ".old")}
    texts = [edit.text for edit in swaps(SeenSite(KeyState(seen(pages))))]
    assert 'replace "&$" → ""' in texts
    assert 'replace ".old$" → ""' not in texts
