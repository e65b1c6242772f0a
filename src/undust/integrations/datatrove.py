"""datatrove: documents of a language-model crawl, deduplicated by the key of their URL.

    normalizer = UrlNormalizer("rules.json")
    ExactDedupConfig(content_getter=normalizer.of_document)
    UrlDedupConfig(url_normalizer=normalizer)  # datatrove before 0.3

datatrove calls what it is given; nothing of it is needed here.
"""

# No `from __future__ import annotations`: datatrove looks at what a getter says that it returns.

from typing import TYPE_CHECKING, Protocol

from undust.rules import canonicalizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from undust.rules import Rules


class Document(Protocol):
    """What a document of datatrove has, as far as it concerns a URL."""

    id: str
    metadata: "Mapping[str, Any]"


class UrlNormalizer:
    """A function from URLs to their keys, which travels to other processes as datatrove sends it there."""

    def __init__(self, rules: "Rules") -> None:
        self._canonicalizer = canonicalizer(rules)

    def __call__(self, url: str) -> str:
        """Return the key of a URL."""
        return self._canonicalizer.key(url)

    def of_document(self, document: Document) -> str:
        """Return the key of a document's URL; one without a URL is like no other, by its id."""
        url = document.metadata.get("url")
        return self(url) if isinstance(url, str) else f"id:{document.id}"
