"""From the bytes of a page to its visible text, and what pages are compared by: blocks and sketches.

The text is what the signature of Soon and Lee needs. Their paper leaves white space, entities and encodings
open. Here references are decoded, the text is in Unicode normal form C, and every run of white space is one
space, none at either end.

A block is up to twelve words that follow each other. It ends where the layout ends a block, and after one
word in four, chosen by the hash of the word: the same text is cut at the same places in any layout, so that a
page and its print view share their blocks. A block is a number of 63 bits, from the highest down: 31 bits of
a hash of its words with digits masked, 20 bits of a hash of its digits (0 without digits), 8 bits of the
block that follows, 4 bits for the number of words. A page keeps its 256 smallest blocks, 2 KiB at most.

The sketch is DustBuster's (Bar-Yossef, Keidar and Schonfeld, section 6.3): the text as a set of shingles,
runs of n words, and for each of k hash functions the minimum over that set. Two sketches agree in one place
with the probability of their resemblance |A ∩ B| / |A ∪ B|. The paper has n = 10 and k = 4; five words and 32
minima distinguish short pages better.

A menu of 500 words makes all pages of a site look alike. A shingle that is on half of a site's pages, and on
ten at least, is the template's and is left out of every sketch of that site. Which shingles these are is
learned once, from the first hundred different texts of the site, and then kept for the whole job: sketches
can only be compared if the same shingles were left out of both. Until a site is learned its texts wait, in
bounded memory; when that is full, or nothing more comes, it is learned from those there are. The order of
pages decides which hundred are the sample. It cannot change much: what is on nine pages of ten is on most
pages of any sample. A site of fewer than ten texts has no template.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from undust._core import blocks
from undust._core import read_html as core_read_html
from undust._core import shingles as core_shingles
from undust._core import sketch as core_sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    Put = Callable[[NDArray[np.uint32] | None], object]
    """Is handed a sketch as soon as there is one; None for a page that is only template."""


MOST_TAGS = 1000
"""Link, meta and base tags that are read on one page; ordinary pages have fewer."""
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
    """See `undust.reading.text`."""


def read_html(body: bytes, content_type: str | None = None) -> ParsedHtml:
    """Return what a page shows and where it points, in any encoding.

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
    r"""Return plain text in UTF-8 and normal form, from any encoding.

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


MOST_BLOCKS = 256
"""Blocks that are kept of a page, 8 bytes each."""
KEY_SHIFT, DIGITS_SHIFT, NEXT_SHIFT = 32, 12, 4
"""Where the parts of a block begin: the hash of its words, that of its digits, that of the next block."""
DIGITS_MASK, NEXT_MASK, WORDS_MASK = 0xFFFFF, 0xFF, 0xF


def blocks_of(text: bytes) -> bytes:
    """Return the blocks of a UTF-8 text without layout, 64 bits each.

    >>> len(blocks_of(b"one two three four five six seven eight nine ten eleven twelve")) // 8 > 1
    True
    """
    return blocks(text)[0]


WORDS = 5
SIZE = 32


def sketch(
    text: str | bytes, words: int = WORDS, size: int = SIZE, ignored: NDArray[np.uint64] | None = None
) -> NDArray[np.uint32] | None:
    """Return the sketch of a text, or None for one that has no word outside `ignored` shingles.

    >>> first, second = sketch("one two three four five six"), sketch("One, two: three four five six!")
    >>> resemblance(first, second)
    1.0
    """
    minima = core_sketch(_utf8(text), words, size, ignored)
    return None if minima is None else np.frombuffer(minima, np.uint32)


def resemblance(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> float:
    """Return the share of minima in which two sketches agree: an estimate of |A ∩ B| / |A ∪ B|."""
    return float((left == right).mean())


def shingles(text: str | bytes, words: int = WORDS) -> NDArray[np.uint64]:
    """Return the hashes of a text's shingles, sorted, each once."""
    hashes: NDArray[np.uint64] = pa.array(core_shingles(_utf8(text), words)).to_numpy()
    return hashes


def common_shingles(
    texts: Iterable[str | bytes], words: int = WORDS, share: float = 0.5, at_least: int = 10
) -> NDArray[np.uint64]:
    """Return the shingles that a template repeats: those on `share` of the pages and on at least `at_least`.

    Menus and footers make all pages of a site look alike; sketches leave such shingles out.
    """
    each = [shingles(text, words) for text in texts]
    if not each:
        return np.empty(0, np.uint64)
    hashes, pages = np.unique(np.concatenate(each), return_counts=True)
    return hashes[pages >= max(at_least, share * len(each))]


def _utf8(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


SAMPLE = 100
"""Texts from which the template of a site is learned."""
AT_LEAST = 10
"""Texts on which a shingle must be to count as the template's."""
_SHARE = 0.5
"""... and the share of texts."""
MOST_WAITING = 64 << 20
"""Bytes of text that wait, all sites together."""
MOST_COMMON = 16 << 20
"""Shingles of templates that are kept, all sites together; the sites learned first are removed first."""


class Sketcher:
    """Makes the sketches of a job, site by site."""

    def __init__(self, words: int = WORDS, size: int = SIZE, sample: int = SAMPLE) -> None:
        self.words, self.size, self.sample = words, size, sample
        self._waiting: dict[str, dict[bytes, list[Put]]] = {}
        self._waiting_bytes = 0
        self._common: dict[str, NDArray[np.uint64]] = {}
        self._common_count = 0

    def add(self, site: str, text: bytes, put: Put) -> None:
        """Hand the sketch of a page to `put`, at once or when its site is learned."""
        common = self._common.get(site)
        if common is not None:
            put(sketch(text, self.words, self.size, common))
            return
        texts = self._waiting.setdefault(site, {})
        if text not in texts:
            texts[text] = []
            self._waiting_bytes += len(text)
        texts[text].append(put)
        if len(texts) == self.sample:
            self._learn(site)
        elif self._waiting_bytes > MOST_WAITING:
            self.settle()

    def common_of(self, site: str) -> NDArray[np.uint64] | None:
        """Return the shingles of a site's template; None as long as it is not learned."""
        return self._common.get(site)

    def know(self, site: str, common: NDArray[np.uint64]) -> None:
        """Use a template that was learned before, so that new sketches can be compared with old ones."""
        self._remember(site, common)

    def settle(self) -> None:
        """Hand out all sketches that still wait."""
        for site in list(self._waiting):
            self._learn(site)

    def _learn(self, site: str) -> None:
        waiting = self._waiting.pop(site)
        common = np.empty(0, np.uint64)
        if len(waiting) >= AT_LEAST:
            common = common_shingles(waiting, self.words, _SHARE, AT_LEAST)
            self._remember(site, common)
        for text, puts in waiting.items():
            made = sketch(text, self.words, self.size, common)
            for put in puts:
                put(made)
            self._waiting_bytes -= len(text)

    def _remember(self, site: str, common: NDArray[np.uint64]) -> None:
        self._common[site] = common
        self._common_count += len(common)
        while self._common_count > MOST_COMMON:
            oldest = next(iter(self._common))
            self._common_count -= len(self._common.pop(oldest))
