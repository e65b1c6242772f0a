"""One URL, taken apart without losing a character.

Browsers forgive a great deal: white space, backslashes, tabs, `HTTP:/host`. `Url` keeps
every piece as it was written, so that printing an unchanged URL gives the same string;
`normalize` is where the pieces get their one form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from undust._core import split_url


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
        """Return the text that was parsed, or what the changed pieces now say."""
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
