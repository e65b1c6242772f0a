"""A URL that is said to be final is looked at by no rule any more: the same as looking once more.

Rules that know few words, so that what one writes another often reads, and more of them than are
tried without an index.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undust.rules import Rule, RuleSet
from undust.urls import normalize

if TYPE_CHECKING:
    from undust.rules import Canonicalizer

SITE = "shop.test"
WORDS = ("aa", "bb", "cc", "dd")
SHAPES = (
    "rewrite {{s}}://{{h}}/{0}/{{x}}/{{y}}?{{rest**}} → {{s}}://{{h}}/{1}/{{y}}?{{rest}}",
    "rewrite {{s}}://{{h}}/{0}/{{x}}?{{rest**}} → {{s}}://{{h}}/{{x}}/{1}?{{rest:sorted}}",
    "rewrite {{s}}://{{h}}/{0}?{1}={{x}} → {{s}}://{{h}}/{2}/{{x}}",
    "rewrite {{s}}://{{h}}/{{p**}}/{0}?{{rest**}} → {{s}}://{{h}}/{{p}}/{1}?{{rest}}",
    "rewrite {{s}}://{{h}}/{{p**}}?{0}={{x}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}&{1}={{x}}",
    "rewrite {{s}}://{{h}}/{{p**}}?{{**:{0}|{1}*}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest:amp}}",
    "rewrite {{s}}://{{h}}/{0}-{{x}}/{{y}}?{{rest**}} → {{s}}://{{h}}/{{x}}/{1}{{y}}?{{rest}}",
    "rewrite {{s}}://{{h}}/{0}/{{x}}?{{rest**}} → {{s}}://{{h}}/",
    "rewrite http://www.shop.test/{0}/{{p**}} → https://www.shop.test/{1}/{{p}}",
    'replace "/{0}/" → "/{1}/"',
    'replace "/{0}/" → "/{1}/{2}/"',
    'replace "/{0}/{1}/" → "/{2}/"',
    'replace "{0}" → "{1}"',
    'replace "-{0}" → "{1}-"',
    "keep {{s}}://{{h}}/{0}/{1}",
)
FEWEST = 5
"""So many rules have an index."""
MOST_STEPS = 256
"""A URL that grows for so long stays as it was."""

words = st.sampled_from(WORDS)
parts = st.sampled_from((*WORDS, *WORDS, "aa-bb", "x", "dd%2Fcc", ""))
values = st.sampled_from((*WORDS, "x/cc", "/aa/", "bb;cc=1", "aa+bb", ""))
rules = st.builds(str.format, st.sampled_from(SHAPES), words, words, words)
urls = st.builds(
    "{}://www.shop.test/{}?{}".format,
    st.sampled_from(("http", "https")),
    st.lists(parts, min_size=1, max_size=4).map("/".join),
    st.lists(st.builds("{}={}".format, words, values), max_size=3).map("&".join),
)


def compiled(lines: list[str]) -> Canonicalizer:
    """The rules of one site, ready for URLs."""
    return RuleSet([Rule.parse(line, site=SITE) for line in lines]).compile()


def looked_up_each_time(canonicalize: Canonicalizer, url: str) -> str:
    """The canonical form, by one step after the other."""
    orbit = [normalize(url)]
    for _ in range(MOST_STEPS):
        rule, after = canonicalize.program.step(orbit[-1])
        if rule is None or after == orbit[-1]:
            return orbit[-1]
        if after in orbit:
            return min(orbit[orbit.index(after) :], key=lambda member: (len(member), member))
        orbit.append(after)
    return orbit[0]


@settings(max_examples=400)
@given(
    st.lists(rules, min_size=FEWEST, max_size=FEWEST + 6, unique=True), st.lists(urls, min_size=1, max_size=6)
)
def test_the_canonical_form_is_what_single_steps_lead_to(lines: list[str], asked: list[str]) -> None:
    """Also where the walk ends early because the rule that acted is known to be the last."""
    canonicalize = compiled(lines)
    expected = [looked_up_each_time(canonicalize, url) for url in asked]
    assert [canonicalize(url) for url in asked] == expected
    assert canonicalize.batch(asked).to_pylist() == expected


@settings(max_examples=400)
@given(
    st.lists(st.tuples(rules, st.booleans(), st.booleans()), min_size=1, max_size=FEWEST + 6),
    st.lists(urls, min_size=1, max_size=6),
)
def test_the_key_is_what_single_steps_lead_to_from_the_canonical_form(
    lines: list[tuple[str, bool, bool]], asked: list[str]
) -> None:
    """Also where the rules for fetching are known to change nothing more, and only the others are tried."""
    made = [
        replace(Rule.parse(line, site="*" if is_shared else SITE), fetch=is_fetched)
        for line, is_fetched, is_shared in lines
        if is_fetched or not line.startswith("keep")
    ]
    canonicalize = RuleSet({rule.id: rule for rule in made}.values()).compile()
    expected = [looked_up_each_time(canonicalize, canonicalize(url)) for url in asked]
    assert [canonicalize.key(url) for url in asked] == expected
    assert canonicalize.batch(asked, keys=True).to_pylist() == expected


OTHERS = [f"rewrite {{s}}://{{h}}/other{number}/{{x}} → {{s}}://{{h}}/o/{{x}}" for number in range(FEWEST)]


@pytest.mark.parametrize(
    ("first", "second", "url", "result"),
    [
        # What the first writes is what the second is found by: a segment, a name, a word, a count.
        (
            "{s}://{h}/a1/{x} → {s}://{h}/b1/{x}",
            "rewrite {s}://{h}/b1/{x} → {s}://{h}/c/{x}",
            "/a1/7",
            "/c/7",
        ),
        (
            "{s}://{h}/a1/{x} → {s}://{h}/a2?id={x}",
            "rewrite {s}://{h}/{p}?id={x} → {s}://{h}/{p}/{x}",
            "/a1/7",
            "/a2/7",
        ),
        ("{s}://{h}/a1/{x} → {s}://{h}/b-old/{x}", 'replace "old" → "new"', "/a1/7", "/b-new/7"),
        # Both stand in the URL from the start.
        (
            "{s}://{h}/a1/{x}?{r**} → {s}://{h}/zz/{x}?{r}",
            "rewrite {s}://{h}/{p**}?id={v} → {s}://{h}/{p}",
            "/a1/7?id=3",
            "/zz/7",
        ),
        # A capture moves to where the second looks for it.
        ("{s}://{h}/a1/{x} → {s}://{h}/{x}", "rewrite {s}://{h}/b1 → {s}://{h}/c1", "/a1/b1", "/c1"),
        (
            "{s}://{h}/a1?x={x} → {s}://{h}/z/{x}",
            "rewrite {s}://{h}/z/y/b1 → {s}://{h}/c1",
            "/a1?x=y/b1",
            "/c1",
        ),
        # A word is put together from a capture and a literal.
        ("{s}://{h}/a1/{x} → {s}://{h}/o{x}/z", 'replace "old" → "new"', "/a1/ld", "/new/z"),
        # The same rule once more.
        ("{s}://{h}/a1/{x} → {s}://{h}/{x}/z", "keep {s}://{h}/never", "/a1/a1", "/z/z"),
    ],
)
def test_what_a_rule_writes_another_reads(first: str, second: str, url: str, result: str) -> None:
    """Each way in which a rule that looks like the last one is not."""
    canonicalize = compiled([f"rewrite {first}", second, *OTHERS])
    assert canonicalize(f"http://www.shop.test{url}") == f"http://www.shop.test{result}"


def test_a_text_that_is_there_twice_is_replaced_twice() -> None:
    """The word by which the rule was found is still there after the first time."""
    canonicalize = compiled(['replace "/old/" → "/new/"', *OTHERS])
    assert canonicalize("http://www.shop.test/old/x/old/") == "http://www.shop.test/new/x/new/"


def test_a_rule_that_is_found_by_its_host_is_found_again() -> None:
    """Nothing in the path is looked for, and what a rule leaves of it may be for the same rule."""
    text = "rewrite {{s}}://{0}.shop.test/{{x}}/{{y}}/{{p**}} → {{s}}://{0}.shop.test/{{y}}/{{p}}"
    canonicalize = compiled([text.format(host) for host in ("www", *(f"h{n}" for n in range(FEWEST)))])
    assert canonicalize("http://www.shop.test/1/2/3/4") == "http://www.shop.test/4"


def test_a_path_of_any_length_may_have_the_length_that_another_rule_waits_for() -> None:
    """A rule without a word of its own is found by how many segments there are."""
    others = [f"rewrite {{s}}://{{h}}/{{p**}}?other{n}={{v}} → {{s}}://{{h}}/{{p}}" for n in range(FEWEST)]
    canonicalize = compiled(
        [
            "rewrite {s}://{h}/{p**}/{z}?x={v} → {s}://{h}/{p}",
            "rewrite {s}://{h}/{x}/{y} → {s}://{h}/{y}",
            *others,
        ]
    )
    assert canonicalize("http://www.shop.test/1/2/3?x=7") == "http://www.shop.test/2"


def test_a_rule_for_all_sites_comes_after_the_last_of_the_site() -> None:
    """What is final for the rules of a site is not for those of all sites."""
    own = ["rewrite {s}://{h}/a1/{x} → {s}://{h}/zz/{x}", *OTHERS]
    general = "rewrite {s}://{h}/zz/{x} → {s}://{h}/yy/{x}"
    rules = [*(Rule.parse(line, site=SITE) for line in own), Rule.parse(general, site="*")]
    assert RuleSet(rules).compile()("http://www.shop.test/a1/7") == "http://www.shop.test/yy/7"
