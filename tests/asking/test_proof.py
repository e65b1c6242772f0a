"""The rules of one site, each tried until it is decided; a rule that fails is tried the other way round."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from undust.asking.proof import SiteProof
from undust.asking.rule_file import Known
from undust.asking.samples import samples_from
from undust.asking.sampling import Sampling

if TYPE_CHECKING:
    from undust.asking.outcome import RuleOutcome
    from undust.asking.sampling import Judge

PLACE = undust.Rule.parse(
    "rewrite {s}://{h}/{p**}?place=west&{rest**} -> {s}://{h}/{p}?{rest}", site="a.test"
)
MOVED = undust.Rule.parse("rewrite {s}://{h}/old/{n:int} -> {s}://{h}/new/{n}", site="a.test")


def outcomes(rule: undust.Rule, urls: list[str], judge: Judge) -> list[RuleOutcome]:
    """What is found of one proposed rule, and of what is tried in its stead."""
    samples = samples_from(pa.array(urls), pa.nulls(len(urls), pa.int64()), [rule])
    proof = SiteProof(samples, Known(judge), Sampling(), "live")
    return proof.outcomes([replace(rule, status="proposed")])[rule.id]


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
