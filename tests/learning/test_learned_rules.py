"""The combined learner as a whole: what it finds, what it leaves, and that nothing but the data decides."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import undust
from tests.learning.test_trust import table_of
from undust.errors import UndustError
from undust.learning import Requirements, learn_site, masked
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE = "examples/shop.jsonl.gz"


@pytest.fixture(scope="module")
def sample(repository: Path) -> pa.Table:
    """The observations of the sample."""
    return pa.table(undust.read(repository / SAMPLE))


def site(*, pages: int = 60, forms: Callable[[int], list[str]]) -> pa.Table:
    """A labelled site: each page with the URLs that `forms` gives."""
    rows = [(url, str(page)) for page in range(pages) for url in forms(page)]
    return pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})


def with_session(page: int) -> list[str]:
    """A page with and without a session id."""
    return [f"http://a.test/{page}", f"http://a.test/{page}?sid={page * 7919}"]


def learned(table: pa.Table, **requirements: Any) -> undust.RuleSet:  # noqa: ANN401 -- options
    """Return the rules of a table with one site."""
    found = undust.find_duplicates(table).sites[0]
    return undust.RuleSet(learn_site(found, Requirements(**requirements)).rules)


def test_session_ids_go_and_page_numbers_stay() -> None:
    """A parameter that does nothing is dropped; one that selects is not."""
    rules = learned(
        site(forms=lambda n: [f"http://a.test/list?page={n}", f"http://a.test/list?page={n}&sid={n * 7919}"])
    )
    canonical = rules.compile()
    assert canonical("http://a.test/list?page=3&sid=xyz") == "http://a.test/list?page=3"
    assert canonical("http://a.test/list?page=4") == "http://a.test/list?page=4"


@pytest.mark.parametrize(("seen", "other"), [("lang=en", "lang=de"), ("page=1", "page=2"), ("f=", "f=json")])
def test_a_value_alone_says_nothing_about_others(seen: str, other: str) -> None:
    """Whatever else a parameter may be, nobody has seen it."""
    rows = [(f"http://a.test/p/{n}{tail}", str(n)) for n in range(60) for tail in ("", f"?{seen}")]
    canonical = undust.learn(table_of(rows)).compile()
    assert canonical(f"http://a.test/p/99?{seen}") == "http://a.test/p/99"
    assert canonical(f"http://a.test/p/99?{other}") == f"http://a.test/p/99?{other}"


@pytest.mark.parametrize("form", ["{}", "{}&x=1"])
def test_no_rule_names_a_person(form: str) -> None:
    """Where every URL has a mail address in it, no form without one was seen; then they are left alone."""
    mails = ("joe@a.example", "ann@b.example", "sue@c.example")
    rows = [(f"http://a.test/p/{n}?to={form.format(mail)}", str(n)) for n in range(60) for mail in mails]
    rules = undust.learn(table_of(rows))
    assert not [str(rule) for rule in rules if "@" in str(rule) or "%40" in str(rule)]


def test_no_session_is_written_into_urls() -> None:
    """A value that looks like a visitor's stands for no other, however often it was seen."""
    ids = ("77de68daecd823babbb58edb1c8e14d7", "0e5dba7836e2a5a4760bd652bab68e51")
    rows = [(f"http://a.test/p/{n}?v={n % 5}&sid={each}", str(n)) for n in range(60) for each in ids]
    rules = undust.learn(table_of(rows))
    assert not [str(rule) for rule in rules if any(each in (rule.target or "") for each in ids)]


def test_the_session_of_a_whole_crawl_is_dropped_by_name() -> None:
    """A crawler keeps one session id on all pages: no rule has it, and that of another visitor goes too."""
    session = "77de68daecd823babbb58edb1c8e14d7"
    rows = [(f"http://a.test/p/{n}{tail}", str(n)) for n in range(60) for tail in ("", f"?sid={session}")]
    rules = undust.learn(table_of(rows))
    assert not [str(rule) for rule in rules if session in str(rule)]
    canonical = rules.compile()
    assert canonical("http://a.test/p/99?sid=0e5dba7836e2a5a4760bd652bab68e51") == "http://a.test/p/99"


def test_a_family_of_names_is_more_than_two() -> None:
    """That an order is by something and has a direction says nothing about the number of an order."""
    tails = ("", "?order_by=a&order_dir=up", "?order_by=b", "?order_dir=down", "?order_by=c&order_dir=x")
    tracked = (*tails, "?utm_source=a", "?utm_medium=b", "?utm_campaign=c", "?utm_source=d", "?utm_medium=e")
    rows = [
        (f"http://a.test/p/{n}{tail.replace('up', f'up{n}')}", str(n))
        for n in range(60)
        for tail in (*tracked, f"?utm_campaign={n}")
    ]
    canonical = undust.learn(table_of(rows)).compile()
    assert canonical("http://a.test/p/99?order_by=b&order_dir=down") == "http://a.test/p/99"
    assert canonical("http://a.test/p/99?order_id=77") == "http://a.test/p/99?order_id=77"
    assert canonical("http://a.test/p/99?utm_term=x") == "http://a.test/p/99"


def test_a_default_is_dropped_and_other_values_are_not() -> None:
    """`sort=date` is what one gets anyway; `sort=name` was never seen to be the same."""
    rules = learned(
        site(
            forms=lambda n: (
                [f"http://a.test/c/{n}", f"http://a.test/c/{n}?sort=date"]
                if n % 2
                else [f"http://a.test/c/{n - 1}?sort=name"]
            )
        )
    )
    canonical = rules.compile()
    assert canonical("http://a.test/c/5?sort=date") == "http://a.test/c/5"
    assert canonical("http://a.test/c/5?sort=name") == "http://a.test/c/5?sort=name"


def test_one_value_says_nothing_about_the_others() -> None:
    """`view=list` is seen to be idle; `view=grid` never meets another form, for it or against it."""
    rules = learned(
        site(
            forms=lambda n: (
                [f"http://a.test/c/{n}", f"http://a.test/c/{n}?view=list"]
                if n % 2
                else [f"http://a.test/c/{n}?view=grid"]
            )
        )
    )
    canonical = rules.compile()
    assert canonical("http://a.test/c/5?view=list") == "http://a.test/c/5"
    assert canonical("http://a.test/c/6?view=grid") == "http://a.test/c/6?view=grid"


def test_a_rule_that_fails_in_one_place_is_narrowed() -> None:
    """Printing is a no-op for articles, and shows something else for albums."""
    rules = learned(
        site(
            pages=120,
            forms=lambda n: (
                [f"http://a.test/article/{n}", f"http://a.test/article/{n}?print=1"]
                if n % 3
                else [f"http://a.test/album/{n // 6}" + ("?print=1" if n % 2 else "")]
            ),
        )
    )
    canonical = rules.compile()
    assert canonical("http://a.test/article/999?print=1") == "http://a.test/article/999"
    assert canonical("http://a.test/album/5?print=1") == "http://a.test/album/5?print=1"


def test_few_failures_that_lie_together_become_an_exception() -> None:
    """Case does not matter, except in one folder: too few of its pages to make the rule a bad one."""
    rows = [
        (url, f"page {n}") for n in range(500) for url in (f"http://a.test/Doc/{n}", f"http://a.test/doc/{n}")
    ]
    rows += [
        (url, url)
        for n in range(3)
        for url in (f"http://a.test/raw/{'xyz'[n]}", f"http://a.test/raw/{'XYZ'[n]}")
    ]
    rules = learned(pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]}))
    canonical = rules.compile()
    assert canonical("http://a.test/Doc/9999") == canonical("http://a.test/doc/9999")
    assert canonical("http://a.test/raw/X") != canonical("http://a.test/raw/x")


def test_mirrors_of_a_site_are_one() -> None:
    """A host label is learned like anything else."""
    rules = learned(site(forms=lambda n: [f"http://us.a.test/{n}", f"http://de.a.test/{n}"]))
    canonical = rules.compile()
    assert canonical("http://de.a.test/new") == canonical("http://us.a.test/new")


def test_few_pages_prove_nothing() -> None:
    """Three successes of three are no proof."""
    table = site(pages=3, forms=lambda n: [f"http://a.test/{n}", f"http://a.test/{n}?sid=1"])
    assert len(learned(table)) == 0


def test_a_volatile_class_is_kept_and_the_rules_stay_simple() -> None:
    """Edit forms differ at every fetch; elsewhere the session id and the order do nothing."""

    def forms(n: int) -> list[str]:
        base = f"http://a.test/wiki?id={n}"
        return [
            base,
            f"{base}&sid={n}",
            f"http://a.test/wiki?sid={n}&id={n}",
            f"http://www.a.test/wiki?id={n}",
        ]

    rows = [(url, f"page {n}") for n in range(200) for url in forms(n)]
    edits = [url.replace("/wiki?", "/wiki?do=edit&") for n in range(12) for url in forms(n)]
    rows += [(url, f"edit {place}") for place, url in enumerate(edits)]
    rules = learned(pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]}))
    assert any(rule.kind == "keep" for rule in rules)
    canonical = rules.compile()
    assert canonical("http://www.a.test/wiki?sid=9&id=7") == "http://a.test/wiki?id=7"
    assert canonical("http://a.test/wiki?do=edit&id=1") != canonical("http://a.test/wiki?do=edit&id=1&sid=1")


def test_the_sample_is_learned_without_a_loss(sample: pa.Table) -> None:
    """Every rule says what it showed on pages held out."""
    rules = undust.learn(sample)
    found = undust.evaluate(rules, sample)
    assert found.total.lost_unlike == 0
    assert found.total.removed > 0.9
    for rule in rules:
        assert rule.support is not None
        assert rule.saves is not None
        assert rule.fpr_upper is not None
        assert rule.examples
        assert rule.learned_by


def test_nothing_but_the_data_decides(sample: pa.Table) -> None:
    """Row order and repeated runs give the same bytes; another seed may give another set."""
    expected = undust.learn(sample).dumps()
    for seed in range(3):
        order = list(range(len(sample)))
        random.Random(seed).shuffle(order)
        assert undust.learn(sample.take(order)).dumps() == expected


def test_shuffled_labels_teach_nothing(sample: pa.Table) -> None:
    """Where URLs and pages have nothing to do with each other, there is no rule."""
    found = undust.find_duplicates(sample).sites[0]
    labels = [str(number) for number in found.cluster.tolist()]
    random.Random(1).shuffle(labels)
    table = pa.table({"url": found.urls.cast(pa.string()), "cluster": labels})
    assert len(undust.learn(table)) == 0


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"url": pa.array([], pa.string())}),
        pa.table({"url": ["http://a.test/"]}),
        pa.table({"url": [f"http://a.test/{n}" for n in range(50)]}),
        pa.table({"url": [f"http://a.test/{n}" for n in range(50)], "status": [404] * 50}),
        pa.table({"url": [f"http://a.test/{n}" for n in range(50)], "digest": ["same"] * 50}),
        pa.table({"url": ["not a url", "mailto:x@a.test"]}),
    ],
    ids=["nothing", "one URL", "no evidence", "all 404", "all one page", "no URLs"],
)
def test_where_there_is_nothing_to_learn_there_are_no_rules(table: pa.Table) -> None:
    """An empty set, and no traceback."""
    assert len(undust.learn(table)) == 0


def test_values_of_dropped_parameters_are_masked(sample: pa.Table) -> None:
    """Session ids and mail addresses stay out of examples unless a person asks for them."""
    sources = [source for rule in undust.learn(sample) for source, _ in rule.examples]
    shown = [source for rule in undust.learn(sample, keep_values=True) for source, _ in rule.examples]
    assert any("sid=***" in source for source in sources)
    assert not any("***" in source for source in shown)
    rule = Rule.parse("rewrite {s}://{h}/{p**}?{**:utm_*|m}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
    example = ("http://a.test/?utm_x=1&m=joe@a.test&id=5", "http://a.test/?id=5")
    (hidden,) = masked([Rule.from_json(rule.to_json() | {"examples": [example]})])
    assert hidden.examples == (("http://a.test/?utm_x=1&m=***1&id=5", "http://a.test/?id=5"),)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("rewrite {s}://{h}/{p**}?x={**}&{rest**} → {s}://{h}/{p}?{rest}", "x=***1&id=5"),
        ("rewrite {s}://{h}/?x={*}&{rest**} → {s}://{h}/?{rest}", "x=***1&id=5"),
        ("rewrite {s}://{h}/?x=7f{*:hex}&{rest**} → {s}://{h}/?{rest}", "x=***1&id=5"),
        ("rewrite {s}://{h}/?x={s2}&{rest**} → {s}://{h}/?s={s2}&{rest}", "x=7f3a90cc1b&id=5"),
    ],
)
def test_what_is_removed_need_be_less_random_to_be_masked(text: str, hidden: str) -> None:
    """Dropped whole, as a run, or as a part of the value; what is moved is the page's own."""
    rule = Rule.from_json(
        Rule.parse(text, site="a.test").to_json()
        | {"examples": [("http://a.test/?x=7f3a90cc1b&id=5", "http://a.test/?id=5")]}
    )
    assert masked([rule])[0].examples[0][0] == f"http://a.test/?{hidden}"


def test_what_another_rule_drops_is_masked_too() -> None:
    """The example of a rule about `www` may carry a session id, and that of another site may not."""
    table = site(
        forms=lambda n: [
            f"http://{host}a.test/p/{n}{more}"
            for host in ("", "www.")
            for more in ("", f"?sid=s3cret{n}", f"?ref=r{n}&sid=s3cret{n}x")
        ]
    )
    rules = undust.learn(table)
    assert any("***" in source for rule in rules for source, _ in rule.examples)
    assert b"s3cret" not in rules.dumps()
    assert b"s3cret" in undust.learn(table, keep_values=True).dumps()
    drop = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
    host = Rule.parse("rewrite {s}://www.b.test/{p**} → {s}://b.test/{p}", site="b.test")
    example = ("http://www.b.test/?sid=5", "http://b.test/?sid=5")
    other = Rule.from_json(host.to_json() | {"examples": [example]})
    assert masked([drop, other])[1].examples == (example,)


def test_single_learners_mask_values_too() -> None:
    """Privacy does not depend on who proposed a rule."""
    ids = [2_000_003, 3_000_017]
    table = site(pages=90, forms=lambda n: [f"http://a.test/{n}?sid={n * 7919 + some}" for some in ids])
    rules = undust.learn(table, methods=["substring"])
    sources = [source for rule in rules if "{*" in rule.source for source, _ in rule.examples]
    assert sources
    assert all("sid=***" in source for source in sources)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"max_fpr": -1}, "max_fpr is -1; give a number from 0 to 1, such as 0.01"),
        ({"max_fpr": 2}, "max_fpr is 2; give"),
        ({"max_fpr": float("nan")}, "max_fpr is nan; give"),
        ({"max_fpr": "0.1"}, "max_fpr is '0.1'; give"),
        ({"min_support": 0}, "min_support is 0; give a whole number from 1 on, or leave it out"),
        ({"min_support": 2.5}, "min_support is 2.5; give"),
        (
            {"methods": []},
            "no method is named; leave methods out, or name 'undust' alone",
        ),
        ({"methods": "guess"}, "there is no learner 'guess'"),
        ({"update": "rules.json"}, "update is 'rules.json' and no rules; load them first"),
    ],
)
def test_wrong_arguments_are_one_sentence(said: dict[str, Any], sentence: str) -> None:
    """What is wrong and what is allowed, before any work."""
    with pytest.raises(UndustError) as told:
        undust.learn(site(pages=2, forms=with_session), **said)
    assert str(told.value).startswith(sentence)
    if "methods" not in said and "update" not in said:
        with pytest.raises(UndustError):
            undust.learn(site(pages=2, forms=with_session), methods="tree", **said)
        with pytest.raises(UndustError):
            undust.compare(site(pages=2, forms=with_session), **said)


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        (
            "crawl.jsonl",
            "'crawl.jsonl' names a file and is not a table; give what it holds: undust.read('crawl",
        ),
        (Path("crawl.jsonl"), "'crawl.jsonl' names a file"),
        (None, "an object of the type 'NoneType' is not a table; give what undust.read gives"),
        ([{"url": "http://a.test/"}], "an object of the type 'list' is not a table"),
    ],
)
def test_what_is_no_table_is_one_sentence(seen: object, sentence: str) -> None:
    """A path above all, which every other verb takes."""
    for verb in (undust.learn, undust.find_duplicates):
        with pytest.raises(UndustError) as told:
            verb(seen)
        assert str(told.value).startswith(sentence)


def test_one_method_needs_no_list() -> None:
    """Its name says enough."""
    table = site(pages=30, forms=with_session)
    assert undust.learn(table, methods="undust") == undust.learn(table)
    assert undust.learn(table, methods="tree") == undust.learn(table, methods=["tree"])


def test_a_giant_site_is_learned_from_whole_pages() -> None:
    """The sample is drawn by page, so that duplicates stay together, and is told."""
    table = site(pages=400, forms=lambda n: [f"http://a.test/{n}", f"http://a.test/{n}?sid={n}"])
    found = learn_site(undust.find_duplicates(table).sites[0], Requirements(most_urls=200))
    assert 150 < found.sampled <= 200
    assert found.urls == found.sampled == 2 * found.pages
    assert undust.RuleSet(found.rules).compile()("http://a.test/zzz?sid=5") == "http://a.test/zzz"


def test_a_real_site_loses_nothing(needs_data: Callable[[str], Path]) -> None:
    """Learned on half of the pages of a real site, judged on the other half."""
    path = needs_data("mirrors/rpbihp.jsonl.gz")
    with gzip.open(path.with_name("rpbihp.labels.tsv.gz"), "rt") as lines:
        next(lines)
        pages = dict(line.rstrip("\n").split("\t") for line in lines)
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    unseen = {
        url: page
        for url, page in pages.items()
        if blake2b(f"rpbihp/{page}".encode(), digest_size=8).digest()[0] & 1
    }
    training = [row for row in rows if row["url"] not in unseen]
    names = sorted(
        {name for row in training for name in row} & {"url", "status", "size", "digest", "canonical"}
    )
    rules = undust.learn(pa.table({name: [row.get(name) for row in training] for name in names}))
    under = defaultdict(set)
    for url, key in zip(unseen, rules.compile().batch(list(unseen), keys=True).to_pylist(), strict=True):
        under[key].add(unseen[url])
    assert sum(len(some) - 1 for some in under.values()) == 0
    assert len(unseen) - len(under) > 0.8 * (len(unseen) - len(set(unseen.values())))


def test_what_is_refused_is_remembered_with_its_reason() -> None:
    """`page` selects, so dropping it is proposed, fails, and can be shown to whoever asks."""
    table = site(
        forms=lambda n: [f"http://a.test/l/{n % 9}?page={n}", f"http://a.test/l/{n % 9}?page={n}&s={n}"]
    )
    found = learn_site(undust.find_duplicates(table).sites[0], Requirements())
    refused = {one.rule.source: one for one in found.refused}
    dropping = refused["{s}://{h}/{p**}?page={**}&{rest**}"]
    assert dropping.lost > 0
    assert dropping.reason == "merged different pages"
    assert not {str(one.rule) for one in found.refused} & {str(rule) for rule in found.rules}
    assert sum(found.rejected.values()) >= len(found.refused)


def test_the_form_that_the_site_prefers_is_written() -> None:
    """Both directions save the same; rel=canonical says which form is the real one, though it is longer."""

    def crawl(preferred: str, other: str) -> pa.Table:
        rows = [
            {"url": form.format(n), "digest": f"page {n}", "canonical": preferred.format(n)}
            for n in range(60)
            for form in (preferred, other)
        ]
        return pa.Table.from_pylist(rows)

    article, printed = "http://a.test/magazine/article/{}", "http://a.test/p?id={}"
    for preferred, other in ((article, printed), (printed, article)):
        canonical = undust.learn(crawl(preferred, other)).compile()
        assert canonical(other.format(999)) == canonical(preferred.format(999)) == preferred.format(999)
