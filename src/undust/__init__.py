"""Learns URL rewrite rules that send duplicate URLs to one canonical form."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undust.pipeline import read
    from undust.urls.normalize import normalize

__all__ = ["normalize", "read"]

_HOMES = {"normalize": "undust.urls.normalize", "read": "undust.pipeline"}


def __getattr__(name: str) -> object:
    # Loaded at first use: the command and many a script need only one of these.
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
