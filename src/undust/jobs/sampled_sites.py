"""Sites with more observations than are looked at together: learned from a sample, held against all.

The sample is drawn by content, as far as one row shows it (a label, a digest, or the URL that it points
to), by a hash, so that neither the order of rows nor the engine can be seen in it; the URLs that such a row
points to, or that point to it, come along. Of rare shapes of URLs more is drawn (see `first_look`). Then all
URLs of the site are cut into parts by what the rules make of them: URLs that would be merged are in one part,
so that each part can be judged by itself.

Everything is written with the methods of engines, and no step holds more than a part of the site.
"""

from __future__ import annotations

import hashlib
from dataclasses import astuple, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.engines import SITE
from undust.jobs.first_look import RareShapes, rare_shapes, shape_texts
from undust.jobs.one_site import labelled_in
from undust.jobs.read import WITH_SITE
from undust.jobs.records import SiteState, failing, joined, of_some, site_state_of, without
from undust.measuring import totals_of
from undust.pages.clustering import find_in_site
from undust.pages.clustering.false_clusters import VALUES
from undust.pages.clustering.nodes import FIRST_ERROR
from undust.rules import RuleSet, program_of
from undust.statistics import Totals
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from undust.engines import Engine
    from undust.jobs.one_site import LearningTask
    from undust.jobs.records import SiteOutcome
    from undust.rules import Rule

    Hashes = NDArray[np.uint64]

MARGIN = 0.6
"""The sample is drawn a little smaller than it may be: what rows point to comes on top."""
_NAMES = pa.schema(
    [pa.field(SITE, pa.string(), nullable=False), pa.field("name", pa.uint64(), nullable=False)]
)
STANDING = pa.schema(
    [
        pa.field(SITE, pa.string(), nullable=False),
        pa.field("urls", pa.int64(), nullable=False),
        pa.field("left", pa.list_(pa.int64()), nullable=False),
        pa.field("lost", pa.list_(pa.int64()), nullable=False),
        pa.field("totals", pa.list_(pa.int64()), nullable=False),
    ]
)
_COUNTED = pa.schema([pa.field(SITE, pa.string(), nullable=False), pa.field("pages", pa.int64())])
_ENDS = np.float64(2.0**64)
MINIMA = 4
"""Of a sketch that identify the content where there is no digest."""


class Giants:
    """The sites of a job that are too large, with the rows of each."""

    def __init__(self, engine: Engine, table: Any, sizes: Mapping[str, int]) -> None:  # noqa: ANN401
        self.sizes = dict(sizes)
        self._engine = engine
        self._rows = engine.map_rows(table, partial(_of_sites, sites=sorted(sizes)), WITH_SITE)

    def sample(self) -> Any:  # noqa: ANN401 -- a table of the engine's
        """Return as many rows of each as can be processed together."""
        engine, most = self._engine, self._engine.site_rows
        shares = {site: MARGIN * most / rows for site, rows in self.sizes.items()}
        shapes, contents = (engine.map_rows(self._rows, each, _NAMES) for each in (_shape_names, _contents))
        draw = Draw(shares, rare_shapes(engine, shapes, contents, shares))
        picked = engine.collect(engine.map_rows(self._rows, partial(_picked, draw=draw), _NAMES))
        names = np.unique(picked.column("name").to_numpy())
        rows = engine.map_rows(self._rows, partial(_chosen, draw=draw, names=names), WITH_SITE)
        # One page may have more rows than there may be at all.
        still = engine.survey(rows, most).large
        if still:
            fewer = {site: most / count for site, count in still.items()}
            rows = engine.map_rows(rows, partial(_thinned, shares=fewer), WITH_SITE)
        return rows

    def held_against_all(
        self, found: Mapping[str, SiteOutcome], task: LearningTask
    ) -> dict[str, SiteOutcome]:
        """Return what the samples gave, less the rules that fail on all, with the figures of all."""
        learned = {site: each for site, each in found.items() if site in self.sizes}
        pages = self._pages()
        while True:
            rules = {site: each.rules.rules for site, each in learned.items()}
            whole, totals = self._standing(rules, task)
            fails = {
                site: failing(rules[site], each.stands, whole[site], task.requirements)
                for site, each in learned.items()
                if each.stands
            }
            if not any(fails.values()):
                break
            learned = {site: _dropped(each, fails.get(site, frozenset())) for site, each in learned.items()}
        return {
            site: each._replace(
                rules=_with_figures(each, whole[site], pages[site]),
                # A page whose URLs lie in several parts was counted in each.
                totals=replace(totals[site], pages=min(totals[site].pages, pages[site])),
            )
            for site, each in learned.items()
        }

    def _parts(self, site: str) -> int:
        # Twice as many as needed, for no hash makes all of them alike.
        return 2 * (self.sizes[site] // self._engine.site_rows + 1)

    def _standing(
        self, rules: Mapping[str, Sequence[Rule]], task: LearningTask
    ) -> tuple[dict[str, SiteState], dict[str, Totals]]:
        parts = {site: self._parts(site) for site in rules}
        rows = self._engine.map_rows(self._rows, partial(_by_image, rules=rules, parts=parts), WITH_SITE)
        function = partial(_stand, rules=rules, task=task)
        found: dict[str, SiteState] = {}
        totals = dict.fromkeys(rules, Totals())
        for part in self._engine.collect(self._engine.map_sites(rows, function, STANDING)).to_pylist():
            site = _site_of_part(part[SITE])
            own = SiteState(part["urls"], tuple(part["left"]), tuple(part["lost"]))
            found[site] = joined(found[site], own) if site in found else own
            totals[site] += Totals(*part["totals"])
        nothing = {site: (0,) * (len(some) + 1) for site, some in rules.items()}
        return {site: found.get(site, SiteState(0, none, none)) for site, none in nothing.items()}, totals

    def _pages(self) -> dict[str, int]:
        parts = {site: self._parts(site) for site in self.sizes}
        names = self._engine.map_rows(self._rows, partial(_by_content, parts=parts), _NAMES)
        pages = dict.fromkeys(self.sizes, 0)
        for part in self._engine.collect(self._engine.map_sites(names, _counted, _COUNTED)).to_pylist():
            pages[_site_of_part(part[SITE])] += part["pages"]
        return pages


def _dropped(each: SiteOutcome, ids: frozenset[str]) -> SiteOutcome:
    """Return what a sample gave without some rules."""
    if not ids or each.stands is None:
        return each
    places = [place for place, rule in enumerate(each.rules.rules) if rule.id not in ids]
    return each._replace(rules=without(each.rules, ids), stands=of_some(each.stands, places))


def _with_figures(each: SiteOutcome, whole: SiteState, pages: int) -> Any:  # noqa: ANN401
    sampled = each.rules.sampled or each.rules.urls
    return replace(
        each.rules,
        urls=whole.urls,
        left=whole.left[-1],
        lost=whole.lost[-1],
        pages=pages,
        sampled=sampled,
    )


def _of_sites(batch: pa.RecordBatch, sites: Sequence[str]) -> pa.RecordBatch:
    wanted = pc.is_in(batch.column(SITE), pa.array(sites, batch.column(SITE).type))
    return batch.filter(wanted).select(WITH_SITE.names).cast(WITH_SITE)


def hashes(column: pa.Array) -> Hashes:
    """Return a number for each text, the same on every machine; 0 for null."""
    encoded = column.dictionary_encode()
    texts = (text.encode(errors="surrogateescape") for text in encoded.dictionary.to_pylist())
    made = (hashlib.blake2b(text, digest_size=8) for text in texts)
    numbers = np.fromiter((int.from_bytes(each.digest()) for each in made), np.uint64)
    codes = pc.fill_null(encoded.indices, len(numbers)).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(numbers, np.uint64(0))[codes], np.uint64)


def _content(batch: pa.RecordBatch) -> Hashes:
    """Return of each row a hash of what it says it shows."""
    minima = [pc.list_element(_padded(batch.column("sketch")), place) for place in range(MINIMA)]
    sketch = pc.binary_join_element_wise("s", *(each.cast(pa.string()) for each in minima), " ")
    named = pc.binary_join_element_wise("c", batch.column("cluster"), " ")
    digest = pc.binary_join_element_wise("d", batch.column("digest"), " ")
    targets = [_address(batch, name) for name in ("canonical", "redirect", "url")]
    return hashes(pc.coalesce(named, digest, sketch, *targets))


def _shows(batch: pa.RecordBatch) -> pa.Array:
    """Return which rows say themselves what they show."""
    label, digest, sketch = (pc.is_valid(batch.column(name)) for name in ("cluster", "digest", "sketch"))
    return pc.or_(pc.or_(label, digest), sketch)


def _padded(sketch: pa.Array) -> pa.Array:
    """Return sketches with null instead of those that are too short to compare."""
    is_long = pc.greater_equal(pc.list_value_length(sketch), MINIMA)
    return pc.if_else(is_long, sketch, pa.scalar([None] * MINIMA, sketch.type))


def _address(batch: pa.RecordBatch, name: str) -> pa.Array:
    return pc.binary_join_element_wise("u", normalize(batch.column(name)).cast(pa.string()), " ")


def _is_drawn(batch: pa.RecordBatch, shares: Mapping[str, float], numbers: Hashes) -> NDArray[np.bool_]:
    return numbers.astype(np.float64) / _ENDS < _of_row(batch, shares)


def _of_row(batch: pa.RecordBatch, shares: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the share of the site of each row; all of it for sites that are not named."""
    place = pc.index_in(batch.column(SITE), pa.array(list(shares), pa.string()))
    known = np.append(np.fromiter(shares.values(), np.float64), 1.0)
    return np.asarray(known[pc.fill_null(place, len(shares)).to_numpy(zero_copy_only=False)])


class Draw(NamedTuple):
    """Which rows of giant sites are drawn."""

    shares: Mapping[str, float]
    rare: RareShapes

    def is_rare(self, batch: pa.RecordBatch, contents: Hashes) -> NDArray[np.bool_]:
        """Return which rows are drawn for the sake of their shape, with all that shows the same."""
        share = self.rare.share_of(_shapes(batch))
        return (contents.astype(np.float64) / _ENDS < share) & ~_is_among(contents, self.rare.often)


def _shapes(batch: pa.RecordBatch) -> Hashes:
    # One bit less, for engines that know no unsigned numbers order them too.
    return hashes(shape_texts(batch.column("url"))) >> np.uint64(1)


def _shape_names(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.record_batch([batch.column(SITE), pa.array(_shapes(batch))], schema=_NAMES)


def _contents(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.record_batch([batch.column(SITE), pa.array(_content(batch))], schema=_NAMES)


def _picked(batch: pa.RecordBatch, draw: Draw) -> pa.RecordBatch:
    """Return the URLs of the rows that are drawn for their content, and those that they point to.

    Where the shape of a URL is rare, what it shows is named as well, for others that show the same.
    """
    batch = batch.filter(_shows(batch))
    contents = _content(batch)
    is_rare = draw.is_rare(batch, contents)
    drawn = batch.filter(pa.array(_is_drawn(batch, draw.shares, contents) | is_rare))
    sites, names = [batch.column(SITE).filter(pa.array(is_rare))], [pa.array(contents[is_rare])]
    for name in ("url", "canonical", "redirect"):
        address = _address(drawn, name)
        is_there = pc.is_valid(address)
        sites.append(drawn.column(SITE).filter(is_there))
        names.append(pa.array(hashes(address.filter(is_there))))
    return pa.record_batch([pa.concat_arrays(sites), pa.concat_arrays(names)], schema=_NAMES)


def _chosen(batch: pa.RecordBatch, draw: Draw, names: Hashes) -> pa.RecordBatch:
    """Return the rows that are drawn, those that they point to, and those that point to them."""
    contents = _content(batch)
    is_in = _is_drawn(batch, draw.shares, contents) | draw.is_rare(batch, contents)
    is_in |= _is_among(contents, names)
    for name in ("url", "canonical", "redirect"):
        is_in |= _is_among(hashes(_address(batch, name)), names)
    return batch.filter(pa.array(is_in))


def _is_among(numbers: Hashes, names: Hashes) -> NDArray[np.bool_]:
    """Return which numbers are among the names, which are sorted."""
    if not len(names):
        return np.zeros(len(numbers), np.bool_)
    place = np.minimum(np.searchsorted(names, numbers), len(names) - 1)
    return np.asarray(names[place] == numbers)


def _thinned(batch: pa.RecordBatch, shares: Mapping[str, float]) -> pa.RecordBatch:
    return batch.filter(pa.array(_is_drawn(batch, shares, hashes(batch.column("url")))))


def _by_image(
    batch: pa.RecordBatch, rules: Mapping[str, Sequence[Rule]], parts: Mapping[str, int]
) -> pa.RecordBatch:
    """Return the rows under the names of parts: what the rules bring together is in one part."""
    site = batch.column(SITE)
    batch = batch.filter(pc.is_in(site, pa.array(list(parts), site.type)))
    program = program_of(rule for some in rules.values() for rule in some)
    images = pa.array(program.batch(normalize(batch.column("url"))))
    return _renamed(batch, parts, hashes(images))


def _by_content(batch: pa.RecordBatch, parts: Mapping[str, int]) -> pa.RecordBatch:
    """Return the pages that rows show; one that only points elsewhere, or failed, shows none."""
    went_well = pc.less(pc.fill_null(batch.column("status"), 0), FIRST_ERROR)
    is_page = pc.or_(_shows(batch), pc.is_null(batch.column("redirect")))
    batch = batch.filter(pc.and_(went_well, is_page))
    numbers = _content(batch)
    named = pa.record_batch([batch.column(SITE), pa.array(numbers)], schema=_NAMES)
    return _renamed(named, parts, numbers)


def _renamed(batch: pa.RecordBatch, parts: Mapping[str, int], numbers: Hashes) -> pa.RecordBatch:
    most = np.array([parts[site] for site in batch.column(SITE).to_pylist()], np.uint64)
    part = pa.array(numbers % np.maximum(most, np.uint64(1))).cast(pa.string())
    name = pc.binary_join_element_wise(batch.column(SITE), part, " ")
    return batch.set_column(batch.schema.get_field_index(SITE), batch.schema.field(SITE), name)


def _site_of_part(name: str) -> str:
    return name.partition(" ")[0]


def _stand(part: str, rows: pa.Table, rules: Mapping[str, Sequence[Rule]], task: LearningTask) -> pa.Table:
    """Return how the URLs of one part stand, as a row."""
    site = _site_of_part(part)
    found = find_in_site(rows, site, task.declared.get(site, ()), VALUES)
    urls, left, lost = site_state_of(found, rules[site], task.requirements)
    totals = astuple(totals_of(found.urls, labelled_in(rows, found, task), RuleSet(rules[site])))
    row = {SITE: [part], "urls": [urls], "left": [left], "lost": [lost], "totals": [totals]}
    return pa.table(row, STANDING)


def _counted(part: str, rows: pa.Table) -> pa.Table:
    return pa.table({SITE: [part], "pages": [pc.count_distinct(rows.column("name")).as_py()]}, _COUNTED)
