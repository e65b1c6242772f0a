"""A site of a few pages that a test writes down, served like the generated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bench.sites.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

DOMAIN = "small.test"
HOME = f"http://{DOMAIN}"
_HTML = {"Content-Type": "text/html; charset=utf-8"}


class SmallSite:
    """Pages by their path and query; all else is not there."""

    domain = DOMAIN

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = answers

    def answer(self, url: str, version: int = 0) -> Answer:  # noqa: ARG002 -- what a server asks
        """Return the page."""
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return self._answers.get(path, Answer(404, _HTML, b"<p>nothing here", None))


def page(text: str, *links: str, **headers: str) -> Answer:
    """Return a page that says something and leads elsewhere."""
    body = f"<html><body><p>{text}</p>" + "".join(f'<a href="{link}"></a>' for link in links)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(200, _HTML | named, body.encode(), text)


def moved(target: str) -> Answer:
    """Return a redirect."""
    return Answer(301, {"Location": target}, b"", None)
