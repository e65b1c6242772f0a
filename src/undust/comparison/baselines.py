"""What people use today instead of learned rules, where it is installed, and one caricature."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = Callable[[str], str]


def baselines() -> Iterator[tuple[str, Function]]:
    """Yield each by name, with its function from a URL to a URL; a URL it cannot take stays as it is."""
    for name, make in (
        ("w3lib", _w3lib),
        ("courlan", _courlan),
        ("duplicate-url-discarder", _duplicate_url_discarder),
    ):
        try:
            function = make()
        except ImportError:
            continue
        yield name, _careful(function)
    yield "drop-query", _drop_query


def _w3lib() -> Function:
    function: Function = import_module("w3lib.url").canonicalize_url
    return function


def _courlan() -> Function:
    courlan = import_module("courlan")

    def clean(url: str) -> str:
        text: str = courlan.normalize_url(courlan.clean_url(url) or url, strict=True) or url
        return text

    return clean


def _duplicate_url_discarder() -> Function:
    paths = import_module("duplicate_url_discarder_rules").RULE_PATHS
    suffixes = import_module("tldextract.tldextract")
    # Left alone, it fetches a suffix list at its first URL; its bundled one makes every run the same.
    vars(suffixes)["TLD_EXTRACTOR"] = suffixes.TLDExtract(suffix_list_urls=())
    canonicalizer = import_module("duplicate_url_discarder.url_canonicalizer").UrlCanonicalizer(paths or [])
    function: Function = canonicalizer.process_url
    return function


def _drop_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def _careful(function: Function) -> Function:
    def image(url: str) -> str:
        try:
            return function(url)
        except (ValueError, UnicodeError):
            return url

    return image
