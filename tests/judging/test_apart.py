"""Rules that were proved together are safe without each other: by a condition, or by `needs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from undust.judging import Site
from undust.judging.checked import safe_apart
from undust.judging.effect import lost_among
from undust.rules import Rule, program_of
from undust.rules.language import condition_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def rule(text: str) -> Rule:
    """A rule of the site."""
    return Rule.parse(text, site="a.test")


DROP = rule("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}")
SORT = rule("rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}")
UTM = rule("rewrite {s}://{h}/{p**}?{**:utm_*}&{rest**} → {s}://{h}/{p}?{rest}")
KEEP = rule("keep {s}://{h}/{p**}?do=edit&{rest**}")
CLOSED = rule("keep {s}://{h}/p/{n}?do=edit&sid={v}")
MOVE = rule("rewrite {s}://{h}/?q={a}&{rest**} → {s}://{h}/{a}?{rest}")
FORGET = rule("rewrite {s}://{h}/{p**}?q={**}&{rest**} → {s}://{h}/{p}?{rest}")


def shop() -> dict[str, str]:
    """Articles that a session id does not change, and their forms that it does; campaigns on articles."""
    pages = {f"http://a.test/p/{n}{form}": f"p{n}" for n in range(30) for form in ("", f"?sid=s{n}")}
    pages |= {f"http://a.test/p/{n}?utm_source=x": f"p{n}" for n in range(30)}
    return pages | {f"http://a.test/p/{n}?do=edit&sid={sid}": f"e{n}-{sid}" for n in range(9) for sid in "ab"}


def blog() -> dict[str, str]:
    """Entries under `/?q=7` and `/7`, where a search that led there is shown as nothing."""
    pages = {url: f"e{n}" for n in range(30) for url in (f"http://a.test/?q={n}", f"http://a.test/{n}")}
    return pages | {f"http://a.test/{n}?q=cup": f"e{n}" for n in range(30)} | {"http://a.test/": "front"}


def site_of(pages: Mapping[str, str]) -> Site:
    """A site whose URLs show pages with these contents."""
    table = pa.table({"url": list(pages), "digest": list(pages.values())})
    return Site.of(undust.find_duplicates(table).sites[0])


def lost(site: Site, rules: Sequence[Rule]) -> int:
    """How many pages rules lose, needs honoured."""
    keys = pa.array(program_of(rules).batch(site.urls, keys=True)).dictionary_encode().indices.to_numpy()
    return len(lost_among(site, pa.array(range(len(keys))).to_numpy(), keys.astype("int64"))[0])


def parts(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Every part of some rules."""
    return [
        [each for place, each in enumerate(rules) if number >> place & 1] for number in range(2 ** len(rules))
    ]


@pytest.mark.parametrize(
    ("pages", "rules"),
    [
        (shop(), (KEEP, DROP, UTM, SORT)),
        (shop(), (CLOSED, DROP, UTM, SORT)),
        (blog(), (MOVE, FORGET, SORT)),
    ],
)
def test_every_part_is_as_safe_as_the_whole(pages: Mapping[str, str], rules: Sequence[Rule]) -> None:
    """The whole loses nothing; what was proved loses pages in parts, and what comes out does not."""
    site = site_of(pages)
    apart = safe_apart(site, rules)
    assert lost(site, rules) == lost(site, apart) == 0
    assert max(lost(site, part) for part in parts(rules)) > 0
    assert max(lost(site, part) for part in parts(apart)) == 0


def test_what_is_kept_is_a_condition_of_the_rules_that_could_change_it() -> None:
    """Also of one that changed no such URL of the site: a campaign may be added to a form too."""
    kept, *others = safe_apart(site_of(shop()), (KEEP, DROP, UTM))
    assert kept == KEEP
    assert [each.unless for each in others] == [("?do=edit",), ("?do=edit",)]
    assert [each.needs for each in others] == [(), ()]


def test_a_condition_changes_nothing_while_the_rule_that_keeps_is_there() -> None:
    """Its rules do to every URL what they did."""
    site, rules = site_of(shop()), (KEEP, DROP, UTM)
    before, after = (
        pa.array(program_of(some).batch(site.urls, keys=True)) for some in (rules, safe_apart(site, rules))
    )
    assert before.equals(after)


def test_what_no_condition_can_say_is_needed() -> None:
    """A rule that keeps URLs of a closed query, and a rule that takes URLs away, are named."""
    kept, drop, utm = safe_apart(site_of(shop()), (CLOSED, DROP, UTM))
    assert (drop.needs, drop.unless) == ((kept.id,), ())
    assert utm == UTM
    move, forget = safe_apart(site_of(blog()), (MOVE, FORGET))
    assert forget.needs == (move.id,)
    assert move == MOVE


def test_rules_that_people_know_keep_their_text() -> None:
    """They need the rule that keeps, instead of having a condition."""
    drop = safe_apart(site_of(shop()), (KEEP, DROP), {DROP.id})[1]
    assert (drop.id, drop.needs) == (DROP.id, (KEEP.id,))


def test_rules_that_are_safe_alone_stay_as_they_are() -> None:
    """So does a keep that nothing would harm, a rule before it, and one that is off."""
    safe = {url: page for url, page in shop().items() if "edit" not in url}
    off = DROP.with_status("disabled")
    assert safe_apart(site_of(safe), (KEEP, DROP, UTM)) == (KEEP, DROP, UTM)
    assert safe_apart(site_of(shop()), (UTM, KEEP, off)) == (UTM, KEEP, off)
    assert safe_apart(site_of(shop()), (UTM, KEEP, DROP))[0] == UTM
    assert safe_apart(site_of(shop()), ()) == ()


def test_one_lost_page_is_no_need() -> None:
    """The input may be wrong of it, and the rule would be out of effect wherever the other one is off."""
    pages = {url: page for url, page in blog().items() if url != "http://a.test/"}
    few = {url: page for url, page in pages.items() if not url.startswith("http://a.test/?q=")}
    few |= {"http://a.test/?q=1": "e1", "http://a.test/?q=2": "e2"}
    assert safe_apart(site_of(few), (MOVE, FORGET))[1].needs == ()
    assert safe_apart(site_of(pages), (MOVE, FORGET))[1].needs == (MOVE.id,)


def test_the_order_of_the_rows_does_not_matter() -> None:
    """The same pages give the same rules."""
    pages = shop()
    turned = dict(reversed(pages.items()))
    rules = (CLOSED, KEEP, DROP, UTM)
    assert safe_apart(site_of(pages), rules) == safe_apart(site_of(turned), rules)


@pytest.mark.parametrize(
    ("keep", "condition"),
    [
        ("keep {s}://{h}/{p**}?do=edit&{rest**}", "?do=edit"),
        ("keep {s}://{h}/{p**}?{rest**} when /a/{**}", "/a/{**}"),
        ("keep {s}://{h}/wiki/{x}?do=edit&rev={**}&{rest**}", "/wiki/{x}?do=edit&rev={**}"),
        ("keep {s}://m.a.test/{p**}?{rest**}", "{s}://m.a.test/{p**}"),
        ("keep {s}://{h}/{p**}?do=edit", None),
        ("keep {s}://{h}/{p**}?{rest**}", None),
        ("keep {s}://{h}/{p**}?do=edit&{rest**} when /a", None),
        ("keep {s}://{h}/{p**}?do=edit&{rest**} unless /a", None),
        ("keep {s}://{h}/{p**}?{k**:a|b}&{rest**}", None),
    ],
)
def test_a_condition_matches_what_a_rule_keeps(keep: str, condition: str | None) -> None:
    """As far as a condition can say it."""
    assert condition_of(rule(keep)) == condition
    if condition is not None:
        assert rule(f"{DROP} unless {condition}").unless == (condition,)
