"""The changes that every site has as rules, and thousands of URLs on which they meet and follow."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from undust import Rule, RuleSet, normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

SITE = "shop.test"

ESSENTIAL = {
    "drop one parameter": "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}",
    "path rename": "rewrite {s}://{h}/old/{p**}?{rest**} → {s}://{h}/new/{p}?{rest}",
    "irrelevant slug": "rewrite {s}://{h}/{*}/dp/{id} → {s}://{h}/dp/{id}",
    "host alias": "rewrite {s}://www.shop.test/{p**}?{rest**} → {s}://shop.test/{p}?{rest}",
    "parameter to path": "rewrite {s}://{h}/w/index.php?title={t} → {s}://{h}/wiki/{t}",
    "index page": "rewrite {s}://{h}/{p**}/index.html?{rest**} → {s}://{h}/{p}/?{rest}",
}
"""What nginx, Apache, regular expressions and Nutch must be able to say."""

MORE = (
    "keep {s}://{h}/cart/{p**}?{rest**}",
    "keep {s}://{h}/{p**}?do=edit&{rest**}",
    "rewrite http://{h}/secure/{p**}?{rest**} → https://{h}/secure/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?{**:utm_*|ref}&{rest**} → {s}://{h}/{p}?{rest} unless ?lang={*}",
    "rewrite {s}://{h}/story_{n:int}.html → {s}://{h}/story/{n} when {s}://shop.test",
    "rewrite {s}://forum.shop.test/showthread.php?t={t:int}&{rest**} → {s}://forum.shop.test/thread/{t}?{rest}",
    "rewrite {s}://{h}/{x}.htm?{**} → {s}://{h}/{x}",
    "rewrite {s}://{h}/view?b={y}&a={x:int} → {s}://{h}/view/{x}?b={y}",
    "rewrite {s}://{h}/item?pid={v}&{rest**} → {s}://{h}/item?id={v}&{rest}",
    'replace "/guides/" → "/guide/"',
)

SETTLING = (
    "rewrite {s}://{h}/{*}/view/{n:int}?{rest**} → {s}://{h}/any/view/{n}?{rest}",
    "rewrite {s}://{h}/{p**}?token={*}&{rest**} → {s}://{h}/{p}?token=0&{rest}",
)
"""Rules that write one value for what does not matter, and match their own result."""

REFUSED = (
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/wiki/{t} → {s}://{h}/wiki/{t:lower}",
    "rewrite {s}://{h}/{p**}?skin={v}&{rest**} → {s}://{h}/{p}?skin={v:any}&{rest}",
    "rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x}",
    "rewrite {s}://{h}/b/{x} → {s}://{h}/a/{x}",
)
"""Rules that no expression can say, or that go round in circles."""


def rules_of(*texts: str, site: str = SITE) -> RuleSet:
    """Rules of one site, in order."""
    return RuleSet(Rule.parse(text, site=site) for text in texts)


def essential() -> RuleSet:
    """The six changes that must be said."""
    return rules_of(*ESSENTIAL.values())


def everything() -> RuleSet:
    """Those, what else can be said, and what cannot."""
    return rules_of(*MORE[:2], *ESSENTIAL.values(), *MORE[2:], *REFUSED)


HOSTS = (
    "shop.test",
    "www.shop.test",
    "forum.shop.test",
    "shop.test:8080",
    "www.www.shop.test",
    "other.test",
    "shop.test.",
)
SEGMENTS = (
    "old", "new", "dp", "w", "index.php", "index.html", "wiki", "cart", "secure", "guides", "guide",
    "story_5.html", "story_x.html", "page.htm", "...htm", "..htm", "view", "item", "showthread.php", "",
    "a", "B", "x.y", "a%2Fb", "%C3%BC", "a;v=1", "a&b", "a+b", "12", "~me", "a(b)", "$1", "%24", "*",
    "a'b", "b", "5", "%25", "a=b", ":", "@",
)  # fmt: skip
NAMES = (
    "sid", "title", "utm_source", "utm_", "ref", "lang", "do", "t", "pid", "id", "a", "b", "token",
    "SID", "", "sid2",
)  # fmt: skip
VALUES = (
    "1", "22", "x", "edit", "A+B", "A+B+C", "x/y", "..", "a/../b", "./a", "a/.", "", "q?", "?+?", "a;b",
    "%2B", "%20", "a=b", "$2", "\\1", "%1", "'", "en", "C++", "1-2", "(x)", "*",
)  # fmt: skip
PATHS = (
    "/old/{}", "/{}/dp/7", "/{}/index.html", "/index.html", "/w/index.php", "/secure/{}", "/cart/{}",
    "/guides/{}", "/story_5.html", "/page.htm", "/..htm", "/{}/view/5",
    "/view", "/item", "/showthread.php", "/{}",
    "/{}/{}", "/a/{}", "/old/guides/{}",
)  # fmt: skip
QUERIES = (
    "title={}", "sid={}", "sid={}&title={}", "title={}&sid={}", "sid={}&sid={}",
    "a=1&sid={}&sid&b=2&sid={}", "a=1&b={}", "b={}&a=1", "a={}&b=2", "t=5&x={}", "x={}&t=5",
    "t={}&t=6&y", "pid={}", "pid={}&x=1", "x=1&pid={}", "utm_source={}&utm_a&x=1&ref=2",
    "utm_a={}&lang=de", "do=edit&sid={}", "&sid={}", "sid={}&", "&sid&", "sid&&sid={}", "&", "&&",
    "sid={}&&x",
)  # fmt: skip


def urls(count: int, seed: int = 1) -> list[str]:
    """URLs in standard form, on most of which some rule acts."""
    chance = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        url = normalize(_url(chance))
        if "@" not in url.split("/")[2] and " " not in url:
            found[url] = None
    return list(found)


def _url(chance: random.Random) -> str:
    host = chance.choice(HOSTS[:1] * 4 + HOSTS)
    if chance.random() < 0.6:
        path = chance.choice(PATHS)
        path = path.format(*(chance.choice(SEGMENTS) for _ in range(path.count("{}"))))
    else:
        path = "".join(f"/{chance.choice(SEGMENTS)}" for _ in range(chance.randint(1, 4)))
    query = ""
    if chance.random() < 0.4:
        query = chance.choice(QUERIES)
        query = "?" + query.format(*(chance.choice(VALUES) for _ in range(query.count("{}"))))
    elif chance.random() < 0.6:
        query = "?" + "&".join(_parameter(chance) for _ in range(chance.randint(0, 4)))
    return f"{chance.choice(('http', 'http', 'https'))}://{host}{path}{query}"


def _parameter(chance: random.Random) -> str:
    name = chance.choice(NAMES)
    return name if chance.random() < 0.15 else f"{name}={chance.choice(VALUES)}"


def differences(urls: Sequence[str], answers: Sequence[str], rules: RuleSet) -> list[tuple[str, str, str]]:
    """URLs whose answer is not the canonical form, with both."""
    wanted = rules.compile().batch(list(urls)).to_pylist()
    return [row for row in zip(urls, answers, wanted, strict=True) if row[1] != row[2]]
