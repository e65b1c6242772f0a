"""Where a rule leads there is a page, as far as anybody has seen."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import undust
from undust.learning import Requirements, learn_site
from undust.learning.outcome import NOWHERE


def crawl(*rows: tuple[str, str, int]) -> pa.Table:
    """URLs with what they show, and how the site answered."""
    urls, contents, status = zip(*rows, strict=True)
    digests = [text if code < 300 else None for text, code in zip(contents, status, strict=True)]
    return pa.table({"url": urls, "digest": digests, "status": pa.array(status, pa.int32())})


def endings(missing: int) -> pa.Table:
    """Forty pages under `/p/` with and without an ending, and many without; others have no short form."""
    rows = [(f"http://a.test/p/{n}{end}", f"p{n}", 200) for n in range(40) for end in ("", ".html")]
    rows += [(f"http://a.test/p/{n}", f"p{n}", 200) for n in range(100, 400)]
    rows += [(f"http://a.test/q/{n}.html", f"q{n}", 200) for n in range(200)]
    return crawl(*rows, *((f"http://a.test/q/{n}", "", missing) for n in range(200)))


@pytest.mark.parametrize("status", [404, 410])
def test_a_form_that_is_not_there_is_no_target(status: int) -> None:
    """The rule is narrowed to where it holds."""
    canonical = undust.learn(endings(status)).compile()
    assert canonical("http://a.test/p/99.html") == "http://a.test/p/99"
    assert canonical("http://a.test/q/7.html") == "http://a.test/q/7.html"


def test_a_form_that_was_seldom_seen_is_for_comparing() -> None:
    """An error that passes says nothing: where the short form was never seen nothing is written."""
    canonical = undust.learn(endings(503)).compile()
    assert canonical("http://a.test/q/7.html") == "http://a.test/q/7.html"
    assert canonical.key("http://a.test/p/99.html") == "http://a.test/p/99"


def test_what_was_a_page_once_is_not_missing() -> None:
    """A URL that was fetched, and failed another time, may be fetched again."""
    rows = [(f"http://a.test/p/{n}{end}", f"p{n}", 200) for n in range(40) for end in ("", ".html")]
    again = [(f"http://a.test/p/{n}", "", 404) for n in range(40)]
    (found,) = undust.find_duplicates(crawl(*rows, *again, ("HTTP://a.test/x", "", 404)))
    assert found.gone.to_pylist() == ["http://a.test/x"]
    assert undust.learn(crawl(*rows, *again)).compile()("http://a.test/p/7.html") == "http://a.test/p/7"


def test_the_reason_is_told() -> None:
    """Where nothing tells the good from the bad, the rule is refused, and says why."""
    rows = [
        (f"http://a.test/p/{n}{end}", f"p{n}", 200) for n in range(40) for end in ("", "?x=1", "?x=2", "?x=3")
    ]
    lone = [(f"http://a.test/p/{n}?x={1 + n % 3}", f"p{n}", 200) for n in range(100, 180)]
    missing = [(f"http://a.test/p/{n}", "", 404) for n in range(100, 180)]
    (found,) = undust.find_duplicates(crawl(*rows, *lone, *missing))
    learned = learn_site(found, Requirements())
    assert undust.RuleSet(learned.rules).compile()("http://a.test/p/150?x=1") != "http://a.test/p/150"
    assert NOWHERE in {refused.reason for refused in learned.refused}


@pytest.mark.parametrize("says", ["redirect", "canonical"])
@pytest.mark.parametrize(("bare", "preferred"), [("", "/"), ("/", "")])
def test_slashes_go_where_the_site_sends_others(says: str, bare: str, preferred: str) -> None:
    """Whether it answers with a redirect or says rel=canonical; files have none."""
    rows = [
        {"url": f"http://a.test/p/{n}{end}", "status": 200, "digest": f"p{n}", says: None}
        for n in range(40)
        for end in (bare, preferred)
    ]
    for row, n in zip(rows[::2], range(40), strict=True):
        row.update({says: f"http://a.test/p/{n}{preferred}", "status": 301 if says == "redirect" else 200})
    files = [{"url": f"http://a.test/f/{n}.png", "status": 200, "digest": f"f{n}"} for n in range(40)]
    canonical = undust.learn(pa.Table.from_pylist([*rows, *files])).compile()
    assert canonical(f"http://a.test/p/99{bare}") == f"http://a.test/p/99{preferred}"
    assert canonical("http://a.test/f/99.png") == "http://a.test/f/99.png"


@pytest.mark.parametrize("template", ["/feed/{id}?zq={code}", "/go/{id}?via={word}", "/t?c={id}&z={number}"])
def test_what_is_never_missing_is_hidden_and_no_page_lends_its_own(template: str) -> None:
    """A value that one page has is no better than any other: no rule writes it into all URLs."""
    words = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "ivory", "jade")
    rows = [
        (
            "http://a.test"
            + template.format(id=1000 + 37 * n, number=chance.randrange(10**6), code=code, word=word),
            f"page {n}",
            200,
        )
        for n in range(100)
        for k in range(3)
        for chance in [Random(3 * n + k)]
        for word, code in [
            ("-".join(chance.choices(words, k=chance.randint(1, 4))), chance.randbytes(4).hex())
        ]
    ]
    rules = undust.learn(crawl(*rows))
    urls = [url for url, _, _ in rows]
    keys = rules.compile().batch(urls, keys=True).to_pylist()
    assert len(set(keys)) == 100
    assert all(":any}" in (rule.target or "") for rule in rules), rules


def test_a_default_says_nothing_of_other_values() -> None:
    """Three parameters that were seen with one value each are removed with that value, not with any."""
    forms = ("", "&page=1", "&sort=asc", "&view=grid", "&page=1&sort=asc")
    rows = [(f"http://a.test/l?c={n}{form}", f"list {n}", 200) for n in range(60) for form in forms]
    canonical = undust.learn(crawl(*rows)).compile()
    assert canonical.key("http://a.test/l?c=99&view=grid&page=1") == "http://a.test/l?c=99"
    for other in ("page=2", "sort=desc", "view=list"):
        assert canonical.key(f"http://a.test/l?c=99&{other}") == f"http://a.test/l?c=99&{other}"
