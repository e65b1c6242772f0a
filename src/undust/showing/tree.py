"""A pattern tree as people read it: each form of URL with its share, its duplicates and an example.

`condensed` is a tree with only as many lines as a person reads. The key with the smallest entropy is often
one that hardly any URL has, so a tree is a long chain from which small branches part one by one. Condensed,
they are side by side: a branch that only says "not one of those" gives its place to its own branches, a
branch with a single one of note is passed over for it, and what is too small is folded into one line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from undust.privacy.masking import Masks
from undust.urls.pattern_tree import ANYTHING, PERHAPS, grow
from undust.urls.views import ABSENT, NO_EQUALS_TEXT, UrlColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from undust.urls.pattern_tree import PatternTree, Salience

    Ints = NDArray[np.int64]


MOST_OPTIONAL = 2
"""Optional parameters that are named; of more there is only said that there are some."""
_ANY, _OPEN = "*", "…"


@dataclass(frozen=True)
class Branch:
    """One form of URL, and the finer ones it is made of."""

    pattern: str
    urls: int
    share: float
    """Of the URLs of the site."""
    duplicate_rate: float | None
    """Share of its URLs that are duplicates of another of its URLs; None if not known."""
    example: str
    split: str | None = None
    """The key at which its children differ."""
    is_rest: bool = False
    """Whether it holds what has no branch of its own: other values of the key, or no value."""
    children: tuple[Branch, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the branch and all below it."""
        return {
            "pattern": self.pattern,
            "urls": self.urls,
            "share": round(self.share, 6),
            "duplicate_rate": None if self.duplicate_rate is None else round(self.duplicate_rate, 6),
            "example": self.example,
            "split": self.split,
            "rest": self.is_rest,
            "children": [child.as_json() for child in self.children],
        }

    def masked(self, hide: Callable[[str], str]) -> Branch:
        """Return the branch and all below it with every text as `hide` writes it."""
        return replace(
            self,
            pattern=hide(self.pattern),
            example=hide(self.example),
            split=None if self.split is None else hide(self.split),
            children=tuple(child.masked(hide) for child in self.children),
        )

    def walk(self) -> Iterator[Branch]:
        """Yield the branch and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class SiteTree:
    """The URL scheme of one site."""

    site: str
    urls: int
    unusual: int
    """URLs with a user name in them or of no usual shape, which are in no branch."""
    nodes: int
    height: int
    root: Branch | None
    """None for a site without a usual URL."""

    def masked(self, hide: Callable[[str], str]) -> SiteTree:
        """Return the tree with every text as `hide` writes it."""
        return self if self.root is None else replace(self, root=self.root.masked(hide))

    def as_json(self) -> dict[str, Any]:
        """Return the whole tree."""
        return {
            "site": self.site,
            "urls": self.urls,
            "unusual_urls": self.unusual,
            "nodes": self.nodes,
            "height": self.height,
            "tree": None if self.root is None else self.root.as_json(),
        }


def site_tree(
    site: str,
    urls: pa.Array,
    cluster: Ints | None,
    salience: Salience = "node",
    least: int | None = None,
) -> SiteTree:
    """Return the tree of the URLs of one site, in normal form.

    Args:
        site: Its name.
        urls: Its URLs.
        cluster: The page of each URL, if known.
        salience: Whose frequencies make a value salient.
        least: How many URLs a salient value has at least.

    """
    columns = UrlColumns.of(urls)
    tree = grow(columns, salience=salience, least=least)
    root = None
    if len(tree):
        pages = None if cluster is None else cluster[columns.rows]
        root = _Shown(tree, urls, pages).branch(0)
    return SiteTree(site, len(urls), len(urls) - len(columns), len(tree), tree.height, root)


def without_secrets(trees: Iterable[SiteTree]) -> tuple[SiteTree, ...]:
    """Return trees with values that look secret replaced, one number for each value in all of them."""
    masks = Masks()
    return tuple(tree.masked(masks.text) for tree in trees)


class _Shown:
    def __init__(self, tree: PatternTree, urls: pa.Array, cluster: Ints | None) -> None:
        self.tree = tree
        self.urls = urls
        self.cluster = cluster

    def branch(self, number: int) -> Branch:
        tree, node = self.tree, self.tree.nodes[number]
        rows = tree.rows(number)
        rate = None
        if self.cluster is not None:
            rate = 1 - len(np.unique(self.cluster[rows])) / node.count
        children = sorted(node.children, key=lambda child: (-tree.nodes[child].count, child))
        above = None if node.parent is None else tree.nodes[node.parent]
        is_rest = above is not None and node.pattern.get(above.split or 0, ABSENT) < 0
        return Branch(
            pattern_text(tree, number),
            node.count,
            node.count / tree.nodes[0].count,
            rate,
            self.urls[int(tree.columns.rows[rows[len(rows) // 2]])].as_py(),
            None if node.split is None else tree.columns.key_names[node.split],
            is_rest,
            tuple(self.branch(child) for child in children),
        )


def pattern_text(tree: PatternTree, number: int) -> str:
    """Return a pattern as text: `*` for any value, `[x=*]` for what may be missing, `…` for more of it."""
    names = tree.columns.key_names
    pattern = {names[key]: value for key, value in tree.nodes[number].pattern.items()}
    return _start(tree, pattern) + _path(tree, pattern) + _query(tree, pattern)


def _start(tree: PatternTree, pattern: dict[str, int]) -> str:
    def text(name: str) -> str:
        value = pattern[name]
        return tree.columns.text(value) if value >= 0 else _ANY if value == ANYTHING else f"[{_ANY}]"

    labels = [name for name in pattern if name.startswith("host_")]
    labels.sort(key=lambda name: -int(name[5:]))
    host = ".".join(map(text, labels)).replace("].", ".]")
    port = (
        f":{text('port')}" if pattern.get("port", PERHAPS) != PERHAPS else "[:*]" if "port" in pattern else ""
    )
    return f"{text('scheme')}://{host}{port}"


def _path(tree: PatternTree, pattern: dict[str, int]) -> str:
    names = sorted((name for name in pattern if name.startswith("path_")), key=lambda name: int(name[5:]))
    if not names:
        return "/"
    path = ""
    for name in names:
        value = pattern[name]
        if value == PERHAPS:
            rest = names[names.index(name) :]
            if len(rest) > 1:
                return f"{path}/{_OPEN}"
            return f"{path}[/{_ANY}]" if path else f"/[{_ANY}]"
        path += "/" + (tree.columns.text(value) if value >= 0 else _ANY)
    slash = pattern.get("slash")
    return path + ("" if slash is None else "[/]" if slash == PERHAPS else "/")


def _query(tree: PatternTree, pattern: dict[str, int]) -> str:
    names = [name for name in pattern if name.startswith("?")]
    # What is fixed says most about a form, so it comes first.
    firm = [_parameter(tree, name, pattern[name]) for name in names if pattern[name] >= 0]
    firm += [_parameter(tree, name, ANYTHING) for name in names if pattern[name] == ANYTHING]
    optional = [name for name in names if pattern[name] == PERHAPS]
    shown = [f"[{name[1:]}={_ANY}]" for name in optional] if len(optional) <= MOST_OPTIONAL else [_OPEN]
    entries = firm + shown
    return "?" + "&".join(entries) if entries else ""


def _parameter(tree: PatternTree, name: str, value: int) -> str:
    if value == NO_EQUALS_TEXT:
        return name[1:]
    return f"{name[1:]}={_ANY if value < 0 else tree.columns.text(value)}"


NEARLY_ALL = 0.9
"""A branch with this share of the one above says it better."""


@dataclass(frozen=True)
class Condensed:
    """A branch that is shown, those shown below it, and what is not."""

    branch: Branch
    children: tuple[Condensed, ...] = ()
    folded: int = 0
    """Forms too small to be shown."""
    folded_share: float = 0.0
    """Of the URLs of the site."""


def condensed(branch: Branch, min_share: float, depth: int | None = None) -> Condensed:
    """Return a branch with what is worth a line; `depth` levels below it at most."""
    below = sorted(_side_by_side(branch), key=lambda each: (-each.share, each.pattern))
    shown = [each for each in below if each.share >= min_share]
    hidden = [each for each in below if each.share < min_share]
    share = sum(each.share for each in hidden)
    if len(shown) == 1 and shown[0].share >= NEARLY_ALL * branch.share:
        inner = condensed(shown[0], min_share, depth)
        return Condensed(
            inner.branch, inner.children, inner.folded + _forms(hidden), inner.folded_share + share
        )
    if depth == 0:
        return Condensed(branch, (), _forms(below), sum(each.share for each in below))
    lower = None if depth is None else depth - 1
    children = tuple(condensed(each, min_share, lower) for each in shown)
    return Condensed(branch, children, _forms(hidden), share)


def _side_by_side(branch: Branch) -> Iterator[Branch]:
    for child in branch.children:
        if child.is_rest and child.children:
            yield from _side_by_side(child)
        else:
            yield child


def _forms(branches: list[Branch]) -> int:
    return sum(not each.children for branch in branches for each in branch.walk())


def main_origin(root: Branch) -> str:
    """Return the scheme and host under which most URLs are, as far as forms show."""
    urls: dict[str, int] = {}
    for branch in root.walk():
        if not branch.children:
            origin = "/".join(branch.pattern.split("/", 3)[:3])
            urls[origin] = urls.get(origin, 0) + branch.urls
    return min(urls, key=lambda origin: (-urls[origin], origin))
