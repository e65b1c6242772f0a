"""What people use today instead of learned rules, where it is installed, and one caricature."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = Callable[[str], str]


def baselines() -> Iterator[tuple[str, Callable[[], Function]]]:
    """Yield the name of each that is there, and what gives its function from a URL to a URL.

    They are loaded only then: some take a second. A URL that one of them cannot take stays as it is.
    """
    for name, packages, make in (
        ("w3lib", ("w3lib",), _w3lib),
        ("courlan", ("courlan",), _courlan),
        (
            "duplicate-url-discarder",
            ("duplicate_url_discarder", "duplicate_url_discarder_rules"),
            _duplicate_url_discarder,
        ),
    ):
        if all(find_spec(package) for package in packages):
            yield name, make
    yield "drop-query", lambda: _drop_query


def _w3lib() -> Function:
    return careful(import_module("w3lib.url").canonicalize_url)


def _courlan() -> Function:
    courlan = import_module("courlan")

    def clean(url: str) -> str:
        text: str = courlan.normalize_url(courlan.clean_url(url) or url, strict=True) or url
        return text

    return careful(clean)


def _duplicate_url_discarder() -> Function:
    paths = import_module("duplicate_url_discarder_rules").RULE_PATHS
    suffixes = import_module("tldextract.tldextract")
    # Left alone, it fetches a suffix list at its first URL; its bundled one makes every run the same.
    vars(suffixes)["TLD_EXTRACTOR"] = suffixes.TLDExtract(suffix_list_urls=())
    canonicalizer = import_module("duplicate_url_discarder.url_canonicalizer").UrlCanonicalizer(paths or [])
    return careful(canonicalizer.process_url)


def _drop_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def careful(function: Function) -> Function:
    """Return the function, giving back a URL that it fails on."""

    def image(url: str) -> str:
        try:
            return function(url)
        except (ValueError, UnicodeError):
            return url

    return image
