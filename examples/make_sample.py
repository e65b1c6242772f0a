"""Writes the sample crawl: an invented tea shop with a forum, and the mess that real sites make.

    python examples/make_sample.py

`shop.jsonl.gz` has one observation a line (url, status, size, digest, canonical, redirect, time);
`shop.txt` has its URLs alone. The same pages appear under many URLs: host aliases, session ids,
print pages, titles that the server ignores, parameters in any order, and plain differences of
spelling. Some different pages look alike, and one text ("nothing found") stands under many URLs,
as on real sites. Every run writes the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).resolve().parent
ADJECTIVES = ("blue", "small", "iron", "glass", "japanese", "travel", "round", "tall", "white", "old")
NOUNS = ("teapot", "kettle", "cup", "strainer", "caddy", "tray", "whisk", "infuser")
CATEGORIES = ("teapots", "kettles", "cups", "accessories")
SHOP = "https://teapots.test"
FORUM = "https://forum.teapots.test"


@dataclass(frozen=True)
class Seen:
    """One fetched URL and the text it showed; no text, no fetch."""

    url: str
    text: str | None
    status: int = 200
    canonical: str | None = None
    redirect: str | None = None


def name_of(chance: random.Random) -> str:
    """Return an invented product name as it stands in a URL."""
    return f"{chance.choice(ADJECTIVES)}-{chance.choice(NOUNS)}"


def with_noise(url: str, chance: random.Random) -> str:
    """Return the URL as visitors bring it: with a session, a campaign or a referrer."""
    noise = chance.choice(
        (
            f"sid={chance.randrange(16**8):08x}",
            f"utm_source={chance.choice(('mail', 'news', 'partner'))}&utm_medium=link",
            f"ref={chance.choice(('home', 'search', 'footer'))}",
        )
    )
    return f"{url}{'&' if '?' in url else '?'}{noise}"


def with_www(url: str, _: random.Random) -> str:
    """Return the URL under the shop's second name."""
    return url.replace("://teapots.test", "://www.teapots.test")


def misspelled(url: str, chance: random.Random) -> str:
    """Return the same URL spelled in another way that RFC 3986 calls equivalent."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    spellings: tuple[Callable[[], str], ...] = (
        lambda: f"{scheme.upper()}://{host}/{path}",
        lambda: f"{scheme}://{host.title()}/{path}",
        lambda: f"{scheme}://{host}:{443 if scheme == 'https' else 80}{slash}{path}",
        lambda: f"{scheme}://{host}/./{path}",
        lambda: f"{scheme}://{host}/x/../{path}",
        lambda: f"{scheme}://{host}/{path.replace('-', '%2d')}",
        lambda: f"{scheme}://{host}/{path}#top",
    )
    return chance.choice(spellings)()


FORMS: tuple[Callable[[str, random.Random], str], ...] = (with_noise, with_www, misspelled)


def forms_of(url: str, chance: random.Random) -> Iterator[str]:
    """Yield a URL and some of the forms under which a crawler meets it."""
    yield url
    for form in FORMS:
        if chance.random() < 0.3:  # noqa: PLR2004 -- enough duplicates, not only duplicates
            yield form(url, chance)


def products(chance: random.Random) -> Iterator[Seen]:
    """Yield products: any title leads to the number, and an old script still answers."""
    for number in range(101, 141):
        text = f"product {number}"
        main = f"{SHOP}/p/{number}"
        urls = list(forms_of(main, chance))
        urls += [f"{SHOP}/p/{name_of(chance)}/{number}" for _ in range(chance.randint(0, 3))]
        urls += [f"{SHOP}/product.php?id={number}"] * chance.randint(0, 1)
        for url in urls:
            yield Seen(url, text, canonical=main if chance.random() < 0.5 else None)  # noqa: PLR2004
        if number % 5 == 0:
            yield Seen(main.replace("https", "http"), "", 301, redirect=main)


def categories(chance: random.Random) -> Iterator[Seen]:
    """Yield lists: page and order matter, the order of the parameters and the view do not."""
    for category in CATEGORIES:
        for url in (f"{SHOP}/c/{category}/", f"{SHOP}/c/{category}/index.html"):
            for form in forms_of(url, chance):
                yield Seen(form, f"category {category}")
        for page in (2, 3):
            for sort in ("price", "name"):
                for query in (f"page={page}&sort={sort}", f"sort={sort}&page={page}"):
                    for form in forms_of(f"{SHOP}/c/{category}/?{query}", chance):
                        yield Seen(form, f"category {category} {page} {sort}")


def guides(chance: random.Random) -> Iterator[Seen]:
    """Yield articles, each with a page for the printer that has the same text, some in an old folder."""
    for number in range(1, 31):
        urls = [f"{SHOP}/guide/{number}", f"{SHOP}/print.php?id={number}"]
        urls += [f"{SHOP}/guides/{number}"] * (number % 3 == 0)
        for url in urls:
            for form in forms_of(url, chance):
                yield Seen(form, f"guide {number}")


def threads(chance: random.Random) -> Iterator[Seen]:
    """Yield a forum whose software was changed once: two spellings for each thread."""
    for number in range(1, 41):
        for page in range(1, chance.randint(2, 3)):
            rest = "" if page == 1 else f"page={page}"
            old = f"{FORUM}/showthread.php?t={number}" + (f"&{rest}" if rest else "")
            new = f"{FORUM}/thread/{number}" + (f"?{rest}" if rest else "")
            for url in (old, new):
                for form in forms_of(url, chance):
                    yield Seen(form, f"thread {number} page {page}")


def traps(chance: random.Random) -> Iterator[Seen]:
    """Yield what misleads: carts that differ by session, and one text under many URLs."""
    for _ in range(12):
        sid = f"{chance.randrange(16**8):08x}"
        yield Seen(f"{SHOP}/cart?sid={sid}", f"cart of {sid}")
    for word in ADJECTIVES:
        yield Seen(f"{SHOP}/search?q={word}+samovar", "nothing found")
    for number in range(901, 911):
        yield Seen(f"{SHOP}/p/{number}", "this product is gone")
        yield Seen(f"{SHOP}/guide/{number}", "not found", 404)
    for link in (
        "mailto:hello@teapots.test",
        "javascript:void(0)",
        "tel:+4930123456",
        "https://",
        "../p/101",
    ):
        yield Seen(link, None)


def observations() -> Iterator[dict[str, Any]]:
    """Yield the rows of the crawl in the order in which it met them; each URL once."""
    chance = random.Random(7)
    kinds = (products, categories, guides, threads, traps)
    rows = {seen.url: seen for kind in kinds for seen in kind(chance)}
    met = list(rows.values())
    chance.shuffle(met)
    time = datetime(2026, 3, 1, 6, tzinfo=UTC)
    for seen in met:
        time += timedelta(seconds=chance.randint(1, 9))
        yield {name: value for name, value in _row(seen, time).items() if value is not None}


def _row(seen: Seen, time: datetime) -> dict[str, Any]:
    if seen.text is None:
        return {"url": seen.url}
    digest = hashlib.md5(seen.text.encode(), usedforsecurity=False).hexdigest()
    return {
        "url": seen.url,
        "status": seen.status,
        "size": 2000 + int(digest[:4], 16) % 30000 if seen.text else 0,
        "digest": digest if seen.text else None,
        "canonical": seen.canonical,
        "redirect": seen.redirect,
        "time": time.isoformat().replace("+00:00", "Z"),
    }


def main() -> None:
    """Write both files."""
    rows = list(observations())
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    # Without name and time in its header, the file depends on nothing but the rows.
    (HERE / "shop.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    (HERE / "shop.txt").write_text("".join(f"{row['url']}\n" for row in rows), encoding="utf-8")
    print(f"{len(rows)} observations, {len({row.get('digest') for row in rows})} different texts")


if __name__ == "__main__":
    main()
