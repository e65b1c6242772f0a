"""The site a URL belongs to: the registered part of the host name.

Private suffixes count, so `alice.github.io` and `bob.github.io` are two sites. The list is
the one bundled with the `publicsuffixlist` package; nothing is ever fetched.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from undust._core import Suffixes
from undust.urls.columns import map_column

if TYPE_CHECKING:
    import pyarrow as pa

SITE_NAME = r"^(?:\[[0-9a-f:.]+\]|(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63})$"
LONGEST_NAME = 253
"""Characters of a host name (RFC 1035, 2.3.4)."""


@cache
def suffix_list() -> bytes:
    """Return the text of the bundled public suffix list.

    >>> b"co.uk" in suffix_list().splitlines()
    True
    """
    # `importlib.resources` would take longer to load than the list to read, before each `undust apply`.
    found = find_spec("publicsuffixlist")
    folder = Path(next(iter((found and found.submodule_search_locations) or ["publicsuffixlist"])))
    return (folder / "public_suffix_list.dat").read_bytes()


@cache
def suffixes() -> Suffixes:
    """Return the bundled list as the core holds it; one is enough for all."""
    return Suffixes(suffix_list())


@overload
def site_of(urls: str) -> str | None: ...
@overload
def site_of(urls: Any) -> pa.Array | pa.ChunkedArray: ...  # noqa: ANN401 -- any Arrow object
def site_of(urls: Any) -> Any:
    """Return the site of a URL, or of each URL of a column; None for what is not a URL.

    >>> site_of("https://www.shop.co.uk/cart"), site_of("http://192.0.2.1/"), site_of("http://localhost/")
    ('shop.co.uk', '192.0.2.1', 'localhost')
    """
    if isinstance(urls, str):
        return suffixes().site(urls)
    return map_column(urls, suffixes().sites)


def are_site_names(sites: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return of each site whether it is a host name or an IP address, which a rule may be for.

    Browsers take more for a host: `http://$(id)/` is a URL whose host cannot be registered.

    >>> import pyarrow as pa
    >>> are_site_names(pa.array(["shop.test", "[2001:db8::1]", "$(id)", None])).to_pylist()
    [True, True, False, False]
    """
    import pyarrow.compute as pc  # noqa: PLC0415 -- a caller with a column has loaded it

    is_name = pc.match_substring_regex(sites, SITE_NAME)
    return pc.fill_null(pc.and_(is_name, pc.less_equal(pc.utf8_length(sites), LONGEST_NAME)), False)  # noqa: FBT003
