"""A rule set as a program of the core: which rules are in effect, and the compiled rule file.

The compiled rule file, which `undust rules compile` writes, is memory-mapped and needs no parsing. It holds
the program of the core, followed by the rules themselves: compressed pieces of JSON, each read only when it
is needed. Processes that map the file share its memory. The file works only with the version of undust and
the kind of machine that wrote it; the rule file stays the source.

A rule may be safe only together with others: a removal with the `keep` that protects an edit form. It
names them in `needs`, and is out of effect as long as one of them is. In effect is the largest set of
active rules in which every need is met, so rules that need each other are in effect together or not at all.
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, cast, overload

from undust._core import IMAGE_MARK, Counts, Program
from undust.errors import InvalidRule, UnknownVersion
from undust.files.streams import STANDARD
from undust.rules.files import said_by
from undust.rules.language import ANY_SITE, asked, identity
from undust.urls.url import map_column, suffixes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import pyarrow as pa

    from undust.rules.language import Rule

Outcome = Literal["resolved", "cycle", "unresolved", "skipped", "no URL"]
"""How the rewriting of a URL ends.

`resolved`: no rule changes it any more. `cycle`: a URL came back, and the smallest of the cycle was taken.
`unresolved`: 256 steps or 64 KiB were not enough. `skipped`: too long, or with a user name in it. `no URL`:
not a URL of http or https.
"""


@dataclass(frozen=True)
class Step:
    """One step of an explanation: the rule that acted, and the URL after it."""

    rule: Rule
    number: int
    """The place of the rule in its set, from 1 on."""
    url: str


@dataclass(frozen=True)
class Explanation:
    """How a URL came to its canonical form and its key."""

    url: str
    normalized: str
    steps: tuple[Step, ...]
    """What the rules did, one by one, up to a URL that no rule changes or that was there before; a rule
    that keeps a URL is the last step, and its URL is the one before."""
    canonical: str
    compared: tuple[Step, ...]
    """What rules did to the canonical form for the key alone, those for comparing only among them."""
    masks: tuple[Step, ...]
    """What the masks made of the form after that."""
    key: str
    outcome: Outcome


class OrderedRules(Protocol):
    """What a rule set must offer here; `RuleSet` is one, and imports this file."""

    @property
    def program(self) -> Program:
        """The rules as the core runs them."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the rules, in order."""

    def dumps(self) -> bytes:
        """Return the bytes of the rule file."""

    def with_rules(self, rules: Iterable[Rule]) -> Self:
        """Return a set of other rules."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Rule]: ...
    def __getitem__(self, place: int, /) -> Rule: ...


class Canonicalizer:
    """A function from URLs to canonical URLs; made by `RuleSet.compile()`.

    It ends, it is idempotent, it gives all members of a cycle one result, it never leaves the site and
    never raises, whatever the rules and the URL.

    >>> from undust import Canonicalizer, Rule, RuleSet
    >>> rule = Rule.parse('replace "/index.php" -> "/"', site="shop.test")
    >>> canonicalize = Canonicalizer(RuleSet([rule]))
    >>> canonicalize("http://shop.test/index.php?a=1")
    'http://shop.test/?a=1'
    >>> canonicalize("mailto:shop@shop.test")
    'mailto:shop@shop.test'
    """

    def __init__(self, rules: OrderedRules) -> None:
        self.rules = rules
        self.program = rules.program

    def __call__(self, url: str) -> str:
        """Return the canonical form of a URL: what to fetch."""
        return self.program.canonical(url)

    def canonical(self, url: str) -> str:
        """Return the canonical form of a URL: what to fetch.

        >>> from undust.rules import RuleSet
        >>> RuleSet().compile().canonical("HTTP://Shop.test:80/a/../b")
        'http://shop.test/b'
        """
        return self.program.canonical(url)

    def key(self, url: str) -> str:
        """Return the key of a URL, to compare and deduplicate by.

        It differs from the canonical form where a mask or a rule for comparing only acts.
        """
        return self.program.key(url)

    def batch(self, urls: Any, *, keys: bool = False, threads: int = 1) -> pa.Array | pa.ChunkedArray:  # noqa: ANN401
        """Return the canonical forms, or the keys, of a column: any Arrow object, or a list."""
        return map_column(urls, lambda column: self.program.batch(column, keys, threads))

    def counted_batch(
        self, urls: pa.Array, *, keys: bool = False, threads: int = 1, uses: bool = False
    ) -> tuple[pa.Array, Counts]:
        """Return the same for one array, and what happened; with `uses`, by rule too.

        >>> import pyarrow as pa
        >>> from undust.rules import RuleSet
        >>> column, counts = RuleSet().compile().counted_batch(pa.array(["HTTP://a.test", "no URL"]))
        >>> column.to_pylist(), counts.changed, counts.not_urls
        (['http://a.test/', 'no URL'], 1, 1)
        """
        import pyarrow as pa  # noqa: PLC0415 -- slow to load, and a single URL does without

        column, counts = self.program.batch_counted(urls, keys, threads, uses)
        return pa.array(column), counts

    def touched(self, urls: pa.Array, *, threads: int = 1) -> tuple[pa.Array, pa.Array]:
        """Return the rows and the places of rules of all pairs in which a rule, alone, changes a URL.

        >>> import pyarrow as pa
        >>> from undust.rules import Rule, RuleSet
        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> rows, places = rules.compile().touched(pa.array(["http://shop.test/", "http://shop.test/a.php3?b"]))
        >>> rows.to_pylist(), places.to_pylist()
        ([1], [0])
        """
        import pyarrow as pa  # noqa: PLC0415 -- slow to load, and a single URL does without

        rows, rules = self.program.touched(urls, threads)
        return pa.array(rows), pa.array(rules)

    def lines(
        self, data: bytes, *, keys: bool = False, threads: int = 1, uses: bool = False
    ) -> tuple[bytes, int, Counts]:
        r"""Return whole lines of URLs in canonical form or as keys, their number, and what happened.

        >>> from undust.rules import RuleSet
        >>> data, number, counts = RuleSet().compile().lines(b"HTTP://a.test\nhttp://b.test/\n")
        >>> data, number, counts.changed
        (b'http://a.test/\nhttp://b.test/\n', 2, 1)
        """
        return self.program.lines_counted(data, keys, threads, uses)

    def explain(self, url: str) -> Explanation:
        """Return each step from the URL to its canonical form and its key, with the rule that made it.

        >>> from undust.rules import Rule, RuleSet
        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> [step.url for step in rules.compile().explain("http://shop.test/a.php3?b").steps]
        ['http://shop.test/a?b']
        """
        normalized, steps, canonical, compared, masks, key, outcome = self.program.explain(url)
        return Explanation(
            url,
            normalized,
            self._steps(steps),
            canonical,
            self._steps(compared),
            self._steps(masks),
            key,
            cast("Outcome", outcome),
        )

    def _steps(self, done: list[tuple[int, str]]) -> tuple[Step, ...]:
        # Rules that undo each other take hundreds of steps, and each rule is read anew from the file.
        rules = {place: self.rules[place] for place in {place for place, _ in done}}
        return tuple(Step(rules[place], place + 1, after) for place, after in done)

    def __reduce__(self) -> tuple[type[Canonicalizer], tuple[OrderedRules]]:
        """Travel to other processes as rules; they are compiled again there."""
        return Canonicalizer, (self.rules,)


_RULES_IN_PIECE = 1024
_SIZE_BYTES = 8
"""Of the number that precedes the index of the pieces."""
_LEVEL = 3
_AGAIN = "compile the rules again with `undust rules compile`"


class Image(NamedTuple):
    """What a compiled rule file holds."""

    program: Program
    header: dict[str, Any]
    """What the rule file holds in addition to its rules."""
    rules: PackedRules


class PackedRules(Sequence[dict[str, Any]]):
    """The rules of a compiled file as JSON objects, unpacked on access."""

    def __init__(self, texts: memoryview, name: str) -> None:
        size = int.from_bytes(texts[:_SIZE_BYTES], "little")
        index = json.loads(bytes(texts[_SIZE_BYTES : _SIZE_BYTES + size]))
        self.header: dict[str, Any] = index["header"]
        self._count: int = index["rules"]
        self._ends: list[int] = index["ends"]
        self._pieces = texts[_SIZE_BYTES + size :]
        self._name = name
        self._unpacked = lru_cache(maxsize=4)(self._unpack)

    def _unpack(self, number: int) -> list[dict[str, Any]]:
        start = self._ends[number - 1] if number else 0
        rules: list[dict[str, Any]] = json.loads(zlib.decompress(self._pieces[start : self._ends[number]]))
        return rules

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(place, slice):
            return list(self)[place]
        number, behind = divmod(range(self._count)[place], _RULES_IN_PIECE)
        return self._unpacked(number)[behind]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for number in range(len(self._ends)):
            yield from self._unpack(number)

    def __reduce__(self) -> tuple[type[list[dict[str, Any]]], tuple[list[dict[str, Any]]]]:
        """Travel to other processes as plain objects; the file may not be there."""
        return list, (list(self),)


def is_image(path: str) -> bool:
    """Return whether a file is a compiled rule file."""
    if path == STANDARD:
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(len(IMAGE_MARK)) == IMAGE_MARK
    except OSError:
        return False


def mapped(path: str) -> Image:
    """Return what a compiled rule file holds; the file is mapped, not read."""
    with Path(path).open("rb") as file:
        return unpacked(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), path)


def unpacked(data: memoryview, name: str) -> Image:
    """Return the same for bytes; `name` is for messages."""
    try:
        program = Program.mapped(data, suffixes())
    except ValueError as error:
        kind, _, reason = str(error).partition(": ")
        if kind == "version":
            message = f"{name}: {reason}, and it does not fit here; {_AGAIN}"
            raise UnknownVersion(message) from None
        message = f"{name}: the compiled rule file is damaged, as {reason}; {_AGAIN}"
        raise InvalidRule(message) from None
    at, size = program.texts
    rules = PackedRules(data[at : at + size], name)
    return Image(program, rules.header, rules)


def image_of(program: Program, header: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the bytes of a compiled rule file; the same rules give the same bytes."""
    return program.image(packed_rules(header, rules))


def packed_rules(header: Mapping[str, Any], rules: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rules, however many come, as the bytes that `PackedRules` unpacks."""
    pieces: list[bytes] = []
    ends, count, given = [0], 0, iter(rules)
    while some := list(islice(given, _RULES_IN_PIECE)):
        pieces.append(zlib.compress(json.dumps(some).encode(), _LEVEL))
        ends.append(ends[-1] + len(pieces[-1]))
        count += len(some)
    index = json.dumps({"header": dict(header), "rules": count, "ends": ends[1:]}).encode()
    return b"".join([len(index).to_bytes(_SIZE_BYTES, "little"), index, *pieces])


def in_effect(rules: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Return, for each rule as the JSON object of a file, whether it acts.

    >>> keep = {"site": "a.test", "kind": "keep", "from": "{s}://{h}/edit"}
    >>> drop = {"site": "a.test", "kind": "replace", "from": "?x", "to": "", "needs": ["c4adb396bb1a4f7a"]}
    >>> in_effect([keep, drop]), in_effect([keep | {"status": "disabled"}, drop])
    ([True, True], [False, False])
    """
    acts = [(rule.get("status") or "active") == "active" for rule in rules]
    needing = [place for place, rule in enumerate(rules) if rule.get("needs") and acts[place]]
    if not needing:
        return acts
    return _without_unmet(rules, acts, needing)


def acting(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rules as the core takes them, each at its place: those whose needs are not met are off."""
    try:
        if not any(rule.get("needs") for rule in rules):
            return rules
        return [
            rule if acts else {**rule, "status": "disabled"}
            for rule, acts in zip(rules, in_effect(rules), strict=True)
        ]
    except (AttributeError, KeyError, TypeError):
        return rules  # a rule is wrong, and the core reports which


def rules_in_effect(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules that act, in order.

    >>> from undust.rules import Rule
    >>> rules_in_effect([Rule("a.test", "replace", "?x", "", needs=("0123456789abcdef",))])
    []
    """
    given = list(rules)
    said = [rule.said for rule in given]
    return [rule for rule, acts in zip(given, in_effect(said), strict=True) if acts]


def dependents(rules: Sequence[Rule], off: Collection[str]) -> list[Rule]:
    """Return the rules that act now, and would not if those with the ids in `off` were switched off."""
    acting = rules_in_effect(rules)
    left = {rule.id for rule in rules_in_effect(rule for rule in acting if rule.id not in off)}
    return [rule for rule in acting if rule.id not in left and rule.id not in off]


def _without_unmet(rules: Sequence[Mapping[str, Any]], acts: list[bool], needing: list[int]) -> list[bool]:
    places = {identity(said_by(rule)): place for place, rule in enumerate(rules)}
    needed_by: dict[int, list[int]] = {}
    out = []
    for place in needing:
        needed = [places.get(id_) for id_ in rules[place]["needs"]]
        if all(each is not None and acts[each] and _covers(rules[each], rules[place]) for each in needed):
            for each in needed:
                needed_by.setdefault(each or 0, []).append(place)
        else:
            out.append(place)
    while out:
        place = out.pop()
        if acts[place]:
            acts[place] = False
            out += needed_by.get(place, ())
    return acts


def _covers(needed: Mapping[str, Any], rule: Mapping[str, Any]) -> bool:
    """Return whether the needed rule is there on every site where the rule is."""
    excepted = set(needed.get("except_sites") or ())
    if needed["site"] != ANY_SITE:
        return bool(needed["site"] == rule["site"])
    own = set(rule.get("except_sites") or ()) if rule["site"] == ANY_SITE else None
    return rule["site"] not in excepted if own is None else excepted <= own


def program_of(rules: Iterable[Rule]) -> Program:
    """Return rules as the core runs them, without a set around them: a learner makes thousands.

    What rules merge is judged, so those for comparing only act like all others.
    """
    return asked(Program, acting([rule.said | {"fetch": True} for rule in rules]), suffixes())
