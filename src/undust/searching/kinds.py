"""The kind of an edit: what it does, and what the texts that it removes look like.

What visitors and programs add is long and different every time; a small number is most likely a page of a
list, and a word may be anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.edits import (
    DROP,
    MASK,
    OPERATIONS,
    RESPELL,
    SWAP,
    WRITE,
    Named,
    Rewrite,
    Several,
    ShapeParameter,
)
from undust.edits.making import OPEN, names_visit
from undust.proposing import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.edits import Edit
    from undust.judging import EditEffect

VISIT, RANDOM, _NUMBER, _WORD, _NOTHING = "visit", "random", "number", "word", "nothing"
LOOKS = (VISIT, RANDOM, _NUMBER, _WORD, _NOTHING)
ORDER, CASE, SLASH, ON_HOST, RENAMED = "order", "case", "slash", "host", "renamed"
_FORMS = {"sorted": ORDER, "unique": ORDER, "first": ORDER, "last": ORDER, "lower": CASE, "capital": CASE}
SEARCH_KINDS = tuple(
    sorted(
        {f"{operation} {look}" for operation in (DROP, MASK) for look in LOOKS}
        | {f"{RESPELL} {ORDER}", f"{RESPELL} {CASE}", f"{DROP} {SLASH}"}
        | {f"{WRITE} {ON_HOST}", f"{WRITE} {RENAMED}"}
        | {operation for operation in OPERATIONS if operation not in {DROP, MASK}}
    )
)
"""All kinds of edits, by name."""
GUARDED, IN_OTHER_FOLDERS = " under guards", " in other folders"
"""What is added to the name of a kind: for edits with guards, and for how far a folder stands for others."""
NUMBER_DROPPED, NUMBER_MASKED = f"{DROP} {_NUMBER}", f"{MASK} {_NUMBER}"
_MOST, _VARIED, _SHORTEST, _LONG_NUMBER = 0.7, 0.6, 8, 8
_NAME = re.compile(r"[^\W_]+")
_SCHEMES = frozenset({"http", "https"})
_CODE = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_.~+=%-]+|[0-9a-fA-F]+")


def kind_of(effect: EditEffect) -> str:
    """Return the name of the kind of an edit, by what it would do."""
    edit = effect.edit
    name = base_kind_of(effect)
    return f"{name}{GUARDED}" if edit.when or edit.unless else name


def base_kind_of(effect: EditEffect) -> str:
    """Return the same whether an edit has guards or not."""
    edit = effect.edit
    name = edit.operation
    if is_renaming(edit) and not _is_on_host(edit):
        return NUMBER_DROPPED if _is_of_numbers(edit) else f"{WRITE} {RENAMED}"
    if name in {DROP, MASK}:
        return f"{name} {_removed(effect)}"
    last = edit.parts[-1] if isinstance(edit, Several) else edit
    if not isinstance(last, Rewrite):
        return name
    if name == RESPELL:
        forms = (_FORMS.get(capture.form or "") for capture in last.target.captures())
        return " ".join((name, *sorted({form for form in forms if form})[:1]))
    return f"{name} {ON_HOST}" if name == WRITE and _is_on_host(edit) else name


def _removed(effect: EditEffect) -> str:
    """Return what an edit removes: a slash, or texts that look like this."""
    edit = effect.edit
    if edit.operation == DROP and not edit.removes:
        if not any(edit.literals()):
            return SLASH
        known = dict(sorted(effect.defaults))
        own = sorted(edit.defaults.items())
        if others := [value for name, value in own if name in known and (name, value) not in effect.defaults]:
            # A parameter has one default: another value is as doubtful as any.
            return look_of_texts(others)
    return look_of(effect)


def _is_on_host(edit: Edit) -> bool:
    """Return whether an edit leaves paths and queries as they are."""
    last = edit.parts[-1] if isinstance(edit, Several) else edit
    return isinstance(last, Rewrite) and (last.source.path, last.source.query) == (OPEN.path, OPEN.query)


def is_renaming(edit: Edit) -> bool:
    """Return whether an edit writes a word or number where it read another: one place becomes another one.

    Two folders, languages or repositories have many pages of the same name. Some of them are equal, and those
    that differ may not be among the pages that were seen.
    """
    read, written = _renamed(edit)
    return bool(read and written)


def _is_of_numbers(edit: Edit) -> bool:
    """Return whether an edit writes a number for another."""
    return all(any(map(str.isdigit, names)) for names in _renamed(edit))


def _renamed(edit: Edit) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that an edit reads and does not write, and those that it writes and did not read."""
    if edit.operation not in {SWAP, WRITE}:
        return frozenset(), frozenset()
    written = _names(edit.makes_up)
    last = edit.parts[-1] if isinstance(edit, Several) else edit
    stays = _names(last.target.literals()) if isinstance(last, Rewrite) else frozenset()
    read = _names(word for word in edit.literals() if word not in edit.makes_up) - stays
    return read - written, written - read


def _names(words: Iterable[str]) -> frozenset[str]:
    return frozenset(name for word in words for name in _NAME.findall(word)) - _SCHEMES


def look_of(effect: EditEffect) -> str:
    """Return what the texts look like that an edit removes."""
    edit = effect.edit
    parts = edit.parts if isinstance(edit, Several) else (edit,)
    looks = [_look(part, effect.samples) for part in parts if part.removes]
    # Several at once are as doubtful as the most doubtful of them.
    return max(looks, key=(VISIT, RANDOM, _WORD, _NUMBER).index) if looks else _NOTHING


def _look(edit: Edit, samples: tuple[str, ...]) -> str:
    if not isinstance(edit, Rewrite):
        return _WORD
    names = set(_forgotten_names(edit))
    if not names:
        return _by_class(edit)
    if all(map(names_visit, names)):
        return VISIT
    texts = [
        parameter.partition("=")[2]
        for url in samples
        for parameter in parts_of(url).query
        if _is_among(parameter.partition("=")[0], names)
    ]
    return look_of_texts(texts)


def _forgotten_names(edit: Rewrite) -> Iterator[str]:
    for part in edit.source.query:
        if isinstance(part, Named):
            yield from () if part.capture else part.names
        elif isinstance(part, ShapeParameter) and part.name in edit.removes:
            yield part.name


def _is_among(name: str, names: set[str]) -> bool:
    return name in names or any(each.endswith("*") and name.startswith(each[:-1]) for each in names)


def _by_class(edit: Rewrite) -> str:
    kept = {capture.name for capture in edit.target.captures() if capture.form != "any"}
    classes = {
        capture.kind for capture in edit.source.captures() if capture.name not in kept or not capture.name
    }
    if classes <= {"hex", "uuid"}:
        return RANDOM
    return _NUMBER if "int" in classes else _WORD


def look_of_texts(texts: list[str]) -> str:
    """Return what texts look like.

    >>> look_of_texts(["9f86d081884c", "7d865e959b24"]), look_of_texts(["2", "3"]), look_of_texts(["en"])
    ('random', 'number', 'word')
    """
    some = [text for text in texts if text]
    if not some:
        return _WORD
    codes = [text for text in some if len(text) >= _SHORTEST and _CODE.fullmatch(text)]
    codes += [text for text in some if text.isdigit() and len(text) >= _LONG_NUMBER and text not in codes]
    if len(codes) >= _MOST * len(some) and len(set(some)) >= _VARIED * len(some):
        return RANDOM
    return _NUMBER if all(text.isdigit() for text in some) else _WORD
