"""A `replace` as an expression, where its text can occur in the path and the query only.

The rule acts at the leftmost place whose result is another URL of the site. In the path and the query every
place is such, but for results that standard form writes in another way; those rules are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.exchange.exports.contract import refuse
from undust.exchange.exports.expressions import AUTHORITY, SCHEME, CaptureGroup, Ref, escaped, query_literal
from undust.exchange.exports.hosts import hosts_of
from undust.exchange.exports.steps import Compiled, ExpressionStep, conditions
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.exchange.exports.expressions import Filled, Pieces
    from undust.rules import Rule

_BEFORE, _QUERY, _BEHIND = "before ", "query ", "behind "
_IN_AUTHORITY = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._:-")


def replaced(rule: Rule, *, lean: bool) -> Compiled:
    """Return the steps of a `replace`."""
    old, new = texts(rule)
    is_end = rule.source.endswith("$")
    if rule.source.startswith("^"):
        refuse("its text is at the beginning of the URL, where scheme and host are")
    if not old:
        refuse("it adds text to every URL")
    if "?" in old + new and "?" not in new:
        refuse("it removes the `?` before a query")
    _require_path(old, rule.site, is_end=is_end)
    _require_standard_result(old, new, is_end=is_end)
    if old[0].isalnum() and lean:
        refuse("whether its text begins a token needs a look behind")
    host = AUTHORITY if rule.site == ANY_SITE else rf"{hosts_of(rule.site, lean=lean)}(?::[0-9]+)?"
    start = r"(?:(?<=%[0-9A-F][0-9A-F])|(?<![A-Za-z0-9%]))" if old[0].isalnum() else ""
    text = start + escaped(old)
    needs, forbids = conditions(rule, needs_site=False, lean=lean)
    steps = [
        ExpressionStep(pieces, filled, needs, forbids, may_stay=old == new)
        for pieces, filled in _places(rf"{SCHEME}://(?:{host})", text, old, new, is_end=is_end)
    ]
    return Compiled(rule, tuple(steps))


def _places(url: str, text: str, old: str, new: str, *, is_end: bool) -> Iterator[tuple[Pieces, Filled]]:
    """Yield where the text may be, from the left: in the path, without and with a query, in the query."""
    before = "(?:/[^?]*?)?" if old.startswith("/") else "/[^?]*?"
    end = "[^A-Za-z0-9]" if _ends_in_token(old) else "[^#]"
    in_path = CaptureGroup(_BEFORE, url + before)
    if "?" in old:
        yield (
            (in_path, text, CaptureGroup(_BEHIND, _optional(end, ".*", is_end=is_end))),
            (Ref(_BEFORE), new, Ref(_BEHIND)),
        )
    else:
        rest = _optional(end.replace("^", "^?"), "[^?]*", is_end=is_end)
        yield (in_path, text, CaptureGroup(_BEHIND, rest)), (Ref(_BEFORE), new, Ref(_BEHIND))
        if not is_end:
            query = CaptureGroup(_QUERY, ".*")
            yield (
                (in_path, text, CaptureGroup(_BEHIND, rest), r"\?", query),
                (Ref(_BEFORE), new, Ref(_BEHIND), "?", Ref(_QUERY)),
            )
    yield (
        (
            CaptureGroup(_BEFORE, f"{url}/[^?]*"),
            r"\?",
            CaptureGroup(_QUERY, ".*?"),
            text,
            CaptureGroup(_BEHIND, _optional(end, ".*", is_end=is_end)),
        ),
        (Ref(_BEFORE), "?", Ref(_QUERY), new, Ref(_BEHIND)),
    )


def _optional(first: str, more: str, *, is_end: bool) -> str:
    return "" if is_end else f"(?:{first}{more})?"


def _ends_in_token(old: str) -> bool:
    return old[-1].isalnum() and not re.search("%[0-9A-F]{2}$", old)


def texts(rule: Rule) -> tuple[str, str]:
    """Return both texts of a `replace` in standard form, without anchors."""
    sides = (rule.source, rule.target or "")
    old, new = (query_literal(side.removeprefix("^").removesuffix("$")) for side in sides)
    return old, new


def _require_path(old: str, site: str, *, is_end: bool) -> None:
    """Refuse a text that might be in scheme or host, or reach into them."""
    if is_end and "/" not in old:
        return
    if not old.startswith("/"):
        first = next((place for place, character in enumerate(old) if character not in _IN_AUTHORITY), None)
        if first is not None and old[first] != "/":
            return
        refuse("its text may be in the host, too")
    second = old.find("/", 1)
    name = old[1:second] if second > 0 else ""
    if is_end and second < 0:
        return
    if set(old) == {"/"} or not name:
        refuse("its text may be in scheme and host, too")
    if site in {ANY_SITE, name} or name.endswith(f".{site}"):
        refuse("its text may be in the host, too")


def _require_standard_result(old: str, new: str, *, is_end: bool) -> None:
    """Refuse a text after which the path might have a dot segment, or begin without a slash."""
    if old.startswith("/") and not new.startswith("/"):
        refuse("without its slash, the text would become part of the host")
    pieces = new.split("/")
    starts_alike = (old.startswith("/") and new.startswith("/")) or pieces[0].strip(".?&=") != ""
    ends_alike = is_end or (old.endswith("/") and new.endswith("/")) or pieces[-1].strip(".?&=") != ""
    has_dots = any(piece.partition("?")[0] in {".", ".."} for piece in pieces)
    if has_dots or not (starts_alike and ends_alike) or (is_end and new.endswith(".")):
        refuse("what it leaves may be a dot segment")
