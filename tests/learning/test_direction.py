"""Which of a page's forms the rules lead to: what the site serves, and what it prefers."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

import undust
from undust.learning.site_pages import Statements, unseen_target_share
from undust.learning.texts import turned
from undust.rules import Rule


def crawl(*rows: tuple[str, str]) -> pa.Table:
    """URLs with what they show."""
    urls, contents = zip(*rows, strict=True)
    return pa.table({"url": urls, "digest": contents})


def told(rows: list[dict[str, object]]) -> pa.Table:
    """URLs with what the site says of them."""
    names = ("url", "status", "digest", "canonical", "redirect")
    return pa.table({name: [row.get(name) for row in rows] for name in names})


@pytest.mark.parametrize(
    ("rule", "ways"),
    [
        (
            "rewrite {s}://{h}/{p**}/{x}.html?{rest**} → {s}://{h}/{p}/{x}?{rest}",
            ["rewrite {s}://{h}/{p**}/{x:word}?{rest**} → {s}://{h}/{p}/{x}.html?{rest}"],
        ),
        (
            "rewrite {s}://{h}/{p**}/{x}/?{rest**} → {s}://{h}/{p}/{x}?{rest}",
            [
                "rewrite {s}://{h}/{p**}/{x}?{rest**} → {s}://{h}/{p}/{x}/?{rest}",
                "rewrite {s}://{h}/{p**}/{x:word}?{rest**} → {s}://{h}/{p}/{x}/?{rest}",
            ],
        ),
        (
            "rewrite {s}://{h}/?p={a:int}&{rest**} → {s}://{h}/{a}?{rest}",
            ["rewrite {s}://{h}/{a:int}?{rest**} → {s}://{h}/?p={a}&{rest}"],
        ),
        ('replace ".htm$" → ".html$"', ['replace ".html$" → ".htm$"']),
        # What is forgotten cannot be written again, nor can what was said in another form.
        ("rewrite {s}://{h}/{p**}?s={**}&{rest**} → {s}://{h}/{p}?{rest}", []),
        ("rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest}", []),
        # What would be written again and again is no rule.
        (
            "rewrite {s}://{h}/{x:hex}-0?{rest**} → {s}://{h}/{x}?{rest}",
            [
                "rewrite {s}://{h}/{x:hex}?{rest**} → {s}://{h}/{x}-0?{rest}",
            ],
        ),
        ("rewrite {s}://{h}/{x:hex}0?{rest**} → {s}://{h}/{x}?{rest}", []),
        ("rewrite {s}://{h}/{p**}?ref=hn&{rest**} → {s}://{h}/{p}?{rest}", []),
        ("rewrite {s}://{h}/{p**}/index.php?{rest**} → {s}://{h}/{p}?{rest}", []),
        ('replace "//" → "/"', []),
        ("keep {s}://{h}/{p**}", []),
    ],
)
def test_a_rule_is_turned_where_it_can_be(rule: str, ways: list[str]) -> None:
    """Each capture is written once, and what is written does not match again."""
    found = [str(each) for each in turned(Rule.parse(rule, site="a.test"))]
    assert list(dict.fromkeys(found)) == ways


def test_the_form_that_was_seen_most_wins() -> None:
    """Of pages with and without an ending most were seen with it: that is what can be fetched."""
    rows = [(f"http://a.test/p/{n}{end}", f"p{n}") for n in range(40) for end in ("", ".html")]
    more = [(f"http://a.test/p/{n}.html", f"p{n}") for n in range(100, 400)]
    canonical = undust.learn(crawl(*rows, *more)).compile()
    assert canonical("http://a.test/p/99") == "http://a.test/p/99.html"
    assert canonical("http://a.test/p/99.html") == "http://a.test/p/99.html"


def test_an_index_page_that_all_links_name_stays() -> None:
    """A board whose every link says `index.php` is not sent to a form that was seen by chance."""
    rows = [(f"http://a.test/{name}?topic={n}", f"t{n}") for n in range(40) for name in ("", "index.php")]
    more = [(f"http://a.test/index.php?topic={n}", f"t{n}") for n in range(100, 400)]
    canonical = undust.learn(crawl(*rows, *more)).compile()
    assert canonical("http://a.test/?topic=99") == "http://a.test/index.php?topic=99"
    assert canonical("http://a.test/index.php?topic=99") == "http://a.test/index.php?topic=99"


@pytest.mark.parametrize("how", ["redirect", "content"])
def test_no_form_is_made_up_for_folders(how: str) -> None:
    """Pages are `/p.html`, folders beside them `/f/`: nothing tells `/p` from `/f`, so nothing is added."""
    rows: list[dict[str, object]] = [
        {"url": f"http://a.test/d{n % 5}/p{n}{end}", "status": 200, "digest": f"p{n}"}
        for n in range(60)
        for end in ("", ".html")
    ]
    rows += [
        {"url": f"http://a.test/d{n % 5}/p{n}.html", "status": 200, "digest": f"p{n}"}
        for n in range(100, 400)
    ]
    for n in range(500, 560):
        bare: dict[str, object] = {"url": f"http://a.test/d{n % 5}/p{n}", "status": 200, "digest": f"p{n}"}
        if how == "redirect":
            bare |= {"status": 301, "digest": None, "redirect": f"http://a.test/d{n % 5}/p{n}/"}
        rows += [bare, {"url": f"http://a.test/d{n % 5}/p{n}/", "status": 200, "digest": f"p{n}"}]
    canonical = undust.learn(told(rows)).compile()
    assert not any(
        canonical(f"http://a.test/d1/p{n}{end}").endswith(".html")
        for n in range(500, 560)
        for end in ("", "/")
    )
    assert canonical.key("http://a.test/d1/p7.html") == canonical.key("http://a.test/d1/p7")


def test_what_the_site_says_vouches_for_what_nobody_saw() -> None:
    """A target is as good as seen if it is nearer to where the site sends the URL; worse if it is farther."""
    (site,) = undust.find_duplicates(
        told(
            [
                {
                    "url": "http://a.test/?t=1&s=2",
                    "status": 200,
                    "digest": "1",
                    "canonical": "http://a.test/index.php?t=1",
                },
                {"url": "http://a.test/f", "status": 301, "redirect": "http://a.test/f/"},
                {"url": "http://a.test/f/", "status": 200, "digest": "2"},
                {"url": "http://a.test/g", "status": 200, "digest": "3"},
            ]
        )
    )
    said = Statements(site, np.arange(len(site.node_urls)))
    assert (
        Statements(site, np.array([], np.int64)).leads_nearer("http://a.test/f", "http://a.test/f/") is None
    )
    assert said.leads_nearer("http://a.test/?t=1&s=2", "http://a.test/index.php?t=1&s=2") is True
    assert said.leads_nearer("http://a.test/f", "http://a.test/f.html") is False
    assert said.leads_nearer("http://a.test/f/", "http://a.test/f") is False
    assert said.leads_nearer("http://a.test/g", "http://a.test/g.html") is None
    moves = [
        ("http://a.test/?t=1&s=2", "http://a.test/index.php?t=1&s=2", False),
        ("http://a.test/f", "http://a.test/f.html", True),
        ("http://a.test/g", "http://a.test/g.html", True),
        ("http://a.test/g", "http://a.test/g.htm", False),
    ]
    assert [unseen_target_share(said, [move]) for move in moves] == [0, 1, 0, 1]
    assert unseen_target_share(said, moves) == 2


def test_a_wiki_keeps_its_capitals() -> None:
    """Names are seen with a capital, and some also without: they are not sent to small letters."""
    rows = [
        (f"http://a.test/wiki/{name}_{n}", f"p{n}")
        for n in range(40)
        for name in ("Great_Page", "great_Page")
    ]
    more = [(f"http://a.test/wiki/Great_Page_{n}", f"p{n}") for n in range(100, 300)]
    canonical = undust.learn(crawl(*rows, *more)).compile()
    assert canonical("http://a.test/wiki/small_Thing") == "http://a.test/wiki/Small_Thing"
    assert canonical("http://a.test/wiki/Small_Thing") == "http://a.test/wiki/Small_Thing"


def test_no_rule_undoes_another() -> None:
    """Once a form is chosen nothing leads away from it and back."""
    rows = [(f"http://a.test/p/{n}{end}", f"p{n}") for n in range(40) for end in ("", ".html")]
    dotted = [(f"http://a.test/p/v.{n}{end}", f"v{n}") for n in range(10) for end in ("", ".html")]
    more = [(f"http://a.test/p/{n}.html", f"p{n}") for n in range(100, 400)]
    learned = undust.learn(crawl(*rows, *dotted, *more))
    canonical = learned.compile()
    assert (
        canonical("http://a.test/p/99") == canonical("http://a.test/p/99.html") == "http://a.test/p/99.html"
    )
    assert not [found for found in learned.check() if found.kind in {"cycle", "inverse"}]


def test_a_parameter_that_says_nothing_is_not_added() -> None:
    """Few topics were seen with their board; that all are there with this one nobody knows."""
    rows = [(f"http://a.test/x?topic={n}", f"t{n}") for n in range(300)]
    boards = [(f"http://a.test/x?board=2&topic={n}", f"t{n}") for n in range(0, 300, 6)]
    lists = [(f"http://a.test/x?board={n}", f"b{n}") for n in range(30)]
    canonical = undust.learn(crawl(*rows, *boards, *lists)).compile()
    assert canonical("http://a.test/x?topic=999") == "http://a.test/x?topic=999"


def test_a_rule_is_spared_where_its_few_failures_lie_together() -> None:
    """Two failures of some 170 exceed one in a hundred; both are exports, so exports are left out."""
    rows = [(f"http://a.test/{word}", f"p{n}") for n in range(170) for word in (f"page-{n}", f"PAGE-{n}")]
    exports = [
        (f"http://a.test/{way}/page-{n}", f"e{way}{n}") for n in range(2) for way in ("export", "EXPORT")
    ]
    canonical = undust.learn(crawl(*rows, *exports)).compile()
    assert canonical("http://a.test/PAGE-999") == "http://a.test/page-999"
    assert canonical("http://a.test/EXPORT/page-0") == "http://a.test/EXPORT/page-0"


def test_lesser_forms_lead_to_the_plain_one_and_not_to_each_other() -> None:
    """Pages for printers and phones become the plain page, though most of them have no plain form here."""
    forms, chance = ("", "m/", "amp/", "print/"), Random(1)
    seen = [(form, n) for n in range(150) for form in sorted(set(chance.choices(forms, k=3)))]
    rules = undust.learn(crawl(*((f"http://a.test/{form}news/{n}", f"p{n}") for form, n in seen)))
    keyed = rules.compile()
    assert {keyed.key(f"http://a.test/{form}news/777") for form in forms} == {"http://a.test/news/777"}
    written = {keyed(f"http://a.test/{form}news/777") for form in forms}
    assert written <= {f"http://a.test/{form}news/777" for form in forms}
    assert not any(rule.target and "amp" in rule.target for rule in rules)
