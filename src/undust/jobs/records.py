"""What one site gives to the pass over all sites: its outcome as a text, its counts, and its shapes.

The text comes from another process or machine, or from a journal of yesterday. It is JSON, and not what
Python pickles: a journal lies in a folder that others may write to, and a text of theirs can then be wrong
but can do nothing.

Rules that were learned from a sample of a site are held against all of it. What a rule adds is measured with
the rules before it, then with it as well. A rule fails if, on all pages, more are lost than chance and the
sample's own uncertainty explain.

What sites say of shapes is a table that stays with an engine and is added up there. However many sites there
are, only shapes come here: counts of them, those that some sites prove, and, for the few that become rules,
the words of one site after the other.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, fields, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

import numpy as np
import pyarrow as pa

from undust.engines import SITE
from undust.engines.spool import Scratch
from undust.files.temporary import OrderedLines, give_back_memory
from undust.judging.checked import CheckedPages
from undust.learning import RefusedRule, SitePages, SiteRules, SiteTally, State
from undust.learning.generic import SHOWN, ShapeSums, SharedShape, SiteVote, vote_of
from undust.rules import Rule, program_of
from undust.statistics import Totals, interval, upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from undust.engines import Engine
    from undust.learning import Requirements
    from undust.learning.drift import Fate
    from undust.pages.clustering import SiteClusters

    Fated = list[tuple[Fate, Rule]]

T = TypeVar("T")

_ALL = sys.maxsize
FAILED = "failed on all of the site"


class SiteState(NamedTuple):
    """The form of URLs under the first rules of a set: under no rule, under one, and so on up to all."""

    urls: int
    left: tuple[int, ...]
    """URLs that remain distinct."""
    lost: tuple[int, ...]
    """Pages that lie under another."""

    def added(self, place: int) -> tuple[int, int]:
        """Return the URLs saved and the pages lost by the rule at a place."""
        saved = self.left[place] - self.left[place + 1]
        return max(saved, 0), max(self.lost[place + 1] - self.lost[place], 0)


def joined(one: SiteState, other: SiteState) -> SiteState:
    """Return the standing of two parts of a site that share no image, as one."""
    return SiteState(
        one.urls + other.urls,
        tuple(a + b for a, b in zip(one.left, other.left, strict=True)),
        tuple(a + b for a, b in zip(one.lost, other.lost, strict=True)),
    )


def of_some(whole: SiteState, places: Sequence[int]) -> SiteState:
    """Return a standing with some of its rules only, each of which adds what it added among all."""
    left, lost = [whole.left[0]], [whole.lost[0]]
    for place in places:
        left.append(left[-1] + whole.left[place + 1] - whole.left[place])
        lost.append(lost[-1] + whole.lost[place + 1] - whole.lost[place])
    return SiteState(whole.urls, tuple(left), tuple(lost))


def site_state_of(
    site: SiteClusters, rules: Sequence[Rule], requirements: Requirements, *, is_all: bool = True
) -> SiteState:
    """Return how all URLs of a site stand, or those of the sample that rules are learned from."""
    if is_all and not rules:
        urls = int((site.cluster_of_node >= 0).sum())
        return SiteState(urls, (urls,), (0,))
    pages = SitePages(
        site,
        replace(requirements, most_urls=len(site.node_urls), most_bytes=_ALL) if is_all else requirements,
    )
    state = State(pages)
    left, lost = [len(state.images)], [state.lost()]
    # A rule of the first ones is used on the same URLs as among all of them: it comes before the others.
    rows, uses = (np.asarray(pa.array(column), np.int64) for column in program_of(rules).used(pages.urls))
    for number, rule in enumerate(rules):
        state.accept(rule, state.image[rows[uses == number]])
        left.append(len(state.images))
        lost.append(state.lost())
    return SiteState(len(pages.urls), tuple(left), tuple(lost))


def failing(
    rules: Sequence[Rule], sample: SiteState, whole: SiteState, requirements: Requirements
) -> frozenset[str]:
    """Return the ids of the rules that held on the sample and do not hold on all."""
    ids = set()
    for place, rule in enumerate(rules):
        saved, lost = whole.added(place)
        seen, spoiled = sample.added(place)
        allowed = max(requirements.max_fpr, upper_bound(spoiled, spoiled + seen) if spoiled else 0.0)
        if lost and interval(lost, lost + saved)[0] > allowed:
            ids.add(rule.id)
    return frozenset(ids)


def without(rules: SiteRules, ids: frozenset[str]) -> SiteRules:
    """Return what was learned of a site less some rules, which are counted as rejected."""
    if not ids:
        return rules
    rejected = dict(rules.rejected)
    rejected[FAILED] = rejected.get(FAILED, 0) + len(ids)
    kept = tuple(rule for rule in rules.rules if rule.id not in ids)
    return replace(rules, rules=kept, rejected=dict(sorted(rejected.items())))


def held_against_all(site: SiteClusters, rules: SiteRules, requirements: Requirements) -> SiteRules:
    """Return the rules of a sampled site that hold on all of it, and the figures of all of it."""
    give_back_memory()  # of learning, for the whole site takes more than its sample did
    whole = site_state_of(site, rules.rules, requirements)
    sample = site_state_of(site, rules.rules, requirements, is_all=False)
    while ids := failing(rules.rules, sample, whole, requirements):
        rules = without(rules, ids)
        whole = site_state_of(site, rules.rules, requirements)
        sample = site_state_of(site, rules.rules, requirements, is_all=False)
    return replace(rules, urls=whole.urls, left=whole.left[-1], lost=whole.lost[-1], pages=site.cluster_count)


class SiteOutcome(NamedTuple):
    """What one site gave."""

    rules: SiteRules
    again: Fated
    """Its rules from before, with what became of them."""
    shown: list[SiteTally]
    """What it says of rules for all sites."""
    has_evidence: bool
    stands: SiteState | None = None
    """The URLs that it was learned from, under its rules, if they are only some of the site's."""
    doubts: tuple[str, ...] = ()
    """Where there is no evidence: the names of what would be, and is not believed."""
    totals: Totals = Totals()
    """What becomes of its URLs under its own rules, counted as everywhere."""
    proposed: tuple[Rule, ...] = ()
    """Rules that are likely, without evidence of which URLs show one page."""


def to_text(learned: SiteOutcome) -> str:
    """Return what a site gave as a line of JSON."""
    site: dict[str, Any] = {each.name: getattr(learned.rules, each.name) for each in fields(SiteRules)}
    site["rules"] = [rule.to_json() for rule in learned.rules.rules]
    site["rejected"] = dict(learned.rules.rejected)
    site["checked"] = astuple(learned.rules.checked)
    site["refused"] = [vars(one) | {"rule": one.rule.to_json()} for one in learned.rules.refused]
    again = [(fate, rule.to_json()) for fate, rule in learned.again]
    proposed = [rule.to_json() for rule in learned.proposed]
    told = [site, again, *learned[2:-2], astuple(learned.totals), proposed]
    return json.dumps(told, separators=(",", ":"))


def from_text(text: str) -> SiteOutcome:
    """Return what the line says."""
    site, again, shown, has_evidence, stands, doubts, totals, proposed = json.loads(text)
    site["rules"] = tuple(map(Rule.from_json, site["rules"]))
    site["refused"] = tuple(
        RefusedRule(**one | {"rule": Rule.from_json(one["rule"])}) for one in site["refused"]
    )
    site["checked"] = CheckedPages(*site.get("checked", ()))
    site["unstable"] = tuple(site.get("unstable", ()))
    fated = [(cast("Fate", fate), Rule.from_json(rule)) for fate, rule in again]
    stood = stands and SiteState(stands[0], tuple(stands[1]), tuple(stands[2]))
    told = [_shown(row) for row in shown]
    likely = tuple(map(Rule.from_json, proposed))
    known = (SiteRules(**site), fated, told, has_evidence, stood, tuple(doubts))
    return SiteOutcome(*known, Totals(*totals), likely)


def _shown(row: list[Any]) -> SiteTally:
    """Return what a site says of one shape; ten thousand sites say it in the same words."""
    return SiteTally._make(sys.intern(value) if isinstance(value, str) else value for value in row)


class StoredOutcomes:
    """What sites gave, in the order of the sites; if they are many, on the disk."""

    def __init__(self, folder: str | None = None) -> None:
        self._lines = OrderedLines(folder)
        self._naming = Scratch(folder).naming

    def add(self, learned: SiteOutcome) -> None:
        """Keep what a site gave."""
        with self._naming():
            self._lines.add(f"{learned.rules.site}\t{to_text(learned)}".encode())

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[SiteOutcome]:
        with self._naming():
            for line in self._lines:
                yield from_text(line.partition(b"\t")[2].decode())


class StoredParts(Sequence[T]):
    """One part of what sites gave, made whenever it is asked for."""

    def __init__(
        self, stored: StoredOutcomes, parts: Callable[[SiteOutcome], Iterable[T]], count: int
    ) -> None:
        self._stored, self._parts, self._count = stored, parts, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        for learned in self._stored:
            yield from self._parts(learned)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            return list(self)[place]
        return next(islice(self, range(self._count)[place], None))


FAMILY = "family"
"""The column that has a value in every row of what a site says."""
SAID = pa.schema(
    [
        *(field.with_nullable(True) for field in SHOWN),  # noqa: FBT003 -- Arrow's own
        *(pa.field(name, pa.int64()) for name in SiteVote._fields),
    ]
)
"""One row for a site and a shape: the tally, and what it counts for."""
_SHAPE = ", ".join(SharedShape._fields)
_COLUMNS = ", ".join(SAID.names)
_SAID = f"(SELECT {_COLUMNS} FROM {{kept}} UNION ALL SELECT {_COLUMNS} FROM {{more}}) AS said"  # noqa: S608
_SUMS = (
    f"(SELECT {_SHAPE}, CAST(sum(holds) AS BIGINT) AS holds, CAST(sum(fails) AS BIGINT) AS fails,"  # noqa: S608
    " CAST(sum(proves) AS BIGINT) AS proved,"
    " CAST(sum(CASE WHEN opposes = 0 THEN saved ELSE 0 END) AS BIGINT) AS saves"
    f" FROM {_SAID} GROUP BY {_SHAPE}) AS sums"
)
_FAMILIES = (
    "SELECT family, holds, fails, CAST(count(*) AS BIGINT) AS shapes"  # noqa: S608
    f" FROM {_SUMS} GROUP BY family, holds, fails"
)
_SAME_SHAPE = " AND ".join(f"said.{name} = wanted.{name}" for name in SharedShape._fields)
_TALLIES = (
    f"SELECT {', '.join(f'said.{name}' for name in SHOWN.names)}"  # noqa: S608
    f" FROM {_SAID} JOIN {{wanted}} AS wanted ON {_SAME_SHAPE} ORDER BY wanted.place, said.site"
)
_NUMBER = pa.int64()
_TEXTS = [pa.field(name, pa.string()) for name in SharedShape._fields]
_FAMILY_COUNTS = pa.schema(
    [(FAMILY, pa.string()), ("holds", _NUMBER), ("fails", _NUMBER), ("shapes", _NUMBER)]
)
_SHAPE_SUMS = pa.schema([*_TEXTS, *(pa.field(name, _NUMBER) for name in ShapeSums._fields[1:])])
_WANTED = pa.schema([*_TEXTS, pa.field("place", _NUMBER)])


def said_rows(shown: Sequence[SiteTally], requirements: Requirements) -> pa.Table:
    """Return what a site says of shapes as rows of the table."""
    rows = [(*each, *vote_of(each, requirements)) for each in shown]
    columns = zip(*rows, strict=True) if rows else ((),) * len(SAID)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SAID, strict=True)], SAID)


class EngineShapes:
    """The table where an engine has it, and rows that came from elsewhere."""

    def __init__(self, engine: Engine, kept: Any, more: Iterable[pa.Table] = ()) -> None:  # noqa: ANN401
        self._engine = engine
        self._tables = {"kept": kept, "more": pa.concat_tables([SAID.empty_table(), *more])}

    def families(self) -> Mapping[str, Mapping[tuple[int, int], int]]:
        """Return by family how many shapes hold and fail for each number of pages."""
        found: dict[str, dict[tuple[int, int], int]] = defaultdict(dict)
        for batch in self._engine.select(_FAMILIES, self._tables, _FAMILY_COUNTS):
            for family, holds, fails, count in zip(*(column.to_pylist() for column in batch), strict=True):
                found[family][holds, fails] = count
        return found

    def proved(self, sites: int) -> Iterator[ShapeSums]:
        """Yield the shapes that at least this many sites prove."""
        query = f"SELECT * FROM {_SUMS} WHERE proved >= {int(sites)}"  # noqa: S608
        texts = len(_TEXTS)
        for batch in self._engine.select(query, self._tables, _SHAPE_SUMS):
            for row in zip(*(column.to_pylist() for column in batch), strict=True):
                yield ShapeSums(SharedShape(*row[:texts]), *row[texts:])

    def tallies(self, shapes: Sequence[SharedShape]) -> Iterator[SiteTally]:
        """Yield what each site says of these shapes, in the order of the shapes and then of the sites."""
        if not shapes:
            return
        columns = [*zip(*shapes, strict=True), range(len(shapes))]
        wanted = pa.table([pa.array(column) for column in columns], _WANTED)
        for batch in self._engine.select(_TALLIES, self._tables | {"wanted": wanted}, SHOWN):
            yield from map(SiteTally._make, zip(*(column.to_pylist() for column in batch), strict=True))


LEFT_BY_SHAPES = [field for field in SAID if field.name != SITE]
"""What a row of this table has besides the name of the site."""
