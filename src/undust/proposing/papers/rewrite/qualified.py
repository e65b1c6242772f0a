"""The rules that qualify (support, false positives, redundancy), and their texts in our rule language.

A context is a pattern without `{rest**}`: a URL with more than that does not match, as published.
Where the paper writes a wildcard into the result there must be a URL that can be fetched: the value that was
seen on most pages, if these are enough; else, if only the wildcard changes, a mask; else the rule
cannot be written.

Classes of rules (A22): IRP has a wildcard in its result; DUST has none, and one literal piece of text takes
the place of another, the same in all URLs; REGX is the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from undust.errors import RuleError
from undust.judging.verdict import Candidate
from undust.proposing.papers.rewrite.maps import ALPHA, ANY, CLASSES, HEX, INT, offsets_of
from undust.proposing.papers.rewrite.measures import PairCounts, Sites, measure
from undust.proposing.papers.rewrite.pairs import FIRST_REFERENCE, KEY_ABSENT, STAR, Rules, source_key
from undust.rules import Rule

if TYPE_CHECKING:
    from undust.proposing.papers.rewrite.closure import Generation
    from undust.proposing.papers.rewrite.maps import Ints, Maps
    from undust.proposing.papers.rewrite.pairs import SampledPairs


class LearnedCodes(NamedTuple):
    """What was learned, in codes: all generations of rules, with what it takes to read them."""

    maps: Maps
    pairs: SampledPairs
    site: Sites
    generations: list[Generation]
    cut: int


class Wanted(NamedTuple):
    """What a rule needs."""

    min_support: int
    max_fpr: float
    is_typed: bool
    is_measured: bool
    """Whether the support is that of Problem 6, measured on all URLs, and not that of Algorithm 3, the pairs
    that were met: those are fewer, but known without measuring."""


@dataclass(frozen=True, eq=False)
class Qualified:
    """The rules of all generations that qualify, with what was measured of them."""

    rules: Rules
    measured: PairCounts
    covering: Ints
    covered: Ints
    generation: Ints
    false: int

    @classmethod
    def of(cls, learned: LearnedCodes, wanted: Wanted) -> Qualified:
        """Return the rules with enough support and few enough false pairs."""
        least = 1 if wanted.is_measured else wanted.min_support
        numbers, parts, start = [], [], 0
        for generation in learned.generations:
            enough = np.flatnonzero(generation.rules.supports >= least)
            number = np.full(len(generation.rules), -1, np.int64)
            number[enough] = np.arange(start, start + len(enough))
            numbers.append(number)
            parts.append(generation.rules.take(enough))
            start += len(enough)
        rules = _joined(parts)
        if wanted.is_typed:
            _narrow(rules, learned.maps, learned.pairs)
        measured = measure(learned.site, rules)
        supported = measured.pairs >= wanted.min_support
        good = supported & (measured.fpr <= wanted.max_fpr)
        place = np.where(good, np.cumsum(good) - 1, -1)
        above, below = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number, before, generation in zip(numbers[1:], numbers, learned.generations[1:], strict=False):
            edges = np.stack((number[generation.covering], before[generation.covered]))
            edges = edges[:, (edges >= 0).all(axis=0)]
            edges = place[edges]
            above.append(edges[0][(edges >= 0).all(axis=0)])
            below.append(edges[1][(edges >= 0).all(axis=0)])
        stays = np.flatnonzero(good)
        wildcards = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return cls(
            rules.take(stays),
            measured.take(stays),
            np.concatenate(above),
            np.concatenate(below),
            wildcards[stays],
            int((supported & ~good).sum()),
        )

    @cached_property
    def general(self) -> list[int]:
        """The rules with a wildcard; the others are about one URL, however many spellings it has."""
        return np.flatnonzero(self.generation > 0).tolist()

    def support(self, at: int) -> Ints:
        """Return the pairs that support a rule."""
        return self.rules.support[self.rules.support_offsets[at] : self.rules.support_offsets[at + 1]]

    def candidate(self, at: int, rule: Rule) -> Candidate:
        """Return a rule with what was seen of it."""
        same, pages = int(self.measured.same[at]), int(self.measured.pages[at])
        return Candidate((rule,), same, "pairs", pages, float(self.measured.fpr[at]))

    def not_covered(self, is_said: list[bool]) -> list[int]:
        """Return the rules without a more general one that can be written and is no worse."""
        said = np.array(is_said, np.bool_)
        own = np.where(said, self.measured.fpr, np.inf)
        above = np.full(len(own), np.inf)
        for number in range(int(self.generation.max(initial=0)), -1, -1):
            edges = self.generation[self.covering] == number
            best = np.minimum(own, above)[self.covering[edges]]
            np.minimum.at(above, self.covered[edges], best)
        useful = ~(above <= self.measured.fpr)
        return [at for at in self.general if useful[at]]


def _joined(parts: list[Rules]) -> Rules:
    return Rules(
        offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.context for part in parts]),
        np.concatenate([part.action for part in parts]),
        offsets_of(np.concatenate([part.supports for part in parts])),
        np.concatenate([part.support for part in parts]),
    )


def _narrow(rules: Rules, maps: Maps, pairs: SampledPairs) -> None:
    """Write the narrowest kind of wildcard that covers all that was seen, in place of the bare one."""
    kinds = {kind: maps.is_of(kind) for kind in (HEX, ALPHA, INT)}
    closed = {maps.key_names.index(name) for name in ("scheme", "host") if name in maps.key_names}
    for rule in range(len(rules)):
        at = np.arange(rules.offsets[rule], rules.offsets[rule + 1])
        at = at[rules.context[at] != KEY_ABSENT]
        sources = pairs.left[rules.support[rules.support_offsets[rule] : rules.support_offsets[rule + 1]]]
        for place, entry in enumerate(at):
            if rules.context[entry] != ANY or int(rules.keys[entry]) in closed:
                continue
            values = maps.values[maps.offsets[sources] + place]
            for kind, fits in kinds.items():
                if fits[values].all():
                    rules.context[entry] = kind


RuleClass = Literal["DUST", "IRP", "REGX"]
REWRITE_NAME = "rewrite"

_TOKEN = re.compile(r"\0\d+\0|[A-Za-z0-9]+|.", re.DOTALL)
_CAPTURE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class KeyEntry:
    """What a rule has at one key, in codes."""

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
        """Return the rule in our language, or None if it cannot be written."""
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
    """Whether a rule changes only values that do not matter."""
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
