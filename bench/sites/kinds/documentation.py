"""Static documentation: an alias for the newest version, languages that matter, endings that may be left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import Listed, Number, Title
from bench.sites.model import DROP_TRACKING, TRACKING, Extra, Family, Form, Kind, Manners

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_VERSIONS = ("3.2", "3.1", "2.7")
_LANGUAGES = ("en", "de", "ja")
_JAPANESE = 2


def _untranslated(digits: Digits) -> Digits:
    # Of the Japanese pages that were tested, 62 % were the English ones.
    is_missing = (digits["language"] == _JAPANESE) & (digits["n"] % 8 < 5)  # noqa: PLR2004
    return {"language": np.where(is_missing, 0, digits["language"])}


DOCUMENTATION = Kind(
    name="documentation",
    about="an alias for the newest version, languages that matter, endings that may be left out",
    like="documentation",
    pages_per_address=0.87,
    families=(
        Family(
            "guide",
            share=6,
            fields={
                "n": Title(joint="-"),
                "version": Listed("version", _VERSIONS),
                "language": Listed("language", _LANGUAGES),
            },
            small={"version": len(_VERSIONS), "language": len(_LANGUAGES)},
            same=_untranslated,
            forms=(
                Form("/{version}/{language}/{n}.html", 3),
                Form("/{version}/{language}/{n}", 2),
                Form("/{version}/{language}/{n}.html?highlight={word}"),
                Form("/stable/{language}/{n}.html", 2, is_read=False),
                Form("/stable/{language}/{n}", is_read=False),
            ),
        ),
        Family(
            "chapter",
            share=2,
            fields={"n": Number(), "version": Listed("version", _VERSIONS)},
            small={"version": len(_VERSIONS)},
            forms=(
                Form("/{version}/chapter{n}/", 3),
                Form("/{version}/chapter{n}/index.html", 2),
                Form("/stable/chapter{n}/", is_read=False),
                Form("/{version}/chapter{n}", redirects=True),
            ),
        ),
        Family(
            "listing",
            fields={"n": Number(), "order": Listed("order", ("N;O=A", "M;O=D", "S;O=D"))},
            small={"order": 3},
            rolls="order",
            forms=(Form("/pub/{n}/", 2), Form("/pub/{n}/?C={order}", 2)),
        ),
    ),
    extras=(
        Extra(host="manuals", weight=0.4),
        Extra(host="", weight=0.3),
        Extra(query="check_keywords=yes&area=default", weight=0.3),
        *TRACKING,
    ),
    mirrors=("manuals", ""),
    manners=Manners(indexes=("index.html",), aliases={"/stable/": "/3.2/"}),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://manuals.SITE/{p**}?{rest**} -> {s}://www.SITE/{p}?{rest}",
        "rewrite {s}://SITE/{p**}?{rest**} -> {s}://www.SITE/{p}?{rest}",
        "rewrite {s}://{h}/{p**}?{**:highlight|check_keywords|area}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/stable/{p**}?{rest**} -> {s}://{h}/3.2/{p}?{rest}",
        "rewrite {s}://{h}/{p**}/index.html?{rest**} -> {s}://{h}/{p}/?{rest}",
        "rewrite {s}://{h}/{v}/{l:alpha}/{f}.html?{rest**} -> {s}://{h}/{v}/{l}/{f}?{rest}",
        "rewrite {s}://{h}/{v}/chapter{n:int}?{rest**} -> {s}://{h}/{v}/chapter{n}/?{rest}",
        "rewrite {s}://{h}/pub/{n}/?C=N;O=A&{rest**} -> {s}://{h}/pub/{n}/?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/{v}/{*:en|de|ja}/{f}?{rest**} -> {s}://{h}/{v}/en/{f}?{rest}",
        "rewrite {s}://{h}/{*:3.2|3.1|2.7}/{p**}?{rest**} -> {s}://{h}/3.2/{p}?{rest}",
        "rewrite {s}://{h}/pub/{n}/?C={*};O={*}&{rest**} -> {s}://{h}/pub/{n}/?{rest}",
        "rewrite {s}://{h}/{v}/chapter{*:int}/?{rest**} -> {s}://{h}/{v}/chapter1/?{rest}",
    ),
    inexpressible=("a page that was never translated is the English one under the other language",),
)
