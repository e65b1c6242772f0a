"""The rules of one site, each tried until it is decided; a rule that fails is tried the other way round."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from undust.asking.proof import Beforehand, SiteProof
from undust.asking.rule_file import Known
from undust.asking.samples import samples_from
from undust.asking.sampling import Sampling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.asking.outcome import RuleOutcome
    from undust.asking.sampling import Answer, Judge

PLACE = undust.Rule.parse(
    "rewrite {s}://{h}/{p**}?place=west&{rest**} -> {s}://{h}/{p}?{rest}", site="a.test"
)
MOVED = undust.Rule.parse("rewrite {s}://{h}/old/{n:int} -> {s}://{h}/new/{n}", site="a.test")


INDEX = "/{**}/index.html"


def outcomes(
    rule: undust.Rule, urls: list[str], judge: Judge, apart: Iterable[tuple[str, str]] = ()
) -> list[RuleOutcome]:
    """What is found of one proposed rule, and of what is tried in its stead."""
    rule = replace(rule, status="proposed")
    samples = samples_from(pa.array(urls), pa.nulls(len(urls), pa.int64()), [rule])
    known = Known(judge)
    known.apart.update(dict.fromkeys(apart))
    proof = SiteProof(samples, known, Sampling(), "live", beforehand=Beforehand(classes=lambda *_: [INDEX]))
    return proof.outcomes([rule])[rule.id]


def test_a_parameter_is_never_added_to_every_url() -> None:
    """Where removing a value fails, adding it to all URLs is not tried: that rule would never end."""
    urls = [f"http://a.test/events?place=west&week={n}" for n in range(20)]
    urls += [f"http://a.test/day/{n}" for n in range(20)]
    found = outcomes(PLACE, urls, lambda _, right: "same" if "place" in right else "different")
    assert [each.verdict for each in found] == ["refuted"]


def test_the_other_direction_is_tried_where_one_fails() -> None:
    """If it ends, and holds, it is a rule."""
    urls = [f"http://a.test/{name}/{n}" for name in ("old", "new") for n in range(20)]
    found = outcomes(MOVED, urls, lambda _, right: "same" if "/old/" in right else "different")
    assert [each.verdict for each in found] == ["refuted", "confirmed"]
    assert found[1].rule.source == "{s}://{h}/new/{n:int}"


def test_the_other_direction_is_not_tried_where_both_urls_show_a_page() -> None:
    """Two pages are merged by either of the directions."""
    urls = [f"http://a.test/{name}/{n}" for name in ("old", "new") for n in range(20)]
    apart = [(f"http://a.test/old/{n}", f"http://a.test/new/{n}") for n in range(1)]
    found = outcomes(MOVED, urls, lambda _, right: "same" if "/old/" in right else "different", apart)
    assert [each.verdict for each in found] == ["refuted"]


def test_two_pages_that_were_seen_apart_count_against_a_rule_that_merges_them() -> None:
    """Even if they are not among the URLs that it is tried on."""
    urls = [f"http://a.test/old/{n}" for n in range(60)]
    apart = ("http://a.test/old/99", "http://a.test/new/99")

    def judged(left: str, right: str) -> Answer:
        return "different" if (left, right) == apart else "same"

    (free,) = outcomes(MOVED, urls, judged)
    (bound,) = outcomes(MOVED, urls, judged, [apart])
    assert (free.verdict, free.negatives) == ("confirmed", 0)
    assert (bound.verdict, bound.negatives) == ("undecided", 1)


def without_index(left: str, _: str) -> Answer:
    """An index page shows another one without its ending."""
    return "different" if left.endswith("index.html") else "same"


ENDING = undust.Rule.parse("rewrite {s}://{h}/{p**}/{x}.html -> {s}://{h}/{p}/{x}", site="a.test")


def pages_with_index(count: int) -> list[str]:
    """Pages that end with `.html` in folders, of which some have an index."""
    pages = [f"http://a.test/{n}/{name}.html" for n in range(20) for name in ("one", "two")]
    return pages + [f"http://a.test/{n}/index.html" for n in range(count)]


def test_a_rule_that_fails_in_one_class_of_urls_holds_without_it() -> None:
    """The wide one is refuted, with what was asked inside the class."""
    wide, narrow = outcomes(ENDING, pages_with_index(12), without_index)
    assert (wide.verdict, wide.rule.status) == ("refuted", "disabled")
    assert wide.negatives >= 3
    assert f"{wide.negatives} of {wide.positives + wide.negatives} URLs show another page" in wide.reason
    assert (narrow.verdict, narrow.rule.status, narrow.rule.unless) == ("confirmed", "active", (INDEX,))
    assert narrow.negatives == 0


@pytest.mark.parametrize("wrong", [1, 2])
def test_what_is_wrong_once_or_twice_is_no_class(wrong: int) -> None:
    """It may be wrong anywhere: nothing is confirmed."""
    found = outcomes(ENDING, pages_with_index(wrong), without_index)
    assert "confirmed" not in {each.verdict for each in found}


def test_a_class_in_which_a_rule_is_right_somewhere_is_not_left_out() -> None:
    """What fails there fails for another reason."""

    def judged(left: str, _: str) -> Answer:
        return "different" if left.endswith("index.html") and "/1" in left else "same"

    found = outcomes(ENDING, pages_with_index(12), judged)
    assert "confirmed" not in {each.verdict for each in found}


MEMBER = undust.Rule.parse(
    "rewrite {s}://{h}/member?u={*:int}&{rest**} -> {s}://{h}/member?u=1&{rest}", site="a.test"
)
PAGED = undust.Rule.parse(
    "rewrite {s}://{h}/thread?page={*:int}&{rest**} -> {s}://{h}/thread?{rest}", site="a.test"
)
BOARDS = [f"http://a.test/board?f={n}" for n in range(1, 9)]


def test_a_rule_of_few_urls_is_asked_about_with_numbers_that_were_seen_elsewhere() -> None:
    """Two members show the form of the first one; others that nobody linked do not."""
    asked: list[str] = []

    def judged(left: str, _: str) -> Answer:
        asked.append(left)
        return "same" if left.endswith(("u=2", "u=5")) else "different"

    urls = [*BOARDS, "http://a.test/member?u=2", "http://a.test/member?u=5"]
    (found,) = outcomes(MEMBER, urls, judged)
    assert (found.verdict, found.negatives) == ("refuted", 2)
    assert set(asked) - set(urls) <= {f"http://a.test/member?u={n}" for n in range(1, 9)}


def test_numbers_that_nobody_used_confirm_nothing() -> None:
    """Answers for a rule are not counted there, however many they are."""
    urls = [*BOARDS, "http://a.test/member?u=2", "http://a.test/member?u=5"]
    (found,) = outcomes(MEMBER, urls, lambda *_: "same")
    assert (found.verdict, found.positives, found.rule.status) == ("undecided", 2, "proposed")


def test_beside_a_url_that_contradicts_a_rule_its_other_numbers_are_asked() -> None:
    """Most threads have one page; the one that has more has all the answers against the rule."""
    urls = [f"http://a.test/thread?id={n}&page={page}" for n in range(60) for page in (1, 2)]
    urls += [f"http://a.test/thread?id=61&page={page}" for page in (2, 3)]
    asked: list[str] = []

    def judged(left: str, _: str) -> Answer:
        asked.append(left)
        return "different" if "id=61&" in left else "same"

    apart = [("http://a.test/thread?id=61&page=3", "http://a.test/thread?id=61")]
    (found,) = outcomes(PAGED, urls, judged, apart)
    assert (found.verdict, found.negatives) == ("refuted", 2)
    assert asked[-1] == "http://a.test/thread?id=61&page=2"


def test_a_rule_that_removes_no_number_is_not_asked_about_with_made_urls() -> None:
    """A word may name a visitor, and nobody asks for what another one sees."""
    urls = [f"http://a.test/{n}?place=west" for n in range(2)] + ["http://a.test/9?place=9f86d081884c"]
    asked: list[str] = []

    def judged(left: str, _: str) -> Answer:
        asked.append(left)
        return "same"

    outcomes(PLACE, urls, judged)
    assert set(asked) <= set(urls)
