"""A rule set as a program of the core: what a crawler calls for every URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, cast

from undust._core import Counts
from undust.urls.url import map_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from undust._core import Program
    from undust.rules.language import Rule


__all__ = ["Canonicalizer", "Counts", "Explanation", "OrderedRules", "Outcome", "Step"]

Outcome = Literal["resolved", "cycle", "unresolved", "skipped", "no URL"]
"""How the way of a URL ends.

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
    """What is asked of a rule set here; `RuleSet` is one, and imports this file."""

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
        return tuple(Step(self.rules[place], place + 1, after) for place, after in done)

    def __reduce__(self) -> tuple[type[Canonicalizer], tuple[OrderedRules]]:
        """Travel to other processes as rules; they are compiled again there."""
        return Canonicalizer, (self.rules,)
