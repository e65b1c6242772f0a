"""What turns one URL into another, as pieces that stay, go and come: a change read at a glance."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

KEPT, GONE, NEW = "=", "-", "+"
_WORDS = re.compile(r"\*{3}[0-9]*|[0-9A-Za-z]+|%[0-9A-Fa-f]{2}|.", re.DOTALL)
LONGEST = 400
"""Words that are compared one by one; a longer middle is taken as a whole."""


def pieces(before: str, after: str) -> list[tuple[str, str]]:
    """Return the pieces of both URLs in order, each with what becomes of it.

    >>> pieces("http://www.a.test/x?sid=4", "http://a.test/x")
    [('=', 'http://'), ('-', 'www.'), ('=', 'a.test/x'), ('-', '?sid=4')]
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    inner_old, inner_new = old[start : len(old) - end], new[start : len(new) - end]
    found = [(KEPT, "".join(old[:start]))]
    if max(len(inner_old), len(inner_new)) > LONGEST:
        found += [(GONE, "".join(inner_old)), (NEW, "".join(inner_new))]
    else:
        for _, i, j, k, m in SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes():
            is_kept = inner_old[i:j] == inner_new[k:m]
            found += [(KEPT if is_kept else GONE, "".join(inner_old[i:j]))]
            found += [] if is_kept else [(NEW, "".join(inner_new[k:m]))]
    found.append((KEPT, "".join(old[len(old) - end :])))
    return _joined([(mark, text) for mark, text in found if text])


def _common(one: list[str], other: list[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _joined(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    done: list[tuple[str, str]] = []
    for mark, text in found:
        if done and done[-1][0] == mark:
            done[-1] = (mark, done[-1][1] + text)
        else:
            done.append((mark, text))
    return done
