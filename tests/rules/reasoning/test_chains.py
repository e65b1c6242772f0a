"""Two rewrites in a row as one, part by part of the URL; nothing where one rule could not say the same."""

from __future__ import annotations

import pytest

from undust.rules import Rule
from undust.rules.reasoning.algebra import compose


@pytest.mark.parametrize(
    ("first", "second", "target"),
    [
        (
            "http://a.shop.test/x/{i} → http://b.shop.test/x/{i}",
            "http://b.shop.test/x/{i} → http://b.shop.test/y/{i}",
            "http://b.shop.test/y/{i}",
        ),
        # Another host: nothing is said.
        (
            "http://a.shop.test/x/{i} → http://b.shop.test/x/{i}",
            "http://c.shop.test/x/{i} → http://b.shop.test/y/{i}",
            None,
        ),
        # Another port: nothing is said.
        (
            "http://a.shop.test/x → http://b.shop.test:81/x",
            "http://b.shop.test/x → http://b.shop.test/y",
            None,
        ),
        ("http://{h}:81/x → http://{h}/x", "http://{h}/x → http://{h}/y", "http://{h}/y"),
        ("http://{h}:81/x → http://{h}:82/x", "http://{g}:82/x → http://{g}/y", "http://{h}/y"),
        # A host that is partly a capture: nothing is said.
        (
            "http://{a}.shop.test/x → http://{a}.shop.test/y",
            "http://{a}.shop.test/y → http://{a}.shop.test/z",
            None,
        ),
        ("{s}://{h}/a/{x} → {s}://{h}/b/{x}/c/d", "{s}://{h}/b/{p**}/d → {s}://{h}/{p}", "{s}://{h}/{x}/c"),
        ("{s}://{h}/a → {s}://{h}/b/d", "{s}://{h}/b/{p**}/d → {s}://{h}/{p}/z", "{s}://{h}/z"),
        # Too short for what the second reads: nothing is said.
        ("{s}://{h}/a → {s}://{h}/d", "{s}://{h}/d/{p**}/d → {s}://{h}/{p}", None),
        # Nobody knows how many segments there are: nothing is said.
        ("{s}://{h}/a/{p**} → {s}://{h}/b/{p}", "{s}://{h}/b/{x} → {s}://{h}/c/{x}", None),
        (
            "{s}://{h}/a/{p**} → {s}://{h}/b/{p}/c",
            "{s}://{h}/{x}/{q**}/c → {s}://{h}/{q}/{x}",
            "{s}://{h}/{p}/b",
        ),
        # A parameter too many: nothing is said.
        ("{s}://{h}/a → {s}://{h}/b?q=1&r=2", "{s}://{h}/b?q={v} → {s}://{h}/c/{v}", None),
        (
            "{s}://{h}/a → {s}://{h}/b?q=1&r=2",
            "{s}://{h}/b?q={v}&{r**} → {s}://{h}/c/{v}?{r}",
            "{s}://{h}/c/1?r=2",
        ),
        ("{s}://{h}/a → {s}://{h}/b?q", "{s}://{h}/b?q → {s}://{h}/c?z&y=", "{s}://{h}/c?z&y="),
        # No value to take: nothing is said.
        ("{s}://{h}/a → {s}://{h}/b?q", "{s}://{h}/b?q={v} → {s}://{h}/c/{v}", None),
        # A list may hold what is wanted by name: nothing is said.
        ("{s}://{h}/a?{r**} → {s}://{h}/b?{r}", "{s}://{h}/b?q={v} → {s}://{h}/c/{v}", None),
        ("{s}://{h}/a/{x} → {s}://{h}/b/{x}", "{s}://{h}/b/{*} → {s}://{h}/c", "{s}://{h}/c"),
        # A form of a form cannot be written: nothing is said.
        ("{s}://{h}/a/{x} → {s}://{h}/b/{x:lower}", "{s}://{h}/b/{y} → {s}://{h}/c/{y:capital}", None),
        (
            "{s}://{h}/a?id={v} → {s}://{h}/b?id={v}",
            "{s}://{h}/b?id={w} → {s}://{h}/c?id={w:lower}",
            "{s}://{h}/c?id={v:lower}",
        ),
        # Another scheme: nothing is said.
        ("http://{h}/a → https://{h}/b", "http://{h}/b → http://{h}/c", None),
        ("http://{h}/a → https://{h}/b", "https://{h}/b → https://{h}/c", "https://{h}/c"),
        # Text beside a capture: nothing is said.
        ("{s}://{h}/a/{x} → {s}://{h}/b-{x}", "{s}://{h}/b-{y} → {s}://{h}/c/{y}", None),
        ("{s}://{h}/a/{x} → {s}://{h}/b-{x}", "{s}://{h}/{y} → {s}://{h}/c/{y}", "{s}://{h}/c/b-{x}"),
        # A value may hold a slash: nothing is said.
        ("{s}://{h}/{a}?t={t} → {s}://{h}/{t}/{a}", "{s}://{h}/{x}/{y} → {s}://{h}/{y}", None),
        (
            "{s}://{h}/a/{x}/{y} → {s}://{h}/b/{x}-{y}/c",
            "{s}://{h}/{p**}/c → {s}://{h}/{p}?k=1",
            "{s}://{h}/b/{x}-{y}?k=1",
        ),
    ],
)
def test_two_rewrites_as_one(first: str, second: str, target: str | None) -> None:
    """What the second reads is what the first wrote, and the names of the first stay."""
    rules = [Rule.parse(f"rewrite {text}", site="shop.test") for text in (first, second)]
    composed = compose(*rules)
    assert [(rule.source, rule.target) for rule in composed] == (
        [] if target is None else [(rules[0].source, target)]
    )
