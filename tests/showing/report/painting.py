"""How long a page takes to its first paint, beside an empty page of as many bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

PAINTED = """() => new Promise((done) => {
  const look = () => {
    const [first] = performance.getEntriesByName("first-contentful-paint");
    if (first) done(first.startTime); else requestAnimationFrame(look);
  };
  look();
})"""


def first_paint(browser: Browser, path: Path) -> float:
    """Return milliseconds to the first paint, in a new window."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(path.resolve().as_uri(), wait_until="commit")
    found: float = page.evaluate(PAINTED)
    context.close()
    return found


def paint_ratio(browser: Browser, path: Path, folder: Path, rounds: int) -> float:
    """Return the quickest paint over that of an empty page of as many bytes, measured in turns.

    What else the machine does only ever adds time, so the quickest says most about the page.
    """
    head, tail = b"<!doctype html><title>empty</title><p>empty<!--", b"-->"
    empty = folder / "empty.html"
    empty.write_bytes(head + b" " * (path.stat().st_size - len(head) - len(tail)) + tail)
    first_paint(browser, empty)
    pairs = [(first_paint(browser, path), first_paint(browser, empty)) for _ in range(rounds)]
    return min(full for full, _ in pairs) / min(none for _, none in pairs)
