"""The site a URL belongs to: the part of the host name that somebody registered.

Private suffixes count, so `alice.github.io` and `bob.github.io` are two sites. The list is
the one bundled with the `publicsuffixlist` package; nothing is ever fetched.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, overload

from undust._core import Suffixes
from undust.urls.columns import map_column

if TYPE_CHECKING:
    import pyarrow as pa


@cache
def suffix_list() -> bytes:
    """Return the text of the bundled public suffix list.

    >>> b"co.uk" in suffix_list().splitlines()
    True
    """
    return files("publicsuffixlist").joinpath("public_suffix_list.dat").read_bytes()


@cache
def suffixes() -> Suffixes:
    """Return the bundled list as the core holds it; one is enough for all."""
    return Suffixes(suffix_list())


@overload
def site_of(urls: str) -> str | None: ...
@overload
def site_of(urls: Any) -> pa.Array | pa.ChunkedArray: ...  # noqa: ANN401 -- any Arrow object
def site_of(urls: Any) -> Any:
    """Return the site of a URL, or of each URL of a column; None for what is no URL.

    >>> site_of("https://www.shop.co.uk/cart"), site_of("http://192.0.2.1/"), site_of("http://localhost/")
    ('shop.co.uk', '192.0.2.1', 'localhost')
    """
    if isinstance(urls, str):
        return suffixes().site(urls)
    return map_column(urls, suffixes().sites)
