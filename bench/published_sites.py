"""The four sites of the DustBuster paper, as far as it describes them: URLs of their time and length.

The other kinds are sites of today, with short names and much marketing in their queries. How many pairs are
redundant depends on what always stands around a difference, so these have what the paper tells: a forum
with several hosts and the forms of its Fig. 11, a department whose people keep their own folders and copy
courses from term to term, a large newspaper with an edition for abroad and sections in its paths, and a
small one whose print versions lie in a folder of each section. Their lists held few duplicates besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import MAIN, Listed, Number, Title
from bench.sites.model import SOFT, Extra, Family, Form, Kind, Manners
from bench.sites.text import PRINTED

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_TERMS = ("winter2004", "spring2005", "winter2005")
_LECTURES = 8
_SECTIONS = ("news", "sports", "entertainment", "business", "city_life")
_RUBRICS = (
    *("WORLD/europe", "WORLD/asiapcf", "SHOWBIZ/Movies", "SHOWBIZ/Music", "TECH/space"),
    *("POLITICS", "HEALTH", "LAW", "US", "TRAVEL"),
)


def _copied(digits: Digits) -> Digits:
    # The last lecture of a course is written anew every term, the others are copied.
    return {"term": np.where(digits["lecture"] == _LECTURES - 1, digits["term"], 0)}


def _one_for_all(digits: Digits) -> Digits:
    # Whoever has the file, it is the same one.
    return {MAIN: np.zeros_like(digits[MAIN])}


def _stories(name: str, host: str | None, share: int) -> Family:
    """Return the stories of one of the forum's hosts: one software, numbers of their own."""
    return Family(
        name,
        share=share,
        host=host,
        fields={"n": Number(start=1000)},
        forms=(Form("/story?id={n}", 3), Form("/story_{n}", 2), Form("/story.php3?id={n}")),
    )


PUBLISHED_FORUM = Kind(
    name="published-forum",
    about="hosts of one software, with the forms of the paper's Fig. 11",
    like="forum",
    pages_per_address=0.28,
    families=(
        _stories("story", None, 4),
        _stories("politics", "www.politics", 2),
        _stories("movies", "www.movies", 2),
        Family(
            "thread",
            share=6,
            fields={"n": Number(start=1000)},
            forms=(Form("/thread?rep={n}", 3), Form("/thread_{n}", 2), Form("/thread.php3?rep={n}")),
        ),
        Family(
            "list",
            share=2,
            fields={"n": Number(), "day": Number("day", start=1)},
            small={"day": 30},
            forms=(
                Form("/forum.php3?forum_id={n}&Day={day}&NewOnly=1", 2),
                Form("/forum.php3?forum_id={n}&Day={day}&NewOnly=1&tvqz=2"),
            ),
        ),
    ),
    extras=(
        Extra(query="LastView=&Close=", weight=0.4),
        Extra(host="www.scifi", weight=0.3),
        Extra(query="sid={sid}", weight=0.4),
    ),
    mirrors=("www.scifi",),
    true_rules=(),
    false_rules=(),
)

PUBLISHED_DEPARTMENT = Kind(
    name="published-department",
    about="people's own folders, index pages, courses, images and manuals copied, soft errors",
    like="documentation",
    pages_per_address=0.8,
    families=(
        Family(
            "home",
            share=2,
            fields={"user": Title(joint=".")},
            forms=(
                Form("/~{user}/", 3),
                Form("/~{user}/index.html", 2),
                Form("/people/{user}/", 2),
                Form("/people/{user}/index.html"),
            ),
        ),
        Family(
            "publication",
            share=12,
            fields={"user": Title(joint="."), "paper": Number("paper", width=2)},
            small={"paper": 6},
            forms=(
                Form("/~{user}/publications/paper{paper}.html", 3),
                Form("/people/{user}/publications/paper{paper}.html", 2),
            ),
        ),
        Family(
            "lecture",
            share=12,
            fields={
                "n": Number(start=44101),
                "term": Listed("term", _TERMS),
                "lecture": Number("lecture", width=2),
            },
            small={"term": len(_TERMS), "lecture": _LECTURES},
            same=_copied,
            forms=(
                Form("/undergraduate/courses/0{n}/{term}/lectures/lecture{lecture}.html", 3),
                Form("/teaching/courses/0{n}/{term}/lectures/lecture{lecture}.html"),
            ),
        ),
        Family(
            "image",
            share=5,
            fields={"user": Title(joint="."), "image": Number("image", width=2)},
            small={"image": 24},
            same=_one_for_all,
            forms=(Form("/~{user}/images/icon{image}.gif"),),
        ),
        Family(
            "file",
            share=4,
            fields={
                "user": Title(joint="."),
                "file": Number("file", width=3),
                "slug": Title(None, of=MAIN),
            },
            small={"file": 400},
            same=_one_for_all,
            shows={SOFT: 0.15},
            forms=(Form("/~{user}/docs/node{file}-{slug}.html"),),
        ),
    ),
    extras=(Extra(host="", weight=0.4), Extra(query="visit={click}", weight=0.2)),
    mirrors=("",),
    manners=Manners(indexes=("index.html",), aliases={"/people/": "/~", "/teaching/": "/undergraduate/"}),
    true_rules=(),
    false_rules=(),
)

PUBLISHED_LARGE_NEWS = Kind(
    name="published-large-news",
    about="stories by year, section and day, an edition for abroad, redirects of short addresses",
    like="documentation",
    pages_per_address=0.7,
    families=(
        Family(
            "story",
            share=8,
            main="seq",
            small={"month": 2, "day": 30, "rubric": len(_RUBRICS)},
            fields={
                "seq": Number("seq", start=10),
                "month": Number("month", start=9, width=2),
                "day": Number("day", width=2),
                "slug": Title(None, of="seq"),
                "rubric": Listed("rubric", _RUBRICS),
            },
            forms=(
                Form("/2006/{rubric}/{month}/{day}/{slug}.{seq}.ap/index.html", 4),
                Form("/2006/{rubric}/{month}/{day}/{slug}.{seq}.ap/", 1),
                Form("/2006/{rubric}/{month}/{day}/{slug}.{seq}.ap/index.html?section=cnn_topstories", 0.5),
                Form("/go/2006/{rubric}/{month}/{day}/{seq}", 0.3, redirects=True),
            ),
        ),
        Family(
            "transcript",
            share=2,
            fields={"n": Number(start=1), "part": Number("part", width=2)},
            small={"part": 9},
            forms=(
                Form("/TRANSCRIPTS/0610/{n}/lkl.{part}.html", 3),
                Form("/transcripts/0610/{n}/lkl.{part}.html"),
            ),
        ),
    ),
    extras=(Extra(host="edition", weight=0.6), Extra(query="eref={click}", weight=0.3)),
    mirrors=("edition",),
    true_rules=(),
    false_rules=(),
)

PUBLISHED_SMALL_NEWS = Kind(
    name="published-small-news",
    about="stories of a few sections, with print versions in a folder of each",
    like="documentation",
    pages_per_address=0.8,
    families=tuple(
        Family(
            section,
            share=share,
            fields={"n": Number(start=410000), "page": Number("page", start=1)},
            small={"page": 2},
            forms=(
                Form(f"/{section}/story/{{n}}p-{{page}}c.html", 3),
                Form(f"/{section}/v-pfriendly/story/{{n}}p-{{page}}c.html", 2, tail=PRINTED),
                Form(f"/front/{section}/story/{{n}}p-{{page}}c.html", 0.5),
            ),
        )
        for section, share in zip(_SECTIONS, (6, 5, 3, 2, 2), strict=True)
    ),
    extras=(Extra(query="ref={click}", weight=0.2),),
    true_rules=(),
    false_rules=(),
)
