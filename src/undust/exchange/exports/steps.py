r"""One rule as expressions with substitutions: the intermediate that most targets print.

    rewrite {s}://{h}/old/{p**} → {s}://{h}/new/{p}

    (https?)://([^/?#@]+)/old((?:/[^/?]*)*)\??   →   \1://\2/new\3

A step does once what the rule does once, for URLs in standard form: the same URLs match, and the same text
is written. What an expression cannot describe is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.expressions import (
    SCHEME,
    SEGMENT,
    CaptureGroup,
    Ref,
    as_refs,
    is_of_class,
    path_literal,
    without_groups,
)
from undust.exchange.exports.hosts import HostPatterns, on_site
from undust.exchange.exports.overlap import captured_as
from undust.exchange.exports.queries import Query, condition
from undust.exchange.exports.runs import component
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Capture, Pattern, is_stretch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.exchange.exports.expressions import Filled, Pieces
    from undust.exchange.exports.queries import Dropped, Variant
    from undust.rules import Rule
    from undust.rules.pattern import Text

_URL, _HEAD, _TAIL = "url ", "head ", "tail "  # no capture of a rule has a space in its name
_ANY_NUMBER, _ONE_OR_MORE = "(?:/[^?]*)?", "/[^?]*"
"""Segments; a slash or the end of the path follows them."""
_ESCAPES = (("+", "%20"), ("?", "%3F"))
"""What a value writes in another way when it moves into the path."""
UNESCAPED = "[^&;+?]*"
"""The beginning of a value that has none of these."""


@dataclass(frozen=True)
class ExpressionStep:
    """An expression of a whole URL, and what is written instead; None for a URL that is kept."""

    pieces: Pieces
    filled: Filled | None
    needs: tuple[str, ...] = ()
    """Expressions of beginnings that the URL must have."""
    forbids: tuple[tuple[str, ...], ...] = ()
    """Beginnings that the URL must not have, all of one entry together."""
    may_stay: bool = True
    """Whether the result may be the URL itself; then the step does not count."""
    may_have_dots: bool = False
    """Whether the result may have a dot segment, if the target has no look ahead to forbid it."""


@dataclass(frozen=True)
class Compiled:
    """A rule with its steps, which are tried in order."""

    rule: Rule
    steps: tuple[ExpressionStep, ...]
    dropped: Dropped | None = None
    """The parameters that it drops, if that is all it does; then a step drops a run of them at once."""
    one_by_one: tuple[ExpressionStep, ...] = ()
    """The same, one parameter a step, if that is what the rule says."""
    escaping: tuple[ExpressionStep, ...] = ()
    """Steps before the others, in which a value is made ready to move into the path."""
    moved: str | None = None
    """The parameter whose value moves."""


def compiled(rule: Rule, *, lean: bool) -> Compiled:
    """Return a rewrite or a keep as steps; without look ahead if `lean`."""
    source = Pattern.parse(rule.source)
    if rule.kind == "keep":
        return Compiled(rule, tuple(_kept(rule, source, lean=lean)))
    return _Rewrite(rule, source, Pattern.parse(rule.target or ""), lean=lean).compiled()


class _Rewrite:
    def __init__(self, rule: Rule, source: Pattern, target: Pattern, *, lean: bool) -> None:
        self.rule = rule
        self.source = source
        self.target = target
        self.lean = lean
        self.captured = captured_as(source)
        self.used = {ref.name for ref in _refs(target) if ref.name is not None}
        self.query = Query(source.query or (), target.query or (), self.used, lean=lean)
        self._require_no_moves()

    def compiled(self) -> Compiled:
        dropped = self.query.dropped() if self._only_drops() else None
        if dropped is not None:
            steps = tuple(self._steps(self.query.without(dropped, runs=True)))
            single = tuple(self._steps(self.query.without(dropped, runs=False))) if dropped.is_single else ()
            return Compiled(self.rule, steps, dropped, single)
        steps = tuple(self._steps(self.query.variants()))
        moved = self._moved_openly()
        if not moved:
            return Compiled(self.rule, steps)
        entry = next(e for e in self.source.query or () if e.value and moved in [_name(p) for p in e.value])
        is_open = self.query.rest is not None and (self.lean or len(self.query.named) > 1)
        if len(entry.value or ()) != 1 or is_open:
            message = (
                f"the value {{{moved}}} moves into the path, where `+` and `?` are written in another way"
            )
            raise CannotExpress(message)
        escaping = tuple(replace(each, may_stay=False) for step in steps for each in _escaping(step, moved))
        return Compiled(self.rule, steps, escaping=escaping, moved=entry.name)

    def _only_drops(self) -> bool:
        target, source = self.target, self.source
        same_path = as_refs(source.path or ((),)) == (target.path or ((),))
        same_host = as_refs(source.host or ()) == (target.host or ()) and source.port == target.port
        return same_path and same_host and as_refs((source.scheme or (),)) == (target.scheme or (),)

    def _steps(self, queries: list[Variant]) -> Iterator[ExpressionStep]:
        hosts = HostPatterns(self.rule.site, self.source, self.target, self.used, lean=self.lean)
        schemes = _scheme(self.source, self.target, self.used)
        variants = hosts.variants()
        needs, forbids = conditions(self.rule, needs_site=hosts.needs_site, lean=self.lean)
        for host, path, query in product(variants, self._paths(), queries):
            pieces = (*schemes[0], "://", *host[0], *path[0], *query[0])
            filled = (*schemes[1], "://", *host[1], *path[1], *query[1])
            dotted = tuple(self._dotted(pieces))
            more = (
                () if self.lean and self.query.rest else tuple((f"{expression}$",) for expression in dotted)
            )
            yield ExpressionStep(pieces, filled, needs, (*forbids, *more), may_have_dots=bool(dotted))

    def _paths(self) -> list[Variant]:
        written: list[str | Ref] = []
        has_own = False
        for segment in self.target.path or ((),):
            refs = [piece for piece in segment if isinstance(piece, Capture)]
            if len(segment) == 1 and refs and self.captured[refs[0].name or ""][0] == "segments":
                written.append(Ref(refs[0].name or ""))
                continue
            has_own = True
            written.append("/")
            written += [path_literal(p) if isinstance(p, str) else Ref(p.name or "") for p in segment]
        pieces = path_pieces(self.source.path or ((),), self.used, lean=self.lean)
        if has_own or not any(is_stretch(segment) for segment in self.source.path or ()):
            return [(pieces, tuple(written) if has_own else ("/",))]
        if len(self.source.path or ()) == 1:
            return [(pieces, tuple(written))]  # all of the path, which has a segment at least
        full = tuple(
            CaptureGroup(p.name, _ONE_OR_MORE)
            if isinstance(p, CaptureGroup) and _is_group_of_segments(p)
            else p
            for p in pieces
        )
        empty = tuple(piece for piece in pieces if not _is_group_of_segments(piece))
        return [(full, tuple(written)), (empty, ("/",))]

    def _require_no_moves(self) -> None:
        for ref in _refs(self.target):
            if ref.detail is not None:
                message = f"it writes {{{ref.name}}} in the form {ref.detail}"
                raise CannotExpress(message)
        for segment in self.target.path or ():
            for ref in (piece for piece in segment if isinstance(piece, Capture)):
                kind, capture = self.captured[ref.name or ""]
                if kind == "host" or (
                    kind == "value" and not _is_harmless(capture) and capture.detail is not None
                ):
                    self._refuse_move(ref)
        for entry in self.target.query or ():
            for ref in (piece for piece in entry.value or () if isinstance(piece, Capture)):
                kind, capture = self.captured[ref.name or ""]
                if kind != "value" and not (kind == "segment" and _is_harmless(capture)):
                    self._refuse_move(ref)

    def _refuse_move(self, ref: Capture) -> None:
        message = (
            f"{{{ref.name}}} moves to another part of the URL, where characters are written in another way"
        )
        raise CannotExpress(message)

    def _moved_openly(self) -> str | None:
        """Return the one capture of a value that moves into the path, whatever it holds."""
        refs = [p.name for segment in self.target.path or () for p in segment if isinstance(p, Capture)]
        moved = [
            name
            for name in refs
            if self.captured[name or ""][0] == "value"
            and not is_of_class(self.captured[name or ""][1].detail)
        ]
        moved = [name for name in moved if self.captured[name or ""][1].detail is None]
        if len(moved) > 1:
            message = "more than one value moves into the path, where `+` and `?` are written in another way"
            raise CannotExpress(message)
        return moved[0] if moved else None

    def _dotted(self, pieces: Pieces) -> Iterator[str]:
        """Yield expressions of URLs for which the right side would have a dot segment."""
        own = {segment[0] for segment in as_refs(self.source.path or ()) if len(segment) == 1}
        for segment in self.target.path or ():
            refs = [piece for piece in segment if isinstance(piece, Capture)]
            literal = "".join(path_literal(piece) for piece in segment if isinstance(piece, str))
            open_refs = [ref for ref in refs if not _is_harmless(self.captured[ref.name or ""][1])]
            kinds = {self.captured[ref.name or ""][0] for ref in refs}
            if not refs or "segments" in kinds or (len(segment) == 1 and segment[0] in own):
                continue
            if kinds == {"segment"} and (literal.strip(".") or len(open_refs) < len(refs)):
                continue
            if len(refs) > 1 or (literal and not literal.strip(".")):
                message = "what it writes may be a dot segment"
                raise CannotExpress(message)
            if open_refs:
                yield self._with_dots(pieces, segment, kinds)

    def _with_dots(self, pieces: Pieces, segment: Text, kinds: set[str]) -> str:
        name = next(piece.name for piece in segment if isinstance(piece, Capture)) or ""
        if kinds == {"segment"}:
            home = next(s for s in self.source.path or () if name in [_name(p) for p in s])
            if sum(isinstance(piece, Capture) for piece in home) > 1:
                message = "what it writes may be a dot segment"
                raise CannotExpress(message)
            dots = r"\.\.?"
        else:
            before = r"[^&;]*/" if isinstance(segment[0], str) else r"(?:[^&;]*/)?"
            behind = r"/[^&;]*" if isinstance(segment[-1], str) else r"(?:/[^&;]*)?"
            dots = rf"{before}\.\.?{behind}"
            if not self.lean:
                end = "(?=/)" if isinstance(segment[-1], str) else "(?=[/&]|$)"
                dots = rf"(?>{before}\.\.?{end}[^&;]*)"
        return without_groups(
            tuple(
                CaptureGroup(p.name, dots) if isinstance(p, CaptureGroup) and p.name == name else p
                for p in pieces
            )
        )


def _kept(rule: Rule, source: Pattern, *, lean: bool) -> Iterator[ExpressionStep]:
    hosts = HostPatterns(rule.site, source, None, (), lean=lean)
    query = Query(source.query or (), None, (), lean=lean)
    variants: list[Variant]
    if query.rest is None:
        variants, more = query.variants(), []
    else:
        variants, more = (
            [((r"(?:\?.*)?",), ())],
            [rf"[^?]*{each}" for each in condition(source.query or (), lean=lean)],
        )
    needs, forbids = conditions(rule, needs_site=False, lean=lean)
    for (host, _), (found, _) in product(hosts.variants(), variants):
        site = (on_site(rule.site, lean=lean),) if hosts.needs_site else ()
        pieces = (
            *_scheme(source, source, ())[0],
            "://",
            *host,
            *path_pieces(source.path or ((),), (), lean=lean),
            *found,
        )
        yield ExpressionStep(pieces, None, (*site, *needs, *more), forbids)


def conditions(
    rule: Rule, *, needs_site: bool, lean: bool
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return what the URL must and must not begin with: its site, the conditions of the rule."""
    needs = [on_site(rule.site, lean=lean)] if needs_site else []
    for text in rule.when:
        needs += _condition(text, lean=lean)
    forbids = [tuple(_condition(text, lean=lean)) for text in rule.unless]
    forbids += [(on_site(site, lean=lean),) for site in rule.except_sites]
    return tuple(needs), tuple(forbids)


def _condition(text: str, *, lean: bool) -> list[str]:
    pattern = Pattern.parse(text, is_condition=True)
    scheme = pattern.scheme[0] if pattern.scheme and isinstance(pattern.scheme[0], str) else SCHEME
    host = (
        ("[^/]+" if lean else "[^/]++")
        if pattern.host is None
        else without_groups(HostPatterns(ANY_SITE, pattern, None, (), lean=lean).variants()[0][0])
    )
    path = r"[^?]*" if pattern.path is None else without_groups(path_pieces(pattern.path, (), lean=lean))
    end = r"(?:\?|$)" if pattern.path is not None else "/" if pattern.host is not None else ""
    start = f"{scheme}://{host}"
    found = [f"{start}{path}{each}" for each in condition(pattern.query or (), lean=lean)]
    return [f"{start}{path if pattern.path is not None else ''}{end}", *found]


def _scheme(source: Pattern, target: Pattern, used: set[str] | tuple[()]) -> tuple[Pieces, Filled]:
    piece = (source.scheme or ("",))[0]
    written = (target.scheme or ("",))[0]
    filled: Filled = (written.lower(),) if isinstance(written, str) else (Ref(written.name or ""),)
    if isinstance(piece, str):
        return (piece.lower(),), filled
    return (
        (CaptureGroup(piece.name, SCHEME),) if piece.name is not None and piece.name in used else (SCHEME,)
    ), filled


def path_pieces(path: tuple[Text, ...], used: set[str] | tuple[()], *, lean: bool) -> Pieces:
    """Return a path as an expression, each segment with the slash before it."""
    pieces: list[str | CaptureGroup] = []
    for segment in path:
        if not is_stretch(segment):
            pieces += ["/", *component(segment, SEGMENT, used, lean=lean)]
            continue
        name = _name(segment[0])
        pieces.append(CaptureGroup(name, _ANY_NUMBER) if name is not None and name in used else _ANY_NUMBER)
    return tuple(pieces)


def _is_group_of_segments(piece: str | CaptureGroup) -> bool:
    return isinstance(piece, CaptureGroup) and piece.expression == _ANY_NUMBER


def _escaping(step: ExpressionStep, moved: str) -> Iterator[ExpressionStep]:
    """Yield steps that write a character of the value as it will be written in the path."""
    pieces = step.pieces
    place = next(
        place for place, piece in enumerate(pieces) if isinstance(piece, CaptureGroup) and piece.name == moved
    )
    mark = next(place for place, piece in enumerate(pieces) if str(piece).startswith(r"\?"))
    url = without_groups(pieces[:mark])
    before = without_groups(pieces[mark:place]).removeprefix(r"\?")
    behind = without_groups(pieces[place + 1 :])
    for character, triplet in _ESCAPES:
        split = (
            *(CaptureGroup(_URL, url), r"\?", CaptureGroup(_HEAD, f"{before}{UNESCAPED}")),
            *(f"\\{character}", CaptureGroup(_TAIL, f"[^&;]*{behind}")),
        )
        filled = (Ref(_URL), "?", Ref(_HEAD), triplet, Ref(_TAIL))
        yield replace(step, pieces=split, filled=filled, may_have_dots=False)


def _is_harmless(capture: Capture) -> bool:
    """Whether what was captured reads the same in every part of a URL, and is not a dot segment."""
    if capture.detail is None or is_of_class(capture.detail):
        return capture.detail is not None
    return all(
        item.replace("_", "").replace("-", "").isalnum() and item.isascii()
        for item in capture.detail.split("|")
    )


def _refs(target: Pattern) -> Iterator[Capture]:
    texts = [target.scheme or (), *(target.host or ()), *(target.path or ())]
    texts += [(entry.several,) if entry.several else entry.value or () for entry in target.query or ()]
    for text in texts:
        yield from (piece for piece in text if isinstance(piece, Capture))


def _name(piece: str | Capture) -> str | None:
    return piece.name if isinstance(piece, Capture) else None
