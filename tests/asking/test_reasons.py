"""Why a judge said what it said, and why a proof came out as it did: in words, for whoever asks later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import undust
from tests.asking.test_live_judge import (
    BROKEN,
    DROP,
    GONE,
    ITEMS,
    SITE,
    Scripted,
    U,
    V,
    judge_of,
    numbered,
    proved,
    words,
)
from undust.asking.answers import Answer, sketch_text
from undust.asking.rule_file import Judges, Known, SiteSamples, run
from undust.asking.samples import samples_from
from undust.asking.sampling import Sampling
from undust.judging.verdict import Candidate, Verdict

if TYPE_CHECKING:
    from undust.asking.sampling import Answer as Said
    from undust.rules import Rule


def sketched(changed: int) -> Answer:
    """A page of 32 minima, some of them changed."""
    minima = np.arange(32, dtype=np.uint32)
    minima[:changed] += 1000
    return Answer("", time=5.0, status=200, digest=f"{changed} changed", sketch=minima)


ELSEWHERE = Answer("", status=302, redirect="http://login.test/")


@pytest.mark.parametrize(
    ("left", "right", "said", "because"),
    [
        ([words("a")], [words("a")], "same", "the same content"),
        ([sketched(0)], [sketched(1)], "same", "the same content"),
        ([sketched(0)], [sketched(2)], "unknown", "nearly the same content"),
        ([sketched(0)], [sketched(3)], "unknown", "nearly the same content"),
        ([sketched(0)], [sketched(4)], "different", "another content"),
        ([words("a")], [words("b"), words("a")], "same", "the same content at a second look"),
        ([words("a")], [words("b"), GONE], "unknown", "a page that is missing at the next visit"),
        ([words("a")], [GONE], "different", "the target answers with status 404"),
        ([words("a")], [BROKEN, words("a")], "unknown", "the target's errors come and go"),
        ([words("a")], [Answer("", status=200)], "unknown", "the target shows nothing"),
        ([GONE], [words("a")], "unknown", "answers with status 404"),
        ([ELSEWHERE], [ELSEWHERE], "unknown", "both leave the site"),
        ([words("a")], [ELSEWHERE], "unknown", "one leaves the site"),
        ([ELSEWHERE], [words("a")], "unknown", "one leaves the site"),
        ([words("a")], [Answer("", status=301, redirect=U)], "same", "one redirects to the other"),
    ],
)
def test_a_judge_says_why(left: list[Any], right: list[Any], said: str, because: str) -> None:
    """What was said of a pair, and the reason."""
    judge = judge_of(Scripted({U: left, V: right}))
    assert (judge(U, V), judge.because) == (said, because)


def test_an_opinion_is_kept_with_all_that_it_rests_on() -> None:
    """Both sides with status, digest and sketch, and when the newer one was seen."""
    judge = judge_of(Scripted({U: [sketched(0)], V: [sketched(1)]}))
    judge(U, V)
    assert judge.opinion is not None
    assert judge.opinion.to_json() == {
        "said": "same",
        "because": "the same content",
        "left": {
            "url": U,
            "status": 200,
            "digest": "0 changed",
            "sketch": sketch_text(sketched(0).sketch),
        },
        "right": {
            "url": V,
            "status": 200,
            "digest": "1 changed",
            "sketch": sketch_text(sketched(1).sketch),
        },
        "time": 5.0,
    }
    alone = judge_of(Scripted({U: [Answer("", problem="no answer in time")]}))
    alone(U, V)
    assert alone.opinion is not None
    assert alone.opinion.to_json()["left"] == {"url": U, "problem": "no answer in time"}
    assert "right" not in alone.opinion.to_json()


def test_the_third_page_that_shows_the_same_makes_it_a_notice() -> None:
    """Two pages may be copies of each other; what three show is on none of them."""
    wall = words("please log in")
    pages = [f"http://shop.test/{number}" for number in range(4)]
    table = {url + query: [wall] for url in pages for query in ("", "?x=1")}
    judge = judge_of(Scripted(table), lambda url: url.partition("?")[0])
    assert [judge(f"{url}?x=1", url) for url in pages] == ["same", "same", "unknown", "unknown"]
    again = judge_of(Scripted(table), lambda url: url.partition("?")[0])
    assert [again(pages[0], pages[1]), again(pages[0], pages[2])] == ["same", "unknown"]
    assert again.because == "other pages show the same notice"


def test_a_proof_says_why() -> None:
    """How many of how many; and of a rule that nobody can decide, what stood in the way most often."""
    assert proved([DROP], ITEMS, numbered).outcomes[0].reason == "95 of 95 URLs show the page of their target"

    def busy(url: str) -> list[Answer | bytes]:
        status = 503 if numbered(url) > "2" else 200
        return [words(numbered(url)) if "?" in url else Answer("", status=status)]

    table = {url: busy(url) for item in ITEMS for url in (item, item.partition("?")[0])}
    judge = judge_of(Scripted(table))
    told: list[tuple[str, Any]] = []

    class Telling(Judges):
        def of(self, group: SiteSamples, site: str) -> Any:  # noqa: ANN401, ARG002
            return judge

        def watch(self, rule: Rule) -> None:
            told.append(("watch", rule))

        def note(self, rule: Rule, left: str, right: str, said: Said) -> None:
            del rule, left, right
            told.append(("note", said))

    samples = samples_from(pa.array(ITEMS), pa.nulls(len(ITEMS), pa.int64()), [DROP])
    group = SiteSamples(SITE, (DROP,), samples, 1)
    found = run(undust.RuleSet([DROP]), [group], Telling(), Sampling(), "live").outcomes[0]
    assert (found.verdict, found.unknown) == ("undecided", 30)
    busiest = "most often: the host is busy, status 503"
    assert found.reason == f"0 of 30 URLs could be compared; {busiest}"
    assert told == [("watch", DROP), *([("note", "unknown")] * 30)]


def test_nobody_is_asked_where_nobody_need_be() -> None:
    """What was seen decides without a request; where nothing was seen, nothing is decided."""
    samples = samples_from(pa.array(ITEMS), pa.nulls(len(ITEMS), pa.int64()), [DROP])
    group = SiteSamples(SITE, (DROP,), samples, 1)
    done = run(undust.RuleSet([DROP]), [group], Judges(), Sampling(), "held-out")
    assert (done.fetches, done.hosts, done.outcomes[0].verdict) == (0, 0, "undecided")
    assert done.outcomes[0].reason == "0 of 30 URLs could be compared; most often: one of them was never seen"
    seen = Judges({SITE: Known(lambda *_: "same", 1_900_000_000.0)})
    proof = run(undust.RuleSet([DROP]), [group], seen, Sampling(), "held-out").outcomes[0]
    assert proof.verdict == "confirmed"
    assert (proof.rule.validated or {})["when"] == "2030-03-17T17:46:40+00:00"


def test_whoever_asks_is_stopped_when_something_breaks() -> None:
    """The others would otherwise go on asking for a job that is over."""
    stopped: list[bool] = []

    def broken(left: str, right: str) -> Said:
        raise OSError(left, right)

    class Stopping(Judges):
        def stop(self) -> None:
            stopped.append(True)

    samples = samples_from(pa.array(ITEMS), pa.nulls(len(ITEMS), pa.int64()), [DROP])
    group = SiteSamples(SITE, (DROP,), samples, 1)
    with pytest.raises(OSError, match=r"shop\.test"):
        run(undust.RuleSet([DROP]), [group], Stopping({SITE: Known(broken)}), Sampling(), "held-out")
    assert stopped == [True]


def test_rates_are_kept_to_six_places() -> None:
    """A third is told as precisely as a file needs it."""
    rule = Verdict(Candidate((DROP,), 1, "pairs"), support=2, false_pairs=1, pages=400, lost=0).rules[0]
    assert (rule.fpr, rule.fpr_upper, rule.support, rule.false_positives) == (0.333333, 0.333333, 2, 1)
