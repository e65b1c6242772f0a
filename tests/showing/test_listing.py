"""Rules as people see them: tables, sheets, findings and differences, word for word."""

from __future__ import annotations

import html
import io
import re
from dataclasses import dataclass, replace
from typing import cast

from rich.console import Console, RenderableType

from undust.rules import Rule, RuleSet
from undust.rules.language import short_ids
from undust.rules.reasoning.check import check, difference
from undust.showing.listing import as_text, described, difference_table, findings_table, listed, sheet
from undust.showing.words import MOST_ROWS, rule_as_html, set_as_html

OWN = Rule(
    "shop.test",
    "replace",
    "/index.php",
    "/",
    learned_by="substring",
    support=1200,
    false_positives=3,
    fpr=0.0025,
    fpr_upper=0.01,
    saves=1234,
    examples=(("http://shop.test/index.php", "http://shop.test/"), ("http://shop.test/a/index.php", "x")),
)
OFF = Rule("shop.test", "keep", "{s}://{h}/{p**}?do=edit&{rest**}", status="disabled")
SHARED = Rule("*", "rewrite", "http://{h}/{p**}?{q**}", "https://{h}/{p}?{q}", except_sites=("a.test",))


def shown(what: RenderableType) -> str:
    """What a terminal of 60 columns shows."""
    console = Console(file=io.StringIO(), width=60, color_system=None)
    console.print(what)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def test_a_table_tells_sites_and_what_is_off_by_style() -> None:
    """Numbers begin at one, heads and sites are bold, what is off is dim, long rules are folded."""
    lines = list(listed([OWN, OFF, SHARED], 69, lambda text, style: f"<{style}:{text}>" if style else text))
    ids = [rule.id[:8] for rule in (OWN, OFF, SHARED)]
    blank = " " * 36
    assert lines == [
        "<bold:#  id        removed  lost  risk ≤  rule>",
        f"{blank}<bold:shop.test>",
        f'1  {ids[0]}    1,234    ≥1   1.00%  replace "/index.php"',
        f'{blank}      → "/"',
        f"2  {ids[1]}                         <dim:keep    {{s}}://{{h}}/{{p**}}?do=edit&{{>",
        f"{blank}<dim:rest**}}>",
        f"{blank}<dim:    off>",
        f"{blank}<bold:all sites>",
        f"3  {ids[2]}                         rewrite http://{{h}}/{{p**}}?{{q**}}",
        f"{blank}      → https://{{h}}/{{p}}?{{q}}",
        f"{blank} except a.test",
        "3 rules of 2 sites, 1 off, 1,234 held-out URLs removed",
    ]


def test_a_table_tells_who_proposed_a_rule_and_what_it_does() -> None:
    """Under the id, and with the shortest example; a rule that a person wrote has neither."""
    kept = replace(OFF, learned_by="a learner with a name that is longer", status="active")
    blank = " " * 36
    lines = list(listed([OWN, kept, SHARED], 100, lambda text, _: text, origins=True))
    written = list(listed([replace(OFF, status="active")], 100, lambda text, _: text, origins=True))
    assert len(written) == 4  # the head, the site, the rule and the count
    assert lines[2:] == [
        f'1  {OWN.id[:8]}    1,234    ≥1   1.00%  replace "/index.php"',
        '   by substring                           → "/"',
        f"{blank}  as in http://shop.test/index.php",
        f"{blank}      → http://shop.test/",
        f"2  {kept.id[:8]}                         keep    {{s}}://{{h}}/{{p**}}?do=edit&{{rest**}}",
        "   by a learner with a name that …",
        f"{blank}all sites",
        f"3  {SHARED.id[:8]}                         rewrite http://{{h}}/{{p**}}?{{q**}}",
        f"{blank}      → https://{{h}}/{{p}}?{{q}}",
        f"{blank} except a.test",
        "3 rules of 2 sites, 1,234 held-out URLs removed",
    ]


def test_a_table_as_text_is_a_hundred_columns_wide() -> None:
    """A long rule is folded at the edge."""
    long = Rule("shop.test", "replace", "/" + "a" * 150, "/")
    assert max(map(len, as_text(RuleSet([long])).splitlines())) == 100


def test_a_sheet_has_all_that_is_known() -> None:
    """One line for each fact, nothing for what is unknown, each example on two lines."""
    assert shown(sheet(OWN)) == (
        f"id           {OWN.id}\n"
        "site         shop.test\n"
        'rule         replace "/index.php"\n'
        '                   → "/"\n'
        "status       on\n"
        "verdict      look: 3 of 1,200 pairs are different pages\n"
        "learned by   substring\n"
        "support      1,200\n"
        "false pairs  3\n"
        "fpr          0.25%\n"
        "removed      1,234\n"
        "lost         ≥1\n"
        "risk ≤       1.00%\n"
        "examples     http://shop.test/index.php\n"
        "             → http://shop.test/\n"
        "             http://shop.test/a/index.php\n"
        "             → x\n"
    )
    assert "status   off\n" in shown(sheet(OFF))


def test_findings_are_paragraphs() -> None:
    """The kind, what to do, the rules; and how many. Nothing found is said too."""
    there, back = (Rule("a.test", "replace", *texts) for texts in (("/a/", "/b/"), ("/b/", "/a/")))
    text = shown(findings_table(check(RuleSet([there, back])), 2))
    assert text.startswith("inverse  rules 1 and 2 undo each other:")
    assert (
        '\n         1: replace "/a/" → "/b/"\n         2: replace "/b/" → "/a/"\n\n1 finding in 2 rules\n'
        in text
    )
    assert shown(findings_table([], 1)) == "1 rule, nothing found\n"


def test_differences_are_counted_and_shown() -> None:
    """What came, went and changed, one rule a row; two equal sets have no difference."""
    changed = Rule.from_json(OWN.to_json() | {"saves": 7})
    text = shown(difference_table(difference(RuleSet([OWN, OFF]), RuleSet([changed, SHARED]))))
    assert f"+  {SHARED.id[:8]}  all sites: rewrite" in text
    assert f"-  {OFF.id[:8]}  shop.test: keep" in text
    assert f"~  {OWN.id[:8]}" in text
    assert "saves 1234 → 7\n" in text
    assert text.endswith("1 added, 1 removed, 1 changed\n")
    assert shown(difference_table(difference(RuleSet([OWN]), RuleSet([OWN])))) == "no difference\n"


def test_what_came_of_nothing_and_what_is_long_is_told_whole() -> None:
    """A figure that was not there before; a rule longer than the terminal is wide."""
    unmeasured = Rule.from_json({key: value for key, value in OWN.to_json().items() if key != "saves"})
    text = shown(difference_table(difference(RuleSet([unmeasured]), RuleSet([OWN]))))
    assert "saves nothing → 1234\n" in text
    long = Rule("shop.test", "replace", "/" + "x" * 150, "/y")
    text = shown(difference_table(difference(RuleSet(), RuleSet([long]))))
    assert (text.count("x"), "…" in text) == (150, False)


def test_conditions_stand_below_their_rule() -> None:
    """Each with its word."""
    rule = Rule("a.test", "keep", "{s}://{h}/{p**}?{r**}", when=("?x", "/a/{**}"), unless=("?y",))
    assert described(rule).splitlines()[1:] == ["   when ?x, /a/{**}", " unless ?y"]


@dataclass
class Named:
    """Anything with an id."""

    id: str


def test_short_ids_tell_rules_apart() -> None:
    """Eight digits at least, and as many as it takes to differ from every other."""
    ids = ["aaaaaaaaa1ff", "aaaaaaaaa2ff", "aaaaaaaab2ff", "bbbbbbbbbbbb"]
    short = short_ids([cast("Rule", Named(name)) for name in ids])
    assert short == dict(zip(ids, ["aaaaaaaaa1", "aaaaaaaaa2", "aaaaaaaab", "bbbbbbbb"], strict=True))
    assert short_ids([OWN, OWN]) == {OWN.id: OWN.id[:8]}


def cells(page: str) -> list[list[str]]:
    """The texts of a table in HTML, row by row."""
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
    return [[html.unescape(re.sub(r"<[^>]*>", " ", cell)).strip() for cell in row] for row in rows]


def test_a_notebook_shows_the_same() -> None:
    """The facts of a rule with their names; of a large set the first rules, and how many there are."""
    written = 'replace "/index.php"       → "/"'
    does = "replaces “/index.php” with “/”"
    assert cells(rule_as_html(OWN))[1:] == [
        ["what it does", does],
        ["rule", written],
        ["site", "shop.test"],
        ["status", "on"],
        ["verdict", "look: 3 of 1,200 pairs are different pages"],
        ["learned by", "substring"],
        ["removed", "1,234 held-out URLs"],
        ["lost", "≥1"],
        ["support", "1,200 pairs, 3 false"],
        ["risk ≤", "1.00%"],
        ["id", OWN.id],
        ["example", "http://shop.test/ index.php"],
        ["example", "http://shop.test/a/index.php  x"],
    ]
    assert [fact for fact, _ in cells(rule_as_html(OFF))[1:]] == [
        "what it does",
        "rule",
        "site",
        "status",
        "verdict",
        "id",
    ]
    assert ["status", "off"] in cells(rule_as_html(OFF))
    table = cells(set_as_html(RuleSet([OWN, OFF])))
    assert table[0] == ["#", "id", "site", "what it does", "rule", "removed", "lost", "risk ≤", ""]
    assert table[1] == ["1", OWN.id[:8], "shop.test", does, written, "1,234", "≥1", "1.00%", ""]
    assert (table[2][:2], table[2][5:]) == (["2", OFF.id[:8]], ["", "", "", "off"])
    assert "the first" not in set_as_html(RuleSet([OWN, OFF]))
    many = [Rule("a.test", "replace", f"/{number}/", "/") for number in range(MOST_ROWS + 1)]
    assert f"the first {MOST_ROWS} of {MOST_ROWS + 1}" in set_as_html(RuleSet(many))
    assert set_as_html(RuleSet(many)).count("<tr") == MOST_ROWS + 1 == 201
