"""What is proposed for a site: equivalences, idle parameters, defaults, differences, and published methods.

Equivalences are what many sites do not distinguish, and some do: order, case, slashes, hosts, idle segments.
They are tested on each site, never assumed; so are parameters that do nothing, alone or together, and values
that are the default.

A difference is what separates two URLs of one page, as a rule: what differs is written, what is equal is left
open. Where a piece of text is on both sides it becomes a capture, so that the same difference on other pages
gives the same rule. A difference on one page is not a rule; on many pages it is a candidate.

The published learners propose late, on what the cheap proposals left. Alone, each of them is timid or
reckless on real sites. From current images, without www and session ids, what they see is small and repeats
itself, and their finds are judged by the state like all others.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust._core import DifferenceBounds
from undust._core import differences as core_differences
from undust.edits import is_somebodys
from undust.learning.failing_pages import VALUE_PREFIX
from undust.learning.texts import OPEN, REST_OF_URL, replacing, rewriting
from undust.pages.clustering import find_in_site
from undust.privacy import looks_secret
from undust.proposing import facets_of
from undust.proposing.idle_parts import frequent, is_plain, parts_of
from undust.proposing.papers import LEARNERS, propose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from undust.learning.texts import UrlForms
    from undust.rules import Rule

    Propose = Callable[[UrlForms], Iterable[Rule | None]]


_EQUIVALENCES = "equivalences"
HOSTS = 12
"""At most this many of a site's hosts are compared with each other; mirrors are large."""
_SEGMENTS, FOLDERS = 60, 10
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_PARAMETERS, SETTINGS = "parameters", "settings"
_NAMES, PAIRS, SETS, _VALUES = 400, 150, 40, 500
"""At most this many names, pairs, sets of names and values are tried, the most frequent first."""
LARGEST_SET = 4
_LONGEST_VALUE = 40
"""Characters of a value that is written."""
_DIFFERENCES = "differences"
_PAGES = 3
"""A difference must be seen on at least this many pages."""
_CANDIDATES = 1500
_ALL_PAIRS = 10
"""Of a page with more URLs than this, some pairs are looked at only."""
_LONGEST = 6
"""More segments or parameters than this do not change in one rule."""
KEPT_VALUES = 5
"""Distinct texts are counted up to this, which is also how many a removed part must have had: a part
with few values is a part of the site's scheme, and says where one is (the fan-out of Dasgupta et al.)."""
CAPTURES = "abcdefgijk"
"""Names of captures, in the order in which the core makes them; `h`, `p` and `s` are taken."""
FORGET = "{*}"
_CAPTURE = re.compile(rf"\{{([{CAPTURES}])(?=[:}}])")
LONG_NAME = 14
"""A run of this many letters and digits is a page's own name, not a part of the site's scheme."""
_BOUNDS = DifferenceBounds(
    longest=_LONGEST, long_name=LONG_NAME, kept_values=KEPT_VALUES, least_pages=_PAGES, most=_CANDIDATES
)
_BEST = 300
"""The number of the best candidates of each learner."""
BOUNDS: dict[str, object] = {
    "tree.max_pairs": 3000,
    "tree.common": "target",
    "tree.salience": "site",
    "tree.min_pages": 1,
    "alignment.word_runs": False,
}
"""Options of the learners: no real site of ours has as many pairs, and a proposal needs no number of pages,
for it is proved later like any other. The other three are readings with fewer candidates, since what the
wider ones find is proposed here already, and the bound of the set is shared by all candidates (on one of
seven crawls they took 7 points from `undust learn`)."""
_ANY_CAPTURE = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[A-Za-z0-9]+")


def empty_query(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield the removal of an empty query; separate, because every rule that writes a URL does it too."""
    yield rewriting(forms.site, _EQUIVALENCES, OPEN, REST_OF_URL)


def equivalences(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield what may not matter: order, separators, encoding, case, slashes, hosts, idle segments."""
    site = forms.site
    yield from empty_query(forms)
    for form in ("sorted", "amp", "unique", "plain", "lower", "first", "last"):
        yield rewriting(site, _EQUIVALENCES, OPEN, f"{{s}}://{{h}}/{{p}}?{{rest:{form}}}")
    for form in ("plain", "lower"):
        yield rewriting(site, _EQUIVALENCES, OPEN, f"{{s}}://{{h}}/{{p:{form}}}?{{rest}}")
    yield replacing(site, _EQUIVALENCES, "//", "/")
    yield rewriting(site, _EQUIVALENCES, "{s}://{h}/{p**}/{x}/?{rest**}", "{s}://{h}/{p}/{x}?{rest}")
    yield from _authorities(forms)
    yield from _capitals(forms)
    yield from _last_segments(forms)
    yield from _facets(forms)


def _facets(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that two named segments are sorted by name."""
    parts = [parts_of(url) for url in forms.urls]
    pairs = (
        (left, right, page)
        for page, rows in forms.of_page.items()
        if len(parts[rows[0]].segments) > 1
        for left, right in _pairs_of_page(rows)
        if left < right
    )
    for edit in facets_of(parts, pairs):
        for rule in edit.rules(forms.site) or ():
            yield rewriting(forms.site, _EQUIVALENCES, rule.source, rule.target or "")


def _capitals(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that names in a folder start with a capital, as those of a wiki do."""
    folders = Counter(each.segments[0] for each in forms.pieces if len(each.segments) == 2)  # noqa: PLR2004
    for folder in filter(None, frequent(folders, 3, FOLDERS)):
        start = f"{{s}}://{{h}}/{folder}"
        yield rewriting(
            forms.site, _EQUIVALENCES, f"{start}/{{x}}?{{rest**}}", f"{start}/{{x:capital}}?{{rest}}"
        )


def _authorities(forms: UrlForms) -> Iterator[Rule | None]:
    site = forms.site
    if len({pieces.scheme for pieces in forms.pieces}) > 1:
        yield rewriting(site, _EQUIVALENCES, "http://{h}/{p**}?{rest**}", "https://{h}/{p}?{rest}")
        yield rewriting(site, _EQUIVALENCES, "https://{h}/{p**}?{rest**}", "http://{h}/{p}?{rest}")
    hosts = frequent(Counter(pieces.host for pieces in forms.pieces), 1, HOSTS)
    for left in hosts:
        for right in hosts:
            if left != right:
                yield rewriting(
                    site,
                    _EQUIVALENCES,
                    f"{{s}}://{left}/{{p**}}?{{rest**}}",
                    f"{{s}}://{right}/{{p}}?{{rest}}",
                )


def _last_segments(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a frequent last segment, such as an index page, or a file's ending, is idle."""
    site, pieces = forms.site, forms.pieces
    for last in frequent(Counter(each.segments[-1] for each in pieces), 3, _SEGMENTS):
        for target in ("{s}://{h}/{p}/?{rest}", "{s}://{h}/{p}?{rest}") if last else ():
            yield rewriting(site, _EQUIVALENCES, f"{{s}}://{{h}}/{{p**}}/{last}?{{rest**}}", target)
    endings = Counter(found[0] for each in pieces if (found := _ENDING.search(each.segments[-1])))
    for ending in frequent(endings, 3, _SEGMENTS):
        yield rewriting(
            site, _EQUIVALENCES, f"{{s}}://{{h}}/{{p**}}/{{x}}{ending}?{{rest**}}", "{s}://{h}/{p}/{x}?{rest}"
        )


def idle_segments(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a frequent first or inner segment is idle; late, for often a whole class of them is."""
    site, pieces = forms.site, forms.pieces
    first = Counter(each.segments[0] for each in pieces if len(each.segments) > 1)
    for segment in filter(None, frequent(first, 3, _SEGMENTS)):
        yield rewriting(site, _EQUIVALENCES, f"{{s}}://{{h}}/{segment}/{{p**}}?{{rest**}}", REST_OF_URL)
    inner = Counter(segment for each in pieces for segment in set(each.segments[1:-1]))
    for segment in filter(None, frequent(inner, 5, _SEGMENTS)):
        yield rewriting(
            site,
            _EQUIVALENCES,
            f"{{s}}://{{h}}/{{a}}/{segment}/{{p**}}?{{rest**}}",
            "{s}://{h}/{a}/{p}?{rest}",
        )


def drops(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a parameter is dropped, or several that come together, or all but a few."""
    site = forms.site
    names = [name for name in frequent(forms.names, 2, _NAMES) if is_plain(name)]
    for name in names:
        yield rewriting(site, _PARAMETERS, _having(f"{name}={{**}}"), REST_OF_URL)
    yield from _set(forms, names)
    # The pairs of a set grow with its square.
    sets = Counter(frozenset(pieces.names) for pieces in forms.usual.pieces)
    yield from _dropped_pairs(site, sets)
    yield from _prefixes(site, names)
    yield from _all_but(site, sets)


def _set(forms: UrlForms, names: list[str]) -> Iterator[Rule | None]:
    """Yield that a parameter is set to its most frequent value, for sites that want one to be there."""
    values: dict[str, Counter[str]] = {name: Counter() for name in names}
    for pieces in forms.usual_pieces:
        for parameter in set(pieces.query):
            name = parameter.partition("=")[0]
            if name in values:
                values[name][parameter] += 1
    for name in names:
        usual = frequent(values[name], 2, 1)
        if usual and len(values[name]) > 1 and _may_be_written(usual[0].partition("=")[2]):
            target = f"{{s}}://{{h}}/{{p}}?{usual[0]}&{{rest}}"
            yield rewriting(forms.site, SETTINGS, _having(f"{name}={{**}}"), target)


def _may_be_written(value: str) -> bool:
    """Return whether a value may be written into every URL; that of a visitor would identify them."""
    return 0 < len(value) <= _LONGEST_VALUE and not looks_secret(value)


def _dropped_pairs(site: str, sets: Counter[frozenset[str]]) -> Iterator[Rule | None]:
    together: Counter[tuple[str, str]] = Counter()
    for names, count in sets.items():
        for left, right in combinations(sorted(filter(is_plain, names)), 2):
            together[left, right] += count
    for (left, right), count in sorted(together.items(), key=lambda item: (-item[1], item[0]))[:PAIRS]:
        if count > 2:  # noqa: PLR2004 -- two may be chance
            yield rewriting(site, _PARAMETERS, _having(f"{left}={{**}}&{right}={{**}}"), REST_OF_URL)


def _prefixes(site: str, names: list[str]) -> Iterator[Rule | None]:
    families: dict[str, int] = defaultdict(int)
    for name in names:
        head, underscore, _ = name.partition("_")
        families[head + underscore] += bool(underscore and head)
    for head, count in sorted(families.items()):
        if count > 1:
            yield rewriting(site, _PARAMETERS, _having(f"{{**:{head}*}}"), REST_OF_URL)


def _all_but(site: str, sets: Counter[frozenset[str]]) -> Iterator[Rule | None]:
    ranked = sorted(sets.items(), key=lambda item: (-item[1], sorted(item[0])))
    for names, count in ranked[:SETS]:
        if names and count >= LARGEST_SET and all(map(is_plain, names)) and len(names) <= LARGEST_SET:
            kept = "|".join(sorted(names))
            source = f"{{s}}://{{h}}/{{p**}}?{{k**:{kept}}}&{{**}}"
            yield rewriting(site, _PARAMETERS, source, "{s}://{h}/{p}?{k}", when=(f"?{min(names)}={{**}}",))


def defaults(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a frequent value of a parameter is what the site takes anyway."""
    counts = Counter(parameter for pieces in forms.usual_pieces for parameter in set(pieces.query))
    for parameter in frequent(counts, 3, _VALUES):
        if is_plain(parameter.partition("=")[0]):
            yield rewriting(forms.site, _PARAMETERS, _having(parameter), REST_OF_URL)


def _having(parameters: str) -> str:
    return f"{{s}}://{{h}}/{{p**}}?{parameters}&{{rest**}}"


def differences(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield the differences between URLs of a page that several pages show, the most frequent first."""
    # Two URLs of hundreds of parameters take long to compare, and differ in more than a rule can say.
    short = [each.has_usual_length for each in forms.pieces]
    pairs = [
        (left, right, page)
        for page, rows in forms.of_page.items()
        for left, right in _pairs_of_page([row for row in rows if short[row]])
    ]
    if not pairs:
        return
    left, right, page = np.ascontiguousarray(np.array(pairs, np.int64).T)
    between = core_differences(pa.array(forms.urls, pa.large_string()), left, right, page, _BOUNDS)
    found = [
        each
        for source, target, values in between
        if (written := _written(source, values))
        for each in _typed(written, target, values)
    ]
    for source, target in dict.fromkeys(found):
        yield rewriting(forms.site, _DIFFERENCES, source, target)


def _written(source: str, values: list[list[str]]) -> str | None:
    """Return a left side that discards what had many values, and writes what had one; None for a few."""
    first, *others = source.split(FORGET)
    forgotten = values[len(values) - len(others) :]
    for text, some in zip(others, forgotten, strict=True):
        if len(some) not in {1, KEPT_VALUES}:
            return None
        first += (next(iter(some)) if len(some) == 1 else FORGET) + text
    return first


def _typed(source: str, target: str, values: list[list[str]]) -> Iterator[tuple[str, str]]:
    """Yield the rule with captures of one value written as that value, and numbers as numbers.

    Where the texts of a capture begin alike (`p-`, `File:`), the rule with this beginning comes too.
    """
    narrow = source, target
    for name, some in zip(CAPTURES, values, strict=False):
        if len(some) == 1:
            (value,) = some
            source = source.replace(f"{{{name}}}", value)
            target = target.replace(f"{{{name}}}", value)
            narrow = narrow[0].replace(f"{{{name}}}", value), narrow[1].replace(f"{{{name}}}", value)
        elif all(text.isdigit() and text.isascii() for text in some):
            source = source.replace(f"{{{name}}}", f"{{{name}:int}}")
            narrow = narrow[0].replace(f"{{{name}}}", f"{{{name}:int}}"), narrow[1]
        elif beginning := _beginning(some):
            began = f"{beginning}{{{name}}}"
            narrow = narrow[0].replace(f"{{{name}}}", began), narrow[1].replace(f"{{{name}}}", began)
    yield _renamed(source, target)
    if narrow != (source, target):
        yield _renamed(*narrow)


def _beginning(texts: list[str]) -> str:
    """Return the word and its separator with which all texts begin; nothing if they do not."""
    found = {match[0] if (match := VALUE_PREFIX.match(text)) else "" for text in texts}
    return found.pop() if len(found) == 1 else ""


def _renamed(source: str, target: str) -> tuple[str, str]:
    """Return both sides with captures named in their order, so that one rule has one text."""
    names = [found[1] for found in _CAPTURE.finditer(source)]
    order = {name: CAPTURES[place] for place, name in enumerate(names)}
    renamed = [_CAPTURE.sub(lambda found: "{" + order[found[1]], side) for side in (source, target)]
    return renamed[0], renamed[1]


def _pairs_of_page(rows: list[int]) -> Iterator[tuple[int, int]]:
    """Yield ordered pairs of a page's URLs: all of few, else those with the shortest and of neighbours."""
    if len(rows) <= _ALL_PAIRS:
        yield from ((left, right) for left in rows for right in rows if left != right)
        return
    step = max(1, len(rows) // (3 * _ALL_PAIRS))
    some = rows[: 3 * _ALL_PAIRS * step : step]
    chosen = {(left, right) for left in some for right in some[:3] if left != right}
    chosen |= set(pairwise(some))
    yield from sorted(chosen | {(right, left) for left, right in chosen})


def published(forms: UrlForms) -> Iterator[Rule]:
    """Yield what each learner proposes; of rules that belong together, each by itself."""
    forms = forms.usual
    if not forms.of_page:
        return
    seen = pa.table({"url": forms.urls, "cluster": [str(page) for page in forms.pages]})
    site = find_in_site(seen, forms.site)
    for learner in LEARNERS:
        for candidate in propose(site, [learner.name], BOUNDS)[learner.name].candidates[:_BEST]:
            yield from (rule for rule in candidate.rules if not _is_odd(rule))


def _is_odd(rule: Rule) -> bool:
    """Return whether a rule is not worth a trial."""
    return _grows(rule) or _has_a_name(rule) or is_somebodys(f"{rule.source} {rule.target}")


def _grows(rule: Rule) -> bool:
    """Return whether a rule finds again what it wrote: it never ends, and takes all its steps to show it."""
    return rule.kind == "replace" and rule.source in (rule.target or "")


def _has_a_name(rule: Rule) -> bool:
    """Return whether one side has a long word that the other has not: a page's own name, no scheme."""
    left, right = (
        set(_WORD.findall(_ANY_CAPTURE.sub(" ", side or ""))) for side in (rule.source, rule.target)
    )
    return any(len(word) >= LONG_NAME for word in left ^ right)


TIERS: tuple[tuple[str, Propose], ...] = (
    ("empty queries", empty_query),
    ("equivalences", equivalences),
    ("parameters", drops),
    ("defaults", defaults),
    ("differences", differences),
    ("segments", idle_segments),
    ("published", published),
)
"""What is proposed, in this order, and then all again from where it led."""
