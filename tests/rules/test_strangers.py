"""A rule file by a stranger: any bytes are loaded or refused in one sentence, with work that is bounded."""

from __future__ import annotations

import gzip
import json
from time import process_time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import hostile_urls, rule_sets
from undust.errors import SourceError, UndustError
from undust.rules import RuleSet, files
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SITE = "example.com"
HEAD = {"format": "undust-rules", "version": 1}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=20,
)
keys = st.sampled_from(
    ["site", "kind", "from", "to", "when", "unless", "except_sites", "status", "examples", "id"]
)


def refused_or_loaded(data: bytes) -> RuleSet | None:
    """Return the rules, or None after a refusal of one sentence."""
    try:
        rules = RuleSet.loads(data, name="rules.json")
        list(rules)
    except UndustError as error:
        assert str(error).startswith("rules.json")  # noqa: PT017 -- either end is right
        assert "\n" not in str(error)  # noqa: PT017
        return None
    return rules


@given(
    st.binary(max_size=300) | st.text(max_size=300).map(str.encode) | values.map(json.dumps).map(str.encode)
)
def test_any_bytes(data: bytes) -> None:
    """Not a rule file: one sentence."""
    assert refused_or_loaded(data) is None


@settings(max_examples=40)
@given(st.lists(st.dictionaries(keys | st.text(max_size=5), values, max_size=9), max_size=3))
def test_any_json_in_the_place_of_rules(rules: list[Any]) -> None:
    """Every field may hold anything; what is loaded can be written and loaded again."""
    loaded = refused_or_loaded(json.dumps(HEAD | {"rules": rules}).encode())
    if loaded is not None:
        assert RuleSet.loads(loaded.dumps()).dumps() == loaded.dumps()


@settings(max_examples=40)
@given(rule_sets(), st.lists(hostile_urls(), max_size=5))
def test_what_is_loaded_runs_and_ends(rules: list[dict[str, Any]], urls: list[str]) -> None:
    """Rules that chain, cycle and grow on URLs that nobody writes: one answer, of the same site."""
    try:
        canonicalize = RuleSet.loads(json.dumps(HEAD | {"rules": rules})).compile()
    except UndustError:
        return  # two that say the same
    for url in urls:
        once = canonicalize(url)
        assert canonicalize(once) == once
        assert site_of(once) == site_of(url)


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"a":' * 100_000, '{"rules": ' + "[" * 100_000])
def test_nesting_is_bounded(nested: str) -> None:
    """However deep, it is refused before the stack ends."""
    assert refused_or_loaded(nested.encode()) is None


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that unpacks to a large one is refused before it is held."""
    monkeypatch.setattr(files, "MOST_FILE_BYTES", 1 << 20)
    path = tmp_path / "rules.json.gz"
    path.write_bytes(gzip.compress(b" " * (8 << 20)))
    with pytest.raises(SourceError, match="it holds more than 1 MiB, unpacked; give it in smaller files"):
        RuleSet.load(path)


def test_the_number_of_rules_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has no more rules than anybody needs."""
    monkeypatch.setattr(files, "MOST_RULES", 2)
    rules = [{"site": SITE, "kind": "replace", "from": f"a{n}", "to": "b"} for n in range(3)]
    with pytest.raises(UndustError, match="3 rules, and a file has at most 2; split it by site"):
        RuleSet.loads(json.dumps(HEAD | {"rules": rules}))


def _rewrite(source: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 -- as in a rule file
    return {"site": SITE, "kind": "rewrite", "from": f"{{s}}://{{h}}/{source}", "to": "{s}://{h}/", **more}


SLOW: dict[str, Callable[[int], dict[str, Any]]] = {
    "one prefix": lambda n: _rewrite("a-" * 20 + f"{{x}}-{n}"),
    "many names": lambda n: _rewrite("{p**}?{**:" + "|".join(f"n{n}_{k}*" for k in range(50)) + "}&{r**}"),
    "many conditions": lambda n: _rewrite(f"{{p**}}/{n}", unless=[f"/a{k}" for k in range(100)]),
    "many captures": lambda n: _rewrite("-".join(f"{{a{k}}}" for k in range(97)) + f"-{n}"),
    "one left side": lambda n: _rewrite("a", unless=[f"/x{n}"]),
}


@pytest.mark.parametrize("name", SLOW)
def test_loading_takes_time_in_proportion(name: str) -> None:
    """Eight times the rules take about eight times the time; squared it would be sixty-four."""

    def seconds(count: int) -> float:
        data = json.dumps(HEAD | {"rules": [SLOW[name](n) for n in range(count)]}).encode()
        times = []
        for _ in range(3):
            started = process_time()
            RuleSet.loads(data)
            times.append(process_time() - started)
        return min(times)

    assert seconds(2400) < 30 * max(seconds(300), 0.0005)
