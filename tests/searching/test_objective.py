"""How likely an edit is wrong, with the shipped priors and with those from a file of a person."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from tests.searching.test_search import shop
from undust.cli import main
from undust.edits import making
from undust.errors import UndustError
from undust.jobs.combined import learn_combined
from undust.searching.kinds import IN_OTHER_FOLDERS, SEARCH_KINDS
from undust.searching.objective import PRIORS, RISK, load_priors

if TYPE_CHECKING:
    from pathlib import Path


EDIT = making.dropped("sid")
KINDS = st.sampled_from([kind for kind in PRIORS if not kind.endswith(IN_OTHER_FOLDERS)])


@given(KINDS, st.integers(200, 5000), st.integers(1, 60))
def test_many_pages_outweigh_what_was_known_before(kind: str, right: int, wrong: int) -> None:
    """What is expected is near the share that was seen, or above it; belief in the edit does not halve it."""
    seen = wrong / (right + wrong)
    assert RISK.rate(kind, EDIT, right, wrong) >= 0.6 * seen


@given(KINDS, st.integers(0, 300), st.integers(0, 20))
def test_more_failures_never_lower_the_risk(kind: str, right: int, wrong: int) -> None:
    """One more page that is wrong makes an edit no safer."""
    assert RISK.rate(kind, EDIT, right, wrong + 1) >= RISK.rate(kind, EDIT, right, wrong) - 1e-9


@example("drop visit", 10, 20, 0)
@given(KINDS, st.integers(0, 400), st.integers(1, 100), st.integers(0, 4))
def test_more_clean_pages_never_raise_what_is_stated(kind: str, right: int, more: int, wrong: int) -> None:
    """What ten clean pages prove, thirty prove, though one wrong page of thirty is much."""
    few, many = (RISK.upper(kind, 20.0, pages, wrong) for pages in (right, right + more))
    assert many <= few + 1e-9
    assert RISK.upper(kind, 20.0, right, wrong + 1) >= few - 1e-9


@given(st.sampled_from(SEARCH_KINDS), st.integers(1, 30))
def test_more_folders_never_raise_the_risk_in_others(kind: str, folders: int) -> None:
    """An edit that holds in one folder more is no less likely to hold in the next."""
    assert RISK.in_other_folders(kind, folders + 1) <= RISK.in_other_folders(kind, folders) + 1e-9


def test_order_and_hosts_hold_elsewhere_more_often_than_what_removes_words() -> None:
    """As the shipped file says, from one folder."""
    harmless = max(RISK.in_other_folders(kind, 1) for kind in ("respell order", "write host", "drop slash"))
    assert harmless < RISK.in_other_folders("drop word", 1)


def written(path: Path, **numbers: object) -> Path:
    """Return a file with the shipped priors, some numbers of all kinds changed."""
    kinds = {kind: asdict(prior) | numbers for kind, prior in PRIORS.items()}
    path.write_text(json.dumps({"kinds": kinds}), encoding="utf-8")
    return path


def test_what_is_shipped_is_read_back(tmp_path: Path) -> None:
    """A file with the numbers that undust ships says the same as they do."""
    assert load_priors(written(tmp_path / "priors.json")) == PRIORS


def test_priors_decide_what_is_believed(tmp_path: Path) -> None:
    """Where edits are hardly ever true on other sites, the same pages prove too little."""
    pages = shop(12)
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    timid = load_priors(written(tmp_path / "priors.json", true=0.000001, wrong=1.0, right=3.0))
    assert len(learn_combined(table, edits=True).rules) == 1
    assert len(learn_combined(table, edits=True, priors=timid).rules) == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no JSON", "is not JSON"),
        ("[]", "has no object 'kinds'"),
        ('{"kinds": {}}', "needs exactly true, noise, wrong, right"),
    ],
)
def test_a_wrong_file_is_told(tmp_path: Path, text: str, told: str) -> None:
    """The message names the file and what is missing there."""
    path = tmp_path / "priors.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UndustError, match=told):
        load_priors(path)


@pytest.mark.parametrize("number", [0, 1, -0.5, "much", True, float("nan")])
def test_a_share_that_is_none_is_told(tmp_path: Path, number: object) -> None:
    """A share is above 0 and below 1."""
    with pytest.raises(UndustError, match="write a number above 0 and below 1"):
        load_priors(written(tmp_path / "priors.json", true=number))


def test_other_methods_have_no_priors(tmp_path: Path) -> None:
    """The option is refused where nothing would use it."""
    path = written(tmp_path / "priors.json")
    found = CliRunner().invoke(main, ["learn", "crawl.jsonl", "--method", "substring", "--priors", str(path)])
    assert found.exit_code == 2
    assert "leave --method out" in found.output
