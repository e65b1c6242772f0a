"""The keys by which web archives sort and find URLs: SURT, as pywb and OutbackCDX write it.

    https://www.shop.test:8080/A/?b=2&a=1   →   test,shop:8080)/a?a=1&b=2

No scheme, no `www.`, no user, host labels reversed, everything in lower case, triplets decoded where they may
be, repeated and trailing slashes removed, parameters sorted, and well-known session ids removed.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

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
