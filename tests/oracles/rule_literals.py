"""The literals of a rule in normal form, and captures hidden so that a pattern can be cut like any string.

A capture hides behind one lone surrogate, which no rule may contain.
"""

from __future__ import annotations

import re

from tests.oracles.normalize import (
    ALLOWED_IN_HOST,
    ALLOWED_IN_QUERY,
    PCHAR,
    domain_to_ascii,
    normalize_host,
    normalize_ipv6,
    normalize_port,
    normalize_text,
)
from tests.oracles.rule_syntax import Template, refuse

FIRST_HIDDEN = 0xD800


def refuse_fragment(text: str) -> None:
    """URLs have no fragment after normalization, so a rule that names one is a mistake."""
    if "#" in text:
        refuse("a rule sees no fragment: write %23 for the character '#'")
    if any(0xD800 <= ord(character) < 0xE000 for character in text):
        refuse("half of a surrogate pair is not a character")


def hide_captures(text: str) -> tuple[str, list[str]]:
    """The text with each `{…}` replaced by one lone surrogate, and what stood between the braces."""
    refuse_fragment(text)
    bodies = re.findall(r"\{([^{}]*)\}", text)
    hidden = re.sub(r"\{[^{}]*\}", "\0", text.replace("\0", "%00"))
    for index in range(len(bodies)):
        hidden = hidden.replace("\0", chr(FIRST_HIDDEN + index), 1)
    if "{" in hidden or "}" in hidden:
        refuse("a brace is open or stray: write %7B or %7D for the character")
    return hidden, bodies


def is_hidden(text: str) -> bool:
    """Whether this is one capture and nothing else."""
    return len(text) == 1 and FIRST_HIDDEN <= ord(text) < FIRST_HIDDEN + 0x800


def has_hidden(text: str) -> bool:
    """Whether there is a capture in it."""
    return any(map(is_hidden, text))


def pieces_of(text: str) -> list[str]:
    """The text cut into captures and the literals between them."""
    return re.findall(r"[\ud800-\udfff]|[^\ud800-\udfff]+", text)


def split_url(hidden: str) -> tuple[str, str, str, str | None]:
    """Scheme, host with port, path, and query (None without `?`) of a whole pattern."""
    scheme, separator, rest = hidden.partition("://")
    if not separator:
        refuse("no scheme: a pattern begins like http://host/ or {s}://{h}/")
    cut = min((rest.find(mark) for mark in "/?" if mark in rest), default=len(rest))
    path, mark, query = rest[cut:].partition("?")
    if "@" in rest[:cut]:
        refuse("a rule has no userinfo: URLs with userinfo are never rewritten")
    return scheme, rest[:cut], path, query if mark else None


def split_port(text: str) -> tuple[str, str, str]:
    """Host, colon and port; an IPv6 literal keeps its colons."""
    if text.startswith("["):
        literal, closed, rest = text.partition("]")
        return literal + closed, rest[:1], rest.removeprefix(":")
    return text.partition(":")


def literal_labels(text: str) -> tuple[Template, ...]:
    """The labels of a host without captures."""
    if text.startswith("[") and text.endswith("]"):
        literal = normalize_ipv6(text[1:-1])
        labels = None if literal is None else [literal]
    else:
        literal = normalize_host(text)
        labels = None if literal is None else literal.split(".")
    if labels is None:
        refuse(f"{text!r} is not a host")
    return tuple((label,) if label else () for label in labels)


def literal_label(text: str) -> str:
    """A whole literal label; IDN becomes punycode."""
    try:
        label = literal_in_label(text if text.isascii() else domain_to_ascii(text))
    except ValueError as error:
        refuse(f"{text!r} is not a label of a host: {error}")
    if "." in label:
        refuse(f"{text!r} is more than one label of a host")
    return label


def literal_in_label(text: str) -> str:
    """Literal text of a label beside a capture."""
    text = normalize_text(text, ALLOWED_IN_HOST).lower()
    if not set(text) <= ALLOWED_IN_HOST:
        refuse("a host label has letters, digits and hyphens")
    return text


def no_items(text: str) -> tuple[str, ...]:
    """The scheme has no list."""
    refuse(f"a scheme has no class, so {text!r} cannot stand there")


def split_items(text: str, forbidden: str) -> list[str]:
    """The items of a list, none empty, none with a character that the capture could not hold."""
    items = text.split("|")
    for item in items:
        if not item or set(item) & set(forbidden + "*"):
            refuse(f"{item!r} cannot be in a list here")
    return items


def whole_host_items(text: str) -> tuple[str, ...]:
    """Whole hosts, perhaps with a port."""
    out = []
    for item in split_items(text, "/&;"):
        host, colon, port = split_port(item)
        if colon and normalize_port(port) is None:
            refuse(f"{port!r} is no port; an item of a list has a number there, or no colon")
        labels = [str(label[0]) if label else "" for label in literal_labels(host)]
        out.append(".".join(labels) + colon + (normalize_port(port) or ""))
    return tuple(out)


def label_items(text: str) -> tuple[str, ...]:
    """Labels or parts of labels."""
    if "." in text:
        refuse("an item of a list in a host is one label")
    return tuple(literal_label(item) for item in split_items(text, "/&;:"))


def segment_items(text: str) -> tuple[str, ...]:
    """Parts of segments."""
    return tuple(normalize_text(item, PCHAR) for item in split_items(text, "/&;"))


def value_items(text: str) -> tuple[str, ...]:
    """Parts of values."""
    return tuple(normalize_text(item, ALLOWED_IN_QUERY) for item in split_items(text, "&;"))


def name_items(text: str) -> tuple[str, ...]:
    """Parameter names; a trailing `*` makes one a prefix."""
    items = []
    for item in text.split("|"):
        name = item.removesuffix("*")
        if not name or set(name) & set("&;="):
            refuse(f"{item!r} cannot be in a list of parameter names")
        items.append(normalize_text(name, ALLOWED_IN_QUERY) + item[len(name) :])
    return tuple(items)
