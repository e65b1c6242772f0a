"""An edit: a typed change of URLs, which knows its text, what it removes, what it makes up and its cost."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from undust.edits.shapes import (
    EDIT_ANY,
    Guard,
    Named,
    Shape,
    ShapeCapture,
    ShapeParameter,
    filled,
    is_shorter,
    labels_of,
    places_of,
)
from undust.errors import UndustError
from undust.privacy import is_random, names_a_person
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.rules.language import Kind

DROP, RESPELL, WRITE, MOVE, MASK, SWAP, KEEP = "drop", "respell", "write", "move", "mask", "swap", "keep"
OPERATIONS = (DROP, RESPELL, WRITE, MOVE, MASK, SWAP, KEEP)
_BY = "edits"
_WORD_BITS, _LETTER_BITS, _LONGEST, _CAPTURE_BITS = 5.0, 1.0, 24, 1.0
EDIT_ANYTHING = Shape()
"""Any URL, taken apart no further than needed."""
THE_SAME = EDIT_ANYTHING.written()
"""The same, written again."""
_WORD = re.compile(r"[\w-]+")
_WIDER = {"int": ("hex", "word"), "hex": ("word",), "alpha": ("word",), "word": ("",), "uuid": ("word",)}
"""Classes of captures, and those that hold all their texts."""


@dataclass(frozen=True)
class Edit(ABC):
    """Something that is done to the URLs of a site, under guards."""

    when: tuple[Guard, ...] = ()
    unless: tuple[Guard, ...] = ()

    @property
    @abstractmethod
    def operation(self) -> str:
        """Which of the operations it is."""

    @property
    @abstractmethod
    def removes(self) -> tuple[str, ...]:
        """Names of what it takes and does not write: each must have been seen to vary by itself."""

    @property
    @abstractmethod
    def makes_up(self) -> tuple[str, ...]:
        """Words that it writes and did not find: its targets must be known to work."""

    @abstractmethod
    def inverse(self) -> Edit | None:
        """Return the edit that says the same from right to left; None where something is removed."""

    @abstractmethod
    def more_general(self) -> Iterator[Edit]:
        """Yield the edits that do the same in more places, one step away."""

    @abstractmethod
    def literals(self) -> Iterator[str]:
        """Yield the words that it names, guards aside."""

    @abstractmethod
    def _steps(self, site: str) -> Iterable[Rule]:
        """Return it in the rule language."""

    @property
    def defaults(self) -> dict[str, str]:
        """Parameters that it removes with one value, and that value."""
        return {}

    @property
    def is_mask(self) -> bool:
        """Whether it changes keys only."""
        return self.operation == MASK

    @property
    def is_open(self) -> bool:
        """Whether it is for paths of any folder."""
        return True

    @property
    def is_for_all_hosts(self) -> bool:
        """Whether it is for any host of a site."""
        return not any(guard.host for guard in self.when)

    def rules(self, site: str) -> tuple[Rule, ...] | None:
        """Return the rules of a site that do it; None where the language cannot, or should not."""
        if site not in self._said_for:
            self._said_for[site] = self._said_in_rules(site)
        return self._said_for[site]

    @cached_property
    def _said_for(self) -> dict[str, tuple[Rule, ...] | None]:
        return {}

    def _said_in_rules(self, site: str) -> tuple[Rule, ...] | None:
        if any(map(is_somebodys, self._words())):
            return None
        try:
            return tuple(self._steps(site))
        except (UndustError, ValueError):
            return None

    @cached_property
    def text(self) -> str:
        """The edit in one line, which no other edit has."""
        guards = [("when", self.when), ("unless", self.unless)]
        said = "".join(f" {word} {', '.join(map(str, some))}" for word, some in guards if some)
        return f"{self._said()}{said}"

    @abstractmethod
    def _said(self) -> str:
        """Return what is done, guards aside."""

    @property
    def bits(self) -> float:
        """How much it takes to say it."""
        words = (_WORD_BITS + _LETTER_BITS * min(len(word), _LONGEST) for word in self._words())
        return sum(words) + _CAPTURE_BITS * len(self.removes)

    def _words(self) -> Iterator[str]:
        yield from self.literals()
        for guard in (*self.when, *self.unless):
            yield from guard.literals()

    def guarded(self, when: Iterable[Guard] = (), unless: Iterable[Guard] = ()) -> Self:
        """Return it under more guards: one step more special."""
        more = tuple(each for each in when if each not in self.when)
        fewer = tuple(each for each in unless if each not in self.unless)
        return replace(self, when=(*self.when, *more), unless=(*self.unless, *fewer))

    def _unguarded(self) -> Iterator[Edit]:
        for guard in self.when:
            yield replace(self, when=tuple(each for each in self.when if each != guard))
        for guard in self.unless:
            yield replace(self, unless=tuple(each for each in self.unless if each != guard))

    def _rule(self, site: str, kind: Kind, source: str, target: str | None = None) -> Rule:
        """Return a rule under the guards."""
        when, unless = tuple(map(str, self.when)), tuple(map(str, self.unless))
        return Rule(site, kind, source, target, when, unless, learned_by=_BY)


@dataclass(frozen=True)
class Rewrite(Edit):
    """What a pattern finds is written in another form."""

    source: Shape = EDIT_ANYTHING
    target: Shape = THE_SAME

    @cached_property
    def operation(self) -> str:
        """Drop, respell, write, move or mask, by what becomes of the captures."""
        forms = {capture.form for capture in self.target.captures()}
        if EDIT_ANY in forms:
            return MASK
        if self.removes:
            return DROP
        if places_of(self.source) != places_of(self.target):
            return MOVE
        if self.makes_up:
            return WRITE
        return DROP if is_shorter(self.source, self.target) else RESPELL

    @cached_property
    def removes(self) -> tuple[str, ...]:
        """Captures and lists of the left that the right does not write, or only to the key."""
        kept = {capture.name for capture in self.target.captures() if capture.form != EDIT_ANY}
        called = zip(labels_of(self.source), self.source.captures(), strict=True)
        return tuple(label for label, capture in called if capture.name not in kept)

    @cached_property
    def makes_up(self) -> tuple[str, ...]:
        """Words of the right that the left does not have."""
        found = list(self.source.literals())
        return tuple(word for word in self.target.literals() if word not in found)

    @cached_property
    def defaults(self) -> dict[str, str]:
        """Parameters of the left that have one value, and are not on the right."""
        written = {part.name for part in self.target.query if isinstance(part, ShapeParameter)}
        return {
            part.name: str(part.value[0])
            for part in self.source.query
            if isinstance(part, ShapeParameter) and part.name not in written
            if part.value and len(part.value) == 1 and isinstance(part.value[0], str)
        }

    @property
    def is_open(self) -> bool:
        """Whether its path begins with any number of segments."""
        first = self.source.path[0][0]
        return isinstance(first, ShapeCapture) and first.is_many

    @property
    def is_for_all_hosts(self) -> bool:
        """Whether the whole host is left open."""
        return self.source.host == Shape().host and super().is_for_all_hosts

    def inverse(self) -> Rewrite | None:
        """Return the edit from right to left, with the classes of the left."""
        if self.removes or any(capture.form for capture in self.target.captures()):
            return None
        taken = {capture.name: capture for capture in self.source.captures()}
        if any(isinstance(part, Named) for part in self.source.query):
            return None
        return replace(self, source=filled(self.target, taken), target=self.source.written())

    def more_general(self) -> Iterator[Edit]:
        """Yield it with a guard less, or with a wider class of one capture."""
        yield from self._unguarded()
        for capture in self.source.captures():
            for wider in _WIDER.get(capture.kind, ()):
                yield replace(self, source=filled(self.source, {capture.name: replace(capture, kind=wider)}))

    def literals(self) -> Iterator[str]:
        """Yield the words of both sides, each place once."""
        yield from self.source.literals()
        yield from self.makes_up

    def _said(self) -> str:
        return f"rewrite {self.source} → {self.target}"

    def _steps(self, site: str) -> Iterator[Rule]:
        yield self._rule(site, "rewrite", str(self.source), str(self.target))


@dataclass(frozen=True)
class Swap(Edit):
    """A piece of text becomes another, wherever it stands."""

    old: str = ""
    new: str = ""
    operation = SWAP

    @property
    def removes(self) -> tuple[str, ...]:
        """Nothing: what is taken is written in the edit."""
        return ()

    @property
    def makes_up(self) -> tuple[str, ...]:
        """The text that it writes."""
        return (self.new,) if self.new.strip("$^") else ()

    def inverse(self) -> Swap | None:
        """Return the edit from right to left; an empty text is everywhere.

        >>> print(Swap(old="=csv$", new="=tab").inverse().text)
        replace "=tab$" → "=csv"
        """
        if not self.new.strip("$^"):
            return None
        start, end = "^" * self.old.startswith("^"), "$" * self.old.endswith("$")
        bare = self.new.removeprefix(start).removesuffix(end)
        return replace(self, old=f"{start}{bare}{end}", new=self.old.removeprefix(start).removesuffix(end))

    def more_general(self) -> Iterator[Edit]:
        """Yield it with a guard less."""
        yield from self._unguarded()

    def literals(self) -> Iterator[str]:
        """Yield both texts."""
        yield self.old
        yield from self.makes_up

    def _said(self) -> str:
        return f'replace "{self.old}" → "{self.new}"'

    def _steps(self, site: str) -> Iterator[Rule]:
        yield self._rule(site, "replace", self.old, self.new)


@dataclass(frozen=True)
class Keep(Edit):
    """What meets the guards is left as it is by all other edits."""

    operation = KEEP
    removes: tuple[str, ...] = ()
    makes_up: tuple[str, ...] = ()

    def inverse(self) -> None:
        """Return None: nothing is done that could be undone."""

    def more_general(self) -> Iterator[Edit]:
        """Yield it with a guard less, as long as one is left."""
        yield from (edit for edit in self._unguarded() if edit.when)

    def literals(self) -> Iterator[str]:
        """Yield nothing: all that it names are guards."""
        yield from ()

    def _said(self) -> str:
        return f"keep {Shape()}"

    def _steps(self, site: str) -> Iterator[Rule]:
        yield self._rule(site, "keep", str(Shape()))


@dataclass(frozen=True)
class Several(Edit):
    """Edits that are one: none of them shows anything without the others."""

    parts: tuple[Edit, ...] = ()

    @property
    def operation(self) -> str:
        """That of the last, which does what the others prepare."""
        return self.parts[-1].operation

    @property
    def is_mask(self) -> bool:
        """Whether all of them change keys only."""
        return all(part.is_mask for part in self.parts)

    @property
    def removes(self) -> tuple[str, ...]:
        """What any of them removes."""
        return tuple(name for part in self.parts for name in part.removes)

    @property
    def makes_up(self) -> tuple[str, ...]:
        """What any of them makes up."""
        return tuple(word for part in self.parts for word in part.makes_up)

    @property
    def defaults(self) -> dict[str, str]:
        """What any of them removes with one value."""
        return {name: value for part in self.parts for name, value in part.defaults.items()}

    @property
    def is_open(self) -> bool:
        """Whether all of them are for paths of any folder."""
        return all(part.is_open for part in self.parts)

    def inverse(self) -> Edit | None:
        """Return the inverses in the opposite order."""
        turned = [part.inverse() for part in reversed(self.parts)]
        found = tuple(part for part in turned if part is not None)
        return replace(self, parts=found) if len(found) == len(turned) else None

    def more_general(self) -> Iterator[Edit]:
        """Yield it with a guard less."""
        yield from self._unguarded()

    def literals(self) -> Iterator[str]:
        """Yield the words of all."""
        for part in self.parts:
            yield from part.literals()

    def _said(self) -> str:
        return "; ".join(part.text for part in self.parts)

    def _steps(self, site: str) -> Iterator[Rule]:
        for part in self.parts:
            yield from part.guarded(self.when, self.unless)._steps(site)  # noqa: SLF001 -- its own kind


def is_somebodys(text: str) -> bool:
    """Return whether a text holds what looks like one visitor's own."""
    return names_a_person(text) or any(map(is_random, _WORD.findall(text)))
