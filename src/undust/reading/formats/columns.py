"""Which column of a person's table is which of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import SourceError
from undust.reading.formats.naming import ALIASES, METHOD, named_in, no_such_column, url_column
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.reading.formats.reading import Reading

OUR_NAMES = (*SCHEMA.names, METHOD)


def candidates(reading: Reading) -> dict[str, tuple[str, ...]]:
    """Return, for each of our columns, the names it may have in the person's table, the best first."""
    for ours in reading.options.columns:
        if ours not in SCHEMA.names:
            message = f"there is no column '{ours}'; undust knows {', '.join(SCHEMA.names)}"
            raise SourceError(message)
    said = {ours: (theirs,) for ours, theirs in reading.options.columns.items()}
    return {ours: said.get(ours, (ours, *ALIASES.get(ours, ()))) for ours in OUR_NAMES}


def chosen(header: Sequence[str], reading: Reading, url_like: Sequence[str] = ()) -> dict[str, str]:
    """Return our names for the columns that a header lists, as ours to theirs.

    Without a column whose name means URL, the only one in `url_like` is taken, whose values are URLs.
    """
    columns = reading.options.columns
    found: dict[str, str] = {}
    for ours, names in candidates(reading).items():
        if ours == "url":
            continue
        theirs = named_in(header, names)
        if theirs is not None:
            found[ours] = theirs
        elif ours in columns:
            raise no_such_column(names[0], header, reading.name)
    return {"url": url_column(header, columns.get("url"), url_like, reading.name)} | found
