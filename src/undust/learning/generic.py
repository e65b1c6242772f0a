"""What may hold on every site, and what each site says of it: the small table that `across` decides from.

A shape names nothing of a site: no host, no page. Most shapes come twice, open and *lone*: the lone one
is for URLs that have no other parameter. Where a query selects a page the page is more often one that
changes (lists, edit forms, searches), so that a lone rule often holds where the open one seems to fail.

A crawl of the web has more sites than one machine can hold. So nothing is asked of the table that an engine
cannot answer by adding up whole numbers, shape by shape: how many shapes of a family hold and fail for each
number of pages, which of them enough sites prove, and only for those what each site says.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast, get_type_hints

import pyarrow as pa

from undust.learning.site_pages import SitePages
from undust.learning.state import State
from undust.learning.texts import OPEN, REST_OF_URL, UrlForms, replacing, rewriting
from undust.proposing.idle_parts import frequent, is_plain
from undust.rules import Rule, RuleSet
from undust.rules.language import ANY_SITE
from undust.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from undust.learning.site_pages import Requirements
    from undust.pages.clustering import SiteClusters
    from undust.rules.language import Kind


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
_QUIET = 1 / 3
"""This share of the URLs that a rule changes must become a form that was observed on the site; where most
are sent to forms that were not observed, they may not exist on the next site."""


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
    unstable: Sequence[int] = (),
) -> list[SiteTally]:
    """Return what a site shows of every shape that brings any two of its URLs together.

    Args:
        site: Its clusters.
        requirements: How they are looked at.
        rules: Its own rules, beside which a rule for all sites would work.
        known: Rules for all sites that were learned before, and are tested in any case.
        unstable: Unstable pages, which count neither for a rule nor against it.

    """
    pages = SitePages(site, requirements)
    if not pages.count:
        return []
    pages.silent[list(unstable)] = True
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


class SharedShape(NamedTuple):
    """What sites speak about: a rule without a site, and its family."""

    family: str
    kind: str
    source: str
    target: str

    @property
    def rule(self) -> Rule:
        """The rule for all sites, without evidence."""
        return Rule(ANY_SITE, cast("Kind", self.kind), self.source, self.target, learned_by=BY)


class SiteVote(NamedTuple):
    """What the tally of one site counts for: whole numbers, whose sums no order and no engine changes."""

    holds: int
    """Pages for which it holds there, as far as they count …"""
    fails: int
    """… or for which it fails; divided by `min_support`, the part of a site that it counts as."""
    proves: int
    opposes: int


class ShapeSums(NamedTuple):
    """What all sites say of a shape together."""

    shape: SharedShape
    holds: int
    fails: int
    proved: int
    saves: int
    """On the sites that do not oppose it."""


class ShapeTable(Protocol):
    """What sites say of shapes, wherever it lies; it is asked for shapes, never for all sites."""

    def families(self) -> Mapping[str, Mapping[tuple[int, int], int]]:
        """Return by family how many shapes hold and fail for each number of pages."""

    def proved(self, sites: int) -> Iterable[ShapeSums]:
        """Return the shapes that at least this many sites prove."""

    def tallies(self, shapes: Sequence[SharedShape]) -> Iterator[SiteTally]:
        """Yield what each site says of these shapes, in the order of the shapes and then of the sites."""


class HeldShapes:
    """The table of a few sites, in memory."""

    def __init__(self, shown: Iterable[SiteTally], requirements: Requirements) -> None:
        self._by_shape: dict[SharedShape, list[SiteTally]] = defaultdict(list)
        for each in sorted(shown):
            self._by_shape[shape_of(each)].append(each)
        self._sums = [_sums(shape, sites, requirements) for shape, sites in self._by_shape.items()]

    def families(self) -> Mapping[str, Mapping[tuple[int, int], int]]:
        """Return by family how many shapes hold and fail for each number of pages."""
        found: dict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
        for each in self._sums:
            found[each.shape.family][each.holds, each.fails] += 1
        return found

    def proved(self, sites: int) -> Iterable[ShapeSums]:
        """Return the shapes that at least this many sites prove."""
        return [each for each in self._sums if each.proved >= sites]

    def tallies(self, shapes: Sequence[SharedShape]) -> Iterator[SiteTally]:
        """Yield what each site says of these shapes."""
        return (each for shape in shapes for each in self._by_shape[shape])


def _sums(shape: SharedShape, sites: Iterable[SiteTally], requirements: Requirements) -> ShapeSums:
    votes = [(each, vote_of(each, requirements)) for each in sites]
    holds, fails, proved, _ = (sum(column) for column in zip(*(vote for _, vote in votes), strict=True))
    return ShapeSums(shape, holds, fails, proved, sum(each.saved for each, vote in votes if not vote.opposes))


def shape_of(shown: SiteTally) -> SharedShape:
    """Return what a site speaks about."""
    return SharedShape(shown.family, shown.kind, shown.source, shown.target)


def vote_of(shown: SiteTally, requirements: Requirements) -> SiteVote:
    """Return what one site counts for."""
    holds = fails = 0
    if shown.lost and _at_least(shown.lost, shown.lost + shown.pages) > requirements.max_fpr:
        fails = min(requirements.min_support, shown.lost)
    elif _is_quiet(shown):
        holds = min(requirements.min_support, shown.pages)
    return SiteVote(holds, fails, int(proves(shown, requirements)), int(opposes(shown, requirements)))


def proves(shown: SiteTally, requirements: Requirements) -> bool:
    """Return whether one site proves a shape."""
    return _is_quiet(shown) and shown.pages >= requirements.min_support and not opposes(shown, requirements)


def opposes(shown: SiteTally, requirements: Requirements) -> bool:
    """Return whether a site's own pages contradict a shape there; a little doubt is enough."""
    return _is_above(shown.lost, shown.pages, requirements) or _is_above(
        shown.own_lost, shown.own_pages, requirements
    )


def _is_quiet(shown: SiteTally) -> bool:
    return shown.saved >= _QUIET * shown.moved


def _is_above(lost: int, pages: int, requirements: Requirements) -> bool:
    return lost > requirements.max_fpr * (lost + pages)


@lru_cache(1 << 16)
def _at_least(lost: int, seen: int) -> float:
    return interval(lost, seen)[0]
