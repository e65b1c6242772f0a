"""The rules of most sites: used on a site only after tests on that site, and dropped if one fails.

A crawl sees the pairs that prove a rule late, and pays for each of them. These rules need none to start
with: the first URLs that each would skip are fetched to test it. On most sites most of them concern no URL;
so each waits, for all sites in one place, until a site shows a URL that it would change.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from undust.edits.making import dropped
from undust.edits.visits import SESSIONS, TRACKING
from undust.rules import Rule, program_of
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Container

    from undust._core import Program

PRIOR = "prior"
"""What `learned_by` says of such a rule."""

TEXTS = (
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest}",
    dropped(*TRACKING).text,
    *(dropped(name).text for name in SESSIONS),
    'replace "//" -> "/"',
    "rewrite {s}://{h}/{p**}/{x}/?{rest**} -> {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:unique}",
    *(
        f"rewrite {{s}}://{{h}}/{{p**}}/{name}?{{rest**}} -> {{s}}://{{h}}/{{p}}/?{{rest}}"
        for name in ("index.html", "index.htm", "index.php", "default.aspx")
    ),
    "rewrite http://{h}/{p**}?{rest**} -> https://{h}/{p}?{rest}",
)
_SECURED = len(TEXTS) - 1
"""The place of the rule that concerns every URL of a site without https: it waits for both schemes."""


@cache
def _parsed() -> tuple[Rule, ...]:
    return tuple(replace(Rule.parse(text, site=ANY_SITE), learned_by=PRIOR) for text in TEXTS)


@cache
def _program(places: frozenset[int]) -> Program:
    """Return some of the rules for all sites; few sets of them ever wait."""
    return program_of([_parsed()[place] for place in sorted(places)])


@dataclass
class PriorRules:
    """The rules of most sites, on one site.

    >>> prior = PriorRules("shop.test")
    >>> prior.wake("http://shop.test/item?id=7"), prior.wake("http://shop.test/item?id=7&sid=4f1e")
    (False, True)
    >>> [str(rule) for rule in prior.awake]
    ['rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}']
    >>> prior.wake("https://shop.test/")  # both schemes
    True
    """

    site: str
    _waiting: frozenset[int] = frozenset(range(len(TEXTS)))
    _awake: dict[int, Rule] = field(default_factory=dict)
    _scheme: str = ""
    """The scheme of all URLs so far."""

    def __post_init__(self) -> None:
        self._watch(self._waiting)

    def _watch(self, waiting: frozenset[int]) -> None:
        self._waiting = waiting
        self._changed = _program(waiting - {_SECURED}).canonical

    @property
    def awake(self) -> list[Rule]:
        """The rules that would change a URL of the site, in their order."""
        return [self._awake[place] for place in sorted(self._awake)]

    def wake(self, url: str, known: Container[str] = (), off: Program | None = None) -> bool:
        """Wake the rules that would change a URL; return whether there are any.

        Args:
            url: A new one of the site.
            known: Ids of rules that stay as they are.
            off: Rules that a person switched off: what does the same to the URL is not woken.

        """
        scheme = url[:5]
        is_other = bool(self._scheme) and scheme != self._scheme and _SECURED in self._waiting
        self._scheme = scheme
        if not is_other and self._changed(url) == url:
            return False
        waiting = sorted(self._waiting - {_SECURED})
        made = _program(frozenset(waiting)).matches(url)
        found = {waiting[place]: after for place, after in made if after != url}
        if is_other:
            found[_SECURED] = ""
        unwanted = {after for _, after in off.matches(url)} if off else set()
        rules = {place: replace(_parsed()[place], site=self.site) for place in found}
        self._watch(self._waiting.difference(found))
        new = {
            place: rule
            for place, rule in rules.items()
            if rule.id not in known and found[place] not in unwanted
        }
        self._awake |= new
        return bool(new)

    def wake_again(self, ids: Container[str]) -> None:
        """Wake the rules with these ids."""
        rules = {place: replace(_parsed()[place], site=self.site) for place in self._waiting}
        found = {place: rule for place, rule in rules.items() if rule.id in ids}
        self._awake |= found
        self._watch(self._waiting.difference(found))
