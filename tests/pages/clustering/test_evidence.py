"""What sites say about their own parameters: read, and used as evidence."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from time import process_time

import pytest

import undust
from tests.pages.clustering.sites import sketch, table
from undust.pages.clustering import Declaration, find_in_site
from undust.pages.clustering.distrust import components
from undust.pages.clustering.evidence import by_declaration, declared_in_header, declared_in_robots
from undust.pages.clustering.nodes import Nodes, nodes_of

ROBOTS = """\
User-agent: *
Disallow: /cart
Clean-param: sid&ref /forum/*.php   # sessions
clean-param:utm_source
Clean-param:
"""


def test_clean_param_lines() -> None:
    """Names, and a path that may be left out; comments and other lines do not matter."""
    assert list(declared_in_robots("a.test", ROBOTS)) == [
        Declaration("a.test", "/forum/*.php", ("sid", "ref")),
        Declaration("a.test", "/", ("utm_source",)),
    ]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('params=("sid" "ref")', Declaration("a.test", "/x$", ("sid", "ref"))),
        ("key-order", Declaration("a.test", "/x$", ignores_order=True)),
        ("params", Declaration("a.test", "/x$", ignores_all=True)),
        (
            'key-order, params, except=("id")',
            Declaration("a.test", "/x$", ignores_all=True, excepted=("id",), ignores_order=True),
        ),
        ('except=("id")', Declaration("a.test", "/x$", ignores_all=True, excepted=("id",))),
        ("except=()", Declaration("a.test", "/x$", ignores_all=True)),
        (r'params=("a\"b")', Declaration("a.test", "/x$", ('a"b',))),
        ('params=("sid"), except=("id")', None),
        ('params=?0, except=("id")', None),
        ("except", None),
        ("params=?0", None),
        ("", None),
        ("nonsense!!", None),
    ],
)
def test_no_vary_search_headers(header: str, expected: Declaration | None) -> None:
    """The three members of the header; what says nothing gives nothing."""
    assert declared_in_header("a.test", "/x", header) == expected


def clusters_of(declaration: Declaration, *urls: str) -> list[list[str]]:
    """The clusters of more than one URL, given as what follows the host."""
    found = find_in_site(table(*({"url": f"http://a.test{url}"} for url in urls)), "a.test", [declaration])
    together: dict[int, list[str]] = {}
    for url, number in zip(found.urls.to_pylist(), found.cluster.tolist(), strict=True):
        together.setdefault(number, []).append(url.removeprefix("http://a.test"))
    return [group for group in together.values() if len(group) > 1]


def test_ignored_parameters() -> None:
    """Only those named, only under the path, only on the host; repeated ones too."""
    declaration = Declaration("a.test", "/f/", ("sid",))
    assert clusters_of(
        declaration, "/f/x?id=1", "/f/x?id=1&sid=2", "/f/x?sid=1&id=1&sid=3", "/f/x?id=2", "/f/x?xsid=1&id=1"
    ) == [["/f/x?id=1", "/f/x?id=1&sid=2", "/f/x?sid=1&id=1&sid=3"]]
    assert clusters_of(declaration, "/g/x?sid=1", "/g/x?sid=2") == []
    assert clusters_of(Declaration("b.a.test", "/", ("sid",)), "/f?sid=1", "/f?sid=2") == []
    assert clusters_of(Declaration("a.test", "/*/y", ("s",)), "/x/y?s=1", "/x/y?s=2", "/y?s=1", "/y?s=2") == [
        ["/x/y?s=1", "/x/y?s=2"]
    ]


def test_order_and_all_but_some() -> None:
    """Order counts unless the site says it does not; `except` names what matters."""
    in_order = Declaration("a.test", "/x$", ("s",))
    assert clusters_of(in_order, "/x?a=1&b=2", "/x?b=2&a=1") == []
    any_order = Declaration("a.test", "/x$", ignores_order=True)
    assert clusters_of(
        any_order, "/x?a=1&b=2", "/x?b=2&a=1", "/x?b=1&a=2", "/x/y?a=1&b=2", "/x/y?b=2&a=1"
    ) == [["/x?a=1&b=2", "/x?b=2&a=1"]]
    all_but_id = Declaration("a.test", "/x$", ignores_all=True, excepted=("id",))
    assert clusters_of(all_but_id, "/x?id=1&a=1", "/x?b=2&id=1", "/x?id=2") == [
        ["/x?b=2&id=1", "/x?id=1&a=1"]
    ]


def test_what_nobody_saw_is_joined_by_nothing() -> None:
    """Two redirects to targets that were never fetched: the targets may differ in more than their address."""
    rows = [
        {"url": f"http://a.test/{name}", "status": 301, "redirect": f"http://a.test/t?sid={name}"}
        for name in ("one", "two")
    ]
    found = undust.find_duplicates(table(*rows), declarations=[Declaration("a.test", "/", ("sid",))])
    assert found["a.test"].cluster_count == 2


def test_content_decides_over_declarations() -> None:
    """A site that is wrong about itself is told so."""
    rows = [{"url": f"http://a.test/?page={page}", "sketch": sketch(page)} for page in range(3)]
    found = undust.find_duplicates(table(*rows), declarations=[Declaration("a.test", "/", ("page",))])
    assert found.summary.clusters == 3
    assert found.summary.distrusted_urls == {"declared contradicts content": 2}
    same = [row | {"sketch": sketch("one")} for row in rows]
    found = undust.find_duplicates(table(*same), declarations=[Declaration("a.test", "/", ("page",))])
    assert found["a.test"].evidence.to_pylist() == ["declared+sketch"] * 3


def nodes_under(*urls: str) -> Nodes:
    """The nodes of `a.test` with nothing known but their URLs."""
    return nodes_of(table(*({"url": f"http://{url}"} for url in urls)), "a.test")


def plainly_ignored(url: str, declaration: Declaration) -> str | None:
    """What remains of a URL in normal form, or None where the declaration does not hold."""
    place, _, query = url.partition("?")
    host, _, path = place.removeprefix("http://").partition("/")
    stars = re.escape(declaration.path.removesuffix("$")).replace(r"\*", ".*")
    if host != declaration.host or not re.match(stars + "$" * declaration.path.endswith("$"), f"/{path}"):
        return None
    named = declaration.excepted if declaration.ignores_all else declaration.ignored
    pairs = [pair for pair in query.split("&") if pair and (_name(pair) in named) == declaration.ignores_all]
    return "&".join((place, *(sorted(pairs, key=_name) if declaration.ignores_order else pairs)))


def _name(pair: str) -> str:
    return pair.partition("=")[0]


def test_many_declarations_are_heard_as_if_each_were_alone() -> None:
    """Paths, prefixes and wildcards of several hosts, one by one and plainly, join the same."""
    chance = random.Random(4)
    hosts, paths, names = ("a.test", "b.a.test"), ("/", "/x", "/x/y", "/x/z.php", "/xx"), ("s", "t", "u")
    urls = sorted(
        {
            f"{chance.choice(hosts)}{chance.choice(paths)}?"
            + "&".join(f"{chance.choice(names)}={chance.randrange(2)}" for _ in range(chance.randint(1, 3)))
            for _ in range(400)
        }
    )
    nodes = nodes_under(*urls)
    texts = nodes.texts(range(len(nodes)))
    for _ in range(60):
        said = [
            Declaration(
                chance.choice((*hosts, "c.a.test")),
                chance.choice((*paths, "/x$", "/x/y$", "/*.php", "/*/y$", "/none$")),
                tuple(chance.sample(names, chance.randint(0, 2))),
                ignores_all=chance.random() < 0.2,
                excepted=tuple(chance.sample(names, chance.randint(0, 1))),
                ignores_order=chance.random() < 0.3,
            )
            for _ in range(chance.randint(1, 5))
        ]
        pages = list(range(len(texts)))
        for declaration in said:
            first: dict[str, int] = {}
            for number, url in enumerate(texts):
                rest = plainly_ignored(url, declaration)
                if rest is not None:
                    old, new = pages[number], pages[first.setdefault(rest, number)]
                    pages = [min(old, new) if page in {old, new} else page for page in pages]
        assert components([by_declaration(nodes, said)], len(nodes)).tolist() == pages


@pytest.mark.slow
def test_the_work_grows_with_the_pages_that_declare() -> None:
    """Eight times as many pages, each with its own header, take far less than 64 times as long."""

    def seconds(count: int, *, is_alike: bool) -> float:
        nodes = nodes_under(*(f"a.test/p{i}?id={i}&s{i % 5}={n}" for i in range(count) for n in range(2)))
        said = [Declaration("a.test", f"/p{i}$", ("x" if is_alike else f"x{i}", "s1")) for i in range(count)]
        assert len(by_declaration(nodes, said)) == count // 5
        times = [process_time()]
        for _ in range(3):
            by_declaration(nodes, said)
            times.append(process_time())
        return min(after - before for before, after in pairwise(times))

    for is_alike in (True, False):
        assert seconds(2400, is_alike=is_alike) < 24 * seconds(300, is_alike=is_alike)
