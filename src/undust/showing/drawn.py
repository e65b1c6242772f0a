"""What tables and texts for the terminal are made of: rich if it is installed, else the same without colour.

rich comes with `undust[learn]`. `explain` and `rules` are part of the base, so they work without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text
else:
    try:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text
    except ModuleNotFoundError:
        from undust.showing.plain import PlainGroup as Group
        from undust.showing.plain import PlainTable as Table
        from undust.showing.plain import PlainText as Text
    RenderableType = object

__all__ = ["Group", "RenderableType", "Table", "Text"]
