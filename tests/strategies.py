"""Random URLs and rules that meet: drawn from one small alphabet, so that rules match, chain, cycle and grow.

`urls()` are well-formed, `hostile_urls()` are whatever a crawler finds. `rules()` are rule objects with the
keys of a rule file, always readable; `rule_sets()` are lists of them, with the traps set on purpose.

A URL or a rule is made from a few bytes that hypothesis draws at once (`Choices`). To draw each of its thirty
choices by itself took ten times as long as the tests of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import strategies as st

from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RuleFields = dict[str, Any]
Option = TypeVar("Option")
Made = TypeVar("Made")

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


class Choices:
    """Choices that bytes make. Zeros, to which a failing example shrinks, choose the first and the least."""

    def __init__(self, data: bytes) -> None:
        self._left = iter(data)

    def below(self, count: int) -> int:
        """A number from 0 on."""
        return next(self._left, 0) % count

    def once_in(self, count: int) -> bool:
        """Whether something happens that happens once in so many times."""
        return self.below(count) == count - 1

    def one(self, options: Sequence[Option]) -> Option:
        """One of some options."""
        return options[self.below(len(options))]

    def some(self, options: Sequence[Option], most: int) -> list[Option]:
        """Up to so many of some options, and the same one again and again if it comes so."""
        return [self.one(options) for _ in range(self.below(most + 1))]


def made(make: Callable[[Choices], Made], size: int) -> st.SearchStrategy[Made]:
    """What is made from choices; `size` bytes are enough for nearly all of them."""
    return st.binary(min_size=size, max_size=size).map(lambda data: make(Choices(data)))


def mostly(usual: tuple[str, ...], odd: tuple[str, ...]) -> tuple[str, ...]:
    """The usual texts, and an odd one now and then."""
    return usual * 3 + odd


def parameter(choices: Choices) -> str:
    """`x`, `x=` or `x=value`, sometimes nothing at all."""
    name = choices.one(mostly(NAMES, ODD_NAMES))
    if choices.below(2) == 0:
        return name + choices.one(("", "="))
    return f"{name}={choices.one(mostly(VALUES, ODD_VALUES))}"


def url(choices: Choices) -> str:
    """A well-formed URL."""
    scheme, host = choices.one(("http", "http", "https")), choices.one(mostly(HOSTS, ODD_HOSTS))
    port = choices.one(("", "", "", ":8080"))
    path = "/".join(choices.some(mostly(SEGMENTS, ODD_SEGMENTS), 4))
    query = ""
    if choices.below(2):
        query = "?" + "&".join(parameter(choices) for _ in range(choices.below(5)))
    return f"{scheme}://{host}{port}/{path}{query}"


def urls() -> st.SearchStrategy[str]:
    """Well-formed http(s) URLs without userinfo or fragment, most of them of one site."""
    return made(url, 24)


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


LEFT_VALUES = ("", "=", "=1", "={X}", "={X}", "={**}", "={**}", "={X:int}", "={X}-{Y}", "={*}")


def left_query(choices: Choices, names: Names) -> str:
    """The query of a left side with its `?`, or nothing."""
    params = [name + names.fill(choices.one(LEFT_VALUES)) for name in choices.some(NAMES, 2)]
    if choices.once_in(4):
        params.append(choices.one(("{**:utm_*|sid}", "{**:ref}", "{**:a|b}")))
    if choices.once_in(5):
        names.lists.append("k")
        params.append(choices.one(("{k**:id|a}", "{k**:b*}")))
    rest = choices.one(("{rest**}", "{rest**}", "{rest**}", "{**}", ""))
    if rest:
        params.insert(choices.below(len(params) + 1), rest)
    if rest == "{rest**}":
        names.lists.append("rest")
    return "?" + "&".join(params) if params else ""


def right_query(choices: Choices, names: Names) -> str:
    """The query of a right side with its `?`, or nothing."""
    params = [f"{{{name}{choices.one(LIST_FORMS)}}}" for name in names.lists if not choices.once_in(6)]
    for name in choices.some(NAMES, 2):
        text = choices.one(("", "=1", "=", "={N}", "={N}", "={N}"))
        if "N" in text:
            text = (
                text.replace("N", choices.one(names.texts) + choices.one(TEXT_FORMS)) if names.texts else ""
            )
        params.insert(choices.below(len(params) + 1), name + text)
    return "?" + "&".join(params) if params else ""


def left_path(choices: Choices, names: Names) -> tuple[str, bool]:
    """The path of a left side, and whether `{p**}` is in it."""
    patterns = choices.some(mostly(SEGMENT_PATTERNS, ODD_SEGMENT_PATTERNS), 2)
    segments = [names.fill(pattern) for pattern in patterns]
    many = choices.one(("{p**}", "{p**}", "{p**}", "{**}", ""))
    if many or not segments:
        segments.insert(choices.below(len(segments) + 1), many)
    return "/" + "/".join(segments), many == "{p**}"


def right_path(choices: Choices, names: Names, left: str, *, has_many: bool) -> str:
    """The path of a right side: what the left has, something else put in, taken out or written in a form."""
    segments = [
        re.sub(r"\{(\w+)[^}]*\}", r"{\1}", segment) for segment in left[1:].split("/") if "*" not in segment
    ]
    if names.texts and choices.once_in(3):
        form = choices.one(TEXT_FORMS)
        segments.append(
            choices.one(("{N}", "x{N}", "{N}.html")).replace("N", choices.one(names.texts) + form)
        )
    if segments and choices.once_in(3):
        segments[choices.below(len(segments))] = choices.one(("a", "b", "new", ""))
    if segments and choices.once_in(4):
        segments.pop()
    if has_many and not choices.once_in(6):
        for _ in range(choices.one((1, 1, 1, 2))):
            form = choices.one(TEXT_FORMS)
            segments.insert(choices.below(len(segments) + 1), f"{{p{form}}}")
    return "/" + "/".join(segments)


def rewrite(choices: Choices) -> RuleFields:
    """A rule that rewrites, most often inside one site."""
    names = Names()
    scheme, schemes = choices.one(SCHEME_PAIRS)
    host, hosts = choices.one(HOST_PAIRS)
    path, has_many = left_path(choices, names)
    query = left_query(choices, names)
    target = right_path(choices, names, path, has_many=has_many) + right_query(choices, names)
    return {
        "kind": "rewrite",
        "from": f"{scheme}://{host}{path}{query}",
        "to": f"{choices.one(schemes)}://{choices.one(hosts)}{target}",
    }


def mask(choices: Choices) -> RuleFields:
    """A rule with `:any`: the left side again, some of its captures masked."""
    source = choices.one((
        "{s}://{h}/{p**}?sid={v}&{rest**}", "{s}://{h}/{x}/{y}", "{s}://{h}/{p**}?{rest**}", "{s}://{l}.example.com/{p**}",
        "{s}://{h}/{x:int}?{rest**}", "{s}://{h**}/a/{p**}/b", "http://{h}/story_{x}", "{s}://{h}/{p**}?{k**:a|b}&{rest**}",
    ))  # fmt: skip
    captured = re.findall(r"\{(\w+)", source)
    hidden = [choices.one(captured), *choices.some(captured, 2)]
    target = re.sub(
        r"\{(\w+)[^}]*\}", lambda found: "{" + found[1] + (":any" if found[1] in hidden else "") + "}", source
    )
    return {"kind": "rewrite", "from": source, "to": target}


def replace(choices: Choices) -> RuleFields:
    """A rule that replaces tokens, sometimes anchored, sometimes growing."""
    old = choices.one(TOKENS) + "".join(choices.some(TOKENS, 1))
    new = "".join(choices.some(TOKENS, 2))
    anchor = choices.one(("", "", "", "$", "^"))
    start, end = "^http://" if anchor == "^" else "", "$" if anchor == "$" else ""
    return {"kind": "replace", "from": start + old + end, "to": start + new + end}


def keep(choices: Choices) -> RuleFields:
    """A rule that leaves URLs alone."""
    names = Names()
    scheme, host = choices.one(SCHEME_PAIRS)[0], choices.one(HOST_PAIRS)[0]
    return {
        "kind": "keep",
        "from": f"{scheme}://{host}{left_path(choices, names)[0]}{left_query(choices, names)}",
    }


def rule(choices: Choices) -> RuleFields:
    """Any rule, with its site, conditions and status."""
    fields = choices.one((rewrite, rewrite, rewrite, replace, keep, mask))(choices)
    fields["site"] = choices.one(SITES)
    for key in ("when", "unless"):
        if choices.once_in(5):
            fields[key] = [choices.one(CONDITIONS), *choices.some(CONDITIONS, 1)]
    if fields["site"] == "*" and choices.below(2):
        fields["except_sites"] = choices.some(("example.com", "x.org"), 2)
    if choices.once_in(8):
        fields["status"] = choices.one(("active", "disabled"))
    return fields


def rewrites() -> st.SearchStrategy[RuleFields]:
    """Rules that rewrite, most of them inside one site."""
    return made(rewrite, 48)


def replaces() -> st.SearchStrategy[RuleFields]:
    """Rules that replace tokens, some of them anchored, some of them growing."""
    return made(replace, 8)


def rules() -> st.SearchStrategy[RuleFields]:
    """Any rules, with their sites, conditions and status."""
    return made(rule, 64)


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


def limited(choices: Choices, some: list[RuleFields]) -> list[RuleFields]:
    """Rules without equal ones, some for comparing only, some proposed, some that need each other."""
    by_id = {Rule.from_json(rule).id: rule for rule in some}
    ids = [*by_id, "0123456789abcdef"]
    found = []
    for rule in by_id.values():
        more: RuleFields = {}
        if rule["kind"] != "keep" and choices.below(2):
            more["fetch"] = False
        if choices.once_in(6):
            more["status"] = "proposed"
        if choices.once_in(3):
            more["needs"] = choices.some(ids, 2)
        found.append({**rule, **more})
    return found


def limited_rule_sets() -> st.SearchStrategy[list[RuleFields]]:
    """Rule sets without equal rules, some for comparing only, some proposed, some that need each other."""
    return st.builds(limited, st.binary(min_size=40, max_size=40).map(Choices), rule_sets())
