"""Observations of sites that never were, row by row, with what is true about them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from undust.reading.observations import SCHEMA

MINIMA = 32


def table(*rows: dict[str, Any]) -> pa.Table:
    """Observations; what a row does not say is null."""
    return pa.Table.from_pylist(list(rows), SCHEMA)


def shuffled(rows: pa.Table, seed: int) -> pa.Table:
    """The same observations in another order."""
    order = list(range(len(rows)))
    random.Random(seed).shuffle(order)
    return rows.take(pa.array(order, pa.int64()))


def sketch(content: object, changed: int = 0) -> list[int]:
    """Minima of a content; the first `changed` of them are those of another one."""
    chance = random.Random(repr(content))
    minima = [chance.randrange(1 << 30) for _ in range(MINIMA)]
    other = random.Random(f"{content!r} changed")
    return [other.randrange(1 << 30) for _ in range(changed)] + minima[changed:]


@dataclass
class Site:
    """A shop in the making: its observations, and for each URL the page that it truly shows."""

    host: str = "www.shop.test"
    rows: list[dict[str, Any]] = field(default_factory=list)
    truth: dict[str, str] = field(default_factory=dict)

    def page(self, path: str, page: str, **more: Any) -> None:  # noqa: ANN401 -- columns
        """Add a URL that shows a page of its own content."""
        url = f"http://{self.host}{path}"
        seen = {"url": url, "status": 200, "size": 5000, "digest": page, "sketch": sketch(page)}
        self.rows.append(seen | more)
        self.truth[url] = page

    def redirect(self, path: str, target: str, page: str) -> None:
        """Add a URL that redirects."""
        url = f"http://{self.host}{path}"
        self.rows.append({"url": url, "status": 302, "redirect": f"http://{self.host}{target}"})
        self.truth[url] = page

    def table(self) -> pa.Table:
        """All observations."""
        return table(*self.rows)


def shop_full_of_lies(products: int = 400) -> Site:
    """A shop that lies in three ways.

    30 % of the products are gone and say so with status 200, nobody sees an account without logging
    in, and every page names `/` as its canonical form.
    """
    site = Site()
    home = f"http://{site.host}/"
    for number in range(products):
        is_gone = number % 10 < 3
        content = "gone" if is_gone else f"product {number}"
        size = 700 if is_gone else 5000 + number
        for form in (f"/product/{number}", f"/product/{number}?sid={number * 7919 % 1000}"):
            more = {"digest": content, "sketch": sketch(content), "size": size, "canonical": home}
            site.page(form, f"product {number}", **more)
    for number in range(60):
        site.redirect(
            f"/account/orders/{number}", f"/login?next=%2Faccount%2Forders%2F{number}", f"order {number}"
        )
        site.page(f"/login?next=%2Faccount%2Forders%2F{number}", "login", size=900, canonical=home)
    for form in ("/", "/index.html", "/?sid=4", "/?sid=9"):
        site.page(form, "home", size=9000, canonical=home)
    for number in range(30):
        site.redirect(f"/p{number}", f"/product/{number * 10 + 5}", f"product {number * 10 + 5}")
    return site
