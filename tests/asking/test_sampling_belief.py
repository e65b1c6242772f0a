"""When a rule that was only likely is decided: prior, evidence and answers together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from undust.asking.samples import SampleTrial, class_of, removed_by, samples_from
from undust.asking.sampling import (
    HOPELESS_LIKELY,
    MOST_FURTHER,
    Belief,
    Sampled,
    Sampling,
    belief_in,
    decide_likely,
    refute_further,
)
from undust.jobs.validate import BEFOREHAND
from undust.judging.verdict import Candidate

if TYPE_CHECKING:
    from undust.asking.sampling import Answer

RULE = undust.Rule.parse("rewrite {s}://{h}/{p**}?{**:x}&{rest**} -> {s}://{h}/{p}?{rest}", site="a.test")


def decided(said: list[Answer], true: float = 0.9, classes: int = 1, **bounds: float) -> Sampled:
    """What comes of answers, one after the other; the trials are of so many classes in turn."""
    trials = [
        SampleTrial(f"http://a.test/{n}?x", f"http://a.test/{n}", str(n % classes), classes)
        for n in range(len(said))
    ]
    answers = iter(said)
    sampling = Sampling(**bounds)  # type: ignore[arg-type]
    return decide_likely(
        Candidate((RULE,), 0, "pairs"), trials, lambda *_: next(answers), sampling, Belief(true)
    )


@given(true=st.floats(0.05, 0.95), right=st.integers(0, 60), wrong=st.integers(0, 10))
def test_answers_for_a_rule_lower_what_is_expected_and_answers_against_raise_it(
    true: float, right: int, wrong: int
) -> None:
    """And so does what was believed before."""
    belief = Belief(true)
    assert belief.wrong_share(right + 1, wrong) <= belief.wrong_share(right, wrong) + 1e-12
    assert belief.wrong_share(right, wrong + 1) >= belief.wrong_share(right, wrong) - 1e-12
    assert (
        Belief(min(0.96, true + 0.01)).wrong_share(right, wrong) <= belief.wrong_share(right, wrong) + 1e-12
    )


def test_a_likely_rule_needs_few_answers_and_a_doubtful_one_more() -> None:
    """Each until the expected share of wrong merges is what a person asked for."""
    likely, doubtful = (decided(["same"] * 60, true) for true in (0.95, 0.3))
    assert likely.found == doubtful.found == "valid"
    assert likely.positive < doubtful.positive
    strict = decided(["same"] * 60, 0.95, max_fpr=0.003)
    assert strict.positive > likely.positive


def test_one_answer_against_a_rule_does_not_refute_it_and_two_do() -> None:
    """One may be an accident; a rule with one stays undecided until very many speak for it."""
    assert decided(["same", "different", "same", "same", "same"]).found == "undecided"
    assert decided(["same", "different", "different", "same"]).found == "refuted"
    most: list[Answer] = ["same"] * 60
    assert decided([most[0], "different", *most], 0.95).found == "undecided"
    many: list[Answer] = ["same"] * 8
    assert decided([*many, "different"], max_fpr=0.0001).found == "undecided"


def test_a_choice_of_few_values_needs_more_answers_than_any_value() -> None:
    """An order does nothing on most pages, and is a mistake on the others."""
    assert Belief(0.5, is_choice=True).wrong_share(8, 0) > 0.01 >= Belief(0.5).wrong_share(8, 0)
    assert Belief(0.5, is_choice=True).wrong_share(20, 0) <= 0.01


def test_every_class_of_urls_is_asked_about() -> None:
    """What holds for one part of a site may not for another."""
    assert decided(["same"] * 60, 0.95, classes=7).positive == 7


def test_a_class_of_which_no_url_is_left_holds_nothing_up() -> None:
    """Its few URLs could not be compared; the others decide."""
    said_so: list[Answer] = ["same"] * 31
    said_so[0] = "unknown"
    answers = iter(said_so)
    trials = [SampleTrial("http://a.test/gone?x", "http://a.test/gone", "gone", 2, is_last=True)]
    trials += [SampleTrial(f"http://a.test/{n}?x", f"http://a.test/{n}", "pages", 2) for n in range(30)]
    said = decide_likely(
        Candidate((RULE,), 0, "pairs"), trials, lambda *_: next(answers), Sampling(), Belief(0.95)
    )
    assert (said.found, said.unknown) == ("valid", 1)
    assert said.positive < 10
    urls = [f"http://a.test/c/{n}?x={n:08x}" for n in range(5)] + ["http://a.test/about?x=1"]
    samples = samples_from(pa.array(urls), pa.nulls(len(urls), pa.int64()), [RULE])
    last = [trial.url for trial in samples.trials(RULE, 10) if trial.is_last]
    assert len(last) == 2
    assert urls[-1] in last


def test_a_rule_of_which_nothing_is_written_is_as_likely_as_others_of_its_kind() -> None:
    """What is written with it goes before that."""
    assert belief_in(None, 0.2).true == 0.2
    assert belief_in({"true": 0.7}, 0.2).true == 0.7
    order, session = (
        undust.Rule.parse(
            f"rewrite {{s}}://{{h}}/{{p**}}?{name}={{**}}&{{rest**}} -> {{s}}://{{h}}/{{p}}?{{rest}}",
            site="a.test",
        )
        for name in ("order", "sid")
    )
    assert BEFOREHAND.true(order) < 0.5 < BEFOREHAND.true(session)


def test_what_cannot_be_compared_is_given_up() -> None:
    """After some URLs, not after all of them."""
    done = decided(["unknown"] * 60)
    assert (done.found, done.unknown) == ("undecided", HOPELESS_LIKELY)


def test_no_more_is_asked_than_a_person_wants() -> None:
    """`--samples` is the most that a rule gets."""
    assert decided(["same"] * 60, 0.3, samples=4).asked == 4


@pytest.mark.parametrize("said", [None, "much", {"true": "yes"}, {"true": True}, {}, [1]])
def test_what_is_no_number_counts_for_nothing(said: object) -> None:
    """A rule file is written by anybody."""
    assert belief_in(said) == Belief()


def test_a_number_beyond_reason_is_brought_back() -> None:
    """Nothing is certain."""
    assert belief_in({"true": 7}).true < 1
    assert belief_in({"true": -1}).true > 0


def test_trials_take_each_class_in_turn() -> None:
    """The largest first, and each before the second of any."""
    urls = [f"http://a.test/c/{n}?x={n:08x}f&sort=price" for n in range(20)]
    urls += [f"http://a.test/c/{n}?x={n:08x}f&sort=name" for n in range(5)] + ["http://a.test/about?x=1"]
    samples = samples_from(pa.array(urls), pa.nulls(len(urls), pa.int64()), [RULE])
    trials = list(samples.trials(RULE, 4))
    assert [trial.of for trial in trials[:3]] == [class_of(url) for url in (urls[0], urls[20], urls[25])]
    assert {trial.classes for trial in trials} == {3}
    assert len(trials) == 4


def test_each_removed_value_comes_before_any_comes_twice() -> None:
    """A default value, however frequent, says nothing of the other ones."""
    urls = [f"http://a.test/c/{n}?x=any" for n in range(30)] + [f"http://a.test/c/{n}?x=red" for n in (3, 5)]
    samples = samples_from(pa.array(urls), pa.nulls(len(urls), pa.int64()), [RULE])
    trials = list(samples.trials(RULE, 6))
    values = [removed_by(trial.url, trial.target) for trial in trials]
    assert sorted(values[:2]) == sorted(values[2:4]) == [("x=any",), ("x=red",)]
    assert all(trial.is_choice for trial in trials)
    ids = pa.array([f"http://a.test/c/{n}?x={n:08x}" for n in range(30)])
    many = samples_from(ids, pa.nulls(len(ids), pa.int64()), [RULE])
    assert not any(trial.is_choice for trial in many.trials(RULE, 6))


def test_what_the_log_contradicts_in_other_forms_is_tried_first() -> None:
    """The sizes of URLs that another rule makes equal count too: a log seldom has both URLs of a pair."""
    sid = undust.Rule.parse(
        "rewrite {s}://{h}/{p**}?sid={**}&{rest**} -> {s}://{h}/{p}?{rest}", site="a.test"
    )
    sizes = {f"http://a.test/c/{n}?sid=f{n}": 1000 + 100 * n for n in range(30)}
    sizes |= {f"http://a.test/c/{n}?x={n:08x}": 1000 + 100 * n + 5000 * (n == 17) for n in range(30)}
    urls = pa.array(sorted(sizes))
    plain = samples_from(urls, pa.nulls(len(urls), pa.int64()), [RULE, sid])
    seen = replace(plain, sizes=sizes)
    first = next(seen.trials(RULE, 1))
    assert first.url == "http://a.test/c/17?x=00000011"
    alone = replace(seen, rules=(RULE,))
    assert [trial.url for trial in alone.trials(RULE, 3)] == [trial.url for trial in plain.trials(RULE, 3)]


ANSWERS = st.sampled_from(["same", "different", "unknown"])


@given(right=st.integers(0, 60), wrong=st.integers(0, 1), said=st.lists(ANSWERS, max_size=2 * MOST_FURTHER))
def test_asking_further_refutes_and_never_confirms(right: int, wrong: int, said: list[Answer]) -> None:
    """Two answers against a rule and a twentieth of all; what agrees is not counted for the rule."""
    before = Sampled(Candidate((RULE,), 0, "pairs"), "undecided", right, wrong, 0)
    asked: list[Answer] = []

    def judged(*_: str) -> Answer:
        asked.append(said[len(asked)])
        return asked[-1]

    pairs = [(f"http://a.test/{n}?x", f"http://a.test/{n}") for n in range(len(said))]
    after = refute_further(before, pairs, judged, Sampling())
    against = wrong + asked.count("different")
    decided = right + against + asked.count("same")
    assert after.found == ("refuted" if against >= 2 and against >= 0.05 * decided else "undecided")
    assert after.found == "refuted" or (after.positive, after.negative) == (right, against)
    assert len(asked) <= MOST_FURTHER
