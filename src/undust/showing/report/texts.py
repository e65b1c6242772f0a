"""Strangers' texts on their way to the page: secrets hidden, nothing invisible, nothing endless."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from undust.privacy.masking import Masks
from undust.rules import RuleSet
from undust.rules.masking import forgotten_names, removed_from
from undust.showing.changes import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from undust.rules import Rule

_LONGEST = 300
"""Characters of a URL or a pattern that are shown."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""Return a text with every character that hides, or turns the others around, written out.

    >>> print(visible("http://a.test/\u202egnp.exe"))
    http://a.test/⟨U+202E⟩gnp.exe
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"⟨U+{ord(char):04X}⟩" if unicodedata.category(char) in _INVISIBLE else char for char in text
    )


def made_visible(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return JSON in which every text is visible, keys included."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): made_visible(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [made_visible(each) for each in value]
    return value


def cut(text: str, longest: int = _LONGEST) -> str:
    """Return a text of a length that a person reads."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"


@dataclass(frozen=True)
class Texts:
    """How the URLs of one site are shown."""

    hidden: tuple[str, ...] = ()
    """What rules remove, which need be less random to look secret."""
    canonical: Callable[[str], str] | None = None
    """What the rules make of a URL; None where all values are shown."""
    masks: Masks = field(default_factory=Masks)
    """The numbers of secrets, the same on the whole page."""

    @classmethod
    def under(cls, rules: Sequence[Rule], masks: Masks | None) -> Texts:
        """Return how URLs are shown where these rules hold; without masks, as they are."""
        return cls() if masks is None else cls(forgotten_names(rules), RuleSet(rules).compile(), masks)

    @property
    def keeps_values(self) -> bool:
        """Whether secrets are shown too."""
        return self.canonical is None

    def url(self, url: str) -> str:
        """Return a URL as it is shown."""
        return cut(url if self.canonical is None else self._hidden(url, self.canonical(url)))

    def said(self, text: str) -> str:
        """Return the text of a rule, or words about it, as it is shown."""
        return text if self.canonical is None else self.masks.text(text)

    def besides(self, rule: Rule) -> Texts:
        """Return how URLs are shown beside one rule more, which need not hold."""
        if self.canonical is None:
            return self
        return replace(self, hidden=(*self.hidden, *forgotten_names([rule])))

    def change(self, before: str, after: str) -> list[list[str]]:
        """Return what turns a URL into another, as pieces `[mark, text]`."""
        if self.canonical is not None:
            before, after = self._hidden(before, after), self._hidden(after, after)
        return [[mark, cut(text)] for mark, text in pieces(before, after)]

    def _hidden(self, url: str, after: str) -> str:
        """Return a URL without its secrets; parameters that are not in `after` are removed."""
        gone = set(_names(url)) - set(_names(after))
        return self.masks.text(url, removed_from(url, [*self.hidden, *sorted(gone)]))


def _names(url: str) -> Iterator[str]:
    return (parameter.partition("=")[0] for parameter in url.partition("?")[2].split("&"))
