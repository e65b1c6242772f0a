"""What many sites do not distinguish, and some do: tested on each, never assumed."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from undust.learning.make_rule import OPEN, REST_OF_URL, replacing, rewriting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.learning.url_forms import UrlForms
    from undust.rules import Rule

_BY = "equivalences"
HOSTS = 12
"""At most this many of a site's hosts are compared with each other; mirrors are large."""
_SEGMENTS, FOLDERS = 60, 10
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")


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
