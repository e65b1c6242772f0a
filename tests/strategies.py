"""Random URLs and rules that meet: drawn from one small alphabet, so that rules match, chain, cycle and grow.

`urls()` are well-formed, `hostile_urls()` are whatever a crawler finds. `rules()` are rule objects with the
keys of a rule file, always readable; `rule_sets()` are lists of them, with the traps set on purpose.
"""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from undust.rules import Rule

RuleFields = dict[str, Any]

HOSTS = ("example.com", "www.example.com", "www2.example.com", "a.b.example.com", "x.org", "alice.github.io")
ODD_HOSTS = (
    "example.com.",
    "localhost",
    "127.0.0.1",
    "[2001:db8::1]",
    "xn--bcher-kva.example",
    "a..b",
    "EXAMPLE.com",
)
SEGMENTS = (
    "a",
    "b",
    "A",
    "a.a",
    "index.html",
    "story_1",
    "1",
    "12ab",
    "de",
    "a-b-c",
    "x.html",
    "",
    "old",
    "new",
)
ODD_SEGMENTS = (
    "a;v=1",
    "a&b",
    "a+b",
    "%2F",
    "%41",
    "a%2Fb",
    "..",
    ".",
    "%C3%BC",
    "*",
    "~",
    "a$",
    "a=b",
    "@",
    ":",
)
NAMES = ("a", "b", "id", "sid", "utm_a", "utm_b", "ref", "A")
ODD_NAMES = ("", "a[]", "utm_", "a;b", "a+b", "%3D")
VALUES = ("1", "2", "a", "B", "a-b", "x/y", "de", "2024")
ODD_VALUES = ("", "a;b", "a;sid=1", "..", "a=b", "x+y", "%2B", "%3B", "?", "a/../b", "%2C", "*", "ü", "{x}")

SCHEME_PAIRS = (
    ("{s}", ("{s}",)),
    ("http", ("http", "https")),
    ("https", ("http", "https")),
    ("{*}", ("http", "https")),
)
HOST_PAIRS = (
    ("{h}", ("{h}", "www.example.com", "example.com")),
    ("www.{h**}", ("{h}", "www.{h}", "m.{h}", "www.www.{h}")),
    ("{h**}", ("{h}",)),
    ("{l}.example.com", ("{l}.example.com", "example.com", "{l}.{l}.example.com")),
    ("www{n:int}.example.com", ("www.example.com", "www{n}.example.com", "{n}.example.com")),
    ("{*:www|www2}.example.com", ("example.com", "www.example.com")),
    ("example.com", ("www.example.com", "example.com", "x.org")),
    ("{h}:8080", ("{h}", "{h}:8080")),
)
SEGMENT_PATTERNS = (
    "a",
    "b",
    "old",
    "index.html",
    "{X}",
    "{X}",
    "story_{X}",
    "{X}.html",
    "{X}-{Y}",
    "{X:int}",
)
ODD_SEGMENT_PATTERNS = (
    "",
    "{*}",
    "{X:int}{Y:alpha}",
    "{X:a|ab|de}",
    "a{X}a",
    "{X};v={*}",
    "{X}.{Y}",
    "{X:word}",
    "*",
)
TEXT_FORMS = ("", "", "", ":lower", ":capital", ":plain")
LIST_FORMS = ("", "", ":sorted", ":unique", ":first", ":last", ":amp", ":lower", ":plain")
CONDITIONS = (
    "?id={**}",
    "?sid={*}",
    "/a/{**}",
    "/{**}/b",
    "?a=1",
    "http://{h}",
    "{s}://www.{h**}",
    "/",
    "/{*}?b",
    "?{**:utm_*}",
)
TOKENS = (
    "a",
    "b",
    "A",
    "old",
    "new",
    "/",
    "//",
    "?",
    "&",
    "=",
    ".",
    "www.",
    "a.a",
    "index.html",
    "-",
    "sid=1",
    "%2F",
    "story_",
)
SITES = ("example.com", "example.com", "example.com", "*", "x.org")


def mostly(usual: tuple[str, ...], odd: tuple[str, ...]) -> st.SearchStrategy[str]:
    """One of the usual texts, now and then an odd one."""
    return st.sampled_from(usual * 3 + odd)


def parameters() -> st.SearchStrategy[str]:
    """`x`, `x=` or `x=value`, sometimes nothing at all."""
    return st.builds(
        lambda name, rest: name + rest,
        mostly(NAMES, ODD_NAMES),
        st.one_of(st.sampled_from(("", "=")), mostly(VALUES, ODD_VALUES).map("={}".format)),
    )


def urls() -> st.SearchStrategy[str]:
    """Well-formed http(s) URLs without userinfo or fragment, most of them of one site."""
    return st.builds(
        lambda scheme, host, port, path, query: f"{scheme}://{host}{port}/{path}{query}",
        st.sampled_from(("http", "http", "https")),
        mostly(HOSTS, ODD_HOSTS),
        st.sampled_from(("", "", "", ":8080")),
        st.lists(mostly(SEGMENTS, ODD_SEGMENTS), max_size=4).map("/".join),
        st.one_of(st.just(""), st.lists(parameters(), max_size=4).map("&".join).map("?{}".format)),
    )


def hostile_urls() -> st.SearchStrategy[str]:
    """Anything: text, URLs with stray characters, userinfo, fragments, broken ports, long tails."""
    stray = st.sampled_from(
        (" ", "\t", "\n", "\\", "#", "@", ":", "%", "%zz", "[", "]", "\x00", "ü", "\ud800", "//", "?")
    )
    damaged = st.builds(lambda url, at, what: url[:at] + what + url[at:], urls(), st.integers(0, 60), stray)
    long = st.builds(
        lambda url, piece, times: url + piece * times,
        urls(),
        st.sampled_from(("/a", "a", "&a=1", ";")),
        st.integers(1, 400),
    )
    return st.one_of(st.text(max_size=40), st.text(max_size=30).map("http://{}".format), damaged, long)


class Names:
    """Hands out a fresh name for each capture, and remembers what it was captured as."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.lists: list[str] = []

    def fill(self, pattern: str) -> str:
        """The pattern with `X` and `Y` made fresh names."""

        def fresh(_: re.Match[str]) -> str:
            self.texts.append(f"t{len(self.texts)}")
            return "{" + self.texts[-1]

        return re.sub(r"\{[XY]", fresh, pattern)


@st.composite
def left_queries(draw: st.DrawFn, names: Names) -> str:
    """The query of a left side with its `?`, or nothing."""
    params = []
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=2)):
        value = draw(
            st.sampled_from(("", "=", "=1", "={X}", "={X}", "={**}", "={**}", "={X:int}", "={X}-{Y}", "={*}"))
        )
        params.append(name + names.fill(value))
    if draw(st.integers(0, 3)) == 0:
        params.append(draw(st.sampled_from(("{**:utm_*|sid}", "{**:ref}", "{**:a|b}"))))
    if draw(st.integers(0, 4)) == 0:
        names.lists.append("k")
        params.append(draw(st.sampled_from(("{k**:id|a}", "{k**:b*}"))))
    rest = draw(st.sampled_from(("{rest**}", "{rest**}", "{rest**}", "{**}", "")))
    if rest:
        params.insert(draw(st.integers(0, len(params))), rest)
    if rest == "{rest**}":
        names.lists.append("rest")
    return "?" + "&".join(params) if params else ""


@st.composite
def right_queries(draw: st.DrawFn, names: Names) -> str:
    """The query of a right side with its `?`, or nothing."""
    params = [
        f"{{{name}{draw(st.sampled_from(LIST_FORMS))}}}" for name in names.lists if draw(st.integers(0, 5))
    ]
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=2)):
        text = draw(st.sampled_from(("", "=1", "=", "={N}", "={N}", "={N}")))
        if "N" in text:
            known = st.sampled_from(names.texts) if names.texts else st.nothing()
            text = text.replace("N", draw(known) + draw(st.sampled_from(TEXT_FORMS))) if names.texts else ""
        params.insert(draw(st.integers(0, len(params))), name + text)
    return "?" + "&".join(params) if params else ""


@st.composite
def left_paths(draw: st.DrawFn, names: Names) -> tuple[str, bool]:
    """The path of a left side, and whether `{p**}` is in it."""
    patterns = draw(st.lists(mostly(SEGMENT_PATTERNS, ODD_SEGMENT_PATTERNS), max_size=2))
    segments = [names.fill(pattern) for pattern in patterns]
    many = draw(st.sampled_from(("{p**}", "{p**}", "{p**}", "{**}", "")))
    if many or not segments:
        segments.insert(draw(st.integers(0, len(segments))), many)
    return "/" + "/".join(segments), many == "{p**}"


@st.composite
def right_paths(draw: st.DrawFn, names: Names, left: str, *, has_many: bool) -> str:
    """The path of a right side: what the left has, something else put in, taken out or written in a form."""
    segments = [
        re.sub(r"\{(\w+)[^}]*\}", r"{\1}", segment) for segment in left[1:].split("/") if "*" not in segment
    ]
    if names.texts and draw(st.integers(0, 2)) == 0:
        form = draw(st.sampled_from(TEXT_FORMS))
        segments.append(
            draw(st.sampled_from(("{N}", "x{N}", "{N}.html"))).replace(
                "N", draw(st.sampled_from(names.texts)) + form
            )
        )
    if segments and draw(st.integers(0, 2)) == 0:
        segments[draw(st.integers(0, len(segments) - 1))] = draw(st.sampled_from(("a", "b", "new", "")))
    if segments and draw(st.integers(0, 3)) == 0:
        segments.pop()
    if has_many and draw(st.integers(0, 5)):
        for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
            form = draw(st.sampled_from(TEXT_FORMS))
            segments.insert(draw(st.integers(0, len(segments))), f"{{p{form}}}")
    return "/" + "/".join(segments)


@st.composite
def rewrites(draw: st.DrawFn) -> RuleFields:
    """Rules that rewrite, most of them inside one site."""
    names = Names()
    scheme, schemes = draw(st.sampled_from(SCHEME_PAIRS))
    host, hosts = draw(st.sampled_from(HOST_PAIRS))
    path, has_many = draw(left_paths(names))
    query = draw(left_queries(names))
    target = draw(right_paths(names, path, has_many=has_many)) + draw(right_queries(names))
    return {
        "kind": "rewrite",
        "from": f"{scheme}://{host}{path}{query}",
        "to": f"{draw(st.sampled_from(schemes))}://{draw(st.sampled_from(hosts))}{target}",
    }


@st.composite
def masks(draw: st.DrawFn) -> RuleFields:
    """Rules with `:any`: the left side again, some of its captures masked."""
    source = draw(st.sampled_from((
        "{s}://{h}/{p**}?sid={v}&{rest**}", "{s}://{h}/{x}/{y}", "{s}://{h}/{p**}?{rest**}", "{s}://{l}.example.com/{p**}",
        "{s}://{h}/{x:int}?{rest**}", "{s}://{h**}/a/{p**}/b", "http://{h}/story_{x}", "{s}://{h}/{p**}?{k**:a|b}&{rest**}",
    )))  # fmt: skip
    captured = re.findall(r"\{(\w+)", source)
    hidden = draw(st.lists(st.sampled_from(captured), min_size=1, unique=True))
    target = re.sub(
        r"\{(\w+)[^}]*\}", lambda found: "{" + found[1] + (":any" if found[1] in hidden else "") + "}", source
    )
    return {"kind": "rewrite", "from": source, "to": target}


def replaces() -> st.SearchStrategy[RuleFields]:
    """Rules that replace tokens, some of them anchored, some of them growing."""

    def replace(old: str, new: str, anchors: str) -> RuleFields:
        start, end = "^http://" if "^" in anchors else "", "$" if "$" in anchors else ""
        return {"kind": "replace", "from": start + old + end, "to": start + new + end}

    texts = st.lists(st.sampled_from(TOKENS), max_size=2).map("".join)
    return st.builds(replace, texts.filter(bool), texts, st.sampled_from(("", "", "", "$", "^")))


@st.composite
def keeps(draw: st.DrawFn) -> RuleFields:
    """Rules that leave URLs alone."""
    names = Names()
    scheme, host = draw(st.sampled_from(SCHEME_PAIRS))[0], draw(st.sampled_from(HOST_PAIRS))[0]
    return {
        "kind": "keep",
        "from": f"{scheme}://{host}{draw(left_paths(names))[0]}{draw(left_queries(names))}",
    }


@st.composite
def rules(draw: st.DrawFn) -> RuleFields:
    """Any rule, with its site, conditions and status."""
    fields: RuleFields = draw(st.one_of(rewrites(), rewrites(), rewrites(), replaces(), keeps(), masks()))
    fields["site"] = draw(st.sampled_from(SITES))
    for key in ("when", "unless"):
        if draw(st.integers(0, 4)) == 0:
            fields[key] = draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=2))
    if fields["site"] == "*" and draw(st.integers(0, 1)):
        fields["except_sites"] = draw(st.lists(st.sampled_from(("example.com", "x.org")), max_size=2))
    if draw(st.integers(0, 7)) == 0:
        fields["status"] = draw(st.sampled_from(("active", "disabled")))
    return fields


def rewriting(*pairs: tuple[str, str]) -> list[RuleFields]:
    """Rewrites of one site, from the path on."""
    return [
        {"site": "example.com", "kind": "rewrite", "from": "{s}://{h}/" + left, "to": "{s}://{h}/" + right}
        for left, right in pairs
    ]


def replacing(*pairs: tuple[str, str]) -> list[RuleFields]:
    """Replaces of all sites."""
    return [{"site": "*", "kind": "replace", "from": old, "to": new} for old, new in pairs]


TRAPS = (
    rewriting(("a", "b"), ("b", "a")),
    rewriting(("old?a", "a?b=1"), ("a?b=1", "old?a")),
    rewriting(("a", "b"), ("b", "A"), ("A", "a")),
    rewriting(("{x}/{y}", "{y}/{x}")),
    rewriting(("?a={x}&b={y}", "?b={x}&a={y}")),
    rewriting(("{x}/{p**}", "{p}/{x}")),
    rewriting(("{p**}", "{p}/{p}")),
    rewriting(("{p**}", "{p}/a")),
    rewriting(("{p**}?{r**}", "{p}?a=1&{r}")),
    rewriting(("{p**}?{r**}", "{p}?{r}&{r}")),
    replacing(("a", "a.a")),
    replacing(("a", "b"), ("b", "a")),
    replacing(("$", "/")),
)
"""Small rule sets made to cycle or to grow."""


def rule_sets() -> st.SearchStrategy[list[RuleFields]]:
    """Rule sets in file order: random rules, and often a trap among them."""
    return st.builds(
        lambda before, trap, after: before + trap + after,
        st.lists(rules(), max_size=4),
        st.sampled_from(([], *TRAPS)),
        st.lists(rules(), max_size=2),
    )


@st.composite
def limited_rule_sets(draw: st.DrawFn) -> list[RuleFields]:
    """Rule sets without equal rules, some for comparing only, some proposed, some that need each other."""
    by_id = {Rule.from_json(rule).id: rule for rule in draw(rule_sets())}
    ids = [*by_id, "0123456789abcdef"]
    limited = []
    for rule in by_id.values():
        more: RuleFields = {}
        if rule["kind"] != "keep" and draw(st.booleans()):
            more["fetch"] = False
        if draw(st.integers(0, 5)) == 0:
            more["status"] = "proposed"
        if draw(st.integers(0, 2)) == 0:
            more["needs"] = draw(st.lists(st.sampled_from(ids), max_size=2))
        limited.append({**rule, **more})
    return limited
