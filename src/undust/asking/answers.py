"""What came back for a URL: the evidence of one response, small enough to be kept for ever."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Why = Literal["sample", "redirect", "retry", "second look", "robots"]
"""What a request was made for."""
WHYS: tuple[Why, ...] = get_args(Why)

OK, NON_AUTHORITATIVE = 200, 203
FIRST_REDIRECT, _NOT_MODIFIED, FIRST_ERROR, FIRST_FAILURE = 300, 304, 400, 500
BUSY = frozenset({429, 503})
"""Too many requests; unavailable for now."""


@dataclass(frozen=True)
class Answer:
    """One answer to one request; `turn` is how often the URL was asked for before."""

    url: str
    turn: int = 0
    why: Why = "sample"
    time: float = 0.0
    """Seconds since 1970, when it was there."""
    status: int | None = None
    redirect: str | None = None
    """Where it sends on, absolute."""
    size: int | None = None
    digest: str | None = None
    sketch: NDArray[np.uint32] | None = None
    text: bytes | None = None
    """Of the first pages of a site, from which its template is learned; and of robots.txt."""
    retry_after_s: float | None = None
    problem: str | None = None
    """Why there is no page to compare, in words."""

    @property
    def is_page(self) -> bool:
        """Whether it shows something that can be compared."""
        return self.problem is None and self.status in {OK, NON_AUTHORITATIVE} and self.digest is not None

    @property
    def is_redirect(self) -> bool:
        """Whether it sends on."""
        is_3xx = self.status is not None and FIRST_REDIRECT <= self.status < FIRST_ERROR
        return is_3xx and self.redirect is not None

    def with_sketch(self, sketch: NDArray[np.uint32] | None) -> Answer:
        """Return the same answer with its sketch, and without the text that is no longer needed."""
        return replace(self, sketch=sketch, text=None)

    def to_json(self) -> dict[str, Any]:
        """Return it as an object; what is unknown is left out."""
        said = {
            "url": self.url,
            "turn": self.turn,
            "why": self.why,
            "time": round(self.time, 3),
            "status": self.status,
            "redirect": self.redirect,
            "size": self.size,
            "digest": self.digest,
            "sketch": sketch_text(self.sketch),
            "text": None if self.text is None else b64encode(zlib.compress(self.text)).decode("ascii"),
            "retry_after": self.retry_after_s,
            "problem": self.problem,
        }
        return {name: value for name, value in said.items() if value is not None}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Answer:
        """Return the answer that an object says; raise KeyError, TypeError or ValueError if it says none."""
        sketch, text = said.get("sketch"), said.get("text")
        why = said["why"]
        if why not in WHYS:
            raise ValueError(why)
        return cls(
            url=str(said["url"]),
            turn=int(said["turn"]),
            why=why,
            time=float(said["time"]),
            status=said.get("status"),
            redirect=said.get("redirect"),
            size=said.get("size"),
            digest=said.get("digest"),
            sketch=None if sketch is None else np.frombuffer(b64decode(sketch, validate=True), np.uint32),
            text=None if text is None else zlib.decompress(b64decode(text, validate=True)),
            retry_after_s=said.get("retry_after"),
            problem=said.get("problem"),
        )


def sketch_text(sketch: NDArray[np.uint32] | None) -> str | None:
    """Return a sketch as text: base64 of its minima."""
    return None if sketch is None else b64encode(sketch.tobytes()).decode("ascii")
