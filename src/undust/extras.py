"""Packages that come with an extra of undust: whether they are there, and new enough.

Whoever asks for an integration learns at once, in one sentence, what to install; not from a traceback, and
not in the middle of a crawl.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

from undust.errors import MissingExtra


def require(package: str, oldest: str, extra: str | None = None) -> None:
    """Raise unless a package is installed in the version `oldest` or a later one.

    `extra` is the extra of undust that brings it; what comes with undust itself has none.
    """
    mend = f"pip install '{f'undust[{extra}]' if extra else f'{package}>={oldest}'}'"
    try:
        installed = version(package)
    except PackageNotFoundError:
        message = f"{package} is not installed; {mend}"
        raise MissingExtra(message, name=package) from None
    if _numbers(installed) < _numbers(oldest):
        message = f"{package} {installed} is older than {oldest}, which undust needs; {mend}"
        raise MissingExtra(message, name=package)


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers with which a version starts.

    >>> _numbers("2.14.0rc1"), _numbers("2.9")
    ((2, 14, 0), (2, 9))
    """
    start = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, start[0].split("."))) if start else ()
