"""Rules in parts: a folder that means what the file means, of which only what is asked for is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import undust
from tests.cli.command import run, sentence
from undust.errors import InvalidRule, RuleError, UnknownVersion
from undust.files import streams
from undust.rules import Rule, RuleSet, files, load, ruleset

if TYPE_CHECKING:
    from pathlib import Path

SITES = 50


@pytest.fixture(autouse=True)
def _parts_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PART_RULES", 7)


def many() -> RuleSet:
    """Rules of many sites in no order, three each, with two for all sites among them."""
    rules = [
        Rule.parse(
            f'replace "/{name}{number}" -> "/{number}"', site=f"{'S' if number % 2 else 's'}{number}.test"
        )
        for name in "cab"
        for number in range(SITES)
    ]
    for_all = [Rule.parse(f'replace "/{name}/" -> "/"', site="*") for name in "yx"]
    return RuleSet([for_all[0], *rules[:60], for_all[1], *rules[60:]])


URLS = [
    f"http://{host}/{name}{number}/y/x/z"
    for number in range(SITES)
    for host in (f"s{number}.test", "other.test")
    for name in "abc"
]


def test_the_folder_means_what_the_file_means(tmp_path: Path) -> None:
    """The same canonical forms; each site in one part, in its order; each part a rule file."""
    rules, folder = many(), f"{tmp_path}/rules/"
    rules.save(folder)
    again = load(folder)
    assert sorted(rule.id for rule in again) == sorted(rule.id for rule in rules)
    before, after = rules.compile(), again.compile()
    assert [after(url) for url in URLS] == [before(url) for url in URLS]
    for site in ("s7.test", "*"):
        own, found = ([rule.id for rule in each if rule.site.lower() == site] for each in (rules, again))
        assert own == found != []
    held = [load(path) for path in sorted((tmp_path / "rules").glob("*.json")) if path.name != files.INDEX]
    assert len(held) > SITES * 3 // 7
    sites = [{rule.site.lower() for rule in part} for part in held]
    assert sum(map(len, sites)) == SITES + 1
    again.save(folder)
    assert load(folder).dumps() == again.dumps()


def test_only_the_parts_of_the_sites_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is for all sites; damage elsewhere is not even seen."""
    folder = f"{tmp_path}/rules/"
    many().save(folder)
    read: list[str] = []

    def watched(path: str, most: int) -> bytes:
        read.append(path)
        return streams.read_whole(path, most)

    monkeypatch.setattr(files, "read_whole", watched)
    some = ruleset.load(folder, ["S8.test", "missing.test"])
    assert {rule.site.lower() for rule in some} == {"s8.test", "*"}
    assert len(some) == 5
    assert len({path for path in read if not path.endswith(files.INDEX)}) == 2
    assert load(folder, []).dumps() == RuleSet([rule for rule in many() if rule.site == "*"]).dumps()


def test_who_is_interrupted_leaves_the_rules_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index comes last; then what only the old one named is removed."""
    folder = f"{tmp_path}/rules/"
    many().save(folder)
    expected = load(folder).dumps()
    fewer = RuleSet(list(many())[:20])

    def full(path: str) -> object:
        if path.endswith(files.INDEX):
            raise OSError(28, "no space left", path)
        return streams.open_output(path)

    with monkeypatch.context() as patch:
        patch.setattr(files, "open_output", full)
        with pytest.raises(OSError, match="no space"):
            fewer.save(folder)
    assert load(folder).dumps() == expected
    fewer.save(folder)
    assert sorted(rule.id for rule in load(folder)) == sorted(rule.id for rule in fewer)
    index = json.loads((tmp_path / "rules" / files.INDEX).read_text())
    known = {part["file"] for part in index["parts"]} | {files.INDEX}
    assert known == {path.name for path in (tmp_path / "rules").iterdir()}


def test_damage_is_refused(tmp_path: Path) -> None:
    """A part that was changed, an index that is none, a part outside of the folder, a newer version."""
    folder = tmp_path / "rules"
    many().save(f"{folder}/")
    index = folder / files.INDEX
    text = index.read_text()
    part = folder / json.loads(text)["parts"][0]["file"]
    data = part.read_bytes()
    part.write_bytes(data.replace(b"/a", b"/e"))
    with pytest.raises(InvalidRule, match="damaged or changed; get the folder again"):
        load(folder)
    part.write_bytes(data)
    for wrong in ("", "[]", "{}", text.replace(part.name, "../other.json"), text[: len(text) // 2]):
        index.write_text(wrong)
        with pytest.raises(InvalidRule, match=r"index\.json: not the index of a folder of rules"):
            load(folder)
    index.write_text(text.replace('"version": 1', '"version": 9', 1))
    with pytest.raises(UnknownVersion, match="update undust"):
        load(folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(RuleError, match="is a file, and rules in parts are a folder"):
        many().save(f"{tmp_path}/file/")


def test_commands_write_and_read_folders(tmp_path: Path) -> None:
    """`learn` writes one, `apply` and `rules compile` take it whole or by sites."""
    folder, urls, sites = f"{tmp_path}/rules/", tmp_path / "urls.txt", tmp_path / "sites.txt"
    assert run("learn", "examples/shop.jsonl.gz", "-o", folder).code == 0
    learned = undust.learn(undust.read("examples/shop.jsonl.gz"))
    assert load(folder).dumps() == learned.dumps()
    fewer = RuleSet(list(learned)[1:])
    fewer.save(folder)
    assert run("learn", "examples/shop.jsonl.gz", "--update", folder, "--yes").code == 0
    assert {rule.id for rule in load(folder)} >= {rule.id for rule in learned}
    assert load(f"{tmp_path}/rules.bak").dumps() == fewer.dumps()
    many().save(folder)
    urls.write_text("http://s3.test/a3\nhttp://s4.test/a4\n")
    sites.write_text("s3.test\n")
    assert run("apply", folder, urls).out.decode().split() == ["http://s3.test/3", "http://s4.test/4"]
    some = run("apply", folder, urls, "--sites", sites).out.decode().split()
    assert some == ["http://s3.test/3", "http://s4.test/a4"]
    assert run("apply", folder, urls, "--sites", "s3.test").out.decode().split() == some
    for site, form in (("s3.test", "http://s3.test/3"), ("s4.test", "http://s3.test/a3")):
        told = json.loads(run("explain", "--json", folder, "http://s3.test/a3", "--sites", site).out)
        assert told["canonical"] == form
    assert "has no rules of a site of this name" in sentence(run("apply", folder, urls, "--sites", "s.txt"))
    for words in (
        ("rules", "list", folder),
        ("explain", folder, "http://s3.test/a3"),
        ("rules", "check", folder),
    ):
        assert run(*words).code in {0, 1}, words
    assert b"Written by undust" in run("export", folder, "--to", "nginx").out
    assert run("rules", "disable", folder, load(folder)[0].id).code == 0
    assert load(folder)[0].status == "disabled"
    compiled = tmp_path / "rules.undust"
    assert run("rules", "compile", folder.rstrip("/"), "--sites", sites, "-o", compiled).code == 0
    assert len(load(compiled)) == 5
    assert "index.json" in sentence(run("apply", f"{tmp_path}/none/", urls))
