"""Write cpp/html_references.hpp, the named character references of HTML.

They are those of the HTML standard (13.5), as Python's own `html.entities` has them; the standard promises
that none will ever be added.

    python tools/make_html_references.py
"""

from __future__ import annotations

from html.entities import html5
from pathlib import Path

HEADER_PATH = Path(__file__).resolve().parent.parent / "cpp" / "html_references.hpp"

OPENING = """\
// Written by tools/make_html_references.py; do not edit.
//
// The named character references of HTML, sorted; some may also stand without their semicolon.
#pragma once

#include <string_view>

// clang-format off
namespace undust {

struct HtmlReference {
  std::string_view name, text;
  bool may_lack_semicolon;
};

inline constexpr HtmlReference kHtmlReferences[] = {
"""
CLOSING = """\
};

}  // namespace undust
"""


def header_text() -> str:
    """Return the whole header."""
    names = sorted({name.removesuffix(";") for name in html5})
    lines = [
        f'{{"{name}", "{_escaped(html5[name + ";"])}", {"true" if name in html5 else "false"}}},'
        for name in names
    ]
    return OPENING + "".join(f"{line}\n" for line in lines) + CLOSING


def _escaped(text: str) -> str:
    # Octal, for three digits end it, whatever follows.
    return "".join(f"\\{byte:03o}" for byte in text.encode())


def main() -> None:
    """Write the header."""
    HEADER_PATH.write_text(header_text(), encoding="ascii")
    print(f"{HEADER_PATH.name}: {len(html5):,} names")


if __name__ == "__main__":
    main()
