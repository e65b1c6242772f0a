"""Rules of codes in the words of our rule language.

A context is a pattern without `{rest**}`: what a URL has beside it, the rule does not match, as published.
Where the paper writes a wildcard into the result there must be a URL that can be fetched: the value that
was seen on most pages, if these are enough; else, if nothing but the wildcard changes, a mask; else the
rule cannot be said.

Classes of rules (A22): IRP has a wildcard in its result; DUST has none, and one literal piece of text takes
the place of another, the same in all URLs; REGX is the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from undust.errors import RuleError
from undust.proposing.papers.rewrite.maps import CLASSES
from undust.proposing.papers.rewrite.pairs import FIRST_REFERENCE, KEY_ABSENT, STAR, source_key
from undust.rules import Rule

if TYPE_CHECKING:
    from undust.proposing.papers.rewrite.maps import Ints, Maps
    from undust.proposing.papers.rewrite.pairs import Rules
    from undust.proposing.papers.rewrite.sampling import SampledPairs

RuleClass = Literal["DUST", "IRP", "REGX"]
REWRITE_NAME = "rewrite"

_TOKEN = re.compile(r"\0\d+\0|[A-Za-z0-9]+|.", re.DOTALL)
_CAPTURE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class KeyEntry:
    """What a rule says at one key, in codes."""

    key: int
    context: int
    action: int


def entries_of(rules: Rules, rule: int) -> list[KeyEntry]:
    """Return one rule, key by key."""
    at = slice(int(rules.offsets[rule]), int(rules.offsets[rule + 1]))
    columns = (rules.keys[at].tolist(), rules.context[at].tolist(), rules.action[at].tolist())
    return [KeyEntry(*entry) for entry in zip(*columns, strict=True)]


class Wording:
    """The words for the rules of one site."""

    def __init__(self, site: str, maps: Maps, pairs: SampledPairs, constant_share: float) -> None:
        self.site, self.maps, self.pairs, self.constant_share = site, maps, pairs, constant_share
        self._texts: dict[int, str | None] = {}

    def _text(self, value: int) -> str | None:
        if value not in self._texts:
            self._texts[value] = self.maps.text(value)
        return self._texts[value]

    def can_say(self, entries: list[KeyEntry], support: Ints) -> bool:
        """Whether there is something to write for every wildcard of the result."""
        return _is_mask(entries) or self._constants(entries, support) is not None

    def rule(self, entries: list[KeyEntry], support: Ints) -> Rule | None:
        """Return the rule as our language says it, or None if it cannot."""
        constants = self._constants(entries, support)
        if constants is None and not _is_mask(entries):
            return None
        return self.written(entries, constants)

    def written(self, entries: list[KeyEntry], constants: dict[int, str | None] | None) -> Rule | None:
        """Return the rule with these values for the wildcards of its result; without any, as a mask."""
        names = self._names(entries, keeps_all=constants is None)
        try:
            source = self._pattern({e.key: self._asked(e, names) for e in entries if e.context != KEY_ABSENT})
            given = {
                e.key: self._given(e, entries, names, constants) for e in entries if e.action != KEY_ABSENT
            }
            return Rule(self.site, "rewrite", source, self._pattern(given), learned_by=REWRITE_NAME)
        except RuleError:
            return None

    def rule_class(self, entries: list[KeyEntry]) -> RuleClass:
        """Return of which of the paper's classes a rule is."""
        if any(entry.action == STAR for entry in entries):
            return "IRP"
        source = {e.key: self._symbol(e) for e in entries if e.context != KEY_ABSENT}
        target = {e.key: self._result(e, source) for e in entries if e.action != KEY_ABSENT}
        left, right = (_TOKEN.findall(self._pattern(side)) for side in (source, target))
        start = _common(left, right)
        left, right = left[start:], right[start:]
        end = _common(left[::-1], right[::-1])
        changed = left[: len(left) - end] + right[: len(right) - end]
        return "REGX" if any(token.startswith("\0") for token in changed) else "DUST"

    def _symbol(self, entry: KeyEntry) -> str | None:
        return self._text(entry.context) if entry.context >= 0 else f"\0{entry.key}\0"

    def _result(self, entry: KeyEntry, source: dict[int, str | None]) -> str | None:
        return source[source_key(entry.action)] if entry.action < 0 else self._text(entry.action)

    def _constants(self, entries: list[KeyEntry], support: Ints) -> dict[int, str | None] | None:
        """Return what to write for each wildcard of the result, or None if nothing is known to work."""
        written = [entry.key for entry in entries if entry.action != KEY_ABSENT]
        places = [place for place, key in enumerate(written) if _at(entries, key).action == STAR]
        if not places:
            return {}
        targets = self.pairs.right[support]
        pages = self.maps.clusters[targets]
        start = self.maps.offsets[targets]
        values = np.stack([self.maps.values[start + place] for place in places])
        order = np.lexsort((pages, *values))
        values, pages = values[:, order], pages[order]
        changes = (values[:, 1:] != values[:, :-1]).any(axis=0)
        is_new = np.concatenate(([True], changes))
        on_page = np.concatenate(([True], changes | (pages[1:] != pages[:-1])))
        counts = np.bincount(np.cumsum(is_new) - 1, weights=on_page)
        if counts.max() <= self.constant_share * len(np.unique(pages)):
            return None
        first = values[:, np.flatnonzero(is_new)[np.argmax(counts)]].tolist()
        keys = [written[place] for place in places]
        return {key: self._text(value) for key, value in zip(keys, first, strict=True)}

    def _names(self, entries: list[KeyEntry], *, keeps_all: bool) -> dict[int, str]:
        """Return the names of the wildcards that the result needs."""
        needed = {source_key(entry.action) for entry in entries if entry.action <= FIRST_REFERENCE}
        names: dict[int, str] = {}
        for entry in entries:
            if entry.context <= STAR and (keeps_all or entry.key in needed):
                name = _name(self.maps.key_names[entry.key])
                names[entry.key] = name if name not in names.values() else f"{name}_{len(names)}"
        return names

    def _asked(self, entry: KeyEntry, names: dict[int, str]) -> str | None:
        if entry.context >= 0:
            return self._text(entry.context)
        kind = f":{CLASSES[entry.context]}" if entry.context in CLASSES else ""
        return f"{{{names.get(entry.key, '*')}{kind}}}"

    def _given(
        self,
        entry: KeyEntry,
        entries: list[KeyEntry],
        names: dict[int, str],
        constants: dict[int, str | None] | None,
    ) -> str | None:
        if entry.action >= 0:
            return self._text(entry.action)
        if entry.action == STAR:
            return f"{{{names[entry.key]}:any}}" if constants is None else constants[entry.key]
        source = _at(entries, source_key(entry.action))
        return self._text(source.context) if source.context >= 0 else f"{{{names[source.key]}}}"

    def _pattern(self, pieces: dict[int, str | None]) -> str:
        """Return pieces by their keys as a URL or pattern; None is a parameter without `=`."""
        named = {self.maps.key_names[key]: piece for key, piece in sorted(pieces.items())}
        labels = [piece or "" for name, piece in named.items() if name.startswith("host")]
        path = [piece or "" for name, piece in named.items() if name.startswith("path_")]
        query = [_parameter(name, piece) for name, piece in named.items() if name.startswith("?")]
        return "".join(
            (
                f"{named['scheme']}://{'.'.join(reversed(labels))}",
                f":{named['port']}" if "port" in named else "",
                "/" + "/".join(path) + ("/" if "slash" in named else ""),
                "?" + "&".join(query) if query else "",
            )
        )


def _is_mask(entries: list[KeyEntry]) -> bool:
    """Whether a rule changes nothing but values that do not matter."""
    return all(
        entry.action == FIRST_REFERENCE - entry.key or (entry.action == STAR and entry.context <= STAR)
        for entry in entries
    )


def _at(entries: list[KeyEntry], key: int) -> KeyEntry:
    return next(entry for entry in entries if entry.key == key)


def _name(key: str) -> str:
    bare = key.removeprefix("?").replace("#", "_")
    return bare if _CAPTURE_NAME.fullmatch(bare) else re.sub(r"[^A-Za-z0-9_]", "_", f"v_{bare}")


def _parameter(name: str, value: str | None) -> str:
    bare = name[1:].partition("#")[0]
    return bare if value is None else f"{bare}={value}"


def _common(left: list[str], right: list[str]) -> int:
    same = (a == b for a, b in zip(left, right, strict=False))
    return next((at for at, is_same in enumerate(same) if not is_same), min(len(left), len(right)))
