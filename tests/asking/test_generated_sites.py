"""All kinds of generated sites on loopback: true rules are confirmed, tempting false ones refuted.

The sites are small here, so that URLs run out before a hundred answers are there; `python -m bench.live`
does the same at full length.
"""

from __future__ import annotations

import pytest

from bench.proving import prove
from bench.sites import KINDS, site
from undust.rules.reasoning.algebra import reversed_rule

OFTEN = {"forum", "shop", "soft_404"}
"""The kinds that are tried at every run: pages that change, facets, redirects, notices, walls."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in OFTEN else pytest.mark.huge) for kind in KINDS]
)
def test_true_and_false_rules(kind: str) -> None:
    """At the published N = 100: no wrong verdict in either direction, none missing but for want of URLs."""
    found = prove(site(kind, urls=400, seed=1), samples=100)
    assert found.wrong == []
    assert found.done.fetches == found.requests
    decided = [each for each in found.done.outcomes if each.verdict != "undecided"]
    assert len(decided) > len(found.done.outcomes) / 2
    for each in found.done.outcomes:
        is_open = each.positives + each.negatives < 3 or "all lead to one page" in each.reason
        assert is_open or each.verdict != "undecided", each


def test_fewer_samples() -> None:
    """N = 40 decides every rule of a calendar, and fifty true rules would take at most 4,000 fetches."""
    found = prove(site("calendar", urls=2_000, seed=3), samples=40)
    assert (found.wrong, found.undecided) == ([], [])
    assert found.true_fetches * 50 <= 4_000 * len(found.true)


def test_true_rules_the_other_way_round() -> None:
    """Where both forms of a URL are shown, the opposite of a true rule is true, and so confirmed."""
    made = site("academic", urls=600, seed=1)
    forms = ("/people/", "/teaching/", "cs.academic")
    there = [rule for rule in made.rules if any(form in rule.source for form in forms)]
    back = [other for rule in there if (other := reversed_rule(rule))]
    assert len(back) == 3
    found = prove(made, 20, true=back, false=[])
    assert [each.verdict for each in found.done.outcomes] == ["confirmed"] * 3
