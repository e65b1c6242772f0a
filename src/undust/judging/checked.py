"""Pages that neither proposal nor selection saw, and how many of them final rules lose.

A bound from the pages that a rule was chosen on is too low: what is chosen looks better than it is. So it is
counted on other pages, in pages and not in pairs of URLs (one page alone may make many false pairs), and
pages that are lost together count as one mistake.

Rules are proved together, and people switch some of them off. So final rules are tried without each other as
well, on all pages: a rule that loses pages without another one says so, by a condition or in its `needs`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.display import in_per_cent
from undust.judging.effect import lost_among, lost_under
from undust.judging.site import crossed, fraction_of
from undust.judging.unstable import SEEN, ChangingPages, MergedUrls
from undust.rules import program_of
from undust.rules.compiled import rules_in_effect
from undust.rules.language import condition_of, is_mask
from undust.statistics import upper_bound_beside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.judging.site import PairEvidence, Site
    from undust.judging.state import KeyState
    from undust.rules import Rule

    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]
    Places = frozenset[int]

_ROUNDING = 1e-9
NOT_CHECKED = "not checked on pages that nothing was learned from"
LOST_ALIKE = 0.01
"""How much pages of one site agree in being lost, where no lost page shows it: the largest intraclass
correlation on five splits of the sites of `bench.calibration` (0.002 to 0.010)."""
VAGUE, _BY_CHANCE = 0.003, 1.645
"""If nothing is lost, more than this share is stated in at most one of twenty cases: standard deviations."""


@dataclass(frozen=True)
class CheckedPages:
    """Pages that nothing was learned from, and what the rules do to them.

    >>> print(CheckedPages(1240, 1, 1))
    at most 0.38 % of pages lost (95 % confidence, 1,240 pages checked)
    >>> print(CheckedPages(1240, 8, 8, seen=2000, changing=12, expected=7.4, variance=4.5))
    at most 0.71 % of pages lost (95 % confidence, 1,240 pages checked); 0.6 % of the pages change between \
fetches
    >>> print(CheckedPages())
    not checked on pages that nothing was learned from
    """

    pages: int = 0
    lost: int = 0
    """Of those: merged into a different page, near copies forgiven."""
    groups: int = 0
    """Groups of merged URLs that lose them; pages of one group are lost together, by one mistake."""
    unstable: int = 0
    """Pages beside these that could not be checked, because they change between fetches."""
    sites: int = 0
    """Where a sample of the sites was checked: how many, …"""
    unchecked: int = 0
    """… and how many others have rules."""
    spread: float = 1.0
    """The number of pages that say as much of the other sites as one page drawn from all sites."""
    modelled: float | None = None
    """Where no page was checked: what is lost at most, from what is known of rules like these."""
    seen: int = 0
    """Pages of the site, checked or not, that show whether they change between fetches …"""
    changing: int = 0
    """… and how many of these do."""
    expected: float = 0.0
    """Groups that are expected to seem lost because their page changes, where that cannot be seen …"""
    variance: float = 0.0
    """… and the variance of that number."""

    def __add__(self, other: CheckedPages) -> CheckedPages:
        """Return the counts of both."""
        names = (field.name for field in fields(self) if field.name not in {"spread", "modelled"})
        return CheckedPages(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def upper(self) -> float:
        """What the share of lost pages does not exceed, with 95 % confidence; 1 if nothing is known.

        Where one group loses several pages there are as many fewer independent observations, and fewer again
        where a sample of the sites stands for all. Some groups seem lost because their page changes between
        fetches: how many is not known but by a distribution.
        """
        if not self.pages:
            return 1.0 if self.modelled is None else self.modelled
        together = self.lost / max(1, self.groups)
        size, share = max(1.0, together, self.spread), together / self.pages
        lost = math.ceil(self.lost / size - _ROUNDING)
        upper = upper_bound_beside(
            lost, max(lost, int(self.pages / size)), share * self.expected, share**2 * self.variance
        )
        # Pages that change and are lost as well are not beside those that are expected to change.
        return min(1.0, upper * self.seen / max(1, self.seen - self.changing)) if self.expected else upper

    @property
    def is_vague(self) -> bool:
        """Whether much may be stated though nothing is lost; asked before what seems lost is known."""
        most = round(self.expected + _BY_CHANCE * (self.expected + self.variance) ** 0.5)
        return self.expected > 0.0 and replace(self, lost=most, groups=most).upper > VAGUE

    def as_json(self) -> dict[str, Any]:
        """Return the counts, the bound (null if nothing is known) and the sentence, for machines."""
        is_known, counts = self.pages or self.modelled is not None, asdict(self)
        for name in ("modelled", "variance", *(() if self.unchecked else ("sites", "unchecked", "spread"))):
            del counts[name]
        return {**counts, "upper": round(self.upper, 6) if is_known else None, "says": str(self)}

    def __str__(self) -> str:
        """Return the sentence that people read."""
        most = f"at most {in_per_cent(self.upper)} of pages lost"
        if not self.pages:
            if self.modelled is None:
                return NOT_CHECKED
            return f"{most}, from what is known of such rules (no page of this site was checked)"
        many = "page" if self.pages == 1 else "pages"
        where = f" of {self.sites:,} of {self.sites + self.unchecked:,} sites" if self.unchecked else ""
        sure = f"{most} (95 % confidence, {self.pages:,} {many}{where} checked)"
        if not self.changing or self.seen < SEEN:
            return sure
        return f"{sure}; {in_per_cent(self.changing / self.seen)} of the pages change between fetches"


def checked_of_sites(some: Iterable[CheckedPages]) -> CheckedPages:
    """Return what was checked of all sites together.

    Where only some of the sites were checked, pages of one site are not independent: if one is lost, others
    are likelier lost. How many fewer observations they are is counted from the sites (the design effect of a
    sample of clusters, Kish 1965), and is at least what is known of other sites.
    """
    found = list(some)
    total = sum(found, CheckedPages())
    drawn = [each for each in found if each.pages]
    if not total.unchecked or not drawn:
        return total
    return replace(total, sites=len(drawn), spread=round(_design_effect(drawn, total), 3))


def _design_effect(drawn: list[CheckedPages], total: CheckedPages) -> float:
    rate = total.lost / total.pages
    usual = 1.0 + LOST_ALIKE * (sum(each.pages**2 for each in drawn) / total.pages - 1.0)
    if not 0.0 < rate < 1.0 or len(drawn) == 1:
        return max(1.0, usual)
    squares = sum((each.lost - rate * each.pages) ** 2 for each in drawn)
    between = squares * len(drawn) / (len(drawn) - 1)
    return max(1.0, usual, between / (total.pages * rate * (1.0 - rate)))


def checked_pages(
    trials: Iterable[tuple[KeyState, Bools]],
    unstable: Bools,
    separates: PairEvidence | None = None,
    enough: int | None = None,
) -> CheckedPages:
    """Return what rules do to pages that they were not learned from.

    A page may be lost under any page of the site, also one that the rules were learned from. Pages of which
    nothing is known, and pages that change between fetches, cannot be checked.

    Args:
        trials: The whole site under some rules, each with the pages that these were not learned from.
        unstable: Of each page whether it is known to change between fetches; more are found here.
        separates: What is known of pairs of URLs, also of unstable pages, if it is known from one digest or
            sketch a fetch: pages that change are then expected among those that seem lost.
        enough: Trials that are made in any case; all others only if these are `is_vague`.

    """
    found = CheckedPages()
    pages = lost = left_out = 0
    groups: set[int] = set()
    change, before = ChangingPages(), np.zeros_like(unstable)
    for number, (state, aside) in enumerate(trials, 1):
        site = state.site
        speaks = np.zeros(site.count, np.bool_)
        speaks[site.page[~site.evidence.silent(np.arange(len(site.page)))]] = True
        under, gone = lost_under(state)
        merged = MergedUrls(state, under)
        changes = unstable.copy()
        changes[gone[np.isin(under, merged.unexplained())]] = True
        own = aside & speaks & ~changes
        is_own = own[gone]
        pages += int(own.sum())
        lost += len(np.unique(gone[is_own]))
        left_out += int((aside & changes).sum())
        groups.update(np.unique(state.page_of_key[under[is_own]]).tolist())
        if separates is not None:
            change += merged.changing(separates, own, before)
        before |= own
        found = CheckedPages(pages, lost, len(groups), left_out, **change.as_counts())
        if number == enough and not found.is_vague:
            break
    return found


HALVES = 16
"""Random halves of the rules of a site that are tried, beside the rules without each one."""
_LOOKED_AT = 60
"""Lost pages from which it is found which rule loses them."""
_LEAST_LOST, _LEAST_SHARE = 2, 0.0005
"""Pages, and the share of all, that a part of the rules must lose for a rule to need another: needs cost what
the rule removes wherever the other one is off, and one lost page may be a mistake of the input."""
_CHANGED = 4
"""URLs that each rule changes, from which it is found whether it could change what another one keeps."""


def safe_apart(site: Site, rules: Sequence[Rule], fixed: Collection[str] = ()) -> tuple[Rule, ...]:
    """Return rules of which any part is as safe as the whole, as far as the pages of the site show.

    What a rule must not change is kept by a rule before it, or changed by another one: without that one, the
    rule would lose pages. What is kept becomes a condition of the rule, which changes nothing while the rule
    that keeps it is there; any other rule is named in `needs`.

    Args:
        site: The pages.
        rules: Its rules, in order.
        fixed: The ids of rules that get no condition, for people know them by what they say.

    """
    acting = rules_in_effect(rules)
    apart = {rule.id: each for rule, each in zip(acting, _Apart(site, acting, fixed).safe(), strict=True)}
    return tuple(apart.get(rule.id, rule) for rule in rules)


class _Apart:
    """The rules of a site, and what any part of them does to its pages."""

    def __init__(self, site: Site, rules: Sequence[Rule], fixed: Collection[str]) -> None:
        self._site = site
        self._fixed = fixed
        self._rules = [replace(rule, needs=()) for rule in rules]
        places = {rule.id: place for place, rule in enumerate(rules)}
        self._needs = [{places[need] for need in rule.needs} for rule in rules]
        self._all = frozenset(range(len(rules)))
        self._keeps = {place for place, rule in enumerate(rules) if rule.kind == "keep"}
        rows = np.arange(len(site.urls))
        keys = self._keys_under(self._all, rows).dictionary_encode()
        self._texts, self._key = keys.dictionary, np.asarray(keys.indices, np.int64)
        self._used = self._used_under(self._all, rows)
        self._lost = np.unique(site.page[lost_among(site, rows, self._key)[0]])

    def safe(self) -> Iterator[Rule]:
        """Yield the rules, with what they need."""
        for place in sorted(self._keeps):
            self._guard_by(place)
        # One rule is the whole.
        for chosen in self._parts() if len(self._rules) > 1 else ():
            while self._mend(self._closed(chosen)):
                pass
        for place, rule in enumerate(self._rules):
            yield replace(rule, needs=tuple(self._rules[need].id for need in sorted(self._needs[place])))

    def _parts(self) -> Iterator[Places]:
        """Yield all rules but one, and halves of them."""
        for place in np.unique(self._used[1]).tolist():
            yield self._all - {place}
        for number in range(HALVES):
            drawn = [fraction_of(f"half {number}", rule.id) < 1 / 2 for rule in self._rules]
            yield frozenset(np.flatnonzero(drawn).tolist())

    def _guard_by(self, keep: int) -> None:
        """Give the rules that would change what a rule keeps a condition that says the same."""
        condition = condition_of(self._rules[keep])
        rows = self._used[0][self._used[1] == keep]
        without = self._closed(self._all - {keep})
        if condition is None or not len(rows) or not len(self._losses(without)[0]):
            return
        alone = program_of(self._rules).touched(self._kept_by(keep, self._site.urls.take(pa.array(rows))))[1]
        acting = {*np.asarray(pa.array(alone)).tolist(), *self._used_under(without, rows)[1].tolist()}
        for place in sorted(acting):
            rule = self._rules[place]
            # Masks see what other masks wrote, which nothing kept.
            if place < keep or rule.kind == "keep" or is_mask(rule) or rule.id in self._fixed:
                continue
            guarded = rule if condition in rule.unless else replace(rule, unless=(*rule.unless, condition))
            if all(guarded.id != other.id for other in self._rules):
                self._rules[place] = guarded

    def _kept_by(self, keep: int, urls: pa.Array) -> pa.Array:
        """Return those of some URLs that a rule keeps, and others like them that other rules may change."""
        program = program_of([self._rules[keep]])
        urls = urls.take(pa.array(program.used(urls)[0]))
        if not len(urls):
            return urls
        like = pa.array(crossed(urls[0].as_py(), self._changed), pa.large_string())
        return pa.concat_arrays([urls, like.take(pa.array(program.used(like)[0]))])

    @cached_property
    def _changed(self) -> list[str]:
        """Some of the URLs that each rule changes, alone."""
        rows, places = (
            np.asarray(pa.array(column), np.int64)
            for column in program_of(self._rules).touched(self._site.urls)
        )
        order = np.lexsort((rows, places))
        rows, places = rows[order], places[order]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        ends = np.append(starts[1:], len(places))
        some = [np.linspace(start, end - 1, _CHANGED) for start, end in zip(starts, ends, strict=True)]
        at = np.unique(np.concatenate(some).astype(np.int64)) if some else np.zeros(0, np.int64)
        return self._site.urls.take(pa.array(np.unique(rows[at]))).to_pylist()  # type: ignore[no-any-return]

    def _mend(self, chosen: Places) -> bool:
        """Make the rule that loses most pages beside these need another one; return whether there is one."""
        lost, under, key = self._losses(chosen)
        page = self._site.page
        if len(np.unique(page[lost])) < max(_LEAST_LOST, _LEAST_SHARE * self._site.count):
            return False
        few = np.unique(np.linspace(0, len(lost) - 1, _LOOKED_AT).astype(np.int64))
        pages = np.union1d(page[lost[few]], page[under[few]])
        rows = np.flatnonzero(np.isin(page, pages) & np.isin(key, key[lost]))

        def losses(some: Iterable[int]) -> int:
            closed = self._closed(frozenset(some))
            return len(np.unique(page[self._new(rows, _numbers(self._keys_under(closed, rows)))[0]]))

        acting = {*self._used_under(chosen, rows)[1].tolist()} - self._keeps
        others = {*self._used_under(self._all, rows)[1].tolist()} - chosen
        if not acting or not others or not (now := losses(chosen)):
            return False
        worst = min(
            acting, key=lambda place: (losses(chosen - {place}), -losses(self._needed_by(place)), place)
        )
        left = {place: losses(chosen | self._needed_by(place)) for place in others}
        best = min(others, key=lambda place: (left[place], place not in self._keeps, place))
        if left[best] < now:
            others = {best}
        elif losses(chosen.union(*map(self._needed_by, others))) >= now:
            return False
        self._needs[worst] |= others
        return True

    def _closed(self, chosen: Places) -> Places:
        """Return those of some rules that are in effect."""
        while unmet := {place for place in chosen if not self._needs[place] <= chosen}:
            chosen -= unmet
        return chosen

    def _needed_by(self, place: int) -> Places:
        """Return a rule with all that it needs."""
        some = frozenset((place,))
        while more := frozenset().union(*(self._needs[place] for place in some)) - some:
            some |= more
        return some

    def _losses(self, chosen: Places) -> tuple[Ints, Ints, Ints]:
        """Return what `_new` returns for the keys under some rules, and the numbers of those that differ."""
        # All other URLs take the way that they take under all rules; they are looked at where one comes.
        rows = np.unique(self._used[0][np.isin(self._used[1], sorted(self._all - chosen))])
        made = self._keys_under(chosen, rows)
        old = np.asarray(pc.fill_null(pc.index_in(made, value_set=self._texts), -1), np.int64)
        stays = np.isin(self._key, old)
        stays[rows] = False
        some = np.concatenate((rows, np.flatnonzero(stays)))
        new = np.where(old < 0, len(self._texts) + _numbers(made), old)
        number = np.unique(np.concatenate((new, self._key[stays])), return_inverse=True)[1].reshape(-1)
        key = np.full(len(self._key), -1, np.int64)
        key[some] = number
        return *self._new(some, number), key

    def _new(self, rows: Ints, key: Ints) -> tuple[Ints, Ints]:
        """Return URLs of pages that some keys lose and all rules do not, and URLs of those they are under."""
        lost, under, _ = lost_among(self._site, rows, key)
        is_new = ~np.isin(self._site.page[lost], self._lost) & (self._key[lost] != self._key[under])
        return lost[is_new], under[is_new]

    def _keys_under(self, chosen: Places, rows: Ints) -> pa.Array:
        program = program_of([self._rules[place] for place in sorted(chosen)])
        return pa.array(program.batch(self._site.urls.take(pa.array(rows)), keys=True)).cast(
            pa.large_string()
        )

    def _used_under(self, chosen: Places, rows: Ints) -> tuple[Ints, Ints]:
        """Return all pairs of one of the URLs and the place of a rule on its way to its key."""
        places = sorted(chosen)
        used = program_of([self._rules[place] for place in places]).used(self._site.urls.take(pa.array(rows)))
        at, number = (np.asarray(pa.array(column), np.int64) for column in used)
        return rows[at], np.array(places, np.int64)[number]


def _numbers(texts: pa.Array) -> Ints:
    """Return of each text the number of it, all numbers from 0 on."""
    return np.asarray(texts.dictionary_encode().indices, np.int64)
