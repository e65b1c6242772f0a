"""For what a rule may be: a host name, an IP address, or all sites."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import undust
from tests.cli.command import run, sentence
from undust.errors import InvalidRule
from undust.exchange.exports import EXPORTERS
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from pathlib import Path

SITES = (
    *("*", "shop.test", "Shop.TEST", "localhost", "bücher.example", "xn--bcher-kva.example", "a_b.test"),
    *("127.0.0.1", "[2001:db8::1]", "shop.test.", "-a.test", "8.test", "a" * 63 + ".test"),
)
NOT_SITES = (
    *(
        "$(id)",
        "`id`",
        "a b.test",
        "a.test;rm -rf",
        "a.test\n",
        "a|b.test",
        "a'b.test",
        'a"b.test',
        "a&b.test",
    ),
    *(
        "",
        ".",
        "a..test",
        ".test",
        "a/b",
        "a.test/x",
        "http://a.test",
        "user@a.test",
        "a.test:80",
        "**",
        "*.a",
    ),
    *(
        "%24(id)",
        "a{b}.test",
        "a,b.test",
        "a!b.test",
        "a~b.test",
        "(a).test",
        "a*.test",
        "[::1",
        "999.1.1.1.1",
    ),
    *("a" * 64 + ".test", ".".join(["abcdefg"] * 40)),
)


def raw(site: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 -- fields of a rule
    """A rule of a site as a file has it."""
    return {"site": site, "kind": "replace", "from": "/old", "to": "/new", **more}


@pytest.mark.parametrize("site", SITES)
def test_sites(site: str) -> None:
    """Names in any case and script, addresses, and all sites."""
    data = json.dumps({"format": "undust-rules", "version": 1, "rules": [raw(site)]})
    assert len(RuleSet.loads(data)) == 1
    assert Rule.from_json(raw(site)).site == site


@pytest.mark.parametrize("site", NOT_SITES)
def test_other_texts_are_refused(site: str) -> None:
    """On loading, in one sentence that says which rule and what to write; in lists of exceptions too."""
    for rule in (raw(site), raw("*", except_sites=[site])):
        data = json.dumps({"format": "undust-rules", "version": 1, "rules": [raw("a.test"), rule]}, indent=1)
        with pytest.raises(InvalidRule, match=r"rules:\d+: rule 2, .*is not a site; write a host name"):
            RuleSet.loads(data)
        with pytest.raises(InvalidRule):
            RuleSet([rule]).compile()


def test_the_command_refuses_in_one_sentence(tmp_path: Path) -> None:
    """Whatever reads rules."""
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"format": "undust-rules", "version": 1, "rules": [raw("$(id)")]}))
    for words in (("rules", "list"), ("rules", "check"), ("apply",)):
        told = sentence(run(*words, path))
        assert told.startswith(f"{path}:1: rule 1, \"site\": '$(id)' is not a site")
    assert "is not a site" in sentence(run("export", path, "--to", "nginx"))


def test_learning_leaves_such_hosts_alone(tmp_path: Path) -> None:
    """Whoever sends requests can put any host into a log; what is learned of the others can be loaded."""
    rows = [
        {"url": f"http://{host}/p/{page}{form}", "cluster": f"{host}{page}"}
        for host in ("a.test", "$(id)", "x;y")
        for page in range(40)
        for form in ("", "?sid=1", f"?sid={page}x")
    ]
    path, output = tmp_path / "crawl.jsonl", tmp_path / "rules.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ended = run("learn", path, "-o", output)
    assert ended.code == 0
    assert "240 skipped: host is not a host name" in ended.err
    assert {rule.site for rule in undust.load(output)} == {"a.test"}
    table = pa.table({name: [row[name] for row in rows] for name in ("url", "cluster")})
    assert {rule.site for rule in undust.learn(table)} == {"a.test"}


@pytest.mark.parametrize("target", [exporter.name for exporter in EXPORTERS])
def test_no_export_gets_such_a_name(target: str, tmp_path: Path) -> None:
    """What reaches the configuration of a server is a host name."""
    with pytest.raises(InvalidRule, match="is not a site"):
        undust.export(RuleSet([raw("$(id)")]), target, tmp_path / "exported")
    assert list(tmp_path.iterdir()) == []
