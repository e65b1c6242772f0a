"""Rules to and from other systems, and the index of a web archive with the keys that rules give."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from undust.exchange.exports import EXPORTERS, Exported
from undust.exchange.exports import export as export_to
from undust.exchange.imports import IMPORTERS, Imported, import_rules
from undust.exchange.rekeying import Rekeyed, rekeyed_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from undust.measuring import Labelled
    from undust.rules import RuleSet

__all__ = [
    "EXPORTERS",
    "IMPORTERS",
    "Exported",
    "Imported",
    "Rekeyed",
    "export",
    "import_rules",
    "rekeyed_lines",
]


def export(  # noqa: PLR0913 -- options of one verb, all named
    rules: RuleSet,
    to: str,
    output: str | PathLike[str] | None = None,
    *,
    site: str | None = None,
    sample: Any = None,  # noqa: ANN401 -- any Arrow object
    base: str | PathLike[str] | None = None,
) -> Exported:
    """Return the active rules in the language of another system, and write them to `output` if it is given.

    With `site`, only the rules that concern this site. What cannot be expressed exactly is in `refused`.
    What the exported rules keep of the effect of all is in `effect`; with a `sample` of observations (what
    `read` returned) also what they remove and lose there. `base` is a file of the system that the rules are
    put into, at the place where they take effect; its other lines stay (pywb).

    >>> from undust import Rule, RuleSet
    >>> text = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"
    >>> rule = Rule.parse(text, site="shop.test")
    >>> print(export(RuleSet([rule]), "no-vary-search").text, end="")
    No-Vary-Search: params=("sid")
    """
    pages = None if sample is None else partial(_known_pages, sample)
    return export_to(rules, to, output, site=site, sample=pages, base=base)


def _known_pages(sample: Any) -> Sequence[Labelled]:  # noqa: ANN401 -- any Arrow object
    from undust.jobs.evaluate import known_pages  # noqa: PLC0415 -- loads pyarrow; few exports have a sample

    return known_pages(sample)
