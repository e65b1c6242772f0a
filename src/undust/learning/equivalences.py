"""What many sites do not distinguish, and some do: tested on each, never assumed.

Order, case, slashes, hosts, idle segments; parameters that do nothing, alone or together; default values.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from undust.learning.texts import OPEN, REST_OF_URL, is_plain, replacing, rewriting
from undust.privacy import looks_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.learning.texts import UrlForms
    from undust.rules import Rule


_BY = "equivalences"
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


def empty_query(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield the removal of an empty query; separate, because every rule that writes a URL does it too."""
    yield rewriting(forms.site, _BY, OPEN, REST_OF_URL)


def equivalences(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield what may not matter: order, separators, encoding, case, slashes, hosts, idle segments."""
    site = forms.site
    yield from empty_query(forms)
    for form in ("sorted", "amp", "unique", "plain", "lower", "first", "last"):
        yield rewriting(site, _BY, OPEN, f"{{s}}://{{h}}/{{p}}?{{rest:{form}}}")
    for form in ("plain", "lower"):
        yield rewriting(site, _BY, OPEN, f"{{s}}://{{h}}/{{p:{form}}}?{{rest}}")
    yield replacing(site, _BY, "//", "/")
    yield rewriting(site, _BY, "{s}://{h}/{p**}/{x}/?{rest**}", "{s}://{h}/{p}/{x}?{rest}")
    yield from _authorities(forms)
    yield from _capitals(forms)
    yield from _last_segments(forms)


def _capitals(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that names in a folder start with a capital, as those of a wiki do."""
    folders = Counter(each.segments[0] for each in forms.pieces if len(each.segments) == 2)  # noqa: PLR2004
    for folder in filter(None, frequent(folders, 3, FOLDERS)):
        start = f"{{s}}://{{h}}/{folder}"
        yield rewriting(forms.site, _BY, f"{start}/{{x}}?{{rest**}}", f"{start}/{{x:capital}}?{{rest}}")


def _authorities(forms: UrlForms) -> Iterator[Rule | None]:
    site = forms.site
    if len({pieces.scheme for pieces in forms.pieces}) > 1:
        yield rewriting(site, _BY, "http://{h}/{p**}?{rest**}", "https://{h}/{p}?{rest}")
        yield rewriting(site, _BY, "https://{h}/{p**}?{rest**}", "http://{h}/{p}?{rest}")
    hosts = frequent(Counter(pieces.host for pieces in forms.pieces), 1, HOSTS)
    for left in hosts:
        for right in hosts:
            if left != right:
                yield rewriting(
                    site, _BY, f"{{s}}://{left}/{{p**}}?{{rest**}}", f"{{s}}://{right}/{{p}}?{{rest}}"
                )


def _last_segments(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a frequent last segment, such as an index page, or a file's ending, is idle."""
    site, pieces = forms.site, forms.pieces
    for last in frequent(Counter(each.segments[-1] for each in pieces), 3, _SEGMENTS):
        for target in ("{s}://{h}/{p}/?{rest}", "{s}://{h}/{p}?{rest}") if last else ():
            yield rewriting(site, _BY, f"{{s}}://{{h}}/{{p**}}/{last}?{{rest**}}", target)
    endings = Counter(found[0] for each in pieces if (found := _ENDING.search(each.segments[-1])))
    for ending in frequent(endings, 3, _SEGMENTS):
        yield rewriting(
            site, _BY, f"{{s}}://{{h}}/{{p**}}/{{x}}{ending}?{{rest**}}", "{s}://{h}/{p}/{x}?{rest}"
        )


def idle_segments(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a frequent first or inner segment is idle; late, for often a whole class of them is."""
    site, pieces = forms.site, forms.pieces
    first = Counter(each.segments[0] for each in pieces if len(each.segments) > 1)
    for segment in filter(None, frequent(first, 3, _SEGMENTS)):
        yield rewriting(site, _BY, f"{{s}}://{{h}}/{segment}/{{p**}}?{{rest**}}", REST_OF_URL)
    inner = Counter(segment for each in pieces for segment in set(each.segments[1:-1]))
    for segment in filter(None, frequent(inner, 5, _SEGMENTS)):
        yield rewriting(
            site, _BY, f"{{s}}://{{h}}/{{a}}/{segment}/{{p**}}?{{rest**}}", "{s}://{h}/{a}/{p}?{rest}"
        )


def frequent(counts: Counter[str], least: int, most: int) -> list[str]:
    """Return the most frequent texts, by count and then by text."""
    ranked = sorted((item for item in counts.items() if item[1] >= least), key=lambda it: (-it[1], it[0]))
    return [text for text, _ in ranked[:most]]


def drops(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a parameter is dropped, or several that come together, or all but a few."""
    site = forms.site
    names = [name for name in frequent(forms.names, 2, _NAMES) if is_plain(name)]
    for name in names:
        yield rewriting(site, _PARAMETERS, _having(f"{name}={{**}}"), REST_OF_URL)
    yield from _set(forms, names)
    # The pairs of a set grow with its square.
    sets = Counter(frozenset(pieces.names) for pieces in forms.usual.pieces)
    yield from _pairs(site, sets)
    yield from _prefixes(site, names)
    yield from _all_but(site, sets)


def _set(forms: UrlForms, names: list[str]) -> Iterator[Rule | None]:
    """Yield that a parameter is set to its most frequent value, for sites that want one to be there."""
    values: dict[str, Counter[str]] = {name: Counter() for name in names}
    for pieces in forms.pieces:
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


def _pairs(site: str, sets: Counter[frozenset[str]]) -> Iterator[Rule | None]:
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
    counts = Counter(parameter for pieces in forms.pieces for parameter in set(pieces.query))
    for parameter in frequent(counts, 3, _VALUES):
        if is_plain(parameter.partition("=")[0]):
            yield rewriting(forms.site, _PARAMETERS, _having(parameter), REST_OF_URL)


def _having(parameters: str) -> str:
    return f"{{s}}://{{h}}/{{p**}}?{parameters}&{{rest**}}"
