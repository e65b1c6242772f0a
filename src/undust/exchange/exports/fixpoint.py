"""Rules that leave their own result alone, though they match it again.

    rewrite {s}://{h}/p/{*}/{id} → {s}://{h}/p/x/{id}
    rewrite {s}://{h}/{p**}?sid={*}&{rest**} → {s}://{h}/{p}?sid=0&{rest}

Where a part that does not matter cannot be dropped, a rule writes one value for it: at the same place, with
all else as it was. Done again, it writes the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.exchange.exports.references import as_refs
from undust.rules.pattern import Capture

if TYPE_CHECKING:
    from undust.rules.pattern import Pattern, Text


def settles(source: Pattern, target: Pattern) -> bool:
    """Whether a rule only writes constants, each at the place of what it replaces."""
    return (
        _is_same_or_literal((source.scheme or (),), (target.scheme or (),))
        and (_is_same_or_literal(source.host or (), target.host or ()) or _is_literal(target.host or ()))
        and source.port == target.port
        and _is_same_or_literal(source.path or ((),), target.path or ((),))
        and _query_settles(source, target)
    )


def _is_same_or_literal(before: tuple[Text, ...], after: tuple[Text, ...]) -> bool:
    pairs = zip(as_refs(before), after, strict=False)
    return len(before) == len(after) and all(one == other or _is_literal((other,)) for one, other in pairs)


def _is_literal(texts: tuple[Text, ...]) -> bool:
    return not any(isinstance(piece, Capture) for text in texts for piece in text)


def _query_settles(source: Pattern, target: Pattern) -> bool:
    """Whether named parameters come first, in one order, and then the others as they were."""
    before, after = source.query or (), target.query or ()
    if any(entry.several and entry.several.detail for entry in (*before, *after)):
        return False
    names = [[entry.name for entry in side if entry.several is None] for side in (before, after)]
    if names[0] != names[1] or len(set(names[0])) < len(names[0]):
        return False
    lists = [[entry.several.name for entry in side if entry.several is not None] for side in (before, after)]
    places = [place for place, entry in enumerate(after) if entry.several is not None]
    is_last = not places or places == [len(after) - 1]
    values = [[entry.value or () for entry in side if entry.several is None] for side in (before, after)]
    return lists[0] == lists[1] and is_last and _is_same_or_literal(tuple(values[0]), tuple(values[1]))
