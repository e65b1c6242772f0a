"""Takes the picture of the README: what `undust learn` prints on a terminal, as SVG with real text in it.

    python -m tools.screenshot        writes docs/pictures/learn.svg again

Nothing is drawn by hand, so a test can hold the picture against what the command prints today.
"""

from __future__ import annotations

import re
import tempfile
from html import escape, unescape
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tools.terminal import on_a_terminal

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "learn.svg"
COMMAND = ("learn", "examples/shop.jsonl.gz", "-o", "rules.json")
COLUMNS = 96
WIDTH, HEIGHT, MARGIN = 8.4, 18, 22
"""Of a letter, of a line, and around all, in pixels."""
PAPER, INK = "#1b1f24", "#d6dbe1"


def main() -> None:
    """Write the picture."""
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(taken(), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}")


def taken() -> str:
    """Return the picture as it would be today; notes about the input are left out."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "examples").symlink_to(ROOT / "examples")
        printed = on_a_terminal(COMMAND, Path(folder), COLUMNS)
    return picture_of(f"$ undust {' '.join(COMMAND)}\n{printed}")


def picture_of(printed: str) -> str:
    """Return a terminal window with the text in it."""
    console = Console(width=COLUMNS)
    lines = Text.from_ansi(printed.rstrip("\n")).split("\n", allow_blank=True)
    width, height = COLUMNS * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    rows = "\n".join(_row(number, line, console) for number, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">\n'
        f"<title>What undust learn prints for the sample crawl</title>\n"
        f'<rect width="100%" height="100%" rx="10" fill="{PAPER}"/>\n'
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"'
        f' font-size="14" fill="{INK}">\n{rows}\n</g>\n</svg>\n'
    )


def _row(number: int, line: Text, console: Console) -> str:
    y = MARGIN + number * HEIGHT + HEIGHT * 0.75
    parts, column = [], 0
    for part in line.render(console):
        if part.text.strip():
            x, length = MARGIN + column * WIDTH, len(part.text) * WIDTH
            style = _style(part.style or Style())
            parts.append(
                f'<text x="{x:.1f}" y="{y:.1f}" textLength="{length:.1f}" xml:space="preserve"{style}>'
                f"{escape(part.text)}</text>"
            )
        column += len(part.text)
    return "".join(parts)


def _style(style: Style) -> str:
    colour = f' fill="{style.color.get_truecolor(MONOKAI).hex}"' if style.color else ""
    weight = ' font-weight="bold"' if style.bold else ""
    return colour + weight + (' opacity="0.65"' if style.dim else "")


def text_in(picture: str) -> str:
    """Return the text that a picture shows, each letter where it stands."""
    lines: dict[int, str] = {}
    for x, y, text in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', picture):
        number, column = round((float(y) - MARGIN) // HEIGHT), round((float(x) - MARGIN) / WIDTH)
        lines[number] = lines.get(number, "").ljust(column) + unescape(text)
    return "".join(f"{lines.get(number, '').rstrip()}\n" for number in range(max(lines) + 1))


if __name__ == "__main__":
    main()
