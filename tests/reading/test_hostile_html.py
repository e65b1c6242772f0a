"""Pages that are made to cost much: reading them takes time and memory in proportion to their size."""

from __future__ import annotations

import subprocess
import sys
from time import process_time

import pytest

from undust.reading.text import MOST_BLOCKS, MOST_TITLE, read_html

KILO, MEGA = 1000, 1_000_000
TRIES = 3
MOST_TIMES = 10
"""Times the processor time of plain text of the same size."""
MOST_MEMORY = 12
"""Times the size of the page, beyond what plain text takes."""
PLAIN = b"<p>one two three four five six seven eight nine ten</p>\n"


def repeated(part: bytes, size: int) -> bytes:
    """A page of one part again and again."""
    return part * (size // len(part) + 1)


PAGES = {
    "nested blocks": lambda: repeated(b"<div>", 500 * KILO),
    "nested tables": lambda: repeated(b"<table><tr><td>", 500 * KILO),
    "nested forms": lambda: repeated(b"<form><fieldset><label>", 500 * KILO),
    "one attribute": lambda: b'<p title="' + repeated(b"x", 10 * MEGA) + b'">text</p>',
    "one shown field": lambda: b'<input type=text value="' + repeated(b"word ", 10 * MEGA) + b'">',
    "one attribute that never ends": lambda: b'<p title="' + repeated(b"<p a='", 2 * MEGA),
    "one word": lambda: b"<p>" + repeated(b"x", 10 * MEGA),
    "many attributes": lambda: b"<p " + repeated(b"a=1 ", 2 * MEGA) + b">",
    "references": lambda: repeated(b"&amp;lt;&#x26;", 2 * MEGA),
    "references that never end": lambda: repeated(b"&#x", 2 * MEGA),
    "a text field that never ends": lambda: b"<textarea>" + repeated(b"</textare", 2 * MEGA),
    "titles that never end": lambda: repeated(b"<title>word ", 2 * MEGA),
    "comments that never end": lambda: repeated(b"<!-- -- > ", 2 * MEGA),
    "scripts that never end": lambda: repeated(b"<script><!--<script>", 2 * MEGA),
    "many fields": lambda: repeated(b"<input value=7><option>a", 2 * MEGA),
    "many short blocks": lambda: repeated(b"<p>7", 2 * MEGA),
    "less than signs": lambda: repeated(b"<", 2 * MEGA),
    "link tags": lambda: repeated(b"<link rel=canonical href=/x>", 2 * MEGA),
}


def seconds(page: bytes) -> float:
    """The processor time of reading a page, the best of a few tries."""

    def once() -> float:
        start = process_time()
        read_html(page, "text/html; charset=utf-8")
        return process_time() - start

    return min(once() for _ in range(TRIES))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_time_is_in_proportion_to_the_size(name: str) -> None:
    """No page takes far longer than plain text of its size, and what is kept of it is bounded."""
    page = PAGES[name]()
    assert seconds(page) <= MOST_TIMES * seconds(repeated(PLAIN, len(page)))
    found = read_html(page)
    assert len(found.blocks) <= 8 * MOST_BLOCKS
    assert len(found.title or "") <= MOST_TITLE


PEAK = """
import resource, sys
from tests.reading.test_hostile_html import PAGES, PLAIN, repeated
from undust.reading.text import read_html
page = PAGES[sys.argv[1]]()
read_html(repeated(PLAIN, len(page)))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read_html(page)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / len(page))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured on Linux")
@pytest.mark.parametrize("name", ["nested blocks", "one attribute", "many short blocks", "many fields"])
def test_the_memory_is_in_proportion_to_the_size(name: str) -> None:
    """Reading a page takes a few times its size, whatever it is made of."""
    command = [sys.executable, "-c", PEAK, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) <= MOST_MEMORY
