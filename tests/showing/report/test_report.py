"""What is on the page: the same figures as everywhere else, values hidden, and sense in odd cases."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import undust
from tests.cli.command import run, sentence
from undust.errors import UndustError
from undust.privacy.masking import Masks
from undust.rules import Rule, RuleSet
from undust.showing.report import ShownRefusal, ShownRefusals, embedded
from undust.showing.report.material import Texts, likely_cause, visible
from undust.showing.words import COUNTS, RATES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SID = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} -> {s}://{h}/{p}?{rest}"


@pytest.fixture(scope="module")
def made(sample: Callable[[str], Path]) -> dict[str, Any]:
    """Give what is on the page of the sample."""
    rules = undust.load(sample("rules.json"))
    return dict(undust.report(rules, undust.read(sample("shop.jsonl.gz"))).facts)


def table(*rows: tuple[str, str]) -> pa.Table:
    """Labelled URLs."""
    return pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})


def only_site(report: Any) -> dict[str, Any]:  # noqa: ANN401 -- a report
    """The one site of a page."""
    (facts,) = report.facts["sites"].values()
    return dict(facts)


def test_figures_equal_those_of_evaluate(sample: Callable[[str], Path], tmp_path: Path) -> None:
    """Everything that `evaluate --json` measures stands on the page with the same digits."""
    files = (sample("rules.json"), sample("shop.jsonl.gz"))
    told = json.loads(run("evaluate", *files, "--json").out)
    done = run("report", *files, "--json", "-o", tmp_path / "page.html")
    page = json.loads(done.out)
    for name in (*COUNTS, *RATES, "intervals", "precision"):
        assert page["figures"][name] == told[name], name
        assert page["sites"]["teapots.test"]["figures"][name] == told["sites"]["teapots.test"][name], name
    alone = [rule["alone"] for rule in page["sites"]["teapots.test"]["rules"] if rule["alone"]]
    assert [(one["removed"], one["lost"]) for one in alone] == [
        (row["removed_urls"], row["lost_pages"]) for row in told["by_rule"]
    ]
    assert page["active"] == told["rules"]
    assert page["unlabelled"] == told["unlabelled"]
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert json.loads(written.split('id="facts">')[1].split("</script>")[0])["figures"] == page["figures"]


def test_the_page_is_the_same_every_time(sample: Callable[[str], Path]) -> None:
    """Row order and threads cannot be seen in it."""
    rules, seen = undust.load(sample("rules.json")), pa.table(undust.read(sample("shop.jsonl.gz")))
    turned = seen.take(pa.array(range(len(seen) - 1, -1, -1)))
    assert undust.report(rules, seen).html() == undust.report(rules, turned, threads=2).html()


def test_every_part_is_there(made: dict[str, Any]) -> None:
    """The headline with intervals, the scheme, the rules, what is left, what was not trusted, the curve."""
    site = made["sites"]["teapots.test"]
    assert site["figures"]["intervals"]["lost"][1] > 0
    assert site["tree"]["root"]["children"]
    assert 0 < site["tree"]["root"]["duplicates"] < 1
    assert site["unexplained"]["urls"] == site["figures"]["canonical_urls"] - site["figures"]["clusters"]
    kinds = [point["kind"] for point in site["curve"]]
    assert kinds[0] == "none"
    assert kinds.count("chosen") == 1
    (chosen,) = (point for point in site["curve"] if point["kind"] == "chosen")
    assert (chosen["removed"], chosen["lost"]) == (site["figures"]["removed"], site["figures"]["lost"])
    assert {"removed_95", "lost_95"} <= set(chosen)
    changing = [rule for rule in site["rules"] if rule.get("changes")]
    assert changing
    assert all(rule["examples"] for rule in changing)


def test_a_site_without_pages_has_a_page_too() -> None:
    """All that was asked for is not there; then it says so, and does not fail."""
    seen = pa.table(
        {"url": ["http://a.test/1", "http://a.test/2"], "status": pa.array([404, 404], pa.int32())}
    )
    assert "a.test" in undust.report(RuleSet(), seen).html()


def test_evidence_that_was_switched_off_is_shown() -> None:
    """Empty bodies have equal digests, and prove nothing; the page says which they are."""
    rows = [{"url": f"http://a.test/{n}", "digest": "same", "size": 2} for n in range(9)]
    rows += [{"url": f"http://a.test/x{n}", "digest": str(n), "size": 900} for n in range(9)]
    found = only_site(undust.report(RuleSet(), pa.Table.from_pylist(rows)))["distrusted"]
    (group,) = found["shown"]
    assert (found["groups"], found["urls"], group["kind"]) == (1, 9, "empty or tiny body")
    assert group["examples"]


def test_counter_examples_are_found() -> None:
    """A rule that is wrong on some URLs shows them, with the page that they meet."""
    rows = [(f"http://a.test/{n}", f"p{n}") for n in range(20)]
    rows += [(f"http://a.test/{n}?sid=1", f"p{n}" if n < 18 else "other") for n in range(20)]
    (rule,) = only_site(undust.report(RuleSet([Rule.parse(SID, site="a.test")]), table(*rows)))["rules"]
    assert (rule["changes"], rule["right"], rule["wrong"]) == (20, 18, 2)
    assert {one["meets"] for one in rule["counter"]} == {"http://a.test/18", "http://a.test/19"}
    assert rule["alone"] == {"removed": 20, "lost": 2, "saved": 20}


def test_conditions_show_what_they_spare() -> None:
    """`unless` is explained by the URLs that it protects."""
    rule = Rule.parse(f"{SID} unless /keep/{{**}}", site="a.test")
    rows = [
        (f"http://a.test/{d}/{n}{q}", f"{d}{n}{q}")
        for d in ("x", "keep")
        for n in range(4)
        for q in ("", "?sid=1")
    ]
    (told,) = only_site(undust.report(RuleSet([rule]), table(*rows)))["rules"]
    assert told["spares"] == 4
    assert all("/keep/" in url for url in told["spared"])


def test_refused_candidates_are_on_the_page_of_learn(sample: Callable[[str], Path], tmp_path: Path) -> None:
    """`learn --report` knows what was not taken, and why; `report` alone says that it does not."""
    page = tmp_path / "page.html"
    done = run("learn", sample("shop.jsonl.gz"), "-q", "-o", tmp_path / "rules.json", "--report", page)
    assert done.code == 0, done.err
    text = page.read_text(encoding="utf-8")
    facts = json.loads(text.split('id="facts">')[1].split("</script>")[0])
    refused = facts["sites"]["teapots.test"]["refused"]
    assert sum(number for _, number in refused["counts"]) >= len(refused["rules"]) > 0
    assert {"merged different pages"} <= {one["reason"] for one in refused["rules"]}
    words = [one["words"] for one in refused["rules"]]
    assert len(set(words)) == len(words)  # a list that says the same a hundred times tells nothing
    assert any(point["kind"] == "refused" for point in facts["sites"]["teapots.test"]["curve"])
    seen = undust.read(sample("shop.jsonl.gz"))
    assert only_site(undust.report(undust.load(tmp_path / "rules.json"), seen))["refused"] is None


def test_single_learners_tell_what_failed_too(sample: Callable[[str], Path], tmp_path: Path) -> None:
    """The verdicts of a published learner reach the page."""
    page = tmp_path / "page.html"
    run("learn", sample("shop.jsonl.gz"), "-q", "--method", "substring", "--report", page)
    facts = json.loads(page.read_text(encoding="utf-8").split('id="facts">')[1].split("</script>")[0])
    assert facts["sites"]["teapots.test"]["refused"]["rules"][0]["by"] == "substring"


@pytest.mark.parametrize("keep", [False, True])
def test_values_of_dropped_parameters_are_hidden(sample: Callable[[str], Path], *, keep: bool) -> None:
    """No session id reaches the page, in no part of it, unless asked for."""
    seen = pa.table(undust.read(sample("shop.jsonl.gz")))
    secret = "s3cr3t-of-a-visitor"  # noqa: S105 -- that is the point
    url = f"https://teapots.test/p/117?sid={secret}"
    seen = pa.concat_tables([seen, pa.Table.from_pylist([{"url": url, "digest": "x"}], seen.schema)])
    rules = undust.load(sample("rules.json"))
    examples = rules[3].to_json() | {"examples": [[url, "https://teapots.test/p/117"]]}
    rules = RuleSet([*rules[:3], examples, *rules[4:]])
    assert (secret in undust.report(rules, seen, keep_values=keep).html()) is keep


def test_what_a_rule_that_keeps_some_parameters_drops_is_hidden() -> None:
    """`{k**:id}&{**}` names what stays, so all else is hidden where it goes."""
    rule = Rule.parse("rewrite {s}://{h}/{p**}?{k**:id}&{**} -> {s}://{h}/{p}?{k}", site="a.test")
    rows = [(f"http://a.test/?id={n}", str(n)) for n in range(5)]
    rows += [(f"http://a.test/?id={n}&mail=me%40b.test", str(n)) for n in range(5)]
    assert "me%40b.test" not in undust.report(RuleSet([rule]), table(*rows)).html()


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    ("form", "rule"),
    [
        ("/p/{n};jsessionid={secret}", "/p/{a:int};jsessionid={secret}?{r**} -> {s}://{h}/p/{a}?{r}"),
        ("/t?id={n};sid={secret}", "/t?id={a:int};sid={*:{secret}|x} -> {s}://{h}/t?id={a}"),
        ("/s/{secret}/p/{n}", "/s/{*:hex}/{p**} -> {s}://{h}/{p}"),
        ("/s/{secret}/p/{n}", "/s/{secret}/{p**} -> {s}://{h}/{p}"),
        ("/p/{n}?mail=joe@b.test&t={secret}", "/{p**}?mail=joe@b.test&t={secret} -> {s}://{h}/{p}"),
        ("/p/{n}?{secret}", "/{p**}?{secret} -> {s}://{h}/{p}"),
        ("/p/{n}?t={secret}", "/{p**}?t={**}&{r**} -> {s}://{h}/{p}?t={secret}&{r}"),
        ("/q/{n}", "/p/{x} -> {s}://{h}/q/{x} when ?t={secret} unless /u/joe@b.test/{**}"),
    ],
)
@pytest.mark.parametrize("is_refused", [False, True])
def test_no_rule_shows_secrets(form: str, rule: str, *, is_refused: bool, keep: bool) -> None:
    """Neither the text nor the examples of a rule, whether it was taken or refused."""
    secret = "77de68daecd823babbb58edb1c8e14d7106e83bb"  # noqa: S105 -- that is the point
    text = f"rewrite {{s}}://{{h}}{rule.replace('{secret}', secret)}"
    said = Rule.parse(text, site="a.test")
    rows = [(f"http://a.test/p/{n}", str(n)) for n in range(4)]
    rows += [(f"http://a.test{form.format(n=n, secret=secret)}", str(n % 3)) for n in range(4)]
    refusals = {"a.test": ShownRefusals((ShownRefusal(said, "merged different pages", 3, 1),), {"merged": 1})}
    rules = RuleSet([] if is_refused else [said])
    found = undust.report(rules, table(*rows), refusals=refusals if is_refused else None, keep_values=keep)
    # A secret is one whether a rule removes it or not.
    shown = json.dumps(found.facts)
    assert (secret in shown) is keep
    assert keep or "joe@b.test" not in shown


@pytest.mark.parametrize("keep", [False, True])
def test_names_and_passwords_before_a_host_are_hidden(*, keep: bool) -> None:
    """In what is left and in the sample of URLs; no rule sees such URLs, but people do."""
    rows = [(f"http://alice:s3cret@a.test/p/{n}?x={x}", str(n)) for n in range(20) for x in range(3)]
    found = undust.report(RuleSet([]), table(*rows), keep_values=keep)
    assert ("alice" in found.html()) is ("s3cret" in found.html()) is keep


def test_a_change_is_told_in_pieces() -> None:
    """What goes and what comes can be told apart without colours."""
    texts = Texts.under([Rule.parse(SID, site="a.test")], Masks())
    assert texts.change("http://www.a.test/x?sid=4f2a90cc&page=1", "http://a.test/y?page=1") == [
        ["=", "http://"], ["-", "www."], ["=", "a.test/"], ["-", "x"], ["+", "y"], ["=", "?"],
        ["-", "sid=***1&"], ["=", "page=1"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "cause"),
    [
        (["http://a.test/x", "http://b.a.test/x"], ("host", "")),
        (["http://a.test/X", "http://a.test/x/"], ("case", "")),
        (["http://a.test/x?a=1", "http://a.test/x?a=1&b=2"], ("parameter", "b")),
        (["http://a.test/x?a=1&c=2", "http://a.test/x?b=1"], ("parameters", "")),
        (["http://a.test/p/17", "http://a.test/p/blue-cup"], ("number", "")),
        (["http://a.test/de/x/y", "http://a.test/en/x/y"], ("segment", "")),
        (["http://a.test/old/a/logo.png", "http://a.test/logo.png"], ("file", "")),
        (["http://a.test/about", "http://a.test/x/y?z=1"], ("other", "")),
        ([f"http://a.test/{'x' * n}/{n}" for n in range(30)], ("soft-404", "")),
    ],
)
def test_likely_causes(keys: list[str], cause: tuple[str, str]) -> None:
    """Each cause has URLs that show it."""
    assert likely_cause(sorted(keys)) == cause


def test_pages_that_a_rule_keeps_are_a_cause_of_their_own() -> None:
    """What is left alone on purpose is not a riddle."""
    rule = Rule.parse("keep {s}://{h}/edit?{rest**}", site="a.test")
    rows = [(f"http://a.test/edit?id={n}&t={t}", str(n)) for n in range(5) for t in range(2)]
    (group,) = only_site(undust.report(RuleSet([rule]), table(*rows)))["unexplained"]["groups"]
    assert (group["cause"], group["pages"], group["urls"]) == ("kept", 5, 5)


def test_an_empty_rule_set_still_makes_sense(sample: Callable[[str], Path]) -> None:
    """Without rules the page tells what there would be to gain."""
    facts = undust.report(RuleSet(), undust.read(sample("shop.jsonl.gz"))).facts
    assert facts["active"] == 0
    assert facts["figures"]["removed"] > 0
    assert [point["kind"] for point in facts["sites"]["teapots.test"]["curve"]] == ["chosen"]


def test_a_site_without_duplicates_still_makes_sense() -> None:
    """There is nothing to save; the page says so instead of dividing by nothing."""
    facts = undust.report(RuleSet(), table(*((f"http://a.test/{n}", str(n)) for n in range(30)))).facts
    assert facts["figures"]["duplicate_rate"] == 0
    assert facts["sites"]["a.test"]["unexplained"]["pages"] == 0


def test_urls_of_which_nothing_is_known_still_make_a_page() -> None:
    """A plain list has a scheme, and its URLs become fewer; nobody can say what that risks."""
    rules = RuleSet([Rule.parse(SID, site="a.test")])
    report = undust.report(
        rules, pa.table({"url": ["http://a.test/?sid=1", "http://a.test/?sid=2", "http://b.test/"]})
    )
    assert report.facts["figures"] is None
    assert report.facts["totals"]["seen_left"] == 2
    assert "could be judged: the input has no evidence" in report.sentence


def test_no_url_at_all() -> None:
    """An empty input is a short page."""
    report = undust.report(RuleSet(), pa.table({"url": pa.array([], pa.string())}))
    assert report.facts["site_count"] == 0
    assert "<html" in report.html()


def test_sites_with_most_removed_urls_come_first_and_fit() -> None:
    """Of many sites all are at a glance; those that save most are in full, the page stays small."""
    rows = [
        (f"http://s{site}.test/{n}?sid={sid}", f"{n}")
        for site in range(150)
        for n in range(4)
        for sid in range(1 + site % 7)
    ]
    rules = RuleSet(Rule.parse(SID, site=f"s{site}.test") for site in range(150))
    report = undust.report(rules, table(*rows))
    saved = [row[4] + row[5] for row in report.facts["overview"]]
    assert len(saved) == 150
    assert saved == sorted(saved, reverse=True)
    assert 1 <= len(report.facts["sites"]) <= 150
    assert len(report.html()) < 3_000_000
    assert report.facts["overview"][0][0] in report.facts["sites"]


def test_rules_of_all_sites_are_shown_where_they_work() -> None:
    """A rule of site * stands on the page of each site that it does not except."""
    everywhere = replace(Rule.parse(SID, site="*"), except_sites=("b.test",))
    rows = [(f"http://{s}.test/{n}{q}", f"{n}") for s in "ab" for n in range(4) for q in ("", "?sid=1")]
    sites = undust.report(RuleSet([everywhere]), table(*rows)).facts["sites"]
    assert [rule["site"] for rule in sites["a.test"]["rules"]] == ["*"]
    assert sites["b.test"]["rules"] == []


@pytest.mark.parametrize("data", [{}, {"rows": []}, {"rows": [{"method": "x"}]}, {"rows": "x"}])
def test_other_data_to_compare_is_told(data: dict[str, Any]) -> None:
    """What is no output of `compare` ends in a sentence."""
    with pytest.raises(UndustError, match="undust compare --json"):
        undust.report(RuleSet(), table(("http://a.test/", "1")), compared=data)


def test_bad_input_is_told_in_a_sentence(sample: Callable[[str], Path], tmp_path: Path) -> None:
    """Each mistake names the place and the mend, before work is done."""
    files = (sample("rules.json"), sample("shop.jsonl.gz"))
    (tmp_path / "no.json").write_text("[", encoding="utf-8")
    assert "run it again" in sentence(run("report", *files, "--compare", tmp_path / "no.json"))
    assert "make it first" in sentence(run("report", *files, "-o", tmp_path / "no" / "page.html"))
    assert "no site 'x.test'" in sentence(
        run("report", *files, "-q", "--site", "x.test", "-o", tmp_path / "p.html")
    )
    assert "make it first" in sentence(run("learn", files[1], "--report", tmp_path / "no" / "page.html"))


def test_nothing_leaves_its_block() -> None:
    """JSON in the page holds no character that could end its element, and stays the same JSON."""
    text = "</script><script>alert(1)</script><!-- --> &amp; \u2028 \ud800"
    assert not set("<>&\u2028") & set(embedded(text))
    assert json.loads(embedded(text)) == text


def test_nothing_invisible_is_left() -> None:
    """Characters that hide or turn others around are written out."""
    assert visible("a\u202eb\u200b\x00\ud800é") == "a⟨U+202E⟩b⟨U+200B⟩⟨U+0000⟩⟨U+D800⟩é"


def test_a_rule_that_several_sites_have_is_shown_once() -> None:
    """On the page of many sites, with how many have it; a page of one site says nothing of it."""
    rows = [
        {"url": f"http://s{n}.test/p/{page}{form}", "digest": f"{n} {page}"}
        for n in range(4)
        for page in range(12)
        for form in ("", "?sid=1")
    ]
    text = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} -> {s}://{h}/{p}?{rest}"
    made = [Rule.parse(text, site=f"s{n}.test").to_json() for n in range(4)]
    rules = RuleSet([Rule.from_json(one | {"support": 12, "saves": 5, "fpr_upper": 0.02}) for one in made])
    facts = undust.report(rules, pa.Table.from_pylist(rows)).facts
    (alike,) = facts["alike"]
    assert (alike["words"], alike["verdict"], alike["site_count"]) == ("removes sid", "ok", 4)
    assert (alike["removed"], alike["bound"]) == (20, 0.02)
    only = undust.report(rules, pa.Table.from_pylist(rows), site="s1.test").facts
    assert only["alike"] == []


def test_each_reason_of_refusal_has_an_example(sample: Callable[[str], Path]) -> None:
    """However many candidates were refused for another reason."""
    result = undust.learn(undust.read(sample("shop.jsonl.gz")), details=True)
    site = only_site(undust.report(result, undust.read(sample("shop.jsonl.gz"))))
    reasons = [reason for reason, _ in site["refused"]["counts"]]
    assert len(reasons) > 1
    assert {one["reason"] for one in site["refused"]["rules"]} == set(reasons)
