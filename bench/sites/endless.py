"""A site that never ends: every link carries a new session id, and the page is the same under each."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from bench.sites.links import LinkedSite

if TYPE_CHECKING:
    from bench.sites.answers import Answer

_LINK = re.compile(rb'href="([^"]*)"')


class EndlessSite(LinkedSite):
    """A linked site with a new session id in every link of every response."""

    name = "sid"
    """Of the parameter that holds the id."""

    def with_name(self, name: str) -> EndlessSite:
        """Name the parameter."""
        self.name = name
        self._numbers = count(1)
        return self

    def answer(self, url: str, version: int = 0) -> Answer:
        """Return the page of the URL without its session id, its links with new ones."""
        bare = re.sub(rf"[?&]{self.name}=[0-9a-f]+", "", url)
        if "?" not in bare:
            bare = bare.replace("&", "?", 1)
        answer = super().answer(bare, version)
        return answer._replace(body=_LINK.sub(self._with_session, answer.body))

    def _with_session(self, link: re.Match[bytes]) -> bytes:
        target = link[1]
        mark = b"&amp;" if b"?" in target else b"?"
        number = (next(self._numbers) * 2654435761) % 2**32
        return b'href="%s%s%s=%08x"' % (target, mark, self.name.encode(), number)
