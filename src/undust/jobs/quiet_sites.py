"""Sites that can give no rule and say nothing of rules for all sites, found before any learning.

A crawl of the web has millions of sites with a few pages, each seen once, all different. Such a site has no
duplicates to learn from. It would contradict a shape of a rule only if that shape brought two of its URLs
together, and no shape brings together URLs that differ in what is left of them here (see `learning/generic`):
the host without `www.`, and the path without letter case, last slash, ending, path parameter and query.
Whatever is not plain (escapes, ports, repeated slashes, redirects, other evidence) is learned from.

A log or a list may name as many hosts, a few URLs each, without a word on what they show. From so few nothing
is proposed, and nothing is known of their pages.
"""

from __future__ import annotations

from undust.engines import SiteTest
from undust.pages.clustering.nodes import EMPTY_DIGESTS
from undust.searching.likely import LEAST_URLS

COUNTED_TOGETHER = 2000
"""With at least this many sites, quiet ones are counted together instead of one by one."""
_PLAIN = "^https?://[A-Za-z0-9.-]+(/[A-Za-z0-9_~!$&()*+,;=@.-]+)*/?([?][A-Za-z0-9_~!$&()*+,;=@./-]*)?$"
_PATH = "regexp_replace(lower(url), '[?].*$', '')"
_EMPTY = ", ".join(f"'{digest}'" for digest in EMPTY_DIGESTS)


def _without(text: str, *patterns: str) -> str:
    """Return SQL for a text without what each pattern finds in it; both engines read the same."""
    for pattern in patterns:
        text = f"regexp_replace({text}, '{pattern}', '')"
    return text


_LEFT = _without(_PATH, "^https?://(www[.])?", ";[^/]*$", "/+$", "[.][a-z0-9]{1,8}$")
_LAST_SEGMENT = _without(_PATH, "^.*/")

_EVERY = (
    f"{_without('url', _PLAIN)} = '' AND {_without('url', '/[.]')} = url"
    " AND coalesce(status, 200) = 200 AND redirect IS NULL AND coalesce(canonical, url) = url"
    " AND cluster IS NULL AND sketch IS NULL AND blocks IS NULL"
)

QUIET_TEST = SiteTest(
    every=f"{_EVERY} AND digest IS NOT NULL AND digest NOT IN ('', {_EMPTY})",
    distinct=("digest", _LEFT),
    # A last segment is dropped by a shape if three URLs have it.
    nearly_distinct=(f"CASE WHEN {_LAST_SEGMENT} = '' THEN url ELSE {_LAST_SEGMENT} END",),
)
SILENT_TEST = SiteTest(
    every=f"{_EVERY} AND digest IS NULL AND canonical IS NULL", distinct=(_LEFT,), fewer_than=LEAST_URLS
)
"""For sites with few URLs and no evidence, of which nothing is known but that they were seen."""
