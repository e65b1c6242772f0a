"""How likely two URLs of a site show one page, calibrated on the site itself.

`SiteEvidence` answers for pairs of URLs with log-likelihood ratios. It is built from `SiteFacts`, columns
over the distinct URLs of one site, and works with whatever the input has: blocks of pages, sketches,
digests, labels.

The answer for a pair says how much likelier is what two URLs show if they are one page than if they are two
pages of one template: a log-likelihood ratio between -`EVIDENCE_MOST` and `EVIDENCE_MOST`. Positive numbers
support one page, negative numbers two pages, 0.0 means that nothing is known. Ratios of many pairs must not
be added up or averaged to judge a rule: evidence for pays for evidence against. Use the worst tenth of the
pairs and the expected share right, `mean(1 / (1 + exp(-ratio)))`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import Evidence
from undust.pages.facts import (
    EVIDENCE_MOST,
    Composition,
    Earlier,
    EvidencePrior,
    SiteFacts,
    UrlShapes,
    bin_ratios,
    composition_of,
    corrected,
    equal_pairs,
    other_pairs,
    share_ratio,
    shipped,
)
from undust.reading.text import DIGITS_MASK, DIGITS_SHIFT, KEY_SHIFT, WORDS_MASK

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Pairs = tuple[Ints, Ints]


FEATURES = 7
LEAST_WORDS = 10.0
"""Words of its own that each of two pages needs before their blocks are evidence."""
HOME_SAME, HOME_OTHER = 0.95, 0.05
"""Usual share of the copies of a page, and of different pages, that a site sends to one place."""
UNSTABLE = -1.0
"""Ratio of two fetches of one URL up to which it shows another page every time."""
LANGUAGE_SAME, LANGUAGE_OTHER = 0.03, 0.6
"""Usual share of the fetches of one page, and of translations, that name two languages."""
RELIABLE = 0.8
"""Share of the pairs that the site sends to one place which must look alike, before it is a witness."""
STEEP = 1.03
OTHER_NUMBER = -2.0
"""What it weighs, at most, that pages differ in a number that stays at every fetch of a page."""
COPIES, EQUAL = 0.97, 0.999
"""Two pages with this many shared words and one title are not an example of different pages …"""
FEW_COPIES = 0.1
"""… unless more than such a share of the pairs are: then their numbers must be equal as well."""
OWN = 0.4
"""Share of its words that a block must weigh to be one of those by which a page is known."""


class SiteEvidence:
    """Log-likelihood ratios for pairs of the distinct URLs of one site.

    Rows are those of the `SiteFacts` that it is made from. For the clusters of a site
    (`SiteClusters.evidence_of_pairs`) they are its nodes, in the order of `SiteClusters.node_urls`.
    """

    def __init__(self, facts: SiteFacts, prior: EvidencePrior | None = None) -> None:
        self.facts = facts
        self._given = prior

    @property
    def _prior(self) -> EvidencePrior:
        return self._given or shipped()

    @property
    def has_blocks(self) -> bool:
        """Whether pages can be compared by what they are made of, and not by digests and sketches alone."""
        return self.facts.has_blocks

    def ratios(self, left: ArrayLike, right: ArrayLike) -> Floats:
        """Return the log-likelihood ratio of each pair of rows: one page against two pages.

        Args:
            left: Row numbers.
            right: As many row numbers.

        """
        left, right = _rows(left), _rows(right)
        found = cast("Floats", self.core.ratios(left, right))
        apart = self._differ_for_good(left, right)
        label = self.facts.label
        apart[apart] = (label[left[apart]] < 0) | (label[right[apart]] < 0)
        if apart.any():
            told = cast("Floats", self.core.ratios(left[apart], right[apart], of_content=True))
            found[apart] = np.clip(found[apart] - np.maximum(told - OTHER_NUMBER, 0.0), -EVIDENCE_MOST, None)
        return found

    def trusting(self, shows: Bools) -> SiteEvidence:
        """Return the evidence with other rows that may be compared, calibrated anew."""
        other = SiteEvidence(replace(self.facts, shows=shows), self._given)
        other.__dict__["composition"] = self.composition
        return other

    def contents(self, left: ArrayLike, right: ArrayLike) -> Floats:
        """Return the same from the content of the rows alone, without labels and declarations."""
        left, right = _rows(left), _rows(right)
        found = cast("Floats", self.core.ratios(left, right, of_content=True))
        apart = self._differ_for_good(left, right)
        found[apart] = np.minimum(found[apart], OTHER_NUMBER)
        return found

    def _differ_for_good(self, left: Ints, right: Ints) -> Bools:
        """Return of pairs whether they differ in a number that stays at every fetch of a page."""
        numbers = self._lasting_numbers
        found = np.zeros(len(left), np.bool_)
        for column in numbers:
            ours, theirs = column[left], column[right]
            found |= (ours != theirs) & (ours > 0) & (theirs > 0)
        return found

    @cached_property
    def _lasting_numbers(self) -> list[Ints]:
        """Of each block whose digits stay: the digits that each row has there; 0 for none and for several."""
        passing, earlier = self.facts.passing, self.facts.earlier
        if passing is None or not len(passing.lasting):
            return []
        return _lasting_numbers(pa.concat_arrays([self.facts.blocks, earlier.blocks]), passing.lasting)

    def features(self, left: ArrayLike, right: ArrayLike) -> Floats:
        """Return the seven features of each pair of rows, as columns."""
        found = np.asarray(self.core.features(_rows(left), _rows(right)), np.float64)
        return found.reshape(-1, FEATURES)

    def silent(self, rows: ArrayLike) -> Bools:
        """Return for rows whether nothing is known of what they show, so that content cannot judge them."""
        return ~self._known[_rows(rows)]

    @property
    def judged(self) -> int:
        """How many rows are not silent."""
        return int(self._known.sum())

    @cached_property
    def _known(self) -> Bools:
        facts = self.facts
        has_blocks = np.asarray(facts.blocks.is_valid(), np.bool_)
        has_content = (facts.digest >= 0) | (facts.sketch_row >= 0) | has_blocks
        _, shows = self._calibrated
        return (shows[: len(facts)] & has_content) | (facts.label >= 0)

    def anchors(self, rows: ArrayLike, count: int) -> tuple[Ints, Ints]:
        """Return a few blocks of each row by which pages of the same text find each other, and their rows.

        They are the smallest of the blocks that are the page's own and not the template's.
        """
        asked = np.zeros(len(self.composition.last_key), np.bool_)
        asked[_rows(rows)] = True
        made = self.composition
        row = np.repeat(np.arange(len(made.last_key)), np.diff(made.first_block))
        own = np.flatnonzero(asked[row] & (made.weights >= OWN * (made.blocks & WORDS_MASK)))
        key, row = made.blocks[own] >> KEY_SHIFT, row[own]
        starts = np.searchsorted(row, row)
        is_first = np.arange(len(row)) - starts < count
        return key[is_first], row[is_first]

    @cached_property
    def composition(self) -> Composition:
        """What the pages are made of, each block with its weight."""
        facts = self.facts
        earlier = facts.earlier
        blocks = pa.concat_arrays([facts.blocks, earlier.blocks])
        title = pa.concat_arrays([facts.title, earlier.title])
        digest = np.concatenate((facts.digest, facts.digest[earlier.row]))
        return composition_of(blocks, title, digest, facts.passing)

    @property
    def core(self) -> Evidence:
        """The columns and the scale, as the core asks them."""
        return self._calibrated[0]

    @cached_property
    def _calibrated(self) -> tuple[Evidence, Bools]:
        """The same, and which rows may be compared: pages that are found to be unstable may not."""
        shows = np.concatenate((self.facts.shows, np.ones(len(self.facts.earlier.row), np.bool_)))
        made = self.columns(shows)
        made.calibrate(*self._scale(made, shows))
        return made, shows

    def columns(self, shows: Bools) -> Evidence:
        """Return the columns as the core asks them, not calibrated; earlier sightings are rows at the end."""
        facts, more = self.facts, len(self.facts.earlier.row)

        def extended(column: Ints) -> Ints:
            return np.concatenate((column, np.full(more, -1, np.int64)))

        return Evidence(
            *self.composition,
            extended(facts.label),
            extended(facts.digest),
            extended(facts.home),
            extended(facts.language),
            extended(facts.sketch_row),
            shows,
            np.ascontiguousarray(facts.sketches).reshape(-1),
            self._minima,
        )

    @property
    def _minima(self) -> int:
        return self.facts.sketches.shape[1] if len(self.facts.sketches) else 0

    def _scale(self, core: Evidence, shows: Bools) -> Scale:
        """Return what a comparison weighs; what is unstable is taken out of the rows that may be compared."""
        facts, prior = self.facts, self._prior
        rows = np.flatnonzero(facts.shows)
        random, near = other_pairs(facts, rows)
        model = _Model(core, prior, random, near)
        again = facts.earlier.row, len(facts) + np.arange(len(facts.earlier.row))
        changes = model.usual(again)
        shows[again[0][changes <= UNSTABLE]] = False
        home = equal_pairs(facts.home, rows)
        alike = model.usual(home)
        judged = alike[alike != 0]
        reliable = float((judged > 0).mean()) if len(judged) else 1.0
        home = home if reliable >= RELIABLE else (home[0][:0], home[1][:0])
        stable = changes > UNSTABLE
        same = np.concatenate((model.scores((again[0][stable], again[1][stable])), model.scores(home)))
        return Scale(
            list(prior.factors),
            list(prior.edges),
            bin_ratios(prior.edges, prior.same, prior.other, same, model.others).tolist(),
            self._by_agreement(home, random, near),
            [*self._by_digest(), self._by_home(judged), self._by_other_home(rows), self._by_language()],
            LEAST_WORDS,
            EVIDENCE_MOST,
        )

    def _by_agreement(self, same: Pairs, random: Pairs, near: Pairs) -> list[float]:
        if not self._minima:
            return [0.0]
        prior = self._prior
        seen = [self._agreement(pairs) for pairs in (same, random, near)]
        ratios = bin_ratios(
            prior.agreement_edges, prior.agreement_same, prior.agreement_other, seen[0], _halves(*seen[1:])
        )
        shares = np.arange(self._minima + 1) / self._minima
        return [float(each) for each in _looked_up(ratios, prior.agreement_edges, shares)]

    def _agreement(self, pairs: Pairs) -> Floats:
        left, right = (self.facts.sketch_row[rows] for rows in pairs)
        both = (left >= 0) & (right >= 0)
        sketches = self.facts.sketches
        return np.asarray((sketches[left[both]] == sketches[right[both]]).mean(axis=1), np.float64)

    def _by_digest(self) -> tuple[float, float]:
        """Return what equal digests weigh, and different ones."""
        same, other = self._prior.equal_digest_same, self._prior.equal_digest_other
        return share_ratio(same, other), share_ratio(1 - same, 1 - other)

    @staticmethod
    def _by_home(judged: Floats) -> float:
        """Return what it weighs that the site sends two pages to one place, given how such pages look."""
        wrong = corrected(HOME_OTHER, float((judged < 0).sum()), float(len(judged)))
        return max(share_ratio(HOME_SAME, wrong), 0.0)

    def _by_other_home(self, rows: Ints) -> float:
        """Return what it weighs that two pages are at home in two places, given how often equal pages are.

        Without a sitemap it weighs nothing: many sites name every form of a page its own canonical form.
        """
        facts = self.facts
        if not facts.has_list:
            return 0.0
        left, right = equal_pairs(facts.digest, rows[facts.home[rows] >= 0])
        apart = float((facts.home[left] != facts.home[right]).sum())
        wrong = corrected(1 - HOME_SAME, apart, float(len(left)))
        return min(share_ratio(wrong, 1 - HOME_OTHER), 0.0)

    def _by_language(self) -> float:
        """Return what it weighs that two pages name two languages, given how often one URL does.

        What the pages show does not count: a translation that is missing shows the text of another language.
        """
        now, before = self.facts.language[self.facts.earlier.row], self.facts.earlier.language
        known = (now >= 0) & (before >= 0)
        wrong = corrected(LANGUAGE_SAME, float((now != before)[known].sum()), float(known.sum()))
        return min(share_ratio(wrong, LANGUAGE_OTHER), 0.0)


class Scale(NamedTuple):
    """What a comparison weighs on this site, as `_core.Evidence.calibrate` takes it."""

    factors: list[float]
    edges: list[float]
    ratios: list[float]
    by_agreement: list[float]
    singles: list[float]
    """Of equal digests, other digests, equal homes, other homes, other languages."""
    least_words: float
    most: float


class _Model:
    """The scores of the logistic model for pairs, with what different pages of the site look like."""

    def __init__(self, core: Evidence, prior: EvidencePrior, random: Pairs, near: Pairs) -> None:
        self._core, self._factors, self._edges = core, np.asarray(prior.factors), prior.edges
        self.others = _halves(self._of_others(random), self._of_others(near))
        self._ratios = bin_ratios(prior.edges, prior.same, prior.other, np.zeros(0), self.others)

    def scores(self, pairs: Pairs) -> Floats:
        """Return the scores of the pairs whose blocks are evidence."""
        return scores(features_of(self._core, pairs), self._factors)

    def usual(self, pairs: Pairs) -> Floats:
        """Return the ratio of each pair as it would be without a witness; 0.0 without evidence of blocks."""
        found = np.asarray(self._core.features(*pairs), np.float64).reshape(-1, FEATURES)
        ratios = _looked_up(self._ratios, self._edges, scores(found, self._factors))
        return np.where(found[:, -1] >= LEAST_WORDS, ratios, 0.0)

    def _of_others(self, pairs: Pairs) -> Floats:
        """Return the scores of pairs that are treated as two pages, without those that are surely copies.

        Copies that are drawn by chance are few. Where many pairs look like copies, pages differ in little.
        """
        features = features_of(self._core, pairs)
        shared, numbers, title = features[:, 2], features[:, 3], features[:, 5]
        are_copies = (shared >= COPIES) & (title >= EQUAL)
        if are_copies.sum() > FEW_COPIES * len(are_copies):
            are_copies &= numbers >= EQUAL
        return scores(features[~are_copies], self._factors)


def features_of(core: Evidence, pairs: Pairs) -> Floats:
    """Return the features of pairs of rows that both have enough words of their own."""
    found = np.asarray(core.features(*pairs), np.float64).reshape(-1, FEATURES)
    return found[found[:, -1] >= LEAST_WORDS]


def inputs_of(features: Floats) -> Floats:
    """Return what the logistic model adds up, one column for each of its factors."""
    shares = -np.log(STEEP - np.clip(features[:, :-1], 0.0, 1.0))
    return np.column_stack((shares, np.log1p(features[:, -1]), np.ones(len(features))))


def scores(features: Floats, factors: Floats) -> Floats:
    """Return the scores of the logistic model for features."""
    return np.asarray(inputs_of(features) @ factors, np.float64)


def _lasting_numbers(blocks: pa.Array, keys: Ints) -> list[Ints]:
    """Return for each key of blocks the digits that each row has there; 0 for none and for several."""
    sizes = np.asarray(pc.fill_null(pc.list_value_length(blocks), 0), np.int64)
    flat = np.asarray(blocks.flatten(), np.int64)
    row = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for key in keys.tolist():
        own = np.flatnonzero(flat >> KEY_SHIFT == key)
        numbers = np.zeros(len(sizes), np.int64)
        numbers[row[own]] = flat[own] >> DIGITS_SHIFT & DIGITS_MASK
        numbers[np.bincount(row[own], minlength=len(sizes)) > 1] = 0
        found.append(numbers)
    return found


def _halves(left: Floats, right: Floats) -> Floats:
    """Return two samples, the second no larger than the first."""
    return np.concatenate((left, right[: max(len(left), 1)]))


def _looked_up(ratios: Floats, edges: tuple[float, ...], values: Floats) -> Floats:
    return ratios[np.searchsorted(edges, values, side="right")]


def _rows(rows: ArrayLike) -> Ints:
    return np.ascontiguousarray(rows, np.int64).reshape(-1)


__all__ = ["EVIDENCE_MOST", "Earlier", "SiteEvidence", "SiteFacts", "UrlShapes"]
