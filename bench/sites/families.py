"""Small families of duplicates: a few hundred pages of one sort, three URLs each, and nothing else.

Where a kind is a whole site, a family is one way in which URLs of a page differ, so that a learner either
knows it or does not. Each is a function from the number of a page and a source of chance to the page's URLs.

>>> from bench.sites.families import FAMILIES, family
>>> made = family("title_dp", pages=2)
>>> made.seen.num_rows, made.labels.column_names
(6, ['url', 'cluster'])
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa

from bench.sites.text import VOCABULARY
from undust.reading.text import SIZE

if TYPE_CHECKING:
    from collections.abc import Callable

    Written = Callable[[int, Random], list[str]]

PAGES, URLS = 300, 3
_STEP = 37


@dataclass(frozen=True)
class Made:
    """What a crawl saw of a family, and which page each URL shows."""

    name: str
    seen: pa.Table
    labels: pa.Table


def words(chance: Random, least: int = 1, most: int = 5, joint: str = "-") -> str:
    """Return some words."""
    return joint.join(chance.choices(VOCABULARY, k=chance.randint(least, most)))


def code(chance: Random, length: int = 10) -> str:
    """Return hexadecimal digits."""
    return f"{chance.getrandbits(4 * length):0{length}x}"


def _three(write: Callable[[Random], str]) -> Callable[[Random], list[str]]:
    """Return a function that writes one form with chance of its own for each URL."""

    def some(chance: Random) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < URLS:
            found[write(chance)] = None
        return list(found)

    return some


def _varied(template: Callable[[int, Random], str]) -> Written:
    return lambda page, chance: _three(lambda some: template(page, some))(chance)


def _id(page: int) -> int:
    return 1000 + _STEP * page


def _tag(page: int) -> str:
    alphabet = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
    drawn = Random(page)
    return "".join(drawn.choices(alphabet, k=6))


def _tags(page: int) -> tuple[str, str]:
    drawn = Random(f"tags {page}")
    first, second = drawn.sample(VOCABULARY, 2)
    return first, f"{second}{page}"


def _facet(page: int) -> str:
    return ("colour", "size", "brand", "year")[page % 4]


def _wiki(page: int) -> tuple[str, str, str]:
    drawn = Random(f"wiki {page}")
    first, second = drawn.sample(VOCABULARY, 2)
    return drawn.choice(("Talk", "User", "Help")), first.capitalize(), f"{second}{page}"


def _semicolons(page: int, chance: Random) -> list[str]:
    base = f"/index.php?topic={_id(page)}.0"
    return [base, f"{base};sort={words(chance, 1, 1)}", f"{base};sort={words(chance, 1, 1)};desc"]


def _wiki_urls(page: int, _: Random) -> list[str]:
    space, first, second = _wiki(page)
    return [
        f"/wiki/{space}:{first}_{second}",
        f"/wiki/{space}%3A{first}_{second}",
        f"/wiki/{space}:{first}%20{second}",
    ]


def _host_label(page: int, _: Random) -> list[str]:
    user, rest = f"u{_id(page)}", ("about", "posts", "links")[page % 3]
    return [f"//{user}.SITE/{rest}", f"//SITE/u/{user}/{rest}", f"//www.SITE/u/{user}/{rest}"]


def _title(page: int) -> str:
    return f"{words(Random(f'title {page}'), 2, 4)}-{page}"


def _home(page: int, _: Random) -> list[str]:
    user = f"{Random(f'user {page}').choice(VOCABULARY)}{page}"
    return [f"//{user}.SITE/", f"//SITE/~{user}/", f"//www.SITE/~{user}/"]


def _some_of_six(page: int, chance: Random) -> str:
    names = chance.sample(("qa", "qb", "qc", "qd", "qe", "qf"), chance.randint(1, 4))
    return f"/x/{_id(page)}?{'&'.join(f'{name}={code(chance, 5)}' for name in names)}"


def _defaults(page: int, _: Random) -> list[str]:
    return [
        f"/list?c={_id(page)}{more}"
        for more in ("", "&page=1", "&sort=asc", "&view=grid", "&page=1&sort=asc")
    ]


def _facets(page: int, chance: Random) -> str:
    drawn = Random(f"facets {page}")
    some = [f"color-{drawn.choice(VOCABULARY)}", f"size-{drawn.choice('sml')}", f"brand-{page}"]
    return f"/f/{'/'.join(chance.sample(some, 3))}"


FAMILIES: dict[str, Written] = {
    "title_dp": _varied(lambda page, c: f"/{words(c)}/dp/{_id(page)}"),
    "slug_slug_id": _varied(lambda page, c: f"/{words(c)}/{words(c)}/{_id(page)}"),
    "session_path": _varied(lambda page, c: f"/s/{code(c)}/v/{_id(page)}"),
    "random_host": _varied(lambda page, c: f"//{code(c, 6)}.SITE/d/{_id(page)}"),
    "id_hex_name": _varied(lambda page, c: f"/a{_id(page)}_{code(c, 4)}_en.html"),
    "view_sid": _varied(lambda page, c: f"/view-{_id(page)}-sid{code(c, 8)}"),
    "value_in_value": _varied(lambda page, c: f"/show?x=id:{_id(page)}%7Cs:{code(c, 6)}"),
    "words_id": _varied(lambda page, c: f"/shop/{words(c)}-{_id(page)}"),
    "words_pid": _varied(lambda page, c: f"/{words(c)}-p{_id(page)}.html"),
    "id_words": _varied(lambda page, c: f"/{_id(page)}-{words(c)}.html"),
    "ref_words_id": _varied(lambda page, c: f"/go?ref={words(c)}_{_id(page)}"),
    "sid_always": _varied(lambda page, c: f"/page?id={_id(page)}&sid={code(c)}"),
    "two_junk": _varied(lambda page, c: f"/page?id={_id(page)}&sid={code(c)}&ts={c.randint(10**8, 10**9)}"),
    "three_junk": _varied(
        lambda page, c: (
            f"/page?utm_source={words(c, 1, 1)}&id={_id(page)}&utm_medium={words(c, 1, 1)}"
            f"&utm_campaign={code(c, 6)}"
        )
    ),
    "slug_and_session": _varied(lambda page, c: f"/{words(c)}/{_id(page)}?sid={code(c)}"),
    "semicolons": _semicolons,
    "host_label": _host_label,
    "zero_padding": lambda page, _: [f"/item/{page + 1}", f"/item/{page + 1:04}", f"/item/{page + 1:06}"],
    "bare_query": lambda page, c: [
        f"/?{_tag(page)}",
        f"/item/{_tag(page)}",
        f"/item/{_tag(page)}?r={code(c)}",
    ],
    "name_suffix": lambda page, _: [
        f"/find?{_facet(page)}{suffix}={_id(page)}" for suffix in ("", ".is", ".eq")
    ],
    "name_prefix": lambda page, _: [f"/find?{prefix}{_facet(page)}={_id(page)}" for prefix in ("", "-", ".")],
    "value_order": lambda page, _: [
        "/tagged?t={}+{}".format(*_tags(page)),
        "/tagged?t={1}+{0}".format(*_tags(page)),
    ],
    "colon_underscore": _wiki_urls,
    "amp_entity": lambda page, _: [
        f"/read.php?f={page % 7}&t={_id(page)}",
        f"/read.php?f={page % 7}&amp;t={_id(page)}",
    ],
    "title_code": _varied(lambda page, c: f"/t/{_title(page)}~{code(c, 8)}"),
    "code_title": _varied(lambda page, c: f"/t/{code(c, 8)}_{_title(page)}.html"),
    "title_matrix": _varied(lambda page, c: f"/shop/{_title(page)};s={code(c)}/view"),
    "title_sid": _varied(lambda page, c: f"/t/{_title(page)}-s{code(c, 6)}"),
    "title_in_value": _varied(lambda page, c: f"/show?x={_title(page)}:{code(c, 8)}"),
    "title_id_code": _varied(lambda page, c: f"/art,{words(c)},{_id(page)},{code(c, 5)}.html"),
    "words_id_code": _varied(lambda page, c: f"/{words(c, joint='_')}_{_id(page)}_{code(c, 6)}.htm"),
    "padding_inside": lambda page, _: [
        f"/vol-{page + 1}/x",
        f"/vol-{page + 1:04}/x",
        f"/vol-{page + 1:06}/x",
    ],
    "facets": _varied(_facets),
    "some_of_six": _varied(_some_of_six),
    "home_page": _home,
    "defaults": _defaults,
    "trailing_amp": lambda page, _: [f"/read.php?f=3&t={_id(page)}", f"/read.php?f=3&t={_id(page)}&"],
}
"""Each family by its name: paths and queries; `//` begins one with a host, and SITE is the site's domain."""


def family(name: str, pages: int = PAGES, seed: int = 0, *, canonical: bool = False) -> Made:
    """Return a family; with `canonical`, its pages declare the first of their URLs."""
    chance = Random(f"{name} {seed}")
    domain = f"{name.replace('_', '-')}.test"
    urls, owner, declared = [], [], []
    for page in range(pages):
        some = [_whole(url, domain) for url in FAMILIES[name](page, chance)]
        urls += some
        owner += [page] * len(some)
        declared += [some[0] if canonical else None] * len(some)
    sketches = [_sketch(name, page) for page in range(pages)]
    seen = pa.table(
        {
            "url": pa.array(urls, pa.string()),
            "status": pa.array([200] * len(urls), pa.int64()),
            "digest": pa.array([f"{name} {page}" for page in owner], pa.string()),
            "sketch": pa.array([sketches[page] for page in owner], pa.list_(pa.uint32())),
            "canonical": pa.array(declared, pa.string()),
        }
    )
    return Made(name, seen, pa.table({"url": urls, "cluster": [f"{page}" for page in owner]}))


def _whole(url: str, domain: str) -> str:
    return "http:" + url.replace("SITE", domain) if url.startswith("//") else f"http://{domain}{url}"


def _sketch(name: str, page: int) -> list[int]:
    wide = b"".join(blake2b(f"{name} {page} {part}".encode()).digest() for part in range(SIZE // 16 + 1))
    return [int.from_bytes(wide[4 * place : 4 * place + 4]) for place in range(SIZE)]
