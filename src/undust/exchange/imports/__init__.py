"""Rule lists of other systems in our language: one format a file.

Parts of a format that no rule expresses exactly are reported, never guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import RuleError
from undust.exchange.imports.contract import Imported, SkippedPart, require_site
from undust.exchange.imports.duplicate_url_discarder import DUPLICATE_URL_DISCARDER_RULES
from undust.exchange.imports.parameter_lists import (
    CLEAN_PARAM_RULES,
    CLEARURLS_RULES,
    NO_VARY_SEARCH_RULES,
    REMOVEPARAM_RULES,
)
from undust.files.streams import read_whole
from undust.rules import RuleSet

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["IMPORTERS", "Imported", "SkippedPart", "import_rules", "imported"]

_MOST_BYTES = 64 << 20
"""What a rule list may hold; the longest that people use have a few."""
IMPORTERS = (
    DUPLICATE_URL_DISCARDER_RULES,
    CLEARURLS_RULES,
    REMOVEPARAM_RULES,
    CLEAN_PARAM_RULES,
    NO_VARY_SEARCH_RULES,
)
"""Every format, in the order of the help."""


def import_rules(path: str | PathLike[str], format: str, *, site: str | None = None) -> Imported:  # noqa: A002
    """Return the rules of another system's file; `site` is for files that do not name theirs."""
    name = str(path)
    try:
        text = read_whole(name, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name}: byte {error.start} is not UTF-8; save the file as UTF-8"
        raise RuleError(message) from None
    return imported(text, format, site=site, name=name)


def imported(text: str, format: str, *, site: str | None = None, name: str = "text") -> Imported:  # noqa: A002
    """Return the rules in the text of another system's file."""
    source = next((each for each in IMPORTERS if each.name == format), None)
    if source is None:
        message = f"no import is called {format!r}; there are {', '.join(each.name for each in IMPORTERS)}"
        raise RuleError(message)
    own = require_site(site, name) if source.needs_site else ""
    found = source.read(text, name, own)
    rules = {rule.id: rule for rule in reversed(found.rules)}
    return Imported(RuleSet(reversed(rules.values())), tuple(found.skipped), tuple(found.narrowed))
