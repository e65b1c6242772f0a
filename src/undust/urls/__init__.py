"""What a URL is: its parts, its normal form, its two views, and the site it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.urls.url import (
    STEPS,
    Url,
    are_site_names,
    normalize,
    normalize_lines,
    site_of,
    steps_without,
    suffix_list,
)

if TYPE_CHECKING:
    from undust.urls.views import KeyValueView, TokenView

__all__ = [
    "STEPS",
    "KeyValueView",
    "TokenView",
    "Url",
    "are_site_names",
    "normalize",
    "normalize_lines",
    "site_of",
    "steps_without",
    "suffix_list",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- a module attribute
    # The views need pyarrow, which takes longer to load than most commands take to run.
    if name in {"KeyValueView", "TokenView"}:
        from undust.urls import views  # noqa: PLC0415

        return getattr(views, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
