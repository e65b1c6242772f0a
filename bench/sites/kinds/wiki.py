"""A wiki: titles and page ids, redirects, first letters of either case, old revisions."""

from __future__ import annotations

from bench.sites.fields import Number, Title
from bench.sites.model import DROP_TRACKING, TRACKING, Extra, Family, Form, Kind
from bench.sites.text import PRINTED

WIKI = Kind(
    name="wiki",
    about="titles and page ids of one page, redirects, case of the first letter, revisions",
    like="wiki",
    families=(
        Family(
            "article",
            share=6,
            fields={
                "Title": Title(joint="_", capital=True),
                "title": Title(joint="_"),
                "Synonym": Title(joint="-", capital=True, salt=1),
                "id": Number(start=1000, step=3),
            },
            forms=(
                Form("/wiki/{Title}", 3),
                Form("/wiki/{title}"),
                Form("/w/index.php?title={Title}", 2),
                Form("/w/index.php?title={Title}&action=view"),
                Form("/w/index.php?title={Title}&printable=yes", tail=PRINTED),
                Form("/w/index.php?curid={id}"),
                Form("/?curid={id}"),
                Form("/wiki/{Synonym}", 0.1, redirects=True),
            ),
        ),
        Family(
            "history",
            share=2,
            fields={"Title": Title(joint="_", capital=True)},
            forms=(
                Form("/w/index.php?title={Title}&action=history", 2),
                Form("/wiki/{Title}?action=history"),
            ),
        ),
        Family(
            "revision",
            share=2,
            fields={"rev": Number(start=50_000), "Any": Title(None, joint="_", capital=True, salt=2)},
            forms=(
                Form("/w/index.php?oldid={rev}"),
                Form("/w/index.php?title={Any}&oldid={rev}", 2),
                Form("/wiki/{Any}?oldid={rev}"),
            ),
        ),
        Family(
            "search",
            fields={"q": Title(joint="+")},
            forms=(Form("/w/index.php?search={q}"), Form("/w/index.php?search={q}&offset=0")),
        ),
    ),
    extras=(
        Extra(query="useskin=plain", weight=0.4),
        Extra(query="ref={click}", weight=0.4),
        Extra(host="", weight=0.3),
        *TRACKING,
    ),
    mirrors=("",),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:useskin|ref}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://SITE/{p**}?{rest**} -> {s}://www.SITE/{p}?{rest}",
        "rewrite {s}://{h}/w/index.php?title={*}&oldid={n:int}&{rest**} -> {s}://{h}/w/index.php?oldid={n}&{rest}",
        "rewrite {s}://{h}/wiki/{*}?oldid={n:int}&{rest**} -> {s}://{h}/w/index.php?oldid={n}&{rest}",
        "rewrite {s}://{h}/w/index.php?title={t}&{rest**} -> {s}://{h}/wiki/{t}?{rest}",
        "rewrite {s}://{h}/?curid={n:int}&{rest**} -> {s}://{h}/w/index.php?curid={n}&{rest}",
        "rewrite {s}://{h}/{p**}?{**:printable}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?action=view&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/wiki/{t}?{rest**} -> {s}://{h}/wiki/{t:capital}?{rest}",
        "rewrite {s}://{h}/w/index.php?search={q}&offset=0&{rest**} -> {s}://{h}/w/index.php?search={q}&{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/{p**}?action={*}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?oldid={*:int}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/w/index.php?curid={*:int}&{rest**} -> {s}://{h}/w/index.php?curid=1000&{rest}",
        "rewrite {s}://{h}/w/index.php?search={*}&{rest**} -> {s}://{h}/w/index.php?search=x&{rest}",
        "rewrite {s}://{h}/w/index.php?{rest**} -> {s}://{h}/w/index.php",
    ),
    inexpressible=(
        "a page has a title and a number that nothing but the wiki's own table connects",
        "a synonym sends to the title of its page",
    ),
)
