"""URLs, one or a column of them: their parts, their normal form, and the site they belong to.

`Url` keeps every piece as it was written (browsers accept white space, backslashes, tabs, `HTTP:/host`), so
that printing an unchanged URL gives the same string.

`normalize` makes the one change of a URL that needs no evidence: only what RFC 3986 (section 6.2.2 and 6.2.3)
calls equivalent for every server. It does not reorder parameters, strip `www` or a trailing slash, or turn
http into https. Those are true on some sites and false on others, so they are for learned rules.

`site_of` returns the registered part of the host name. Private suffixes count, so `alice.github.io` and
`bob.github.io` are two sites. The list is the one bundled with the `publicsuffixlist` package; nothing is
ever fetched. A column is any Arrow object or a list.

`surt` gives the key by which web archives sort and find URLs, as pywb and OutbackCDX write it.

    https://www.shop.test:8080/A/?b=2&a=1   →   test,shop:8080)/a?a=1&b=2

No scheme, no `www.`, no user, host labels reversed, everything in lower case, triplets decoded where they may
be, repeated and trailing slashes removed, parameters sorted, and well-known session ids removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload
from urllib.parse import unquote_to_bytes

from undust._core import ALL_STEPS, Suffixes, normalize_url, split_url
from undust._core import normalize as core_normalize
from undust._core import normalize_lines as core_normalize_lines
from undust.extras import missing_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    import pyarrow as pa

    from undust._core import Column


@dataclass(frozen=True, slots=True)
class Url:
    """The pieces of an http(s) URL as written; None where a piece is absent, not empty.

    >>> Url.parse("https://user@Example.com:8080/a/b?x=1&y#top").host
    'Example.com'
    """

    before: str
    """White space in front."""
    scheme: str
    separator: str
    """The text between scheme and authority: `://`, or what a browser reads as that."""
    userinfo: str | None
    host: str
    port: str | None
    path: str
    query: str | None
    fragment: str | None
    after: str
    """White space at the end."""

    @classmethod
    def parse(cls, text: str) -> Url | None:
        """Return the URL, or None if no browser would take the text for an http(s) URL."""
        pieces = split_url(text)
        return None if pieces is None else cls(*pieces)

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments of the path: `/a//b/` has `a`, an empty one, `b` and an empty one."""
        return tuple(re.split(r"[/\\]", self.path)[1:])

    def pairs(self, separators: str = "&") -> tuple[tuple[str, str | None], ...]:
        """Return the query's (name, value) pairs in order; None is a value without `=`.

        >>> Url.parse("http://shop.test/?a&b=&b=2&&c;d").pairs()
        (('a', None), ('b', ''), ('b', '2'), ('', None), ('c;d', None))
        """
        if self.query is None:
            return ()
        pieces = (piece.partition("=") for piece in re.split(f"[{re.escape(separators)}]", self.query))
        return tuple((name, value if equals else None) for name, equals, value in pieces)

    def __str__(self) -> str:
        """Return the text that was parsed, with the changes made to its pieces."""
        return "".join(
            (
                self.before,
                self.scheme,
                self.separator,
                "" if self.userinfo is None else f"{self.userinfo}@",
                self.host,
                "" if self.port is None else f":{self.port}",
                self.path,
                "" if self.query is None else f"?{self.query}",
                "" if self.fragment is None else f"#{self.fragment}",
                self.after,
            )
        )


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
    """Return the steps to take, as bits, without those named in `skip`.

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


def one_array(urls: Any) -> pa.Array:  # noqa: ANN401 -- any Arrow object
    """Return `urls` as a single Arrow array; only chunks have to be copied together."""
    pa = _arrow()
    if isinstance(urls, pa.Array) or hasattr(urls, "__arrow_c_array__"):
        return _handed_over(urls if isinstance(urls, pa.Array) else pa.array(urls))
    if hasattr(urls, "__arrow_c_stream__"):
        chunks = _chunks(urls)
        return _handed_over(
            pa.concat_arrays(chunks.chunks) if chunks.num_chunks else pa.array([], chunks.type)
        )
    return pa.array(urls, pa.string())


def map_column(urls: Any, work: Callable[[Any], Column]) -> pa.Array | pa.ChunkedArray:  # noqa: ANN401
    """Return the result of `work` on an array, or on each chunk of a chunked one."""
    pa = _arrow()
    if not hasattr(urls, "__arrow_c_array__") and hasattr(urls, "__arrow_c_stream__"):
        column = _chunks(urls)
        chunks = column.chunks or [pa.array([], column.type)]
        return pa.chunked_array([pa.array(work(_handed_over(chunk))) for chunk in chunks])
    return pa.array(work(one_array(urls)))


def _arrow() -> ModuleType:
    """Return pyarrow, which is slow to load and not part of the base; a single URL does without."""
    try:
        return import_module("pyarrow")
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from None


def _chunks(urls: Any) -> pa.ChunkedArray:  # noqa: ANN401 -- any Arrow object
    import pyarrow as pa  # noqa: PLC0415

    return urls if isinstance(urls, pa.ChunkedArray) else pa.chunked_array(urls)


def _handed_over(array: pa.Array) -> pa.Array:
    """Return an array as it can be given to others: before 25, Arrow crashed at views of nothing but ""."""
    import pyarrow as pa  # noqa: PLC0415

    kind = array.type
    is_view = pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)
    if is_view and any(buffer is None for buffer in array.buffers()[2:]):
        return array.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary())
    return array


_URL = re.compile(
    r"https?://(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^/?#:]*)(:[0-9]*)?([^?#]*)(?:\?([^#]*))?", re.IGNORECASE
)
_WWW = re.compile(r"www[0-9]*\.")
_ESCAPED = re.compile(rb"[\x00-\x20\x7f-\xff#%]")
_SLASHES = re.compile(r"/{2,}")
_SESSION_OF_PATH = re.compile(r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/|\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$")
_SESSION_OF_QUERY = re.compile(
    r"(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=[^&]+&cftoken=[^&]+)"
    r"(?:&|$)"
)


def surt_of(url: str) -> str:
    """Return the key of a URL in an archive's index; a text that is not an http(s) URL comes back as it is.

    >>> surt_of("https://www.shop.test/A//b/?b=2&a=1"), surt_of("http://192.0.2.1:81/")
    ('test,shop)/a/b?a=1&b=2', '1,2,0,192:81)/')
    >>> surt_of("http://shop.test/%7Eme/%C3%A9"), surt_of("mailto:a@shop.test")
    ('test,shop)/~me/%c3%a9', 'mailto:a@shop.test')
    """
    parts = _URL.match(url)
    if parts is None:
        return url
    host, port, path, query = parts.groups()
    key = f"{_host(host.lower())}{_port(url, port)}){_path(path)}"
    parameters = _query(query or "")
    return f"{key}?{parameters}" if parameters else key


def _host(host: str) -> str:
    if host.startswith("["):
        return host.strip("[]")
    name = host.strip(".")
    start = _WWW.match(name)
    return ",".join(reversed((name[start.end() :] if start else name).split(".")))


def _port(url: str, port: str | None) -> str:
    is_default = port in {None, ":", ":80" if url[:5].lower() == "http:" else ":443"}
    return "" if is_default or port is None else port


def _path(path: str) -> str:
    kept: list[str] = []
    for segment in _SLASHES.sub("/", _decoded(path)).split("/")[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment not in {".", ""}:
            kept.append(segment)
    return _SESSION_OF_PATH.sub(r"\1\2", _encoded("/" + "/".join(kept)).lower())


def _query(query: str) -> str:
    found = _encoded(_decoded(query)).lower()
    found = _SESSION_OF_QUERY.sub("", found)
    return "&".join(sorted(found.split("&"), key=lambda parameter: parameter.partition("=")[::2]))


def _decoded(text: str) -> str:
    """Return a text with its triplets decoded, and those that this makes, byte by byte."""
    data = text.encode("utf-8", "surrogatepass")
    while b"%" in data and (once := unquote_to_bytes(data)) != data:
        data = once
    return data.decode("latin-1")


def _encoded(text: str) -> str:
    data = text.encode("latin-1")
    return _ESCAPED.sub(lambda found: b"%%%02x" % found[0][0], data).decode("ascii")
