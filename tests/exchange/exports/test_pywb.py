"""Fuzzy lookups of pywb, by a model of what it documents: its licence keeps the real thing out of the tests.

A lookup takes the first rule whose prefix and expression fit the key asked for, fills its filters with the
groups, and answers with all keys of the host that the filters match.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from tests.exchange.exports import shop
from undust import RuleSet, normalize
from undust.exchange.exports import export

RULES = (
    "rewrite {s}://{h}/print.php?id={n:int} → {s}://{h}/guide/{n}",
    "rewrite {s}://{h}/p/{*}/{id:int}?{**} → {s}://{h}/p/{id}",
    "rewrite {s}://{h}/home?{**} → {s}://{h}/start",
    "rewrite {s}://{h}/d/{x:date} → {s}://{h}/day?d={x}",
    "rewrite {s}://{h}/old/{w:word}.html → {s}://{h}/new/{w}",
)
REFUSED = (
    "rewrite {s}://{h}/guide/{n:int}.html → {s}://{h}/guide/{n}",
    "rewrite {s}://{h}/Upper → {s}://{h}/lower",
    "rewrite {s}://m.shop.test/{p**} → {s}://shop.test/{p}",
    "rewrite {s}://{h}/x/{a:int}/{b:int} → {s}://{h}/y/{a}/{b}",
    *shop.ESSENTIAL.values(),
)
PATHS = (
    "/print.php?id={}", "/guide/{}", "/p/slug/{}", "/p/x.y/{}?a=1", "/p/{}", "/home", "/home?a={}",
    "/start", "/homes", "/d/2024-01-{}", "/day?d=2024-01-{}", "/old/{}.html", "/new/{}", "/other/{}",
    "/print.php?id={}x",
)  # fmt: skip


class Lookup(NamedTuple):
    """One rule of the file."""

    prefix: str
    match: str
    filters: list[str]


def lookups(text: str) -> list[Lookup]:
    """The rules of a file that undust wrote."""
    found = []
    for part in text.split("  - url_prefix: ")[1:]:
        texts = [line.replace("''", "'") for line in re.findall(r"'((?:[^']|'')*)'", part)]
        assert "      type: host\n" in part
        found.append(Lookup(texts[0], texts[1], texts[2:]))
    return found


def key_of(url: str) -> str:
    """The key of a URL that is lower case and sorted already."""
    host, slash, rest = url.removeprefix("http://").partition("/")
    name, colon, port = host.partition(":")
    return ",".join(reversed(name.split("."))) + f"{colon}{port}){slash}{rest}"


def found_by(rules: list[Lookup], asked: str, keys: list[str]) -> list[str]:
    """The keys with which a lookup answers."""
    for rule in rules:
        match = re.search(rule.match, asked) if asked.startswith(rule.prefix) else None
        if match is not None:
            host = asked.partition(")")[0]
            tests = {text.format(group) for group in match.groups() for text in rule.filters}
            expressions = [re.compile(test.removeprefix("~urlkey:")) for test in tests]
            own = [key for key in keys if key.partition(")")[0] == host]
            return [key for key in own if all(expression.match(key) for expression in expressions)]
    return [key for key in keys if key == asked]


def urls(count: int, seed: int) -> list[str]:
    """URLs of three hosts, few enough to be the same page now and then."""
    chance = random.Random(seed)
    hosts = ("shop.test", "shop.test", "m.shop.test", "shop.test:8080", "other.test")
    return [
        normalize(f"http://{chance.choice(hosts)}{chance.choice(PATHS).format(chance.randint(10, 30))}")
        for _ in range(count)
    ]


def test_a_page_is_found_under_all_its_urls() -> None:
    """A lookup of any URL finds exactly the captured URLs of its host that have the same canonical form."""
    exported = export(shop.rules_of(*RULES, *REFUSED), "pywb")
    assert [str(rule) for rule in exported.rules] == list(RULES)
    canonical = RuleSet(exported.rules).compile()
    rules = lookups(exported.text)
    captured = list(dict.fromkeys(urls(120, 1)))
    forms = {key_of(url): canonical(url) for url in captured}
    found_elsewhere = 0
    for url in urls(5000, 2):
        found = found_by(rules, key_of(url), list(forms))
        assert found == [key for key, form in forms.items() if form == canonical(url)], url
        found_elsewhere += any(key != key_of(url) for key in found)
    assert found_elsewhere > 500


def test_other_rules_are_refused_by_name() -> None:
    """What a lookup cannot say is left out with a reason, and nothing else is."""
    exported = export(shop.rules_of(*RULES, *REFUSED), "pywb")
    assert [str(refusal.rule) for refusal in exported.refused] == list(REFUSED)
    reasons = [refusal.reason for refusal in exported.refused]
    assert "rule 1 may send a URL on" in reasons[0]
    assert "lower case" in reasons[1]
    assert "stays on the host" in reasons[2]
