"""The words in which a kind of site is described: families of pages, forms of their URLs, what is ignored.

A kind is a declaration. From the same forms URLs are written for millions of pages and read by the server,
so the two cannot disagree about what a URL shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.sites.text import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench.sites.fields import Digits, Field

from bench.sites.fields import MAIN

PAGE, GONE, SOFT, LOGIN, NOTHING = range(5)
"""What a URL can show: its page; status 404; and with status 200 "not found", the form to log in, no hits."""


@dataclass(frozen=True)
class Form:
    """A way to write the URLs of a family: a path and a query with fields in braces.

    A form that leaves out one of the small digits is for pages where that digit is zero. Parameters that a
    form does not name are ignored when it is read.
    """

    template: str
    weight: float = 1.0
    """How likely it is among the forms of a page; a form of weight zero is read and never written."""
    redirects: bool = False
    """Answers with the first form of the page instead of the page."""
    tail: int = PLAIN
    """What it adds to the text: a print edition is no exact copy."""
    is_read: bool = True
    """Whether the server knows this form, and not only what `Manners` make of it."""


@dataclass(frozen=True)
class Extra:
    """Something that visitors, links and servers add to any form, which changes nothing."""

    query: str = ""
    path: str = ""
    """Stands after the path."""
    host: str | None = None
    """Another label of the host, for families of the site's own label."""
    weight: float = 1.0
    is_first: bool = False
    """The parameters stand before those of the form."""


@dataclass(frozen=True, eq=False)
class Family:
    """Pages of one sort."""

    name: str
    forms: tuple[Form, ...]
    """The first that fits is the one that the site itself prefers."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    share: int = 1
    """Of the addresses of the site, beside the other families' shares."""
    main: str = MAIN
    """The digit that grows with the site."""
    small: Mapping[str, int] = field(default_factory=dict)
    """The other digits, and how many values each has."""
    same: Callable[[Digits], Digits] | None = None
    """Sends the digits of an address to those of the page that it shows."""
    clamped: tuple[str, ...] = ()
    """Digits that show the last value when a larger one is asked for."""
    rolls: str | None = None
    """The digit that only changes the order of what is listed, and so what is on the first page."""
    shows: Mapping[int, float] | None = None
    """Shares of addresses that show something else; those measured on such software, if not said."""
    host: str | None = None
    """The label of the host, if not the site's own."""
    canonical_forgets: tuple[str, ...] = ()
    """Digits that rel=canonical leaves out, wrongly."""


@dataclass(frozen=True)
class Manners:
    """What a server does with every path before it looks for the page."""

    ignores_case: bool = False
    indexes: tuple[str, ...] = ()
    """Names that stand for the folder they are in."""
    ignores_last_slash: bool = False
    ignores_path_parameters: bool = False
    """Forgets `;name=value` at the end of the path."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Beginnings of paths, and what each stands for."""
    suffixes: tuple[str, ...] = ()
    """Endings that may be left out."""


@dataclass(frozen=True, eq=False)
class Kind:
    """A sort of site, with what is true of its URLs."""

    name: str
    about: str
    like: str
    """The measured software that its rates are taken from."""
    families: tuple[Family, ...]
    true_rules: tuple[str, ...]
    """Rules that never merge two pages of such a site; `SITE` stands for its domain."""
    false_rules: tuple[str, ...]
    """Rules that look right on many pages and merge different ones."""
    inexpressible: tuple[str, ...] = ()
    """Duplicates that no rule can express, in words."""
    extras: tuple[Extra, ...] = ()
    pages_per_address: float = 1.0
    """Below one where several addresses show one page; the duplicates are as many as measured even so."""
    label: str = "www"
    """The label of its host."""
    mirrors: tuple[str, ...] = ()
    """Labels under which all of that host is found again."""
    manners: Manners = Manners()


TRACKING = (
    Extra(query="utm_source={source}&utm_medium=email", weight=0.3),
    Extra(query="gclid={click}", weight=0.2),
)
"""What marketing adds; measured to change nothing on every software."""
DROP_TRACKING = (
    "rewrite {s}://{h}/{p**}?{**:utm_*}&{rest**} -> {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?{**:gclid}&{rest**} -> {s}://{h}/{p}?{rest}",
)
DROP_QUERY = "rewrite {s}://{h}/{p**}?{**} -> {s}://{h}/{p}"
"""The caricature of a rule, false wherever a query tells the page."""
