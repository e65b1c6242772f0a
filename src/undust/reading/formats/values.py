"""Values as people write them, brought to the types of the one table, a column at a time.

A value that is absent, empty or `-` is null. One that cannot be read is null too, and reported: every
function here returns the column and the rows that failed.

Times are read in ISO 8601, as the stamps of CDX files (20261115002357), as numbers since 1970 in seconds or
finer units, as the dates of HTTP headers and as those of access logs. A whole column goes through Arrow if
all of it has one form.

Sketches and blocks are lists of whole numbers, or a text with such a list. Of a sketch 32 bits a number are
kept. A larger one is folded, its words in an exclusive or: equal numbers stay equal, and different ones stay
different but for one pair in four thousand million. Blocks are ascending numbers of 63 bits.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.files.change import text_from_bytes as text_from_bytes  # noqa: PLC0414 -- for those who read URLs
from undust.reading.text import MOST_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_WHOLE = r"^\s*[0-9]{1,18}(\.0*)?\s*$"  # 200.0 is how a table with gaps writes 200
_DIGEST_KIND = r"^(?i:sha1|sha256|sha512|md5):"

_TRUE, _FALSE = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")

Converted = tuple[pa.Array, pa.Array]
"""A column, and the numbers of the rows whose value could not be read."""


def is_text(column: pa.Array) -> bool:
    """Return whether a column holds texts or bytes."""
    kind = column.type
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )


def plain(column: pa.Array) -> pa.Array:
    """Return a column without dictionary or view types, which not every function takes."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(column.dictionary_decode())
    if pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.binary())
    return column


def texts(column: pa.Array) -> pa.Array:
    r"""Return a column as strings; empty ones are null, bytes that are not UTF-8 are written `\xff`."""
    return _not_empty(decoded(plain(column), "backslashes"))


def urls(column: pa.Array) -> pa.Array:
    """Return a column as URLs; bytes that are not UTF-8 become percent triplets, empty ones null."""
    return _not_empty(decoded(plain(column), "triplets"))


def digests(column: pa.Array) -> pa.Array:
    """Return signatures without the name of their kind: `sha1:AB…` in one file is `AB…` in another."""
    signatures = texts(column)
    if pc.any(pc.match_substring_regex(signatures, _DIGEST_KIND)).as_py():
        signatures = pc.replace_substring_regex(signatures, _DIGEST_KIND, "")
    return pc.if_else(pc.equal(signatures, "-"), pa.scalar(None, pa.string()), signatures)


def _not_empty(strings: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(strings, ""), pa.scalar(None, pa.string()), strings)


def decoded(column: pa.Array, repair: Literal["triplets", "backslashes"]) -> pa.Array:
    """Return a column as strings; `repair` says what becomes of bytes that are not UTF-8."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        decode = text_from_bytes if repair == "triplets" else _escaped
        return pa.array(
            [None if value is None else decode(value) for value in column.to_pylist()], pa.string()
        )
    except pa.ArrowNotImplementedError:  # lists, maps and the like
        return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())


def _escaped(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def integers(column: pa.Array, lowest: int = 0, highest: int = 10**18) -> Converted:
    """Return whole numbers between two bounds."""
    column = plain(column)
    if pa.types.is_null(column.type):
        return column.cast(pa.int64()), no_rows()
    if is_text(column):
        wanted = present(decoded(column, "backslashes"))
        is_whole = pc.match_substring_regex(wanted, _WHOLE)
        digits = pc.replace_substring_regex(pc.utf8_trim_whitespace(wanted), r"\.0*$", "")
        numbers = pc.if_else(is_whole, digits, pa.scalar(None, pa.string())).cast(pa.int64())
    else:
        wanted = without_nan(column)
        numbers = _whole_numbers(wanted)
    is_inside = pc.and_(pc.greater_equal(numbers, lowest), pc.less_equal(numbers, highest))
    return checked(wanted, pc.if_else(is_inside, numbers, pa.scalar(None, pa.int64())))


def truths(column: pa.Array) -> Converted:
    """Return true and false, also from 1 and 0 and from words."""
    column = plain(column)
    if pa.types.is_boolean(column.type):
        return column, no_rows()
    wanted = present(pc.utf8_lower(pc.utf8_trim_whitespace(decoded(column, "backslashes"))))
    is_true = pc.is_in(wanted, pa.array(_TRUE))
    is_known = pc.or_(is_true, pc.is_in(wanted, pa.array(_FALSE)))
    return checked(wanted, pc.if_else(is_known, is_true, pa.scalar(None, pa.bool_())))


def without_nan(column: pa.Array) -> pa.Array:
    """Return numbers with null where they are not a number."""
    # How a table without a word for "unknown" writes it.
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _whole_numbers(column: pa.Array) -> pa.Array:
    try:
        return column.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([_whole_number(value) for value in column.to_pylist()], pa.int64())


def _whole_number(value: Any) -> int | None:  # noqa: ANN401 -- whatever a table holds
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == value and abs(number) < 1 << 63 else None


def present(strings: pa.Array) -> pa.Array:
    """Return texts with null where they are empty or `-`."""
    is_absent = pc.is_in(pc.utf8_trim_whitespace(strings), pa.array(["", "-"]))
    return pc.if_else(is_absent, pa.scalar(None, pa.string()), strings)


def checked(wanted: pa.Array, got: pa.Array) -> Converted:
    """Return `got`, and the rows in which it is null and `wanted` is not."""
    failed = pc.and_(pc.is_valid(wanted), pc.is_null(got))
    return got, pc.indices_nonzero(failed)


def no_rows() -> pa.Array:
    """Return the numbers of no rows at all."""
    return pa.array([], pa.uint64())


TIME = pa.timestamp("us", "UTC")
_STAMP_DIGITS = 14


def times(column: pa.Array) -> Converted:
    """Return moments in UTC; one without a zone is taken to be in it."""
    column = plain(column)
    kind = column.type
    if pa.types.is_null(kind) or (pa.types.is_timestamp(kind) and kind.tz):
        return checked(column, column.cast(TIME, safe=False))
    if pa.types.is_temporal(kind):
        return checked(column, column.cast(pa.timestamp("us"), safe=False).cast(TIME))
    if not is_text(column):
        numbers = without_nan(column)
        return checked(numbers, pa.array([_time_of_number(value) for value in numbers.to_pylist()], TIME))
    wanted = present(decoded(column, "backslashes"))
    try:
        return _of_one_form(wanted), no_rows()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        moments = [None if text is None else time_of(text) for text in wanted.to_pylist()]
        return checked(wanted, pa.array(moments, TIME))


def _of_one_form(strings: pa.Array) -> pa.Array:
    """Return moments that are all written like the first; raise if they are not."""
    first = strings.drop_null()[:1].to_pylist()
    if not first or re.search(r"(Z|[+-]\d\d:?\d\d)$", first[0]):
        return strings.cast(TIME)
    if not first[0].isdigit():
        return strings.cast(pa.timestamp("us")).cast(TIME)
    # The pattern alone would also take shorter ones, and read other moments out of them.
    if not pc.all(pc.equal(pc.utf8_length(strings), _STAMP_DIGITS)).as_py():
        message = "not all are CDX stamps"
        raise pa.ArrowInvalid(message)
    return pc.strptime(strings, "%Y%m%d%H%M%S", "us").cast(TIME)


def time_of(text: str) -> datetime | None:
    """Return the moment that a text names, in any of the ways that `times` knows.

    >>> str(time_of("20070202")), str(time_of("2026-11")), str(time_of("15/Nov/2026:00:23:57 +0100"))
    ('2007-02-02 00:00:00+00:00', '2026-11-01 00:00:00+00:00', '2026-11-14 23:23:57+00:00')
    """
    text = text.strip()
    for form in (_of_digits, _of_month, datetime.fromisoformat, _of_log, parsedate_to_datetime):
        try:
            moment = form(text)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return None


def _of_digits(text: str) -> datetime:
    # As a number, a stamp of the year 2007 would be a moment in the year 2606.
    if not text.isascii() or not re.fullmatch(r"[0-9]+(\.[0-9]*)?", text):
        raise ValueError
    moment = _time_of_number(float(text) if "." in text else int(text))
    if moment is None:
        raise ValueError
    return moment


def _of_month(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC)


def _of_log(text: str) -> datetime:
    return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z")


def _time_of_number(number: Any) -> datetime | None:  # noqa: ANN401 -- whatever a table holds
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < 10**19:
        return None
    try:
        return _of_stamp(str(number)) if isinstance(number, int) else _since_1970(number)
    except ValueError:
        return _since_1970(number)


def _of_stamp(digits: str) -> datetime:
    if len(digits) not in {4, 6, 8, 12, _STAMP_DIGITS, 17} or not "1990" <= digits[:4] <= "2100":
        raise ValueError
    padded = digits + "00000101000000"[len(digits) :]
    return datetime.strptime(padded[:_STAMP_DIGITS], "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def _since_1970(number: float) -> datetime | None:
    # Seconds until the year 5138, then thousandths, millionths and billionths of one.
    unit = next(unit for unit in (1, 10**3, 10**6, 10**9) if number < 10**11 * unit or unit == 10**9)
    try:
        return datetime.fromtimestamp(number / unit, UTC)
    except (ValueError, OverflowError, OSError):
        return None


SKETCH = pa.list_(pa.uint32())
WORD_BITS = 32
WORD = (1 << WORD_BITS) - 1


def sketches(column: pa.Array) -> Converted:
    """Return sketches as lists of 32-bit numbers; a larger number is folded, word upon word."""
    column = plain(column)
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(SKETCH), no_rows()
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if is_list and pa.types.is_integer(kind.value_type):
        lists = column.cast(pa.list_(kind.value_type))
        if not lists.flatten().null_count:
            is_ours = kind.value_type == SKETCH.value_type
            return _no_empty_lists(lists.cast(SKETCH) if is_ours else _folded_lists(lists)), no_rows()
    convert = _sketch_of_values if is_list else _sketch_of_text
    values = column.to_pylist()
    got = pa.array([None if value is None else convert(value) for value in values], SKETCH)
    is_absent = pa.array([value is None or value in ("", b"", []) for value in values], pa.bool_())
    return _no_empty_lists(got), pc.indices_nonzero(pc.and_not(pc.is_null(got), is_absent))


def _no_empty_lists(lists: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(pc.list_value_length(lists), 0), pa.scalar(None, SKETCH), lists)


def _folded_lists(lists: pa.Array) -> pa.Array:
    words = lists.flatten().cast(pa.int64(), safe=False).cast(pa.uint64(), safe=False)
    high = pc.shift_right(words, pa.scalar(WORD_BITS, pa.uint64()))
    folded = pc.bit_wise_and(pc.bit_wise_xor(words, high), pa.scalar(WORD, pa.uint64())).cast(pa.uint32())
    # Lengths, not offsets: those of a slice start anywhere.
    ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(lists), 0)).cast(pa.int32())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    return pa.ListArray.from_arrays(offsets, folded, mask=lists.is_null() if lists.null_count else None)


def fold(number: int) -> int:
    """Return a number of any size as one of 32 bits: its words in an exclusive or; -1 has 64 bits.

    >>> fold(7), fold(1 << 32), fold((5 << 32) + 1)
    (7, 1, 4)
    """
    rest = number % (1 << 64) if number < 0 else number
    folded = 0
    while rest:
        folded ^= rest & WORD
        rest >>= WORD_BITS
    return folded


def _sketch_of_values(values: Any) -> list[int] | None:  # noqa: ANN401 -- whatever a table holds
    numbers = [_number_of(value) for value in values] if isinstance(values, list) else [None]
    return None if None in numbers else [fold(number) for number in numbers if number is not None]


def _number_of(value: Any) -> int | None:  # noqa: ANN401 -- whatever a table holds
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and (not math.isfinite(value) or value != int(value))):
        return None
    return int(value)


def _sketch_of_text(text: Any) -> list[int] | None:  # noqa: ANN401 -- whatever a table holds
    try:
        written = text.decode() if isinstance(text, bytes) else str(text)
        if not written.lstrip().startswith("["):
            written = f"[{','.join(re.split(r'[,; ]+', written.strip()))}]"
        return _sketch_of_values(json.loads(written))
    except (ValueError, RecursionError):
        return None


BLOCKS = pa.list_(pa.int64())
_LARGEST = (1 << 63) - 1


def blocks_array(blocks: Sequence[bytes | None]) -> pa.Array:
    """Return the blocks of pages, 64 bits each, as a column; null for pages without any."""
    sizes = np.fromiter((len(each) // 8 if each else 0 for each in blocks), np.int64, len(blocks))
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))).astype(np.int32)
    values = np.frombuffer(b"".join(each for each in blocks if each), np.int64)
    mask = pa.array(sizes == 0)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), mask=mask)


def block_lists(column: pa.Array) -> Converted:
    """Return lists of blocks; what is not an ascending list of at most 256 whole numbers is null."""
    column = plain(column)
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(BLOCKS), no_rows()
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if is_list and pa.types.is_integer(kind.value_type) and not pa.types.is_uint64(kind.value_type):
        return _checked(column.cast(BLOCKS))
    got = [None if value is None else _numbers(value) for value in column.to_pylist()]
    lists, failed = _checked(pa.array(got, BLOCKS))
    is_lost = pc.and_(pc.is_valid(column), pa.array([each is None for each in got], pa.bool_()))
    return lists, pa.concat_arrays([failed, pc.indices_nonzero(is_lost)])


def _checked(lists: pa.Array) -> Converted:
    sizes = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), np.int64)
    flat = lists.flatten()
    numbers: NDArray[np.int64] = np.asarray(flat.fill_null(-1), np.int64)
    row = np.repeat(np.arange(len(lists)), sizes)
    is_bad = numbers < 0
    is_bad[1:] |= (numbers[1:] <= numbers[:-1]) & (row[1:] == row[:-1])
    bad = (np.bincount(row[is_bad], minlength=len(lists)) > 0) | (sizes > MOST_BLOCKS)
    kept = pc.if_else(pa.array(bad | (sizes == 0)), pa.scalar(None, BLOCKS), lists)
    return kept, pa.array(np.flatnonzero(bad).astype(np.uint64))


def _numbers(value: Any) -> list[int] | None:  # noqa: ANN401 -- whatever a table holds
    try:
        found = json.loads(value) if isinstance(value, str | bytes) else value
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(type(each) is int and 0 <= each <= _LARGEST for each in found):
        return None
    return found
