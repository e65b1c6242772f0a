"""A batch of URLs as integer codes, in the ways the learners look at them.

* `TokenView`: a sequence of tokens between sentinels (DustBuster, DUSTER).
* `KeyValueView`: a map from keys to values (Dasgupta et al., pattern tree), with the order
  and the separators of the query beside it.

Codes are ranks in a sorted vocabulary: they do not depend on the order of rows, and
comparing codes compares texts. Both views give their URLs back exactly.

* `UrlColumns`: the same map as columns of integers, which a pattern tree splits. Values are codes in one
  vocabulary for all keys, so that a value can be followed from one key to another.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import key_values
from undust._core import tokens as core_tokens
from undust.urls.url import one_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Bools = NDArray[np.bool_]

TokenStyle = Literal["triplets", "words", "runs", "types"]
TOKEN_STYLES: tuple[TokenStyle, ...] = ("triplets", "words", "runs", "types")
"""Words and percent triplets; words as DustBuster has them; letters and digits apart as DUSTER does, and
the same with percent triplets."""

SENTINELS = ("^", "$")
START, END = 0, 1
NO_EQUALS = 0


@dataclass(frozen=True, eq=False)
class TokenView:
    """Row `i` is `codes[offsets[i]:offsets[i + 1]]`; code 0 is the start of a URL, code 1 its end.

    >>> TokenView.of(["http://a.test/x%20y"]).tokens(0)
    ('^', 'http', ':', '/', '/', 'a', '.', 'test', '/', 'x', '%20', 'y', '$')
    """

    offsets: pa.Array
    codes: pa.Array
    vocabulary: pa.Array
    """Text of each code; null for the sentinels, so that no text can be mistaken for one."""

    @classmethod
    def of(cls, urls: Any, style: TokenStyle = "triplets") -> TokenView:  # noqa: ANN401 -- any Arrow object
        """Return the view of a column of URLs, best after normalization."""
        if style not in TOKEN_STYLES:
            message = f"unknown token style '{style}'; the styles are {', '.join(TOKEN_STYLES)}"
            raise ValueError(message)
        return cls(*map(pa.array, core_tokens(one_array(urls), TOKEN_STYLES.index(style))))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def tokens(self, row: int) -> tuple[str, ...]:
        """Return the tokens of one URL in readable form, sentinels included."""
        codes = self.codes[self.offsets[row].as_py() : self.offsets[row + 1].as_py()]
        texts = zip(codes.to_pylist(), _texts(self.vocabulary.take(codes)), strict=True)
        return tuple(SENTINELS[code] if text is None else text for code, text in texts)

    def urls(self) -> pa.Array:
        """Return the URLs that the view was made of (a null is an empty row)."""
        texts = pc.fill_null(self.vocabulary, "").take(self.codes)
        urls = pc.binary_join(pa.LargeListArray.from_arrays(self.offsets, texts), pa.scalar("", texts.type))
        is_empty = pc.equal(pc.subtract(self.offsets[1:], self.offsets[:-1]), 0)
        return pc.if_else(is_empty, pa.scalar(None, urls.type), urls)


@dataclass(frozen=True, eq=False)
class KeyValueView:
    """In entry `e` the key `keys[e]` has the value `values[e]`; entries are in URL order.

    Keys are `scheme`, `userinfo`, `host_0` (the last label) and on to the left, `port`, `path_0`
    and on to the right, `slash` (a path longer than `/` ends in one), `?name`, `?name#2` for the
    second of that name, and `fragment`. A key that is absent has no entry. Value code 0 is a
    parameter without `=`. A row without entries is not a URL of the usual shape.

    >>> KeyValueView.of(["http://a.test/x/?q=1&r"]).pairs(0)
    {'scheme': 'http', 'host_1': 'a', 'host_0': 'test', 'path_0': 'x', 'slash': '1', '?q': '1', '?r': None}
    """

    offsets: pa.Array
    keys: pa.Array
    values: pa.Array
    separators: pa.Array
    """The character before a query pair (`?`, `&`, `;`) as its code; 0 for other entries."""
    key_names: pa.Array
    value_texts: pa.Array

    @classmethod
    def of(cls, urls: Any, separators: Literal["&", "&;"] = "&") -> KeyValueView:  # noqa: ANN401
        """Return the view of a column of URLs; `separators` are those between query pairs."""
        if separators not in {"&", "&;"}:
            message = f"unknown separators '{separators}'; query pairs are split at '&' or at '&;'"
            raise ValueError(message)
        return cls(*map(pa.array, key_values(one_array(urls), separators == "&;")))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def pairs(self, row: int) -> dict[str, str | None]:
        """Return one URL as a readable map; None is a parameter without `=`."""
        return {name: value for name, value, _ in self._entries(row)}

    def _entries(self, row: int) -> list[tuple[str, str | None, str]]:
        entries = slice(self.offsets[row].as_py(), self.offsets[row + 1].as_py())
        names = _texts(self.key_names.take(self.keys[entries]))
        texts = _texts(self.value_texts.take(self.values[entries]))
        marks = [chr(mark) if mark else "" for mark in self.separators[entries].to_pylist()]
        return list(zip(names, texts, marks, strict=True))

    def urls(self) -> pa.Array:
        """Return the URLs that the view was made of; null for rows that were not URLs."""
        rows = (_written(self._entries(row)) for row in range(len(self)))
        urls = [None if url is None else url.encode(errors="surrogateescape") for url in rows]
        return pa.array(urls, pa.large_binary()).view(self.value_texts.type)


def _texts(column: pa.Array) -> list[Any]:
    # A stranger's bytes need not be UTF-8, in a column of strings no more than in one of bytes.
    values = column.cast(pa.large_binary()).to_pylist()
    return [None if value is None else value.decode(errors="surrogateescape") for value in values]


def _written(entries: Sequence[tuple[str, str | None, str]]) -> str | None:
    if not entries:
        return None
    pieces: dict[str, str] = {name: value or "" for name, value, mark in entries if not mark}
    host = ".".join(value for name, value in pieces.items() if name.startswith("host_"))
    path = "/".join(value for name, value in pieces.items() if name.startswith("path_"))
    query = "".join(
        mark + name[1:].partition("#")[0] + ("" if value is None else f"={value}")
        for name, value, mark in entries
        if mark
    )
    return "".join(
        (
            pieces["scheme"],
            "://",
            f"{pieces['userinfo']}@" if "userinfo" in pieces else "",
            host,
            f":{pieces['port']}" if "port" in pieces else "",
            f"/{path}",
            "/" if "slash" in pieces else "",
            query,
            f"#{pieces['fragment']}" if "fragment" in pieces else "",
        )
    )


ABSENT = -1
"""The value of a key that a URL does not have."""
NO_EQUALS_TEXT, _EMPTY = 0, ""
CACHED_COLUMNS = 48

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class UrlColumns:
    """The URLs that have keys at all, row by row; `rows` has their numbers among the given URLs."""

    rows: Ints
    offsets: Ints
    """Row `i` has the entries from `offsets[i]` to `offsets[i + 1]`, in URL order."""
    keys: Codes
    values: Codes
    key_names: tuple[str, ...]
    """In natural order: scheme, host, port, path, slash, then the parameters by name."""
    value_texts: pa.Array
    """Text of each code; null for a parameter without `=`."""
    _columns: dict[int, Codes] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, urls: Any, rows: Ints | None = None) -> UrlColumns:  # noqa: ANN401 -- any Arrow array
        """Return the columns of some rows of URLs in normal form; those with a user name are excluded."""
        chosen = np.arange(len(urls)) if rows is None else rows
        view = KeyValueView.of(urls if rows is None else urls.take(pa.array(rows)))
        names = tuple(_text(name) for name in view.key_names.to_pylist())
        offsets = view.offsets.to_numpy()
        keys = view.keys.to_numpy().view(np.int32)
        values = view.values.to_numpy().view(np.int32)
        lengths = np.diff(offsets)
        is_usual = lengths > 0
        if "userinfo" in names:
            with_name = np.repeat(np.arange(len(lengths)), lengths)[keys == names.index("userinfo")]
            is_usual[with_name] = False
        if not is_usual.all():
            kept = np.repeat(is_usual, lengths)
            keys, values, lengths = keys[kept], values[kept], lengths[is_usual]
            offsets = np.concatenate([[0], np.cumsum(lengths)])
        return cls(chosen[is_usual], offsets, keys, values, names, view.value_texts)

    def ordered(self, order: Ints) -> UrlColumns:
        """Return the same URLs in another order, with the same codes."""
        lengths = self.lengths[order]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(len(self.keys)) + np.repeat(self.offsets[:-1][order] - offsets[:-1], lengths)
        return replace(
            self,
            rows=self.rows[order],
            offsets=offsets,
            keys=self.keys[entries],
            values=self.values[entries],
            _columns={},
        )

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> Ints:
        """How many entries each row has."""
        return np.diff(self.offsets)

    @cached_property
    def entry_rows(self) -> Codes:
        """The row of each entry."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths)

    def column(self, key: int) -> Codes:
        """Return the value of every row at one key, or `ABSENT`."""
        if key not in self._columns:
            if len(self._columns) >= CACHED_COLUMNS:
                del self._columns[next(iter(self._columns))]
            start, end = np.searchsorted(self._keys_in_order[1], [key, key + 1])
            entries = self._keys_in_order[0][start:end]
            values = np.full(len(self), ABSENT, np.int32)
            values[self.entry_rows[entries]] = self.values[entries]
            self._columns[key] = values
        return self._columns[key]

    @cached_property
    def _keys_in_order(self) -> tuple[Codes, Codes]:
        order = np.argsort(self.keys, kind="stable").astype(np.int32)
        return order, self.keys[order]

    @cached_property
    def layout(self) -> Codes:
        """The number of each row's layout: which keys it has, and in which order."""
        return self._layouts[0]

    @cached_property
    def layouts(self) -> tuple[tuple[int, ...], ...]:
        """The keys of each layout, in URL order."""
        return self._layouts[1]

    @cached_property
    def _layouts(self) -> tuple[Codes, tuple[tuple[int, ...], ...]]:
        place = np.arange(len(self.keys)) - np.repeat(self.offsets[:-1], self.lengths)
        mixed = (self.keys.astype(np.uint64) + np.uint64(1)) * (
            _MIX * (np.uint64(2) * place.astype(np.uint64) + np.uint64(1))
        )
        mixed ^= mixed >> np.uint64(31)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        sums = np.add.reduceat(mixed, self.offsets[:-1]) if len(self) else np.zeros(0, np.uint64)
        _, first, number = np.unique(sums, return_index=True, return_inverse=True)
        found = [tuple(self.keys[self.offsets[row] : self.offsets[row + 1]].tolist()) for row in first]
        # Numbered by their keys and not by a hash, so that nothing depends on how it mixes.
        ranks = np.argsort(sorted(range(len(found)), key=found.__getitem__))
        return ranks[number.reshape(-1)].astype(np.int32), tuple(sorted(found))

    @cached_property
    def is_run(self) -> Bools:
        """Which values a capture can take: they are not empty and have no `&` and no `;`."""
        lengths = pc.fill_null(pc.binary_length(self.value_texts), 0).to_numpy(zero_copy_only=False)
        return np.asarray((lengths > 0) & ~self.has_semicolon & ~self._with("&"))

    @cached_property
    def has_semicolon(self) -> Bools:
        """Which values hold a `;`; what follows it is not known."""
        return self._with(";")

    def _with(self, mark: str) -> Bools:
        found = pc.match_substring(self.value_texts, mark)
        return np.asarray(pc.fill_null(found, fill_value=False).to_numpy(zero_copy_only=False))

    def text(self, value: int) -> str:
        """Return a value as text; `ABSENT` and a missing `=` have none."""
        return "" if value == ABSENT else _text(self.value_texts[value].as_py() or "")


def _text(value: str | bytes) -> str:
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else value
