"""Captures into a right side: moves between components, forms, and results that must not be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.oracles.normalize import characters
from tests.oracles.rule_syntax import Ref, Target, TargetParam, Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracles.rule_matching import Captured, Captures

MOVED_INTO_PATH = {"?": "%3F", "+": "%20"}
MOVED_INTO_VALUE = {"&": "%26", "+": "%2B", ";": "%3B"}
PLAIN_IN_PATH = frozenset("!$&'()*+,=:@")
PLAIN_IN_QUERY = frozenset("!$'()*,:@/?")
LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")


class CannotWriteError(ValueError):
    """The rule does not apply: the result would be no good URL."""


@dataclass(frozen=True)
class Written:
    """A filled right side, before normalization."""

    scheme: str
    host: str
    port: str
    path: str
    query: str

    def __str__(self) -> str:
        """Print it; an empty query prints no `?`."""
        port = f":{self.port}" if self.port else ""
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{self.host}{port}{self.path}{query}"


def write(target: Target, captures: Captures) -> Written | None:
    """The filled right side, or None if a capture would give a bad host label or a dot segment."""
    try:
        return Written(
            scheme=write_text((target.scheme,), captures, "scheme"),
            host=write_text(target.host, captures, "host"),
            port=target.port,
            path=write_path(target.path, captures),
            query=write_query(target.query, captures),
        )
    except CannotWriteError:
        return None


def write_text(text: Text, captures: Captures, place: str) -> str:
    """Literals and captures joined; `place` is scheme, host, path or value."""
    return "".join(
        piece if isinstance(piece, str) else write_capture(captures[piece.name], piece.form, place)
        for piece in text
    )


def write_capture(captured: Captured, form: str | None, place: str) -> str:
    """One capture at its place: escaped as the move demands, then in its form."""
    text = "/".join(captured.units)
    if form == "any":
        return "*"
    if place == "host" and captured.kind != "host" and not LABEL.fullmatch(text):
        raise CannotWriteError
    if place == "path" and captured.kind == "value":
        text = "".join(MOVED_INTO_PATH.get(character, character) for character in text)
    if place == "value" and captured.kind in {"host", "path", "segments"}:
        text = "".join(MOVED_INTO_VALUE.get(character, character) for character in text)
    if form == "lower":
        return lower(text)
    if form == "capital":
        return text[:1].upper() + text[1:]
    if form == "plain":
        return plain_value(text) if place == "value" else plain(text, PLAIN_IN_PATH)
    return text


def write_path(segments: tuple[Text, ...], captures: Captures) -> str:
    """The path; captured segments come in as so many segments, none of them a dot segment."""
    out: list[str] = []
    for segment in segments:
        lone = segment[0] if len(segment) == 1 and isinstance(segment[0], Ref) else None
        # Zero segments take their slash with them, unless they are masked.
        if lone is None or lone.form == "any" or captures[lone.name].units:
            out.append(write_text(segment, captures, "path"))
    path = "".join(f"/{segment}" for segment in out)
    if {".", ".."} & set(path.split("/")):
        raise CannotWriteError
    return path


def write_query(params: tuple[TargetParam | Ref, ...], captures: Captures) -> str:
    """The parameters joined by `&`."""
    out: list[str] = []
    for param in params:
        if isinstance(param, Ref):
            out += write_params(list(captures[param.name].units), param.form)
        elif param.value is None:
            out.append(param.name)
        else:
            out.append(f"{param.name}={write_text(param.value, captures, 'value')}")
    return "&".join(out)


def write_params(params: list[str], form: str | None) -> list[str]:
    """Captured parameters in their form."""
    names = [name_of(param) for param in params]
    forms: dict[str | None, Callable[[], list[str]]] = {
        None: lambda: params,
        "any": lambda: ["*"],
        "lower": lambda: [lower(param) for param in params],
        "sorted": lambda: sorted(params, key=name_and_value),
        "unique": lambda: list(dict.fromkeys(params)),
        "first": lambda: [param for at, param in enumerate(params) if names[at] not in names[:at]],
        "last": lambda: [param for at, param in enumerate(params) if names[at] not in names[at + 1 :]],
        "amp": lambda: [param.replace(";", "&") for param in params],
        "plain": lambda: [plain_param(param) for param in params],
    }
    return forms[form]()


def name_of(param: str) -> str:
    """The text before the first `=`."""
    return param.partition("=")[0]


def name_and_value(param: str) -> tuple[str, str, str]:
    """Sorts by name, then value; without `=` comes before an empty value."""
    return param.partition("=")


def lower(text: str) -> str:
    """Lower case outside triplets."""
    return "".join(
        character if character.startswith("%") else character.lower() for character in characters(text)
    )


def plain(text: str, raw: frozenset[str]) -> str:
    """Triplets of the given characters decoded."""
    out = []
    for character in characters(text):
        decoded = chr(int(character[1:], 16)) if len(character) > 1 else character
        out.append(decoded if decoded in raw else character)
    return "".join(out)


def plain_value(text: str) -> str:
    """A value in plain form; `+` is a space there."""
    return plain(text.replace("+", "%20"), PLAIN_IN_QUERY | {"="})


def plain_param(param: str) -> str:
    """A parameter in plain form; `=` may stand raw in its value only."""
    name, equals, value = param.partition("=")
    return plain(name.replace("+", "%20"), PLAIN_IN_QUERY) + equals + plain_value(value)
