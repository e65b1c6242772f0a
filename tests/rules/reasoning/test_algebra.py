"""Refinement and composition of rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import replaces, rewrites, urls
from undust.rules import Rule, RuleSet
from undust.rules.reasoning.algebra import compose, is_opposite, refines, tokens_of


def substitution(text: str) -> Rule:
    """The `replace` rule written `from|to`."""
    source, _, target = text.partition("|")
    return Rule("shop.test", "replace", source, target)


@pytest.mark.parametrize(
    ("rule", "other", "expected"),
    [
        (".co.il/story?id=|.co.il/story_", "story?id=|story_", True),
        ("story?id=|story_", "?id=|_", True),
        ("http://www.cnn.com|http://cnn.com", "www.cnn|cnn", True),
        ("http://www.cnn.com|http://cnn.com", "http://www.|http://", True),
        ("http://www.cnn.com|http://cnn.com", "http://www|http://", False),
        ("www.cnn|cnn", "http://www.|http://", False),
        (".co.il/story_|.co.il/story?id=", ".il/story_|.il/story.php3?id=", False),
        ("/index.html$|$", "index.html$|$", False),
    ],
)
def test_refinement_is_that_of_the_paper(rule: str, other: str, *, expected: bool) -> None:
    """DustBuster's worked examples of refinement, and the near misses."""
    assert refines(substitution(rule), substitution(other)) is expected


def test_refinement_has_no_direction() -> None:
    """A pair is proposed in either direction, so a refinement of the way back counts."""
    assert refines(substitution("/story_|/story?id="), substitution("?id=|_"))


def test_only_rules_that_replace_refine_each_other() -> None:
    """Other kinds have no context to add."""
    keep = Rule.parse("keep {s}://{h}/a", site="shop.test")
    assert not refines(keep, keep)


@given(replaces())
def test_every_rule_refines_itself(data: dict[str, str]) -> None:
    """Refinement is reflexive."""
    rule = Rule("shop.test", "replace", data["from"], data["to"])
    assert refines(rule, rule)


@given(st.text(st.sampled_from("aB1/.?&%2F "), max_size=12))
def test_tokens_are_the_text_cut_up(text: str) -> None:
    """Tokens give the text back."""
    assert "".join(tokens_of(text)) == text


@pytest.mark.parametrize(
    ("first", "second", "composed"),
    [
        # The second inside what the first wrote.
        (
            'replace "/story_" → "/story.php3?id="',
            'replace ".php3?" → "?"',
            ['replace "/story_" → "/story?id="'],
        ),
        # What the first wrote inside the second.
        ('replace "B" → "b"', 'replace "/b/" → "/"', ['replace "/B/" → "/"']),
        # Half of each.
        ('replace "/x" → "/a.b"', 'replace "b/c" → "d"', ['replace "/x/c" → "/a.d"']),
        # Twice in what the first wrote: two ways to go on.
        (
            'replace "x" → "a.a"',
            'replace "a" → "b"',
            ['replace "x" → "b.a"', 'replace "x" → "a.b"'],
        ),
        ('replace "x" → "y"', 'replace "z" → "y"', []),
        # Anchors stay at their ends.
        ('replace "x$" → "y$"', 'replace "/y$" → "/z$"', ['replace "/x$" → "/z$"']),
        ('replace "x$" → "y$"', 'replace "y/" → "z"', []),
        (
            'replace "^http://www." → "^http://"',
            'replace "^http://" → "^https://"',
            [
                'replace "^http://www." → "^https://"',
            ],
        ),
        # What the first wrote has no start in it, so a rule for the start cannot follow.
        (
            'replace "/x" → "/y"',
            'replace "^http://a/y" → "^http://b/y"',
            [
                'replace "^http://a/x" → "^http://b/y"',
            ],
        ),
        # There and back is no rule.
        ('replace "x" → "y"', 'replace "y" → "x"', []),
        (
            "rewrite http://{h}/{*}/dp/{asin} → http://{h}/dp/{asin}",
            "rewrite http://{h}/dp/{x} → https://{h}/d/{x:lower}",
            ["rewrite http://{h}/{*}/dp/{asin} → https://{h}/d/{asin:lower}"],
        ),
        (
            "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}",
            "rewrite {s}://{h}/{q**}?{r**} → {s}://{h}/{q:lower}?{r:sorted}",
            ["rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p:lower}?{rest:sorted}"],
        ),
        (
            "rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x}?q=1",
            "rewrite {s}://{h}/b/{x}?q={v} → {s}://{h}/c/{v}/{x}",
            ["rewrite {s}://{h}/a/{x} → {s}://{h}/c/1/{x}"],
        ),
        # A value moved into the path may hold a slash: the second might not match, so nothing is said.
        (
            "rewrite {s}://{h}/w?t={t} → {s}://{h}/wiki/{t}",
            "rewrite {s}://{h}/wiki/{t} → {s}://{h}/{t}",
            [],
        ),
        # The second would have to look inside a capture.
        ("rewrite {s}://{h}/a/{x} → {s}://{h}/{x}", "rewrite {s}://{h}/b{y} → {s}://{h}/{y}", []),
        # A condition sees the URL between the two steps.
        (
            "rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x}",
            "rewrite {s}://{h}/b/{x} → {s}://{h}/c/{x} unless ?q",
            [],
        ),
        ('replace "x" → "y"', "rewrite {s}://{h}/y → {s}://{h}/z", []),
    ],
)
def test_composition(first: str, second: str, composed: list[str]) -> None:
    """One rule for two in a row, or none where one cannot say it."""
    rules = [Rule.parse(text, site="shop.test") for text in (first, second)]
    assert [str(rule) for rule in compose(*rules)] == composed


def test_only_texts_refine_and_undo_each_other() -> None:
    """Of patterns nobody says so; the answer is yes or no, for whoever writes it down."""
    text = Rule.parse('replace "/a" → "/b"', site="shop.test")
    pattern = Rule.parse("rewrite {s}://{h}/a → {s}://{h}/b", site="shop.test")
    for rules in ((text, pattern), (pattern, text), (pattern, pattern)):
        assert (refines(*rules), is_opposite(*rules)) == (False, False)
    longer = Rule.parse('replace "/x/a" → "/x/b.c"', site="shop.test")
    assert refines(longer, text) is False
    assert is_opposite(text, Rule.parse('replace "/b" → "/a"', site="shop.test")) is True


def test_rules_of_different_sites_do_not_compose() -> None:
    """They never meet on one URL."""
    first = Rule.parse('replace "x" → "y"', site="shop.test")
    second = Rule.parse('replace "y" → "z"', site="forum.test")
    assert compose(first, second) == ()


def once(rule: Rule, url: str) -> str | None:
    """What a rule makes of a URL in one step; None if it leaves it alone."""
    steps = RuleSet([rule]).compile().explain(url).steps
    return steps[0].url if steps else None


@given(rewrites(), rewrites(), urls())
def test_a_composed_rewrite_does_what_the_two_do(
    first: dict[str, str], second: dict[str, str], url: str
) -> None:
    """Whenever the first and then the second act, their composition gives the same URL in one step."""
    rules = [Rule("*", "rewrite", data["from"], data["to"]) for data in (first, second)]
    middle = once(rules[0], url)
    end = None if middle is None else once(rules[1], middle)
    for composed in compose(*rules):
        if end is not None:
            assert once(composed, url) == (None if end == url else end)


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
