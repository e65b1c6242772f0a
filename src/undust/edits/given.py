"""A rule from before as an edit: it is done as it is written, and stays unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from undust.edits.edit import KEEP, MASK, WRITE, Edit, Rewrite
from undust.edits.reading import shape_from
from undust.edits.shapes import EDIT_ANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.rules import Rule


@dataclass(frozen=True)
class Given(Edit):
    """What a rule does."""

    rule: Rule | None = None
    forgets: tuple[str, ...] = ()
    makes_up: tuple[str, ...] = ()

    @property
    def operation(self) -> str:
        """Whether it keeps URLs, changes keys only, or writes URLs."""
        if self._rule_given.kind == "keep":
            return KEEP
        return MASK if f":{EDIT_ANY}}}" in (self._rule_given.target or "") else WRITE

    @property
    def _rule_given(self) -> Rule:
        assert self.rule is not None  # noqa: S101 -- fields of the base have defaults, so this one needs one
        return self.rule

    @property
    def bits(self) -> float:
        """Nothing: it is said already."""
        return 0.0

    @cached_property
    def defaults(self) -> dict[str, str]:
        """Parameters that a rule removes with one value, and that value."""
        if self._rule_given.kind != "rewrite":
            return {}
        source, target = shape_from(self._rule_given.source), shape_from(self._rule_given.target or "")
        return Rewrite(source=source, target=target).defaults

    def inverse(self) -> None:
        """Return None: it stays as it is."""

    def more_general(self) -> Iterator[Edit]:
        """Yield nothing: it stays as it is."""
        yield from ()

    def literals(self) -> Iterator[str]:
        """Yield nothing: its words were accepted before."""
        yield from ()

    def _said(self) -> str:
        return str(self._rule_given)

    def _steps(self, site: str) -> Iterator[Rule]:
        if self._rule_given.site == site:
            yield self._rule_given
