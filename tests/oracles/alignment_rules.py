"""DUSTER's rules in plain Python: equal skeletons pooled over clusters, and written in our language.

It shares nothing with the learner but the check whether our language can say a rule.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from typing import Any, NamedTuple

from tests.oracles.alignment import Settings, align
from tests.oracles.alignment_forms import Group, group_of
from undust.errors import RuleError
from undust.rules import Rule

Sample = tuple[int, list[str]]
"""A cluster's number and the URLs that are aligned."""


def learn(samples: list[Sample], site: str, how: Settings) -> tuple[dict[str, tuple[int, int]], Counter[str]]:
    """Return rules as text with pairs and clusters behind them, and what was cut."""
    cut: Counter[str] = Counter()
    by_key: dict[tuple[Any, ...], list[tuple[int, int, Group]]] = {}
    waiting = list(samples)
    while waiting:
        cluster, urls = waiting.pop(0)
        group = group_of(align(urls, how)[1], how)
        if isinstance(group, str):
            cut["samples with too many optional parts"] += group == "too many forms"
            if group == "too many forms" and how.halves and len(urls) > 2:
                middle, ordered = len(urls) // 2, sorted(urls)
                waiting += [(cluster, ordered[: middle + 1]), (cluster, ordered[middle:])]
            continue
        by_key.setdefault(group.key, []).append((cluster, len(urls) * (len(urls) - 1) // 2, group))
    best: dict[str, tuple[int, int]] = {}
    for members in by_key.values():
        if len({cluster for cluster, _, _ in members}) < how.min_clusters:
            cut["rules seen in too few clusters"] += 1
            continue
        named: dict[tuple[str | None, ...], list[Any]] = {}
        for member in members:
            named.setdefault(names_of(member[2], members, how), []).append(member)
        for pool in named.values():
            clusters = {cluster for cluster, _, _ in pool}
            if len(clusters) < how.min_clusters:
                cut["rules seen in too few clusters"] += 1
                continue
            text = text_of(pool, site, how)
            if text.startswith("rules "):
                cut[text] += 1
                continue
            figures = (len(clusters), sum(pairs for _, pairs, _ in pool))
            best[text] = max(best.get(text, (0, 0)), figures)
    return best, +cut


def names_of(group: Group, members: list[Any], how: Settings) -> tuple[str | None, ...]:
    """For each optional unit its text, if that is a name."""
    names: list[str | None] = []
    clusters = {cluster for cluster, _, _ in members}
    for unit, sort in enumerate(group.kinds):
        if sort != "optional":
            continue
        own = group.texts[unit]
        same = {cluster for cluster, _, other in members if other.texts[unit] == own}
        is_name = len(own) == 1 and len(same) * how.max_members >= len(clusters)
        is_name = is_name and len(same) >= how.min_clusters
        names.append(next(iter(own))[1] if is_name else None)
    return tuple(names)


def class_of(texts: set[str]) -> str:
    """The narrowest class of our language that all texts are of."""
    for name, pattern in (
        ("int", "[0-9]+"),
        ("alpha", "[A-Za-z]+"),
        ("hex", "[0-9A-Fa-f]+"),
        ("word", "[A-Za-z0-9_-]+"),
    ):
        if all(re.fullmatch(pattern, text) for text in texts):
            return name
    return ""


def beside(key: tuple[Any, ...]) -> list[int]:
    """The units that are the same in a cluster, with nothing but signs between words to one that varies."""
    plain = [item for item in key if item not in ("=-", "=_", "=+", "=%20")]
    units = [at for at, item in enumerate(plain) if item in ("same", "varies", "host")]
    return [
        number
        for number, at in enumerate(units)
        if plain[at] == "same" and "varies" in (plain[at + 1 : at + 2] + plain[max(0, at - 1) : at])
    ]


def around(texts: list[str]) -> tuple[str, str]:
    """What stands around the one number of each text, if that is the same in all."""
    numbered = {re.sub("[0-9]+", "0", text) for text in texts}
    before, zero, after = next(iter(numbered)).partition("0")
    return (before, after) if len(numbered) == 1 and zero and "0" not in after else ("", "")


class Words(NamedTuple):
    """What stands for a unit: on the left by form, on the right, and on both sides of a mask."""

    matching: list[str]
    writing: str | None
    mask: tuple[str, str] | None = None
    """Only for units that vary."""


Seen = list[tuple[int, int, str]]
"""Cluster, form and text, of one unit."""


def words_of(
    unit: int, sort: str, seen: Seen, clusters: int, numbers: list[int], how: Settings, *, is_beside: bool
) -> Words:
    """The words for one unit, which is not the scheme, in the forms with these numbers."""
    forms = len(numbers)
    texts = sorted({text for _, _, text in seen})
    few = len(texts) <= how.max_members
    kind = f":{class_of(set(texts))}".removesuffix(":")
    comes_back = all(len({cluster for cluster, _, other in seen if other == text}) > 1 for text in texts)
    can_list = few and (comes_back or len({cluster for cluster, _, _ in seen}) == 1)
    listed = f":{'|'.join(texts)}" if can_list else kind
    if sort in {"same", "host"}:
        if len(texts) == 1 and (sort == "host" or clusters > 1):
            return Words(texts * forms, texts[0])
        asked = kind if sort == "same" else listed if can_list else ""
        before, after = around(texts) if is_beside and kind in {":word", ""} else ("", "")
        asked = ":int" if before or after else asked
        return Words([f"{before}{{c{unit}{asked}}}{after}"] * forms, f"{before}{{c{unit}}}{after}")
    constant = constant_of(seen, numbers[0], how)
    if sort == "optional":
        return Words([texts[0] if len(texts) == 1 else f"{{*{listed}}}"] * forms, constant)
    by_form = [{text for _, form, text in seen if form == number} for number in numbers]
    if few and forms > 1 and all(len(each) == 1 for each in by_form):
        each_form = [next(iter(each)) for each in by_form]
        return Words(each_form, each_form[0])
    if constant is not None:
        return Words([f"{{*{listed}}}"] * forms, constant, (constant, constant))
    named = f"{{c{unit}{listed}}}"
    return Words([named] * forms, f"{{c{unit}}}", (named, f"{{c{unit}:any}}"))


def text_of(pool: list[Any], site: str, how: Settings) -> str:
    """The rules of a pool, a line each; or why there are none."""
    _, _, first = pool[0]
    sizes: dict[int, int] = {item[1]: len(item[2]) for item in first.key if isinstance(item, tuple)}
    forms = list(product(*(range(sizes[factor]) for factor in sorted(sizes))))
    numbers = forms_of(pool, first.key, forms)
    clusters = len({cluster for cluster, _, _ in pool})
    words = []
    for unit, sort in enumerate(first.kinds):
        seen = [(cluster, form, text) for cluster, _, group in pool for form, text in group.texts[unit]]
        is_beside = how.word_runs and sort == "same" and unit in beside(first.key)
        words.append(words_of(unit, sort, seen, clusters, numbers, how, is_beside=is_beside))
    if first.key[0] == "varies":
        words[0] = without_class(words[0])
    sides = sides_of(first.key, [forms[number] for number in numbers], words)
    if isinstance(sides, str):
        return sides
    lines = []
    for left, right in dict.fromkeys(sides):
        if left == right:
            continue
        try:
            lines.append(str(Rule(site, "rewrite", left or "", right)))
        except RuleError:
            return "rules that the language cannot say"
    return "\n".join(lines) or "rules that change nothing"


def forms_of(pool: list[Any], key: tuple[Any, ...], forms: list[tuple[int, ...]]) -> list[int]:
    """The numbers of the forms that have a rule, first the one that is written."""
    clusters: dict[int, set[int]] = {}
    for cluster, _, group in pool:
        for form in group.forms:
            clusters.setdefault(form, set()).add(cluster)
    most = max(map(len, clusters.values()))

    def length(number: int) -> int:
        return sum(len(item[2][forms[number][item[1]]]) for item in key if isinstance(item, tuple))

    frequent = [number for number in clusters if 2 * len(clusters[number]) >= most]
    target = min(frequent, key=lambda number: (length(number), number))
    others = range(len(forms)) if target == 0 else sorted(clusters)
    return [target, *(number for number in others if number != target)]


def without_class(scheme: Words) -> Words:
    """A scheme takes no class."""
    bare = [re.sub(r":[^}]*}", "}", text) for text in scheme.matching]
    mask = scheme.mask and (re.sub(r":[^}]*}", "}", scheme.mask[0]), scheme.mask[1])
    return Words(bare, scheme.writing, mask)


def sides_of(
    key: tuple[Any, ...], forms: list[tuple[int, ...]], words: list[Words]
) -> list[tuple[str | None, str | None]] | str:
    """Left and right sides of all rules: from each form to the first, and the mask."""
    target = spelled(key, forms[0], [each.writing for each in words])
    if target is None:
        return "rules without a text known to work"
    masks = [each.mask for each in words if each.mask]
    is_own = any(left == right for left, right in masks)
    sides: list[tuple[str | None, str | None]] = [
        (spelled(key, forms[number], [each.matching[number] for each in words]), target)
        for number in [*range(1, len(forms)), *([0] if is_own else [])]
    ]
    if any(left != right for left, right in masks):
        left = [each.mask[0] if each.mask else each.matching[0] for each in words]
        right = [each.mask[1] if each.mask else each.writing for each in words]
        sides.append((spelled(key, forms[0], left), spelled(key, forms[0], right)))
    return sides


def constant_of(seen: Seen, target: int, how: Settings) -> str | None:
    """The text that most clusters have in the form that is written, if those are enough."""
    written = [each for each in seen if each[1] == target] or seen
    by_text: dict[str, set[int]] = {}
    for cluster, _, text in written:
        by_text.setdefault(text, set()).add(cluster)
    best = min(by_text, key=lambda text: (-len(by_text[text]), text))
    enough = len(by_text[best]) > how.constant_share * len({cluster for cluster, _, _ in written})
    return best if enough else None


def spelled(key: tuple[Any, ...], form: tuple[int, ...], units: list[Any]) -> str | None:
    """One form of a skeleton with a text for each unit; None if one of them is missing."""
    fixed = iter(units)
    optional = iter(units[sum(item in ("same", "varies", "host") for item in key) :])
    said: list[str | None] = []
    for item in key:
        if isinstance(item, str):
            said.append(item[1:] if item.startswith("=") else next(fixed))
            continue
        for number, elements in enumerate(item[2]):
            texts = [element or next(optional) for element in elements]
            if number == form[item[1]]:
                said += texts
    return None if None in said else "".join(each or "" for each in said)
