"""From the bytes of a page to its visible text, as Soon and Lee's signature needs it.

The paper leaves white space, entities and encodings open. Here: references are decoded, the text is in
Unicode normal form C, every run of white space is one space, none at either end.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

from undust._core import read_html as core_read_html

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_TAGS = 1000
"""Link, meta and base tags that are looked at on one page; no honest page has more."""
MOST_TITLE = 200
"""Characters of a title that are kept."""
META_BYTES = 1024
"""How far the encoding may be declared inside a page (HTML standard, 13.2.3.2)."""

_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_DECLARED = re.compile(
    rb"""(?i)<meta\s[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})"""
)
_CHARSET = re.compile(r"""(?i)charset\s*=\s*["']?\s*([\w.:-]+)""")
_LANGUAGE = re.compile(rb"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,3}")
_ESCAPE = b"\x1b"  # starts the modes of encodings that look like ASCII, such as ISO-2022-JP


class Tag(NamedTuple):
    """A link, meta or base tag, references in its values decoded."""

    name: str
    is_in_head: bool
    attributes: Mapping[str, str]


class ParsedHtml(NamedTuple):
    """What is shown of a page, and its tags that point elsewhere."""

    text: bytes
    """In UTF-8 and in the normal form that is described above."""
    tags: tuple[Tag, ...]
    title: str | None = None
    """At most `MOST_TITLE` characters of it."""
    language: str | None = None
    """What the page names as its language, in lower case, such as `de-at`."""
    blocks: bytes = b""
    """See `undust.reading.content.sketch`."""


def read_html(body: bytes, content_type: str | None = None) -> ParsedHtml:
    """Return what a page shows and where it points, whatever its encoding.

    >>> read_html(b"<p>caf&eacute; <script>x()</script> au<b>x</b>").text.decode()
    'café aux'
    """
    text, tags, title, language, blocks, _ = core_read_html(as_utf8(body, content_type), MOST_TAGS)
    return ParsedHtml(
        _composed(text),
        tuple(_tag(*tag) for tag in tags),
        title.decode("utf-8", "replace")[:MOST_TITLE] or None,
        _language(language),
        blocks,
    )


def _language(named: bytes) -> str | None:
    found = _LANGUAGE.fullmatch(named.strip())
    return found[0].decode("ascii").lower().replace("_", "-") if found else None


def _composed(text: bytes) -> bytes:
    if text.isascii():
        return text
    characters = text.decode("utf-8", "replace")
    if unicodedata.is_normalized("NFC", characters):
        return text
    return unicodedata.normalize("NFC", characters).encode()


def _tag(name: bytes, is_in_head: bool, attributes: Mapping[bytes, bytes]) -> Tag:  # noqa: FBT001
    decoded = {
        key.decode("utf-8", "replace"): unescape(value.decode("utf-8", "replace"))
        for key, value in attributes.items()
    }
    return Tag(name.decode("ascii"), is_in_head, decoded)


def read_plain(body: bytes, content_type: str | None = None) -> bytes:
    r"""Return plain text in UTF-8 and normal form, whatever its encoding.

    >>> read_plain(b"caf\xe9  au\nlait", "text/plain; charset=latin1").decode()
    'café au lait'
    """
    text = as_utf8(body, content_type).decode("utf-8", "replace").replace("\0", "")
    return " ".join(unicodedata.normalize("NFC", text).split()).encode()


def as_utf8(body: bytes, content_type: str | None = None) -> bytes:
    """Return a body in UTF-8, without a byte order mark."""
    charset = charset_of(body, content_type)
    if charset == "utf-8":
        body = body.removeprefix(codecs.BOM_UTF8)
        if _is_utf8(body):
            return body
    from resiliparse.parse.encoding import bytes_to_str  # noqa: PLC0415 -- slow to load

    text: str = bytes_to_str(body, charset, errors="replace")
    return text.encode("utf-8", "replace")


def charset_of(body: bytes, content_type: str | None = None) -> str:
    r"""Return the encoding of a body: by its first bytes, the header, the page itself, or a guess.

    >>> charset_of(b"caf\xc3\xa9", "text/html; charset=latin1"), charset_of(b"caf\xc3\xa9")
    ('cp1252', 'utf-8')
    """
    for mark, charset in _BOMS.items():
        if body.startswith(mark):
            return charset
    in_header = _CHARSET.search(content_type) if content_type else None
    if in_header and (named := _known(in_header[1])):
        return named
    in_page = _DECLARED.search(body, 0, META_BYTES)
    if in_page and (named := _known((in_page[1] or in_page[2]).decode("ascii", "replace"))):
        # A declaration that can be read as ASCII is not in UTF-16.
        return "utf-8" if named.startswith("utf-16") else named
    if _is_utf8(body) and _ESCAPE not in body:
        return "utf-8"
    from resiliparse.parse.encoding import detect_encoding  # noqa: PLC0415 -- slow to load

    guessed: str = detect_encoding(body)
    return guessed


def _known(name: str) -> str | None:
    if name.lower() in {"utf-8", "utf8"}:
        return "utf-8"
    from resiliparse.parse.encoding import map_encoding_to_html5  # noqa: PLC0415 -- slow to load

    known: str | None = map_encoding_to_html5(name, fallback_utf8=False)
    # As browsers do: the larger set is a superset.
    return "gb18030" if known in {"gbk", "gb2312"} else known


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
