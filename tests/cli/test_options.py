"""Tables as a terminal of 80 columns shows them: whole, and in colour only where that is wanted."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import run
from tools.terminal import on_a_terminal
from undust.rules import Rule, RuleSet, load

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = 80
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7])(?:;[0-9;]*)?m")
COMMANDS = {
    "evaluate": (["evaluate", "rules.json", "shop.jsonl.gz"], "teapots.test"),
    "compare": (
        [
            "compare",
            "shop.jsonl.gz",
            "--method",
            "drop-query",
            "--method",
            "substring",
            "--method",
            "standard",
        ],
        "drop-query",
    ),
    "learn": (["learn", "shop.jsonl.gz"], "teapots.test"),
    "tree": (["tree", "shop.jsonl.gz"], "teapots.test"),
    "cluster": (["cluster", "shop.jsonl.gz"], "clusters"),
    "rules": (["rules", "list", "rules.json"], "teapots.test"),
    "show": (["rules", "show", "rules.json", "770f5d1e"], "{s}://{h}/p/{*}/{id:int}"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_tables_fit_and_name_everything(name: str, repository: Path) -> None:
    """No line is longer than the terminal, and what a row is about is never squeezed away."""
    arguments, wanted = COMMANDS[name]
    text = STYLE.sub("", on_a_terminal(arguments, repository / "examples", COLUMNS))
    assert max(map(len, text.splitlines())) <= COLUMNS
    assert wanted in text


def test_colour_is_for_terminals_and_can_be_declined(repository: Path) -> None:
    """A terminal gets colours, `NO_COLOR` takes them away, a pipe never has any."""
    folder, (arguments, _) = repository / "examples", COMMANDS["show"]
    assert COLOUR.search(on_a_terminal(arguments, folder, COLUMNS))
    assert not COLOUR.search(on_a_terminal(arguments, folder, COLUMNS, NO_COLOR="1"))
    assert b"\x1b" not in run(*arguments[:2], folder / "rules.json", arguments[3]).out


HOSTILE = "\x1b]0;pwned\x07\x1b[2J\x9b31m\x1b[8m\u202e\r\x7f"
TOLD = {
    "list": ["rules", "list", "hostile.json"],
    "show": ["rules", "show", "hostile.json", "{id}"],
    "check": ["rules", "check", "hostile.json"],
    "explain": ["explain", "hostile.json", f"http://a.test/{HOSTILE}", HOSTILE],
    "explain --json": ["explain", "--json", "hostile.json", HOSTILE],
    "apply": ["apply", "hostile.json", "hostile.txt"],
    "apply --output-format": ["apply", "hostile.json", "hostile.txt", "--output-format", "jsonl"],
    "normalize": ["normalize", "hostile.txt"],
    "evaluate": ["evaluate", "hostile.json", "hostile.jsonl"],
    "tree": ["tree", "hostile.jsonl"],
    "learn": ["learn", "hostile.jsonl"],
    "cluster": ["cluster", "hostile.jsonl", "-o", "-"],
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with rules and URLs by somebody who wants the terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    rules = [
        Rule(
            "a.test", "rewrite", "{s}://{h}/{p**}?{**:sid}&{rest**}", "{s}://{h}/{p}?{rest}",
            learned_by=HOSTILE, examples=((f"http://a.test/{HOSTILE}", HOSTILE),),
            validated={"when": HOSTILE, "how": HOSTILE, "outcome": HOSTILE, "reason": HOSTILE},
            extra={HOSTILE: HOSTILE},
        )
    ]  # fmt: skip
    RuleSet(rules).save(folder / "hostile.json")
    honest = "".join(f"http://a.test/{n}\n" for n in range(5))
    listed = f"{HOSTILE}\nhttp://a.test/{HOSTILE}?sid=1\n{honest}"
    (folder / "hostile.txt").write_text(listed, encoding="utf-8")
    rows = [
        {"url": f"http://a.test/{n}{HOSTILE}?sid={copy}", "cluster": f"{n}{HOSTILE}"}
        for n in range(9)
        for copy in range(3)
    ]
    (folder / "hostile.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", TOLD)
def test_no_text_steers_the_terminal(hostile: Path, name: str) -> None:
    """Strangers' escape sequences, carriage returns and turned lines are shown, never obeyed."""
    first = load(hostile / "hostile.json").ids[0]
    words = [word.replace("{id}", first) for word in TOLD[name]]
    said = on_a_terminal(words, hostile, COLUMNS)
    styles = re.compile(r"\x1b\[(?:0|1|2|3|4|7|22|23|24|27|39|49|3[0-7]|9[0-7])(?:;[0-9;]+)?m")
    left = styles.sub("", said)
    assert left
    strange = {char for char in left if not char.isprintable() and char not in "\n\t"}
    assert strange == set()
    assert "\x1b[8m" not in said


def test_pipes_get_what_was_written(hostile: Path) -> None:
    """Only what a person looks at is changed: a file or a pipe has the bytes."""
    data = (hostile / "hostile.txt").read_bytes()
    assert run("normalize", hostile / "hostile.txt").out.split(b"\n")[0] == data.split(b"\n")[0]
