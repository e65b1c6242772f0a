"""Which rules are in effect: the active ones whose needs are met.

A rule may be safe only together with others: a removal with the `keep` that protects an edit form. It
names them in `needs`, and is out of effect as long as one of them is. The answer is the largest set of
active rules in which every need is met, so rules that need each other are in effect together or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.rules.files import said_by
from undust.rules.language import ANY_SITE, identity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from undust.rules.language import Rule


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
