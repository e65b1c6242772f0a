"""Lines of JSON with a checksum in front: a line that a kill cut short is recognised."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DIGITS = 8
"""Of a checksum."""


def checked_line(content: object) -> bytes:
    r"""Return a line that holds a value.

    >>> checked_line(["a", 1])
    b'4ccbc44a ["a", 1]\n'
    """
    data = json.dumps(content).encode()
    return b"%0*x %s\n" % (DIGITS, zlib.crc32(data), data)


def content_of_line(line: bytes) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value that a whole line holds."""
    return json.loads(line[DIGITS + 1 :])


def whole_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines up to the first that was not written whole."""
    for line in file:
        data = line[DIGITS + 1 : -1]
        if not line.endswith(b"\n") or line[: DIGITS + 1] != b"%0*x " % (DIGITS, zlib.crc32(data)):
            return
        yield line
