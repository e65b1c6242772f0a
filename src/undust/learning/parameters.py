"""Parameters that do nothing, alone or together, and values that are the default."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from undust.learning.equivalences import frequent
from undust.learning.make_rule import REST_OF_URL, is_plain, rewriting
from undust.privacy import looks_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.learning.url_forms import UrlForms
    from undust.rules import Rule

_BY, SET = "parameters", "settings"
_NAMES, PAIRS, SETS, _VALUES = 400, 150, 40, 500
"""At most this many names, pairs, sets of names and values are tried, the most frequent first."""
LARGEST_SET = 4
_LONGEST = 40
"""Characters of a value that is written."""


def drops(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a parameter is dropped, or several that come together, or all but a few."""
    site = forms.site
    names = [name for name in frequent(forms.names, 2, _NAMES) if is_plain(name)]
    for name in names:
        yield rewriting(site, _BY, _having(f"{name}={{**}}"), REST_OF_URL)
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
            yield rewriting(forms.site, SET, _having(f"{name}={{**}}"), target)


def _may_be_written(value: str) -> bool:
    """Return whether a value may be written into every URL; that of a visitor would identify them."""
    return 0 < len(value) <= _LONGEST and not looks_secret(value)


def _pairs(site: str, sets: Counter[frozenset[str]]) -> Iterator[Rule | None]:
    together: Counter[tuple[str, str]] = Counter()
    for names, count in sets.items():
        for left, right in combinations(sorted(filter(is_plain, names)), 2):
            together[left, right] += count
    for (left, right), count in sorted(together.items(), key=lambda item: (-item[1], item[0]))[:PAIRS]:
        if count > 2:  # noqa: PLR2004 -- two may be chance
            yield rewriting(site, _BY, _having(f"{left}={{**}}&{right}={{**}}"), REST_OF_URL)


def _prefixes(site: str, names: list[str]) -> Iterator[Rule | None]:
    families: dict[str, int] = defaultdict(int)
    for name in names:
        head, underscore, _ = name.partition("_")
        families[head + underscore] += bool(underscore and head)
    for head, count in sorted(families.items()):
        if count > 1:
            yield rewriting(site, _BY, _having(f"{{**:{head}*}}"), REST_OF_URL)


def _all_but(site: str, sets: Counter[frozenset[str]]) -> Iterator[Rule | None]:
    ranked = sorted(sets.items(), key=lambda item: (-item[1], sorted(item[0])))
    for names, count in ranked[:SETS]:
        if names and count >= LARGEST_SET and all(map(is_plain, names)) and len(names) <= LARGEST_SET:
            kept = "|".join(sorted(names))
            source = f"{{s}}://{{h}}/{{p**}}?{{k**:{kept}}}&{{**}}"
            yield rewriting(site, _BY, source, "{s}://{h}/{p}?{k}", when=(f"?{min(names)}={{**}}",))


def defaults(forms: UrlForms) -> Iterator[Rule | None]:
    """Yield that a frequent value of a parameter is what the site takes anyway."""
    counts = Counter(parameter for pieces in forms.pieces for parameter in set(pieces.query))
    for parameter in frequent(counts, 3, _VALUES):
        if is_plain(parameter.partition("=")[0]):
            yield rewriting(forms.site, _BY, _having(parameter), REST_OF_URL)


def _having(parameters: str) -> str:
    return f"{{s}}://{{h}}/{{p**}}?{parameters}&{{rest**}}"
