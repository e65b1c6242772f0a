"""Hosts of a site as expressions, and what a rule does to the host.

A rule acts on the hosts of its site, and only if its result is one of them. Which hosts those are is decided
by the public suffix list, and an expression cannot hold the list: so only what can be decided from the end of
the host's name is expressed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.expressions import (
    AUTHORITY,
    LABEL,
    SCHEME,
    CaptureGroup,
    Ref,
    as_refs,
    escaped,
    host_literal,
    label_literal,
)
from undust.exchange.exports.runs import component
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Capture, is_stretch
from undust.urls import site_of
from undust.urls.url import suffix_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from undust.exchange.exports.expressions import Filled, Pieces
    from undust.rules.pattern import Pattern, Text

_DEFAULT_PORTS = {"http": "80", "https": "443"}
ANY_NAME = r"[^/?#@:\[\]]+|\[[0-9a-f:]+\]"
_NO_LIST = "it changes the host on all sites, and whether a site stays needs the public suffix list"


@cache
def hosts_of(site: str, *, lean: bool = True) -> str:
    """Return the expression of the hosts, without port, that belong to a site; for RE2 if `lean`."""
    if site_of(f"http://{site}/") != site:
        message = f"{site} is not a site by the public suffix list, so the rule never acts"
        raise CannotExpress(message)
    if has_subdomains(site) and site in _sites_with_suffixes():
        message = f"some hosts below {site} are sites of their own by the public suffix list"
        raise CannotExpress(message)
    dot = r"\.?" if site_of(f"http://{site}./") == site else ""
    name = escaped(site) + dot
    if not has_subdomains(site):
        return name
    return rf"(?:[^./:?@]+\.)*{name}" if lean else rf"(?:(?!{name}(?:[:/]|$))[^./:?@]++\.)*+{name}"


def has_subdomains(site: str) -> bool:
    """Whether the hosts below a site belong to it; below an address or a single label they do not."""
    return site_of(f"http://z.{site}/") == site


@cache
def _sites_with_suffixes() -> frozenset[str]:
    """Return every name below which the public suffix list has another suffix."""
    names: set[str] = set()
    for line in suffix_list().decode().splitlines():
        if line and not line.startswith("//"):
            labels = line.strip().removeprefix("!").removeprefix("*.").encode("idna").decode().split(".")
            names.update(".".join(labels[start:]) for start in range(1, len(labels)))
            if line.startswith("*."):
                names.add(".".join(labels))
    return frozenset(names)


def on_site(site: str, *, lean: bool = True) -> str:
    """Return the expression of the beginning of a URL of a site, up to its path."""
    return rf"{SCHEME}://{hosts_of(site, lean=lean)}(?::[0-9]+)?/"


class HostPatterns:
    """What a rule matches as the host, and what it writes."""

    def __init__(
        self, site: str, source: Pattern, target: Pattern | None, used: Collection[str], *, lean: bool
    ) -> None:
        self.site = site
        self.lean = lean
        self.source = source
        self.target = target
        self.used = used
        self.labels = source.host or ()
        self.is_whole = _is_whole(self.labels)
        self.needs_site = False
        """Whether the site of the URL must be looked at beside the expression of the host."""

    def variants(self) -> list[tuple[Pieces, Filled]]:
        """Return the ways in which the host matches, each with what is then written."""
        pieces = self._pieces()
        if self.target is None:
            return [(pieces, ())]
        written = self._written(self.target)
        port = self._new_default_port()
        if port is None:
            return [(pieces, written)]
        # With the scheme, a port may become the default, which standard form leaves out.
        bare = tuple(
            CaptureGroup(piece.name, self._name()) if isinstance(piece, CaptureGroup) else piece
            for piece in pieces
        )
        return [((*bare, f":{port}"), written), (pieces, written)]

    def _pieces(self) -> Pieces:
        if self.is_whole:
            return self._whole()
        port = f":{self.source.port}" if self.source.port else ""
        if all(isinstance(piece, str) for label in self.labels for piece in label):
            host = host_literal(".".join("".join(map(str, label)) for label in self.labels))
            self._require_site_of(host)
            return (escaped(host) + port,)
        if self.site == ANY_SITE and self.target is not None:
            raise CannotExpress(_NO_LIST)
        self.needs_site = self.site != ANY_SITE
        pieces: list[str | CaptureGroup] = []
        for place, label in enumerate(self.labels):
            pieces += [r"\."] if place else []
            pieces += (
                self._stretch(label)
                if is_stretch(label)
                else component(label, LABEL, self.used, lean=self.lean)
            )
        return (*pieces, port)

    def _whole(self) -> Pieces:
        capture = _capture(self.labels[0])
        if capture.detail is not None:
            hosts = [host_literal(item) for item in capture.detail.split("|")]
            for host in hosts:
                self._require_site_of(host)
            expression = "|".join(map(escaped, sorted(hosts, key=len, reverse=True)))
            return self._grouped(capture, f"(?:{expression})")
        if self.source.port or capture.is_many:
            port = f":{self.source.port}" if self.source.port else ""
            return (*self._grouped(capture, self._name()), port)
        whole = AUTHORITY if self.site == ANY_SITE else rf"{hosts_of(self.site, lean=self.lean)}(?::[0-9]+)?"
        return self._grouped(capture, whole)

    def _name(self) -> str:
        """Return the expression of a host without its port."""
        return ANY_NAME if self.site == ANY_SITE else hosts_of(self.site, lean=self.lean)

    def _grouped(self, capture: Capture, expression: str) -> Pieces:
        if capture.name is not None and capture.name in self.used:
            return (CaptureGroup(capture.name, expression),)
        return (f"(?:{expression})",)

    def _stretch(self, label: Text) -> Pieces:
        capture = _capture(label)
        is_last = label is self.labels[-1]
        # What is written as a host must be of the site itself.
        expression = (
            hosts_of(self.site, lean=self.lean)
            if is_last and self.site != ANY_SITE
            else r"[^./:?@]+(?:\.[^./:?@]+)*"
        )
        return self._grouped(capture, expression)

    def _require_site_of(self, host: str) -> None:
        if self.site not in {ANY_SITE, site_of(f"http://{host}/")}:
            message = f"the host {host} is not of the site {self.site}, so the rule never acts"
            raise CannotExpress(message)

    def _written(self, target: Pattern) -> Filled:
        labels = target.host or ()
        if target.port in _DEFAULT_PORTS.values():
            message = f"whether port {target.port} is written depends on the scheme"
            raise CannotExpress(message)
        port = (f":{target.port}",) if target.port else ()
        if all(isinstance(piece, str) for label in labels for piece in label):
            return (self._literal(labels), *port)
        if self.site == ANY_SITE and not (self.is_whole and labels == as_refs(self.labels)):
            raise CannotExpress(_NO_LIST)
        filled: list[str | Ref] = []
        for place, label in enumerate(labels):
            filled += ["."] if place else []
            filled += self._label(label)
        self._require_same_end(labels)
        return (*filled, *port)

    def _literal(self, labels: tuple[Text, ...]) -> str:
        host = host_literal(".".join("".join(map(str, label)) for label in labels))
        site = site_of(f"http://{host}/")
        own = self.site
        if own == ANY_SITE:
            if any(isinstance(piece, Capture) for label in self.labels for piece in label):
                raise CannotExpress(_NO_LIST)
            source = ".".join("".join(map(str, label)) for label in self.labels)
            own = site_of(f"http://{host_literal(source)}/") or ANY_SITE
        if site != own:
            message = f"it writes the host {host}, which is on another site, so the rule never acts"
            raise CannotExpress(message)
        return host

    def _label(self, label: Text) -> list[str | Ref]:
        out: list[str | Ref] = []
        captured = {piece.name for own in self.labels for piece in own if isinstance(piece, Capture)}
        for piece in label:
            if isinstance(piece, str):
                out.append(label_literal(piece))
            elif piece.detail not in {None, "lower"}:
                message = f"a host cannot be written in the form {piece.detail}"
                raise CannotExpress(message)
            elif piece.name not in captured:
                message = "a piece of the path or query becomes part of the host"
                raise CannotExpress(message)
            else:
                out.append(Ref(piece.name or ""))
        return out

    def _require_same_end(self, labels: tuple[Text, ...]) -> None:
        """Refuse a host that may not be on the site."""
        last = labels[-1]
        if self.is_whole or (is_stretch(self.labels[-1]) and last == as_refs(self.labels)[-1]):
            return
        ending = ".".join(
            "".join(map(str, label)) for label in labels if all(isinstance(p, str) for p in label)
        )
        literal = [label for label in labels if all(isinstance(piece, str) for piece in label)]
        if labels[-len(literal) :] != tuple(literal) or not f".{ending}".endswith(f".{self.site}"):
            message = "the right side alone does not show that the site stays"
            raise CannotExpress(message)

    def _new_default_port(self) -> str | None:
        """Return the port that a change of the scheme makes the default, if the host may have it."""
        target = self.target
        scheme = (target.scheme or ("",))[0] if target else ""
        if not isinstance(scheme, str) or (self.source.scheme or ("",))[0] == scheme:
            return None
        if not self.is_whole or self.source.port is not None:
            return None
        capture = _capture(self.labels[0])
        return _DEFAULT_PORTS[scheme] if capture.detail is None and not capture.is_many else None


def _capture(label: Text) -> Capture:
    """Return the capture that is a whole label."""
    return next(piece for piece in label if isinstance(piece, Capture))


def _is_whole(labels: tuple[Text, ...]) -> bool:
    return len(labels) == 1 and len(labels[0]) == 1 and isinstance(labels[0][0], Capture)
