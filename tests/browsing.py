"""A browser without a network, and pages that say when something goes wrong in them."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from playwright.sync_api import Browser, Page

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE_MS = 200_000
"""For what a page does at once, unless the machine is busy."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
THINNED = """
for (const parent of document.querySelectorAll("main *")) {
  const seen = new Map();
  for (const child of [...parent.children]) {
    const kind = `${child.tagName} ${child.getAttribute("class")}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (seen.get(kind) > 3 && !child.id && !child.querySelector("[id], .opener")) child.remove();
  }
}
"""
"""Removes what is the fourth of its kind in one place: axe-core takes seconds, and says the same of all."""


class Open(Protocol):
    """Opens an address and gives the page; afterwards nothing may have been said or asked for."""

    def __call__(self, address: str | Path, **context: Any) -> AbstractContextManager[Page]:  # noqa: ANN401
        """Open it in a context with these options of Playwright."""


# Not for the whole session: while it is there, no other test could run a loop of its own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give a Chromium that is installed on the machine."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium; on Debian: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Browser) -> Open:
    """Give a function that opens a page from disk with the network cut off, or one that is served here."""

    @contextmanager
    def open_page(address: str | Path, **context: Any) -> Iterator[Page]:  # noqa: ANN401 -- of Playwright
        place = address if isinstance(address, str) else address.resolve().as_uri()
        is_file = place.startswith("file:")
        options: dict[str, Any] = {
            "offline": is_file,
            "reduced_motion": "reduce",
            "viewport": {"width": 1280, "height": 900},
        }
        known = browser.new_context(**(options | context))
        known.set_default_timeout(PATIENCE_MS)
        page = known.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        wanted: list[str] = []
        page.on("request", lambda request: wanted.append(request.url))
        page.goto(place)
        page.wait_for_selector("body[data-ready]")
        yield page
        assert said == []
        assert [each for each in wanted if is_elsewhere(each, place)] == []
        known.close()

    return open_page


def is_elsewhere(asked: str, place: str) -> bool:
    """Return whether a request goes anywhere but to the page itself and its own server."""
    if asked.startswith("data:") or asked == place:
        return False
    return place.startswith("file:") or asked.split("/")[:3] != place.split("/")[:3]


def serious_faults(page: Page, scope: str = "document") -> list[tuple[str, str]]:
    """What axe-core finds serious in a page, and where; the page is thinned for it."""
    page.evaluate(THINNED)
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(f"axe.run({scope}, {{resultTypes: ['violations']}})")
    return [
        (one["id"], one["nodes"][0]["html"][:120])
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
    ]
