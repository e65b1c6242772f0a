"""The edits that learners ask for, by what they do; and the parameters of visits, which name no page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undust.edits.edit import EDIT_ANYTHING as OPEN
from undust.edits.edit import THE_SAME as SAME
from undust.edits.edit import Rewrite, Several, Swap
from undust.edits.shapes import EDIT_HOST, PATH, REST, Guard, Named, Shape, ShapeCapture, ShapeParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.edits.shapes import Run


_NAMES = "abcdefgijklmnoqrtuvwxyz"
"""Names of captures; `h`, `p` and `s` are taken."""
TRACKING = (
    *("utm_*", "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid"),
    *("_ga", "_gl", "srsltid", "wbraid", "gbraid", "ttclid", "twclid"),
)
"""Added by other sites to count where visitors come from."""
SESSIONS = (
    *("sid", "PHPSESSID", "phpsessid", "jsessionid", "JSESSIONID", "sessionid", "session_id", "session"),
    *("osCsid", "zenid", "CFID", "CFTOKEN"),
)
"""Added by the site itself to know a visitor without cookies."""
_VISITS = frozenset(name.lower() for name in (*TRACKING, *SESSIONS) if not name.endswith("*"))
_FAMILIES = tuple(name.removesuffix("*") for name in TRACKING if name.endswith("*"))


def dropped(*names: str) -> Rewrite:
    """Return that parameters are left out, whatever their values; a trailing `*` makes a prefix.

    >>> dropped("sid").text
    'rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}'
    >>> dropped("utm_*", "sid").text
    'rewrite {s}://{h}/{p**}?{**:sid|utm_*}&{rest**} → {s}://{h}/{p}?{rest}'
    """
    is_one = len(names) == 1 and not names[0].endswith("*")
    part = ShapeParameter(names[0]) if is_one else Named(tuple(sorted(names)))
    return Rewrite(source=Shape(query=(part, REST)), target=SAME)


def dropped_alone(name: str) -> Rewrite:
    """Return that a parameter is left out where it is the only one.

    >>> dropped_alone("ns").text
    'rewrite {s}://{h}/{p**}?ns={**} → {s}://{h}/{p}'
    """
    return Rewrite(source=Shape(query=(ShapeParameter(name),)), target=replace(SAME, query=()))


def dropped_together(*names: str) -> Rewrite:
    """Return that parameters are left out where all of them are there.

    >>> dropped_together("a", "b").text
    'rewrite {s}://{h}/{p**}?a={**}&b={**}&{rest**} → {s}://{h}/{p}?{rest}'
    """
    parts = tuple(ShapeParameter(name) for name in sorted(names))
    return Rewrite(source=Shape(query=(*parts, REST)), target=SAME)


def dropped_value(name: str, value: str | None) -> Rewrite:
    """Return that a parameter is left out where it has one value; None is no `=` at all.

    >>> dropped_value("page", "1").text
    'rewrite {s}://{h}/{p**}?page=1&{rest**} → {s}://{h}/{p}?{rest}'
    """
    run = None if value is None else (value,)
    return Rewrite(source=Shape(query=(ShapeParameter(name, run), REST)), target=SAME)


def only(*names: str) -> Rewrite:
    """Return that all parameters but some are left out.

    >>> only("id").text
    'rewrite {s}://{h}/{p**}?{k**:id}&{**} → {s}://{h}/{p}?{k}'
    """
    source = Shape(query=(Named(tuple(sorted(names)), "k"), ShapeCapture(is_many=True)))
    return Rewrite(source=source, target=Shape(path=((ShapeCapture("p"),),), query=(ShapeCapture("k"),)))


def masked(*names: str) -> Rewrite:
    """Return that only the key leaves out the values of parameters.

    >>> masked("sid").text
    'rewrite {s}://{h}/{p**}?sid={a}&{rest**} → {s}://{h}/{p}?sid={a:any}&{rest}'
    """
    captures = [ShapeCapture(name) for name in _NAMES[: len(names)]]
    parts = [ShapeParameter(name, (capture,)) for name, capture in zip(sorted(names), captures, strict=True)]
    return hidden(Shape(query=(*parts, REST)), [capture.name for capture in captures])


def on_any_path(name: str) -> Rewrite:
    """Return that only the key leaves out the path of URLs with a parameter.

    >>> on_any_path("idx").text
    'rewrite {s}://{h}/{p**}?idx={a}&{rest**} → {s}://{h}/{p:any}?idx={a}&{rest}'
    """
    return hidden(Shape(query=(ShapeParameter(name, (ShapeCapture("a"),)), REST)), [PATH.name])


def on_one_path(depth: int, name: str, path: Sequence[str], more: Sequence[str]) -> Rewrite:
    """Return that URLs with a parameter on any path of a depth are on one path, with more parameters.

    >>> on_one_path(1, "id", ["index.php"], ["route=item"]).text
    'rewrite {s}://{h}/{*}?id={a}&{rest**} → {s}://{h}/index.php?id={a}&route=item&{rest} unless ?route={**}'
    """
    shared = ShapeParameter(name, (ShapeCapture("a"),))
    pairs = [each.partition("=") for each in more]
    written = [ShapeParameter(each, (value,) if equals else None) for each, equals, value in pairs]
    source = Shape(path=((ShapeCapture(),),) * depth, query=(shared, REST))
    target = Shape(path=tuple((each,) for each in path), query=(shared, *written, ShapeCapture("rest")))
    unless = tuple(Guard(query=(ShapeParameter(each),)) for each, _, _ in pairs)
    return Rewrite(source=source, target=target, unless=unless)


def hidden(source: Shape, names: Sequence[str]) -> Rewrite:
    """Return that only the key leaves out some captures of a shape."""
    return Rewrite(source=source, target=source.masked(frozenset(names)))


def respelled(form: str, *, path: bool = False) -> Rewrite:
    """Return that parameters, or paths, are written in another form.

    >>> respelled("sorted").text
    'rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}'
    """
    if path:
        return Rewrite(target=Shape(path=((ShapeCapture("p", form=form),),), query=(ShapeCapture("rest"),)))
    return Rewrite(target=replace(SAME, query=(ShapeCapture("rest", form=form),)))


def scheme_to(scheme: str) -> Rewrite:
    """Return that one scheme stands for both.

    >>> scheme_to("https").text
    'rewrite http://{h}/{p**}?{rest**} → https://{h}/{p}?{rest}'
    """
    other = "http" if scheme == "https" else "https"
    return Rewrite(source=replace(OPEN, scheme=other), target=replace(SAME, scheme=scheme))


def host_to(old: str, new: str) -> Rewrite:
    """Return that one host stands for another.

    >>> host_to("www.a.test", "a.test").text
    'rewrite {s}://www.a.test/{p**}?{rest**} → {s}://a.test/{p}?{rest}'
    """
    return Rewrite(source=replace(OPEN, host=_labels(old)), target=replace(SAME, host=_labels(new)))


def _labels(host: str) -> tuple[Run, ...]:
    return ((host,),)


def without_slash() -> Rewrite:
    """Return that a slash at the end of a path is left out."""
    x = ShapeCapture("x")
    source = Shape(path=((PATH,), (x,), ("",)))
    return Rewrite(
        source=source, target=Shape(path=((ShapeCapture("p"),), (x,)), query=(ShapeCapture("rest"),))
    )


def last_segment_dropped(name: str, *, slash: bool) -> Rewrite:
    """Return that a last segment, such as an index page, is left out.

    >>> last_segment_dropped("index.html", slash=True).text
    'rewrite {s}://{h}/{p**}/index.html?{rest**} → {s}://{h}/{p}/?{rest}'
    """
    target = ((ShapeCapture("p"),), ("",)) if slash else ((ShapeCapture("p"),),)
    return Rewrite(
        source=Shape(path=((PATH,), (name,))), target=Shape(path=target, query=(ShapeCapture("rest"),))
    )


def ending_dropped(ending: str) -> Rewrite:
    """Return that the ending of a file's name is left out."""
    x = ShapeCapture("x")
    return Rewrite(
        source=Shape(path=((PATH,), (x, ending))),
        target=Shape(path=((ShapeCapture("p"),), (x,)), query=(ShapeCapture("rest"),)),
    )


def first_segment_dropped(name: str) -> Rewrite:
    """Return that a first segment is left out."""
    return Rewrite(source=Shape(path=((name,), (PATH,))), target=SAME)


def second_segment_dropped(name: str) -> Rewrite:
    """Return that a segment behind any first one is left out."""
    a = ShapeCapture("a")
    return Rewrite(
        source=Shape(path=((a,), (name,), (PATH,))),
        target=Shape(path=((a,), (ShapeCapture("p"),)), query=(ShapeCapture("rest"),)),
    )


def capitalised(folder: str) -> Rewrite:
    """Return that names in a folder begin with a capital."""
    source = Shape(path=((folder,), (ShapeCapture("x"),)))
    target = Shape(path=((folder,), (ShapeCapture("x", form="capital"),)), query=(ShapeCapture("rest"),))
    return Rewrite(source=source, target=target)


def unpadded(source: Shape) -> Rewrite:
    """Return that a number, the only capture called `n`, loses a zero before it; again and again."""
    number = ShapeCapture("n", "int")

    def padded(run: Run) -> Run:
        return tuple(piece for each in run for piece in (("0", each) if each == number else (each,)))

    parts = tuple(
        ShapeParameter(part.name, padded(part.value))
        if isinstance(part, ShapeParameter) and part.value
        else part
        for part in source.query
    )
    path = tuple(map(padded, source.path))
    return Rewrite(source=replace(source, path=path, query=parts), target=source.written())


def swapped_inside(name: str, joint: str) -> Rewrite:
    """Return that the order of two things inside a value does not matter: the smaller URL of both stands.

    >>> swapped_inside("t", "+").text
    'rewrite {s}://{h}/{p**}?t={a}+{b}&{rest**} → {s}://{h}/{p}?t={b}+{a}&{rest}'
    """
    a, b = ShapeCapture("a"), ShapeCapture("b")
    source = Shape(query=(ShapeParameter(name, (a, joint, b)), REST))
    target = Shape(
        path=((ShapeCapture("p"),),), query=(ShapeParameter(name, (b, joint, a)), ShapeCapture("rest"))
    )
    return Rewrite(source=source, target=target)


def facets_sorted(names: Sequence[str], longest: int, behind: Sequence[str]) -> Several:
    """Return that segments which begin with names are sorted by these names.

    Args:
        names: With the sign behind each, in order.
        longest: The number of such segments in one URL.
        behind: The segments behind them: `*`, or nothing.

    >>> facets_sorted(["color-", "size-"], 2, [""]).text
    'rewrite {s}://{h}/{p**}/size-{a}/color-{b}/?{rest**} → {s}://{h}/{p}/color-{b}/size-{a}/?{rest}'

    """
    a, b = ShapeCapture("a"), ShapeCapture("b")
    parts: list[Rewrite] = []
    for more in range(longest - 1):
        open_segments = ["*"] * more + [*behind]
        rest = tuple(
            (ShapeCapture(name),) if each else ("",)
            for name, each in zip(_NAMES[2:], open_segments, strict=False)
        )
        for at, first in enumerate(names):
            for second in names[at + 1 :]:
                source = Shape(path=((PATH,), (second, a), (first, b), *rest))
                target = Shape(path=((PATH,), (first, b), (second, a), *rest))
                parts.append(Rewrite(source=source, target=target.written()))
    return Several(parts=tuple(parts))


def separated_by_ampersands(*then: Rewrite) -> Several:
    """Return that `;` separates parameters as `&` does, so that another edit can meet them."""
    return Several(parts=(respelled("amp"), *then))


def swapped(old: str, new: str) -> Swap:
    """Return that a piece of text becomes another.

    >>> swapped("&amp;", "&").text
    'replace "&amp;" → "&"'
    """
    return Swap(old=old, new=new)


__all__ = [
    "EDIT_HOST",
    "OPEN",
    "SAME",
    "SESSIONS",
    "TRACKING",
    "capitalised",
    "dropped",
    "dropped_alone",
    "dropped_together",
    "dropped_value",
    "ending_dropped",
    "facets_sorted",
    "first_segment_dropped",
    "hidden",
    "host_to",
    "last_segment_dropped",
    "masked",
    "names_visit",
    "on_any_path",
    "on_one_path",
    "only",
    "respelled",
    "scheme_to",
    "second_segment_dropped",
    "separated_by_ampersands",
    "swapped",
    "swapped_inside",
    "unpadded",
    "without_slash",
]


def names_visit(name: str) -> bool:
    """Return whether a parameter, or a family of them, distinguishes visits on most sites that have it.

    >>> [name for name in ("utm_source", "utm_*", "GCLID", "id", "side", "u*") if names_visit(name)]
    ['utm_source', 'utm_*', 'GCLID']
    """
    return name.lower() in _VISITS or name.startswith(_FAMILIES)
