"""A network of people: many names lead to nobody, with status 200, and page numbers go on past the last.

Here the share of pages that are none is raised on purpose; elsewhere it is the measured one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import Listed, Number, Title
from bench.sites.model import (
    DROP_TRACKING,
    GONE,
    LOGIN,
    NOTHING,
    SOFT,
    TRACKING,
    Extra,
    Family,
    Form,
    Kind,
    Manners,
)

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_TABS = ("posts", "likes", "photos")
_PAGES = 4


def _filled(digits: Digits) -> Digits:
    return {"page": np.minimum(digits["page"], digits["n"] % _PAGES)}


SOFT_404 = Kind(
    name="soft_404",
    about="names of nobody with status 200, tags without a post, pages beyond the last",
    like="wiki",
    pages_per_address=0.9,
    families=(
        Family(
            "user",
            share=5,
            fields={"name": Title(), "tab": Listed("tab", _TABS)},
            small={"tab": len(_TABS)},
            shows={SOFT: 0.3, GONE: 0.03},
            forms=(
                Form("/u/{name}", 3),
                Form("/@{name}", 2),
                Form("/u/{name}?tab={tab}", 3),
                Form("/@{name}?tab={tab}"),
                Form("/profile.php?name={name}", 0.5, redirects=True),
            ),
        ),
        Family(
            "photos",
            share=3,
            fields={"name": Title(), "page": Number("page")},
            small={"page": _PAGES},
            same=_filled,
            clamped=("page",),
            forms=(
                Form("/u/{name}/photos", 2),
                Form("/u/{name}/photos?page={page}", 2),
                Form("/@{name}/photos?page={page}"),
            ),
        ),
        Family(
            "tag",
            share=2,
            fields={"tag": Title(joint="_")},
            shows={NOTHING: 0.5},
            forms=(Form("/tag/{tag}", 2), Form("/search?tag={tag}")),
        ),
        Family(
            "message",
            fields={"n": Number()},
            shows={LOGIN: 0.5, SOFT: 0.2},
            forms=(Form("/m/{n}"), Form("/message?id={n}")),
        ),
    ),
    extras=(Extra(query="share={click}", weight=0.6), Extra(path="/", weight=0.3), *TRACKING),
    manners=Manners(ignores_last_slash=True),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:share}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{p**}/{l}/?{rest**} -> {s}://{h}/{p}/{l}?{rest}",
        "rewrite {s}://{h}/@{n}/{p**}?{rest**} -> {s}://{h}/u/{n}/{p}?{rest}",
        "rewrite {s}://{h}/profile.php?name={n}&{rest**} -> {s}://{h}/u/{n}?{rest}",
        "rewrite {s}://{h}/u/{n}?tab=posts&{rest**} -> {s}://{h}/u/{n}?{rest}",
        "rewrite {s}://{h}/u/{n}/photos?page=1&{rest**} -> {s}://{h}/u/{n}/photos?{rest}",
        "rewrite {s}://{h}/search?tag={t}&{rest**} -> {s}://{h}/tag/{t}?{rest}",
        "rewrite {s}://{h}/message?id={n:int}&{rest**} -> {s}://{h}/m/{n}?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/u/{*}?{rest**} -> {s}://{h}/u/nobody?{rest}",
        "rewrite {s}://{h}/tag/{*}?{rest**} -> {s}://{h}/tag/nothing?{rest}",
        "rewrite {s}://{h}/m/{*:int}?{rest**} -> {s}://{h}/m/1?{rest}",
        "rewrite {s}://{h}/u/{n}?tab={*}&{rest**} -> {s}://{h}/u/{n}?{rest}",
        "rewrite {s}://{h}/u/{n}/photos?page={*:int}&{rest**} -> {s}://{h}/u/{n}/photos?{rest}",
    ),
    inexpressible=("a page number beyond the last photo shows the last page",),
)
