"""A blog: short links by number, permanent links by date and title, replies, feeds that are no copies."""

from __future__ import annotations

from bench.sites.fields import Number, Title
from bench.sites.model import DROP_TRACKING, TRACKING, Extra, Family, Form, Kind, Manners
from bench.sites.text import SMALL

BLOG = Kind(
    name="blog",
    about="short links by number and permanent ones by title, replies, AMP, pages of lists",
    like="cms",
    families=(
        Family(
            "post",
            share=6,
            fields={"n": Number(start=12, step=5), "title": Title()},
            forms=(
                Form("/{title}/", 3),
                Form("/?p={n}", 2),
                Form("/archives/{n}"),
                Form("/{title}/?replytocom={moment}"),
                Form("/{title}/amp/", tail=SMALL),
                Form("/index.php/{title}/", is_read=False),
            ),
        ),
        Family(
            "feed",
            share=1,
            fields={"title": Title()},
            forms=(Form("/{title}/feed/"), Form("/{title}/feed/?format=rss2")),
        ),
        Family(
            "category",
            share=3,
            fields={"name": Title(joint="_"), "page": Number("page")},
            small={"page": 3},
            forms=(
                Form("/category/{name}/", 2),
                Form("/category/{name}/page/{page}/", 2),
                Form("/topics/{name}/page/{page}/", is_read=False),
            ),
        ),
    ),
    extras=(
        Extra(query="share={click}", weight=0.4),
        Extra(query="like_comment={moment}", weight=0.3),
        *TRACKING,
    ),
    manners=Manners(aliases={"/index.php/": "/", "/topics/": "/category/"}),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:share|like_comment|replytocom}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/archives/{n:int}?{rest**} -> {s}://{h}/?p={n}&{rest}",
        "rewrite {s}://{h}/{t}/amp/?{rest**} -> {s}://{h}/{t}/?{rest}",
        "rewrite {s}://{h}/index.php/{p**}?{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/topics/{p**}?{rest**} -> {s}://{h}/category/{p}?{rest}",
        "rewrite {s}://{h}/category/{c}/page/1/?{rest**} -> {s}://{h}/category/{c}/?{rest}",
        "rewrite {s}://{h}/{t}/feed/?format=rss2&{rest**} -> {s}://{h}/{t}/feed/?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/category/{c}/page/{*:int}/?{rest**} -> {s}://{h}/category/{c}/?{rest}",
        "rewrite {s}://{h}/{t}/{*:amp|feed}/?{rest**} -> {s}://{h}/{t}/?{rest}",
        "rewrite {s}://{h}/?p={*:int}&{rest**} -> {s}://{h}/?{rest}",
        "rewrite {s}://{h}/archives/{*:int}?{rest**} -> {s}://{h}/archives/12?{rest}",
    ),
    inexpressible=("the number and the title of a post",),
)
