"""The table that site owners ask for: each parameter and shape of path, who asks for it, what it does."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from undust.engines import SITE
from undust.jobs.find_duplicates import declared_in
from undust.jobs.read import with_site
from undust.measuring.counts import savings
from undust.pages.clustering import find_in_site
from undust.reading.observations import Observations, sites_in, table_of
from undust.searching.sized_site import UNKNOWN, ParameterVerdict, judged_parameters
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.measuring.counts import Savings
    from undust.rules import RuleSet

MOST_SITES, MOST_PARAMETER_ROWS = 50, 300
"""Sites in a table, those with most URLs, and rows of each."""
PARAMETER, PATH_SHAPE = "parameter", "path"
_FILE = 12
"""Characters of the name of a program, such as `index.php`; longer ones are names of pages."""
_NOT_JUDGED = ParameterVerdict(UNKNOWN, "shapes of paths are counted and not judged")


@dataclass
class ParameterRow:
    """One parameter, or one shape of path."""

    site: str
    kind: str
    name: str
    urls: int = 0
    values: int = 0
    """Distinct ones."""
    example: str = ""
    requests: int = 0
    bytes: int = 0
    request_share: float | None = None
    """Of all requests of the site; None without a log."""
    byte_share: float | None = None
    by_crawler: dict[str, int] = field(default_factory=dict)
    """Requests by who asks."""
    verdict: str = UNKNOWN
    evidence: str = ""
    default: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as an object."""
        return asdict(self)


class ParameterTable(NamedTuple):
    """The rows of the table, and what rules save of the requests of a log."""

    rows: list[ParameterRow]
    saved: list[Savings]


def params(
    seen: Any,  # noqa: ANN401 -- any Arrow object
    traffic: pa.Table | None = None,
    site: str | None = None,
    rules: RuleSet | None = None,
) -> ParameterTable:
    """Return the parameters and shapes of paths of each site, those of most requests or URLs first.

    Args:
        seen: What `read` returned, or any Arrow table with a column `url`.
        traffic: The requests of logs, as rows of `undust.measuring.counts.TRAFFIC`.
        site: This one only.
        rules: Of these it is counted which requests they save.

    """
    table = with_site(table_of(seen.table if isinstance(seen, Observations) else seen))
    by_site = {name: rows for name, rows in sites_in(table) if name and site in {None, name}}
    chosen = sorted(by_site, key=lambda name: (-len(by_site[name]), name))[:MOST_SITES]
    asked = _by_site(traffic)
    declared = declared_in(seen)
    rows: list[ParameterRow] = []
    for name in chosen:
        found = find_in_site(by_site[name].drop_columns([SITE]), name, declared.get(name, ()))
        urls = found.node_urls.filter(pa.array(found.cluster_of_node >= 0)).to_pylist()
        rows += _of_site(name, urls, asked.get(name, []), judged_parameters(found))
    saved = savings(rules, traffic) if rules is not None and traffic is not None else []
    return ParameterTable(rows, saved)


def _by_site(traffic: pa.Table | None) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in traffic.to_pylist() if traffic is not None else ():
        found[site_of(row["url"]) or ""].append(row)
    return found


def _of_site(
    site: str, urls: Iterable[str], asked: list[dict[str, Any]], verdicts: dict[str, ParameterVerdict]
) -> list[ParameterRow]:
    rows: dict[tuple[str, str], ParameterRow] = {}
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for url in urls:
        for kind, name, value in parts_shown(url):
            row = rows.setdefault((kind, name), ParameterRow(site, kind, name))
            row.urls += 1
            values[kind, name].add(value)
            row.example = min(row.example, url, key=lambda text: (not text, len(text), text))
    total = Counter[str]()
    for visit in asked:
        total["requests"] += visit["requests"]
        total["bytes"] += visit["bytes"]
        for kind, name, _ in parts_shown(visit["url"]):
            if (kind, name) in rows:
                _count(rows[kind, name], visit)
    for key, row in rows.items():
        row.values = len(values[key])
        judged = (
            verdicts.get(row.name, ParameterVerdict(UNKNOWN, "too rare"))
            if row.kind == PARAMETER
            else _NOT_JUDGED
        )
        row.verdict, row.evidence, row.default = judged
        if total["requests"]:
            row.request_share = round(row.requests / total["requests"], 4)
            row.byte_share = round(row.bytes / total["bytes"], 4) if total["bytes"] else None
    order = sorted(rows.values(), key=lambda row: (-row.requests, -row.urls, row.kind, row.name))
    return order[:MOST_PARAMETER_ROWS]


def _count(row: ParameterRow, visit: dict[str, Any]) -> None:
    row.requests += visit["requests"]
    row.bytes += visit["bytes"]
    if visit["crawler"] is not None:
        row.by_crawler[visit["crawler"]] = row.by_crawler.get(visit["crawler"], 0) + visit["requests"]


def parts_shown(url: str) -> Iterator[tuple[str, str, str]]:
    """Yield the shape of a URL's path with the path, and each parameter with its value.

    >>> list(parts_shown("http://a.test/c/17/red-tea?sort=price"))
    [('path', '/c/{n}/{name}', '/c/17/red-tea'), ('parameter', 'sort', 'price')]
    """
    path, _, query = url.partition("://")[2].partition("?")
    path = "/" + path.partition("/")[2]
    yield PATH_SHAPE, _shape(path), path
    for parameter in dict.fromkeys(part for part in query.split("&") if part):
        name, _, value = parameter.partition("=")
        yield PARAMETER, name, value


def _shape(path: str) -> str:
    first, *rest = path.split("/")[1:]
    segments = [_segment(first, is_first=True), *(_segment(each, is_first=False) for each in rest)]
    return "/" + "/".join(segments)


def _segment(text: str, *, is_first: bool) -> str:
    if text.isdigit():
        return "{n}"
    is_word = text.replace(".", "").isalpha() and (is_first or ("." in text and len(text) <= _FILE))
    return text if not text or is_word else "{name}"
