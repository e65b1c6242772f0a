"""Phase 4 of DustBuster: figures 4 and 5, with a judge that may not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import substring as oracle
from tests.proposing.papers.labelled import labelled, proposed, site_of_rows
from undust.asking.sampling import (
    Answer,
    Judge,
    Sampling,
    judge_from,
    urls_of,
    validate,
    validate_rule,
)
from undust.judging.verdict import Candidate
from undust.rules import Rule
from undust.rules.reasoning.algebra import is_opposite, refines

if TYPE_CHECKING:
    from collections.abc import Iterable

URLS = pa.array([f"http://s.test/{i}/index.html" for i in range(300)], pa.large_string())


def candidate(source: str, target: str, support: int = 5) -> Candidate:
    """A substitution that somebody proposed."""
    return Candidate((Rule("s.test", "replace", source, target),), support, "instances")


def answering(answers: Iterable[Answer]) -> Judge:
    """A judge that says what it was told to say, then that it does not know."""
    rest = iter(answers)
    return lambda _left, _right: next(rest, "unknown")


DROP = candidate("/index.html$", "/$")
SAME: tuple[Answer, ...] = ("same",)
DIFFERENT: tuple[Answer, ...] = ("different",)


def test_five_counter_examples_refute() -> None:
    """G11: with N = 100 and epsilon = 0.05 the 5th negative ends it."""
    said: list[Answer] = [*(SAME * 90), *(DIFFERENT * 5), *(SAME * 50)]
    tried = validate_rule(DROP, URLS, answering(said))
    assert (tried.found, tried.positive, tried.negative) == ("refuted", 90, 5)


def test_ninety_five_examples_convince() -> None:
    """G11: the 95th positive ends it."""
    said: list[Answer] = [*(DIFFERENT * 4), *(SAME * 200)]
    tried = validate_rule(DROP, URLS, answering(said))
    assert (tried.found, tried.positive, tried.negative) == ("valid", 95, 4)


@given(
    st.lists(st.sampled_from(["same", "different", "unknown"]), max_size=120),
    st.integers(1, 100),
    st.sampled_from([0.05, 0.1, 0.5]),
)
def test_it_decides_as_the_figure_does(said: list[Answer], count: int, epsilon: float) -> None:
    """Wherever the figure comes to an end, this comes to the same; elsewhere it takes what there is."""
    tried = validate_rule(
        DROP, URLS, answering(said), Sampling(count, epsilon, attempts=max(1, len(said)), max_unknown=1)
    )
    expected = oracle.validate_rule(iter(said), count, epsilon)
    if expected is not None:
        assert (tried.found == "valid") is expected
    elif said.count("same") + said.count("different") < 3:
        assert tried.found == "undecided"


def test_three_answers_are_enough_where_urls_run_out() -> None:
    """Two are not; of few answers one that differs refutes."""
    found = {
        "valid": SAME * 3,
        "undecided": SAME * 2,
        "refuted": SAME * 2 + DIFFERENT,
    }
    for expected, said in found.items():
        assert validate_rule(DROP, URLS[: len(said)], answering(said)).found == expected


def test_what_nobody_knows_is_no_proof() -> None:
    """Targets that were never seen prove nothing, however many they are."""
    site = labelled({url.as_py(): url.as_py() for url in URLS})
    tried = validate_rule(DROP, urls_of(site), judge_from(site))
    assert (tried.found, tried.unknown) == ("undecided", 300)
    bounded = validate_rule(DROP, urls_of(site), judge_from(site), Sampling(attempts=40))
    assert bounded.asked == 40


def test_few_answers_among_many_unknown_are_no_proof() -> None:
    """Where most outcomes were never seen, a rule stays undecided, however well the others look."""
    said: list[Answer] = [*(SAME * 60), *(("unknown",) * 80), *(SAME * 60)]
    doubtful = validate_rule(DROP, URLS, answering(said[:150]))
    assert (doubtful.found, doubtful.positive) == ("undecided", 70)
    assert validate_rule(DROP, URLS, answering(said), Sampling(max_unknown=1)).found == "valid"
    assert validate_rule(DROP, URLS, answering(said)).found == "valid"


def test_a_crawl_is_the_judge() -> None:
    """One page, another page, and one that nobody saw."""
    site = labelled({"http://s.test/a": "1", "http://s.test/b": "1", "http://s.test/c": "2"})
    judge = judge_from(site)
    assert judge("http://s.test/a", "http://s.test/b") == "same"
    assert judge("http://s.test/a", "http://s.test/c") == "different"
    assert judge("http://s.test/a", "http://s.test/d") == "unknown"
    bare = judge_from(site_of_rows([{"url": "http://s.test/a"}, {"url": "http://s.test/b"}]))
    assert bare("http://s.test/a", "http://s.test/b") == "unknown"


def site_with(*forms: str, pages: int = 30, different: str = "") -> tuple[pa.Array, Judge]:
    """URLs and judge of a site whose pages have all these forms; one form may show something else."""
    rows = {form.format(i): f"{i}{form if form == different else ''}" for i in range(pages) for form in forms}
    site = labelled(rows)
    return urls_of(site), judge_from(site)


def test_the_shrinking_direction_comes_first() -> None:
    """Both directions hold; one is enough, and the other would only undo it."""
    urls, judge = site_with("http://s.test/{}/", "http://s.test/{}/index.html")
    done = validate([DROP, candidate("/$", "/index.html$")], urls, judge)
    assert [each.found for each in done] == ["valid", "redundant"]


def test_the_growing_direction_is_added_where_it_alone_holds() -> None:
    """A1: a server that knows `story?id=` alone refutes what shrinks the URL; what grows it is valid."""
    urls = pa.array(
        [f"http://s.test/story{mark}{i}" for i in range(40) for mark in ("_", "?id=")], pa.large_string()
    )

    def live(_left: str, right: str) -> Answer:
        return "different" if "story_" in right else "same"

    done = validate([candidate("story?id=", "story_"), candidate("story_", "story?id=")], urls, live)
    assert [each.found for each in done] == ["refuted", "valid"]


def test_refinements_of_a_valid_rule_are_not_tried() -> None:
    """Neither those behind it, which are not asked about, nor those before it (A8c)."""
    urls, judge = site_with("http://s.test/a{}/", "http://s.test/a{}/index.html")
    wide, narrow = candidate("index.html$", "$"), candidate("/index.html$", "/$")
    found = [
        [each.found for each in validate(order, urls, judge)] for order in ([wide, narrow], [narrow, wide])
    ]
    assert found == [["valid", "redundant"], ["redundant", "valid"]]
    assert validate([wide, narrow], urls, judge)[1].asked == 0


@pytest.mark.parametrize(
    ("narrow", "wide", "expected"),
    [
        ((".co.il/story?id=", ".co.il/story_"), ("story?id=", "story_"), True),
        (("story?id=", "story_"), ("?id=", "_"), True),
        (("http://www.cnn.com", "http://cnn.com"), ("www.cnn", "cnn"), True),
        (("http://www.cnn.com", "http://cnn.com"), ("http://www.", "http://"), True),
        (("http://www.cnn.com", "http://cnn.com"), ("http://www", "http://"), False),
        (("www.cnn", "cnn"), ("http://www.", "http://"), False),
        ((".co.il/story_", ".co.il/story?id="), (".il/story_", ".il/story.php3?id="), False),
        (("/index.html$", "$"), ("index.html$", "$"), False),
        (("/index.html$", "/$"), ("index.html$", "$"), True),
    ],
)
def test_refinement(narrow: tuple[str, str], wide: tuple[str, str], expected: bool) -> None:  # noqa: FBT001
    """G6, here and in the plain twin, whichever way round a pair is written."""
    for left, right in ((narrow, wide), (narrow[::-1], wide), (narrow, wide[::-1])):
        rules = [Rule("s.test", "replace", *sides) for sides in (left, right)]
        assert refines(*rules) is expected
    tokens = [(_tokens(pair[0]), _tokens(pair[1])) for pair in (narrow, wide)]
    assert oracle.refines(tokens[0], tokens[1]) is expected


def _tokens(side: str) -> oracle.Tokens:
    inner = oracle.tokens_of(side.removesuffix("$"))[1:-1]
    return (*inner, oracle.END) if side.endswith("$") else inner


def test_opposites() -> None:
    """A rule and what undoes it."""
    assert is_opposite(Rule("s.test", "replace", "a", "b"), Rule("s.test", "replace", "b", "a"))
    assert not is_opposite(Rule("s.test", "replace", "a", "b"), Rule("s.test", "replace", "a", "b"))


def test_learned_on_one_half_and_proved_on_the_other() -> None:
    """The phases together: what was proposed from some clusters is valid or refuted on the others."""
    pages = {f"http://s.test/d{i}x/{name}": str(i) for i in range(200) for name in ("", "index.html")}
    pages |= {f"http://s.test/e{i}/{name}": f"{name} {i}" for i in range(200) for name in ("a", "b")}
    training, held_out = labelled(pages).split(0.5)
    proposals = proposed(training, "substring").candidates
    done = validate(proposals, urls_of(held_out), judge_from(held_out))
    assert [str(each.candidate.rules[0]) for each in done if each.found == "valid"] == [
        'replace "/index.html$" → "/$"'
    ]


def test_the_seed_decides_the_sample() -> None:
    """Same seed, same sample; the order of URLs is that of the site."""
    urls, judge = site_with("http://s.test/{}/", "http://s.test/{}/index.html", pages=200)
    few = [Sampling(samples=10, attempts=10, seed=seed) for seed in (1, 1, 2)]
    asked: list[list[str]] = [[], [], []]
    for place, sampling in enumerate(few):

        def noting(left: str, right: str, place: int = place) -> Answer:
            asked[place].append(left)
            return judge(left, right)

        validate_rule(DROP, urls, noting, sampling)
    assert asked[0] == asked[1] != asked[2]
