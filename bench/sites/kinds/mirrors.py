"""Mirrors by host label: four hosts with the same pages, and one with others under the same paths."""

from __future__ import annotations

from bench.sites.fields import Listed, Number, Title
from bench.sites.model import DROP_TRACKING, TRACKING, Extra, Family, Form, Kind, Manners

_LANGUAGES = ("en", "fr")

MIRRORS = Kind(
    name="mirrors",
    about="hosts with the same pages, a host with others under the same paths, a language that matters",
    like="documentation",
    families=(
        Family(
            "function",
            share=5,
            fields={"name": Title(joint="-"), "language": Listed("language", _LANGUAGES)},
            small={"language": len(_LANGUAGES)},
            forms=(
                Form("/manual/{language}/function.{name}.php", 3),
                Form("/manual/{language}/function.{name}", 2),
                Form("/{language}/function.{name}.php"),
                Form("/function.php?name={name}", 0.5, redirects=True),
            ),
        ),
        Family(
            "download",
            share=3,
            fields={"n": Number()},
            forms=(Form("/get/{n}/", 2), Form("/get/{n}/index.php"), Form("/get.php?file={n}")),
        ),
        Family("news", share=2, fields={"n": Number()}, forms=(Form("/archive/{n}.php"),)),
        Family("diary", share=2, fields={"n": Number()}, host="blog", forms=(Form("/archive/{n}.php"),)),
    ),
    extras=(
        Extra(host="us", weight=0.6),
        Extra(host="de", weight=0.6),
        Extra(host="fr", weight=0.6),
        Extra(host="", weight=0.3),
        *TRACKING,
    ),
    mirrors=("us", "de", "fr", ""),
    manners=Manners(indexes=("index.php",)),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{*:us|de|fr}.SITE/{p**}?{rest**} -> {s}://www.SITE/{p}?{rest}",
        "rewrite {s}://SITE/{p**}?{rest**} -> {s}://www.SITE/{p}?{rest}",
        "rewrite {s}://{h}/{l:en|fr}/{f}?{rest**} -> {s}://{h}/manual/{l}/{f}?{rest}",
        "rewrite {s}://{h}/manual/{l}/{f}.php?{rest**} -> {s}://{h}/manual/{l}/{f}?{rest}",
        "rewrite {s}://{h}/function.php?name={n}&{rest**} -> {s}://{h}/manual/en/function.{n}.php?{rest}",
        "rewrite {s}://{h}/{p**}/index.php?{rest**} -> {s}://{h}/{p}/?{rest}",
        "rewrite {s}://{h}/get.php?file={n:int}&{rest**} -> {s}://{h}/get/{n}/?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{*:blog|www}.SITE/{p**}?{rest**} -> {s}://www.SITE/{p}?{rest}",
        "rewrite {s}://{h}/manual/{*:en|fr}/{f}?{rest**} -> {s}://{h}/manual/en/{f}?{rest}",
        "rewrite {s}://{h}/archive/{*:int}.php?{rest**} -> {s}://{h}/archive/1.php?{rest}",
        "rewrite {s}://{h}/get/{*:int}/?{rest**} -> {s}://{h}/get/1/?{rest}",
    ),
)
