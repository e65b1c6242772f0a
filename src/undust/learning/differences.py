"""What separates two URLs of one page, as a rule: what differs is written, what is equal is left open.

Where a piece of text stands on both sides it becomes a capture, so that the same difference on other
pages gives the same rule. A rule seen on one page is none; one seen on many is a candidate.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from undust.learning.narrowing import PREFIX
from undust.learning.templates import CAPTURES, FORGET, Sides, captured, forgetting
from undust.learning.writing import is_plain, rewriting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.learning.forms import Forms, Pieces
    from undust.rules import Rule

BY = "differences"
PAGES = 3
"""A difference must be seen on so many pages."""
CANDIDATES = 1500
ALL_PAIRS = 10
"""Of a page with more URLs than this, some pairs are looked at only."""
LONGEST = 6
"""More segments or parameters than this do not change in one rule."""
KEPT_VALUES = 5
"""Distinct texts are counted up to this, which is also how many a forgotten part must have had: a part
with few values is a part of the site's scheme, and says where one is (the fan-out of Dasgupta et al.)."""
_CAPTURE = re.compile(rf"\{{([{CAPTURES}])(?=[:}}])")
LONG_NAME = 14
"""Letters and digits in a row that are so many are a page's own name, not a part of the site's scheme."""


def differences(forms: Forms) -> Iterator[Rule | None]:
    """Yield the differences between URLs of a page that several pages show, the most frequent first."""
    pages: dict[tuple[str, str], set[int]] = defaultdict(set)
    values: dict[tuple[str, str], list[set[str]]] = {}
    for page, rows in forms.of_page.items():
        for left, right in _pairs(rows):
            for source, target, texts in _rules_between(forms.pieces[left], forms.pieces[right]):
                pages[source, target].add(page)
                seen = values.setdefault((source, target), [set() for _ in texts])
                for some, text in zip(seen, texts, strict=True):
                    if len(some) < KEPT_VALUES:
                        some.add(text)
    ranked = sorted(pages.items(), key=lambda item: (-len(item[1]), item[0]))
    found = [
        each
        for (source, target), where in ranked[:CANDIDATES]
        if len(where) >= PAGES and (written := _written(source, values[source, target]))
        for each in _typed(written, target, values[source, target])
    ]
    for source, target in dict.fromkeys(found):
        yield rewriting(forms.site, BY, source, target)


def _written(source: str, values: list[set[str]]) -> str | None:
    """Return a left side that forgets what had many values, and writes what had one; None for a few."""
    first, *others = source.split(FORGET)
    forgotten = values[len(values) - len(others) :]
    for text, some in zip(others, forgotten, strict=True):
        if len(some) not in {1, KEPT_VALUES}:
            return None
        first += (next(iter(some)) if len(some) == 1 else FORGET) + text
    return first


def _typed(source: str, target: str, values: list[set[str]]) -> Iterator[tuple[str, str]]:
    """Yield the rule with captures of one value written as that value, and numbers as numbers.

    Where the texts of a capture begin alike (`p-`, `File:`), the rule with this beginning comes too.
    """
    narrow = source, target
    for name, some in zip(CAPTURES, values, strict=False):
        if len(some) == 1:
            (value,) = some
            source = source.replace(f"{{{name}}}", value)
            target = target.replace(f"{{{name}}}", value)
            narrow = narrow[0].replace(f"{{{name}}}", value), narrow[1].replace(f"{{{name}}}", value)
        elif all(text.isdigit() and text.isascii() for text in some):
            source = source.replace(f"{{{name}}}", f"{{{name}:int}}")
            narrow = narrow[0].replace(f"{{{name}}}", f"{{{name}:int}}"), narrow[1]
        elif beginning := _beginning(some):
            began = f"{beginning}{{{name}}}"
            narrow = narrow[0].replace(f"{{{name}}}", began), narrow[1].replace(f"{{{name}}}", began)
    yield _renamed(source, target)
    if narrow != (source, target):
        yield _renamed(*narrow)


def _beginning(texts: set[str]) -> str:
    """Return the word and its separator with which all texts begin; nothing if they do not."""
    found = {match[0] if (match := PREFIX.match(text)) else "" for text in texts}
    return found.pop() if len(found) == 1 else ""


def _renamed(source: str, target: str) -> tuple[str, str]:
    """Return both sides with captures named in their order, so that one rule has one text."""
    names = [found[1] for found in _CAPTURE.finditer(source)]
    order = {name: CAPTURES[place] for place, name in enumerate(names)}
    renamed = [_CAPTURE.sub(lambda found: "{" + order[found[1]], side) for side in (source, target)]
    return renamed[0], renamed[1]


def _pairs(rows: list[int]) -> Iterator[tuple[int, int]]:
    """Yield ordered pairs of a page's URLs: all of few, else those with the shortest and of neighbours."""
    if len(rows) <= ALL_PAIRS:
        yield from ((left, right) for left in rows for right in rows if left != right)
        return
    step = max(1, len(rows) // (3 * ALL_PAIRS))
    some = rows[: 3 * ALL_PAIRS * step : step]
    chosen = {(left, right) for left in some for right in some[:3] if left != right}
    chosen |= set(pairwise(some))
    yield from sorted(chosen | {(right, left) for left, right in chosen})


def _rules_between(left: Pieces, right: Pieces) -> Iterator[tuple[str, str, list[str]]]:
    """Yield left side, right side and captured texts of the rules that lead from one URL to the other."""
    common = Counter(left.query) & Counter(right.query)
    # The order of parameters on the left side of a rule means nothing, so one order stands for all.
    ours, theirs = tuple(sorted(_without(left.query, common))), _without(right.query, common)
    names = [parameter.partition("=")[0] for parameter in (*ours, *theirs)]
    if left.scheme != right.scheme or max(len(ours), len(theirs)) > LONGEST or not all(map(is_plain, names)):
        return
    if left.host == right.host and len(ours) == 1 and not theirs:
        yield from _value_as_path(left, right, ours[0])
    same_host = left.host == right.host
    hosts = ("{h}", "{h}") if same_host else (left.host, right.host)
    for path, new_path in _paths(left.segments, right.segments):
        is_open = not ours and not path.replace("{p**}", "").strip("/")
        # Without anything to tell when it applies a rule would never end; another host tells.
        if is_open == same_host:
            continue
        sides = captured(Sides((path, *ours), (new_path, *theirs)))
        for each in (sides, forgetting(sides)):
            if each is None or any(len(text) >= LONG_NAME for text in each.only_right()):
                continue
            if not each.captures and each.writes_path():
                continue  # one page's path for another's
            path_text, *query = each.left_texts()
            new_path_text, *new_query = each.right_texts()
            source = f"{{s}}://{hosts[0]}/{path_text}?{'&'.join([*query, '{rest**}'])}"
            new = new_path_text.replace("{p**}", "{p}")
            yield (
                source,
                f"{{s}}://{hosts[1]}/{new}?{'&'.join([*new_query, '{rest}'])}",
                [*each.captures, *each.forgotten],
            )


def _value_as_path(left: Pieces, right: Pieces, parameter: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield that a value with slashes is the path, or its end: `?q=node/7` and `/node/7`."""
    name, _, value = parameter.partition("=")
    segments = tuple(value.split("/"))
    if len(segments) > 1 and ";" not in value and right.segments[-len(segments) :] == segments:
        source = f"{{s}}://{{h}}/{_joined(*left.segments)}?{name}={{a}}&{{rest**}}"
        prefix = _joined(*right.segments[: -len(segments)], "{a}")
        yield source, f"{{s}}://{{h}}/{prefix}?{{rest}}", [value]


def _without(query: tuple[str, ...], common: Counter[str]) -> tuple[str, ...]:
    """Return the parameters that are not common, in their order."""
    left = Counter(common)
    kept = []
    for parameter in query:
        left[parameter] -= 1
        if left[parameter] < 0:
            kept.append(parameter)
    return tuple(kept)


def _paths(left: tuple[str, ...], right: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the two paths with what they share at the start, or at the end, left open."""
    if left == right:
        yield "{p**}", "{p**}"
        return
    shortest = min(len(left), len(right))
    head = next((at for at in range(shortest) if left[at] != right[at]), shortest)
    room = shortest - head
    tail = next((at for at in range(room) if left[-1 - at] != right[-1 - at]), room)
    ours, theirs = left[head : len(left) - tail], right[head : len(right) - tail]
    if max(len(ours), len(theirs)) > LONGEST:
        return
    if tail:
        yield _joined(*left[:head], *ours, "{p**}"), _joined(*left[:head], *theirs, "{p**}")
    if head:
        end = left[len(left) - tail :]
        yield _joined("{p**}", *ours, *end), _joined("{p**}", *theirs, *end)
    yield _joined(*left), _joined(*right)


def _joined(*segments: str) -> str:
    return "/".join(segments)
