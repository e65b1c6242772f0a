"""`undust explain`: each step from a URL to its canonical form, with the rule that made it."""

from __future__ import annotations

from functools import partial
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undust.cli import options
from undust.cli.options import say, say_json, show
from undust.cli.rule_options import sites_option
from undust.jobs import STANDARD, require_readable, text_from_bytes
from undust.jobs.application import Application
from undust.jobs.mapping import Added
from undust.jobs.rule_files import files_of_rules, rules_of
from undust.jobs.urls_input import UrlsInput, is_url_text, named_files
from undust.showing.listing import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from undust.jobs.mapping import Happened
    from undust.jobs.rule_files import Canonicalizer, Explanation, Step

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
@options.reading_options
@sites_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per URL, each on a line.")
def command(  # noqa: PLR0913 -- one argument per option
    rules: str,
    urls: tuple[str, ...],
    *,
    input_format: str | None,
    column: str | None,
    base: str | None,
    log_format: str | None,
    sites: str | None,
    as_json: bool,
) -> None:
    """Show each step from URL to its canonical form, with the rule of RULES that made it.

    Instead of a URL, name a file to explain every URL in it, in order: whatever 'undust learn'
    reads, and '-' for stdin.

    \b
    Examples:
      undust explain rules.json 'http://www.shop.test/Any-Title/dp/42?sid=9'
      undust explain --json rules.json http://shop.test/a http://shop.test/b
      undust explain rules.json urls.txt | less
    """  # noqa: D301 -- click keeps the lines after a \b
    require_readable(files_of_rules(rules, sites))
    files = {url: named_files([url]) for url in urls if _is_file(url)}
    if (rules, *urls, sites).count(STANDARD) > 1:
        message = "stdin can be read once, so name a file for the rules, for the URLs or for the sites"
        raise click.UsageError(message)
    if column is not None and not files:
        message = "a URL has no columns; leave out --column, or name a file"
        raise click.UsageError(message)
    explaining = Explaining(rules_of(rules, sites).compile(), as_json=as_json)
    job = Application(
        explaining, UrlsInput(input_format, column, base, log_format), tell=partial(say, err=True)
    )
    for url in urls:
        if url in files:
            # Each URL of a file is explained while it is read; the file itself is not written again.
            with options.usage_errors():
                for path in files[url]:
                    job.run([path], len)
        else:
            explaining.explain(url)


def _is_file(argument: str) -> bool:
    """Return whether an argument is not a URL and there is such a file, or a file that fits the pattern."""
    if is_url_text(argument):
        return False
    if "*" in argument and glob(argument):  # noqa: PTH207 -- also takes absolute patterns
        return True
    return argument == STANDARD or Path(argument).exists()


class Explaining:
    """Explains URLs instead of changing them."""

    def __init__(self, canonicalizer: Canonicalizer, *, as_json: bool) -> None:
        self._canonicalizer, self._as_json = canonicalizer, as_json
        self._is_first = True

    def explain(self, url: str) -> bool:
        """Print how a URL comes to its canonical form; return whether it is one."""
        explained = self._canonicalizer.explain(url)
        if self._as_json:
            say_json(as_object(explained))
        else:
            show(*([] if self._is_first else [""]), *story(explained), wrap=False)
        self._is_first = False
        return explained.outcome != "no URL"

    def lines(self, data: bytes) -> tuple[bytes, int, Happened]:
        """Explain each line that is not blank; return the lines as they are."""
        lines = data.removesuffix(b"\n").split(b"\n")
        texts = [text_from_bytes(line.rstrip(b"\r")) for line in lines]
        bad = sum(not (text.strip() and self.explain(text)) for text in texts)
        return data, len(lines), Added(bad)

    def column(self, urls: pa.Array) -> tuple[pa.Array, Happened]:
        """Explain each value of a column; return the column as it is."""
        bad = sum(not (text.strip() and self.explain(text)) for text in urls.to_pylist() if text is not None)
        return urls, Added(bad)


def as_object(explained: Explanation) -> dict[str, Any]:
    """Return an explanation for programs."""
    return {
        "url": explained.url,
        "normalized": explained.normalized,
        "steps": [_step_object(step) for step in explained.steps],
        "canonical": explained.canonical,
        "compared": [_step_object(step) for step in explained.compared],
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
    if explained.compared:
        yield _reason(Text("for comparing only:", style="dim"))
    yield from _steps((*explained.compared, *explained.masks), explained.canonical)
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
