"""A newspaper: print and AMP forms, mirrored sections, dates in paths, two places changed at once."""

from __future__ import annotations

from bench.sites.fields import Day, Listed, Number, Title
from bench.sites.model import DROP_TRACKING, TRACKING, Extra, Family, Form, Kind
from bench.sites.text import PRINTED, SMALL

_DAYS = 64
_SECTIONS = ("world", "sport", "culture")

NEWS = Kind(
    name="news",
    about="articles by day with print and AMP forms, section mirrors, a form with two places changed",
    like="cms",
    families=(
        Family(
            "article",
            share=6,
            main="seq",
            small={"day": _DAYS},
            fields={
                "short": Day("%y/%m/%d"),
                "seq": Number("seq"),
            },
            forms=(
                Form("/newsvac/{short}/-{seq}.shtml", 3),
                Form("/print.pl?sid={short}/{seq}", 2, tail=PRINTED),
                Form("/amp/newsvac/{short}/-{seq}.shtml", tail=SMALL),
                Form("/latest/{short}/-{seq}.shtml"),
                Form("/article.pl?sid={short}/{seq}", 0.15, redirects=True),
            ),
        ),
        Family(
            "story",
            share=4,
            main="seq",
            small={"day": _DAYS, "section": len(_SECTIONS)},
            fields={
                "day": Day("%Y/%m/%d"),
                "seq": Number("seq", start=10),
                "slug": Title(None, of="day"),
                "section": Listed("section", _SECTIONS),
            },
            forms=(
                Form("/{day}/{section}/{slug}-{seq}.html", 3),
                Form("/{day}/{section}/{slug}-{seq}.html?view=print", 2, tail=PRINTED),
                Form("/{day}/{section}/x-{seq}.html"),
                Form("/amp/{day}/{section}/{slug}-{seq}.html", tail=SMALL),
            ),
        ),
        Family(
            "section",
            share=1,
            main="page",
            small={"section": len(_SECTIONS)},
            fields={"page": Number("page"), "section": Listed("section", _SECTIONS)},
            forms=(Form("/{section}/index{page}.html", 2), Form("/rubric/{section}?p={page}")),
        ),
    ),
    extras=(Extra(query="ref={source}", weight=0.4), Extra(query="cid={click}", weight=0.4), *TRACKING),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:ref|cid}&{rest**} -> {s}://{h}/{p}?{rest}",
        (
            "rewrite {s}://{h}/{*:print|article}.pl?sid={y:int}/{m:int}/{d:int}/{n:int}&{rest**}"
            " -> {s}://{h}/newsvac/{y}/{m}/{d}/-{n}.shtml?{rest}"
        ),
        "rewrite {s}://{h}/amp/{p**}?{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/latest/{p**}?{rest**} -> {s}://{h}/newsvac/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?view=print&{rest**} -> {s}://{h}/{p}?{rest}",
        (
            "rewrite {s}://{h}/{y:int}/{m:int}/{d:int}/{c}/{*}-{n:int}.html?{rest**}"
            " -> {s}://{h}/{y}/{m}/{d}/{c}/x-{n}.html?{rest}"
        ),
        "rewrite {s}://{h}/rubric/{c}?p={n:int}&{rest**} -> {s}://{h}/{c}/index{n}.html?{rest}",
    ),
    false_rules=(
        (
            "rewrite {s}://{h}/{y:int}/{m:int}/{d:int}/{*:world|sport|culture}/{f}?{rest**}"
            " -> {s}://{h}/{y}/{m}/{d}/world/{f}?{rest}"
        ),
        "rewrite {s}://{h}/{c}/index{*:int}.html?{rest**} -> {s}://{h}/{c}/index1.html?{rest}",
        (
            "rewrite {s}://{h}/newsvac/{y:int}/{m:int}/{d:int}/-{*:int}.shtml?{rest**}"
            " -> {s}://{h}/newsvac/{y}/{m}/{d}/-1.shtml?{rest}"
        ),
        (
            "rewrite {s}://{h}/newsvac/{y:int}/{m:int}/{*:int}/{f}?{rest**}"
            " -> {s}://{h}/newsvac/{y}/{m}/01/{f}?{rest}"
        ),
        "rewrite {s}://{h}/print.pl?sid={**}&{rest**} -> {s}://{h}/print.pl?{rest}",
    ),
)
