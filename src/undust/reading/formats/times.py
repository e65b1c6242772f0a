"""Moments as people write them.

ISO 8601, the stamps of CDX files (20261115002357), numbers since 1970 in seconds or finer units, the dates
of HTTP headers and those of access logs. A whole column goes through Arrow if all of it has one form.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from undust.reading.formats.values import checked, decoded, is_text, no_rows, plain, present, without_nan

if TYPE_CHECKING:
    from undust.reading.formats.values import Converted

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
