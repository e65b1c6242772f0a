"""What a rule forgets is of the kind it was seen to forget; names are not taken for each other lightly."""

from __future__ import annotations

from random import Random
from string import ascii_lowercase

import pyarrow as pa
import pytest

import undust
from tests.learning.test_trust import SITE, state_of, table_of
from undust.learning import Requirements
from undust.learning.failing_pages import conditions_of, exceptions
from undust.learning.loop import Learning
from undust.learning.reach import MANY, shortens_safely, tightened, wider, witnesses_of
from undust.learning.texts import renames
from undust.rules import Rule

DROP = "rewrite {s}://{h}/{*}/{a} → {s}://{h}/{a}"
KINDS = ("books", "games", "music", "tools", "films", "plants")


def shelves(folders: list[str], products: int = 30) -> list[tuple[str, str]]:
    """Products that stand on several shelves and on none."""
    return [
        (f"http://a.test/{folder}p-{number}", str(number))
        for number in range(products)
        for folder in ("", *(f"{name}/" for name in (folders * 2)[number % len(folders) :][:3]))
    ]


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["12", "7", "2024"], "int"),
        (["2024-01-31", "2023-11-02"], "date"),
        (["dead", "beef", "12"], "hex"),
        (["books", "films"], "word"),
        (["books", "old-films", "c_7"], "word"),
        (["books", "v1.2"], ""),  # no class has both
    ],
)
def test_the_narrowest_class_that_does_it_all(folders: list[str], expected: str) -> None:
    """It merges what the open rule merges."""
    state, rule = state_of(shelves(folders)), Rule.parse(DROP, site=SITE)
    found = tightened(rule, state)
    assert found.source == (rule.source.replace("{*}", f"{{*:{expected}}}") if expected else rule.source)
    assert state.effect(found).saved == state.effect(rule).saved > 0


def test_each_part_has_a_class_of_its_own() -> None:
    """Two of them, and a rule without any stays as it is."""
    rows = [
        (f"http://a.test/{'xyz'[number % 3]}/{number % 4}/p-{page}", str(page))
        for page in range(20)
        for number in range(5)
    ]
    state = state_of(rows)
    rule = Rule.parse("rewrite {s}://{h}/{*}/{*}/{a} → {s}://{h}/{a}", site=SITE)
    assert tightened(rule, state).source == "{s}://{h}/{*:word}/{*:int}/{a}"
    plain = Rule.parse("rewrite {s}://{h}/{p**}?x={**} → {s}://{h}/{p}", site=SITE)
    assert tightened(plain, state) is plain


def test_a_folder_of_another_kind_is_kept() -> None:
    """A program that stands where folders stood shows what it likes: nobody has seen it."""
    folders = ["books", "films", "old-films", "garden", "plants", "tools"]
    site = undust.learn(table_of(shelves(folders, 60))).compile()
    assert site("http://a.test/books/p-7") == site("http://a.test/kitchen/p-7") == "http://a.test/p-7"
    assert site("http://a.test/index.php/p-7") == "http://a.test/index.php/p-7"
    site = undust.learn(table_of(shelves([*folders, "index.php"], 60))).compile()
    assert site("http://a.test/index.php/p-7") == "http://a.test/p-7"


def manuals(front: str) -> list[tuple[str, str]]:
    """Two folders with the same pages, each with a front page."""
    pages = [
        (f"http://a.test/{folder}/ch/{n}", str(n)) for n in range(30) for folder in ("handbook", "guide")
    ]
    return [*pages, ("http://a.test/handbook", "front"), ("http://a.test/guide", front)]


def test_a_folder_itself_is_left_alone_unless_it_was_seen() -> None:
    """Its pages being those of another says nothing about its front page; if that one is too, it says so."""
    rule = Rule.parse("rewrite {s}://{h}/guide/{p**}?{r**} → {s}://{h}/handbook/{p}?{r}", site=SITE)
    unseen = state_of(manuals("front")[:-1])
    assert tightened(rule, unseen).source == "{s}://{h}/guide/{x}/{p**}?{r**}"
    assert unseen.effect(tightened(rule, unseen)).saved == unseen.effect(rule).saved > 0
    assert tightened(rule, state_of(manuals("front"))) is rule
    site = undust.learn(table_of(manuals("front")[:-1])).compile()
    assert site("http://a.test/guide/ch/99") == site("http://a.test/handbook/ch/99")
    assert site("http://a.test/guide") != site("http://a.test/handbook")


@pytest.mark.parametrize(
    "target",
    [
        *("/fr/{p:lower}?{r}", "/fr/?page={p}&{r}", "/{p}/{p}?{r}", "/fr?{r}", "/fr?page=/{p}&{r}"),
        "/de/{p}?{r}",  # the path stays: it says nothing about the folder
    ],
)
def test_what_is_read_is_written(target: str) -> None:
    """A rule that uses the rest of the path in another way stays as it is: nothing more is forgotten."""
    rows = [(f"http://a.test/{folder}/ch/{n}", "one") for n in range(30) for folder in ("fr", "de")]
    rule = Rule.parse(f"rewrite {{s}}://{{h}}/de/{{p**}}?{{r**}} → {{s}}://{{h}}{target}", site=SITE)
    assert tightened(rule, state_of(rows)) is rule


def products(lists: list[str], others: int = 40) -> list[tuple[str, str]]:
    """Products that are told by a number under a folder and one in it, lists of both, and other pages."""
    rows = [(f"http://a.test/{folder}?id={n}", str(n)) for n in range(20) for folder in ("sys", "sys/utils")]
    rows += [
        (f"http://a.test/{folder}", page) for folder, page in zip(("sys", "sys/utils"), lists, strict=True)
    ]
    return [*rows, *((f"http://a.test/about/{n}", f"about {n}") for n in range(others))]


def test_what_all_proofs_name_is_asked_for() -> None:
    """Products may be told by a number alone, and lists not; unless the lists were seen to be one, too."""
    rule = Rule.parse("rewrite {s}://{h}/sys/utils?{r**} → {s}://{h}/sys?{r}", site=SITE)
    rows = products(["all", "some"])
    apart = state_of([row for row in rows if row[0] != "http://a.test/sys/utils"])
    found = tightened(rule, apart)
    assert found.when == ("?id={**}",)
    assert apart.effect(found).saved == apart.effect(rule).saved == 20
    assert tightened(rule, state_of(products(["all", "all"]))) is rule
    site = undust.learn(table_of(products(["all", "some"]))).compile()
    assert site("http://a.test/sys/utils?id=99") == site("http://a.test/sys?id=99")
    assert site("http://a.test/sys/utils") != site("http://a.test/sys")


def test_what_most_urls_have_says_nothing() -> None:
    """Where every page is told by a number, the rule needs no word about it; nor where it names it itself."""
    rule = Rule.parse("rewrite {s}://{h}/sys/utils?{r**} → {s}://{h}/sys?{r}", site=SITE)
    assert tightened(rule, state_of(products(["all", "some"], others=0)[:-1])) is rule
    named = Rule.parse("rewrite {s}://{h}/sys/utils?id={a}&{r**} → {s}://{h}/sys?id={a}&{r}", site=SITE)
    assert tightened(named, state_of(products(["all", "some"])[:-1])) is named
    written = Rule.parse("rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}", site=SITE)
    swapped = [(f"http://a.test/{n}?{query}", str(n)) for n in range(20) for query in ("a=1&b=2", "b=2&a=1")]
    others = [(f"http://a.test/about/{n}", f"about {n}") for n in range(90)]
    assert tightened(written, state_of([*swapped, *others])) is written
    family = Rule.parse("rewrite {s}://{h}/{p**}?{**:utm_*}&{rest**} → {s}://{h}/{p}?{rest}", site=SITE)
    tracked = [(f"http://a.test/{n}{tail}", str(n)) for n in range(20) for tail in ("", "?utm_source=a")]
    assert tightened(family, state_of([*tracked, *others])) is family
    whole = Rule.parse("rewrite {s}://{h}/sys/utils?id={a} → {s}://{h}/sys?id={a}", site=SITE)
    assert tightened(whole, state_of(products(["all", "some"])[:-1])) is whole


def test_a_path_without_a_name_is_any_path() -> None:
    """Sessions are dropped from the front page too, whether or not it was seen."""
    rows = [(f"http://a.test/{n}{tail}", str(n)) for n in range(30) for tail in ("", f"?sid={n}")]
    rule = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{r**} → {s}://{h}/{p}?{r}", site=SITE)
    assert tightened(rule, state_of(rows)) is rule


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rewrite {s}://{h}/notes/{p**}?{r**} → {s}://{h}/tools/{p}?{r}", True),
        ("rewrite {s}://{h}/science?{r**} → {s}://{h}/system?{r}", True),
        ("rewrite {s}://{h}/science/physics?{r**} → {s}://{h}/science?{r}", True),  # one page's name
        ('replace "^http://a.test/notes/" → "^http://a.test/tools/"', True),
        ("rewrite {s}://{h}/manual/en/{p**} → {s}://{h}/manual/{p}", False),  # an idle folder
        ("rewrite {s}://{h}/{p**}?id={**}&{r**} → {s}://{h}/{p}?{r}", False),
        ("rewrite {s}://www.a.test/x/{p**} → {s}://a.test/x/{p}", False),
        ('replace "//" → "/"', False),
        ('replace "?x=1" → "?"', False),
        ('replace "^http://a.test/" → "^http://b.test/"', False),
        ("keep {s}://{h}/x/{p**}", False),
    ],
)
def test_what_is_a_new_name(text: str, expected: bool) -> None:  # noqa: FBT001
    """One for another, not one less; hosts have tests of their own."""
    assert renames(Rule.parse(text, site=SITE)) is expected


def test_one_name_for_another_takes_more_pages() -> None:
    """Two folders whose pages were alike so far need not be one; that a folder is idle is told sooner."""
    pages = Requirements().literal_support - 2

    def learned(*folders: str) -> undust.RuleSet:
        return undust.learn(
            table_of(
                (f"http://a.test/{folder}p{page}", str(page)) for page in range(pages) for folder in folders
            )
        )

    assert not [rule for rule in learned("notes/", "tools/") if renames(rule)]
    assert learned("notes/", "")
    pages = 40
    assert learned("notes/", "tools/")


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


@pytest.mark.parametrize(
    ("proved", "elsewhere"),
    [
        (("http://a.test/q/{n}", "http://a.test/q/{n}/all"), "http://a.test/album/{n}/all"),
        (("http://a.test/?id={n}", "http://a.test/index.php?id={n}"), "http://a.test/blog/index.php?id={n}"),
    ],
)
def test_a_last_segment_is_removed_where_it_was_seen_to_do_nothing(
    proved: tuple[str, str], elsewhere: str
) -> None:
    """What it does in a folder where no page was seen without it is not known."""
    rows = [(url.format(n=n), f"page {n}") for n in range(60) for url in proved]
    rows += [(elsewhere.format(n=n), f"other {n}") for n in range(100)]
    seen = pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})
    canonical = undust.learn(seen).compile()
    assert canonical(proved[1].format(n=99)) == proved[0].format(n=99)
    assert canonical.key(elsewhere.format(n=99)) == elsewhere.format(n=99)


def test_years_in_which_nothing_differs_say_nothing_of_others() -> None:
    """A rule is not kept out of the one year where a copy was older, and used in all others."""
    good, bad = ([f"http://a.test/{year}/{n:02}" for n in range(8)] for year in (2008, 2009))
    assert exceptions(good, bad) == ()
    assert not [condition for condition in conditions_of(good[0]) if condition.startswith("/2008")]
    words = [f"http://a.test/archive/{n:02}" for n in range(8)]
    assert exceptions(words, bad) == ("/{*:int}/{**}",)


@pytest.mark.parametrize(("pages", "is_learned"), [(9, False), (40, True)])
def test_a_part_of_a_name_is_removed_when_many_pages_show_it(pages: int, *, is_learned: bool) -> None:
    """A few people who are found by one of their two names do not show that all are."""
    own = Random(7)
    names = ["".join(own.sample(ascii_lowercase, 8)) for _ in range(2 * pages)]
    rows = [
        (f"http://a.test/wiki?title={written}", name)
        for name, other in zip(names[::2], names[1::2], strict=True)
        for written in (name, f"{name},_{other}")
    ]
    rows += [(f"http://a.test/wiki?title=List_of_{number}", str(number)) for number in range(40)]
    canonical = undust.learn(table_of(rows)).compile()
    assert (canonical("http://a.test/wiki?title=Tea,_Green") == "http://a.test/wiki?title=Tea") is is_learned


@pytest.mark.parametrize(
    ("sides", "is_safe"),
    [
        ("{s}://{h}/{p**}/{a}-{*:int} → {s}://{h}/{p}/{a}", False),
        ("{s}://{h}/{p**}?t={*}-{a}&{rest**} → {s}://{h}/{p}?t={a}&{rest}", False),
        ("{s}://{h}/{p**}/{a};sid={*} → {s}://{h}/{p}/{a}", True),  # a named value, and all of it
        ("{s}://{h}/{p**}?t={*}&{rest**} → {s}://{h}/{p}?{rest}", True),
        ("{s}://{h}/{p**}?t={a};wap&{rest**} → {s}://{h}/{p}?t={a}&{rest}", True),  # one text and no other
        ("{s}://{h}/{*}/{a} → {s}://{h}/{a}", True),
    ],
)
def test_what_removes_a_part_of_a_value(sides: str, *, is_safe: bool) -> None:
    """Seven pages are not enough for it; what removes all of a value meets other demands."""
    rule = Rule.parse(f"rewrite {sides}", site=SITE)
    assert shortens_safely(rule, 7, 0, 0.01) is is_safe


@pytest.mark.parametrize(("days", "witnesses", "is_safe"), [(1, 9, False), (2, 18, False), (9, 27, True)])
def test_a_page_with_many_texts_for_a_part_says_more_than_one_with_a_single_one(
    days: int, witnesses: int, *, is_safe: bool
) -> None:
    """Nine months, each shown under the dates of several of its days."""
    rows = [
        (f"http://a.test/month?date={month}{tail}", f"m{month}")
        for month in range(10, 19)
        for tail in ("", *(f"-{day}" for day in range(11, 11 + days)))
    ]
    rule = rewrite("month?date={a}-{*}", "month?date={a}")
    state = state_of(rows)
    effect = state.effect(rule)
    assert (witnesses_of(state, effect), effect.lost) == (witnesses, 0)
    assert shortens_safely(rule, witnesses, 0, 0.01) is is_safe


def test_the_number_of_a_page_is_a_class_and_a_year_is_none() -> None:
    """The one page that changes is left out; what changed in a year may change in the next."""
    assert "/events/3390/{**}" in conditions_of("http://a.test/events/3390/print")
    assert "/blog/2009/{**}" not in conditions_of("http://a.test/blog/2009/tea")
    assert "/{*:int}/07/{**}" not in conditions_of("http://a.test/2009/07/tea")
