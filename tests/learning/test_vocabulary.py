"""Bounded work: rows that anybody can send cost no more than a few times what ordinary rows cost."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import undust
from bench.vocabulary import KINDS
from undust.edits import Given
from undust.judging import KeyState, Site, effects
from undust.judging.state import numbered
from undust.learning import Requirements, learn_site
from undust.learning import loop as learning_loop
from undust.learning.edited import edited_rules
from undust.learning.proposals import TIERS, defaults, drops
from undust.learning.site_pages import SitePages
from undust.learning.state import State
from undust.learning.texts import USUAL_NAMES, UrlForms
from undust.proposing import SeenSite
from undust.proposing.idle_parts import USUAL_PARTS, frequent
from undust.reading.observations import rows_of_sites
from undust.rules import Rule
from undust.searching import search

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.judging import EditEffect
    from undust.learning.proposals import Propose
    from undust.learning.state import Effect
    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]

ROWS = 1200
ORDINARY = 8000
"""Ordinary rows to compare with: fewer are learned without the published learners and their fixed cost."""
MOST = 3.0


def clusters(kind: str, rows: int = ROWS) -> SiteClusters:
    """Some rows of a kind of the bench."""
    urls, digests = zip(*KINDS[kind](rows, Random(7)), strict=True)
    return undust.find_duplicates(pa.table({"url": urls, "digest": digests})).sites[0]


def seconds(kind: str, rows: int = ROWS) -> float:
    """Processor time that learning takes."""
    found = clusters(kind, rows)
    started = process_time()
    learn_site(found, Requirements())
    return process_time() - started


@cache
def usual_seconds() -> float:
    """Processor time that ordinary rows take: the best of two, for the first one loads modules."""
    return min(seconds("ordinary", ORDINARY) for _ in range(2))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"ordinary", "parameters"}])
def test_learning_from_hostile_rows_is_bounded(kind: str) -> None:
    """In processor time; measured again only if the first time is too long."""
    most = MOST * usual_seconds()
    assert any(seconds(kind) <= most for _ in range(2))


def test_the_text_that_is_learned_from_is_bounded() -> None:
    """Of long URLs fewer are looked at, and whole pages still."""
    found = clusters("parameters", 400)
    learned = learn_site(found, Requirements(most_bytes=200_000))
    assert 0 < learned.sampled < 200


def test_usual_forms_have_a_bounded_vocabulary() -> None:
    """Rare names and very long URLs are left out; forms without them are the same object."""
    plain = [f"http://a.test/p?id={number}" for number in range(300)]
    rare = [f"http://a.test/p?id=1&name{number}=1" for number in range(300)]
    long = [
        "http://a.test/" + "/".join("x" * (USUAL_PARTS + 1)),
        "http://a.test/?" + "&".join(f"id={number}" for number in range(USUAL_PARTS + 1)),
    ]
    forms = UrlForms("a.test", [*plain, *rare, *long], list(range(602)))
    assert set(plain) <= set(forms.usual.urls)
    assert len(forms.usual.names) <= USUAL_NAMES
    assert not set(long) & set(forms.usual.urls)
    few = UrlForms("a.test", plain, list(range(300)))
    assert few.usual is few


def test_pairs_of_names_are_proposed_from_usual_forms() -> None:
    """200 parameters would make 20,000 pairs of each URL."""
    wide = ["http://a.test/?" + "&".join(f"n{name}=1" for name in range(200))] * 5
    plain = [f"http://a.test/?a={number}&b={number}" for number in range(5)]
    texts = {str(rule) for rule in drops(UrlForms("a.test", [*wide, *plain], list(range(10))))}
    assert any("?a={**}&b={**}&" in text for text in texts)
    assert not any("?n0={**}&n1={**}&" in text for text in texts)


def test_a_full_set_ends_the_proposals(monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many rules as a site may have, the published learners are not asked."""
    asked: Counter[str] = Counter()

    def counting(name: str, propose: Propose) -> Propose:
        def counted(forms: UrlForms) -> Iterable[Rule | None]:
            asked[name] += 1
            return propose(forms)

        return counted

    monkeypatch.setattr(learning_loop, "TIERS", tuple((name, counting(name, each)) for name, each in TIERS))
    assert len(learn_site(clusters("common names"), Requirements(most_rules=4)).rules) == 4
    assert asked["parameters"] == 1
    assert not asked["differences"] + asked["published"]


def test_a_full_set_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that are there already count."""
    monkeypatch.setattr(search, "MOST_EDITS", 4)
    tried: list[int] = []

    def counted(state: KeyState, edits: Sequence[Edit], among: Ints | None = None) -> list[EditEffect]:
        tried.append(len(edits))
        return effects(state, edits, among)

    monkeypatch.setattr(search, "effects", counted)
    found = clusters("common names")
    learned = edited_rules(found)
    assert len(learned.rules) == 4
    assert max(tried) > 4
    tried.clear()
    assert edited_rules(found, given=learned.rules).rules == learned.rules
    assert not any(tried[1:])


def test_a_rule_is_judged_again_only_where_anything_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does what it does to a state that was made anew."""
    found = clusters("common names")
    pages = SitePages(found, Requirements())
    texts = [
        f"rewrite {{s}}://{{h}}/{{p**}}?name{number}of{form}={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"
        for number in range(3)
        for form in (1, 2)
    ]
    first, *others = (Rule.parse(text, site=found.site) for text in texts)
    state = State(pages)
    state.effects([first, *others])
    state.accept(first)
    looked: list[Ints] = []
    asked = State._asked  # noqa: SLF001 -- which images are looked at shows nowhere else

    def noting(self: State, rules: Sequence[Rule], among: Ints | None, *, together: bool) -> list[Effect]:
        looked.append(np.arange(len(self.images)) if among is None else among)
        return asked(self, rules, among, together=together)

    monkeypatch.setattr(State, "_asked", noting)
    again = state.effects(others)
    assert len(looked) == 1
    assert len(looked[0]) < len(state.images) / 4
    for rule, effect in zip(others, again, strict=True):
        anew = State(pages, [first]).effect(rule)
        assert (effect.saved, effect.pages, effect.lost) == (anew.saved, anew.pages, anew.lost)
        assert effect.saved > 0
        assert effect.touched.tolist() == anew.touched.tolist()
    state.retract()
    assert state.effect(others[0]).touched.tolist() == State(pages).effect(others[0]).touched.tolist()


def test_very_long_urls_are_not_compared() -> None:
    """Neither in pairs nor by the values of hundreds of parameters; a parameter of them is still proposed."""
    long = ["&".join(f"n{name}=1" for name in range(USUAL_PARTS + 1)) + f"&sid={row}" for row in range(6)]
    urls = [f"http://a.test/p?{query}" for query in long] + ["http://a.test/q", "http://a.test/q?x=1"]
    table = pa.table({"url": urls, "cluster": ["1"] * 6 + ["2"] * 2})
    seen = SeenSite(KeyState(Site.of(undust.find_duplicates(table).sites[0])))
    assert [{seen.urls[left], seen.urls[right]} for left, right, _ in seen.pairs] == [set(urls[6:])]
    assert seen.names["sid"] == 6
    forms = UrlForms("a.test", urls, list(range(8)))
    assert not any("n1=1" in str(rule) for rule in defaults(forms))
    assert any("?sid={**}&" in str(rule) for rule in drops(forms))


def test_what_is_in_order_is_not_copied() -> None:
    """Long URLs are most of the memory that learning takes."""
    texts = pa.array([f"http://a.test/{row:03}" for row in range(100)], pa.large_string())
    images, image = numbered(texts)
    assert images.buffers()[2].address == texts.buffers()[2].address
    assert image.tolist() == list(range(100))
    mixed = texts.take(pa.array([5, 3, 5]))
    assert numbered(mixed)[0].to_pylist() == [texts[3].as_py(), texts[5].as_py()]
    rows = pa.table({"url": texts, "site": ["a.test"] * 100})
    ((name, own),) = rows_of_sites(rows, ["a.test"])
    assert name == "a.test"
    assert own["url"].chunk(0).buffers()[2].address == texts.buffers()[2].address
    state = KeyState(Site.of(undust.find_duplicates(rows).sites[0]))
    rule = Rule.parse("rewrite {s}://{h}/{p**}?s={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
    assert KeyState(state.site, (Given(rule=rule),)).images.equals(state.images)


@pytest.mark.parametrize("most", [1, 3, 10])
def test_the_most_frequent_are_those_of_a_whole_order(most: int) -> None:
    """By count, then by text; as if all had been sorted."""
    counts = Counter({f"name{number}": number % 4 for number in range(9)})
    every = sorted((text for text in counts if counts[text] >= 2), key=lambda text: (-counts[text], text))
    assert frequent(counts, 2, most) == every[:most]
