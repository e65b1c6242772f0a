"""Pages that were set aside bound what rules lose."""

from __future__ import annotations

import pyarrow as pa
import pytest

from undust.measuring.judged import Labelled
from undust.measuring.splitting import CheckedPages, checked_pages
from undust.rules import Rule, RuleSet
from undust.statistics import upper_bound

DROP = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
FALSE = Rule.parse("rewrite {s}://{h}/list/{n}?{**} → {s}://{h}/list/{n}", site="a.test")


def shop() -> Labelled:
    """Articles with a session id, and lists of three pages each."""
    pages = {f"http://a.test/p/{n}{form}": f"p{n}" for n in range(40) for form in ("", f"?sid={n}")}
    pages |= {f"http://a.test/list/{n}?page={page}": f"l{n}-{page}" for n in range(10) for page in (1, 2, 3)}
    return Labelled("a.test", pa.array(list(pages), pa.large_string()), tuple(pages.values()), {})


def drawn(site: Labelled, *names: str) -> Labelled:
    """Some of the pages."""
    return site.only(pa.array([page in names for page in site.pages]).to_numpy(zero_copy_only=False))


def test_only_pages_set_aside_are_counted_and_against_all_others() -> None:
    """A page is lost under any other page of the site, whether that was set aside or not."""
    site = shop()
    aside = drawn(site, "p1", "p2", "l0-1", "l0-2", "l0-3", "l1-2")
    assert checked_pages(RuleSet([DROP]), [site], [aside]) == CheckedPages(6, 0, 0)
    found = checked_pages(RuleSet([DROP, FALSE]), [site], [aside])
    assert found == CheckedPages(6, 3, 2)
    assert checked_pages(RuleSet([DROP]), [site], []) == CheckedPages()


def test_pages_that_are_lost_together_count_as_one_mistake() -> None:
    """Twenty pages under one form say less about the next page than twenty mistakes apart from each other."""
    apart, together = CheckedPages(1000, 20, 20), CheckedPages(1000, 20, 1)
    assert apart.upper == upper_bound(20, 1000)
    assert together.upper > apart.upper


@pytest.mark.parametrize(("checked", "upper"), [(CheckedPages(), 1.0), (CheckedPages(3, 3, 1), 1.0)])
def test_without_pages_nothing_is_known(checked: CheckedPages, upper: float) -> None:
    """The bound is then of no use, and says so."""
    assert checked.upper == upper
