"""The state against a plain recount: what a rule would do, over dictionaries instead of columns."""

from __future__ import annotations

from collections import Counter, defaultdict

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from undust import RuleSet, find_duplicates
from undust.learning.site_pages import Requirements, SitePages
from undust.learning.state import State
from undust.rules import Rule

URLS = [
    f"http://{host}a.test/{path}{query}"
    for host in ("", "www.")
    for path in ("x", "x/", "y", "index.html")
    for query in ("", "?s=1", "?s=2", "?i=1&s=1", "?s=1&i=1", "?i=2")
]
RULES = [
    "rewrite {s}://www.a.test/{p**}?{rest**} → {s}://a.test/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?s={**}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?i={**}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/{p**}/{x}/?{rest**} → {s}://{h}/{p}/{x}?{rest}",
    'replace "index.html" → ""',
]
PAGES = st.dictionaries(st.sampled_from(URLS), st.integers(0, 5), min_size=2, max_size=20)


def state_of(pages: dict[str, int]) -> State:
    """Return the state of a site whose pages are labelled."""
    table = pa.table({"url": list(pages), "cluster": [str(page) for page in pages.values()]})
    return State(SitePages(find_duplicates(table).sites[0], Requirements()))


def groups(pages: dict[str, int], rules: list[Rule]) -> dict[str, Counter[int]]:
    """Return the pages under each image, with their numbers of URLs."""
    canonical = RuleSet(rules).compile()
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for url, page in pages.items():
        found[canonical(url)][page] += 1
    return found


def lost(found: dict[str, Counter[int]]) -> int:
    """Return how many pages lie under another one."""
    return sum(len(pages) - 1 for pages in found.values())


@given(PAGES, st.lists(st.sampled_from(RULES), max_size=3, unique=True), st.sampled_from(RULES))
@settings(max_examples=200)
def test_the_effect_of_a_rule_is_what_a_plain_recount_says(
    pages: dict[str, int], accepted: list[str], text: str
) -> None:
    """Images saved, pages lost and pages helped, from any state and for any rule."""
    state = state_of(pages)
    before_rules = [Rule.parse(each, site="a.test") for each in accepted if each != text]
    for rule in before_rules:
        state.accept(rule)
    rule = Rule.parse(text, site="a.test")
    before = groups(pages, before_rules)
    assert (len(state.images), state.lost()) == (len(before), lost(before))

    # The rule alone, run on where the URLs stand.
    alone = RuleSet([rule]).compile()
    after: dict[str, Counter[int]] = defaultdict(Counter)
    images: dict[tuple[str, int], int] = Counter()
    for image, some in before.items():
        after[alone(image)].update(some)
        for page in some:
            images[alone(image), page] += 1
    effect = state.effect(rule)
    assert effect.saved == len(before) - len(after)
    assert effect.lost == max(0, lost(after) - lost(before))
    assert effect.pages == len({page for (_, page), count in images.items() if count > 1})
    assert effect.moved == sum(alone(image) != image for image in before)
    again = state.effect(rule, effect.touched)
    assert (again.saved, again.lost, again.pages, again.target_seen_share) == (
        effect.saved,
        effect.lost,
        effect.pages,
        effect.target_seen_share,
    )


def test_a_retracted_rule_leaves_no_trace() -> None:
    """State, accept, retract: the same state."""
    state = state_of({"http://a.test/x?s=1": 0, "http://a.test/x": 0, "http://a.test/y?s=1": 1})
    before = state.images.to_pylist()
    state.accept(Rule.parse(RULES[1], site="a.test"))
    assert len(state.images) == 2
    state.retract()
    assert state.images.to_pylist() == before
    assert state.rules == []


def test_a_kept_class_is_not_touched_by_later_rules() -> None:
    """A `keep` shields its URLs in what a candidate is judged by."""
    state = state_of({"http://a.test/x?s=1": 0, "http://a.test/x": 0})
    drop = Rule.parse(RULES[1], site="a.test")
    assert state.effect(drop).saved == 1
    state.keep(Rule.parse("keep {s}://{h}/{p**}?s={**}&{rest**}", site="a.test"))
    assert state.effect(drop).moved == 0
