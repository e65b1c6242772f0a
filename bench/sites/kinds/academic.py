"""A university on a server that ignores case: tilde homes, index pages, courses copied from year to year."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import Listed, Number, Title
from bench.sites.model import DROP_TRACKING, TRACKING, Extra, Family, Form, Kind, Manners

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_YEARS = ("2005", "2004", "2003")
_SHEETS = 4


def _copied(digits: Digits) -> Digits:
    # Three sheets in four are copied from the year before, the last one is new every year.
    return {"year": np.where(digits["sheet"] == _SHEETS - 1, digits["year"], 0)}


ACADEMIC = Kind(
    name="academic",
    about="tilde homes, a server that ignores case, index pages, courses copied from year to year",
    like="documentation",
    pages_per_address=0.92,
    families=(
        Family(
            "home",
            share=4,
            fields={"user": Title(joint="."), "USER": Title(joint=".", upper=True)},
            forms=(
                Form("/~{user}/", 3),
                Form("/~{user}/index.html", 2),
                Form("/people/{user}/", 2),
                Form("/people/{user}/index.html"),
                Form("/People/{USER}/", 0.5, is_read=False),
            ),
        ),
        Family(
            "paper",
            share=4,
            fields={"user": Title(joint="."), "paper": Number("paper")},
            small={"paper": 3},
            forms=(
                Form("/~{user}/papers/p{paper}.html", 3),
                Form("/people/{user}/papers/p{paper}.html", 2),
                Form("/~{user}/Papers/P{paper}.HTML", is_read=False),
            ),
        ),
        Family(
            "course",
            share=2,
            fields={"n": Number(start=101)},
            forms=(
                Form("/courses/cs{n}/", 2),
                Form("/courses/cs{n}/index.html"),
                Form("/Courses/CS{n}/", is_read=False),
                Form("/teaching/cs{n}/"),
            ),
        ),
        Family(
            "sheet",
            share=2,
            fields={"n": Number(start=101), "year": Listed("year", _YEARS), "sheet": Number("sheet")},
            small={"year": len(_YEARS), "sheet": _SHEETS},
            same=_copied,
            forms=(
                Form("/courses/cs{n}/{year}/sheet{sheet}.html", 2),
                Form("/teaching/cs{n}/{year}/sheet{sheet}.html"),
                Form("/courses/CS{n}/{year}/Sheet{sheet}.html", is_read=False),
            ),
        ),
    ),
    extras=(Extra(host="cs", weight=0.4), Extra(query="seen={click}", weight=0.3), *TRACKING),
    mirrors=("cs",),
    manners=Manners(
        ignores_case=True,
        indexes=("index.html",),
        aliases={"/people/": "/~", "/teaching/": "/courses/"},
    ),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:seen}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://cs.SITE/{p**}?{rest**} -> {s}://www.SITE/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p:lower}?{rest}",
        "rewrite {s}://{h}/{p**}/index.html?{rest**} -> {s}://{h}/{p}/?{rest}",
        "rewrite {s}://{h}/people/{u}/{p**}?{rest**} -> {s}://{h}/~{u}/{p}?{rest}",
        "rewrite {s}://{h}/teaching/{p**}?{rest**} -> {s}://{h}/courses/{p}?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/courses/{c}/{*:int}/{f}?{rest**} -> {s}://{h}/courses/{c}/2005/{f}?{rest}",
        (
            "rewrite {s}://{h}/courses/{c}/{y}/sheet{*:int}.html?{rest**}"
            " -> {s}://{h}/courses/{c}/{y}/sheet1.html?{rest}"
        ),
        "rewrite {s}://{h}/courses/cs{*:int}/?{rest**} -> {s}://{h}/courses/cs101/?{rest}",
        "rewrite {s}://{h}/~{u}/papers/p{*:int}.html?{rest**} -> {s}://{h}/~{u}/papers/p1.html?{rest}",
    ),
    inexpressible=("most sheets of a course are the same in all years, and only reading them tells which",),
)
