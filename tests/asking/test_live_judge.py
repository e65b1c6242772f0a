"""The judge that asks: what two answers mean, and how many of them decide."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from undust.asking.answers import Answer, AnswerJournal
from undust.asking.limits import Manners
from undust.asking.live_judge import LiveJudge
from undust.asking.outcome import is_tried
from undust.asking.rule_file import Judges, SiteSamples, run
from undust.asking.samples import samples_from
from undust.asking.sampling import Sampling
from undust.asking.visitor import RequestBudget, VisitedHosts, Visitor
from undust.reading.text import sketch
from undust.rules.reasoning.algebra import reversed_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from undust.asking.answers import Why
    from undust.asking.outcome import Validation
    from undust.rules import Rule

SITE = "shop.test"
TEXTS = st.sampled_from(["one", "two", "three"])


def rule(text: str, site: str = SITE) -> Rule:
    """A rule of the site."""
    return undust.Rule.parse(text, site=site)


DROP = rule("rewrite {s}://{h}/{p**}?{**:x}&{rest**} -> {s}://{h}/{p}?{rest}")


def words(name: str) -> bytes:
    """A page's text that shares no five words with another's."""
    return " ".join(f"{name}{number}" for number in range(100)).encode()


class Scripted:
    """A source that answers from a table: by URL, the texts of one visit after the other, or answers."""

    is_live = False

    def __init__(self, table: Mapping[str, Sequence[bytes | Answer]]) -> None:
        self.table, self.asked = table, Counter[str]()

    def fetch(self, url: str, turn: int, why: Why) -> Answer:
        """Return the next thing that the table has, its last one for ever."""
        self.asked[url] += 1
        given_ = self.table.get(url, [Answer(url, status=404)])
        said = given_[min(turn, len(given_) - 1)]
        if isinstance(said, Answer):
            return replace(said, url=url, turn=turn, why=why)
        return Answer(url, turn, why, 1.0, 200, digest=str(hash(said)), sketch=sketch(said))

    def close(self) -> None:
        """Do nothing."""


def judge_of(source: Scripted, page_of: Callable[[str], str] = str) -> LiveJudge:
    """The judge that asks a source; each URL is a page of its own, if nothing else is said."""
    manners = Manners()
    visitor = Visitor(source, AnswerJournal(), manners, VisitedHosts(manners), RequestBudget(10**6, None))
    return LiveJudge(visitor, page_of)


U, V = "http://shop.test/a?x=1", "http://shop.test/a"
MOVED = Answer("", status=301, redirect=V)
GONE = Answer("", status=404)
BROKEN = Answer("", status=500)
HALF = [words("stays") + b" " + words(name)[:200] for name in ("p", "q", "r", "s")]
"""A page of which a third is written anew for every visit."""


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ([words("a")], [words("a")], "same"),
        ([words("a")], [words("b")], "different"),
        ([words("a")], [words("a") + b" views 12"], "same"),
        ([MOVED], [words("a")], "same"),
        ([words("a")], [Answer("", status=301, redirect=U)], "same"),
        ([words("a")], [GONE], "different"),
        ([words("a")], [BROKEN], "different"),
        ([words("a")], [BROKEN, words("a")], "unknown"),
        ([GONE], [words("a")], "unknown"),
        ([GONE], [GONE], "unknown"),
        ([words("a")], [Answer("", status=503)], "unknown"),
        ([words("a")], [Answer("", problem="no answer in time")], "unknown"),
        ([words("a")], [Answer("", status=302, redirect="http://login.test/")], "unknown"),
        ([words("a"), words("b"), words("c")], [words("d"), words("e")], "unknown"),
        ([words("a"), words("b")], [words("b")], "same"),
        ([words("a")], [words("b"), words("a")], "same"),
        (HALF[:2], HALF[2:], "unknown"),
        (HALF[:2], [words("other")], "different"),
        ([Answer("", status=200)], [Answer("", status=200)], "unknown"),
    ],
)
def test_what_two_answers_mean(left: list[Any], right: list[Any], said: str) -> None:
    """One page, two pages, or nobody can tell."""
    assert judge_of(Scripted({U: left, V: right}))(U, V) == said


def test_a_difference_is_looked_at_twice_and_no_more() -> None:
    """Both URLs once more, however many rules ask; what is alike is never asked for again."""
    source = Scripted({U: [words("a")], V: [words("b")], "http://shop.test/b": [words("a")]})
    judge = judge_of(source)
    assert [judge(U, V) for _ in range(3)] == ["different"] * 3
    assert judge(U, "http://shop.test/b") == "same"
    assert source.asked == {U: 2, V: 2, "http://shop.test/b": 1}


def test_a_notice_says_nothing() -> None:
    """What three different pages show is no page: a wall confirms no rule, and hides no loss."""
    wall = words("please log in")
    table: dict[str, list[bytes | Answer]] = {f"http://shop.test/{number}": [wall] for number in range(8)}
    table |= {f"http://shop.test/{number}?x=1": [wall] for number in range(8)}
    table |= {"http://shop.test/real": [words("real")]}
    judge = judge_of(Scripted(table))
    said = Counter(
        judge(f"http://shop.test/{number}?x=1", f"http://shop.test/{number}") for number in range(8)
    )
    assert said == {"same": 1, "unknown": 7}
    assert judge("http://shop.test/real", "http://shop.test/1") == "different"


def test_the_template_of_a_site_is_left_out() -> None:
    """Pages that share a long menu and little else are different pages."""
    menu = b" ".join(b"menu%d" % number for number in range(4000))
    pages = {f"http://shop.test/{number}": menu + b" " + words(f"p{number}")[:150] for number in range(40)}

    class Texts(Scripted):
        is_live = True

        def fetch(self, url: str, turn: int, why: Why) -> Answer:
            if why == "robots":
                return Answer(url, turn, why, 1.0, 404)
            self.asked[url] += 1
            text = pages[url.partition("?")[0]]
            return Answer(
                url, turn, why, 1.0, 200, digest=str(hash(text + b"%d" % self.asked.total())), text=text
            )

    judges = [judge_of(Texts({})) for _ in range(2)]
    judges[0].get_to_know([])
    judges[1].get_to_know(pages)
    pair = "http://shop.test/1", "http://shop.test/2"
    assert [judge(*pair) for judge in judges] == ["same", "different"]
    assert judges[1]("http://shop.test/1?x=1", "http://shop.test/1") == "same"


def proved(
    rules: Sequence[Rule],
    urls: Sequence[str],
    show: Callable[[str], str | None],
    **bounds: Any,  # noqa: ANN401
) -> Validation:
    """The outcome for rules of a site that shows a text for each URL; None is 404."""
    table = {url: [GONE if (text := show(url)) is None else words(text)] for url in all_of(rules, urls)}
    active = undust.RuleSet([each.with_status("active") for each in rules])
    judge = judge_of(Scripted(table), active.compile().key)

    class One(Judges):
        def of(self, group: SiteSamples, site: str) -> LiveJudge:  # noqa: ARG002
            return judge

    column = pa.array(urls, pa.string())
    samples = samples_from(column, pa.nulls(len(urls), pa.int64()), rules)
    group = SiteSamples(SITE, tuple(rules), samples, len(rules))
    return run(undust.RuleSet(rules), [group], One(), Sampling(max_unknown=1.0, **bounds), "live")


def all_of(rules: Sequence[Rule], urls: Sequence[str]) -> set[str]:
    """The URLs, and what rules make of them in either direction."""
    both = [*rules, *(other for each in rules if (other := reversed_rule(each)))]
    steps = [undust.RuleSet([each.with_status("active")]).compile().program for each in both]
    return {*urls, *(step.step(url)[1] for step in steps for url in urls)}


def numbered(url: str) -> str:
    """The page that a URL is about."""
    return url.split("/")[3].partition("?")[0]


ITEMS = [f"http://shop.test/{number}?x=1" for number in range(400)]


@pytest.mark.parametrize(
    ("bad", "verdict", "positives", "negatives"),
    [
        ([], "confirmed", 95, 0),
        (range(4), "confirmed", 95, 4),
        (range(95, 99), "confirmed", 95, 0),
        (range(90, 95), "refuted", 90, 5),
        ([0, 20, 40, 60, 80], "refuted", 76, 5),
        ([0, 20, 40, 60, 98], "refuted", 94, 5),
        ([0, 20, 40, 60, 99], "confirmed", 95, 4),
        (range(400), "refuted", 0, 5),
    ],
)
def test_g11(bad: Iterable[int], verdict: str, positives: int, negatives: int) -> None:
    """N = 100, epsilon = 0.05: refuted at the 5th negative, confirmed at the 95th positive, not one later."""
    samples = samples_from(pa.array(ITEMS), pa.nulls(len(ITEMS), pa.int64()), [DROP])
    order = [url for url, _ in samples.pairs(DROP, len(ITEMS))]
    wrong = {order[place] for place in bad}
    done = proved([DROP], ITEMS, lambda url: f"other{order.index(url)}x" if url in wrong else numbered(url))
    found = done.outcomes[0]
    assert (found.verdict, found.positives, found.negatives) == (verdict, positives, negatives)
    assert (found.unknown, found.fetches) == (0, 2 * positives + 4 * negatives)


def test_both_directions() -> None:
    """A rule that leads nowhere is refuted and off; what undoes it holds, and stands behind it."""
    there = rule('replace "/old_" -> "/new/"')
    urls = [f"http://shop.test/{form}{number}" for number in range(30) for form in ("old_", "new/")]

    def show(url: str) -> str | None:
        return (
            None
            if "/new/" in url and int(url.rpartition("/")[2]) % 2
            else url.removeprefix("http://shop.test/")[4:]
        )

    done = proved([there], urls, show)
    assert [(str(each.rule), each.verdict, each.rule.status) for each in done.outcomes] == [
        ('replace "/old_" → "/new/"', "refuted", "disabled"),
        ('replace "/new/" → "/old_"', "confirmed", "active"),
    ]
    assert "answers" not in (done.rules[0].validated or {})
    assert (done.rules[0].validated or {})["reason"].startswith("5 of ")


def test_the_shrinking_direction_first() -> None:
    """Of two rules that undo each other the longer right side waits, and is then not needed."""
    longer, shorter = rule('replace "/s_" -> "/story/id/"'), rule('replace "/story/id/" -> "/s_"')
    urls = [f"http://shop.test/{form}{number}" for number in range(30) for form in ("s_", "story/id/")]
    done = proved([longer, shorter], urls, lambda url: url[-1])
    assert [each.verdict for each in done.outcomes] == ["undecided", "confirmed"]
    assert done.outcomes[0].fetches == 0
    assert f"it says no more than {shorter.id[:8]}" in done.outcomes[0].reason


def test_refinements_are_not_tried() -> None:
    """What says no more than a rule that holds costs nothing."""
    wide, narrow = rule('replace "/index.html$" -> "/$"'), rule('replace "/a/index.html$" -> "/a/$"')
    urls = [f"http://shop.test/{number}/a/index.html" for number in range(30)]
    done = proved([wide, narrow], urls, lambda url: url.split("/")[3])
    assert [(each.verdict, each.positives) for each in done.outcomes] == [("confirmed", 30), ("undecided", 0)]


def test_one_page_is_not_enough() -> None:
    """A wall that is all that a rule's URLs show confirms nothing, however many they are."""
    wall = rule("rewrite {s}://{h}/basket?user={*} -> {s}://{h}/basket?user=1")
    urls = [f"http://shop.test/basket?user={number}" for number in range(200)]
    found = proved([wall], urls, lambda _: "please log in").outcomes[0]
    assert (found.verdict, found.positives) == ("undecided", 95)
    assert found.reason == "its 95 URLs all lead to one page"


def test_masks_are_proved_by_pairs() -> None:
    """A mask changes no URL; two URLs that it makes equal are compared."""
    mask = rule("rewrite {s}://{h}/{p**}?sid={v}&{rest**} -> {s}://{h}/{p}?sid={v:any}&{rest}")
    urls = [f"http://shop.test/{number % 10}?sid={number}" for number in range(60)]
    assert proved([mask], urls, numbered).outcomes[0].verdict == "confirmed"
    assert proved([mask], urls, lambda url: re.sub(r"\W", "", url)).outcomes[0].verdict == "refuted"


def test_rules_that_are_not_tried() -> None:
    """What keeps URLs, and what a person switched off, stays as it is; what a proof put off may return."""
    keep = rule("keep {s}://{h}/{p**}?do=edit&{rest**}")
    off = replace(DROP, status="disabled")
    done = proved([keep, off], ITEMS, numbered)
    assert [each.verdict for each in done.outcomes] == ["undecided"] * 2
    assert list(done.rules) == [keep, off]
    refuted = replace(off, validated={"when": "2026-01-01", "how": "live", "outcome": "refuted"})
    again = proved([refuted], ITEMS, numbered).outcomes[0]
    assert (again.verdict, again.rule.status) == ("confirmed", "active")
    assert not is_tried(off)
    # What a person switches off stays off, though a proof had done so before.
    assert not is_tried(refuted.with_status("disabled"))
    assert is_tried(refuted.with_status("active"))


@given(
    st.dictionaries(st.integers(0, 60), st.sampled_from(["a", "b", None]), max_size=40),
    st.lists(
        st.sampled_from(
            [
                *('replace "/a" -> "/a/a"', 'replace "/" -> ""', 'replace "?x" -> "?y"'),
                *("rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/q/{p}?{rest}",),
                *("rewrite {s}://{h}/{p**}?{**:x}&{rest**} -> {s}://{h}/{p}?{rest}", "keep {s}://{h}/{p**}"),
            ]
        ),
        unique=True,
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 20),
    st.sampled_from([0.01, 0.05, 0.5, 0.99]),
)
def test_it_ends(shown: dict[int, str | None], texts: list[str], count: int, epsilon: float) -> None:
    """Whatever the rules, the URLs and the answers: a verdict on each, never more questions than allowed."""
    urls = [f"http://shop.test/{number % 7}/a?x={number}" for number in shown]
    rules = [rule(text) for text in texts]
    done = proved(
        rules, urls, lambda url: shown.get(len(url) % 61), samples=count, epsilon=epsilon, attempts=3 * count
    )
    assert {each.rule.id for each in done.outcomes} >= {each.id for each in rules}
    assert len(done.rules) == len(done.outcomes)
    for found in done.outcomes:
        assert found.positives + found.negatives + found.unknown <= 3 * count


def test_one_url_of_each_page_before_the_second_of_any() -> None:
    """A page with many addresses does not decide alone; the rules' own examples come first."""
    urls = [f"http://shop.test/big?x={number}" for number in range(200)]
    urls += [f"http://shop.test/{number}?x=1" for number in range(20)]
    example = "http://shop.test/shown?x=5"
    shown = replace(DROP, examples=((example, "http://shop.test/shown"), ("http://shop.test/b?x=***", "")))
    samples = samples_from(pa.array(urls), pa.nulls(len(urls), pa.int64()), [shown])
    pairs = list(samples.pairs(shown, 300))
    assert pairs[0] == (example, "http://shop.test/shown")
    assert len({target for _, target in pairs[:22]}) == 22
    assert len(pairs) == len({url for url, _ in pairs}) == 221
    assert list(samples.pairs(shown, 10)) == pairs[:10]


def test_urls_that_showed_a_page_come_first() -> None:
    """What was seen with an error is tried last."""
    urls = [f"http://shop.test/{number}?x=1" for number in range(30)]
    statuses = pa.array([(200, None, 404)[number % 3] for number in range(30)], pa.int64())
    pairs = samples_from(pa.array(urls), statuses, [DROP]).pairs(DROP, 30)
    kinds = [int(url.split("/")[3].partition("?")[0]) % 3 for url, _ in pairs]
    assert kinds == sorted(kinds)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('replace "/index.html$" -> "/$"', 'replace "/$" → "/index.html$"'),
        ('replace "/story-" -> "_"', 'replace "_" → "/story-"'),
        ('replace "&a=" -> ""', None),
        ("rewrite {s}://{h}/{*}/dp/{n} -> {s}://{h}/dp/{n}", None),
        ("rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p:lower}?{rest}", None),
        (
            "rewrite {s}://{h}/a/{n:int}?{r**} -> {s}://{h}/b?id={n}&{r}",
            "rewrite {s}://{h}/b?id={n:int}&{r**} → {s}://{h}/a/{n}?{r}",
        ),
        ("keep {s}://{h}/a", None),
        ("rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/x when /a", None),
    ],
)
def test_the_other_direction(text: str, expected: str | None) -> None:
    """Only what forgets nothing can be undone."""
    found = reversed_rule(rule(text))
    assert (None if found is None else str(found)) == expected


def test_observations_decide_where_nobody_is_asked() -> None:
    """Without `live`, what was seen is the judge."""
    rows = [
        (f"http://shop.test/{number}{query}", str(number)) for number in range(9) for query in ("", "?x=1")
    ]
    rows += [(f"http://shop.test/list?page={number}", f"page {number}") for number in range(9)]
    table = pa.table({"url": [url for url, _ in rows], "cluster": [name for _, name in rows]})
    set_ = undust.RuleSet([DROP, rule("rewrite {s}://{h}/list?page={*} -> {s}://{h}/list?page=1")])
    done = undust.validate(set_, table)
    assert [each.verdict for each in done.outcomes] == ["confirmed", "refuted"]
    assert (done.rules[0].validated or {})["how"] == "held-out"
    with pytest.raises(undust.errors.UndustError, match="nothing was seen"):
        undust.validate(set_)
    assert np.isclose((done.rules[0].validated or {})["fpr_upper"], 1 - 0.05 ** (1 / 9), atol=1e-5)


def test_rules_for_all_sites() -> None:
    """They are tried where there are most URLs, each pair by the judge of its own site."""
    general = undust.Rule.parse("rewrite {s}://{h}/{p**}?{**:x}&{rest**} -> {s}://{h}/{p}?{rest}", site="*")
    rows = [
        (f"http://{site}/{n}{query}", f"{site} {n}")
        for site in ("a.test", "b.test")
        for n in range(9)
        for query in ("", "?x=1")
    ]
    table = pa.table({"url": [url for url, _ in rows], "cluster": [name for _, name in rows]})
    found = undust.validate(undust.RuleSet([general]), table).outcomes[0]
    assert (found.verdict, found.positives) == ("confirmed", 18)
    spared = replace(general, except_sites=("b.test",))
    assert undust.validate(undust.RuleSet([spared]), table).outcomes[0].positives == 9
