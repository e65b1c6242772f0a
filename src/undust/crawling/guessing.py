"""Guesses of one site: from pairs of URLs with one text to rules that nothing contradicts so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.crawling.guesses import GUESS, guesses, narrowed, needed_tests
from undust.crawling.rule_tests import MOST_FAILING, RuleTest, RuleUse
from undust.proposing.differences import differences_of
from undust.rules import program_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust._core import Program
    from undust.crawling.fetched import Fetched
    from undust.edits import Edit
    from undust.rules import Rule

MOST_OPEN_PAIRS = 400
"""Of one site that wait for a guess."""
MOST_GUESSED = 2_000
"""Rules of one site that are tried, those that failed included."""
MOST_AT_A_TIME = 150
MOST_VERDICTS = 200
"""Pairs of fetched URLs that a guess is tested on at once."""
LEAST_IN_COMMON = 2
"""Pairs that must show a difference of a kind that single pairs do not suggest."""
LEAST_GROWTH, GUESSING_SHARE = 4, 50
"""Guesses are made after four more observations, or a fiftieth more if that is more."""


@dataclass
class Guessing:
    """The guesses of one site."""

    site: str
    tried: set[str] = field(default_factory=set)
    """Ids of all rules that were guessed, or refuted at once."""
    _pairs: dict[tuple[str, str], None] = field(default_factory=dict)
    _examined: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of forms from which all guesses were tried."""
    _open: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of forms that nothing explains yet."""
    _next: int = 0

    def add(self, one: str, other: str) -> None:
        """Take two URLs of one page that no rule makes one."""
        if len(self._pairs) < MOST_OPEN_PAIRS:
            self._pairs[one, other] = None

    def is_due(self, observed: int) -> bool:
        """Return whether to guess now."""
        return bool(self._pairs) and observed >= self._next and len(self.tried) < MOST_GUESSED

    def found(self, program: Program, keys: dict[str, str], fetched: Fetched) -> list[tuple[Rule, RuleTest]]:
        """Return new rules that explain pairs and that nothing fetched contradicts, with their tests.

        Args:
            program: The rules of the moment.
            keys: The keys of what was fetched, each with one URL.
            fetched: What the URLs showed.

        """
        self._next = len(fetched) + max(LEAST_GROWTH, len(fetched) // GUESSING_SHARE)
        offered = self._offered(program)
        trial = _Trial(list(keys), list(keys.values()), fetched)
        found: dict[str, tuple[Rule, RuleTest]] = {}
        for forms, edits in offered.items():
            self._examined.add(forms)
            for edit in edits:
                chosen = self._tried(edit, forms, trial)
                if chosen is not None:
                    found[chosen[0].id] = chosen
                    break
                if any(known.id in found for known in edit.rules(self.site) or ()):
                    break
        for edit, forms in self._common():
            if (chosen := self._tried(edit, forms, trial)) is not None:
                found[chosen[0].id] = chosen
        return list(found.values())

    def _common(self) -> Iterator[tuple[Edit, tuple[str, str]]]:
        """Yield what several pairs have in common, each with one of them."""
        forms = list(self._open)
        urls = [url for pair in forms for url in pair]
        pairs = [(2 * number, 2 * number + 1, number) for number in range(len(forms))]
        for edit in differences_of(urls, pairs, LEAST_IN_COMMON):
            rules = edit.rules(self.site)
            if not rules or len(rules) > 1 or rules[0].id in self.tried or edit.makes_up:
                continue
            key = program_of(rules).key
            merged = next((pair for pair in forms if key(pair[0]) == key(pair[1])), None)
            if merged is not None:
                yield edit, merged

    def _offered(self, program: Program) -> dict[tuple[str, str], list[Edit]]:
        """Return pairs of forms that differ, with what may explain them."""
        offered: dict[tuple[str, str], list[Edit]] = {}
        self._open = []
        for pair in list(self._pairs):
            one, other = map(program.canonical, pair)
            if one == other or program.key(pair[0]) == program.key(pair[1]):
                del self._pairs[pair]
                continue
            self._open.append((one, other))
            if (one, other) not in self._examined and len(offered) < MOST_AT_A_TIME:
                offered[one, other] = list(guesses(one, other))
        if len(self._pairs) >= MOST_OPEN_PAIRS:
            self._pairs.clear()
        return offered

    def _tried(self, edit: Edit, forms: tuple[str, str], trial: _Trial) -> tuple[Rule, RuleTest] | None:
        for each in self._one_and_narrower(edit, forms):
            rules = each.rules(self.site)
            if not rules or len(rules) > 1 or rules[0].id in self.tried:
                continue
            rule = replace(rules[0], learned_by=GUESS)
            program = program_of([rule])
            if program.key(forms[0]) != program.key(forms[1]):
                return None
            self.tried.add(rule.id)
            if (test := trial.of(rule.id, program, each)) is not None:
                return replace(rule, support=test.support), test
        return None

    def _one_and_narrower(self, edit: Edit, forms: tuple[str, str]) -> Iterator[Edit]:
        yield edit
        yield from narrowed(edit, max(forms, key=len))


@dataclass
class _Trial:
    """What was fetched, for guesses to be tested on."""

    keys: list[str]
    urls: list[str]
    fetched: Fetched

    def __post_init__(self) -> None:
        self._column = pa.array(self.keys, pa.large_string())
        self._place = {key: row for row, key in enumerate(self.keys)}

    def of(self, id_: str, program: Program, edit: Edit) -> RuleTest | None:
        """Return how a rule does on all that was fetched; None if it fails."""
        rows = np.unique(np.asarray(pa.array(program.touched(self._column)[0]))).tolist()
        moved = pa.array(program.batch(self._column.take(pa.array(rows, pa.int64())), keys=True)).to_pylist()
        now = dict(zip(rows, moved, strict=True))
        first: dict[str, int] = {}
        test = RuleTest(0)
        pages: set[int] = set()
        for row, key in now.items():
            other = self._place.get(key)
            if other is None or now.get(other, key) != key:
                other = first.setdefault(key, row)
            if other == row or test.good + test.bad >= MOST_VERDICTS:
                continue
            url, cover = self.urls[row], self.urls[other]
            if not self.fetched.distinguishes(self.fetched.record(url)):
                continue
            verdict = self.fetched.compare(url, cover)
            if verdict == "same":
                pages.add(other)
                test.good += 1
                test.holds(RuleUse.between(id_, self.keys[row], key))
            elif verdict == "different":
                test.bad += 1
                if test.bad > MOST_FAILING * MOST_VERDICTS:
                    return None
        if test.bad > MOST_FAILING * (test.good + test.bad) or not pages:
            return None
        some = islice(now.items(), MOST_VERDICTS)
        values = [RuleUse.between(id_, self.keys[row], key).value for row, key in some]
        test.needed = needed_tests(edit, values)
        test.support, test.good, test.bad = len(pages), 0, 0
        return test
