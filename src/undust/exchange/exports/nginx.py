"""nginx: one `map` from the URL to where it should go, and a redirect.

A request is sent on by one rule at a time, so a client that follows redirects arrives where the
canonicalizer would. The expressions see the URL as the client sent it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.contract import STANDARD_SCOPE, ExportedText, Target
from undust.exchange.exports.dialects import expression, replacement, require_single_digits
from undust.exchange.exports.expressible import said, without
from undust.exchange.exports.expressions import NOT_STANDARD, STANDARD_FORM_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule
    from undust.exchange.exports.steps import ExpressionStep

_LONGEST = 4000
"""Bytes of one word in a configuration; nginx reads 4,096 at a time."""
_HEAD = f"""\
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


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the configuration."""
    found, refused = said(rules)
    found, more = without(found, _require_short)
    lines = [line for each in found for line in _lines(each)]
    return ExportedText(_HEAD + "".join(lines) + "}\n", (*refused, *more))


def _require_short(each: ExpressedRule) -> None:
    for step in each.steps:
        require_single_digits(step)
        if len(expression(step)) > _LONGEST:
            message = f"its expression is longer than the {_LONGEST} bytes that nginx reads as one word"
            raise CannotExpress(message)


def _lines(each: ExpressedRule) -> list[str]:
    return [f"\n    # {each.numbered}\n", *(f"    {_entry(step)}\n" for step in each.steps)]


def _entry(step: ExpressionStep) -> str:
    target = replacement(step, "${}".format, lambda text: text.replace("$", "${undust_dollar}"))
    return f'"~{expression(step)}" "{target}";'


NGINX = Target(
    "nginx", "a map of URLs to redirects, to include in http { }", STANDARD_SCOPE, write, fetches=True
)
