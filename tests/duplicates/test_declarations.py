"""What sites say about their own parameters: read, and used as evidence."""

from __future__ import annotations

import pytest

import undust
from tests.duplicates.sites import sketch, table
from undust.duplicates import Declaration, find_in_site
from undust.duplicates.declarations import declared_in_header, declared_in_robots

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


def test_content_decides_over_declarations() -> None:
    """A site that is wrong about itself is told so."""
    rows = [{"url": f"http://a.test/?page={page}", "sketch": sketch(page)} for page in range(3)]
    found = undust.find_duplicates(table(*rows), declarations=[Declaration("a.test", "/", ("page",))])
    assert found.summary.clusters == 3
    assert found.summary.distrusted_urls == {"declared contradicts content": 2}
    same = [row | {"sketch": sketch("one")} for row in rows]
    found = undust.find_duplicates(table(*same), declarations=[Declaration("a.test", "/", ("page",))])
    assert found["a.test"].evidence.to_pylist() == ["declared+sketch"] * 3
