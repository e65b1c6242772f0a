"""Where rules lead, and which are for comparing only."""

from __future__ import annotations

import pyarrow as pa
import pytest

import undust
from undust.measuring.targets import with_targets
from undust.rules import Rule, RuleSet

SID = Rule("a.test", "rewrite", "{s}://{h}/{p**}?sid={**}&{rest**}", "{s}://{h}/{p}?{rest}")
LOWER = Rule("a.test", "rewrite", "{s}://{h}/{p**}?{rest**}", "{s}://{h}/{p:lower}?{rest}")


def led(rules: list[Rule], rows: list[dict[str, object]]) -> list[Rule]:
    """The rules with where they lead on a crawl."""
    names = ("url", "status", "digest", "canonical", "redirect")
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    (site,) = undust.find_duplicates(table)
    return list(with_targets(site, rules))


def page(path: str, digest: str, **more: object) -> dict[str, object]:
    """One fetched URL."""
    return {"url": f"http://a.test/{path}", "status": 200, "digest": digest, **more}


def visits(count: int, *, bare: int) -> list[dict[str, object]]:
    """Pages with two session ids each, some of them seen without one, too."""
    rows = [page(f"{n}?sid={n}{visit}", f"d{n}") for n in range(count) for visit in (1, 2)]
    return rows + [page(f"{n}", f"d{n}") for n in range(bare)]


def test_results_that_were_seen_may_be_fetched() -> None:
    """Their shares are kept with the rule."""
    (rule,) = led([SID], visits(20, bare=18))
    assert (rule.fetch, rule.targets) == (True, {"seen": 36, "redirected": 0, "unseen": 4})


def test_results_that_nobody_saw_are_for_comparing() -> None:
    """The key merges by the rule all the same."""
    (rule,) = led([SID], visits(20, bare=2))
    assert (rule.fetch, rule.targets) == (False, {"seen": 4, "redirected": 0, "unseen": 36})
    canonicalize = RuleSet([rule]).compile()
    assert canonicalize("http://a.test/x?sid=1") == "http://a.test/x?sid=1"
    assert canonicalize.key("http://a.test/x?sid=1") == "http://a.test/x"


@pytest.mark.parametrize("says", ["canonical", "redirect"])
def test_what_the_site_names_need_not_be_seen(says: str) -> None:
    """Its redirects and rel=canonical lead to URLs that work."""
    rows = visits(20, bare=0)
    for row in rows:
        row[says] = str(row["url"]).partition("?")[0]
        row["status"] = 301 if says == "redirect" else 200
    (rule,) = led([SID], rows)
    assert (rule.fetch, rule.targets) == (True, {"seen": 0, "redirected": 40, "unseen": 0})


def test_a_result_that_is_another_page_or_none_is_wrong() -> None:
    """Few of them are enough."""
    rows = visits(20, bare=19)
    other = [row | {"digest": "other"} if row["url"] == "http://a.test/7" else row for row in rows]
    gone = [row | {"status": 404, "digest": None} if row["url"] == "http://a.test/7" else row for row in rows]
    for changed in (other, gone):
        (rule,) = led([SID], changed)
        assert rule.fetch is False
        assert rule.targets is not None
        assert rule.targets["wrong"] == 2


def test_a_rule_is_not_blamed_for_another_one() -> None:
    """The one that leads astray is taken out, and the others are counted without it."""
    rows = [page(f"P{n}?sid={visit}", f"d{n}") for n in range(20) for visit in (1, 2)]
    rows += [page(f"P{n}", f"d{n}") for n in range(20)]
    sid, lower = led([SID, LOWER], rows)
    assert (sid.fetch, lower.fetch) == (True, False)
    assert sid.targets == {"seen": 40, "redirected": 0, "unseen": 0}


def test_what_the_site_prefers_stays() -> None:
    """A form that redirects lead to is not given up for one that happens to work."""
    slash = Rule("a.test", "rewrite", "{s}://{h}/{p**}/", "{s}://{h}/{p}")
    rows = [page(f"{n}/", f"d{n}") for n in range(20)]
    rows += [page(f"{n}", f"d{n}", canonical=f"http://a.test/{n}/") for n in range(20)]
    (rule,) = led([slash], rows)
    assert rule.fetch is False


def test_parameters_that_were_never_seen_there_count() -> None:
    """A form works with the parameters that it was seen with."""
    rule = Rule("a.test", "rewrite", "{s}://{h}/p/{id:int}?{rest**}", "{s}://{h}/show?id={id}&{rest}")
    rows = [row for n in range(40) for row in (page(f"p/{n}", f"d{n}"), page(f"show?id={n}", f"d{n}"))]
    assert led([rule], rows)[0].fetch is True
    rows += [page(f"p/{n}?color=red", f"d{n}") for n in range(8)]
    assert led([rule], rows)[0].fetch is False


def test_a_rule_that_keeps_has_no_results() -> None:
    """It stands on the way of URLs that other rules changed before."""
    keep = Rule("a.test", "keep", "{s}://{h}/{p**}")
    assert led([SID, keep], visits(20, bare=0))[1] == keep


def test_a_rule_that_acts_nowhere_stays_as_it_is() -> None:
    """Nothing was seen of it, so nothing is said."""
    off = Rule("a.test", "replace", "/never", "/", fetch=False)
    keep = Rule("a.test", "keep", "{s}://{h}/{p**}")
    assert led([off, keep], visits(3, bare=3)) == [off, keep]
