"""Standard normalization, slowly and plainly: the twin that the core is tested against.

Written from RFC 3986 and the WHATWG host rules, character by character, with no eye on speed.
`Url` is what rules match on; `parse` gives one, `normalize` prints it.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache

import idna
from idna import core as idna_core

DIGITS = frozenset("0123456789")
HEX = frozenset("0123456789abcdefABCDEF")
LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
UNRESERVED = LETTERS | DIGITS | frozenset("-._~")
SUB_DELIMS = frozenset("!$&'()*+,;=")
PCHAR = UNRESERVED | SUB_DELIMS | frozenset(":@")

ALLOWED_IN_USERINFO = UNRESERVED | SUB_DELIMS | frozenset(":")
ALLOWED_IN_PATH = PCHAR | frozenset("/")
ALLOWED_IN_QUERY = PCHAR | frozenset("/?")
ALLOWED_IN_HOST = UNRESERVED | SUB_DELIMS

DEFAULT_PORTS = {"http": "80", "https": "443"}
LARGEST_PORT = 65535
IPV4_PARTS = 4


@dataclass(frozen=True)
class Url:
    """A normalized URL in its parts. `query` is None without `?`; `userinfo` is None without `@`."""

    scheme: str
    userinfo: str | None
    host: str
    port: str
    path: str
    query: str | None

    @property
    def authority(self) -> str:
        """Host with its port."""
        return self.host + (f":{self.port}" if self.port else "")

    def __str__(self) -> str:
        """Print it as n(u)."""
        user = "" if self.userinfo is None else f"{self.userinfo}@"
        query = "" if self.query is None else f"?{self.query}"
        return f"{self.scheme}://{user}{self.authority}{self.path}{query}"


def normalize(url: str) -> str:
    """n(u): the normal form of an http(s) URL; anything else comes back as it was."""
    parsed = parse(url)
    return url if parsed is None else str(parsed)


@lru_cache(maxsize=1024)  # a rule engine asks again for every rule
def parse(url: str) -> Url | None:
    """The parts of n(u), or None if this is not an http(s) URL."""
    try:
        url.encode("utf-8")
    except UnicodeEncodeError:
        return None
    split = re.match(r"(https?):(.*)", clean(url), re.ASCII | re.IGNORECASE | re.DOTALL)
    if split is None:
        return None
    scheme = split[1].lower()
    hierarchy, mark, tail = cut_at(split[2], "?#")
    hierarchy = hierarchy.replace("\\", "/").lstrip("/")
    query = cut_at(tail, "#")[0] if mark == "?" else None
    authority, slash, path = cut_at(hierarchy, "/")
    userinfo, at, host_and_port = authority.rpartition("@")
    split_host = normalize_authority(host_and_port, scheme)
    if split_host is None:
        return None
    return Url(
        scheme=scheme,
        userinfo=normalize_text(userinfo, ALLOWED_IN_USERINFO) if at else None,
        host=split_host[0],
        port=split_host[1],
        path=remove_dot_segments(normalize_text(slash + path, ALLOWED_IN_PATH)) or "/",
        query=None if query is None else normalize_text(query, ALLOWED_IN_QUERY),
    )


def clean(url: str) -> str:
    """What a browser drops before it looks: white space and controls around, tabs and line ends inside."""
    around = "".join(map(chr, range(0x21)))
    return re.sub(r"[\t\n\r]", "", url.strip(around))


def cut_at(text: str, marks: str) -> tuple[str, str, str]:
    """Before, the first of the marks, and after; the last two are empty if there is none."""
    for index, character in enumerate(text):
        if character in marks:
            return text[:index], character, text[index + 1 :]
    return text, "", ""


def characters(text: str) -> list[str]:
    """The text cut into percent triplets and single characters."""
    return re.findall(r"%[0-9A-Fa-f]{2}|.", text, re.DOTALL)


def normalize_text(text: str, allowed: frozenset[str]) -> str:
    """Triplets of unreserved characters decoded, the others upper-cased, forbidden characters encoded."""
    out = []
    for piece in characters(text):
        if len(piece) > 1:
            decoded = chr(int(piece[1:], 16))
            out.append(decoded if decoded in UNRESERVED else piece.upper())
        elif piece in allowed:
            out.append(piece)
        else:
            out.append("".join(f"%{byte:02X}" for byte in piece.encode("utf-8")))
    return "".join(out)


def remove_dot_segments(path: str) -> str:
    """RFC 3986, section 5.2.4, step by step."""
    rest, out = path, ""
    while rest:
        if rest.startswith("/./"):
            rest = rest[2:]
        elif rest == "/.":
            rest = "/"
        elif rest.startswith("/../"):
            rest, out = rest[3:], out[: max(out.rfind("/"), 0)]
        elif rest == "/..":
            rest, out = "/", out[: max(out.rfind("/"), 0)]
        else:
            end = rest.find("/", 1)
            end = len(rest) if end < 0 else end
            rest, out = rest[end:], out + rest[:end]
    return out


def normalize_authority(text: str, scheme: str) -> tuple[str, str] | None:
    """Host and port of the text behind the userinfo, or None."""
    if text.startswith("["):
        literal, closed, rest = text[1:].partition("]")
        host = normalize_ipv6(literal) if closed else None
        if rest and not rest.startswith(":"):
            return None
        port_text = rest[1:]
    else:
        raw_host, _, port_text = text.partition(":")
        host = normalize_host(raw_host)
    port = normalize_port(port_text)
    if host is None or port is None:
        return None
    return host, "" if port == DEFAULT_PORTS[scheme] else port


def normalize_port(text: str) -> str | None:
    """The port without leading zeros; empty stays empty; None if it is none."""
    if not set(text) <= DIGITS:
        return None
    number = text.lstrip("0") or text[:1]
    return number if len(number) <= len(str(LARGEST_PORT)) and int(number or 0) <= LARGEST_PORT else None


def normalize_host(text: str) -> str | None:
    """A name or an IPv4 address in normal form, or None."""
    decoded = bytearray()
    for piece in characters(text):
        if piece == "%":
            return None
        decoded += bytes([int(piece[1:], 16)]) if len(piece) > 1 else piece.encode("utf-8")
    try:
        host = decoded.decode("utf-8")
        host = host.lower() if host.isascii() else domain_to_ascii(host)
    except ValueError:  # not UTF-8, or not allowed in a host
        return None
    if not host or not set(host) <= ALLOWED_IN_HOST:
        return None
    labels = host.split(".")
    if len(labels) > 1 and not labels[-1]:
        labels.pop()
    return normalize_ipv4(labels) if looks_numeric(labels[-1]) else host


def domain_to_ascii(host: str) -> str:
    """UTS #46 as browsers use it: not transitional, no STD3 or length check; raises IDNAError."""
    labels = idna.uts46_remap(host, std3_rules=False).split(".")
    decoded = [decode_punycode(label) if label.startswith("xn--") else label for label in labels]
    for label in decoded:
        check_label(label)
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii") for label in decoded
    )


def decode_punycode(label: str) -> str:
    """The Unicode form of an `xn--` label, which must be what the label would have been made from."""
    decoded = label[4:].encode("ascii").decode("punycode")
    if decoded.isascii() or idna.uts46_remap(decoded, std3_rules=False) != decoded:
        message = "not the punycode of a valid label"
        raise idna.IDNAError(message)
    return decoded


def check_label(label: str) -> None:
    """The validity criteria of UTS #46 that the mapping leaves open."""
    idna_core.check_initial_combiner(label)
    # Judged label by label: one written from right to left says nothing about its neighbours.
    idna_core.check_bidi(label)
    for position, character in enumerate(label):
        if character in "\u200c\u200d" and not idna_core.valid_contextj(label, position):
            message = "joiner out of context"
            raise idna.IDNAError(message)


def looks_numeric(label: str) -> bool:
    """All digits, or `0x` and hex digits: such a last label makes the host an IPv4 address."""
    if label and set(label) <= DIGITS:
        return True
    return label.startswith("0x") and set(label[2:]) <= HEX


def normalize_ipv4(labels: list[str]) -> str | None:
    """Dotted decimal of one to four decimal, octal or hexadecimal numbers, or None."""
    numbers = [ipv4_number(label) for label in labels]
    if len(numbers) > IPV4_PARTS:
        return None
    value = 0
    for index, number in enumerate(numbers):
        last = index == len(numbers) - 1
        limit = 256 ** (IPV4_PARTS - index) if last else 256
        if number is None or number >= limit:
            return None
        value += number if last else number * 256 ** (IPV4_PARTS - 1 - index)
    return str(ipaddress.IPv4Address(value))


def ipv4_number(label: str) -> int | None:
    """One number of an IPv4 address, or None."""
    if label.startswith("0x"):
        return int(label[2:] or "0", 16) if set(label[2:]) <= HEX else None
    octal = len(label) > 1 and label.startswith("0")
    digits = frozenset("01234567") if octal else DIGITS
    if not label or not set(label) <= digits:
        return None
    # No address needs more digits, and Python refuses to read thousands of them.
    meaningful = label.lstrip("0") or "0"
    return int(meaningful, 8 if octal else 10) if len(meaningful) < 100 else 1 << 64


def normalize_ipv6(literal: str) -> str | None:
    """RFC 5952 without the dotted tail, in brackets, or None."""
    if "%" in literal:
        return None
    try:
        groups = [f"{int(group, 16):x}" for group in ipaddress.IPv6Address(literal).exploded.split(":")]
    except ipaddress.AddressValueError:
        return None
    start, length = longest_zero_run(groups)
    if length > 1:
        return f"[{':'.join(groups[:start])}::{':'.join(groups[start + length :])}]"
    return f"[{':'.join(groups)}]"


def longest_zero_run(groups: list[str]) -> tuple[int, int]:
    """Where the first longest run of zero groups begins, and its length."""
    best = (0, 0)
    for start in range(len(groups)):
        length = 0
        while start + length < len(groups) and groups[start + length] == "0":
            length += 1
        if length > best[1]:
            best = (start, length)
    return best
