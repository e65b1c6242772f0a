"""A forum that carries session ids in every link, and whose pages change at every visit.

The forms are those of the forum log that DustBuster's authors published rules of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import Listed, Number
from bench.sites.model import DROP_TRACKING, LOGIN, TRACKING, Extra, Family, Form, Kind

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_POSTS = 15


def _last_page(digits: Digits) -> Digits:
    # Of the URLs that asked for the last page, 80 % showed the first: three threads in four have no other,
    # and one number in three is the first.
    pages = np.where(digits["n"] % 4 == 3, 3, 1)  # noqa: PLR2004
    return {"page": np.minimum(digits["page"], pages - 1)}


def _first_post(digits: Digits) -> Digits:
    return {"post": digits["post"] // _POSTS * _POSTS}


FORUM = Kind(
    name="forum",
    about="stories and threads with session ids, highlighted words and page numbers beyond the end",
    like="forum",
    pages_per_address=0.65,
    families=(
        Family(
            "story",
            share=16,
            fields={"n": Number(start=100)},
            forms=(
                Form("/story?id={n}", 3),
                Form("/story_{n}", 2),
                Form("/story.php3?id={n}"),
                Form("/story?id={n}&highlight={word}"),
                Form("/go?story={n}", 2, redirects=True),
            ),
        ),
        Family(
            "thread",
            share=16,
            fields={"n": Number(start=100), "page": Number("page")},
            small={"page": 3},
            clamped=("page",),
            same=_last_page,
            forms=(
                Form("/thread?rep={n}", 3),
                Form("/thread?rep={n}&page={page}", 3),
                Form("/thread_{n}", 2),
                Form("/thread.php3?rep={n}"),
                Form("/go?thread={n}&page={page}", 2, redirects=True),
            ),
        ),
        Family(
            "archive",
            share=8,
            fields={"n": Number(start=1), "post": Number("post", start=0)},
            small={"post": 2 * _POSTS},
            same=_first_post,
            forms=(Form("/archive?t={n}.{post}", 2), Form("/archive/{n}/{post}")),
        ),
        Family(
            "board",
            share=4,
            fields={"n": Number(), "sort": Listed("sort", ("last", "subject", "replies"))},
            small={"sort": 3},
            rolls="sort",
            forms=(Form("/board?f={n}", 2), Form("/board?f={n}&sort={sort}", 2)),
        ),
        Family(
            "member",
            share=1,
            fields={"n": Number()},
            shows={LOGIN: 0.6},
            forms=(Form("/member?u={n}", 2), Form("/profile/{n}")),
        ),
    ),
    extras=(
        Extra(query="sid={sid}", weight=1.0),
        Extra(query="sid={sid}", weight=0.3, is_first=True),
        Extra(query="LastView=&Close=", weight=0.5),
        Extra(host="scifi", weight=0.3),
        *TRACKING,
    ),
    mirrors=("scifi",),
    true_rules=(
        "rewrite {s}://{h}/{p**}?{**:sid}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?{**:LastView|Close}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?{**:highlight}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/story_{n:int}?{rest**} -> {s}://{h}/story?id={n}&{rest}",
        "rewrite {s}://{h}/thread_{n:int}?{rest**} -> {s}://{h}/thread?rep={n}&{rest}",
        'replace ".php3?" -> "?"',
        "rewrite {s}://{h}/archive/{t:int}/{p:int}?{rest**} -> {s}://{h}/archive?t={t}.{p}&{rest}",
        "rewrite {s}://{h}/profile/{n:int}?{rest**} -> {s}://{h}/member?u={n}&{rest}",
        "rewrite {s}://{h}/go?story={n:int}&{rest**} -> {s}://{h}/story?id={n}&{rest}",
        "rewrite {s}://{h}/go?thread={n:int}&{rest**} -> {s}://{h}/thread?rep={n}&{rest}",
        "rewrite {s}://{h}/thread?page=1&{rest**} -> {s}://{h}/thread?{rest}",
        "rewrite {s}://{h}/board?sort=last&{rest**} -> {s}://{h}/board?{rest}",
        "rewrite {s}://scifi.SITE/{p**}?{rest**} -> {s}://www.SITE/{p}?{rest}",
        *DROP_TRACKING,
    ),
    false_rules=(
        "rewrite {s}://{h}/thread?page={*:int}&{rest**} -> {s}://{h}/thread?{rest}",
        "rewrite {s}://{h}/story?id={*:int}&{rest**} -> {s}://{h}/story?id=100&{rest}",
        "rewrite {s}://{h}/board?sort={*}&{rest**} -> {s}://{h}/board?{rest}",
        "rewrite {s}://{h}/archive?t={n:int}.{*:int}&{rest**} -> {s}://{h}/archive?t={n}.0&{rest}",
        "rewrite {s}://{h}/member?u={*:int}&{rest**} -> {s}://{h}/member?u=1&{rest}",
        "rewrite {s}://{h}/thread_{n:int}?{rest**} -> {s}://{h}/story_{n}?{rest}",
    ),
    inexpressible=(
        "posts of an archived thread show the page of fifteen that they are on: /archive?t=7.19 and ?t=7.15",
        "a page number beyond the end shows the last page: /thread?rep=100&page=3 of a thread of one page",
    ),
)
