"""DustBuster as its figures print it: strings and tuples, sets and dictionaries, no columns and no hashes.

Written from the paper alone, to be read beside it. Where the figures err or leave a choice, it does what
`undust.proposing.papers.substring` says it does.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

Tokens = tuple[str, ...]
Pair = tuple[Tokens, Tokens]

START, END = "\x00start", "\x00end"
"""No URL holds these, so they sort before its tokens and are none of them."""

TOKEN = {
    "words": re.compile(r"[A-Za-z0-9]+|.", re.DOTALL),
    "triplets": re.compile(r"[A-Za-z0-9]+|%[0-9A-Fa-f]{2}|.", re.DOTALL),
}


@dataclass(frozen=True)
class Record:
    """A URL and what the list says about its page."""

    url: str
    page: int | None = None
    label: str | None = None
    sketch: tuple[int, ...] | None = None
    digest: str | None = None
    sizes: tuple[int, int] | None = None


def tokens_of(url: str, style: str = "words") -> Tokens:
    """Tokens with the sentinels around them."""
    return (START, *TOKEN[style].findall(url), END)


def is_semiperiodic(tokens: Sequence[str]) -> bool:
    """gamma^k gamma', where gamma is shorter than the whole."""
    return any(
        all(tokens[i] == tokens[i % period] for i in range(len(tokens))) for period in range(1, len(tokens))
    )


def likely_similar(one: Record, other: Record, delta: float = 0.0) -> bool:
    """False only for what is unlikely to be one page (section 4.3)."""
    if one.page is not None and one.page == other.page:
        return True
    if one.label is not None and other.label is not None:
        return one.label == other.label
    has_content = [record.sketch or record.digest or record.label for record in (one, other)]
    if all(has_content):
        if one.sketch and other.sketch:
            agreeing = sum(a == b for a, b in zip(one.sketch, other.sketch, strict=True))
            return agreeing >= (1 - delta) * len(one.sketch)
        return not (one.digest and other.digest)
    if one.sizes and other.sizes:
        return one.sizes[0] <= other.sizes[1] and other.sizes[0] <= one.sizes[1]
    return True


def envelopes_of(tokens: Tokens, longest: int) -> Iterator[tuple[Tokens, Tokens, Tokens]]:
    """Every piece with what stands before and behind it (lines 5 to 10 of Fig. 2)."""
    for length in range(longest + 1):
        for start in range(len(tokens) - length + 1):
            piece = tokens[start : start + length]
            if length == 0 and start in {0, len(tokens)}:
                continue
            yield piece, tokens[:start], tokens[start + length :]


def order(one: Tokens, other: Tokens) -> Pair:
    """The larger first: by length, then token by token."""
    return (one, other) if (len(one), one) > (len(other), other) else (other, one)


def buckets_of(
    records: Sequence[Record], longest: int, style: str
) -> dict[tuple[Tokens, Tokens], list[tuple[Tokens, Record]]]:
    """Line 11 of Fig. 2."""
    buckets = defaultdict(list)
    for record in records:
        for piece, before, behind in envelopes_of(tokens_of(record.url, style), longest):
            buckets[before, behind].append((piece, record))
    return buckets


Likely = Callable[[Record, Record], bool]


def supports(
    records: Sequence[Record],
    *,
    longest: int = 35,
    largest: Sequence[int] = (6, 11),
    likely: Likely = likely_similar,
    style: str = "words",
) -> list[Counter[Pair]]:
    """Lines 11 to 20 of Fig. 2, once for each size of the largest bucket."""
    counts: list[Counter[Pair]] = [Counter() for _ in largest]
    for bucket in buckets_of(records, longest, style).values():
        if len(bucket) == 1 or len(bucket) > max(largest):
            continue
        for (one, first), (other, second) in combinations(bucket, 2):
            if likely(first, second):
                for count, most in zip(counts, largest, strict=True):
                    count[order(one, other)] += len(bucket) <= most
    return counts


def ranked(support: Counter[Pair], least: int) -> list[Pair]:
    """Lines 21 and 22 of Fig. 2."""
    pairs = [pair for pair, count in support.items() if count >= least]
    return sorted(pairs, key=lambda pair: (-support[pair], -len(pair[0]), pair[0], pair[1]))


def refines(narrow: Pair, wide: Pair) -> bool:
    """Lemma 6, for both directions and all occurrences."""
    return any(_refines(narrow, pair) for pair in (wide, wide[::-1]))


def _refines(narrow: Pair, wide: Pair) -> bool:
    (long_piece, short_piece), (alpha, beta) = narrow, wide
    for start in range(len(long_piece) - len(alpha) + 1):
        before, behind = long_piece[:start], long_piece[start + len(alpha) :]
        if long_piece[start : start + len(alpha)] == alpha and before + beta + behind == short_piece:
            return True
    return False


def core_of(pair: Pair) -> Pair:
    """Both pieces without what they begin with alike, then without what the rest of them ends with alike."""
    alpha, beta = pair
    while alpha and beta and alpha[0] == beta[0]:
        alpha, beta = alpha[1:], beta[1:]
    while alpha and beta and alpha[-1] == beta[-1]:
        alpha, beta = alpha[:-1], beta[:-1]
    return alpha, beta


def eliminate(
    pairs: list[Pair], size: Counter[Pair], *, relative: float = 0.05, absolute: float = 1, window: int = 1100
) -> list[Pair]:
    """Fig. 3, on a list sorted by the sizes compared; what is left is in the order of `pairs`.

    Of equal sizes, those that say the same with more or less context stand together.
    """
    listed = sorted(pairs, key=lambda pair: (-size[pair], core_of(pair)))
    gone = set()
    for i, pair in enumerate(listed):
        if pair in gone:
            continue
        for j in range(1, min(window, len(pairs) - 1 - i) + 1):
            other = listed[i + j]
            if size[pair] - size[other] > max(relative * size[pair], absolute):
                break
            if refines(pair, other):
                gone.add(other)
            elif refines(other, pair):
                gone.add(pair)
                break
    return [pair for pair in pairs if pair not in gone]


def pages_of(records: Sequence[Record], pairs: Sequence[Pair], style: str = "words") -> list[int]:
    """For each pair the pages with two URLs that it turns into each other, at any place."""
    urls: dict[int, set[Tokens]] = defaultdict(set)
    for record in records:
        if record.page is not None:
            urls[record.page].add(tokens_of(record.url, style))
    return [sum(any(_turns(url, pair, page) for url in page) for page in urls.values()) for pair in pairs]


def _turns(url: Tokens, pair: Pair, others: set[Tokens]) -> bool:
    alpha, beta = pair
    return any(
        url[start : start + len(alpha)] == alpha and url[:start] + beta + url[start + len(alpha) :] in others
        for start in range(len(url) - len(alpha) + 1)
    )


def parameters(
    records: Sequence[Record], *, likely: Likely = likely_similar, least: int = 3, compared: int = 64
) -> list[tuple[str, str, int, bool, int]]:
    """Section 5.3: names, the value they most often have, and the envelopes in which some pair is likely.

    Last, whether a name ends a query more often than it begins one, and how many pages have two URLs in one
    of these envelopes.
    """
    buckets: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    values: dict[str, Counter[str]] = defaultdict(Counter)
    last: Counter[str] = Counter()
    for record in sorted(records, key=lambda record: record.url):
        before, mark, query = record.url.partition("?")
        place = len(before) + 1
        for pair in query.split("&") if mark else ():
            name, equals, value = pair.partition("=")
            if equals and name:
                start = place + len(name) + 1
                buckets[name, record.url[:start], record.url[start + len(value) :]].append(record)
                values[name][value] += 1
                last[name] += place + len(pair) == len(record.url)
                last[name] -= place == len(before) + 1
            place += len(pair) + 1
    found: Counter[str] = Counter()
    pages: dict[str, set[int]] = defaultdict(set)
    for (name, _, _), bucket in buckets.items():
        count = min(len(bucket), compared)
        some = [bucket[i * len(bucket) // count] for i in range(count)]
        if any(likely(one, other) for one, other in combinations(some, 2)):
            found[name] += 1
            of_page = Counter(record.page for record in bucket if record.page is not None)
            pages[name] |= {page for page, seen in of_page.items() if seen > 1}
    names = sorted(found, key=lambda name: (-found[name], tokens_of(name)[1:-1]))
    return [
        (name, _usual(values[name]), found[name], last[name] > 0, len(pages[name]))
        for name in names
        if found[name] >= least
    ]


def _usual(values: Counter[str]) -> str:
    return min(values, key=lambda value: (-values[value], tokens_of(value)[1:-1]))


def text_of(tokens: Tokens) -> str:
    """As rules are written, with anchors."""
    return "".join({START: "^", END: "$"}.get(token, token) for token in tokens)


def applied(alpha: Tokens, beta: Tokens, url: Tokens) -> Tokens:
    """At the first occurrence."""
    for start in range(len(url) - len(alpha) + 1):
        if url[start : start + len(alpha)] == alpha:
            return url[:start] + beta + url[start + len(alpha) :]
    return url


def validate_rule(answers: Iterator[str], count: int, epsilon: float) -> bool | None:
    """Fig. 4, from the answers about the sampled URLs; None if there are not enough of them."""
    positive = negative = 0
    for answer in answers:
        if answer == "unknown":
            continue
        positive += answer == "same"
        negative += answer == "different"
        if negative >= epsilon * count:
            return False
        if positive >= (1 - epsilon) * count:
            return True
    return None


def validate(pairs: Sequence[Pair], is_valid: Callable[[Tokens, Tokens], bool]) -> list[Pair]:
    """Fig. 5 with line 13 mended, then without the rules that refine later ones."""
    standing: list[Pair] = []
    accepted: list[Pair] = []
    for alpha, beta in pairs:
        if any(refines((alpha, beta), other) for other in standing):
            continue
        for direction in ((alpha, beta), (beta, alpha)):
            if is_valid(*direction):
                standing.append((alpha, beta))
                accepted.append(direction)
                break
    return [
        accepted[i]
        for i, pair in enumerate(standing)
        if not any(refines(pair, other) for other in standing[i + 1 :])
    ]
