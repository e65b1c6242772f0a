"""An issue tracker: leading zeros, queries with defaults, wiki pages with versions, reports in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import Listed, Number, Title
from bench.sites.model import DROP_QUERY, DROP_TRACKING, NOTHING, TRACKING, Extra, Family, Form, Kind

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_STATES = ("open", "closed", "new")
_ORDERS = ("priority", "id", "owner")


def _short(digits: Digits) -> Digits:
    # Of the lists that were tested in another order, four in five were the same: they had one row or none.
    return {"order": np.where(digits["n"] % 5 > 0, 0, digits["order"])}


TRACKER = Kind(
    name="tracker",
    about="leading zeros, queries with default parameters and without hits, versions, reports in any order",
    like="tracker",
    pages_per_address=0.9,
    families=(
        Family(
            "ticket",
            share=5,
            fields={"n": Number()},
            forms=(
                Form("/ticket/{n}", 3),
                Form("/ticket/0{n}", 0.7),
                Form("/ticket/{n}?cversion=0&cnum_hist=1"),
                Form("/ticket/{n}?replyto={moment}"),
                Form("/search?ticket={n}", 0.5, redirects=True),
            ),
        ),
        Family(
            "query",
            share=3,
            fields={
                "component": Title(),
                "state": Listed("state", _STATES),
                "order": Listed("order", _ORDERS),
            },
            small={"state": len(_STATES), "order": len(_ORDERS)},
            rolls="order",
            same=_short,
            shows={NOTHING: 0.12},
            forms=(
                Form("/query?component={component}", 2),
                Form("/query?component={component}&status={state}"),
                Form("/query?component={component}&order={order}"),
                Form("/query?component={component}&status={state}&order={order}", 2),
                Form("/query?order={order}&status={state}&component={component}"),
                Form("/query?component={component}&status={state}&order={order}&desc=0"),
            ),
        ),
        Family(
            "wiki",
            share=3,
            fields={"page": Title(capital=True), "version": Number("version", start=0)},
            small={"version": 3},
            forms=(
                Form("/wiki/{page}", 3),
                Form("/wiki/{page}?action=view"),
                Form("/wiki/{page}?version={version}", 2),
                Form("/wiki/{page}?version={version}&format=html"),
            ),
        ),
        Family(
            "diff",
            fields={"page": Title(capital=True)},
            forms=(Form("/wiki/{page}?action=diff"), Form("/wiki/{page}?action=diff&version=0")),
        ),
    ),
    extras=(Extra(query="PHPSESSID={sid}", weight=0.3), Extra(query="ref={source}", weight=0.4), *TRACKING),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:PHPSESSID|ref}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/ticket/0{n:int}?{rest**} -> {s}://{h}/ticket/{n}?{rest}",
        "rewrite {s}://{h}/ticket/{n}?{**:cversion|cnum_hist|replyto}&{rest**} -> {s}://{h}/ticket/{n}?{rest}",
        "rewrite {s}://{h}/search?ticket={n:int}&{rest**} -> {s}://{h}/ticket/{n}?{rest}",
        "rewrite {s}://{h}/query?order=priority&{rest**} -> {s}://{h}/query?{rest}",
        "rewrite {s}://{h}/query?status=open&{rest**} -> {s}://{h}/query?{rest}",
        "rewrite {s}://{h}/query?desc=0&{rest**} -> {s}://{h}/query?{rest}",
        "rewrite {s}://{h}/query?{rest**} -> {s}://{h}/query?{rest:sorted}",
        "rewrite {s}://{h}/wiki/{p}?action=view&{rest**} -> {s}://{h}/wiki/{p}?{rest}",
        "rewrite {s}://{h}/wiki/{p}?format=html&{rest**} -> {s}://{h}/wiki/{p}?{rest}",
        "rewrite {s}://{h}/wiki/{p}?version=0&{rest**} -> {s}://{h}/wiki/{p}?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/query?order={*}&{rest**} -> {s}://{h}/query?{rest}",
        "rewrite {s}://{h}/query?component={*}&{rest**} -> {s}://{h}/query?{rest}",
        "rewrite {s}://{h}/wiki/{p}?version={*:int}&{rest**} -> {s}://{h}/wiki/{p}?{rest}",
        "rewrite {s}://{h}/wiki/{p}?action={*}&{rest**} -> {s}://{h}/wiki/{p}?{rest}",
        "rewrite {s}://{h}/ticket/{*:int}?{rest**} -> {s}://{h}/ticket/1?{rest}",
        DROP_QUERY,
    ),
    inexpressible=("a list with a single row is the same in any order",),
)
