"""Apache httpd: conditions on the whole URL and a redirect, with mod_rewrite.

A request is sent on by one rule at a time, so a client that follows redirects arrives where the
canonicalizer would. The URL is taken from the request line: what mod_rewrite matches otherwise has been
decoded before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.dialects import expression, replacement, require_single_digits
from undust.exchange.exports.expressible import said, without
from undust.exchange.exports.expressions import NOT_STANDARD, STANDARD_FORM_AT_ONCE, CaptureGroup
from undust.exchange.exports.queries import OPTIONAL_REST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule
    from undust.exchange.exports.steps import ExpressionStep

_EMPTY = r"[^?]*\?(?:.*&)?(?:&|$)"
"""The beginning of a URL with an empty parameter, which mod_rewrite would remove at the end of a query."""
_EXACT = (
    "http(s) URLs in standard form without empty parameters, with `AllowEncodedSlashes NoDecode` also those"
    " with %2F; any other spelling is left alone"
)
_HEAD = f"""\
# Written by undust. Include this file in the server or in a <VirtualHost>, not in a directory.
# Behind a proxy that ends TLS, write %{{HTTP:X-Forwarded-Proto}} for %{{REQUEST_SCHEME}}.
RewriteEngine On
RewriteCond "%{{THE_REQUEST}}" "^[A-Z]+ (/[^ ]*) HTTP/[0-9.]+$"
RewriteRule "^" "-" [E=UNDUST_URL:%{{REQUEST_SCHEME}}://%{{HTTP_HOST}}%1]
RewriteCond "%{{ENV:UNDUST_URL}}" "!^(?!{NOT_STANDARD}|{_EMPTY}){STANDARD_FORM_AT_ONCE}$"
RewriteRule "^" "-" [E=!UNDUST_URL]
"""


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the configuration."""
    found, refused = said(rules)
    found, more = without(found, _require_writable)
    steps = [(each, step) for each in found for whole in each.steps for step in _with_mark(whole)]
    lines = []
    for place, (each, step) in enumerate(steps):
        is_first = place == 0 or steps[place - 1][0] is not each
        lines += [f"\n# {each.numbered}\n"] if is_first else []
        lines.append(_entry(step, len(steps) - place - 1))
    return ExportedText(_HEAD + "".join(lines), (*refused, *more))


def _with_mark(step: ExpressionStep) -> list[ExpressionStep]:
    """Return steps whose `?` is a literal; Apache refuses one out of a group, since it might be a trick."""
    place = next((place for place, piece in enumerate(step.pieces) if _is_rest(piece)), None)
    if place is None:
        return [step]
    start = step.pieces[:place]
    filled = step.filled or ()
    return [
        replace(
            step,
            pieces=(*start, r"\?", CaptureGroup(OPTIONAL_REST, ".+")),
            filled=(*filled[:-1], "?", filled[-1]),
        ),
        replace(step, pieces=(*start, r"\??"), filled=filled[:-1]),
    ]


def _is_rest(piece: str | CaptureGroup) -> bool:
    return isinstance(piece, CaptureGroup) and piece.name == OPTIONAL_REST


def _require_writable(each: ExpressedRule) -> None:
    if each.rule.kind == "replace" and not frozenset("&?").isdisjoint(
        each.rule.source + (each.rule.target or "")
    ):
        message = "it may leave an empty parameter, which mod_rewrite would remove"
        raise CannotExpress(message)
    for step in each.steps:
        require_single_digits(step)


def _entry(step: ExpressionStep, left: int) -> str:
    condition = f'RewriteCond "%{{ENV:UNDUST_URL}}" "{expression(step)}"\n'
    if step.filled is None:
        return f'{condition}RewriteRule "^" "-" [S={left}]\n' if left else ""
    target = replacement(step, "%{}".format, _escaped)
    return f'{condition}RewriteRule "^" "{target}" [R=301,L,NE,QSD]\n'


def _escaped(text: str) -> str:
    return "".join(f"\\{character}" if character in r"%$\\" else character for character in text)


APACHE = Target(
    "apache",
    "RewriteRules that redirect, to include in a server or virtual host",
    _EXACT,
    write,
    fetches=True,
)
