"""Where pages point: rel=canonical in all its ways to be wrong, refreshes, declarations."""

from __future__ import annotations

import pytest

from undust.reading.page import (
    CONTRADICTING,
    NO_TARGET,
    OUTSIDE_HEAD,
    Canonical,
    canonical_hrefs,
    canonical_of,
    clean_param_lines,
    immediate_target,
    own_language,
    refresh_of,
)
from undust.reading.text import read_html

URL = "https://shop.test/dir/page?x=1"
NONE = Canonical()

CANONICALS = {
    "<link rel=canonical href=https://shop.test/a>": Canonical("https://shop.test/a"),
    "<LINK HREF='/b?x=1&amp;y=2' REL='CANONICAL'>": Canonical("https://shop.test/b?x=1&y=2"),
    "<link rel='alternate canonical' href=c>": Canonical("https://shop.test/dir/c"),
    "<link rel=canonical href=' //other.test/d\n '>": Canonical("https://other.test/d"),
    "<link rel=canonical href=/e#part>": Canonical("https://shop.test/e"),
    "<link rel=canonical href=?y=2>": Canonical("https://shop.test/dir/page?y=2"),
    "<base href=/base/><link rel=canonical href=f>": Canonical("https://shop.test/base/f"),
    "<link rel=canonical href=g><base href=/base/>": Canonical("https://shop.test/base/g"),
    "<link rel=canonical href=/h><link rel=canonical href=HTTPS://SHOP.TEST:443/h>": Canonical(
        "https://shop.test/h"
    ),
    # Broken.
    "<link rel=canonical href=/a><link rel=canonical href=/b>": Canonical(problem=CONTRADICTING),
    "<p>text<link rel=canonical href=/a>": Canonical(problem=OUTSIDE_HEAD),
    "<link rel=canonical href=/a><p><link rel=canonical href=/b>": Canonical("https://shop.test/a"),
    "<link rel=canonical href=''>": Canonical(problem=NO_TARGET),
    "<link rel=canonical href=javascript:void(0)>": Canonical(problem=NO_TARGET),
    "<link rel=canonical href='http://['>": Canonical(problem=NO_TARGET),
    # None at all.
    "<link rel=canonical>": NONE,
    "<link rel=canonicals href=/a>": NONE,
    "<link rel=alternate href=/a>": NONE,
    "<!-- <link rel=canonical href=/a> -->": NONE,
    "<script>'<link rel=canonical href=/a>'</script>": NONE,
    "<noscript><link rel=canonical href=/a></noscript>": NONE,
    "<template><link rel=canonical href=/a></template>": NONE,
    "": NONE,
}


@pytest.mark.parametrize("head", CANONICALS)
def test_canonical_tag(head: str) -> None:
    """What the tag says, resolved, or why it is not used."""
    assert canonical_of(URL, read_html(head.encode()).tags) == CANONICALS[head]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["<https://shop.test/a>; rel=canonical"], Canonical("https://shop.test/a")),
        (['</a>; rel="canonical"'], Canonical("https://shop.test/a")),
        (['</n>; rel=next, </a>; title="x, y"; REL="alternate Canonical"'], Canonical("https://shop.test/a")),
        (["</a>; rel=canonical", "</b>; rel=canonical"], Canonical(problem=CONTRADICTING)),
        (["</style.css>; rel=preload; as=style"], NONE),
        (["nonsense <;>,,"], NONE),
        ([], NONE),
    ],
)
def test_canonical_header(headers: list[str], expected: Canonical) -> None:
    """A `Link` header counts like a tag; targets are relative to the page and not to its base."""
    assert canonical_of(URL, read_html(b"<base href=/base/>").tags, headers) == expected


def test_tag_and_header_must_agree() -> None:
    """Two that say the same are one; two that do not are none."""
    tags = read_html(b"<link rel=canonical href=/a>").tags
    assert canonical_of(URL, tags, ["</a>; rel=canonical"]) == Canonical("https://shop.test/a")
    assert canonical_of(URL, tags, ["</b>; rel=canonical"]) == Canonical(problem=CONTRADICTING)


def test_canonical_hrefs_of_one_header() -> None:
    """Commas and semicolons inside of targets and quotes separate nothing."""
    header = '<http://a.test/x,y;z>; rel="canonical"; title=";rel=x", <b>;rel=canonical'
    assert list(canonical_hrefs(header)) == ["http://a.test/x,y;z", "b"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/new", "/new"),
        ("0; URL='/new'", "/new"),
        ('0, url = "/new" x', "/new"),
        ("0 /new", "/new"),
        ("00.9;/new", "/new"),
        (";url=/new", "/new"),
        ("0;url=", None),
        ("0", None),
        ("", None),
        ("1;url=/new", None),
        ("10; url=/new", None),
        ("soon; url=/new", None),
    ],
)
def test_refresh_counts_when_it_is_immediate(content: str, target: str | None) -> None:
    """Nobody waits: a refresh of less than a second is a redirect."""
    assert immediate_target(content) == target


def test_refresh_of_a_page() -> None:
    """Tag or header, resolved like any link."""
    tags = read_html(b"<base href=/b/><meta http-equiv=Refresh content='0;url=next#top'>").tags
    assert refresh_of(URL, tags) == "https://shop.test/b/next"
    assert refresh_of(URL, (), ["0; url=/there"]) == "https://shop.test/there"
    assert refresh_of(URL, (), ["5; url=/there"]) is None
    assert refresh_of(URL, read_html(b"<meta name=refresh content='0;url=/x'>").tags) is None


def test_clean_param_lines() -> None:
    """The lines that matter of a robots.txt, wherever they stand, comments of no interest."""
    robots = (
        "\ufeffClean-param: first\nUser-agent: *\r\nDisallow: /x\r\n  clean-PARAM : sid&ref /forum/\r\n"
        "# Clean-param: no\nUser-agent: Yandex\nClean-param: utm_source"
    )
    assert clean_param_lines(robots).splitlines() == [
        "Clean-param: first",
        "clean-PARAM : sid&ref /forum/",
        "Clean-param: utm_source",
    ]
    assert clean_param_lines("User-agent: *\nDisallow:\n") == ""


def test_a_page_lists_itself_among_its_translations() -> None:
    """The language of its own address counts, and nothing where none or several are its own."""
    head = (
        "<link rel=alternate hreflang=de href='?hl=de'><link rel=alternate hreflang=EN href='?hl=en'>"
        "<link rel=alternate hreflang=x-default href='?hl=en'>"
    )
    tags = read_html(head.encode()).tags
    assert own_language("http://shop.test/p?hl=en", tags) == "en"
    assert own_language("http://shop.test/p?hl=fr", tags) is None
    assert own_language("http://shop.test/p?hl=en", ()) is None
