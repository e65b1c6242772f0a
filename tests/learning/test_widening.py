"""Several narrow rules that are one rule: what is proposed, and what becomes of it on a site."""

from __future__ import annotations

import pyarrow as pa
import pytest

import undust
from tests.learning.test_trust import SITE, table_of
from undust.learning import Requirements
from undust.learning.loop import Learning
from undust.learning.widening import MANY, wider
from undust.rules import Rule

KINDS = ("books", "games", "music", "tools", "films", "plants")


def rewrite(source: str, target: str, **said: tuple[str, ...]) -> Rule:
    """A rule of the site, of which only path and query are told."""
    return Rule(SITE, "rewrite", f"{{s}}://{{h}}/{source}", f"{{s}}://{{h}}/{target}", **said)  # type: ignore[arg-type]


def proposed(rules: list[Rule]) -> list[tuple[str, tuple[int, ...]]]:
    """What may stand in place of which, without what all rules share."""
    return [
        (str(found.rule).removeprefix("rewrite ").replace("{s}://{h}/", ""), found.places)
        for found in wider(rules)
    ]


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        (
            [(f"c-{kind}/p-{{a}}", "p-{a}") for kind in KINDS],
            ["c-{*}/p-{a} → p-{a}", "c-{*:books|films|games|music|plants|tools}/p-{a} → p-{a}"],
        ),
        # A part with few values is a part of the site's scheme: it is not left open.
        ([(f"{kind}/{{a}}", "{a}") for kind in KINDS[:3]], ["{*:books|games|music}/{a} → {a}"]),
        # Written again, it cannot send two of them to one URL.
        (
            [(f"{kind}/show/{{a}}", f"{kind}/{{a}}") for kind in KINDS[:3]],
            ["{w}/show/{a} → {w}/{a}", "{w:books|games|music}/show/{a} → {w}/{a}"],
        ),
        (
            [(f"{kind.title()}:{{a}}", f"{kind}:{{a}}") for kind in KINDS[:3]],
            ["{w}:{a} → {w:lower}:{a}", "{w:Books|Games|Music}:{a} → {w:lower}:{a}"],
        ),
        (
            [(f"v?rev={n}&{{rest**}}", "v?{rest}") for n in range(MANY)],
            ["v?rev={*:int}&{rest**} → v?{rest}", "v?rev={*:0|1|2|3|4}&{rest**} → v?{rest}"],
        ),
    ],
)
def test_the_word_that_differs_is_opened_or_listed(sides: list[tuple[str, str]], expected: list[str]) -> None:
    """Open first, then exactly the words that were proved."""
    found = proposed([rewrite(*each) for each in sides])
    assert found == [(text, tuple(range(len(sides)))) for text in expected]


@pytest.mark.parametrize(
    "rules",
    [
        [rewrite(f"{kind}/{{a}}", "{a}") for kind in KINDS[:2]],  # two are no series
        [rewrite(f"v?{kind}={{**}}&{{rest**}}", "v?{rest}") for kind in KINDS],  # names are no values
        [rewrite(f"v?{kind}&{{rest**}}", "v?{rest}") for kind in KINDS],  # nor are those without one
        [rewrite(f"{kind}/{{a}}", f"{kind[0]}/{{a}}") for kind in KINDS],  # to different places
        [rewrite(f"{kind}/{{a}}", "{a}", when=(f"?x={kind}",)) for kind in KINDS],
        [Rule.parse(f'replace "/{kind}/" → "/"', site=SITE) for kind in KINDS],
        [
            Rule.parse(f"rewrite http://{kind}.{SITE}/{{p**}} → http://{SITE}/{{p}}", site=SITE)
            for kind in KINDS
        ],
    ],
)
def test_what_is_no_series_stays(rules: list[Rule]) -> None:
    """Nothing is made of rules that differ otherwise than in one word of path or value."""
    assert proposed(rules) == []


def shop(kinds: tuple[str, ...] = KINDS, exception: str | None = None) -> pa.Table:
    """Products under each of their categories and without; in one category other things are shown."""
    rows = [
        (f"http://{SITE}/{path}p-{n}", f"{n}{path if exception and exception in path else ''}")
        for n in range(40)
        for path in ("", *(f"c-{kind}/" for kind in kinds))
    ]
    return pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})


@pytest.mark.parametrize(
    ("exception", "open_to_all"), [(None, True), ("plants", False)], ids=["everywhere", "but in one"]
)
def test_narrow_rules_become_one(exception: str | None, *, open_to_all: bool) -> None:
    """One rule for six; where one category shows other pages, the rule names the other five."""
    rows = shop(exception=exception)
    site = undust.find_duplicates(rows).sites[0]
    learning = Learning(site, Requirements(rounds=0))
    kinds = [kind for kind in KINDS if kind != exception]
    for kind in kinds:
        learning.state.accept(rewrite(f"c-{kind}/p-{{a}}?{{rest**}}", "p-{a}?{rest}"))
    before = learning.state
    learning._widen()  # noqa: SLF001 -- the usual proposals would find the wide rule by themselves
    (rule,) = learning.state.rules
    assert (rule.source == "{s}://{h}/c-{*:word}/p-{a}?{rest**}") is open_to_all
    assert learning.state.lost() == 0
    assert len(learning.state.images) == len(before.images)
    (noted,) = learning.ledger.with_evidence([rule])
    assert noted.support and noted.saves and noted.examples  # noqa: PT018 -- whether there is any


def test_what_is_open_meets_words_that_no_rule_named() -> None:
    """A category without a rule of its own is covered by the wide one."""
    learning = Learning(undust.find_duplicates(shop()).sites[0], Requirements(rounds=0))
    for kind in KINDS[:MANY]:
        learning.state.accept(rewrite(f"c-{kind}/p-{{a}}?{{rest**}}", "p-{a}?{rest}"))
    left = len(learning.state.images)
    learning._widen()  # noqa: SLF001
    assert len(learning.state.images) == left - 40


def test_it_is_judged_where_the_narrow_rules_are_not_at_work() -> None:
    """What each forgotten name was seen to do is looked for among the URLs as they stand without them."""
    kinds = KINDS[:3]
    rows = [
        (f"http://{SITE}/{kind}/list?page={n}{tail}", f"{kind} {n}")
        for kind in kinds
        for n in range(30)
        for tail in ("", f"&ref=r{n}", f"&sid={n}x", f"&tag=t{n % 7}")
    ]
    found = undust.find_duplicates(table_of(rows)).sites[0]
    learning = Learning(found, Requirements(rounds=0))
    for kind in kinds:
        learning.state.accept(rewrite(f"{kind}/list?{{k**:page}}&{{**}}", f"{kind}/list?{{k}}"))
    learning._widen()  # noqa: SLF001
    (rule,) = learning.state.rules
    assert rule.source == "{s}://{h}/{w}/list?{k**:page}&{**}"
    assert len(learning.state.images) == len(kinds) * 30


def test_given_rules_are_left_alone() -> None:
    """What is deployed was not learned here, and is not rewritten."""
    given = [rewrite(f"c-{kind}/p-{{a}}?{{rest**}}", "p-{a}?{rest}") for kind in KINDS]
    learning = Learning(undust.find_duplicates(shop()).sites[0], Requirements(rounds=0), given)
    learning._widen()  # noqa: SLF001
    assert learning.state.rules == given


def test_learning_ends_with_one_rule() -> None:
    """Three values are too few to be forgotten from the start; the three rules are one all the same."""
    rules = list(undust.learn(shop(KINDS[:3])))
    assert [rule.source for rule in rules] == ["{s}://{h}/c-{*:books|games|music}/{a}?{rest**}"]
