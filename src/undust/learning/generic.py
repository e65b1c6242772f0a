"""What may hold on every site, and what one site says of it: the small table that `across` decides from.

A shape names nothing of a site: no host, no page. Most shapes come twice, open and *lone*: the lone one
is for URLs that have no other parameter. Where a query selects a page the page is more often one that
changes (lists, edit forms, searches), so that a lone rule often holds where the open one seems to fail.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, get_type_hints

import pyarrow as pa

from undust.learning.equivalences import frequent
from undust.learning.make_rule import OPEN, REST_OF_URL, is_plain, replacing, rewriting
from undust.learning.site_pages import SitePages
from undust.learning.state import State
from undust.learning.url_forms import UrlForms
from undust.rules import RuleSet
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.learning.requirements import Requirements
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

BY = "across"
_KNOWN = "known"
"""The family of rules of which a site has nothing of its own to propose them from."""
_NAMES, _VALUES, _SEGMENTS, ENDINGS, _PORTS = 300, 60, 30, 20, 5
"""At most this many of a site are tested, the most frequent first."""
LONE = "lone "
"""How the name of a family starts whose rules are for URLs without another parameter. Such a rule stands
right behind the open one."""
LONE_OPEN = "{s}://{h}/{p**}"
LONE_SAME = "{s}://{h}/{p}"
_REMEMBERED = 1 << 14
"""Rules that are made once for all sites that ask for them."""
DIVERSE = 3
"""Values of a parameter that must be idle before it is dropped whatever its value."""
_DROP = re.compile(r"\?([^={}&]+)=\{\*\*\}")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_PATH_PARAMETER = re.compile(r"[^;=&]+;([A-Za-z_][A-Za-z0-9_]*)=[^;&]+")
_PORT = re.compile(r":([0-9]+)$")


class GenericRule(NamedTuple):
    """A rule for any site, and the kind of rules that it shares its prospects with."""

    family: str
    rule: Rule


class SiteTally(NamedTuple):
    """What one site shows of one shape."""

    site: str
    family: str
    kind: str
    source: str
    target: str
    moved: int
    """URL forms that change under this rule alone."""
    saved: int
    """URL forms fewer then."""
    pages: int
    """Pages that need fewer URLs then."""
    lost: int
    """Pages that would lie under a different one."""
    own_pages: int
    """Pages that need fewer URLs beside the rules that the site has of its own …"""
    own_lost: int
    """… and pages lost."""
    example: str
    """A URL that the shape brings together with another form of its page; empty without such a URL."""
    becomes: str


SHOWN = pa.schema(
    [
        pa.field(name, pa.int64() if hint is int else pa.string(), nullable=False)
        for name, hint in get_type_hints(SiteTally).items()
    ]
)
"""The same as the columns of a table, for engines."""


def shown_by(
    site: SiteClusters,
    requirements: Requirements,
    rules: Sequence[Rule] = (),
    known: Sequence[Rule] = (),
    restless: Sequence[int] = (),
) -> list[SiteTally]:
    """Return what a site shows of every shape that brings any two of its URLs together.

    Args:
        site: Its clusters.
        requirements: How they are looked at.
        rules: Its own rules, beside which a rule for all sites would work.
        known: Rules for all sites that were learned before, and are tested in any case.
        restless: Unstable pages, which count neither for a rule nor against it.

    """
    pages = SitePages(site, requirements)
    if not pages.count:
        return []
    pages.silent[list(restless)] = True
    bare = State(pages)
    own = State(pages, rules) if rules else None
    empty_query = rewriting(ANY_SITE, BY, OPEN, REST_OF_URL)
    assert empty_query is not None  # noqa: S101 -- for the type checker
    found = _tested([GenericRule("writing", empty_query)], site.site, bare, own)
    # Whatever writes a URL anew leaves an empty query out; that is not to the credit of the others.
    without = State(pages, [empty_query])
    shapes = {str(each.rule): each for each in _shapes(UrlForms(ANY_SITE, without.texts, []))}
    for rule in known:
        if str(rule) != str(empty_query):
            shapes.setdefault(str(rule), GenericRule(_KNOWN, rule))
    return [*found, *_tested(list(shapes.values()), site.site, without, own)]


def _tested(shapes: Sequence[GenericRule], site: str, bare: State, own: State | None) -> Iterator[SiteTally]:
    rules = [shape.rule for shape in shapes]
    alone = bare.effects(rules)
    beside = own.effects(rules) if own else alone
    is_idle = False
    for shape, effect, here in zip(shapes, alone, beside, strict=True):
        if is_idle and shape.family.startswith(LONE):
            continue  # what does nothing with any query does nothing without one
        rule = shape.rule
        is_idle = not (effect.pages or effect.lost or here.lost)
        if is_idle:
            continue
        proofs = bare.some_texts(effect.sources[effect.merging & ~effect.failing])
        saved, pages = (effect.saved, effect.pages) if _is_diverse(rule, proofs) else (0, 0)
        said = (site, shape.family, rule.kind, rule.source, rule.target or "")
        example = min(proofs, key=lambda url: (len(url), url), default="")
        becomes = RuleSet([rule]).compile()(example) if example else ""
        yield SiteTally(
            *said, effect.moved, saved, pages, effect.lost, here.pages, here.lost, example, becomes
        )


def _is_diverse(rule: Rule, proofs: Sequence[str]) -> bool:
    """Return whether a parameter that is dropped whatever its value was seen to be idle with several."""
    match = _DROP.search(rule.source)
    if not match:
        return True
    start = f"{match[1]}="
    values = {
        parameter
        for url in proofs
        for parameter in url.partition("?")[2].split("&")
        if parameter.startswith(start)
    }
    return len(values) >= DIVERSE


def _shapes(forms: UrlForms) -> Iterator[GenericRule]:
    made = (
        *_writing(),
        *_authorities(forms),
        *_path_ends(forms),
        *_path_parameters(forms),
        *_parameters(forms),
    )
    yield from (GenericRule(family, rule) for family, rule in made if rule is not None)


def _written(family: str, source: str, target: str) -> tuple[str, Rule | None]:
    return family, _for_all(source, target)


@lru_cache(_REMEMBERED)
def _for_all(source: str, target: str) -> Rule | None:
    return rewriting(ANY_SITE, BY, source, target)


def _open_and_lone(family: str, source: str, target: str) -> Iterator[tuple[str, Rule | None]]:
    """Yield a rule about the part before the query, with any query and with none."""
    yield _written(family, f"{source}?{{rest**}}", f"{target}?{{rest}}")
    yield _written(f"{LONE}{family}", source, target)


def _writing() -> Iterator[tuple[str, Rule | None]]:
    """Yield what is another way to write the same: order, repetition, encoding, case, slashes."""
    for form in ("sorted", "unique", "plain", "amp", "lower"):
        yield _written("writing", OPEN, f"{{s}}://{{h}}/{{p}}?{{rest:{form}}}")
    for form in ("plain", "lower"):
        yield from _open_and_lone("writing", LONE_OPEN, f"{{s}}://{{h}}/{{p:{form}}}")
    yield "writing", replacing(ANY_SITE, BY, "//", "/")
    yield _written(f"{LONE}writing", "{s}://{h}/{p**}//{x}", "{s}://{h}/{p}/{x}")
    yield from _open_and_lone("writing", "{s}://{h}/{p**}/{x}/", "{s}://{h}/{p}/{x}")


def _authorities(forms: UrlForms) -> Iterator[tuple[str, Rule | None]]:
    yield from _open_and_lone("writing", "{s}://www.{h**}/{p**}", LONE_SAME)
    if len({pieces.scheme for pieces in forms.pieces}) > 1:
        yield from _open_and_lone("writing", "http://{h}/{p**}", "https://{h}/{p}")
    ports = Counter(found[1] for pieces in forms.pieces if (found := _PORT.search(pieces.host)))
    for port in frequent(ports, 1, _PORTS):
        yield from _open_and_lone("writing", f"{{s}}://{{h**}}:{port}/{{p**}}", LONE_SAME)


def _path_ends(forms: UrlForms) -> Iterator[tuple[str, Rule | None]]:
    """Yield that a frequent last segment, such as an index page, or a file's ending, is idle."""
    last = Counter(pieces.segments[-1] for pieces in forms.pieces)
    for segment in filter(None, frequent(last, 3, _SEGMENTS)):
        yield from _open_and_lone("segment", f"{{s}}://{{h}}/{{p**}}/{segment}", "{s}://{h}/{p}/")
    endings = Counter(found[0] for pieces in forms.pieces if (found := _ENDING.search(pieces.segments[-1])))
    for ending in frequent(endings, 3, ENDINGS):
        yield from _open_and_lone("ending", f"{{s}}://{{h}}/{{p**}}/{{x}}{ending}", "{s}://{h}/{p}/{x}")


def _path_parameters(forms: UrlForms) -> Iterator[tuple[str, Rule | None]]:
    """Yield the removal of text after a semicolon in the last segment, such as a session id."""
    names = Counter(
        found[1] for pieces in forms.pieces if (found := _PATH_PARAMETER.fullmatch(pieces.segments[-1]))
    )
    for name in frequent(names, 1, ENDINGS):
        source = f"{{s}}://{{h}}/{{p**}}/{{x}};{name}={{*}}"
        yield from _open_and_lone("path parameter", source, "{s}://{h}/{p}/{x}")


def _parameters(forms: UrlForms) -> Iterator[tuple[str, Rule | None]]:
    """Yield that a parameter is idle, or all of a family, or one value of it."""
    names = [name for name in frequent(forms.names, 1, _NAMES) if is_plain(name)]
    heads = Counter(head + "_" for name in names for head, mark, _ in [name.partition("_")] if head and mark)
    values = Counter(parameter for pieces in forms.pieces for parameter in set(pieces.query))
    texts = (
        *(("parameter", f"{name}={{**}}") for name in names),
        *(("parameter", f"{{**:{head}*}}") for head in frequent(heads, 2, _NAMES)),
        *(("value", text) for text in frequent(values, 3, _VALUES) if is_plain(text.partition("=")[0])),
    )
    for family, text in texts:
        yield _written(family, f"{{s}}://{{h}}/{{p**}}?{text}&{{rest**}}", REST_OF_URL)
        yield _written(f"{LONE}{family}", f"{{s}}://{{h}}/{{p**}}?{text}", LONE_SAME)
