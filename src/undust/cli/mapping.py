"""What `apply` and `normalize` do to URLs: to whole lines of them, and to a column.

A command brings its work as a function from whole lines to whole lines; of files, order and ends of lines it
needs to know nothing.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from undust.files.streams import LONGEST_LINE, Holds, line_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

    from undust.cli.tally import Happened, Lines, Tally
    from undust.files.change import Write
    from undust.rules import Canonicalizer

UTF8_MARK = b"\xef\xbb\xbf"
_NO_URL = b"-"
"""What no URL begins with."""


class JoinedLines:
    """Writes the lines of several files one after the other; a last line without its end gets one."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._is_line_open = False

    def begin_file(self) -> None:
        """End the last line of the file before."""
        if self._is_line_open:
            self._write(b"\n")
        self._is_line_open = False

    def write(self, data: bytes) -> None:
        """Write lines, or a piece of one."""
        if data:
            self._write(data)
            self._is_line_open = not data.endswith(b"\n")


def map_lines(  # noqa: PLR0913 -- one for each thing that differs between the commands
    blocks: Iterable[bytes],
    work: Callable[[bytes], bytes],
    write: Callable[[bytes], object],
    tally: Tally,
    *,
    keeps_long: bool = True,
    longest_line: int = LONGEST_LINE,
) -> None:
    """Write all lines of a stream, in order, as `work` makes them; lines too long to be held stay."""
    is_start = True
    for chunk in line_chunks(blocks, longest_line):
        data = chunk.data.removeprefix(UTF8_MARK) if is_start else chunk.data
        is_start = False
        if chunk.holds is Holds.LINES:
            write(work(data))
            continue
        if chunk.holds is Holds.LONG_LINE:
            tally.urls += 1
            tally.too_long += 1
        if keeps_long:
            write(data)


def keeping_rows(ask: Lines, data: bytes) -> tuple[bytes, int, Happened]:
    r"""Return what `ask` makes of lines; a line with a tab inside is not a URL, and stays as it is.

    By the standard a URL loses its tabs, which would glue the fields of a table together; and its carriage
    returns, which would glue lines together.

    >>> from undust.cli.mapping import Normalizing
    >>> keeping_rows(Normalizing().lines, b"HTTP://a.test\nhttp://a.test/x\t200\n")[:2]
    (b'http://a.test/\nhttp://a.test/x\t200\n', 2)
    """
    if b"\t" not in data and (b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")):
        return ask(data)
    lines = data.split(b"\n")
    rows = [place for place, line in enumerate(lines) if is_several(line.strip())]
    if not rows:
        return ask(data)
    for place in rows:
        lines[place] = _NO_URL + lines[place]
    out, count, happened = ask(b"\n".join(lines))
    lines = out.split(b"\n")
    for place in rows:
        lines[place] = lines[place].removeprefix(_NO_URL)
    return b"\n".join(lines), count, happened


def is_several(line: bytes) -> bool:
    """Return whether a line holds what separates fields or lines."""
    return b"\t" in line or b"\r" in line


class Canonicalizing(NamedTuple):
    """Rules applied to URLs."""

    canonicalizer: Canonicalizer
    keys: bool = False
    threads: int = 1
    uses: bool = False

    def lines(self, data: bytes) -> tuple[bytes, int, Happened]:
        """Return whole lines of URLs in canonical form or as keys, their number, and what happened."""
        return self.canonicalizer.lines(data, keys=self.keys, threads=self.threads, uses=self.uses)

    def column(self, urls: pa.Array) -> tuple[pa.Array, Happened]:
        """Return the same for a column."""
        return self.canonicalizer.counted_batch(urls, keys=self.keys, threads=self.threads, uses=self.uses)


class Surting(NamedTuple):
    """Keys of URLs as web archives write them."""

    canonicalizer: Canonicalizer
    threads: int = 1
    uses: bool = False

    def lines(self, data: bytes) -> tuple[bytes, int, Happened]:
        """Return the keys of whole lines of URLs, their number, and what happened."""
        from undust.urls.surt import surt_of  # noqa: PLC0415 -- few ask for it

        out, count, happened = self.canonicalizer.lines(data, keys=True, threads=self.threads, uses=self.uses)
        texts = out.decode("utf-8", "surrogateescape").split("\n")
        return "\n".join(map(surt_of, texts)).encode("utf-8", "surrogateescape"), count, happened

    def column(self, urls: pa.Array) -> tuple[pa.Array, Happened]:
        """Return the same for a column."""
        import pyarrow as pa  # noqa: PLC0415 -- slow to load, and lists do without

        from undust.urls.surt import surt_of  # noqa: PLC0415 -- few ask for it

        keys, happened = self.canonicalizer.counted_batch(
            urls, keys=True, threads=self.threads, uses=self.uses
        )
        return pa.array(
            [None if key is None else surt_of(key) for key in keys.to_pylist()], keys.type
        ), happened


class Added(NamedTuple):
    """What happened, counted here and not in the core."""

    not_urls: int
    changed: int = 0
    skipped: int = 0
    unresolved: int = 0
    uses: list[int] = []  # noqa: RUF012 -- never changed

    @classmethod
    def of(cls, counts: Sequence[Happened]) -> Added:
        """Return the sums of several counts."""
        return cls(
            not_urls=sum(each.not_urls for each in counts),
            changed=sum(each.changed for each in counts),
            skipped=sum(each.skipped for each in counts),
            unresolved=sum(each.unresolved for each in counts),
            uses=[sum(uses) for uses in zip(*(each.uses for each in counts), strict=True)],
        )


class Normalizing(NamedTuple):
    """The standard form of URLs."""

    skip: tuple[str, ...] = ()
    threads: int = 1

    def lines(self, data: bytes) -> tuple[bytes, int, Happened]:
        """Return whole lines of URLs in their standard form, their number, and what happened."""
        from undust.urls.url import normalize_lines  # noqa: PLC0415 -- rules do without

        out, count, changed, not_urls = normalize_lines(data, skip=self.skip, threads=self.threads)
        return out, count, Added(not_urls, changed)

    def column(self, urls: pa.Array) -> tuple[pa.Array, Happened]:
        """Return the same for a column."""
        import pyarrow as pa  # noqa: PLC0415 -- slow to load, and lists do without

        from undust.urls.url import normalize_counted  # noqa: PLC0415 -- rules do without

        column, changed, not_urls = normalize_counted(urls, skip=self.skip, threads=self.threads)
        return pa.array(column), Added(not_urls, changed)


def cells_of(ask: Lines, cells: list[bytes]) -> tuple[list[bytes], Happened]:
    """Return the new form of each text of a table; line breaks in a text do not end a line."""
    data = b"\n".join(cells) + b"\n"
    if data.count(b"\n") == len(cells) and b"\r" not in data:
        out, _, happened = ask(data)
        return out[:-1].split(b"\n"), happened
    results: list[bytes] = []
    counts: list[Happened] = []
    for is_odd, some in groupby(cells, _has_line_break):
        texts = list(some)
        if not is_odd:
            out, _, happened = ask(b"\n".join(texts) + b"\n")
            results += out[:-1].split(b"\n")
            counts.append(happened)
            continue
        for text in texts:
            # By the standard a URL loses its line breaks; what is not a URL keeps them.
            out, _, happened = ask(text.translate(None, b"\r\n") + b"\n")
            results.append(text if happened.not_urls else out[:-1])
            counts.append(happened)
    return results, Added.of(counts)


def _has_line_break(cell: bytes) -> bool:
    return b"\n" in cell or b"\r" in cell
