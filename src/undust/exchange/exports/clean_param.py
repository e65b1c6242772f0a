"""`Clean-param` lines of a robots.txt, which Yandex reads: parameters that do not change the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.removals import (
    only_site,
    removals,
    require_names,
    require_no_prefix,
    require_plain_names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.removals import Removal

_EXACT = "URLs in standard form of hosts with this robots.txt, without empty parameters or `;` in the query"
_LONGEST = 500
"""Characters of one line that are read."""


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the lines."""
    found, refused = removals(rules, _require)
    found, more = only_site(found, "a robots.txt")
    lines = [line for each in found for line in (f"# {each.numbered}\n", *_lines(each))]
    return ExportedText("".join(["User-agent: Yandex\n", *lines]), (*refused, *more))


def _require(removal: Removal) -> None:
    require_names(removal)
    require_no_prefix(removal)
    require_plain_names(removal)


def _lines(removal: Removal) -> list[str]:
    lines: list[str] = []
    for name in removal.names:
        if lines and len(lines[-1]) + len(name) < _LONGEST:
            lines[-1] += f"&{name}"
        else:
            lines.append(f"Clean-param: {name}")
    return [f"{line}\n" for line in lines]


CLEAN_PARAM = Target("clean-param", "Clean-param lines for the robots.txt of one site", _EXACT, write)
