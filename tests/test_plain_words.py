"""Phrases that must not come back: documentation, messages, `--help` and docstrings are in plain English.

`PHRASES` is the list. Each phrase has the words to write instead. Text of the code means comments,
docstrings and strings; identifiers are not text. On a page, the output of commands counts too.
"""

from __future__ import annotations

import io
import re
import tokenize
from functools import cache
from typing import TYPE_CHECKING

import click
import pytest

from undust.cli import ENTRIES, main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PHRASES = {
    r"\b(tell|tells|told)\b": "reports, prints, shows; 'distinguish' for 'tell apart'",
    r"\b(is|are|was|were) none\b": "is not a …, is missing",
    r"(?<!there )\b(is|are|was|were) no (?!longer|more|less|such|worse)\w": "is not a …",
    r"\bspeaks? (for|against|of|neither)\b": "supports, contradicts, applies to",
    r"\brestless\b": "unstable page, page that changes between fetches",
    r"\b(bury|buries|buried)\b": "lose, merge into a different page",
    r"\bmisplaced\b": "of a different page",
    r"\b(superfluous|needless)\b": "redundant",
    r"\bfpr (<|below)": "risk ≤",
    r"(?<!\{)\bmend(s|ed)?\b": "fix",
    r"\bso many\b": "this many, at most N, at least N",
    r"\b(nobody|anybody|somebody)\b": "name who: no process, a user, a site; or use the passive",
    r"\b(forgets?|forgot|forgotten)\b": "removes, discards",
    r"\btakes? away\b": "removes",
    r"\b(spares?|spared)\b": "removes, excludes; duplicates",
    r"\b(whoever|whom)\b": "name who",
    r"\bwhat holds (for|on|every)": "the rules that hold on …",
    r"\b(gets?|got|getting) (its|their) turn\b": "is applied",
    r"\bwrong(ly)? merge": "false merge",
    r"\bsavings\b": "removed",
    r"\b(is|are|was|were) gone\b": "is removed, is missing",
    r"\bin the company of\b": "together with",
    r"\bheld for (one|the same)\b": "treated as the same",
    r"\bstands? (before|behind|beside|above|below|under|there|here|in|on)\b": "is, precedes, follows",
    r"\bstands? (where|alone|at|between)\b": "is",
}
"""Each phrase, as an expression in lower case, with what to write instead."""

ANY = re.compile("|".join(PHRASES))

ALLOWED = {
    "docs/api.md": {"forget"},
    "src/undust/errors.py": {"forget"},
}
"""By file: words of an example there (a rule of the unknown kind 'forget')."""

FENCE = re.compile(r"^```(python|json|sh|text|nginx)\n.*?^```$", re.MULTILINE | re.DOTALL)


def instead_of(found: str) -> str:
    """What to write instead of a phrase."""
    return next(better for phrase, better in PHRASES.items() if re.fullmatch(f".*{phrase}.*", found))


def problems(text: str, name: str) -> Iterator[str]:
    """The phrases in a text, each with its line and the better words."""
    allowed = ALLOWED.get(name, set())
    for number, line in enumerate(text.splitlines(), 1):
        for found in ANY.finditer(line.lower()):
            if found[0] not in allowed:
                yield f"{name}:{number}: '{found[0]}': write {instead_of(found[0])}"


@cache
def texts_of_code(path: Path) -> str:
    """The comments and strings of a Python file, each on its own line of the file."""
    lines = [""] * (path.read_text(encoding="utf-8").count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        is_text = token.type in {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
        if token.type == tokenize.COMMENT or (is_text and " " in token.string.strip()):
            for place, part in enumerate(token.string.split("\n")):
                lines[token.start[0] - 1 + place] += re.sub(r"\{[^{}]*\}", "", part)
    return "\n".join(lines)


def test_pages_are_in_plain_english(repository: Path) -> None:
    """README, contributing, security, changelog and every page of the documentation."""
    pages = sorted([*repository.glob("*.md"), *(repository / "docs").rglob("*.md")])
    found: list[str] = []
    for page in pages:
        text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
        found += problems(text, page.relative_to(repository).as_posix())
    assert found == []


def test_the_code_is_in_plain_english(repository: Path) -> None:
    """Docstrings, comments, messages and the names of options, in every file of the package."""
    found: list[str] = []
    for path in sorted((repository / "src").rglob("*.py")):
        name = path.relative_to(repository).as_posix()
        found += problems(texts_of_code(path), name)
    assert found == []


def test_the_report_is_in_plain_english(repository: Path) -> None:
    """What the page shows: the strings of its script, without code."""
    found: list[str] = []
    for path in sorted((repository / "src").rglob("*.js")):
        said = re.sub(r"\$\{[^{}]*\}|\b(told|rule)\.\w+", "", path.read_text(encoding="utf-8"))
        kept = re.findall(r"`[^`\n]* [^`\n]*`|\"[^\"\n]* [^\"\n]*\"|//[^\n]*", said)
        found += problems("\n".join(kept), path.relative_to(repository).as_posix())
    assert found == []


@pytest.mark.parametrize("name", ENTRIES)
def test_help_is_in_plain_english(name: str) -> None:
    """The help of each command, with expert options, and of the commands below it."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    commands = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    for each in commands:
        context = click.Context(each, info_name=name)
        options = " \n".join(getattr(param, "help", None) or "" for param in each.params)
        assert list(problems(f"{each.get_help(context)}\n{options}", f"undust {name} --help")) == []


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_phrase_is_found(phrase: str) -> None:
    """Every expression of the list finds something that it describes, so that none is dead."""
    words = re.sub(r"\(\?<?[!=][^)]*\)|\\b|\?", "", phrase)
    words = re.sub(r"\(([^|)]*)(\|[^)]*)?\)", r"\1", words).replace(r"\w", "x")
    assert ANY.search(words), words


def test_the_glossary_is_short_and_used(repository: Path) -> None:
    """At most twenty terms, each of them used on other pages too."""
    page = repository / "docs" / "concepts.md"
    table = page.read_text(encoding="utf-8").partition("## Glossary")[2]
    terms = re.findall(r"^\| ([^|]+?) \|", table, re.MULTILINE)[1:]
    terms = [term for term in terms if not term.startswith("---")]
    others = [path for path in (repository / "docs").rglob("*.md") if path != page]
    text = "\n".join(path.read_text(encoding="utf-8").lower() for path in others)
    assert 10 <= len(terms) <= 20
    assert len(set(terms)) == len(terms)
    assert [term for term in terms if term.lower() not in text] == []
