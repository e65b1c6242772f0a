"""What one rule says about another: refinement, the reverse of a rule, and two rules in a row as one.

Refinement is DustBuster's (Bar-Yossef, Keidar, Schonfeld, section 4.3): a rule with more context on
both sides, alike, says nothing new where the shorter one holds. DustBuster tries the reverse of a rule when
the direction that shrinks a URL fails. Composition is one rule that does the work of two in a row, so that a
chain learned in steps needs one pass.

In a chain of rewrites, a capture of the second rule takes whatever the first one writes there, text and
captures alike. Where the second would have to look inside a captured piece, or where the first carries a
piece from one part of the URL to another (which changes what the piece may hold), one rule cannot say it:
then there is no answer, rather than one that is nearly right.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from undust.rules.language import Problem, Rule
from undust.rules.pattern import Capture, Parameter, Pattern, Text, is_stretch, written

if TYPE_CHECKING:
    from collections.abc import Iterator


_TOKEN = re.compile(r"[A-Za-z0-9]+|%[0-9A-Fa-f]{2}|.", re.DOTALL)

Tokens = tuple[str, ...]
_START, _END = "^ start", "$ end"  # no token of a text is longer than one character and has a space


@lru_cache(1 << 16)
def tokens_of(text: str) -> Tokens:
    """Return the tokens of one side of a `replace` rule; an anchor is a token of its own.

    >>> tokens_of("^http://a%20b")
    ('^ start', 'http', ':', '/', '/', 'a', '%20', 'b')
    """
    start, text = text.startswith("^"), text.removeprefix("^")
    end, text = text.endswith("$"), text.removesuffix("$")
    return (_START,) * start + tuple(_TOKEN.findall(text)) + (_END,) * end


def refines(rule: Rule, other: Rule) -> bool:
    """Whether `rule` is `other` with the same text added around both sides, in either direction."""
    if rule.kind != "replace" or other.kind != "replace":
        return False
    sides = tokens_of(rule.source), tokens_of(rule.target or "")
    shorter = tokens_of(other.source), tokens_of(other.target or "")
    return _refines(sides, shorter) or _refines(sides, shorter[::-1])


def is_opposite(rule: Rule, other: Rule) -> bool:
    """Whether `rule` undoes `other`: the same two texts, swapped."""
    kinds = rule.kind == other.kind == "replace"
    return kinds and (rule.source, rule.target) == (other.target, other.source)


def _refines(sides: tuple[Tokens, Tokens], shorter: tuple[Tokens, Tokens]) -> bool:
    (source, target), (inner, image) = sides, shorter
    if len(source) - len(inner) != len(target) - len(image):
        return False
    return any(
        source[:place] + image + source[place + len(inner) :] == target
        for place in _inner_places(inner, source)
    )


def _inner_places(inner: Tokens, outer: Tokens) -> Iterator[int]:
    return (
        place for place in range(len(outer) - len(inner) + 1) if outer[place : place + len(inner)] == inner
    )


def compose(first: Rule, second: Rule) -> tuple[Rule, ...]:
    """Return the rules that do in one step what `first` and then `second` do; none if there is no such rule.

    >>> first = Rule.parse('replace "/story_" -> "/story.php3?id="', site="forum.test")
    >>> second = Rule.parse('replace ".php3?" -> "?"', site="forum.test")
    >>> [str(rule) for rule in compose(first, second)]
    ['replace "/story_" → "/story?id="']

    Two texts can overlap in several ways, so `replace` rules may have several compositions. Conditions
    test a URL between the two steps, which one rule cannot see: rules that have any do not compose,
    and neither do rules of different sites.
    """
    conditions = (*first.when, *first.unless, *second.when, *second.unless)
    if first.site != second.site or conditions or first.except_sites != second.except_sites:
        return ()
    if first.kind == second.kind == "replace":
        return tuple(_compose_texts(first, second))
    if first.kind == second.kind == "rewrite":
        target = chained(first.source, first.target or "", second.source, second.target or "")
        if target is not None:
            return (Rule(first.site, "rewrite", first.source, target, except_sites=first.except_sites),)
    return ()


def _compose_texts(first: Rule, second: Rule) -> Iterator[Rule]:
    source, middle = tokens_of(first.source), tokens_of(first.target or "")
    wanted, target = tokens_of(second.source), tokens_of(second.target or "")
    for shift in range(1 - len(wanted), len(middle)):
        start, end = max(shift, 0), min(shift + len(wanted), len(middle))
        if middle[start:end] != wanted[start - shift : end - shift]:
            continue
        before, after = wanted[: start - shift], wanted[end - shift :]
        left = before + source + after
        right = middle[:start] + target + middle[end:]
        if left != right and _START not in left[1:] and _END not in left[:-1]:
            yield Rule(
                first.site, "replace", _text_of(left), _text_of(right), except_sites=first.except_sites
            )


def _text_of(tokens: Tokens) -> str:
    return "".join({_START: "^", _END: "$"}.get(token, token) for token in tokens)


_NAMED_CAPTURE = re.compile(r"\{([A-Za-z_]\w*)(\*\*)?(?::([^{}]*))?\}")
_FORGOTTEN = re.compile(r"\{\*")


def reversed_rule(rule: Rule) -> Rule | None:
    """Return the rule that undoes another; None if it removes something that cannot be restored.

    >>> there = Rule.parse("rewrite {s}://{h}/story_{n:int} -> {s}://{h}/story?id={n}", site="forum.test")
    >>> print(reversed_rule(there))
    rewrite {s}://{h}/story?id={n:int} → {s}://{h}/story_{n}
    """
    if rule.target is None:
        return None
    if rule.kind == "rewrite":
        sides = _swapped(rule.source, rule.target)
    else:
        sides = (rule.target, rule.source) if rule.target.strip("^$") else None
    if sides is None or rule.when or rule.unless:
        return None
    try:
        return Rule(rule.site, rule.kind, *sides, except_sites=rule.except_sites, learned_by=rule.learned_by)
    except Problem:
        return None


def _swapped(source: str, target: str) -> tuple[str, str] | None:
    captures = {found[1]: found[0] for found in _NAMED_CAPTURE.finditer(source)}
    written = [found[1] for found in _NAMED_CAPTURE.finditer(target)]
    has_forms = any(found[2] or found[3] for found in _NAMED_CAPTURE.finditer(target))
    if _FORGOTTEN.search(source) or has_forms or sorted(captures) != sorted(written):
        return None
    left = _NAMED_CAPTURE.sub(lambda found: captures[found[1]], target)
    return left, _NAMED_CAPTURE.sub(lambda found: f"{{{found[1]}}}", source)


Bound = Text | tuple[Text, ...] | tuple[Parameter, ...]
Bindings = dict[str, Bound]


def chained(source: str, middle: str, wanted: str, target: str) -> str | None:
    """Return the right side of `source → …` that does `source → middle` and then `wanted → target`."""
    left, read_second = Pattern.parse(source), Pattern.parse(wanted)
    homes = {capture.name: (place, capture.is_many) for capture, place in _places(left)}
    # A right side does not show how much a name holds; the left side that captured it does.
    long_names = [name for name, (_, is_many) in homes.items() if name and is_many]
    written_first = Pattern.parse(_with_stars(middle, long_names))
    if any(homes[capture.name][0] != place for capture, place in _places(written_first)):
        return None
    bound: Bindings = {}
    fits = (
        _bind_text(read_second.scheme or (), written_first.scheme or (), bound)
        and _bind_host(read_second, written_first, bound)
        and _bind_texts(read_second.path or (), written_first.path or (), bound)
        and _bind_query(read_second.query or (), written_first.query or (), bound)
    )
    return _filled(Pattern.parse(target), bound) if fits else None


def _with_stars(text: str, names: list[str]) -> str:
    return re.sub(rf"\{{({'|'.join(names)})(?=[:}}])", r"{\1**", text) if names else text


def _without_stars(text: str) -> str:
    return re.sub(r"\*\*(?=[:}])", "", text)


def _places(pattern: Pattern) -> Iterator[tuple[Capture, str]]:
    """Yield each named capture with the part of the URL it is in."""
    parts: dict[str, tuple[Text, ...]] = {
        "scheme": (pattern.scheme or (),),
        "host": pattern.host or (),
        "path": pattern.path or (),
        "value": tuple(entry.value or () for entry in pattern.query or ()),
        "query": tuple((entry.several,) for entry in pattern.query or () if entry.several),
    }
    for place, texts in parts.items():
        for piece in (piece for text in texts for piece in text):
            if isinstance(piece, Capture) and piece.name is not None:
                yield piece, place


def _bind_host(wanted: Pattern, given: Pattern, bound: Bindings) -> bool:
    match wanted.host, given.host:
        case ((Capture(is_many=False, detail=None) as capture,),), ((Capture(is_many=False),),):
            # A capture alone is the whole host with its port; with a port written, it is not.
            return wanted.port == given.port and _bind(capture, given.host[0], bound)
        case _:
            hosts = [tuple(map(written, each.host or ())) for each in (wanted, given)]
            return hosts[0] == hosts[1] and wanted.port == given.port and "{" not in "".join(hosts[0])


def _bind_text(wanted: Text, given: Text, bound: Bindings) -> bool:
    """Let a capture that is a whole part take any text written there; text must be equal."""
    match wanted:
        case (Capture(is_many=False, detail=None) as capture,) if given:
            return _bind(capture, given, bound)
        case _ if all(isinstance(piece, str) for piece in (*wanted, *given)):
            return wanted == given
        case _:
            return False


def _bind(capture: Capture, given: Text | tuple[Text, ...] | tuple[Parameter, ...], bound: Bindings) -> bool:
    if capture.name is not None:
        bound[capture.name] = given
    return True


def _bind_texts(wanted: tuple[Text, ...], given: tuple[Text, ...], bound: Bindings) -> bool:
    place = next((place for place, text in enumerate(wanted) if is_stretch(text)), None)
    if place is None:
        # A stretch in `given` has a length that is not known yet, so only another stretch can take it.
        return (
            len(wanted) == len(given)
            and not any(map(is_stretch, given))
            and all(_bind_text(*pair, bound) for pair in zip(wanted, given, strict=True))
        )
    tail = len(wanted) - place - 1
    if len(given) < place + tail:
        return False
    cut = len(given) - tail
    stretch = wanted[place][0]
    return (
        isinstance(stretch, Capture)
        and _bind(stretch, given[place:cut], bound)
        and _bind_texts(wanted[:place], given[:place], bound)
        and _bind_texts(wanted[place + 1 :], given[cut:], bound)
    )


def _bind_query(wanted: tuple[Parameter, ...], given: tuple[Parameter, ...], bound: Bindings) -> bool:
    # A captured list may hold the very parameter that is wanted by name: then there is no answer.
    if any(entry.several for entry in given) and any(not _takes_all(entry) for entry in wanted):
        return False
    left = list(given)
    for entry in wanted:
        if _takes_all(entry) and entry.several is not None:
            _bind(entry.several, tuple(left), bound)
            left = []
            continue
        taken = next((each for each in left if each.name == entry.name), None)
        if taken is None or entry.several is not None or not _bind_value(entry, taken, bound):
            return False
        left.remove(taken)
    return not left


def _takes_all(entry: Parameter) -> bool:
    return entry.several is not None and entry.several.detail is None


def _bind_value(wanted: Parameter, given: Parameter, bound: Bindings) -> bool:
    if wanted.value is None or given.value is None:
        return wanted.value == given.value
    return _bind_text(wanted.value, given.value, bound)


def _filled(target: Pattern, bound: Bindings) -> str | None:
    """Return the second right side with every name replaced by what it took; None if a form forbids it."""
    try:
        scheme = _fill_text(target.scheme or (), bound)
        host = [_fill_text(label, bound) for label in target.host or ()]
        path = [text for segment in target.path or () for text in _fill_segment(segment, bound)]
        query = [text for entry in target.query or () for text in _fill_entry(entry, bound)]
    except _CannotFillError:
        return None
    port = f":{target.port}" if target.port else ""
    text = f"{scheme}://{'.'.join(host)}{port}/{'/'.join(path)}" + (f"?{'&'.join(query)}" if query else "")
    return _without_stars(text)


class _CannotFillError(Exception):
    pass


def _fill_text(text: Text, bound: Bindings) -> str:
    return "".join(
        written(_taken(piece, bound)) if isinstance(piece, Capture) else piece  # type: ignore[arg-type]
        for piece in text
    )


def _fill_segment(segment: Text, bound: Bindings) -> list[str]:
    match segment:
        case (Capture() as capture,) if (taken := _taken(capture, bound)) and isinstance(taken[0], tuple):
            return [written(text) for text in taken]
        case (Capture() as capture,) if not _taken(capture, bound):
            return []
        case _:
            return [_fill_text(segment, bound)]


def _fill_entry(entry: Parameter, bound: Bindings) -> list[str]:
    if entry.several is not None:
        return [str(taken) for taken in _taken(entry.several, bound)]
    if entry.value is None:
        return [entry.name]
    return [f"{entry.name}={_fill_text(entry.value, bound)}"]


def _taken(capture: Capture, bound: Bindings) -> Bound:
    """Return what a capture of the second rule took, with the form the second rule gives it."""
    taken = bound[capture.name or ""]
    if capture.detail is None:
        return taken
    match taken:
        case (Capture(detail=None) as inner,):
            return (Capture(inner.name, inner.is_many, capture.detail),)
        case ((Capture(detail=None) as inner,),):
            return ((Capture(inner.name, inner.is_many, capture.detail),),)
        case (Parameter(several=Capture(detail=None) as inner),):
            return (Parameter("", several=Capture(inner.name, inner.is_many, capture.detail)),)
        case _:
            raise _CannotFillError
