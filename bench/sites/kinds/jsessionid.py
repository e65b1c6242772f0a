"""A Java application without cookies: the session id is in the path of every page reached by a link."""

from __future__ import annotations

from bench.sites.fields import Listed, Number
from bench.sites.model import DROP_TRACKING, LOGIN, TRACKING, Extra, Family, Form, Kind, Manners

_LANGUAGES = ("en", "es", "pt")

JSESSIONID = Kind(
    name="jsessionid",
    about="a session id in the path of every page, languages that matter, a basket behind a login",
    like="tracker",
    families=(
        Family(
            "item",
            share=20,
            fields={"n": Number(start=500), "language": Listed("language", _LANGUAGES)},
            small={"language": len(_LANGUAGES)},
            forms=(
                Form("/app/item.do?id={n}", 3),
                Form("/app/item.do?id={n}&lang={language}", 3),
                Form("/app/item.do?lang={language}&id={n}"),
                Form("/app/item/{n}", 2),
                Form("/app/item.do?method=show&id={n}&lang={language}"),
            ),
        ),
        Family(
            "catalogue",
            share=12,
            fields={"n": Number(), "start": Number("start", start=0, step=20)},
            small={"start": 4},
            forms=(
                Form("/app/list.do?cat={n}", 2),
                Form("/app/list.do?cat={n}&start={start}", 3),
                Form("/app/list.do?start={start}&cat={n}"),
            ),
        ),
        Family(
            "basket", fields={"n": Number()}, shows={LOGIN: 0.6}, forms=(Form("/app/basket.do?user={n}"),)
        ),
    ),
    extras=(
        Extra(path=";jsessionid={SID}", weight=2.0),
        Extra(path=";jsessionid={SID}.node1", weight=0.4),
        *TRACKING,
    ),
    manners=Manners(ignores_path_parameters=True),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}/{f};jsessionid={*:hex}?{rest**} -> {s}://{h}/{p}/{f}?{rest}",
        "rewrite {s}://{h}/{p**}/{f};jsessionid={*:hex}.{*}?{rest**} -> {s}://{h}/{p}/{f}?{rest}",
        "rewrite {s}://{h}/app/item/{n:int}?{rest**} -> {s}://{h}/app/item.do?id={n}&{rest}",
        "rewrite {s}://{h}/app/item.do?lang=en&{rest**} -> {s}://{h}/app/item.do?{rest}",
        "rewrite {s}://{h}/app/item.do?method=show&{rest**} -> {s}://{h}/app/item.do?{rest}",
        "rewrite {s}://{h}/app/list.do?start=0&{rest**} -> {s}://{h}/app/list.do?{rest}",
        "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:sorted}",
    ),
    false_rules=(
        "rewrite {s}://{h}/app/item.do?lang={*}&{rest**} -> {s}://{h}/app/item.do?{rest}",
        "rewrite {s}://{h}/app/list.do?start={*:int}&{rest**} -> {s}://{h}/app/list.do?{rest}",
        "rewrite {s}://{h}/app/item.do?id={*:int}&{rest**} -> {s}://{h}/app/item.do?id=500&{rest}",
        "rewrite {s}://{h}/app/basket.do?user={*:int}&{rest**} -> {s}://{h}/app/basket.do?user=1&{rest}",
    ),
)
