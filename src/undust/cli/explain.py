"""`undust explain`: each step from a URL to its canonical form, with the rule that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from undust.cli.printing import show
from undust.cli.terminal import say_json
from undust.files.streams import require_readable
from undust.rules import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.rules import Explanation, Step

_MOST_SHOWN = 6
"""Steps that are shown; of a URL that never comes to an end, there are 256."""

ENDS = {
    "no URL": "no http(s) URL, so it stays as it is",
    "skipped": "with a user name, or longer than 64 KiB, a URL is only brought into its standard form",
    "unresolved": "no end within 256 steps and 64 KiB, so it is only brought into its standard form",
    "cycle": "this URL was there before; of the URLs in the circle, the smallest is taken",
}


@click.command("explain")
@click.argument("rules", metavar="RULES", type=click.Path(allow_dash=True))
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per URL, each on a line.")
def command(rules: str, urls: tuple[str, ...], *, as_json: bool) -> None:
    """Show each step from URL to its canonical form, with the rule of RULES that made it.

    \b
    Examples:
      undust explain rules.json 'http://www.shop.test/Any-Title/dp/42?sid=9'
      undust explain --json rules.json http://shop.test/a http://shop.test/b
    """  # noqa: D301 -- click keeps the lines behind a \b
    require_readable([rules])
    canonicalize = load(rules).compile()
    for place, url in enumerate(urls):
        explained = canonicalize.explain(url)
        if as_json:
            say_json(as_object(explained))
        else:
            show(*([""] if place else []), *story(explained), wrap=False)


def as_object(explained: Explanation) -> dict[str, Any]:
    """Return an explanation for programs."""
    return {
        "url": explained.url,
        "normalized": explained.normalized,
        "steps": [_step_object(step) for step in explained.steps],
        "canonical": explained.canonical,
        "masks": [_step_object(step) for step in explained.masks],
        "key": explained.key,
        "outcome": explained.outcome,
    }


def _step_object(step: Step) -> dict[str, Any]:
    return {"number": step.number, "id": step.rule.id, "rule": str(step.rule), "url": step.url}


def story(explained: Explanation) -> Iterator[Text]:
    """Yield an explanation as lines for people: the URLs one below the other, and what made each."""
    yield Text(explained.url, style="bold")
    if explained.normalized != explained.url:
        yield _changed(explained.url, explained.normalized)
        yield _reason(Text("standard form"))
    yield from _steps(explained.steps, explained.normalized)
    if explained.outcome in ENDS:
        yield _reason(Text(ENDS[explained.outcome], style="yellow"))
    elif not explained.steps:
        yield _reason(Text("no rule changes it"))
    yield Text("canonical  ", style="bold").append(explained.canonical, style="bold green")
    yield from _steps(explained.masks, explained.canonical)
    if explained.key != explained.canonical:
        yield Text("key        ", style="bold").append(explained.key, style="bold green")


def _steps(steps: Sequence[Step], before: str) -> Iterator[Text]:
    for place, step in enumerate(steps):
        is_last = place == len(steps) - 1
        if place < _MOST_SHOWN or is_last:
            if step.rule.kind != "keep":
                yield _changed(steps[place - 1].url if place else before, step.url)
            reason = Text(f"rule {step.number}  ", style="magenta").append(
                f"{step.rule.id[:8]}  ", style="cyan"
            )
            yield _reason(reason.append(str(step.rule), style="default"))
        elif place == _MOST_SHOWN:
            yield _reason(Text(f"… {len(steps) - _MOST_SHOWN - 1} more steps …", style="dim"))


def _reason(text: Text) -> Text:
    return Text("     ").append_text(text)


def _changed(before: str, after: str) -> Text:
    """Return a URL with the part that is new set off."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    end = next((at for at in range(shorter - start) if before[-1 - at] != after[-1 - at]), shorter - start)
    line = Text(" → ", style="dim").append(after[:start], style="not dim")
    line.append(after[start : len(after) - end], style="not dim green")
    return line.append(after[len(after) - end :], style="not dim")
