"""Rule text to rule: the slow, plain reader, from one line or from the keys of a rule file.

Only what docs/rules.md allows is read; whatever is in doubt is refused with a reason.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace as changed
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.oracles.normalize import (
    ALLOWED_IN_QUERY,
    DEFAULT_PORTS,
    PCHAR,
    SUB_DELIMS,
    UNRESERVED,
    normalize_host,
    normalize_ipv6,
    normalize_port,
    normalize_text,
)
from tests.oracles.rule_literals import (
    FIRST_HIDDEN,
    has_hidden,
    hide_captures,
    is_hidden,
    label_items,
    literal_in_label,
    literal_label,
    literal_labels,
    name_items,
    no_items,
    pieces_of,
    refuse_fragment,
    segment_items,
    split_port,
    split_url,
    value_items,
    whole_host_items,
)
from tests.oracles.rule_syntax import (
    CLASS_CHARACTERS,
    CLASS_SHAPES,
    KINDS,
    HostPattern,
    Many,
    Param,
    Pattern,
    Replacement,
    Rule,
    Run,
    Template,
    refuse,
)
from tests.oracles.rule_target import read_target, target_is_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NAME = "[A-Za-z_][A-Za-z0-9_]*"
CAPTURE = re.compile(rf"({NAME})?(\*\*|\*)?(?::(.*))?", re.ASCII | re.DOTALL)
ALLOWED_IN_REPLACE = UNRESERVED | SUB_DELIMS | frozenset(":/?@")
Capture = Run | Many


def read_rule(fields: Mapping[str, Any]) -> Rule:
    """One rule from the keys of a rule file; `text` may stand for kind, from, to, when and unless."""
    if "text" in fields:
        fields = {**read_line(fields["text"]), **{key: fields[key] for key in fields if key != "text"}}
    kind: Any = fields.get("kind")
    source: Any = fields.get("from")
    target: Any = fields.get("to")
    if kind not in KINDS:
        refuse(f"unknown kind {kind!r}: write replace, rewrite or keep")
    if source is None:
        refuse("the left side is missing")
    if (target is None) != (kind == "keep"):
        refuse("a keep has no right side" if kind == "keep" else f"a {kind} needs a right side")
    status = fields.get("status", "active")
    if status not in {"active", "disabled", "proposed"}:
        refuse(f"unknown status {status!r}: write active, disabled or proposed")
    if fields.get("except_sites") and fields.get("site", "*") != "*":
        refuse("only rules of the site '*' except sites")
    rule = Rule(
        site=read_site(fields.get("site", "*")),
        kind=kind,
        pattern=None if kind == "replace" else read_pattern(source),
        target=None,
        replacement=read_replacement(source, target) if kind == "replace" else None,
        when=tuple(read_condition(text) for text in fields.get("when", ())),
        unless=tuple(read_condition(text) for text in fields.get("unless", ())),
        except_sites=frozenset(read_site(site) for site in fields.get("except_sites", ())),
        active=status == "active",
        is_mask=False,
        fetched=read_fetch(fields),
        needs=read_needs(fields),
        id=id_of(fields),
    )
    if rule.kind != "rewrite" or rule.pattern is None:
        return rule
    right_side = read_target(target, rule.pattern)
    return changed(rule, target=right_side, is_mask=target_is_mask(right_side, rule.pattern))


def read_fetch(fields: Mapping[str, Any]) -> bool:
    """Whether what the rule writes may be fetched."""
    fetched: Any = fields.get("fetch", True)
    if not isinstance(fetched, bool):
        refuse("fetch is neither true nor false")
    if fields["kind"] == "keep" and not fetched:
        refuse("a keep has no fetch: it writes nothing")
    return fetched


def read_needs(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the rules that this one needs."""
    needs: Any = fields.get("needs", [])
    if not isinstance(needs, (list, tuple)) or not all(isinstance(need, str) for need in needs):
        refuse("needs is a list of ids")
    return tuple(needs)


def id_of(fields: Mapping[str, Any]) -> str:
    """The first 8 bytes of the BLAKE2b hash of what the rule says, as compact JSON in ASCII."""
    said = [fields.get(key) for key in ("site", "kind", "from", "to")]
    said += [list(fields.get(key) or ()) for key in ("when", "unless")]
    text = json.dumps(said, separators=(",", ":"))
    return hashlib.blake2b(text.encode("ascii"), digest_size=8).hexdigest()


def read_line(text: str) -> dict[str, Any]:
    """`KIND FROM [→ TO] [when P, P] [unless P, P]` as the keys of a rule file."""
    kind, rest = re.fullmatch(r"\s*(\S*)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    if kind not in KINDS:
        refuse(f"unknown kind {kind!r}: write replace, rewrite or keep")
    side = r'"([^"]*)"' if kind == "replace" else r"(\S+)"
    shape = re.fullmatch(rf"\s*{side}(?:\s+(?:→|->)\s+{side})?(\s.*)?", rest, re.DOTALL)
    if shape is None:
        refuse("a replace has its texts in quotes" if kind == "replace" else "the left side is missing")
    if re.match(r"\s*(→|->)", shape[3] or ""):
        refuse("the right side is missing, or it is the text of a replace without quotes")
    fields = {"kind": kind, "from": shape[1]}
    if shape[2] is not None:
        fields["to"] = shape[2]
    return {**fields, **read_condition_lists((shape[3] or "").split())}


def read_condition_lists(words: list[str]) -> dict[str, list[str]]:
    """The `when` and `unless` lists at the end of a line; a comma and white space separate patterns."""
    lists: dict[str, list[str]] = {}
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else None
        if word in {"when", "unless"}:
            if word in lists or "unless" in lists or following in {None, "unless", "when"}:
                refuse(f"{word!r} here: write [when P, P] [unless P, P]")
            lists[word] = []
        elif not lists:
            refuse(f"{word!r} is not expected: after the sides only when and unless may follow")
        elif following in {None, "when", "unless"}:
            lists[next(reversed(lists))].append(word)
        elif word.endswith(","):
            lists[next(reversed(lists))].append(word[:-1])
        else:
            refuse(f"a comma is missing after {word!r} in the when or unless list")
    return lists


def read_site(text: str) -> str:
    """`*`, or a registered domain in the form that URLs have after normalization."""
    if text == "*":
        return text
    site = normalize_ipv6(text[1:-1]) if text.startswith("[") and text.endswith("]") else normalize_host(text)
    if site is None or not (site.startswith("[") or is_host_name(site.removesuffix("."))):
        refuse(f"{text!r} is not a site: write a registered domain, a host or *")
    return site.removesuffix(".")


def is_host_name(name: str) -> bool:
    """Letters, digits, hyphens and underscores, in labels of 1 to 63, 253 characters in all."""
    labels = name.split(".")
    return len(name) <= 253 and all(re.fullmatch(r"[a-z0-9_-]{1,63}", label) for label in labels)


def read_replacement(old: str, new: str) -> Replacement:
    """The texts of a replace, anchors taken off, in normal form."""
    refuse_fragment(old + new)
    at_start, at_end = old.startswith("^"), old.endswith("$")
    if (new.startswith("^") and not at_start) or (new.endswith("$") and not at_end):
        refuse("an anchor on the right needs the same anchor on the left")
    old = old[at_start : len(old) - at_end]
    new = new[new.startswith("^") : len(new) - new.endswith("$")]
    if not old and not at_start and not at_end:
        refuse("the text to replace is empty")
    return Replacement(
        normalize_text(old, ALLOWED_IN_REPLACE), normalize_text(new, ALLOWED_IN_REPLACE), at_start, at_end
    )


def read_pattern(text: str) -> Pattern:
    """The left side of a rewrite or keep: a whole URL; an unwritten path is `/`, an unwritten query empty."""
    pattern = PatternReader(text).read(starts_with_scheme=True)
    return changed(pattern, path=pattern.path or ((),), query=pattern.query or ())


def read_condition(text: str) -> Pattern:
    """A pattern of `when` or `unless`: what is not written matches anything, other parameters too."""
    if text in {"", "?"}:
        refuse("an empty condition: write a path, a query or a whole URL")
    pattern = PatternReader(text).read(starts_with_scheme=not text.startswith(("/", "?")))
    return changed(pattern, open_query=True)


class PatternReader:
    """Reads one pattern; knows its captures and which names were used."""

    def __init__(self, text: str) -> None:
        """Hide the captures of the text."""
        self.text = text
        self.hidden, self.bodies = hide_captures(text)
        self.used: list[str] = []

    def read(self, *, starts_with_scheme: bool) -> Pattern:
        """The pattern; path and query are None where they are not written."""
        if starts_with_scheme:
            scheme_text, host_text, path_text, query_text = split_url(self.hidden)
            scheme: str | Run | None = self.read_scheme(scheme_text)
            host: HostPattern | None = self.read_host(host_text, scheme)
        else:
            path_text, mark, after = self.hidden.partition("?")
            query_text, scheme, host = after if mark else None, None, None
        path = self.read_path(path_text) if path_text else None
        query = None if query_text is None else self.read_query(query_text)
        return Pattern(scheme, host, path, query, open_query=False)

    def capture(self, character: str, read_items: Callable[[str], tuple[str, ...]]) -> Capture:
        """The capture behind a hidden character; `read_items` normalizes the items of its list."""
        body = self.bodies[ord(character) - FIRST_HIDDEN]
        shape = CAPTURE.fullmatch(body)
        if shape is None or (shape[1] and shape[2] == "*") or not (shape[1] or shape[2]):
            refuse(f"the brace '{{{body}}}' holds no capture: write {{name}}, {{*}}, {{name**}} or {{**}}")
        name, stars, klass = shape.groups()
        if name in self.used:
            refuse(f"the name '{name}' occurs twice on the left")
        if name:
            self.used.append(name)
        if stars == "**":
            return Many(name, () if klass is None else read_items(klass))
        if klass is None or klass in CLASS_CHARACTERS or klass in CLASS_SHAPES:
            return Run(name, klass)
        if "|" not in klass:
            refuse(f"unknown class {klass!r} in '{{{body}}}'")
        return Run(name, "list", read_items(klass))

    def run(self, character: str, read_items: Callable[[str], tuple[str, ...]], place: str) -> Run:
        """A capture that must be a run."""
        capture = self.capture(character, read_items)
        if isinstance(capture, Many):
            refuse(f"'**' must stand alone in its {place}")
        return capture

    def template(
        self, text: str, literal: Callable[[str], str], items: Callable[[str], tuple[str, ...]], place: str
    ) -> Template:
        """Literals and runs in sequence; runs that touch must have nothing in common."""
        out = [
            self.run(piece, items, place) if is_hidden(piece) else literal(piece) for piece in pieces_of(text)
        ]
        for left, right in pairwise(out):
            if isinstance(left, Run) and isinstance(right, Run) and not are_disjoint(left, right):
                refuse("adjacent captures need a literal between them or disjoint classes")
        return tuple(out)

    def read_scheme(self, text: str) -> str | Run:
        """`http`, `https`, `{s}` or `{*}`."""
        if is_hidden(text):
            run = self.capture(text, no_items)
            if isinstance(run, Many) or run.klass:
                refuse("a scheme is http, https, {s} or {*}, without a class")
            return run
        if text.lower() not in DEFAULT_PORTS:
            refuse("a scheme is http, https, {s} or {*}")
        return text.lower()

    def read_host(self, text: str, scheme: str | Run | None) -> HostPattern:
        """The host with its port."""
        host, colon, port_text = split_port(text)
        port = normalize_port(port_text)
        if port is None:
            refuse("the port of a rule is a number")
        if isinstance(scheme, str) and port == DEFAULT_PORTS[scheme]:
            port = ""
        if is_hidden(host):
            capture = self.capture(host, whole_host_items)
            if isinstance(capture, Run):
                return HostPattern(capture, (), port if colon else None)
            return HostPattern(None, (without_class(capture),), port)
        if not has_hidden(host):
            return HostPattern(None, literal_labels(host), port)
        labels = tuple(self.read_label(label) for label in host.split("."))
        if sum(isinstance(label, Many) for label in labels) > 1:
            refuse("'**' occurs twice in the host")
        return HostPattern(None, labels, port)

    def read_label(self, text: str) -> Template | Many:
        """One label of a host that has captures."""
        if is_hidden(text):
            capture = self.capture(text, label_items)
            return without_class(capture) if isinstance(capture, Many) else (capture,)
        if has_hidden(text):
            return self.template(text, literal_in_label, label_items, "label")
        return (literal_label(text),) if text else ()

    def read_path(self, text: str) -> tuple[Template | Many, ...]:
        """The segments of a path."""
        segments = tuple(self.read_segment(segment) for segment in text[1:].split("/"))
        if sum(isinstance(segment, Many) for segment in segments) > 1:
            refuse("'**' occurs twice in the path")
        return segments

    def read_segment(self, text: str) -> Template | Many:
        """One segment."""
        if is_hidden(text):
            capture = self.capture(text, segment_items)
            return without_class(capture) if isinstance(capture, Many) else (capture,)
        template = self.template(text, lambda piece: normalize_text(piece, PCHAR), segment_items, "segment")
        if template in {(".",), ("..",)}:
            refuse("a rule has no dot segment")
        return template

    def read_query(self, text: str) -> tuple[Param | Many, ...]:
        """The parameters of a query."""
        if not text:
            return ()
        params = tuple(self.read_param(param) for param in text.split("&"))
        if sum(isinstance(param, Many) and not param.names for param in params) > 1:
            refuse("the rest of the parameters is taken twice")
        return params

    def read_param(self, text: str) -> Param | Many:
        """One parameter, or a capture of many."""
        if not text:
            refuse("an empty parameter")
        if is_hidden(text):
            capture = self.capture(text, name_items)
            if isinstance(capture, Run):
                refuse("a capture of whole parameters is written {name**}; a parameter has a name")
            return capture
        name, equals, value = text.partition("=")
        if has_hidden(name):
            refuse("a parameter has a literal name")
        name = normalize_text(name, ALLOWED_IN_QUERY)
        if not equals:
            return Param(name, None)
        if is_hidden(value):
            capture = self.capture(value, value_items)
            if isinstance(capture, Run):
                return Param(name, (capture,))
            if capture != Many(None):
                refuse("the value of a parameter is {v} or {**}, the latter without name or class")
            return Param(name, capture)
        return Param(
            name,
            self.template(
                value, lambda piece: normalize_text(piece, ALLOWED_IN_QUERY), value_items, "parameter"
            ),
        )


def without_class(capture: Many) -> Many:
    """The capture, which must have no class."""
    if capture.names:
        refuse("'**' takes a class only where it stands for parameters")
    return capture


def are_disjoint(left: Run, right: Run) -> bool:
    """Whether two runs have no character in common."""
    first, second = characters_of(left), characters_of(right)
    return first is not None and second is not None and not first & second


def characters_of(run: Run) -> frozenset[str] | None:
    """The characters a run may hold; None stands for all."""
    if run.klass is None:
        return None
    if run.klass == "list":
        return frozenset("".join(run.items))
    shapes = {"uuid": CLASS_CHARACTERS["hex"] | {"-"}, "date": CLASS_CHARACTERS["int"] | {"-"}}
    return CLASS_CHARACTERS.get(run.klass) or shapes[run.klass]
