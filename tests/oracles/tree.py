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


def salient_values(
    frequency: dict[str | None, int], least: float = 2, in_site: dict[str | None, int] | None = None
) -> set[str | None]:
    """The values before the largest decline, with the additions for what the paper leaves open.

    With `in_site`, the curve is that of the same values as tokens of the whole site.
    """
    total = sum(frequency.values())
    if len(frequency) == 1:
        return set(frequency)
    curve = {value: (in_site or {}).get(value, f) for value, f in frequency.items()}
    if len(set(curve.values())) == 1:
        found = set(curve) if len(curve) == 2 and MISSING in curve else set()
        if not found:
            return set()
    else:
        falling = sorted(curve.values(), reverse=True)
        declines = [math.log(f) - math.log(g) for f, g in pairwise(falling)]
        best = max(declines)
        place = next(i for i, decline in enumerate(declines) if math.isclose(decline, best, abs_tol=1e-12))
        found = {value for value, f in curve.items() if f >= falling[place]}
    found |= {value for value, f in frequency.items() if f / total >= 0.25}
    return {value for value in found if frequency[value] >= least}


def tokens_of(urls: list[str]) -> dict[str | None, int]:
    """How often each value is there in a whole site, whatever its key."""
    return Counter(value for url in urls for value in parse(url).values())


def build(
    urls: list[str],
    done: frozenset[str] = frozenset(),
    least: float = 0,
    in_site: dict[str | None, int] | None = None,
) -> Node:
    """Algorithm 1; a salient value has a thousandth of all URLs, and two, at least."""
    least = least or max(2, 0.001 * len(urls))
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
    if not open_keys:
        return node
    entropies = {key: entropy(list(counts[key].values())) for key in open_keys}
    smallest = min(entropies.values())
    best = next(key for key in open_keys if math.isclose(entropies[key], smallest, abs_tol=1e-9))
    keep = salient_values(dict(counts[best]), least, in_site)
    if not keep:
        return node
    groups: dict[object, list[str]] = defaultdict(list)
    for url in urls:
        value = maps[url].get(best, MISSING)
        groups[("salient", value) if value in keep else "trivial"].append(url)
    children = tuple(build(group, done | {best}, least, in_site) for group in groups.values())
    return Node(node.urls, pattern, best, children)


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


def mapped_key(s: Node, t: Node, key: str, least: float = 0.5) -> str | None:
    """Algorithm 3 for one key of the target."""
    if s is t:
        return key
    wanted = values(t, key)
    best: tuple[float, str | None] = (least, None)
    candidates = [k for k in s.pattern if s.pattern[k] in (ANY, MAYBE) and may_move(k, key)]
    for other in sorted(candidates, key=lambda k: (k != key, key_order(k))):
        sigma = len(values(s, other) & wanted) / len(wanted)
        if sigma > best[0]:
            best = (sigma, other)
    return best[1]


def operations(s: Node, t: Node, cluster: dict[str, str]) -> dict[str, tuple[str, str | None]]:
    """Keep, replace or ignore for every key of the target."""
    found: dict[str, tuple[str, str | None]] = {}
    by_cluster: dict[str, list[str]] = defaultdict(list)
    for url in t.urls:
        by_cluster[cluster[url]].append(url)
    for key, value in t.pattern.items():
        if value not in (ANY, MAYBE):
            found[key] = ("keep", value)
            continue
        source = mapped_key(s, t, key)
        if source is None:
            found[key] = ("ignore", None)
            continue
        pairs = [(u, v) for u in s.urls for v in by_cluster[cluster[u]] if u != v]
        differ = sum(parse(u).get(source, MISSING) != parse(v).get(key, MISSING) for u, v in pairs)
        is_fake = bool(pairs) and differ / len(pairs) > 0.5
        found[key] = ("ignore", source) if is_fake else ("replace", source)
    return found


def pairs_by_image(image: dict[str, object], cluster: dict[str, str]) -> tuple[int, int]:
    """Support pairs and false pairs (equation 3), pair by pair."""
    groups: dict[object, list[str]] = defaultdict(list)
    for url, name in image.items():
        groups[name].append(url)
    together = [pair for group in groups.values() for pair in combinations(group, 2)]
    return len(together), sum(cluster[u] != cluster[v] for u, v in together)
