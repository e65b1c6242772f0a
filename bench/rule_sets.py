"""Invented rule sets of any size, the URLs they rewrite, and the same rewrites as Python regexes.

A site has rules of three shapes in turn: a path is renamed, a query becomes a path, a text is replaced.
The rule with number `n` knows the segment `n` only, so a URL is rewritten by exactly one rule (a hit) or
by none (a miss), and the plain loop of regexes gives the same result.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RULE_SHAPES = 3


def site_name(number: int) -> str:
    """Return the name of a site."""
    return f"shop{number}.test"


def rules_of(sites: int, rules_per_site: int) -> Iterator[dict[str, Any]]:
    """Yield the rules of some sites, as a rule file holds them."""
    for site in range(sites):
        for number in range(rules_per_site):
            source, target = _sides(number)
            kind = "replace" if number % RULE_SHAPES == RULE_SHAPES - 1 else "rewrite"
            yield {"site": site_name(site), "kind": kind, "from": source, "to": target}


def _sides(number: int) -> tuple[str, str]:
    match number % RULE_SHAPES:
        case 0:
            return (
                f"{{s}}://{{h}}/section{number}/{{slug}}/{{id}}?{{rest**}}",
                f"{{s}}://{{h}}/s{number}/{{id}}?{{rest}}",
            )
        case 1:
            return f"{{s}}://{{h}}/show{number}.php?id={{id}}", f"{{s}}://{{h}}/item{number}/{{id}}"
        case _:
            return f"/old{number}/", f"/new{number}/"


def urls_of(sites: int, rules_per_site: int, count: int, *, hit: bool) -> list[str]:
    """Return URLs of random sites, each of which one rule rewrites, or none."""
    chance = random.Random(3)
    return [
        _url(f"www.{site_name(chance.randrange(sites))}", chance.randrange(rules_per_site), chance, hit=hit)
        for _ in range(count)
    ]


def _url(host: str, number: int, chance: random.Random, *, hit: bool) -> str:
    page = chance.randrange(10**6)
    mark = "" if hit else "x"
    match number % RULE_SHAPES:
        case 0:
            return f"http://{host}/section{number}{mark}/some-title-{page}/{page}?page=2&sort=name"
        case 1:
            return f"http://{host}/show{number}{mark}.php?id={page}"
        case _:
            return f"http://{host}/shop/old{number}{mark}/{page}.html?color=red&size={page % 50}"


def regex_loop(rules_per_site: int) -> Callable[[str], str]:
    """Return a function that tries the regexes of a site one after the other until one changes the URL."""
    compiled = [_regex(number) for number in range(rules_per_site)]

    def canonical(url: str) -> str:
        for pattern, replacement in compiled:
            result = pattern.sub(replacement, url, count=1)
            if result != url:
                return result
        return url

    return canonical


def _regex(number: int) -> tuple[re.Pattern[str], str]:
    match number % RULE_SHAPES:
        case 0:
            pattern = rf"^(https?://[^/?#]+)/section{number}/[^/?&;]+/([^/?&;]+)(\?.*)?$"
            return re.compile(pattern), rf"\1/s{number}/\2\3"
        case 1:
            return re.compile(rf"^(https?://[^/?#]+)/show{number}\.php\?id=([^&;]+)$"), rf"\1/item{number}/\2"
        case _:
            return re.compile(rf"/old{number}/"), f"/new{number}/"
