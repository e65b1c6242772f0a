"""URLs and rules as texts: URLs in pieces, rules made from texts, what the text of a rule shows.

Anyone who can send requests to a site can fill its log with names and paths that no page has. Work that
grows faster than the number of URLs is therefore done on `usual` forms only, whose vocabulary is bounded.

A rule can be read from right to left. That `/a` and `/a.html` are one page does not decide which to fetch. A
proposal has one direction in mind; where the other can be said too, it is judged beside it, and the form that
the site is seen to serve and to prefer wins.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from undust.edits import is_somebodys
from undust.errors import UndustError
from undust.proposing.idle_parts import USUAL_PARTS, rows_of_pages
from undust.rules import Rule, program_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undust.rules.language import Kind


OPEN = "{s}://{h}/{p**}?{rest**}"
"""Any URL, taken apart no further than needed."""
REST_OF_URL = "{s}://{h}/{p}?{rest}"
"""The same, written again."""

_CAPTURE = re.compile(r"\{[^{}]*\}")
_NUMBER = re.compile(r"(?<![^\W_])\d+(?![^\W_])")
_NAMED_CAPTURE = re.compile(r"\{(\w*)(\*\*)?(:[^{}]*)?\}")
_SAMPLES = {"s": "http", "p": "a/b", "rest": "c=d"}
"""What may stand for the captures of whole components, as this package names them; a site for `h`."""
_CLASSES = {
    ":int": "1",
    ":date": "2001-02-03",
    ":uuid": "01234567-89ab-cdef-0123-456789abcdef",
    **dict.fromkeys((":alpha", ":hex", ":word"), "a"),
}
_WHOLE = frozenset({*_SAMPLES, "h"})
USUAL_NAMES = 64
"""Parameter names of a site's usual forms, the most frequent ones. Of 24 real sites none has more than 54."""


def rewriting(site: str, by: str, source: str, target: str, when: tuple[str, ...] = ()) -> Rule | None:
    """Return a `rewrite`, or None."""
    return _made(site, "rewrite", source, target, {"when": when, "learned_by": by})


def replacing(site: str, by: str, source: str, target: str) -> Rule | None:
    """Return a `replace`, or None."""
    return _made(site, "replace", source, target, {"learned_by": by})


def with_conditions(rule: Rule, when: tuple[str, ...] = (), unless: tuple[str, ...] = ()) -> Rule | None:
    """Return a rule with more conditions, or None."""
    said = {
        "when": (*rule.when, *when),
        "unless": (*rule.unless, *unless),
        "learned_by": rule.learned_by,
    }
    return _made(rule.site, rule.kind, rule.source, rule.target, said)


def with_sides(rule: Rule, source: str, target: str) -> Rule | None:
    """Return a rule that says something else under the same conditions, or None."""
    said = {"when": rule.when, "unless": rule.unless, "learned_by": rule.learned_by}
    return _made(rule.site, rule.kind, source, target, said)


def keeping(site: str, by: str, source: str) -> Rule | None:
    """Return a `keep`, or None."""
    return _made(site, "keep", source, None, {"learned_by": by})


def _made(site: str, kind: Kind, source: str, target: str | None, said: Mapping[str, Any]) -> Rule | None:
    conditions = (*said.get("when", ()), *said.get("unless", ()))
    if any(map(is_somebodys, (source, target or "", *conditions))):
        return None  # the rule would contain a value of one visitor
    try:
        return Rule(site, kind, source, target, **said)
    except (UndustError, ValueError):
        return None


def adds_a_value(rule: Rule) -> bool:
    """Return whether a rule writes a parameter, with its value, of which it read nothing."""
    left, right = ((side or "").partition("?")[2].split("&") for side in (rule.source, rule.target))
    read = {parameter.partition("=")[0] for parameter in left}
    return any("=" in each and "{" not in each and each.partition("=")[0] not in read for each in right)


def changes_a_value(rule: Rule) -> bool:
    """Return whether a rule writes a value of a parameter where it read another value of it.

    >>> from undust import Rule
    >>> changes_a_value(Rule.parse("rewrite {s}://{h}/q?by=a → {s}://{h}/q?by=b", site="a.test"))
    True
    """
    left, right = (set((side or "").partition("?")[2].split("&")) for side in (rule.source, rule.target))
    read, written = (
        {each.partition("=")[0] for each in some if "=" in each and "{" not in each}
        for some in (left - right, right - left)
    )
    return bool(read & written)


def makes_up(rule: Rule) -> bool:
    """Return whether a rule writes a parameter of which it read nothing, or a slash behind a path without.

    >>> from undust import Rule
    >>> makes_up(Rule.parse("rewrite {s}://{h}/{p**}/{x:word} → {s}://{h}/{p}/{x}/", site="a.test"))
    True
    >>> makes_up(Rule.parse("rewrite {s}://{h}/{p**}/index.html → {s}://{h}/{p}/", site="a.test"))
    False
    """
    read, written = ((side or "").partition("?")[0].rstrip("$") for side in (rule.source, rule.target))
    return adds_a_value(rule) or (written.endswith("/") and written.count("/") > read.count("/"))


def renumbers(rule: Rule) -> bool:
    """Return whether a rule writes a number of its own where it read another.

    >>> from undust import Rule
    >>> renumbers(Rule.parse('replace "/2003/" → "/2004/"', site="a.test"))
    True
    """
    sides = (_CAPTURE.sub("", side or "") for side in (rule.source, rule.target))
    read, written = (set(_NUMBER.findall(side)) for side in sides)
    return bool(read - written and written - read)


def renames(rule: Rule) -> bool:
    """Return whether a rule writes a folder's or a page's name where it read another, or drops a page's.

    >>> from undust import Rule
    >>> renames(Rule.parse("rewrite {s}://{h}/notes/{p**} → {s}://{h}/tools/{p}", site="a.test"))
    True
    >>> renames(Rule.parse("rewrite {s}://{h}/manual/en/{p**} → {s}://{h}/manual/{p}", site="a.test"))
    False
    """
    read, written = (_segments(rule.kind, side or "") for side in (rule.source, rule.target))
    names, others = ({name for name in path if name and "{" not in name} for path in (read, written))
    is_one_page = rule.kind == "rewrite" and len(names) == len(read)
    return bool(names - others and (others - names or is_one_page))


def _segments(kind: str, side: str) -> list[str]:
    """Return the segments of a side's path; of a `replace`, those that are written whole."""
    path = side.partition("?")[0].rpartition("://")[2].split("/")[1:]
    return path if kind == "rewrite" else path[:-1]


def openness(rule: Rule) -> int:
    """Return how much a rule leaves open; of rules with one effect the one that says most is taken.

    Of the two directions of a rule that are worth the same, the one that writes less is.
    """
    written = len(rule.target or "")
    return 4000 * rule.source.count("{*}") + 2 * (len(rule.source) + written) + (written > len(rule.source))


def turned(rule: Rule) -> Iterator[Rule]:
    """Yield a rule in the other direction; nothing if it removes text, or writes it in another form."""
    if rule.kind == "keep" or not rule.target or rule.when or rule.unless:
        return
    if rule.kind == "replace":
        if rule.target not in rule.source:  # else it would find itself in what it wrote
            yield from _turned_rule(rule, rule.target, rule.source)
        return
    read = {found[1]: found for found in _NAMED_CAPTURE.finditer(rule.source)}
    written = list(_NAMED_CAPTURE.finditer(rule.target))
    says_all = "" not in read and sorted(read) == sorted(found[1] for found in written)
    if not says_all or any(found[3] for found in written):
        return
    target = _NAMED_CAPTURE.sub(lambda found: f"{{{found[1]}}}", rule.source)
    for kind in ("", ":word"):
        types = {name: _typed(capture, kind) for name, capture in read.items()}
        source = rule.target
        for name, said in types.items():
            source = source.replace(f"{{{name}}}", f"{{{name}{said}}}")
        for made in _turned_rule(rule, source, target):
            if not _feeds_itself(made, types):
                yield made


def _typed(capture: re.Match[str], kind: str) -> str:
    """Return a capture's class as it was read, or one: the text next to it no longer shows where it ends."""
    name, stars, said = capture.groups(default="")
    return f"{stars}{said or (kind if not stars and name not in _WHOLE else '')}"


def _feeds_itself(rule: Rule, types: dict[str, str]) -> bool:
    """Return whether a rule would change what it wrote, again and again."""
    kinds = {name: kind.lstrip("*") for name, kind in types.items()}
    samples = {name: _CLASSES.get(kind) or kind[1:].partition("|")[0] or "a" for name, kind in kinds.items()}
    samples |= _SAMPLES | {"h": f"www.{rule.site}"}
    url = _NAMED_CAPTURE.sub(lambda found: samples[found[1]], rule.target or "")
    return program_of([rule]).step(url)[0] is not None


def _turned_rule(rule: Rule, source: str, target: str) -> Iterator[Rule]:
    made = with_sides(rule, source, target) if source != rule.source else None
    if made is not None:
        yield made


class UrlPieces(NamedTuple):
    """A normalized URL in pieces, as written."""

    scheme: str
    host: str
    segments: tuple[str, ...]
    query: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(parameter.partition("=")[0] for parameter in self.query)

    @property
    def has_usual_length(self) -> bool:
        """Whether it has no more segments and parameters than URLs of real sites."""
        return len(self.segments) <= USUAL_PARTS and len(self.query) <= USUAL_PARTS


def pieces_of(url: str) -> UrlPieces:
    """Return the pieces of a URL in normal form."""
    scheme, _, rest = url.partition("://")
    host, slash, rest = rest.partition("/")
    path, _, query = rest.partition("?")
    if not slash:
        host, _, query = host.partition("?")
    return UrlPieces(scheme, host, tuple(path.split("/")), tuple(query.split("&")) if query else ())


class UrlForms:
    """Distinct URLs of one site, each with the page it shows."""

    def __init__(self, site: str, urls: list[str], pages: list[int]) -> None:
        self.site = site
        self.urls = urls
        self.pages = pages

    @cached_property
    def pieces(self) -> list[UrlPieces]:
        """Each URL in pieces."""
        return [pieces_of(url) for url in self.urls]

    @cached_property
    def usual_pieces(self) -> list[UrlPieces]:
        """Those of usual length: hundreds of parameters in a URL have thousands of values."""
        return [pieces for pieces in self.pieces if pieces.has_usual_length]

    @cached_property
    def of_page(self) -> dict[int, list[int]]:
        """The rows of each page that has several, the shortest URL first."""
        return rows_of_pages(self.urls, self.pages)

    @cached_property
    def usual(self) -> UrlForms:
        """The forms without those that are very long, or have a name that few others have.

        The same object where all forms are usual, as on nearly every site.
        """
        names = self.names
        if len(names) > USUAL_NAMES:
            ranked = sorted(names.items(), key=lambda item: (-item[1], item[0]))
            known = {name for name, _ in ranked[:USUAL_NAMES]}
        else:
            known = set(names)
        rows = [
            row
            for row, each in enumerate(self.pieces)
            if each.has_usual_length and known.issuperset(each.names)
        ]
        if len(rows) == len(self.urls):
            return self
        return UrlForms(self.site, [self.urls[row] for row in rows], [self.pages[row] for row in rows])

    @cached_property
    def names(self) -> Counter[str]:
        """How many URLs have each parameter."""
        return Counter(name for pieces in self.pieces for name in set(pieces.names))
