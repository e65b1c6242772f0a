"""What a page is made of: its text as a bounded set of short runs of words.

A block is up to twelve words that stand together. It ends where the layout ends a block, and after one word
in four, chosen by the hash of the word: the same text is cut at the same places in any layout, so that a
page and its print view share their blocks. A block is a number of 63 bits, from the highest down: 31 bits
of a hash of its words with digits masked, 20 bits of a hash of its digits (0 without digits), 8 bits of
the block that follows, 4 bits for the number of words. A page keeps its 256 smallest blocks, 2 KiB at most.
"""

from __future__ import annotations

from undust._core import blocks

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
