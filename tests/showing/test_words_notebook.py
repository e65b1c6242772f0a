"""What a notebook shows of rules and evaluations: HTML in which strangers' texts are text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import undust
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from pathlib import Path

ATTACK = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
ALLOWED = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "code", "br", "del", "ins"}


class Elements(HTMLParser):
    """The elements and attributes of some HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.text += data


def test_rules_show_themselves(repository: Path) -> None:
    """A set is a table with a row for each rule; one rule shows its changes."""
    rules = undust.load(repository / "examples" / "rules.json")
    assert rules._repr_html_().count("<tr>") == len(rules) + 1
    rule = replace(rules[3], examples=(("http://www.a.test/?sid=1", "http://a.test/"),))
    shown = rule._repr_html_()
    assert "<del>www.</del>" in shown
    assert "removes" in shown


def test_an_evaluation_shows_itself(repository: Path) -> None:
    """Sites and rules, with what is removed and what is lost."""
    rules = undust.load(repository / "examples" / "rules.json")
    found = undust.evaluate(rules, undust.read(repository / "examples" / "shop.jsonl.gz"))
    text = Elements(found._repr_html_()).text
    assert f"{found.total.removed:.2%}" in text
    assert "teapots.test" in text
    assert str(rules[3]) in text


def test_hostile_rules_are_text() -> None:
    """Nothing that somebody wrote into a rule becomes an element."""
    rule = Rule.parse('replace "<script>" -> "<img src=x onerror=alert(1)>"', site="a.test")
    rule = replace(
        rule, learned_by=ATTACK, examples=((f"http://a.test/{ATTACK}", f"http://a.test/{ATTACK * 2}"),)
    )
    for html in (rule._repr_html_(), RuleSet([rule])._repr_html_()):
        found = Elements(html)
        assert found.tags <= ALLOWED
        assert found.names <= {"style"}
        assert "script" in found.text


def test_a_report_shows_itself_in_a_frame(repository: Path) -> None:
    """The frame runs the page's own script and nothing of the notebook's."""
    seen = undust.read(repository / "examples" / "shop.jsonl.gz")
    html = undust.report(RuleSet(name=ATTACK), seen)._repr_html_()
    found = Elements(html)
    assert found.tags == {"iframe"}
    assert found.names == {"sandbox", "style", "srcdoc"}
    assert 'sandbox="allow-scripts"' in html
