"""nginx and Apache httpd: a request for a URL that a rule changes is redirected.

For nginx, one `map` leads from the URL to its target; for Apache, conditions of mod_rewrite on the whole URL.
A request is redirected by one rule at a time, so a client that follows redirects arrives where the
canonicalizer would. The expressions see the URL as the client sent it; for Apache it is taken from the
request line, because what mod_rewrite matches otherwise has been decoded before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.contract import STANDARD_SCOPE, ExportedText, Target
from undust.exchange.exports.expressible import said, without
from undust.exchange.exports.expressions import NOT_STANDARD, STANDARD_FORM_AT_ONCE, CaptureGroup
from undust.exchange.exports.queries import OPTIONAL_REST
from undust.exchange.exports.statements import expression, replacement, require_single_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule
    from undust.exchange.exports.steps import ExpressionStep

_LONGEST = 4000
"""Bytes of one word in a configuration; nginx reads 4,096 at a time."""
_NGINX_HEAD = f"""\
# Written by undust. Include this file in `http {{ … }}`, and put these two lines into each `server {{ … }}`:
#
#     if ($undust_to) {{ return 301 $undust_to; }}
#
# Behind a proxy that ends TLS, write $http_x_forwarded_proto for $scheme.

geo $undust_dollar {{ default "$"; }}

map "$scheme://$http_host$request_uri" $undust_url {{
    default "";
    "~^(?:{NOT_STANDARD})" "";
    "~^{STANDARD_FORM_AT_ONCE}$" "$scheme://$http_host$request_uri";
}}

map $undust_url $undust_to {{
    default "";
"""


def write_nginx(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the configuration."""
    found, refused = said(rules)
    found, more = without(found, _require_short)
    lines = [line for each in found for line in _lines(each)]
    return ExportedText(_NGINX_HEAD + "".join(lines) + "}\n", (*refused, *more))


def _require_short(each: ExpressedRule) -> None:
    for step in each.steps:
        require_single_digits(step)
        if len(expression(step)) > _LONGEST:
            message = f"its expression is longer than the {_LONGEST} bytes that nginx reads as one word"
            raise CannotExpress(message)


def _lines(each: ExpressedRule) -> list[str]:
    return [f"\n    # {each.numbered}\n", *(f"    {_entry_nginx(step)}\n" for step in each.steps)]


def _entry_nginx(step: ExpressionStep) -> str:
    target = replacement(step, "${}".format, lambda text: text.replace("$", "${undust_dollar}"))
    return f'"~{expression(step)}" "{target}";'


NGINX = Target(
    "nginx", "a map of URLs to redirects, to include in http { }", STANDARD_SCOPE, write_nginx, fetches=True
)


_EMPTY = r"[^?]*\?(?:.*&)?(?:&|$)"
"""The beginning of a URL with an empty parameter, which mod_rewrite would remove at the end of a query."""
_EXACT = (
    "http(s) URLs in standard form without empty parameters, with `AllowEncodedSlashes NoDecode` also those"
    " with %2F; any other spelling is left alone"
)
_APACHE_HEAD = f"""\
# Written by undust. Include this file in the server or in a <VirtualHost>, not in a directory.
# Behind a proxy that ends TLS, write %{{HTTP:X-Forwarded-Proto}} for %{{REQUEST_SCHEME}}.
RewriteEngine On
RewriteCond "%{{THE_REQUEST}}" "^[A-Z]+ (/[^ ]*) HTTP/[0-9.]+$"
RewriteRule "^" "-" [E=UNDUST_URL:%{{REQUEST_SCHEME}}://%{{HTTP_HOST}}%1]
RewriteCond "%{{ENV:UNDUST_URL}}" "!^(?!{NOT_STANDARD}|{_EMPTY}){STANDARD_FORM_AT_ONCE}$"
RewriteRule "^" "-" [E=!UNDUST_URL]
"""


def write_apache(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the configuration."""
    found, refused = said(rules)
    found, more = without(found, _require_writable)
    steps = [(each, step) for each in found for whole in each.steps for step in _with_mark(whole)]
    lines = []
    for place, (each, step) in enumerate(steps):
        is_first = place == 0 or steps[place - 1][0] is not each
        lines += [f"\n# {each.numbered}\n"] if is_first else []
        lines.append(_entry_apache(step, len(steps) - place - 1))
    return ExportedText(_APACHE_HEAD + "".join(lines), (*refused, *more))


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


def _entry_apache(step: ExpressionStep, left: int) -> str:
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
    write_apache,
    fetches=True,
)
