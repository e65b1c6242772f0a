"""Ten questions that a reader asks first, each answered on the page where one looks first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.test_docs import FENCE, places_of

if TYPE_CHECKING:
    from pathlib import Path


class Question(NamedTuple):
    """A question, the heading under which a page answers it, and words that the answer must have."""

    text: str
    page: str
    place: str
    words: tuple[str, ...]


QUESTIONS = (
    Question(
        "What does it need as input?",
        "inputs.md",
        "what-undust-needs",
        ("digest", "redirect", "label", "WARC"),
    ),
    Question(
        "What if I only have a log?",
        "inputs.md",
        "only-a-log",
        ("--base", "--ask", "proposed", "undust tree"),
    ),
    Question(
        "How sure is it?", "learning.md", "how-sure-is-it", ("held-out", "risk ≤", "--max-fpr", "evaluate")
    ),
    Question(
        "How do I undo a rule?", "deploying.md", "undo-a-rule", ("undust rules disable", "rules enable")
    ),
    Question(
        "How do I use it in Scrapy?",
        "integrations/scrapy.md",
        "scrapy",
        ("ADDONS", "UNDUST_RULES", "pip install"),
    ),
    Question("How do I use it in nginx?", "exports.md", "nginx", ("undust export", "--to nginx", "include")),
    Question("What is a key?", "concepts.md", "what-is-a-key", ("compare", "fetch", "key(url)")),
    Question("What can go wrong?", "reliability.md", "what-can-go-wrong", ("false merge", "lost", "disable")),
    Question(
        "How big can the input be?", "large.md", "how-big-can-the-input-be", ("--memory", "sample", "Spark")
    ),
    Question(
        "How do I read one rule?", "rules.md", "how-to-read-one-rule", ("left side", "right side", "becomes")
    ),
)

FIRST_LINES = 120
"""An answer further down than this is not found by reading from the top."""
LONG_PAGES = {"exports.md"}
"""Pages with one section for each system, which a reader finds in the contents."""


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.place)
def test_a_question_is_answered_where_one_looks(question: Question, repository: Path) -> None:
    """The page has a heading for it near its top, and the text below the heading has the answer."""
    page = repository / "docs" / question.page
    assert question.place in places_of(page)
    section, line = section_of(page.read_text(encoding="utf-8"), question.place)
    assert [word for word in question.words if word not in section] == []
    assert line <= FIRST_LINES or question.page in LONG_PAGES


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.place)
def test_the_front_page_leads_to_the_answer(question: Question, repository: Path) -> None:
    """The first page of the documentation lists the question with a link to its answer."""
    front = (repository / "docs" / "index.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {re.escape(question.text)} \|.*$", front, re.MULTILINE)
    assert row is not None
    assert f"({question.page}#{question.place})" in row[0]


def section_of(text: str, place: str) -> tuple[str, int]:
    """The text from a heading to the next one of the same rank, and the line of the heading."""
    fenced = [range(found.start(), found.end()) for found in FENCE.finditer(text)]
    headings = [
        found
        for found in re.finditer(r"^(#+) (.*)$", text, re.MULTILINE)
        if not any(found.start() in block for block in fenced)
    ]
    for number, found in enumerate(headings):
        name = re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", found[2]).strip().lower())
        if name == place:
            after = (other.start() for other in headings[number + 1 :] if len(other[1]) <= len(found[1]))
            return text[found.start() : next(after, len(text))], text.count("\n", 0, found.start()) + 1
    pytest.fail(f"no heading {place}")
