"""Labelled sites for tests of what several of them, or several crawls of one, teach together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Forms = Callable[[int], list[str]]


def labelled(forms: Forms, pages: int = 60) -> list[tuple[str, str]]:
    """URLs and pages of one site: each page with the URLs that `forms` gives."""
    return [(url, str(page)) for page in range(pages) for url in forms(page)]


def table_of(*sites: Iterable[tuple[str, str]]) -> pa.Table:
    """Observations with labels of several sites."""
    rows = [row for site in sites for row in site]
    return pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})


def idle(site: str, name: str = "sid") -> Forms:
    """Pages where a parameter does nothing."""
    return lambda n: [f"http://{site}/p/{n}", f"http://{site}/p/{n}?{name}={n * 7919}"]


def selecting(site: str, name: str = "sid") -> Forms:
    """Pages where the same parameter selects."""
    return lambda n: [f"http://{site}/p?{name}={n}", f"http://{site}/p?{name}={n}&x={n}"]


def default(site: str) -> Forms:
    """Pages where one value of a parameter does nothing."""
    return lambda n: [f"http://{site}/p/{n}", f"http://{site}/p/{n}?view=list"]


def seldom_lower(site: str) -> Forms:
    """Pages of which a few were seen in lower case too."""
    return lambda n: [f"http://{site}/P/{n}", *([f"http://{site}/p/{n}"] if n < 8 else [])]
