"""The right side of a rewrite, read against the captures of its left side."""

from __future__ import annotations

import re
from dataclasses import replace as changed

from tests.oracles.normalize import ALLOWED_IN_QUERY, DEFAULT_PORTS, PCHAR, normalize_port, normalize_text
from tests.oracles.rule_literals import (
    FIRST_HIDDEN,
    has_hidden,
    hide_captures,
    is_hidden,
    literal_in_label,
    literal_label,
    literal_labels,
    pieces_of,
    split_port,
    split_url,
)
from tests.oracles.rule_syntax import (
    LIST_FORMS,
    TEXT_FORMS,
    HostPattern,
    Many,
    Param,
    Pattern,
    Ref,
    Run,
    Target,
    TargetParam,
    Template,
    Text,
    refuse,
)

REFERENCE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::(.*))?", re.DOTALL)


def capture_kinds(pattern: Pattern) -> dict[str, str]:
    """Which component each name was captured in: scheme, host, path, segments, value or params."""
    kinds: dict[str, str] = {}

    def add(template: Template | Many, kind: str, kind_of_many: str) -> None:
        for piece in (template,) if isinstance(template, Many) else template:
            if not isinstance(piece, str) and piece.name:
                kinds[piece.name] = kind_of_many if isinstance(piece, Many) else kind

    if isinstance(pattern.scheme, Run):
        add((pattern.scheme,), "scheme", "")
    if pattern.host and pattern.host.whole:
        add((pattern.host.whole,), "host", "")
    for label in pattern.host.labels if pattern.host else ():
        add(label, "host", "host")
    for segment in pattern.path or ():
        add(segment, "path", "segments")
    for param in pattern.query or ():
        add(param if isinstance(param, Many) else param.value or (), "value", "params")
    return kinds


def read_target(text: str, pattern: Pattern) -> Target:
    """The right side as literals and references."""
    return TargetReader(text, capture_kinds(pattern)).read()


class TargetReader:
    """Reads one right side; knows what each name was captured as."""

    def __init__(self, text: str, kinds: dict[str, str]) -> None:
        """Hide the references of the text."""
        self.hidden, self.bodies = hide_captures(text)
        self.kinds = kinds

    def read(self) -> Target:
        """The whole right side; an unwritten path is `/`, an unwritten query is empty."""
        scheme_text, authority, path, query = split_url(self.hidden)
        scheme = self.read_scheme(scheme_text)
        host, _, port_text = split_port(authority)
        port = normalize_port(port_text)
        if port is None:
            refuse("the port of a rule is a number")
        return Target(
            scheme=scheme,
            host=self.read_host(host),
            port="" if isinstance(scheme, str) and port == DEFAULT_PORTS[scheme] else port,
            path=tuple(self.read_segment(segment) for segment in path[1:].split("/")),
            query=tuple(self.read_param(param) for param in query.split("&")) if query else (),
        )

    def reference(self, character: str) -> Ref:
        """The reference behind a hidden character."""
        body = self.bodies[ord(character) - FIRST_HIDDEN]
        shape = REFERENCE.fullmatch(body)
        if shape is None:
            refuse(f"'{{{body}}}' cannot be written: the right side has {{name}} or {{name:form}}")
        name, form = shape.groups()
        if name not in self.kinds:
            refuse(f"'{{{name}}}' on the right side is never captured; add it to the left side")
        allowed = LIST_FORMS if self.kinds[name] == "params" else TEXT_FORMS
        if form is not None and form not in allowed:
            refuse(f"form {form!r} of '{{{name}}}' is unknown or does not fit: use {', '.join(allowed)}")
        return Ref(name, form)

    def text_reference(self, character: str, *, refused: tuple[str, ...]) -> Ref:
        """A reference to a capture of some kind that may stand in the middle of text."""
        ref = self.reference(character)
        kind = self.kinds[ref.name]
        if kind in refused:
            what = (
                "parameters: it stands alone in the query"
                if kind == "params"
                else "segments: it stands alone"
            )
            refuse(f"'{{{ref.name}}}' holds {what}, it cannot be a parameter, segment or label here")
        return ref

    def read_scheme(self, text: str) -> str | Ref:
        """`http`, `https` or what was captured as the scheme."""
        if is_hidden(text):
            ref = self.reference(text)
            if self.kinds[ref.name] != "scheme":
                refuse(f"'{{{ref.name}}}' was not captured as a scheme")
            return ref
        if text.lower() not in DEFAULT_PORTS:
            refuse("a scheme is http, https or a captured scheme")
        return text.lower()

    def read_host(self, text: str) -> Text:
        """The host without its port."""
        if not has_hidden(text):
            return (".".join(str(label[0]) if label else "" for label in literal_labels(text)),)
        out: list[str | Ref] = []
        for index, label in enumerate(text.split(".")):
            out += ["."] if index else []
            for piece in pieces_of(label):
                if is_hidden(piece):
                    out.append(self.text_reference(piece, refused=("segments", "params")))
                else:
                    out.append(literal_label(piece) if piece == label else literal_in_label(piece))
        return joined(out)

    def read_segment(self, text: str) -> Text:
        """One segment; a capture of segments stands alone in it."""
        if is_hidden(text):
            return (self.text_reference(text, refused=("params",)),)
        segment = tuple(
            self.text_reference(piece, refused=("segments", "params"))
            if is_hidden(piece)
            else normalize_text(piece, PCHAR)
            for piece in pieces_of(text)
        )
        if segment in {(".",), ("..",)}:
            refuse("a rule has no dot segment")
        return segment

    def read_param(self, text: str) -> TargetParam | Ref:
        """One parameter, or captured parameters."""
        if not text:
            refuse("an empty parameter")
        if is_hidden(text):
            ref = self.reference(text)
            if self.kinds[ref.name] != "params":
                refuse(f"'{{{ref.name}}}' holds no parameters: write name={{{ref.name}}}")
            return ref
        name, equals, value = text.partition("=")
        if has_hidden(name):
            refuse("a parameter has a literal name")
        name = normalize_text(name, ALLOWED_IN_QUERY)
        if not equals:
            return TargetParam(name, None)
        return TargetParam(
            name,
            tuple(
                self.text_reference(piece, refused=("params",))
                if is_hidden(piece)
                else normalize_text(piece, ALLOWED_IN_QUERY)
                for piece in pieces_of(value)
            ),
        )


def joined(pieces: list[str | Ref]) -> Text:
    """The pieces with neighbouring literals made one."""
    out: list[str | Ref] = []
    for piece in pieces:
        last = out[-1] if out else None
        if isinstance(piece, str) and isinstance(last, str):
            out[-1] = last + piece
        else:
            out.append(piece)
    return tuple(out)


def target_is_mask(target: Target, pattern: Pattern) -> bool:
    """Whether the rule only masks; raises if it has `:any` and is not a mask."""
    plain = without_any(target)
    if plain == target:
        return False
    if plain != skeleton(pattern):
        refuse("a mask has equal sides but for :any, and no anonymous captures")
    return True


def without_any(target: Target) -> Target:
    """The right side with each `:any` taken off."""

    def text(pieces: Text) -> Text:
        return tuple(piece if isinstance(piece, str) else reference(piece) for piece in pieces)

    def reference(ref: Ref) -> Ref:
        return Ref(ref.name) if ref.form == "any" else ref

    def param(item: TargetParam | Ref) -> TargetParam | Ref:
        if isinstance(item, Ref):
            return reference(item)
        return item if item.value is None else changed(item, value=text(item.value))

    return Target(
        scheme=target.scheme if isinstance(target.scheme, str) else reference(target.scheme),
        host=text(target.host),
        port=target.port,
        path=tuple(text(segment) for segment in target.path),
        query=tuple(param(item) for item in target.query),
    )


def skeleton(pattern: Pattern) -> Target:
    """The right side that writes what the left side matched; anonymous captures get a name no rule has."""

    def ref(capture: Run | Many) -> Ref:
        return Ref(capture.name or "*")

    def text(template: Template | Many) -> Text:
        if isinstance(template, Many):
            return (ref(template),)
        return tuple(piece if isinstance(piece, str) else ref(piece) for piece in template)

    def param(item: Param | Many) -> TargetParam | Ref:
        if isinstance(item, Many):
            return ref(item)
        return TargetParam(item.name, None if item.value is None else text(item.value))

    def host(part: HostPattern) -> Text:
        if part.whole:
            return (ref(part.whole),)
        out: list[str | Ref] = []
        for index, label in enumerate(part.labels):
            out += ["."] if index else []
            out += text(label)
        return joined(out)

    if pattern.scheme is None or pattern.host is None:
        refuse("a mask needs a whole pattern")
    return Target(
        scheme=pattern.scheme if isinstance(pattern.scheme, str) else ref(pattern.scheme),
        host=host(pattern.host),
        port=pattern.host.port or "",
        path=tuple(text(segment) for segment in pattern.path or ()),
        query=tuple(param(item) for item in pattern.query or ()),
    )
