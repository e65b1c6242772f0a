"""Single learners as a whole job: nothing leaks, the order is the published one, other demands are free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from undust.errors import UndustError
from undust.jobs.learn import learn_with
from undust.judging.verdict import Candidate, Proposal, Verdict, VerdictLimits
from undust.learning.single_methods import Job, MethodOutcome, learn_sites
from undust.proposing import papers
from undust.proposing.papers import Learner

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters

SITES = ("a.test", "b.test")
DROP = "rewrite {s}://{h}/{p**}?{**:NAME}&{rest**} → {s}://{h}/{p}?{rest}"


@dataclass(frozen=True)
class Names:
    """The options of a learner that drops parameters."""

    names: str = "page sid"


SHOWN: list[set[str]] = []


def drops(site: SiteClusters, options: Names) -> Proposal:
    """Propose to drop each parameter, whatever it does."""
    SHOWN.append(set(site.urls.to_pylist()))
    rules = [
        replace(undust.Rule.parse(DROP.replace("NAME", name), site=site.site), learned_by="drops")
        for name in options.names.split()
    ]
    return Proposal(tuple(Candidate((rule,), 1, "urls") for rule in rules))


@pytest.fixture(autouse=True)
def _with_a_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    SHOWN.clear()
    monkeypatch.setattr(papers, "LEARNERS", (Learner("drops", drops, Names),))


def seen() -> pa.Table:
    """Two sites where sessions do not matter and pages of lists do."""
    rows = [
        (f"http://{site}/{number}{form}", f"{number}{form if 'page' in form else ''}")
        for site in SITES
        for number in range(40)
        for form in ("", f"?sid={number}", "?page=1", "?page=2")
    ]
    return pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})


def test_the_whole_job() -> None:
    """Each site gets the rule that holds, with its evidence; the other one has a reason."""
    found = learn_with(seen(), ["drops"])
    assert [(rule.site, "sid" in rule.source) for rule in found.rules] == [(site, True) for site in SITES]
    assert all(rule.saves and rule.fpr == 0 and rule.learned_by == "drops" for rule in found.rules)
    assert (found.candidates, len(found.accepted)) == (4, 2)
    assert {verdict.reason for verdict in found.verdicts if not verdict.accepted} == {
        "it brings no two held-out URLs of one page together"
    }
    canonical = found.rules.compile()
    assert canonical("http://a.test/new?page=3&sid=9") == "http://a.test/new?page=3"


def test_stages_give_what_the_whole_gives() -> None:
    """Split, propose and prove by hand, and the verdicts are the same."""
    duplicates = undust.find_duplicates(seen())
    training, held_out = undust.split(duplicates, 0.4, seed=3)
    verdicts = undust.prove(undust.propose(training), held_out)
    assert verdicts == learn_sites(duplicates, Job(("drops",), held_out=0.4, seed=3, alone=True)).verdicts


def test_learners_see_no_cluster_that_is_held_out() -> None:
    """What a learner was shown and what its candidates were proved on share no page."""
    learn_with(seen(), ["drops"], seed=1)
    first = list(SHOWN)
    page_of = dict(zip(*(seen()[name].to_pylist() for name in ("url", "cluster")), strict=True))
    for site, shown in zip(SITES, first, strict=True):
        hidden = {url for url in page_of if f"//{site}/" in url} - shown
        assert hidden
        assert not {page_of[url] for url in shown} & {page_of[url] for url in hidden}
    learn_with(seen(), ["drops"], seed=2)
    assert SHOWN[2:] != first


def test_other_demands_need_no_other_measurement() -> None:
    """Judging again by other demands gives what measuring with them gives."""
    found = learn_with(seen(), ["drops"])
    strict = found.under(VerdictLimits(min_support=1000))
    assert strict.verdicts == learn_with(seen(), ["drops"], min_support=1000).verdicts
    assert (len(strict.rules), strict.candidates) == (0, 4)


def test_options_and_names() -> None:
    """Options reach their learner; a learner that is not there is named with those that are."""
    found = learn_with(seen(), ["drops"], options={"drops.names": "page"})
    assert (found.candidates, len(found.rules)) == (2, 0)
    with pytest.raises(UndustError, match="there is no learner 'drop'; there are drops"):
        learn_with(seen(), ["drop"])


@pytest.mark.parametrize(
    ("method", "expected"),
    [("substring", [0, 1, 2]), ("rewrite", [2, 1, 0]), ("tree", [0, 1, 2]), ("alignment", [1, 0, 2])],
)
def test_rules_stand_in_the_published_order(method: str, expected: list[int]) -> None:
    """As proposed, the most specific first, or the highest support first."""
    texts = (
        "rewrite {s}://{h}/{a}/{*} → {s}://{h}/{a}",
        "rewrite {s}://{h}/x/{*} → {s}://{h}/x",
        "rewrite http://{h}/x/{*} → http://{h}/x",
    )
    rules = [replace(undust.Rule.parse(text, site="a.test"), learned_by=method) for text in texts]
    verdicts = [
        Verdict(Candidate((rule,), 1, "pairs"), support=support, accepted=True)
        for rule, support in zip(rules, (5, 9, 1), strict=True)
    ]
    found = MethodOutcome(tuple(verdicts), {"a.test": {}}, (method,))
    assert [rule.source for rule in found.rules] == [rules[place].source for place in expected]


def test_of_substitutions_only_the_widest_and_one_direction_stay() -> None:
    """An opposite is not taken, nor what says the same with more context, wherever it stands."""
    texts = (
        'replace "/x/story?id=" → "/x/story_"',
        'replace "story?id=" → "story_"',
        'replace "story_" → "story?id="',
        'replace "/old" → "/new"',
        'replace "a/old" → "a/new"',
        'replace "b/new" → "b/old"',
        "rewrite {s}://{h}/x/{*} → {s}://{h}/x",
    )
    rules = [replace(undust.Rule.parse(text, site="a.test"), learned_by="substring") for text in texts]
    verdicts = [Verdict(Candidate((rule,), 1, "instances"), accepted=True) for rule in rules]
    found = MethodOutcome(tuple(verdicts), {"a.test": {}}, ("substring",))
    assert [str(rule) for rule in found.rules] == [str(rules[place]) for place in (1, 3, 6)]
