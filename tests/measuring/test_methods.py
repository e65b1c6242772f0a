"""Rules applied as their papers do, on the papers' own examples and where that differs from ours."""

from __future__ import annotations

import pyarrow as pa
import pytest

import undust
from undust.measuring.methods import PUBLISHED_APPLICATIONS, in_passes, once

FORUM = (
    (".co.il/story_", ".co.il/story?id="),
    ("&LastView=&Close=", ""),
    (".php3?", "?"),
    (".il/story_", ".il/story.php3?id="),
    ("&NewOnly=1&tvqz=2", "&NewOnly=1"),
    (".co.il/thread_", ".co.il/thread?rep="),
    ("http://www.scifi.forum/story_", "http://www.scifi.forum/story?id="),
)
"""Figure 11 of DustBuster, in order."""


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://x.co.il/story_5", "http://x.co.il/story?id=5"),
        ("http://x.co.il/story.php3?id=5", "http://x.co.il/story?id=5"),
        ("http://y.org.il/story_5", "http://y.org.il/story?id=5"),
        ("http://x.co.il/thread_77", "http://x.co.il/thread?rep=77"),
        ("http://x.co.il/thread.php3?rep=77", "http://x.co.il/thread?rep=77"),
        (
            "http://x.co.il/a?x=1&NewOnly=1&tvqz=2&LastView=&Close=",
            "http://x.co.il/a?x=1&NewOnly=1",
        ),
        ("http://www.scifi.forum/story.php3?id=9", "http://www.scifi.forum/story?id=9"),
        ("http://www.scifi.forum/story_9", "http://www.scifi.forum/story?id=9"),
    ],
)
def test_dustbuster_example(url: str, canonical: str) -> None:
    """The seven rules of the forum, in passes; one of the URLs needs two."""
    rules = undust.RuleSet([undust.Rule("*", "replace", source, target) for source, target in FORUM])
    assert in_passes(rules, pa.array([url])).to_pylist() == [canonical]


def rules_of(*texts: str) -> undust.RuleSet:
    """Rules of one site."""
    return undust.RuleSet([undust.Rule.parse(text, site="a.test") for text in texts])


def test_once_means_once() -> None:
    """A chain is followed by the canonicalizer to its end, and by one step only to its middle."""
    rules = rules_of('replace "/a" → "/b"', 'replace "/b" → "/c"')
    urls = pa.array(["http://a.test/a", "http://a.test/b", "http://a.test/c", "no URL"])
    assert once(rules, urls).to_pylist() == [
        "http://a.test/b", "http://a.test/c", "http://a.test/c", "no URL",
    ]  # fmt: skip
    assert rules.compile().batch(urls, keys=True).to_pylist() == ["http://a.test/c"] * 3 + ["no URL"]


def test_passes_end_on_a_cycle() -> None:
    """Rules that undo each other end where their order says: after the last of them."""
    rules = rules_of('replace "/a" → "/b"', 'replace "/b" → "/a"')
    assert (
        in_passes(rules, pa.array(["http://a.test/a", "http://a.test/b"])).to_pylist()
        == ["http://a.test/a"] * 2
    )


@pytest.mark.parametrize("method", sorted(PUBLISHED_APPLICATIONS))
def test_masks_and_switches_hold_in_every_way(method: str) -> None:
    """An ignored part is compared as `*`, a rule that is off does nothing, no rule leaves the normal form."""
    mask = "rewrite {s}://{h}/{p}?sid={v} → {s}://{h}/{p}?sid={v:any}"
    rules = rules_of(mask, 'replace "/old" → "/new"', 'replace "/new" → "/never"')
    rules = rules.disable(rules.ids[2])
    urls = pa.array(["HTTP://a.test/old?sid=1", "http://a.test/new?sid=2"])
    assert PUBLISHED_APPLICATIONS[method](rules, urls, 1).to_pylist() == ["http://a.test/new?sid=*"] * 2
    assert PUBLISHED_APPLICATIONS[method](undust.RuleSet(), urls, 1).to_pylist() == [
        "http://a.test/old?sid=1", "http://a.test/new?sid=2",
    ]  # fmt: skip


def test_every_published_learner_has_its_reading() -> None:
    """The names are those by which the learners are called."""
    assert set(PUBLISHED_APPLICATIONS) == {"substring", "rewrite", "tree", "alignment"}
    assert {name: reading for name, reading in PUBLISHED_APPLICATIONS.items() if reading is in_passes} == {
        "substring": in_passes
    }
    assert all(reading is once for name, reading in PUBLISHED_APPLICATIONS.items() if name != "substring")


def test_a_rule_that_undoes_itself_has_one_turn_in_a_pass() -> None:
    """It would change the smallest form again, and again."""
    swap = rules_of("rewrite {s}://{h}/{x}/{y} → {s}://{h}/{y}/{x}", 'replace "/old/" → "/new/"')
    urls = pa.array(["http://a.test/b/a", "http://a.test/a/b", "http://a.test/x/old/y"])
    assert in_passes(swap, urls).to_pylist() == [
        "http://a.test/a/b",
        "http://a.test/a/b",
        "http://a.test/x/new/y",
    ]
