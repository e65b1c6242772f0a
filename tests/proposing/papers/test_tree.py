"""The pattern tree of Lei et al.: the paper's examples, its plain twin, and rules that do what was proved."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import undust
from tests.oracles import tree as oracle
from tests.pages.clustering import sites
from undust.errors import UndustError
from undust.proposing.papers import propose
from undust.proposing.papers.selection import STRATEGIES
from undust.proposing.papers.tree import TreeOptions, raw_candidates, sampled
from undust.proposing.papers.tree.operations import SHARE_BASES, overlaps
from undust.rules import RuleSet
from undust.showing.tree import pattern_text
from undust.urls.pattern_tree import ANYTHING, PERHAPS, SALIENCES, grow
from undust.urls.views import UrlColumns

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.tree.operations import Common, Mapping
    from undust.urls.pattern_tree import PatternTree, Salience

ARCHIVES = {10: ((0, 1), (2, 3)), 21: ((2, 3), (0, 1)), 35: ((0, 2), (1, 3)), 48: ((1, 3), (0, 2))}
"""G17, figure 4 rebuilt: page to the mirrors that show it in form A and in form B."""


def site_of(pages: dict[str, str]) -> SiteClusters:
    """A site of URLs and the page each shows."""
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    return undust.find_duplicates(table).sites[0]


def figure_4() -> dict[str, str]:
    """The sixteen URLs of G17."""
    pages, session = {}, 100
    for page, (first, second) in ARCHIVES.items():
        for mirror in first:
            pages[f"http://www.ex.com/archive{mirror}?pageid={page}"] = str(page)
        for mirror in second:
            pages[f"http://www.ex.com/archive{mirror}/{page}/display?sid={session}"] = str(page)
            session += 1
    return pages


def named_pattern(tree: PatternTree, node: int) -> dict[str, str | None]:
    """A pattern as the oracle writes it."""
    texts = {ANYTHING: oracle.ANY, PERHAPS: oracle.MAYBE}
    columns = tree.columns
    return {
        columns.key_names[key]: texts[value] if value < 0 else columns.value_texts[value].as_py()
        for key, value in tree.nodes[node].pattern.items()
    }


def urls_of(tree: PatternTree, node: int, site: SiteClusters) -> tuple[str, ...]:
    """The URLs of a node, sorted."""
    rows = tree.columns.rows[tree.rows(node)]
    return tuple(sorted(site.node_urls.take(pa.array(rows)).to_pylist()))


def named_operations(tree: PatternTree, mapping: Mapping) -> dict[str, tuple[str, str | None]]:
    """Operations as the oracle writes them."""
    columns = tree.columns
    return {
        columns.key_names[each.key]: (
            each.kind,
            columns.value_texts[each.value].as_py()
            if each.kind == "keep"
            else (columns.key_names[each.source] if each.source >= 0 else None),
        )
        for each in mapping.operations
    }


def test_figure_4_is_split_where_the_entropy_is_smallest() -> None:
    """G17: entropies 2, 2, 1, 2 and 2.5 bits; the root is split at path_2 into two leaves of eight."""
    pages = figure_4()
    root = oracle.build(list(pages))
    maps = [oracle.parse(url) for url in pages]
    bits = {}
    for key in ("path_0", "path_1", "path_2", "?pageid", "?sid"):
        values = [pairs.get(key, oracle.MISSING) for pairs in maps]
        bits[key] = oracle.entropy([values.count(value) for value in set(values)]) / math.log(2)
    assert bits == pytest.approx({"path_0": 2, "path_1": 2, "path_2": 1, "?pageid": 2, "?sid": 2.5})
    tree, _ = raw_candidates(site_of(pages), TreeOptions())
    assert tree.columns.key_names[tree.nodes[0].split or 0] == root.split == "path_2"
    assert [node.count for node in tree.nodes] == [16, 8, 8]
    assert [node.children for node in tree.nodes] == [[1, 2], [], []]


def test_figure_4_shows_the_same_pages_in_both_forms() -> None:
    """G17: the two leaves overlap by 1, and half of the URLs of each are superfluous."""
    pages = figure_4()
    site = site_of(pages)
    tree, _ = raw_candidates(site, TreeOptions())
    found = overlaps(tree, site.cluster_of_node[tree.columns.rows])
    assert found[1, 2] == found[2, 1] == 1.0
    assert found[1, 1] == found[2, 2] == 0.5
    _, one, other = (oracle.pages_of(node, pages) for node, _ in oracle.build(list(pages)).walk())
    assert (oracle.overlap(one, other), oracle.overlap(one, one)) == (1.0, 0.5)


def test_figure_4_maps_archives_to_displays() -> None:
    """G17: A to B ignores the mirror and the session, takes the page from pageid, keeps `display`."""
    pages = figure_4()
    site = site_of(pages)
    tree, found = raw_candidates(site, TreeOptions())
    raw = next(
        raw for raw in found if named_operations(tree, raw.mapping).get("path_1") == ("replace", "?pageid")
    )
    operations = named_operations(tree, raw.mapping)
    assert operations["path_0"] == ("ignore", "path_0")
    assert operations["path_2"] == ("keep", "display")
    assert operations["?sid"] == ("ignore", None)
    assert raw.proof is not None
    assert (raw.proof.support_pairs, raw.proof.false_pairs) == (24, 0)
    key = RuleSet(raw.rules).compile().key
    keys = {key(url) for url in pages}
    assert keys == {f"http://www.ex.com/*/{page}/display?sid=*" for page in ARCHIVES}


def test_figure_4_is_measured_as_published() -> None:
    """G17: 0.75, dup-reduction 1, 24 pairs, fpr 0; without the target's own form 0.25 and 0.111."""
    pages = figure_4()
    table = sites.table(*({"url": url, "cluster": page} for url, page in pages.items()))
    rules = next(
        candidate.rules
        for candidate in propose(site_of(pages), ["tree"], {"tree.selection": "all"})["tree"].candidates
        if "/display?sid=100" in candidate.text.split("→")[1]
    )
    measured = undust.evaluate(RuleSet(rules), table).total
    assert measured.compression_rate == 0.75
    assert measured.dup_reduction_rate == 1
    assert (measured.support_pairs, measured.fpr) == (24, 0)
    images = {}
    for url in pages:
        pairs = oracle.parse(url)
        images[url] = (pairs["?pageid"],) if "?pageid" in pairs else url
    assert len(set(images.values())) == 12
    without = 1 - (1 - 4 / len(set(images.values()))) / (1 - 4 / 16)
    assert without == pytest.approx(0.111, abs=5e-4)


@pytest.mark.parametrize("missing", [None, ("q", "m")])
def test_figure_3_needs_no_critical_url(missing: tuple[str, str] | None) -> None:
    """G16: root `a b * c *`, duplicate rate 0.875; both keys are ignored, with or without (q, m)."""
    values = [
        ("x1", "y1"),
        ("x2", "y2"),
        ("x3", "y3"),
        ("x4", "y4"),
        ("p", "m"),
        ("q", "m"),
        ("p", "n"),
        ("q", "n"),
    ]
    kept = [value for value in values if value != missing]
    pages = {f"http://h.test/a/b/{three}/c/{five}": "1" for three, five in kept}
    site = site_of(pages)
    tree, found = raw_candidates(site, TreeOptions())
    pattern = named_pattern(tree, 0)
    assert [pattern[f"path_{place}"] for place in range(5)] == ["a", "b", oracle.ANY, "c", oracle.ANY]
    raw = next(raw for raw in found if raw.mapping.source == raw.mapping.target == 0)
    operations = named_operations(tree, raw.mapping)
    assert operations["path_2"] == ("ignore", "path_2")
    assert operations["path_4"] == ("ignore", "path_4")
    if missing is None:
        assert 1 - site.cluster_count / len(pages) == 0.875
    key = RuleSet(raw.rules).compile().key
    assert {key(url) for url in pages} == {"http://h.test/a/b/*/c/*"}


def test_mirrors_are_one_host() -> None:
    """G18: `us` and `de.php.net`; the label is ignored, and the rule names a mirror that has all pages."""
    pages = {f"http://{mirror}.php.net/{page}": page for mirror in ("us", "de") for page in "abcd"}
    tree, found = raw_candidates(site_of(pages), TreeOptions())
    raw = next(raw for raw in found if raw.mapping.source == raw.mapping.target == 0)
    operations = named_operations(tree, raw.mapping)
    assert operations["host_2"] == ("ignore", "host_2")
    assert operations["path_0"] == ("replace", "path_0")
    assert [str(rule) for rule in raw.rules] == ["rewrite http://{*}.php.net/{p0} → http://de.php.net/{p0}"]


PLAIN = ("a", "b", "1", "2", "3", "x.html")
ODD = ("a", "b", "1", "2", "", "a;b", "a+b", "c%3Fd", "a/b", "a&b", "%26")


def labelled_urls(*, odd: bool = False) -> st.SearchStrategy[dict[str, str]]:
    """Some URLs of few forms, and which page each shows.

    Made of a number, for URLs drawn piece by piece take longer to draw than to judge.
    """
    return st.builds(some_urls, st.integers(0, 1 << 48), st.integers(2, 24), odd=st.just(odd))


def some_urls(seed: int, count: int, *, odd: bool) -> dict[str, str]:
    """Return that many URLs, odd ones with empty values, strange characters and any order of parameters."""
    chance = random.Random(seed)
    values = ODD if odd else PLAIN
    hosts = ["www.ex.test", "m.ex.test", "ex.test", "www.ex.test:81"][: chance.randint(1, 4)]
    names = ["id", "sid", "view"][: chance.randint(1, 3)]
    longest, pages = chance.randint(1, 3), chance.randint(2, 6)
    urls: dict[str, str] = {}
    for _ in range(count):
        segments = [chance.choice(values).replace("/", "") for _ in range(chance.randint(0, longest))]
        path = "/" + "/".join(segments) + ("/" if any(segments) and chance.random() < 0.2 else "")
        path = "/x" + path if path.startswith("//") else path
        query = []
        for name in chance.sample(names, len(names)) if odd else names:
            if chance.random() < 0.6:
                is_bare = odd and chance.random() < 0.1
                query.append(name if is_bare else f"{name}={chance.choice(values).replace('&', '')}")
        scheme = chance.choice(["http", "http", "https"])
        written = f"{scheme}://{chance.choice(hosts)}{path}" + ("?" + "&".join(query) if query else "")
        urls[undust.normalize(written)] = str(chance.randrange(pages))
    return urls


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2])
def test_labels_of_other_pages_do_not_make_wrong_rules(share: float) -> None:
    """Wrong labels cost rules, never precision; told how many there are, the learner forgives them."""
    chance = random.Random(5)
    forms = ("http://s.test/item/{}", "http://s.test/show?id={}&sid=7{}", "http://s.test/show?id={}&sid=8{}")
    pages = {form.format(page, page): str(page) for page in range(120) for form in forms}
    labels = {
        url: str(chance.randrange(120)) if chance.random() < share else page for url, page in pages.items()
    }
    left = []
    for said in (0.0, share):
        proposal = propose(site_of(labels), ["tree"], {"tree.noise": said})["tree"]
        rules = {rule.id: rule for each in proposal.candidates for rule in each.rules}
        key = RuleSet(rules.values()).compile().key
        assert oracle.pairs_by_image({url: key(url) for url in pages}, pages)[1] == 0
        left.append(len({key(url) for url in pages}))
    assert left[1] <= left[0]
    assert left[1] == 120 or share == 0.2
    assert left[1] < 360


def test_a_large_site_is_learned_from_whole_clusters() -> None:
    """The sample has as many URLs as allowed, no cluster in part, and the proposal says so."""
    pages = {f"http://s.test/{form}/{page}": str(page) for page in range(200) for form in ("a", "b", "c")}
    site = site_of(pages)
    part = sampled(site, 100)
    sizes = part.sizes
    assert sizes.sum() == 99
    assert set(sizes) == {3}
    proposal = propose(site, ["tree"], {"tree.max_urls": 100})["tree"]
    assert "learned from a sample of 99 of 600 URLs, proved on all of them" in proposal.notes
    assert proposal.candidates


def test_what_a_sample_hides_is_seen_by_the_proof_on_all_urls() -> None:
    """Two pages share each number; in a sample of few pages hardly any pair of them is there."""
    pages = {}
    for page in range(1200):
        for form in ("a", "b"):
            pages[f"http://s.test/{form}/{page // 2}?x={page}"] = str(page)
            pages[f"http://s.test/{form}/{page // 2}?x={page}{form}"] = str(page)
    site = site_of(pages)
    part = propose(sampled(site, 120), ["tree"], {"tree.max_urls": 0})["tree"]
    proposal = propose(site, ["tree"], {"tree.max_urls": 120})["tree"]
    assert len(proposal.candidates) < len(part.candidates)
    assert proposal.cut["too many false pairs beyond the sample"] > 0
    for candidate in proposal.candidates:
        key = RuleSet(candidate.rules).compile().key
        support, false = oracle.pairs_by_image({url: key(url) for url in pages}, pages)
        assert candidate.fpr == pytest.approx(false / support)
        assert false <= 0.05 * support


@settings(max_examples=40)
@given(labelled_urls(), st.sampled_from(SALIENCES))
def test_the_tree_is_that_of_its_plain_twin(pages: dict[str, str], salience: Salience) -> None:
    """The same nodes with the same URLs, patterns and splits as algorithm 1 one URL at a time."""
    site = site_of(pages)
    tree, _ = raw_candidates(site, TreeOptions(singletons=True, salience=salience, least=10**9))
    frequent = oracle.frequent_tokens(list(pages)) if salience == "site" else None
    root = oracle.build(list(pages), frequent=frequent)
    expected = [(node.urls, node.pattern, node.split) for node, _ in root.walk()]
    found = [
        (
            urls_of(tree, node, site),
            named_pattern(tree, node),
            None if (split := tree.nodes[node].split) is None else tree.columns.key_names[split],
        )
        for node in range(len(tree))
    ]
    assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("option", ["selection", "salience", "common"])
def test_an_unknown_word_is_named(option: str) -> None:
    """The message has the words there are."""
    with pytest.raises(UndustError, match=f"no {option} 'best'; there are "):
        propose(site_of({"http://a.test/": "1"}), ["tree"], {f"tree.{option}": "best"})


def test_tokens_of_the_whole_site_can_make_a_value_salient() -> None:
    """A10: first segments fall off behind `b`; as tokens of the site, `c` is as frequent as the others."""
    first = {"a": 60, "b": 50, "c": 12, "d": 11}
    pages = {f"http://s.test/{name}/{n}": "1" for name, count in first.items() for n in range(count)}
    pages |= {f"http://s.test/e{n}/c?m={m}": "2" for n in range(5) for m in range(8)}

    def salient(salience: Salience) -> set[str | None]:
        tree, _ = raw_candidates(site_of(pages), TreeOptions(salience=salience, least=10))
        return {named_pattern(tree, node)["path_0"] for node in tree.nodes[0].children} - {oracle.ANY}

    assert salient("node") == {"a", "b"}
    assert salient("site") == {"a", "b", "c"}


def forms_of(urls: list[str], salience: Salience) -> dict[str, int]:
    """The leaves of a tree as text, and how many URLs each has."""
    tree = grow(UrlColumns.of(pa.array(urls)), salience=salience)
    leaves = [number for number, node in enumerate(tree.nodes) if not node.children]
    return {pattern_text(tree, number): tree.nodes[number].count for number in leaves}


@pytest.mark.parametrize("salience", SALIENCES)
@pytest.mark.parametrize(("albums", "shows"), [(400, 400), (390, 410), (500, 120)])
def test_figure_1_two_scripts_are_two_forms(albums: int, shows: int, salience: Salience) -> None:
    """Salient tokens such as `show.php` are kept, values such as those of `b` become `*`."""
    at = "http://www.wretch.test/album/"
    urls = [f"{at}show.php?i=u{n}&b={n * 37 % 101}" for n in range(shows)]
    urls += [f"{at}album.php?id=u{n}&book={n * 41 % 97}" for n in range(albums)]
    found = forms_of(urls, salience)
    assert found == {f"{at}show.php?b=*&i=*": shows, f"{at}album.php?book=*&id=*": albums}


@pytest.mark.parametrize("salience", SALIENCES)
def test_equal_language_folders_are_a_form_each(salience: Salience) -> None:
    """Where all values are equally frequent, their share of the site decides."""
    urls = [f"http://s.test/{name}/{n}.html" for name in ("de", "en", "es", "fr", "it") for n in range(60)]
    found = forms_of(urls, salience)
    assert found == {f"http://s.test/{name}/*": 60 for name in ("de", "en", "es", "fr", "it")}


@pytest.mark.parametrize("salience", SALIENCES)
def test_an_optional_parameter_parts_a_form(salience: Salience) -> None:
    """With and without are two forms where both are common; a rare parameter splits nothing."""
    urls = [f"http://s.test/view?id={n}" for n in range(200)]
    urls += [f"http://s.test/view?id={n}&sid={n * 7919}" for n in range(150)]
    urls += ["http://s.test/view?id=7&debug=1"]
    assert forms_of(urls, salience) == {
        "http://s.test/view?id=*&[debug=*]": 201,
        "http://s.test/view?id=*&sid=*": 150,
    }


def test_a_parameter_that_few_urls_of_a_form_have_is_ignored() -> None:
    """Pairs in which neither URL has it do not speak for its value."""
    marks = ["", "?ref=a", "?gclid=b", "?sid=c", "?utm=d", "?fbclid=e", "?from=f", "?via=g"]
    pages = {f"http://s.test/item/{n}{mark}{n if mark else ''}": str(n) for n in range(60) for mark in marks}
    rules = [rule for each in propose(site_of(pages), ["tree"])["tree"].candidates for rule in each.rules]
    key = RuleSet(rules).compile().key
    assert {key(url) for url in pages} == {f"http://s.test/item/{n}" for n in range(60)}


def test_hosts_with_and_without_a_label() -> None:
    """A label that only some hosts of a form have is dropped with the rest that does not matter."""
    hosts = ("s.test", "www.s.test", "m.s.test")
    pages = {f"http://{host}/item/{n}": str(n) for n in range(60) for host in hosts}
    rules = [rule for each in propose(site_of(pages), ["tree"])["tree"].candidates for rule in each.rules]
    key = RuleSet(rules).compile().key
    assert {key(url) for url in pages} == {f"http://s.test/item/{n}" for n in range(60)}


def test_one_url_with_a_parameter_twice_silences_no_form() -> None:
    """It has no place in the tree, and the others have their rules."""
    pages = {
        f"http://s.test/item?id={n}{more}": str(n) for n in range(60) for more in ("", "&sid=1", "&sid=2")
    }
    odd = {"http://s.test/item?id=7&id=8&sid=1": "7"}
    plain, mixed = (propose(site_of(each), ["tree"])["tree"].candidates for each in (pages, pages | odd))
    assert [each.rules for each in plain] == [each.rules for each in mixed] != []


def test_three_equal_forms_of_a_page_have_rules() -> None:
    """Every page under three forms, as often each: all URLs of a page get one key."""
    pages = {}
    for n in range(120):
        for form in (f"item/{n}", f"print/{n}", f"item.php?id={n}"):
            pages[f"http://s.test/{form}"] = str(n)
    rules = [rule for each in propose(site_of(pages), ["tree"])["tree"].candidates for rule in each.rules]
    key = RuleSet(rules).compile().key
    assert len({key(url) for url in pages}) == 120
    assert len({(page, key(url)) for url, page in pages.items()}) == 120


@settings(max_examples=25)
@given(pages=labelled_urls(), common=st.sampled_from(SHARE_BASES))
def test_raw_candidates_are_those_of_the_plain_twin(pages: dict[str, str], common: Common) -> None:
    """The same pairs of nodes and the same operations as algorithms 2 and 3, pair by pair."""
    site = site_of(pages)
    tree, found = raw_candidates(
        site, TreeOptions(singletons=True, salience="node", least=10**9, min_overlap=0.5, common=common)
    )
    raws = {
        (urls_of(tree, raw.mapping.source, site), urls_of(tree, raw.mapping.target, site)): named_operations(
            tree, raw.mapping
        )
        for raw in found
    }
    pairs = oracle.duplicate_nodes(oracle.build(list(pages)), pages)
    expected = {(s.urls, t.urls): oracle.operations(s, t, pages, common) for s, t in pairs}
    assert raws == expected


@settings(max_examples=25)
@given(pages=labelled_urls(odd=True), singletons=st.booleans())
def test_rules_do_what_was_proved(pages: dict[str, str], *, singletons: bool) -> None:
    """The core, running the rules, merges the pairs that the proof on integer columns counted."""
    site = site_of(pages)
    _, found = raw_candidates(site, TreeOptions(singletons=singletons, max_fpr=1.0, min_overlap=0.1))
    for raw in found:
        if raw.rules and raw.proof is not None:
            key = RuleSet(raw.rules).compile().key
            pairs = oracle.pairs_by_image({url: key(url) for url in pages}, pages)
            assert pairs == (raw.proof.support_pairs, raw.proof.false_pairs), "\n".join(map(str, raw.rules))


@settings(max_examples=12)
@given(pages=labelled_urls(), strategy=st.sampled_from(STRATEGIES))
@example(pages=some_urls(44, 24, odd=False), strategy="graph")
def test_what_is_deployed_keeps_within_the_bound(pages: dict[str, str], strategy: str) -> None:
    """Chains made one rule merge no more false pairs than was allowed, when the core runs them."""
    options = {"tree.selection": strategy, "tree.min_overlap": 0.2, "tree.max_fpr": 0.2}
    for candidate in propose(site_of(pages), ["tree"], options)["tree"].candidates:
        key = RuleSet(candidate.rules).compile().key
        support, false = oracle.pairs_by_image({url: key(url) for url in pages}, pages)
        assert false <= 0.2 * support, candidate.text


@settings(max_examples=25)
@given(labelled_urls(odd=True), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(pages: dict[str, str], chance: random.Random) -> None:
    """The same rows in any order give the same proposal."""
    rows = list(pages.items())
    chance.shuffle(rows)
    assert propose(site_of(dict(rows)), ["tree"]) == propose(site_of(pages), ["tree"])
