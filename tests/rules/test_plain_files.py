"""Rule files as undust writes them go to the core as text; all others, and faults, take the longer way."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from typing import Any

import pytest

from undust.errors import RuleError
from undust.rules import Rule, RuleSet, files
from undust.rules.compiled import in_effect

SITE = "shop.test"
URLS = ("http://shop.test/a/index.php?b=1&sid=2", "http://shop.test/old/x", "http://shop.test/kept?sid=1", "")
PROOF: dict[str, Any] = {
    "learned_by": 'a "person" \\ \t/',
    "support": 12,
    "fpr": 1.5e-07,
    "examples": [["http://shop.test/ü", "http://shop.test/%C3%BC"]],
    "validated": {"when": "2030-01-01", "how": "held-out", "more": [[], {}, None, True, -0.5]},
}
RULES = (
    {"site": SITE, "kind": "replace", "from": "/index.php", "to": "/", **PROOF},
    {"site": SITE, "kind": "keep", "from": "{s}://{h}/kept?{rest**}", "to": None},
    {
        "site": SITE,
        "kind": "rewrite",
        "from": "{s}://{h}/{p**}?sid={*}&{rest**}",
        "to": "{s}://{h}/{p}?{rest}",
        "unless": ["/cart/{**}", "/ü"],
        "when": [],
        "status": "active",
    },
    {"site": "*", "kind": "replace", "from": "/old/", "to": "/new/", "except_sites": ["b.test"]},
    {"site": "*", "kind": "replace", "from": "/older/", "to": "/new/", "status": "disabled"},
)
LIMITED = {"site": SITE, "kind": "replace", "from": "/a/", "to": "/b/", "fetch": False}


def text_of(*rules: dict[str, Any], version: int = 1, **header: object) -> bytes:
    """Return a rule file with what else it says on both sides of its rules."""
    start = {"format": "undust-rules", "version": version, "note": ["[]", {"rules": [1]}]}
    return json.dumps(start | {"rules": rules} | header, ensure_ascii=False, indent=1).encode()


def is_plain(data: bytes) -> bool:
    """Return whether the core reads it."""
    return files.read_plain(data, "rules") is not None


def found_in(data: bytes, *, plainly: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """Return all that a rule file gives, or what is wrong with it."""
    with monkeypatch.context() as patched:
        if not plainly:
            patched.setattr(files, "read_plain", lambda _data, _name: None)
        try:
            rules = RuleSet.loads(data)
        except RuleError as error:
            return type(error), str(error)
    made = rules.compile()
    return [made.key(url) for url in URLS], rules.dumps(), len(rules), list(rules.raw), rules.checked


@pytest.mark.parametrize(
    "data",
    [
        text_of(*RULES),
        text_of(*RULES, LIMITED, version=2, checked={"says": "x", "rules": "y"}),
        text_of(*RULES, LIMITED | {"needs": ["0123456789abcdef"]}, version=2),
        text_of(*RULES, RULES[0] | {"from": "/x", "needs": []}),
        text_of(),
        RuleSet(map(Rule.from_json, RULES)).dumps(),
    ],
)
def test_plain_files_are_read_as_others_are(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same program, rules and bytes; also in another process, and whether anybody looked at the rules."""
    assert is_plain(data)
    plainly = found_in(data, plainly=True, monkeypatch=monkeypatch)
    assert plainly == found_in(data, plainly=False, monkeypatch=monkeypatch)
    rules = RuleSet.loads(data)
    again = copy.deepcopy(rules)
    assert again.dumps() == rules.dumps() == copy.deepcopy(rules).dumps()
    assert len(again.raw) == len(rules)


def test_needs_are_met_or_not_as_by_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in the texts, whatever sites rules are on, in whatever chains they need each other."""
    chance = random.Random(3)
    sites = ("a.test", "b.test", "*", "*")
    texts = ("x", "\x7f", "\u00e9\ud7ff", "\u20ac", "\U0001f600", "y" * 100, "z" * 120, "")
    off = 0
    for _ in range(40):
        rules: list[dict[str, Any]] = []
        for number in range(12):
            rule: dict[str, Any] = {"site": chance.choice(sites), "kind": "replace"}
            rule["to"] = f"/{number}{chance.choice(texts)}/"
            rule["from"] = f"/{chance.choice(texts)}f{number}/"
            if chance.random() < 0.4:
                rule["unless"] = [f"/{chance.choice(texts)}/{{**}}" for _ in range(chance.randrange(3))]
            if rule["site"] == "*":
                rule["except_sites"] = chance.sample(("a.test", "b.test", "c.test"), chance.randrange(3))
            rules.append(rule | ({"status": "disabled"} if chance.random() < 0.1 else {}))
        ids = RuleSet(rules).ids
        for each in rules:
            if chance.random() < 0.5:
                each["needs"] = [chance.choice((*ids, *ids, "0" * 16)) for _ in range(chance.randrange(1, 3))]
        data = text_of(*rules, version=2)
        found = files.read_plain(data, "rules")
        assert found is not None
        acts = in_effect(rules)
        off += acts.count(False)
        # A rule that is off makes nothing of a URL that it matches.
        urls = [f"http://{site}/f{number}/" for site in ("a.test", "b.test") for number in range(12)]
        by_objects = RuleSet(rules).compile()
        assert [found[2].canonical(url) for url in urls] == [by_objects(url) for url in urls]
        plainly = found_in(data, plainly=True, monkeypatch=monkeypatch)
        assert plainly == found_in(data, plainly=False, monkeypatch=monkeypatch)
        assert found[2].image(b"") == by_objects.program.image(b"")
    assert off > 40


def test_rules_are_read_when_they_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who only runs them waits for no objects."""
    made: list[str] = []
    whole = json.loads

    def watched(text: str, **said: object) -> object:
        made.append(text)
        return whole(text, **said)  # type: ignore[arg-type]

    monkeypatch.setattr(json, "loads", watched)
    rules = RuleSet.loads(text_of(*RULES))
    assert rules.compile().key(URLS[0]) == "http://shop.test/a/?b=1"
    assert len(rules) == len(RULES)
    assert all("index.php" not in text for text in made)
    assert rules[0].source == "/index.php"
    assert len(rules.raw[1:3]) == len(list(rules.raw)) - 3


@pytest.mark.parametrize(
    "data",
    [
        text_of(*RULES, RULES[0]),
        text_of(*RULES, RULES[1] | {"when": []}),
        text_of(LIMITED),
        text_of(LIMITED | {"fetch": True, "status": "proposed"}),
        text_of(RULES[0] | {"needs": ["0123456789abcdef"]}),
        text_of(RULES[0] | {"needs": ["01234567\\89abcdef"]}, version=2),
        text_of(RULES[0] | {"needs": None}, version=2),
        text_of(RULES[0] | {"needs": [1]}, version=2),
        text_of(LIMITED | {"fetch": 0}, version=2),
        text_of(LIMITED | {"status": "off"}, version=2),
        text_of({"site": SITE, "kind": "replace", "to": "/"}),
        text_of({"site": SITE, "kind": "replace", "from": "", "to": "/"}),
        text_of({"site": "a b", "kind": "keep", "from": "/x"}),
        text_of(*RULES, version=3),
        text_of(*RULES, format="other"),
        text_of(*RULES, rules={}),
        text_of(*RULES) + b"]",
        text_of(*RULES).replace(b'"from"', b'"fr\\u006fm"', 1),
        text_of(*RULES).replace(b'"support": 12', b'"support": 1e999'),
        text_of(*RULES).replace(b'"support": 12', b'"support": NaN'),
        text_of(*RULES).replace(b'"support": 12', b'"support": 012'),
        text_of(*RULES).replace(b'"support": 12', b'"support": ' + b"9" * 5000),
        text_of(*RULES).replace(b'"support": 12', b'"support": ' + b"[" * 50 + b"]" * 50),
        text_of(*RULES).replace(b'\xc3\xbc"', b'\xc3"', 1),
        text_of(*RULES).replace(b'\xc3\xbc"', b'\n"', 1),
        b'{"rules": [], "format": "undust-rules", "version": 1, "rules": []}',
        b'{"format": "undust-rules", "version": 1, "rules": [],}',
        b"\xef\xbb\xbf" + text_of(*RULES),
        b"",
    ],
)
def test_what_is_not_plain_takes_the_longer_way(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its answers and its faults, each in its own words."""
    with contextlib.suppress(RuleError):  # what is wrong with a header, or with its bytes, is said at once
        assert not is_plain(data)
    plainly = found_in(data, plainly=True, monkeypatch=monkeypatch)
    assert plainly == found_in(data, plainly=False, monkeypatch=monkeypatch)


def test_changed_bytes_never_make_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a file says, both ways read the same rules in it, or find the same fault."""
    chance = random.Random(7)
    whole = text_of(*RULES, LIMITED, version=2)
    marks = [
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"0",
        b"e",
        b"-",
        b".",
        b" ",
        b"\n",
        b"\x1f",
        b"\xc3",
    ]
    words = [
        b"null",
        b"true",
        b"false",
        b"1e5",
        b'"x"',
        b'"from"',
        b'"rules"',
        b'"needs"',
        b"[]",
        b"{}",
        b"\\u0041",
    ]
    plain = 0
    for _ in range(1500):
        data = whole
        for _ in range(chance.randrange(1, 3)):
            at, size = chance.randrange(len(data)), chance.choice((0, 0, 1, 1, 2, 8))
            data = data[:at] + chance.choice(chance.choice((marks, words, [b""]))) + data[at + size :]
        plainly = found_in(data, plainly=True, monkeypatch=monkeypatch)
        assert plainly == found_in(data, plainly=False, monkeypatch=monkeypatch), data
        plain += len(plainly) > 2
    assert plain > 100


def test_too_many_rules_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways."""
    monkeypatch.setattr(files, "MOST_RULES", len(RULES) - 1)
    assert not is_plain(text_of(*RULES))
    with pytest.raises(RuleError, match="split it by site"):
        RuleSet.loads(text_of(*RULES))


def test_equal_rules_are_named() -> None:
    """With the line of the second one."""
    with pytest.raises(RuleError, match=r"rules:\d+: .*says the same as rule 2"):
        RuleSet.loads(text_of(*RULES, RULES[1] | {"status": "disabled"}))
