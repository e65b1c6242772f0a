"""What sites say of shapes, as a table that stays with an engine and is added up there.

However many sites there are, only shapes come here: counts of them, those that some sites prove, and, for the
few that become rules, the words of one site after the other.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.engines import SITE
from undust.learning.generic import SHOWN, ShapeSums, SharedShape, SiteTally, SiteVote, vote_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from undust.engines import Engine
    from undust.learning import Requirements

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
