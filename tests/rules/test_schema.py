"""The JSON Schema that is shipped says what the reader accepts."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given

from tests.rules.evidenced import rule_lists
from undust.errors import RuleError
from undust.rules import RuleSet
from undust.rules.language import KINDS, STATUSES

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA: dict[str, Any] = json.loads(files("undust.rules").joinpath("schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
DROP = {"site": "shop.test", "kind": "replace", "from": "?sid", "to": ""}
KEEP = {"site": "shop.test", "kind": "keep", "from": "{s}://{h}/a"}


def file_of(*rules: object) -> dict[str, Any]:
    """A rule file with these rules."""
    return {"format": "undust-rules", "version": 1, "rules": list(rules)}


def test_the_schema_is_one() -> None:
    """Draft 2020-12 accepts it."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_knows_every_kind_and_status() -> None:
    """A new kind or status has to be told to the schema."""
    properties = SCHEMA["$defs"]["rule"]["properties"]
    assert properties["kind"]["enum"] == list(KINDS)
    assert properties["status"]["enum"] == list(STATUSES)


@given(rule_lists())
def test_what_undust_writes_is_valid(rules: list[dict[str, Any]]) -> None:
    """Every saved file fits the schema."""
    VALIDATOR.validate(json.loads(RuleSet(rules).dumps()))


def test_the_bundled_sample_is_valid(repository: Path) -> None:
    """A file that a person wrote, without ids."""
    VALIDATOR.validate(json.loads((repository / "examples" / "rules.json").read_bytes()))


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"format": "undust-rules", "version": 1},
        {"format": "other", "version": 1, "rules": []},
        {"format": "undust-rules", "version": 3, "rules": []},
        {"format": "undust-rules", "version": True, "rules": []},
        {"format": "undust-rules", "version": 1, "rules": {}},
        file_of("keep {s}://{h}/a"),
        file_of({"kind": "keep", "from": "{s}://{h}/a"}),
        file_of(KEEP | {"site": ""}),
        file_of(KEEP | {"kind": "drop"}),
        file_of(KEEP | {"to": "{s}://{h}/b"}),
        file_of(KEEP | {"kind": "rewrite"}),
        file_of(KEEP | {"from": ""}),
        file_of(KEEP | {"from": 1}),
        file_of(KEEP | {"when": "?a"}),
        file_of(KEEP | {"when": [1]}),
        file_of(KEEP | {"unless": [""]}),
        file_of(KEEP | {"site": "*", "except_sites": "shop.test"}),
        file_of(KEEP | {"site": "*", "except_sites": [""]}),
        file_of(KEEP | {"status": "off"}),
        file_of(KEEP | {"status": "proposed"}),
        file_of(KEEP | {"needs": ["0123456789abcdef"]}),
        file_of(DROP | {"fetch": False}),
        file_of(DROP | {"fetch": 0}),
        file_of(KEEP | {"fetch": False}) | {"version": 2},
        file_of(KEEP | {"needs": "0123456789abcdef"}) | {"version": 2},
        file_of(KEEP | {"needs": [1]}) | {"version": 2},
        file_of(KEEP | {"review": {"verdict": "maybe"}}),
        file_of(KEEP | {"review": {"by": 1}}),
        file_of(KEEP | {"targets": {"seen": -1}}),
        file_of(KEEP | {"support": -1}),
        file_of(KEEP | {"fpr": 2}),
        file_of(KEEP | {"examples": ["http://a.test/"]}),
        file_of(KEEP | {"validated": {"how": "live"}}),
    ],
)
def test_schema_and_reader_refuse_the_same(content: Any) -> None:  # noqa: ANN401 -- any JSON
    """What the schema refuses, undust refuses, and says so."""
    assert not VALIDATOR.is_valid(content)
    with pytest.raises(RuleError):
        list(RuleSet.loads(json.dumps(content)))
