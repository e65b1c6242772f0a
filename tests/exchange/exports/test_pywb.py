"""Fuzzy lookups of pywb, by a model of what it documents; `test_real_pywb.py` asks the real one.

A lookup takes the first rule whose prefix and expression fit the key asked for, fills its filters with the
groups, and answers with all keys of the host that the filters match.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from tests.exchange.exports import shop
from undust import Rule, RuleSet, normalize
from undust.errors import CannotExpress, RuleError
from undust.exchange.exports import export

if TYPE_CHECKING:
    from pathlib import Path

RULES = (
    "rewrite {s}://{h}/print.php?id={n:int} → {s}://{h}/guide/{n}",
    "rewrite {s}://{h}/p/{*}/{id:int}?{**} → {s}://{h}/p/{id}",
    "rewrite {s}://{h}/home?{**} → {s}://{h}/start",
    "rewrite {s}://{h}/d/{x:date} → {s}://{h}/day?d={x}",
    "rewrite {s}://{h}/old/{w:word}.html → {s}://{h}/new/{w}",
    "rewrite {s}://{h}/guide/{n:int}.html → {s}://{h}/guide/{n}",
    shop.ESSENTIAL["drop one parameter"],
)
REFUSED = (
    "rewrite {s}://{h}/guide/{n:int} → {s}://{h}/g/{n}",
    "rewrite {s}://{h}/Upper → {s}://{h}/lower",
    "rewrite {s}://m.shop.test/{p**} → {s}://shop.test/{p}",
    "rewrite {s}://{h}/x/{a:int}/{b:int} → {s}://{h}/y/{a}/{b}",
    "rewrite {s}://{h}/{p**}?ID={**}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?{**:d*}&{rest**} → {s}://{h}/{p}?{rest}",
    *(text for name, text in shop.ESSENTIAL.items() if name != "drop one parameter"),
)
PATHS = (
    "/print.php?id={}", "/guide/{}", "/p/slug/{}", "/p/x.y/{}?a=1", "/p/{}", "/home", "/home?a={}",
    "/start", "/homes", "/d/2024-01-{}", "/day?d=2024-01-{}", "/old/{}.html", "/new/{}", "/other/{}",
    "/print.php?id={}x", "/guide/{}.html",
)  # fmt: skip


class Lookup(NamedTuple):
    """One rule of the file."""

    prefixes: tuple[str, ...]
    match: str
    filters: list[str]


def lookups(text: str) -> list[Lookup]:
    """The rules of a file that undust wrote."""
    found = []
    for each in yaml.safe_load(text)["rules"]:
        prefixes, lookup = each["url_prefix"], each["fuzzy_lookup"]
        assert lookup["type"] == "host"
        starts = (prefixes,) if isinstance(prefixes, str) else tuple(prefixes)
        found.append(Lookup(starts, lookup["match"], lookup["filter"]))
    return found


def key_of(url: str) -> str:
    """The key of a URL that is lower case and sorted already."""
    host, slash, rest = url.removeprefix("http://").partition("/")
    name, colon, port = host.partition(":")
    return ",".join(reversed(name.split("."))) + f"{colon}{port}){slash}{rest}"


def passes(key: str, test: str) -> bool:
    """Whether a key passes a filter: an expression, or the whole key."""
    if test.startswith("="):
        return test == f"=urlkey:{key}"
    return re.match(test.removeprefix("~urlkey:"), key) is not None


def found_by(rules: list[Lookup], asked: str, keys: list[str]) -> list[str]:
    """The keys with which a lookup answers."""
    for rule in rules:
        match = re.search(rule.match, asked) if asked.startswith(rule.prefixes) else None
        if match is not None:
            host = asked.partition(")")[0]
            tests = {text.format(group) for group in match.groups() for text in rule.filters}
            own = [key for key in keys if key.partition(")")[0] == host]
            return [key for key in own if all(passes(key, test) for test in tests)]
    return [key for key in keys if key == asked]


def urls(count: int, seed: int) -> list[str]:
    """URLs of three hosts, few enough to be the same page now and then."""
    chance = random.Random(seed)
    hosts = ("shop.test", "shop.test", "m.shop.test", "shop.test:8080", "other.test")
    return [
        normalize(f"http://{chance.choice(hosts)}{chance.choice(PATHS).format(chance.randint(10, 30))}")
        for _ in range(count)
    ]


def test_a_page_is_found_under_all_its_urls() -> None:
    """A lookup of any URL finds exactly the captured URLs of its host that have the same canonical form."""
    exported = export(shop.rules_of(*RULES, *REFUSED), "pywb")
    assert [str(rule) for rule in exported.rules] == list(RULES)
    canonical = RuleSet(exported.rules).compile()
    rules = lookups(exported.text)
    captured = list(dict.fromkeys(urls(120, 1)))
    forms = {key_of(url): canonical(url) for url in captured}
    found_elsewhere = 0
    for url in urls(5000, 2):
        found = found_by(rules, key_of(url), list(forms))
        assert found == [key for key, form in forms.items() if form == canonical(url)], url
        found_elsewhere += any(key != key_of(url) for key in found)
    assert found_elsewhere > 500


def test_many_rules_with_one_target_share_one_filter() -> None:
    """Each form finds the pages of all forms, and the file grows with the rules, not with their square."""
    texts = [f"rewrite {{s}}://{{h}}/old{n}/{{id:int}} → {{s}}://{{h}}/item/{{id}}" for n in range(100)]
    half, exported = (export(shop.rules_of(*texts[:count]), "pywb") for count in (50, 100))
    assert len(exported.rules) == 100
    assert len(exported.text) < 2.5 * len(half.text)
    rules = lookups(exported.text)
    assert len(rules) == 101
    keys = ["test,shop)/item/7", "test,shop)/old3/7", "test,shop)/old3/8", "test,shop)/old99/7"]
    for asked in ("test,shop)/item/7", "test,shop)/old0/7", "test,shop)/old99/7"):
        assert found_by(rules, asked, keys) == [key for key in keys if key.endswith("/7")]


SIDS = (
    "?sid=4",
    "?a=1&sid=4",
    "?sid=4&z=1",
    "?id=7&sid=4",
    "?page=2&sid=",
    "?sid=1&sid=2",
    "?sidx=1",
    "?x=sid&y=4",
)


def test_parameters_are_removed_where_they_come_last() -> None:
    """A lookup leads to the URL without them, if that was captured, and never to another page."""
    exported = export(shop.rules_of(*RULES), "pywb")
    canonical = RuleSet(exported.rules).compile()
    rules = lookups(exported.text)
    captured = [
        f"http://shop.test{path}{query}"
        for path in ("/", "/a", "/b.php")
        for query in ("", "?a=1", "?z=1", "?id=7", "?page=2")
    ]
    forms = {key_of(url): canonical(url) for url in captured}
    for path in ("/", "/a", "/b.php", "/guide/4.html"):
        for query in SIDS:
            url = f"http://shop.test{path}{query}"
            found = found_by(rules, key_of(url), list(forms))
            assert {forms[key] for key in found} <= {canonical(url)}, url
            if path != "/guide/4.html" and re.search("[?&]sid=[^&]*$", query):
                assert found, url


def test_rules_of_all_sites_and_their_exceptions() -> None:
    """A rule of all sites is written for every host but those of the sites that it excepts."""
    text = "rewrite {s}://{h}/{p**}?{k**:id|page}&{**} → {s}://{h}/{p}?{k}"
    rule = replace(Rule.parse(text, site="*"), except_sites=("other.test",))
    rules = lookups(export(RuleSet([rule]), "pywb").text)
    keys = ["test,shop)/a?id=1", "test,other)/a?id=1", "test,other,m)/a"]
    assert found_by(rules, "test,shop)/a?id=1&x=2", keys) == ["test,shop)/a?id=1"]
    assert found_by(rules, "test,other)/a?id=1&x=2", keys) == []
    assert found_by(rules, "test,other,m)/a?x=2", keys) == []


BASE = """\
default_filters:
    url_normalize: []

rules:

    # their own
    - url_prefix: ''
      fuzzy_lookup:
        match: '()'
"""


def test_rules_are_put_at_the_top_of_a_file(tmp_path: Path) -> None:
    """With the indentation of the file, before its own rules, which stay."""
    (tmp_path / "rules.yaml").write_text(BASE, encoding="utf-8")
    rules = shop.rules_of(RULES[0])
    exported = export(rules, "pywb", base=tmp_path / "rules.yaml")
    own = yaml.safe_load(export(rules, "pywb").text)["rules"]
    merged = yaml.safe_load(exported.text)
    assert merged == yaml.safe_load(BASE) | {"rules": [*own, *yaml.safe_load(BASE)["rules"]]}
    assert exported.text.endswith(BASE.partition("rules:\n")[2])
    (tmp_path / "other.yaml").write_text("a: 1\n", encoding="utf-8")
    with pytest.raises(RuleError, match=r"other\.yaml: there is no line 'rules:'"):
        export(rules, "pywb", base=tmp_path / "other.yaml")
    with pytest.raises(CannotExpress, match="only pywb takes one"):
        export(rules, "nginx", base=tmp_path / "rules.yaml")


def test_the_file_alone_has_what_pywb_needs() -> None:
    """It does not start without its filters, nor without a list of rules."""
    for rules in (shop.rules_of(*RULES), RuleSet()):
        said = yaml.safe_load(export(rules, "pywb").text)
        assert set(said["default_filters"]) >= {"fuzzy_search_limit", "not_exts", "mimes", "url_normalize"}
        assert isinstance(said["rules"], list)


def test_other_rules_are_refused_by_name() -> None:
    """What a lookup cannot say is left out with a reason, and nothing else is."""
    exported = export(shop.rules_of(*RULES, *REFUSED), "pywb")
    assert [str(refusal.rule) for refusal in exported.refused] == list(REFUSED)
    reasons = [refusal.reason for refusal in exported.refused]
    assert "rule 1 may send a URL on" in reasons[0]
    assert "another rule reads the parameter d" in reasons[5]
    assert "lower case" in reasons[1]
    assert "stays on the host" in reasons[2]
