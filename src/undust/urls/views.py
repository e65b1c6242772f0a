"""A batch of URLs as integer codes, in the two ways the learners look at them.

* `TokenView`: a sequence of tokens between sentinels (DustBuster, DUSTER).
* `KeyValueView`: a map from keys to values (Dasgupta et al., pattern tree), with the order
  and the separators of the query beside it.

Codes are ranks in a sorted vocabulary: they do not depend on the order of rows, and
comparing codes compares texts. Both views give their URLs back exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from undust._core import key_values
from undust._core import tokens as core_tokens
from undust.urls.url import one_array

if TYPE_CHECKING:
    from collections.abc import Sequence

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
