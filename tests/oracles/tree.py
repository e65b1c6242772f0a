"""The pattern tree of Lei et al. in plain Python: algorithms 1 to 3 as they are printed, one URL at a time.

Written from the paper and the list of what it leaves open, not from the code under test: dictionaries,
recursion, pairs one by one. Obviously right and slow.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, pairwise, product
from typing import NamedTuple

Pairs = dict[str, str | None]
"""A URL: key to value; None is a parameter without `=`, an absent key is not there."""

ANY, MAYBE = "<any>", "<any or none>"
MISSING = "<missing>"


@cache
def parse(url: str) -> Pairs:
    """Cut a normalized URL into keys and values."""
    scheme, rest = url.split("://", 1)
    rest, mark, query = rest.partition("?")
    host, _, path = rest.partition("/")
    host, _, port = host.partition(":")
    pairs: Pairs = {"scheme": scheme}
    for place, label in enumerate(reversed(host.split("."))):
        pairs[f"host_{place}"] = label
    if port:
        pairs["port"] = port
    if path:
        if path.endswith("/"):
            pairs["slash"] = "1"
            path = path[:-1]
        for place, segment in enumerate(path.split("/")):
            pairs[f"path_{place}"] = segment
    seen: Counter[str] = Counter()
    for entry in query.split("&") if mark and query else []:
        name, equals, value = entry.partition("=")
        seen[name] += 1
        key = f"?{name}" if seen[name] == 1 else f"?{name}#{seen[name]}"
        pairs[key] = value if equals else None
    return pairs


def key_order(key: str) -> tuple[int, int, str]:
    """Scheme, host labels from the last one, port, path, slash, then parameters by name."""
    name, _, number = key.partition("_")
    parts = ["scheme", "host", "port", "path", "slash"]
    if key.startswith("?"):
        return (len(parts), 0, key)
    return (parts.index(name), int(number or 0), "")


class Node(NamedTuple):
    """A node: its URLs, its pattern, its children."""

    urls: tuple[str, ...]
    pattern: dict[str, str | None]
    split: str | None
    children: tuple[Node, ...]

    def walk(self, above: tuple[Node, ...] = ()) -> list[tuple[Node, tuple[Node, ...]]]:
        """Every node with its ancestors."""
        return [(self, above)] + [found for child in self.children for found in child.walk((*above, self))]


def entropy(frequencies: list[int]) -> float:
    """Equation 4."""
    total = sum(frequencies)
    return math.fsum(-f / total * math.log(f / total) for f in frequencies)


def decline(frequencies: list[int], least: float) -> int:
    """Equation 5: the last frequency before the largest decline of a curve that ends at `least`."""
    falling = sorted(frequencies, reverse=True)
    curve: list[float] = [*falling, least] if falling[-1] > least else [*falling]
    best, found = 0.0, float(falling[0])
    for f, g in pairwise(curve):
        if math.log(f) - math.log(g) > best + 1e-12:
            best, found = math.log(f) - math.log(g), f
    return int(found)


def salient_values(
    frequency: dict[str | None, int], total: int, least: float, frequent: set[str | None] | None = None
) -> set[str | None]:
    """The values before the largest decline, with the additions for what the paper leaves open.

    With `frequent`, the decline was looked for among the tokens of the whole site, and these are before it.
    """
    if frequent is None:
        place = decline(list(frequency.values()), least)
        frequent = {value for value, f in frequency.items() if f >= place}
    return {
        value for value, f in frequency.items() if f >= least and (value in frequent or f / total >= 0.25)
    }


def frequent_tokens(urls: list[str]) -> set[str | None]:
    """Figure 6: the tokens before the decline of all that some URLs of the site have and others have not."""
    tokens = Counter(value for url in urls for value in parse(url).values())
    parting = [count for count in tokens.values() if count < len(urls)]
    place = decline(parting, least_support(len(urls))) if parting else 0
    return {token for token, count in tokens.items() if count >= place}


def least_support(total: int) -> float:
    """The URLs that a salient value has at least."""
    return max(2, math.sqrt(total), 0.001 * total)


def build(
    urls: list[str],
    done: frozenset[str] = frozenset(),
    least: float = 0,
    frequent: set[str | None] | None = None,
) -> Node:
    """Algorithm 1; keys that many have and many have not part a node, too."""
    least = least or least_support(len(urls))
    maps = {url: parse(url) for url in urls}
    keys = sorted({key for pairs in maps.values() for key in pairs}, key=key_order)
    counts = {key: Counter(pairs.get(key, MISSING) for pairs in maps.values()) for key in keys}
    pattern: dict[str, str | None] = {}
    for key in keys:
        if len(counts[key]) == 1:
            pattern[key] = next(iter(counts[key]))
        else:
            pattern[key] = MAYBE if MISSING in counts[key] else ANY
    node = Node(tuple(sorted(urls)), pattern, None, ())
    open_keys = [key for key in keys if key not in done and len(counts[key]) > 1]
    entropies = {key: round(entropy(list(counts[key].values())), 9) for key in open_keys}
    was_trivial = False
    is_rare = {key: 2 * counts[key][MISSING] > len(urls) for key in open_keys}
    for key in sorted(open_keys, key=lambda key: (is_rare[key], entropies[key], key_order(key))):
        values = {value: count for value, count in counts[key].items() if value != MISSING}
        there = sum(values.values())
        keep = set() if was_trivial else salient_values(values, len(urls), least, frequent)
        if keep or (there >= least and len(urls) - there >= least):
            groups: dict[object, list[str]] = defaultdict(list)
            for url in urls:
                value = maps[url].get(key, MISSING)
                groups[value if value == MISSING or value in keep else ("trivial",)].append(url)
            children = tuple(build(group, done | {key}, least, frequent) for group in groups.values())
            return Node(node.urls, pattern, key, children)
        was_trivial = was_trivial or there >= least
    return node


def pages_of(node: Node, cluster: dict[str, str]) -> Counter[str]:
    """How many URLs of a node each page has."""
    return Counter(cluster[url] for url in node.urls)


def overlap(s: Counter[str], t: Counter[str]) -> float:
    """Equation 6 for the pages of two nodes without common URLs; the duplicate rate of a node with itself."""
    if s is t:
        return 1 - len(s) / s.total()
    return sum(s[page] + t[page] for page in s.keys() & t.keys()) / (s.total() + t.total())


def duplicate_nodes(root: Node, cluster: dict[str, str], least: float = 0.5) -> list[tuple[Node, Node]]:
    """Algorithm 2, with its index of the nodes that each cluster touches."""
    nodes = root.walk()
    pages = [pages_of(node, cluster) for node, _ in nodes]
    touched: dict[str, list[int]] = defaultdict(list)
    for number in range(len(nodes)):
        for page in pages[number]:
            touched[page].append(number)
    meeting = {pair for numbers in touched.values() for pair in product(numbers, numbers)}
    found = []
    for one, other in sorted(meeting):
        (s, above_s), (t, above_t) = nodes[one], nodes[other]
        if any(s is a for a in above_t) or any(t is a for a in above_s):
            continue
        if overlap(pages[one], pages[other]) >= least:
            found.append((s, t))
    return found


def part(key: str) -> str:
    """The part of the URL that a key is in."""
    return "query" if key.startswith("?") else key.split("_", maxsplit=1)[0]


def may_move(source: str, target: str) -> bool:
    """Within host, or among path and query; everything else stays at its key."""
    return source == target or {part(source), part(target)} in (
        {"path"}, {"query"}, {"path", "query"}, {"host"},
    )  # fmt: skip


def values(node: Node, key: str) -> set[str | None]:
    """The values of a node at a key."""
    return {pairs[key] for pairs in map(parse, node.urls) if key in pairs}


def mapped_key(s: Node, t: Node, key: str, common: str, least: float = 0.5) -> str | None:
    """Algorithm 3 for one key of the target; common values are a share of the target's or of the fewer."""
    if s is t:
        return key
    wanted = values(t, key)
    best: tuple[float, str | None] = (least, None)
    candidates = [k for k in s.pattern if s.pattern[k] in (ANY, MAYBE) and may_move(k, key)]
    for other in sorted(candidates, key=lambda k: (k != key, key_order(k))):
        there = values(s, other)
        sigma = len(there & wanted) / (len(wanted) if common == "target" else min(len(wanted), len(there)))
        if sigma > best[0]:
            best = (sigma, other)
    return best[1]


def operations(s: Node, t: Node, cluster: dict[str, str], common: str) -> dict[str, tuple[str, str | None]]:
    """Keep, replace or ignore for every key of the target."""
    found: dict[str, tuple[str, str | None]] = {}
    by_cluster: dict[str, list[str]] = defaultdict(list)
    for url in t.urls:
        by_cluster[cluster[url]].append(url)
    for key, value in t.pattern.items():
        if value not in (ANY, MAYBE):
            found[key] = ("keep", value)
            continue
        source = mapped_key(s, t, key, common)
        if source is None:
            found[key] = ("ignore", None)
            continue
        pairs = [
            (parse(u).get(source, MISSING), parse(v).get(key, MISSING))
            for u in s.urls
            for v in by_cluster[cluster[u]]
            if u != v
        ]
        told = [pair for pair in pairs if pair != (MISSING, MISSING)]
        is_fake = bool(told) and sum(one != other for one, other in told) / len(told) > 0.5
        found[key] = ("ignore", source) if is_fake else ("replace", source)
    return found


def pairs_by_image(image: dict[str, object], cluster: dict[str, str]) -> tuple[int, int]:
    """Support pairs and false pairs (equation 3), pair by pair."""
    groups: dict[object, list[str]] = defaultdict(list)
    for url, name in image.items():
        groups[name].append(url)
    together = [pair for group in groups.values() for pair in combinations(group, 2)]
    return len(together), sum(cluster[u] != cluster[v] for u, v in together)
