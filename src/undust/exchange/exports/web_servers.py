"""Expressions that see the whole URL: redirects of nginx and Apache, pairs for `re` and PCRE, SQL of DuckDB.

nginx and Apache redirect a request for a URL that a rule changes. For nginx, one `map` leads from the URL to
its target; for Apache, conditions of mod_rewrite on the whole URL. A request is redirected by one rule at a
time, so a client that follows redirects arrives where the canonicalizer would. The expressions see the URL as
the client sent it; for Apache it is taken from the request line, because what mod_rewrite matches otherwise
has been decoded before.

The pairs of a regular expression and a replacement are written as JSON, which says how to use them: a URL
that `standard_form` does not match is left alone; then the first pair that matches is applied, again and
again until none matches. A pair without a replacement ends it.

The SQL is one `CASE` expression over a column `url`. It does one step; where one rule leads to another, apply
it until nothing changes, for instance with a recursive query. RE2 has no look ahead, so conditions are terms
beside the expression.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from undust.errors import CannotExpress
from undust.exchange.exports.contract import STANDARD_SCOPE, ExportedText, Target
from undust.exchange.exports.expressible import said, without
from undust.exchange.exports.expressions import (
    NOT_STANDARD,
    STANDARD_FORM,
    STANDARD_FORM_AT_ONCE,
    CaptureGroup,
    numbered,
    quoted,
)
from undust.exchange.exports.queries import OPTIONAL_REST
from undust.exchange.exports.statements import as_is, expression, replacement, require_single_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule
    from undust.exchange.exports.steps import ExpressionStep
    from undust.rules import Rule


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


HOW = (
    "Leave a URL alone if standard_form does not match it. Else take the first pair that matches, write its "
    "replacement, and start again with the result, until no pair matches or one without a replacement does."
)

HOW_TO_FETCH = (
    'Pairs with "fetch": false are for comparing only: pass over them to find the URL to fetch, and take '
    "them too to find what URLs are compared by."
)


def write_regex(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the pairs as JSON."""
    found, refused = said(rules)
    pairs = [
        {"rule": each.numbered.id, "text": str(each.rule), **_use(each.rule), **_pair(step)}
        for each in found
        for step in each.steps
    ]
    is_compared = any(not each.rule.fetch for each in found)
    content = {
        "format": "undust-regex",
        "version": 1,
        "how": f"{HOW} {HOW_TO_FETCH}" if is_compared else HOW,
        "standard_form": rf"^(?!{NOT_STANDARD}){STANDARD_FORM_AT_ONCE}$(?!\n)",
        "pairs": pairs,
    }
    return ExportedText(json.dumps(content, indent=2, ensure_ascii=False) + "\n", tuple(refused))


def _use(rule: Rule) -> dict[str, bool]:
    return {} if rule.fetch else {"fetch": False}


def _pair(step: ExpressionStep) -> dict[str, Any]:
    pattern = expression(step)
    if step.filled is None:
        return {"pattern": pattern, "python": None, "pcre": None}
    return {
        "pattern": pattern,
        "python": replacement(step, r"\g<{}>".format, lambda text: text.replace("\\", r"\\")),
        "pcre": replacement(step, "${{{}}}".format, lambda text: text.replace("$", r"\$")),
    }


REGEX = Target(
    "regex",
    "pairs of regular expressions, for Python's re and for PCRE, as JSON",
    STANDARD_SCOPE,
    write_regex,
)


_HEAD = """\
-- Written by undust, for DuckDB: one step for the column url; repeat it until nothing changes.
CASE
"""


def write_sql(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the expression."""
    found, refused = said(rules, lean=True)
    lines = [f"WHEN NOT {_matches(STANDARD_FORM + '$')} OR {_matches(NOT_STANDARD)} THEN url\n"]
    for each in found:
        lines.append(f"-- {each.numbered}\n")
        lines += [f"WHEN {_condition(step)} THEN {_result(step)}\n" for step in each.steps]
    return ExportedText(f"{_HEAD}{''.join(lines)}ELSE url\nEND\n", tuple(refused))


def _matches(expression: str) -> str:
    return f"regexp_matches(url, {quoted(f'^(?:{expression})')})"


def _condition(step: ExpressionStep) -> str:
    terms = [_matches(f"{numbered(step.pieces)[0]}$"), *map(_matches, step.needs)]
    terms += [f"NOT ({' AND '.join(map(_matches, texts))})" for texts in step.forbids]
    if step.filled is not None and step.may_stay:
        terms.append(f"{_result(step)} <> url")
    if step.may_have_dots:
        dots = r"^https?://[^?]*/\.\.?(?:[/?]|$)"
        terms.append(f"NOT regexp_matches({_result(step)}, {quoted(dots)})")
    return " AND ".join(terms)


def _result(step: ExpressionStep) -> str:
    if step.filled is None:
        return "url"
    expression, _ = numbered(step.pieces)
    text = replacement(step, "\\{}".format, as_is)
    return f"regexp_replace(url, {quoted(f'^{expression}$')}, {quoted(text)})"


SQL = Target("sql", "a CASE expression over a column url, for DuckDB", STANDARD_SCOPE, write_sql)
