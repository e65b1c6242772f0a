"""DustBuster on the paper's own examples, and what each of its heuristics is good for."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import substring as oracle
from tests.proposing.papers.labelled import labelled, proposed, rules_of, site_of_rows
from undust.errors import UndustError
from undust.judging.verdict import Resources, options_from
from undust.proposing.papers import propose
from undust.proposing.papers.substring import Cues, SubstringOptions, cues_of, likely_pairs
from undust.proposing.papers.substring.replacements import TokenPieces
from undust.rules import RuleSet
from undust.urls.views import TokenView

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from undust.pages.clustering import SiteClusters

NOTHING_KNOWN = Cues(np.zeros((0, 0), np.int64), np.zeros((0, 1), np.uint32), 0)


def pairs(urls: Iterable[str], **options: Any) -> dict[tuple[str, str], int]:  # noqa: ANN401
    """Likely pairs and their support, before elimination, of URLs of which nothing is known."""
    view = TokenView.of(pa.array(sorted(urls), pa.large_string()), "words")
    found = likely_pairs(view, NOTHING_KNOWN, SubstringOptions(**{"min_support": 1, **options}))
    longer, shorter = (TokenPieces(view).written(places).texts for places in (found.longer, found.shorter))
    return dict(zip(zip(longer, shorter, strict=True), found.support.tolist(), strict=True))


def counted(site: SiteClusters, **options: Any) -> tuple[int, list[str]]:  # noqa: ANN401
    """How many likely pairs there are before elimination, and what is left of them after it."""
    nodes = np.flatnonzero(site.cluster_of_node >= 0)
    view = TokenView.of(site.node_urls.take(pa.array(nodes)), "words")
    found = likely_pairs(view, cues_of(site, nodes, "auto", 0.0), SubstringOptions(**options))
    left = ~found.is_redundant
    sides = (TokenPieces(view).written(places[left]).texts for places in (found.longer, found.shorter))
    return len(found), list(map(" ".join, zip(*sides, strict=True)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("a.a.a", True), ("/////", True), ("a.a", True), ("a.a.b", False), ("%/////", False)),
        *(("a", False), ("story?id=", False)),
    ],
)
def test_semiperiodic(text: str, expected: bool) -> None:  # noqa: FBT001
    """G2."""
    assert oracle.is_semiperiodic(oracle.tokens_of(text)[1:-1]) is expected


def test_an_envelope() -> None:
    """G3: what stands around `index`."""
    tokens = oracle.tokens_of("http://www.site.com/index.html")
    around = [rest for piece, *rest in oracle.envelopes_of(tokens, 35) if piece == ("index",)]
    assert [tuple(map(oracle.text_of, rest)) for rest in around] == [("^http://www.site.com/", ".html$")]
    assert len(tokens) == 15


def test_empty_and_semiperiodic_pieces_may_count_twice() -> None:
    """G4: shared envelopes are counted, not instances."""
    assert pairs(["http://a.a.a/", "http://a.a/"])["a.a", "a"] == 2
    assert pairs(["http://s.test/x///y", "http://s.test/x//y"])["/", ""] == 3


@settings(max_examples=25)
@given(st.sets(st.text("ab/.", max_size=6), min_size=2, max_size=6))
def test_a_support_is_the_number_of_instances(paths: set[str]) -> None:
    """G2, the theorem it is for: other pieces count exactly, empty and semiperiodic ones never too little."""
    urls = {oracle.tokens_of(f"http://s/{path}") for path in paths}
    found = pairs(map(oracle.text_of, (url[1:-1] for url in urls)), max_bucket=99, max_bucket_compared=99)
    assert found
    for (longer, shorter), support in found.items():
        alpha, beta = map(_tokens, (longer, shorter))
        instances = {
            (url, other)
            for url in urls
            for start in range(len(url) - len(alpha) + 1)
            if url[start : start + len(alpha)] == alpha
            and (other := url[:start] + beta + url[start + len(alpha) :]) in urls
        }
        is_exact = alpha and beta and not any(map(oracle.is_semiperiodic, (alpha, beta)))
        assert support == len(instances) if is_exact else support >= len(instances)


def _tokens(text: str) -> oracle.Tokens:
    inner = oracle.tokens_of(text.removeprefix("^").removesuffix("$"))[1:-1]
    return (oracle.START,) * text.startswith("^") + inner + (oracle.END,) * text.endswith("$")


def test_both_ends_together() -> None:
    """G5: a piece ends where the URL ends only together with its partner."""
    found = pairs(["http://www.site.com/index.html", "http://www.site.com/"])
    assert found["/index.html$", "/$"] == 1
    assert all(longer.endswith("$") == shorter.endswith("$") for longer, shorter in found)
    assert all(longer.startswith("^") == shorter.startswith("^") for longer, shorter in found)


def test_stories_by_number() -> None:
    """G7: nine pairs of support 4, of which only the one with all its context is left."""
    urls = {f"http://d/story{mark}{i}": str(i) for i in range(1, 5) for mark in ("?id=", "_")}
    site = labelled(urls)
    assert counted(site) == (9, ["^http://d/story?id= ^http://d/story_"])
    assert set(pairs(urls, min_support=4)) >= {("?id=", "_"), ("^http://d/story?id=", "^http://d/story_")}
    assert rules_of(proposed(site, "substring", tokens="words"))[0] == (
        'replace "^http://d/story?id=" → "^http://d/story_"'
    )


def test_candidates_tell_their_pages() -> None:
    """Of the support, the pages that show it; none where no page is known, though the support is the same."""
    urls = {f"http://s.test/story{mark}{i}": str(i // 2) for i in range(8) for mark in ("?id=", "_")}
    known = proposed(labelled(urls), "substring", parameters=False).candidates[0]
    assert (known.support, known.pages) == (8, 4)
    bare = proposed(site_of_rows({"url": url} for url in urls), "substring", parameters=False).candidates[0]
    assert (bare.support, bare.pages) == (8, 0)


def test_mirror_hosts() -> None:
    """G8."""
    site = labelled({f"http://{host}.php.net/{page}": page for host, page in product(("us", "de"), "abcd")})
    assert counted(site) == (36, ["^http://us.php.net/ ^http://de.php.net/"])


def test_index_pages() -> None:
    """G9."""
    urls = {f"http://s/d{i}/{name}": str(i) for i in range(4) for name in ("", "index.html")}
    assert counted(labelled(urls)) == (4, ["/index.html$ /$"])


NUMBERED = [f"http://s.test/pics/{kind}-{i}.jpg" for kind in ("a", "b", "c", "d") for i in range(1, 10)]
ONES_AND_TWOS = [f"http://s.test/{word}-{i}.jpg" for word in ("pic", "lecture", "story", "x") for i in (1, 2)]
FORUMS = [
    f"http://{forum}.forum.test/story_{i}"
    for forum, i in product(("www.movies-forum", "www.politics-forum"), range(100, 120))
]


def sized(urls: Iterable[str], size: Any) -> SiteClusters:  # noqa: ANN401 -- a function of the URL
    """A log: URLs with the sizes of what was sent."""
    return site_of_rows({"url": url, "status": 200, "size": s} for url in urls for s in size(url))


def test_numbered_items_are_refuted_by_small_buckets() -> None:
    """G10: nine numbered pictures are a bucket that recommends nothing; without the limit it would."""
    site = site_of_rows({"url": url} for url in NUMBERED)
    told = rules_of(proposed(site, "substring"))
    assert not [rule for rule in told if '"1' in rule or '"2' in rule]
    anyhow = rules_of(proposed(site, "substring", max_bucket=100, max_bucket_compared=100))
    assert [rule for rule in anyhow if '-2.jpg$" → "-1.jpg$' in rule]


def test_different_pictures_are_refuted_by_sizes() -> None:
    """Two numbered pictures make small buckets: then it takes their sizes to tell them apart."""
    site = sized(ONES_AND_TWOS, lambda url: [1000 if "1" in url else 2000])
    assert rules_of(proposed(site, "substring")) == []
    assert 'replace "-2.jpg$" → "-1.jpg$"' in rules_of(proposed(site, "substring", evidence="none"))


def test_different_forums_are_refuted_by_sizes() -> None:
    """The same software on two hosts: the same URLs with different stories."""
    chance = random.Random(1)
    sizes = {url: [chance.randrange(1000, 90000)] for url in FORUMS}
    site = sized(FORUMS, sizes.__getitem__)
    assert not [rule for rule in rules_of(proposed(site, "substring")) if "forum" in rule]
    wrong = rules_of(proposed(site, "substring", evidence="none"))
    assert [rule for rule in wrong if "politics" in rule and "movies" in rule]


def test_sizes_match_where_their_ranges_meet() -> None:
    """G10: [10,20] and [21,30] are different pages, [10,20] and [20,30] may be one."""
    urls = [f"http://s.test/{i}/{name}" for i in range(4) for name in ("", "index.html")]
    apart = sized(urls, lambda url: [21, 30] if "index" in url else [10, 20])
    meeting = sized(urls, lambda url: [20, 30] if "index" in url else [10, 20])
    assert rules_of(proposed(apart, "substring")) == []
    assert 'replace "/index.html$" → "/$"' in rules_of(proposed(meeting, "substring"))


def test_too_little_support_is_none() -> None:
    """Two instances are not enough, three are (A6)."""
    urls = {f"http://s.test/{i}/{name}": str(i) for i in range(2) for name in ("", "index.html")}
    assert rules_of(proposed(labelled(urls), "substring")) == []
    assert rules_of(proposed(labelled(urls), "substring", min_support=2))
    urls |= {f"http://s.test/2/{name}": "2" for name in ("", "index.html")}
    assert rules_of(proposed(labelled(urls), "substring"))


def test_elimination_needs_pieces_long_enough() -> None:
    """Section 6.2: where S is too small for the whole context, redundant rules stay."""
    names = ["alpha", "beta", "gamma", "delta"]
    urls = {f"http://{host}/{name}": name for host in ("www.cnn.com", "cnn.com") for name in names}
    whole = counted(labelled(urls))[1]
    short = counted(labelled(urls), max_length=6)[1]
    assert whole == ["^http://www.cnn.com/ ^http://cnn.com/"]
    assert len(short) > 1


def forum_log(seed: int = 3) -> dict[str, str]:
    """A day of a forum whose software knows the rules of the paper's Fig. 11."""
    chance = random.Random(seed)
    urls: dict[str, str] = {}

    def add(page: str, *forms: str) -> None:
        urls.update(dict.fromkeys(forms, page))

    for host in ("http://scifi.forum.co.il", "http://cook.forum.co.il", "http://www.forum.co.il"):
        for number in chance.sample(range(1000, 9000), 60):
            story = f"{host} story {number}"
            add(story, f"{host}/story_{number}", f"{host}/story?id={number}")
            if number % 2:
                add(story, f"{host}/story.php3?id={number}")
        for number in chance.sample(range(100, 900), 40):
            thread = f"{host} thread {number}"
            add(thread, f"{host}/thread_{number}", f"{host}/thread?rep={number}")
            shown = f"{host}/thread?rep={number}&New={number % 7}"
            add(f"{thread} new", shown, f"{shown}&LastView=&Close=")
            new = f"{host}/list?forum={number}&NewOnly=1"
            add(f"{host} list {number}", new, f"{new}&tvqz=2")
    return urls


def test_the_rules_of_a_forum() -> None:
    """Fig. 11: all kinds of its rules, or the same with more context, are proposed from a log alone."""
    told = rules_of(proposed(labelled(forum_log()), "substring"))
    for source, target in (
        ("/story?id=", "/story_"),
        ("&LastView=&Close=", ""),
        (".php3?", "?"),
        ("&NewOnly=1&tvqz=2", "&NewOnly=1"),
        ("/thread?rep=", "/thread_"),
        ("/story.php3?id=", "/story_"),
    ):
        assert [rule for rule in told if _has_core(rule, source, target)], (source, target)


def _has_core(rule: str, source: str, target: str) -> bool:
    kind, left, _, right = rule.split(" ")[:4]
    pair = tuple(oracle.tokens_of(side.strip('"^$'), "triplets")[1:-1] for side in (left, right))
    wide = tuple(oracle.tokens_of(side, "triplets")[1:-1] for side in (source, target))
    return kind == "replace" and (oracle.refines(pair, wide) or pair == wide)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("http://s.test/people/{}/", "http://s.test/~{}/", 'replace "/people/" → "/~"'),
        ("http://s.test/story?id={}", "http://s.test/story_{}", '?id="'),
        ("http://s.test/d{}/index.html", "http://s.test/d{}/", 'replace "/index.html$" → "/$"'),
        ("http://www.s.test/{}", "http://s.test/{}", 'replace "^http://www.s.test/" → "^http://s.test/"'),
    ],
)
def test_common_aliases(first: str, second: str, expected: str) -> None:
    """The aliases that the paper opens with are found, and proposed in the direction that shrinks first."""
    names = [f"user{i}x" for i in range(5)]
    urls = {form.format(name): name for name in names for form in (first, second)}
    told = rules_of(proposed(labelled(urls), "substring", parameters=False))
    assert expected.split(" → ", maxsplit=1)[0].removeprefix("replace ").strip('"') in told[0]


def test_parameters_that_do_not_matter() -> None:
    """Phase 3 sees through buckets of any size, and proposes to drop or to set."""
    urls = {f"http://s.test/a?id={i}&sid={s}": str(i) for i in range(5) for s in range(30)}
    told = proposed(labelled(urls), "substring")
    assert rules_of(told) == [
        "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}&sid=0",
    ]
    assert {candidate.support for candidate in told.candidates} == {5}
    assert {candidate.pages for candidate in told.candidates} == {5}
    assert rules_of(proposed(labelled(urls), "substring", parameters=False)) == []


def test_parameters_behind_semicolons() -> None:
    """Where `;` separates parameters, a rule that writes `&` for it comes first."""
    urls = {f"http://s.test/a?topic={i}.0;sort={s}": str(i) for i in range(5) for s in ("up", "down", "no")}
    (dropped, *_) = proposed(labelled(urls), "substring", substitutions=False).candidates
    assert [str(rule) for rule in dropped.rules] == [
        "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:amp}",
        "rewrite {s}://{h}/{p**}?sort={**}&{rest**} → {s}://{h}/{p}?{rest}",
    ]
    key = RuleSet(dropped.rules).compile().key
    assert key("http://s.test/a?topic=77.0;sort=new") == "http://s.test/a?topic=77.0"
    off = {"substitutions": False, "semicolons": False}
    assert all(len(each.rules) == 1 for each in proposed(labelled(urls), "substring", **off).candidates)
    plain = {f"http://s.test/a;v=1?id={i}&sid={s}": str(i) for i in range(5) for s in range(9)}
    assert all(len(each.rules) == 1 for each in proposed(labelled(plain), "substring").candidates)


def test_it_works_without_any_evidence_and_says_so() -> None:
    """A bare list of URLs gives rules, and a note that nothing is known of the pages."""
    told = proposed(site_of_rows({"url": url} for url in forum_log()), "substring")
    assert rules_of(told)
    assert any("nothing is known of the pages" in note for note in told.notes)


def test_triplets_are_whole_tokens_unless_one_asks() -> None:
    """`%20b` is one triplet and a word; as published it is a percent sign and a word `20b`."""
    urls = {f"http://s.test/{i}a{space}b/{i}": str(i) for i in range(4) for space in ("%20", "_")}
    assert 'replace "%20" → "_"' in rules_of(proposed(labelled(urls), "substring", max_length=1))
    published = proposed(labelled(urls), "substring", tokens="words")
    assert rules_of(published) == []
    assert "pairs that cut a percent triplet" in published.cut


def test_a_large_site_is_sampled_by_cluster() -> None:
    """Above `max_urls` whole clusters are left out, and the notes say how many URLs were used."""
    site = labelled({f"http://s.test/{i}/{n}": str(i) for i in range(300) for n in ("", "index.html")})
    told = proposed(site, "substring", max_urls=200)
    assert 'replace "/index.html$" → "/$"' in rules_of(told)
    assert any(note.startswith("learned from ") and " of 600 URLs" in note for note in told.notes)


def test_a_sample_is_drawn_anew_from_what_a_proof_left() -> None:
    """The pages kept apart were drawn by a hash too; a sample by the same one would leave nothing out."""
    site = labelled({f"http://s.test/{i}/{n}": str(i) for i in range(600) for n in ("", "index.html")})
    training = site.split(0.4)[0]
    told = proposed(training, "substring", max_urls=200)
    learned_from = [note for note in told.notes if note.startswith("learned from ")]
    assert len(learned_from) == 1
    assert 100 < int(learned_from[0].split()[2]) < 300


def test_bounds_of_the_program_are_those_of_the_learner(tmp_path: Path) -> None:
    """Memory and threads that a job may use reach the learner; what the person says of it goes before."""
    allowed = Resources(memory=1 << 20, threads=2, folder=str(tmp_path))
    options = options_from(SubstringOptions, "substring", {"substring.threads": "3"}, allowed)
    assert (options.memory_mb, options.threads, options.folder) == (1, 3, str(tmp_path))
    site = labelled({f"http://s.test/{i}/{n}": str(i) for i in range(300) for n in ("", "index.html")})
    told = propose(site, ["substring"], resources=allowed)["substring"]
    assert 'replace "/index.html$" → "/$"' in rules_of(told)
    assert [note for note in told.notes if note.startswith("learned from 2") and " of 600 URLs" in note]
    assert not [note for note in proposed(site, "substring").notes if note.startswith("learned from ")]


def test_a_dollar_sign_at_the_end_is_no_anchor() -> None:
    """What a rule would misread is counted, not proposed."""
    urls = {f"http://s.test/{i}{end}x": str(i) for i in range(4) for end in ("/a$", "/b$")}
    told = proposed(labelled(urls), "substring", max_length=3)
    assert all(not rule.split('"')[1].endswith("$") or "x$" in rule for rule in rules_of(told))


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("evidence", "guess", "is one of auto, content, size, none"),
        ("tokens", "runs", "is one of triplets, words"),
        ("min_support", "0", "is at least 1"),
        ("folder", "/no/such/folder", "which is not a folder; make it first"),
        ("delta", "2", "is a share between 0 and 1"),
        ("max_buckets", "2", "has no option"),
    ],
)
def test_wrong_options_are_named(option: str, value: str, message: str) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(UndustError, match=message):
        proposed(labelled({"http://s.test/": "a"}), "substring", **{option: value})


def test_nothing_in_nothing_out() -> None:
    """A site of one page has no duplicates to learn from."""
    assert rules_of(proposed(labelled({"http://s.test/": "a"}), "substring")) == []
