"""The URLs of a site as maps from keys to values, in codes.

Keys are the scheme, the host, the segments of the path by number, whether the path ends in a slash, and
the parameters by name; a key that a URL does not have is absent. The host is one value as published, or
one value a label, so that mirrors can be found (which the authors leave as a question).

What the paper leaves open is settled here:

* A wildcard matches a value that is not empty and has no raw `;`, as captures of our rules do.
  `?x` and `?x=` are values of their own, which no wildcard covers.
* Query pairs are split at `&` only, as our rules split them; the paper splits at `;` too.
* Equal values link two keys if a wildcard could stand for them (A20); scheme, whole host, port and the
  final slash are linked with themselves only, for nothing else could be written there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import entry_hashes
from undust.urls import KeyValueView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Hashes = NDArray[np.uint64]
    Bools = NDArray[np.bool_]

_NO_EQUALS = 0
ANY, INT, ALPHA, HEX = -2, -3, -4, -5
"""What a context may ask of a value instead of naming it: the bare wildcard, and the typed ones."""
CLASSES = {INT: "int", ALPHA: "alpha", HEX: "hex"}
_FORMS = {INT: "^[0-9]+$", ALPHA: "^[A-Za-z]+$", HEX: "^[0-9A-Fa-f]+$"}
_PLACES = ("scheme", "userinfo", "host", "port", "path", "slash", "fragment", "?")
_ALONE = ("scheme", "host", "port", "slash")
_NO = pa.scalar(value=False)


@dataclass(frozen=True, eq=False)
class Maps:
    """Row `r` has value `values[e]` at key `keys[e]`, for `e` in `offsets[r]` to `offsets[r + 1]`.

    Keys ascend within a row, in the order in which URLs are written (parameters by name).
    """

    offsets: Ints
    keys: Codes
    values: Codes
    nodes: Ints
    """The node of each row."""
    clusters: Ints
    known: Bools
    """Whether a row's content can be compared with that of others."""
    key_names: tuple[str, ...]
    texts: pa.Array
    linked: NDArray[np.uint8]
    """Of each value, whether it may be the source of an equal one at another key."""
    open: Bools
    """Of each value, whether a wildcard covers it."""

    def __len__(self) -> int:
        return len(self.nodes)

    def text(self, value: int) -> str | None:
        """Return a value as it is written; None is a parameter without `=`."""
        text = self.texts[value].as_py()
        return text.decode(errors="surrogateescape") if isinstance(text, bytes) else text

    def is_of(self, kind: int) -> Bools:
        """Return of each value whether a wildcard of that kind covers it."""
        if kind == ANY:
            return self.open
        fits = pc.fill_null(pc.match_substring_regex(self.texts, _FORMS[kind]), _NO)
        return self.open & np.asarray(fits, np.bool_)


def maps_of(site: SiteClusters, *, host_labels: bool = False) -> Maps:
    """Return the maps of the URLs that were seen; those with a user name are excluded, as rules do."""
    seen = np.flatnonzero(site.cluster_of_node >= 0)
    view = KeyValueView.of(site.node_urls.take(pa.array(seen)))
    names = [str(name) for name in view.key_names.to_pylist()]
    table = _ViewEntries(
        _numbers(view.offsets, np.int64),
        _numbers(view.keys, np.int64),
        _numbers(view.values, np.int32),
        names,
        view.value_texts,
    )
    if "userinfo" in names:
        table.drop_rows(names.index("userinfo"))
    table.drop_empty_rows()
    if not host_labels:
        table.join_hosts()
    table.set_apart()
    table.order_keys()
    nodes = seen[table.rows]
    texts = table.texts
    is_text = np.asarray(pc.fill_null(pc.not_equal(texts, pa.scalar("", texts.type)), _NO), np.bool_)
    is_open = is_text & ~np.asarray(pc.fill_null(pc.match_substring(texts, ";"), _NO), np.bool_)
    is_open[table.closed] = False
    linked = is_open.copy()
    linked[table.first_apart :] = False
    return Maps(
        table.offsets,
        table.keys.astype(np.int32),
        table.values,
        nodes,
        site.cluster_of_node[nodes],
        site.known[site.speakers[nodes]],
        tuple(table.names),
        texts,
        linked.astype(np.uint8),
        is_open,
    )


def hashes_of(keys: Any, context: Any, action: Any) -> Hashes:  # noqa: ANN401 -- numbers or arrays
    """Return one number for each (key, context, action)."""
    columns = np.broadcast_arrays(*(np.asarray(each, np.int32) for each in (keys, context, action)))
    return _numbers(entry_hashes(*map(np.ascontiguousarray, columns)), np.uint64)


def sums(numbers: Hashes, offsets: Ints) -> Hashes:
    """Return the sum of each row's numbers, round the corner of 64 bits; a row without any has 0."""
    total = np.concatenate(([np.uint64(0)], np.cumsum(numbers, dtype=np.uint64)))
    return total[offsets[1:]] - total[offsets[:-1]]


def spans(starts: Ints, lengths: Ints) -> Ints:
    """Return the numbers from each start on, as many as its length, one after the other."""
    ends = np.cumsum(lengths)
    numbers: Ints = np.repeat(starts - (ends - lengths), lengths)
    numbers += np.arange(len(numbers))
    return numbers


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return each number once, sorted; for millions of them faster than `np.unique`."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def counted(numbers: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return each number once, sorted, and how often it is there."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    at = np.flatnonzero(is_new)
    return ordered[at], np.diff(at, append=len(ordered))


def offsets_of(lengths: Ints) -> Ints:
    """Return where each row starts, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _numbers(column: Any, kind: type) -> NDArray[Any]:  # noqa: ANN401 -- a column of the core or of Arrow
    return np.asarray(pa.array(column).to_numpy(zero_copy_only=False)).astype(kind, copy=False)


class _ViewEntries:
    """The key-value view in the making: some rows excluded, some keys joined, all in order."""

    def __init__(self, offsets: Ints, keys: Ints, values: Codes, names: list[str], texts: pa.Array) -> None:
        self.offsets, self.keys, self.values, self.names, self.texts = offsets, keys, values, names, texts
        self.rows = np.arange(len(offsets) - 1)
        self.first_apart = len(texts)
        self.closed: list[int] = []

    def drop_rows(self, key: int) -> None:
        """Exclude the rows that have a key."""
        self._keep_rows(np.bincount(self._row()[self.keys == key], minlength=len(self.rows)) == 0)

    def drop_empty_rows(self) -> None:
        """Remove what is not a URL of the usual shape."""
        self._keep_rows(np.diff(self.offsets) > 0)

    def join_hosts(self) -> None:
        """Make one value of the labels and the port."""
        is_host = np.array([name.startswith("host_") or name == "port" for name in self.names], np.bool_)
        of_host = is_host[self.keys]
        if not of_host.any():
            return
        parts = np.where(of_host, hashes_of(self.keys, self.values, 0), np.uint64(0))
        _, first, host = np.unique(sums(parts, self.offsets), return_index=True, return_inverse=True)
        unsorted = [self._host(int(row)) for row in first]
        texts = sorted(unsorted)
        rank = {text: place for place, text in enumerate(texts)}
        host = np.array([rank[text] for text in unsorted])[host.reshape(-1)]
        is_first = of_host & (np.diff(of_host.astype(np.int8), prepend=0) == 1)
        self.values[is_first] = (len(self.texts) + host).astype(np.int32)
        self.keys[is_first] = len(self.names)
        self.names.append("host")
        self.texts = pa.concat_arrays([self.texts, pa.array(texts, self.texts.type)])
        self._keep_entries(is_first | ~of_host)

    def set_apart(self) -> None:
        """Give what is not shared codes of its own, so that nothing elsewhere equals it."""
        for key, name in enumerate(self.names):
            if name not in _ALONE or name == "host":
                continue
            at = self.keys == key
            old, place = np.unique(self.values[at], return_inverse=True)
            if name in {"slash", "port"}:
                self.closed += range(len(self.texts), len(self.texts) + len(old))
            self.values[at] = (len(self.texts) + place.reshape(-1)).astype(np.int32)
            self.texts = pa.concat_arrays([self.texts, self.texts.take(pa.array(old))])

    def order_keys(self) -> None:
        """Number the keys as URLs are written, and put each row in that order."""
        order = sorted(range(len(self.names)), key=lambda key: _place(self.names[key]))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        self.names = [self.names[key] for key in order]
        self.keys = rank[self.keys]
        row = self._row()
        falls = np.flatnonzero((np.diff(self.keys) < 0) & (np.diff(row) == 0))
        in_disorder = np.zeros(len(self.rows), np.bool_)
        in_disorder[row[falls]] = True
        at = np.flatnonzero(in_disorder[row])
        sorted_at = at[np.argsort(row[at] * len(order) + self.keys[at], kind="stable")]
        self.keys[at], self.values[at] = self.keys[sorted_at], self.values[sorted_at]

    def _row(self) -> Ints:
        return np.repeat(np.arange(len(self.rows)), np.diff(self.offsets))

    def _host(self, row: int) -> str:
        entries = range(int(self.offsets[row]), int(self.offsets[row + 1]))
        named = {self.names[int(self.keys[e])]: self.texts[int(self.values[e])].as_py() for e in entries}
        named = {name: text.decode() if isinstance(text, bytes) else text for name, text in named.items()}
        host = ".".join(text for name, text in named.items() if name.startswith("host_"))
        return host + (f":{named['port']}" if "port" in named else "")

    def _keep_rows(self, kept: Bools) -> None:
        if kept.all():
            return
        self._keep_entries(kept[self._row()])
        self.offsets = offsets_of(np.diff(self.offsets)[kept])
        self.rows = self.rows[kept]

    def _keep_entries(self, kept: Bools) -> None:
        lengths = np.bincount(self._row()[kept], minlength=len(self.rows))
        self.offsets, self.keys, self.values = offsets_of(lengths), self.keys[kept], self.values[kept]


def _place(name: str) -> tuple[int, int, bytes, int]:
    head, _, number = name.partition("_")
    if name.startswith("?"):
        base, _, again = name.partition("#")
        return (len(_PLACES), 0, base.encode(errors="surrogateescape"), int(again or 1))
    return (_PLACES.index(head), int(number or 0), b"", 0)
