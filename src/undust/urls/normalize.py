"""Standard normalization: the one change of a URL that needs no evidence.

Only what RFC 3986 (section 6.2.2 and 6.2.3) calls equivalent for every server: nothing
here reorders parameters, strips `www` or a trailing slash, or turns http into https.
Those are true on some sites and false on others, so they are for learned rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from undust._core import ALL_STEPS, normalize_url
from undust._core import normalize as core_normalize
from undust._core import normalize_lines as core_normalize_lines
from undust.urls.columns import map_column

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

STEPS = {
    "case": "scheme and host in lower case",
    "host": "IDN to punycode, IPv4 and IPv6 addresses in their one form",
    "triplets": "%7E to ~, %2f to %2F: unreserved characters decoded, hex in upper case",
    "forbidden": "characters that RFC 3986 forbids, such as spaces, become triplets",
    "dots": "/a/../b to /b",
    "empty-path": "http://host to http://host/",
    "port": ":80 of http and :443 of https removed",
    "fragment": "#… removed",
}
"""The steps in the order of their bits in the core, each with what it does."""


def steps_without(skip: Iterable[str]) -> int:
    """Return the steps to take, as bits, when those named in `skip` are left out.

    >>> f"{steps_without([]):b}", f"{steps_without(['case', 'fragment']):b}"
    ('11111111', '1111110')
    """
    bits = ALL_STEPS
    names = list(STEPS)
    for name in [skip] if isinstance(skip, str) else skip:
        if name not in STEPS:
            message = f"unknown normalization step '{name}'; the steps are {', '.join(names)}"
            raise ValueError(message)
        bits &= ~(1 << names.index(name))
    return bits


@overload
def normalize(urls: str, *, skip: Iterable[str] = ()) -> str: ...
@overload
def normalize(
    urls: Any,  # noqa: ANN401 -- any Arrow object
    *,
    skip: Iterable[str] = (),
    threads: int = 1,
) -> pa.Array | pa.ChunkedArray: ...
def normalize(urls: Any, *, skip: Iterable[str] = (), threads: int = 1) -> Any:
    """Return a URL, or a column of URLs, in normal form; what is not an http(s) URL is not changed.

    >>> normalize("HTTP://Shop.test:80/a/../b")
    'http://shop.test/b'
    >>> normalize("http://shop.test/b#top", skip=["fragment"])
    'http://shop.test/b#top'

    A column is any Arrow object (pyarrow, polars, pandas with Arrow strings) or a list.
    """
    steps = steps_without(skip) if skip else ALL_STEPS
    if isinstance(urls, str):
        return normalize_url(urls, steps)
    return _normalize_column(urls, steps, threads)


# Apart, since the closure would slow down every call for a single URL.
def _normalize_column(urls: Any, steps: int, threads: int) -> pa.Array | pa.ChunkedArray:  # noqa: ANN401
    return map_column(urls, lambda column: core_normalize(column, steps, threads)[0])


def normalize_counted(
    urls: pa.Array, *, skip: Iterable[str] = (), threads: int = 1
) -> tuple[object, int, int]:
    """Return a column in normal form, as the core gives it; how many changed, how many are not URLs."""
    return core_normalize(urls, steps_without(skip), threads)


def normalize_lines(
    data: bytes, *, skip: Iterable[str] = (), threads: int = 1
) -> tuple[bytes, int, int, int]:
    r"""Return lines of URLs in normal form; how many there are, how many changed, how many are not URLs.

    >>> normalize_lines(b"HTTP://h\nx\n")
    (b'http://h/\nx\n', 2, 1, 1)
    """
    return core_normalize_lines(data, steps_without(skip), threads)
