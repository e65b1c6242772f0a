"""A content management system: node and alias, paths in parameters, comments that show their whole post."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import Number, Serial, Title
from bench.sites.model import DROP_TRACKING, TRACKING, Extra, Family, Form, Kind, Manners

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_COMMENTS = 3
_PAGES = 3


def _whole_post(digits: Digits) -> Digits:
    return {"comment": np.zeros_like(digits["comment"])}


def _last_page(digits: Digits) -> Digits:
    # Of the URLs that differed in the page number alone, 87 % showed the same: lists of one page ignore it.
    # Where three lists in four do, and one number in three is the first, it is 83 %.
    return {"page": np.where(digits["n"] % 4 == 0, digits["page"], 0)}


CMS = Kind(
    name="cms",
    about="node and alias of one page, the path in a parameter, comments that show their whole post",
    like="cms",
    pages_per_address=0.42,
    families=(
        Family(
            "post",
            share=6,
            fields={
                "n": Number(),
                "alias": Title(),
                "Alias": Title(upper=True),
                "comment": Serial(("n", "comment"), _COMMENTS, start=0),
            },
            small={"comment": _COMMENTS},
            same=_whole_post,
            forms=(
                Form("/posts/{alias}", 3),
                Form("/node/{n}", 2),
                Form("/node/{n}/view"),
                Form("/?q=node/{n}"),
                Form("/index.php?q=node/{n}"),
                Form("/?q=posts/{alias}"),
                Form("/Posts/{Alias}", 0.5, is_read=False),
                Form("/comment/reply/{n}", 1, redirects=True),
                Form("/comment/{comment}", 2),
            ),
        ),
        Family(
            "term",
            share=3,
            fields={"n": Number(), "tag": Title(salt=3), "page": Number("page", start=0)},
            small={"page": _PAGES},
            same=_last_page,
            forms=(
                Form("/tags/{tag}", 3),
                Form("/taxonomy/term/{n}", 2),
                Form("/taxonomy/term/{n}/all"),
                Form("/?q=taxonomy/term/{n}"),
                Form("/tags/{tag}?page={page}", 3),
            ),
        ),
        Family("feed", fields={"n": Number()}, forms=(Form("/taxonomy/term/{n}/feed"),)),
    ),
    extras=(
        Extra(query="destination=node/1", weight=0.2),
        Extra(query="_={moment}", weight=0.2),
        Extra(path="/", weight=0.2),
        *TRACKING,
    ),
    manners=Manners(ignores_case=True, ignores_last_slash=True),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:destination|_}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{p**}/{l}/?{rest**} -> {s}://{h}/{p}/{l}?{rest}",
        "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p:lower}?{rest}",
        "rewrite {s}://{h}/index.php?q={q}&{rest**} -> {s}://{h}/{q}?{rest}",
        "rewrite {s}://{h}/?q={q}&{rest**} -> {s}://{h}/{q}?{rest}",
        "rewrite {s}://{h}/node/{n:int}/view?{rest**} -> {s}://{h}/node/{n}?{rest}",
        "rewrite {s}://{h}/comment/reply/{n:int}?{rest**} -> {s}://{h}/node/{n}?{rest}",
        "rewrite {s}://{h}/taxonomy/term/{n:int}/all?{rest**} -> {s}://{h}/taxonomy/term/{n}?{rest}",
        "rewrite {s}://{h}/{p**}?page=0&{rest**} -> {s}://{h}/{p}?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/tags/{t}?page={*:int}&{rest**} -> {s}://{h}/tags/{t}?{rest}",
        "rewrite {s}://{h}/comment/{*:int}?{rest**} -> {s}://{h}/comment/1?{rest}",
        "rewrite {s}://{h}/node/{*:int}?{rest**} -> {s}://{h}/node/1?{rest}",
        "rewrite {s}://{h}/taxonomy/term/{n:int}/{*:all|feed}?{rest**} -> {s}://{h}/taxonomy/term/{n}?{rest}",
        "rewrite {s}://{h}/{p**}?q={**}&{rest**} -> {s}://{h}/{p}?{rest}",
    ),
    inexpressible=(
        "the alias of a node and of a term is in the site's own table",
        "the number of a comment says nothing about the number of its post without arithmetic",
        "most tags have one page and ignore a page number",
    ),
)
