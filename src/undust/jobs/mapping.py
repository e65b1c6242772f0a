"""What `apply` and `normalize` do to URLs, to whole lines of them and to a column, and what they count.

A command brings its work as a function from whole lines to whole lines; of files, order and ends of lines it
needs to know nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from undust.files.streams import LONGEST_LINE, Holds, line_chunks
from undust.jobs.urls_input import Fit
from undust.statistics import STANDARD_ERROR, Distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from undust.files.change import Write
    from undust.rules import Canonicalizer
    from undust.rules.compiled import OrderedRules


class Happened(Protocol):
    """What happened to URLs; the core's `Counts` is one."""

    @property
    def changed(self) -> int:
        """How many are not what they were."""

    @property
    def not_urls(self) -> int:
        """How many are not URLs, and stayed."""

    @property
    def skipped(self) -> int:
        """How many have a user name, or are too long."""

    @property
    def unresolved(self) -> int:
        """How many came to no end."""

    @property
    def uses(self) -> list[int]:
        """By rule, how many URLs it changed; empty if not asked for."""


Lines = Callable[[bytes], tuple[bytes, int, Happened]]
"""Whole lines to the new lines, their number and what happened."""


class UrlMapping(Protocol):
    """One thing that is done to every URL."""

    def lines(self, data: bytes) -> tuple[bytes, int, Happened]:
        """Return whole lines of URLs as they become, their number, and what happened."""

    def column(self, urls: pa.Array) -> tuple[pa.Array, Happened]:
        """Return the same for a column."""


_MOST_SHOWN = 20
"""Rules that the summary for people names; JSON names all."""


@dataclass
class Tally:
    """Counts of a run; `uses` and the distinct texts only if they were asked for."""

    urls: int = 0
    changed: int = 0
    not_urls: int = 0
    skipped: int = 0
    unresolved: int = 0
    too_long: int = 0
    blank: int = 0
    """Of those that are not URLs, how many hold nothing at all."""
    paths: int = 0
    """Of those that are not URLs, how many are paths."""
    absent: int = 0
    """Rows of a table without a value, which are counted as URLs and as nothing else."""
    records_skipped: int = 0
    records_passed_over: int = 0
    before: Distinct = field(default_factory=Distinct)
    after: Distinct = field(default_factory=Distinct)
    uses: list[int] = field(default_factory=list)

    def add(self, urls: int, counts: Happened, *, absent: int = 0) -> None:
        """Add what the core counted in a block; `absent` rows have no value, which it took for texts."""
        self.urls += urls
        self.changed += counts.changed
        self.not_urls += counts.not_urls - absent
        self.skipped += counts.skipped
        self.unresolved += counts.unresolved
        if counts.uses:
            known = self.uses or [0] * len(counts.uses)
            self.uses = [total + more for total, more in zip(known, counts.uses, strict=True)]

    def fit(self) -> Fit:
        """Return how many texts there were so far, and how many of them are not URLs; blank ones aside."""
        texts = self.urls - self.too_long - self.absent - self.blank
        return Fit(texts, self.not_urls - self.blank, self.paths)

    def look_at(self, texts: Sequence[bytes]) -> None:
        """Count the blank texts and the paths among texts of which some are not URLs."""
        self.blank += sum(not text.strip() for text in texts)
        self.paths += sum(text.startswith(b"/") for text in texts)

    def add_texts(self, before: Iterable[bytes], after: Iterable[bytes]) -> None:
        """Count different texts."""
        self.before.add(before)
        self.after.add(after)

    def add_lines(self, before: bytes, after: bytes) -> None:
        """Count different lines."""
        self.before.add_lines(before)
        self.after.add_lines(after)

    def add_columns(self, before: pa.Array, after: pa.Array) -> None:
        """Count different texts of columns."""
        self.before.add_column(before)
        self.after.add_column(after)

    def used(self, rules: OrderedRules) -> list[tuple[int, str, int]]:
        """Return number, id and uses of the rules that did something."""
        ids = rules.ids if any(self.uses) else ()
        return [(place + 1, ids[place], count) for place, count in enumerate(self.uses) if count]

    def as_json(self, rules: OrderedRules, seconds: float, *, is_full: bool) -> dict[str, Any]:
        """Return the counts for programs."""
        names = ("urls", "changed", "not_urls", "skipped", "unresolved", "too_long")
        told: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name in ("records_skipped", "records_passed_over"):
            if getattr(self, name):
                told[name] = getattr(self, name)
        told["seconds"] = round(seconds, 6)
        if is_full:
            told["distinct_before"] = self.before.count
            told["distinct_after"] = self.after.count
            told["distinct_is_exact"] = self.before.is_exact and self.after.is_exact
            used = self.used(rules)
            told["rules"] = [{"number": number, "id": name, "urls": count} for number, name, count in used]
        return told

    def as_text(self, seconds: float) -> str:
        """Return the counts as one line for people."""
        parts = [f"{self.changed:,} changed"]
        named = {
            "not URLs": self.not_urls,
            "with a user name or longer than 64 KiB (only normalized)": self.skipped,
            "without an end (only normalized)": self.unresolved,
            "longer than 1 MiB (unchanged)": self.too_long,
        }
        parts += [f"{count:,} {name}" for name, count in named.items() if count]
        speed = self.urls / max(seconds, 1e-6)
        return f"{self.urls:,} URLs: {', '.join(parts)}; {seconds:.1f} s, {speed:,.0f} URLs/s"

    def statistics(self, rules: OrderedRules) -> str:
        """Return what `--stats` adds, as a few lines for people."""
        is_exact = self.before.is_exact and self.after.is_exact
        note = "" if is_exact else f" (estimated, give or take {2 * STANDARD_ERROR:.1%})"
        lines = [f"distinct: {self.before.count:,} before, {self.after.count:,} after{note}"]
        used = sorted(self.used(rules), key=lambda rule: (-rule[2], rule[0]))
        width = max((len(f"{count:,}") for _, _, count in used), default=0)
        lines += [
            f"{count:>{width},}  rule {number} ({name[:8]})  {rules[number - 1]}"
            for number, name, count in used[:_MOST_SHOWN]
        ]
        if len(used) > _MOST_SHOWN:
            rest = sum(count for _, _, count in used[_MOST_SHOWN:])
            lines.append(f"{rest:>{width},}  by {len(used) - _MOST_SHOWN:,} more rules; --json names all")
        return "\n".join(lines)


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

    >>> from undust.jobs.mapping import Normalizing
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
        from undust.urls.url import surt_of  # noqa: PLC0415 -- few ask for it

        out, count, happened = self.canonicalizer.lines(data, keys=True, threads=self.threads, uses=self.uses)
        texts = out.decode("utf-8", "surrogateescape").split("\n")
        return "\n".join(map(surt_of, texts)).encode("utf-8", "surrogateescape"), count, happened

    def column(self, urls: pa.Array) -> tuple[pa.Array, Happened]:
        """Return the same for a column."""
        import pyarrow as pa  # noqa: PLC0415 -- slow to load, and lists do without

        from undust.urls.url import surt_of  # noqa: PLC0415 -- few ask for it

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

    @staticmethod
    def steps() -> dict[str, str]:
        """Return the steps that can be skipped, each with what it does."""
        from undust.urls.url import STEPS  # noqa: PLC0415 -- rules do without

        return STEPS

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
