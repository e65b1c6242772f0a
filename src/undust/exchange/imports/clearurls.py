"""Files in the shape of ClearURLs' providers: a pattern of URLs, and names of parameters as expressions.

Only what is clearly a site, and a name or the beginning of names, becomes a rule; the rest is reported.
Names are taken as they are written, though ClearURLs ignores case.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from undust.errors import RuleError
from undust.exchange.imports.contract import ImportedRules, RuleFormat
from undust.exchange.imports.parameter_rules import dropping, is_site, listed
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Sequence

_EVERY_URL = {".*", "^https?://", r"^https?:\/\/", "https?://", ""}
_SITE = re.compile(
    r"\^?https\?:(?://|\\/\\/)"
    r"(?:\(\?:\[[^\]]+\]\+\\\.\)\*\??)"
    r"(?P<site>(?:[a-z0-9-]|\\\.)+?)"
    r"(?:\\\.\?)?(?:\(\?::\[0-9\]\+\)\?)?(?:/|\\/|\(\?:\\?/\|\$\))?"
)
_NAME = re.compile(r"(?P<name>(?:[A-Za-z0-9_~-]|\\[^A-Za-z0-9])+)(?P<more>\.\*)?")
_TOLD = {
    "rawRules": "texts to take out of a URL by an expression",
    "redirections": "addresses that stand inside others, which lead to other sites",
}


def read(text: str, name: str, site: str) -> ImportedRules:  # noqa: ARG001 -- the file names its sites
    """Return the rules of a file."""
    try:
        providers = json.loads(text)["providers"]
        items = list(providers.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"{name}: no JSON with providers ({error}); give a file in the shape that ClearURLs reads"
        raise RuleError(message) from None
    found = ImportedRules([], [])
    for title, provider in items:
        place = f"{name}: provider {title!r}"
        if isinstance(provider, dict):
            _read(provider, place, found)
        else:
            found.skip(place, "it is not an object")
    return found


def _read(provider: dict[str, Any], place: str, found: ImportedRules) -> None:
    site = _site(str(provider.get("urlPattern", "")))
    excepted = [_site(str(text)) for text in _texts(provider, "exceptions")]
    for key, what in _TOLD.items():
        if _texts(provider, key):
            found.skip(place, f"{key} are {what}, and no rule says that")
    if site is None:
        found.skip(place, f"the pattern {provider.get('urlPattern')!r} is not plainly a site")
    elif any(each in {None, ANY_SITE} for each in excepted) or (excepted and site != ANY_SITE):
        found.skip(
            place, "it has exceptions that are not plainly sites, and without them it would say too much"
        )
    else:
        names = [name for text in _texts(provider, "rules") if (name := _name(text, place, found))]
        try:
            text = listed(names, prefixes=True)
            found.rules += [dropping(text, site, [each for each in excepted if each])] if names else []
        except RuleError as error:
            found.skip(place, str(error))


def _texts(provider: dict[str, Any], key: str) -> Sequence[str]:
    texts = provider.get(key) or ()
    return [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else ()


def _site(pattern: str) -> str | None:
    if pattern in _EVERY_URL:
        return ANY_SITE
    shape = _SITE.fullmatch(pattern)
    site = shape["site"].replace("\\", "") if shape else ""
    return site if site and is_site(site) else None


def _name(text: str, place: str, found: ImportedRules) -> str | None:
    shape = _NAME.fullmatch(text)
    if shape is None:
        found.skip(place, f"{text!r} is an expression that no list of names says")
        return None
    return re.sub(r"\\(.)", r"\1", shape["name"]) + ("*" if shape["more"] else "")


CLEARURLS_RULES = RuleFormat(
    "clearurls", "the JSON shape of ClearURLs' providers", needs_site=False, read=read
)
