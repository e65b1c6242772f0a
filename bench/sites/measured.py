"""How real web software behaves: rates that the sites here are given, so that no noise is invented.

Seven programs were run, filled with texts and crawled, each some ten thousand responses; 200 URLs of each
were fetched twice. The rates are shares of URLs. `changes` and `rewritten` are of pages fetched twice: the
text differed at all, or so much that fewer than 29 of 32 minima agreed.
"""

from __future__ import annotations

from typing import NamedTuple


class Rates(NamedTuple):
    """Shares that were measured on one program."""

    changes: float
    """Pages whose text was another one when they were fetched again."""
    rewritten: float
    """Pages whose sketch was another one too."""
    gone: float
    """Responses with status 404."""
    soft: float
    """Pages with status 200 that say that there is nothing, or show the front page instead."""
    login: float
    """Pages that show the form to log in."""
    nothing: float
    """Lists and searches without any hit."""
    redirects: float
    """Responses that send elsewhere."""
    canonical: float
    """Pages that name their canonical URL."""
    duplicates: float
    """URLs whose page has another URL too: one less the pages per URL."""
    same_text: float
    """How often a URL with a tracking parameter or session id gave the same page as the one without.

    Where it is below one, pages had changed in between: it is `rewritten` seen from another side.
    """


MEASURED = {
    "forum": Rates(
        171 / 200, 32 / 200, 379 / 12030, 0.0, 94 / 9376, 0.0, 2275 / 12030, 9028 / 9376, 0.807, 0.817
    ),
    "shop": Rates(0.0, 0.0, 354 / 6590, 115 / 6236, 0.0, 64 / 6236, 0.0, 5282 / 6236, 0.756, 1.0),
    "wiki": Rates(
        70 / 200, 15 / 200, 0.0, (363 + 194) / 13079, 0.0, 0.0, 89 / 13353, 4951 / 13079, 0.703, 0.939
    ),
    "documentation": Rates(0.0, 0.0, 2648 / 17496, 0.0, 0.0, 0.0, 869 / 17496, 6007 / 13979, 0.502, 1.0),
    "repository": Rates(189 / 200, 0.0, 494 / 11575, 0.0, 0.0, 190 / 11081, 0.0, 0.0, 0.707, 0.997),
    "tracker": Rates(23 / 200, 5 / 200, 565 / 7277, 0.0, 0.0, 193 / 6335, 330 / 7277, 0.0, 0.600, 0.985),
    "cms": Rates(4 / 200, 0.0, 1038 / 7690, 0.0, 0.0, 0.0, 146 / 7690, 6141 / 6506, 0.838, 0.996),
}  # fmt: skip
"""By the kind of software: SMF, OpenCart, DokuWiki, static pages under Apache, cgit, Trac, Backdrop."""
