"""pywb: `rules.yaml`, fuzzy lookups that find a page under its other URLs.

pywb looks for a URL by its key (`test,shop)/a?b=1`: no scheme, no `www.`, lower case, parameters sorted).
Where it finds nothing, a rule names other keys of the host to try. So a rule is written as the set of
all keys that are one page: an expression of the key asked for, and a filter of the keys that answer, into
which one piece of the key can be carried over.

A rule that only removes parameters is a lookup of its own kind:

    asked for   test,shop)/a?id=7&sid=9&utm_source=x      the key of a URL that was not captured
    answers     test,shop)/a?id=7                         the key without the parameters that are removed

It compares one piece of the key that was asked for with whole keys, as a text and not as an expression.
So it can remove what is at the end of the key. pywb sorts parameters by name: a parameter that is
before another one in this order is not removed, and the lookup finds nothing.

pywb takes the first lookup that fits. Its own rules.yaml ends with one that fits every URL, so these lookups
have to be at the top of the list of rules; `into_rules_file` puts them there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING

from undust.errors import CannotExpress, RuleError
from undust.exchange.exports.contract import ExportedText, ExportRefusal, Target, refuse
from undust.exchange.exports.expressible import CHANGES_KEY_ONLY
from undust.exchange.exports.expressions import (
    CaptureGroup,
    escaped,
    is_of_class,
    path_literal,
    query_literal,
    quoted,
    run_of_class,
)
from undust.exchange.exports.hosts import has_subdomains, hosts_of
from undust.exchange.exports.overlap import PathIndex, captured_as, image, may_meet
from undust.exchange.exports.queries import Query
from undust.exchange.exports.removals import Removal, removals, same_host
from undust.exchange.exports.rule_order import LostKeeps
from undust.exchange.exports.statements import in_order
from undust.exchange.exports.steps import path_pieces
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Capture, Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.expressions import Pieces
    from undust.rules import Rule

ANY_HOST = r"[^)]*\)"
_FIRST_CHARACTERS = [*"0123456789abcdefghijklmnopqrstuvwxyz"]
"""With which the key of any host starts; an empty prefix would have pywb apply filters of its own."""


def removal_of(each: ExportedRule) -> Removal | None:
    """Return the removal that a rule is; None for a rule that does something else. Refuses some removals."""
    found, _ = removals([each], _accept)
    if not found:
        return None
    if any(name != name.lower() for name in found[0].names):
        refuse("pywb's keys are in lower case")
    for site in (each.rule.site, *each.rule.except_sites):
        if site != ANY_SITE:
            hosts_of(site)
            if not has_subdomains(site):
                refuse("it is not for the hosts of one registered domain")
    return found[0]


def _accept(_: Removal) -> None:
    """Take every removal."""


def require_other_names(removal: Removal, read: dict[str, int]) -> None:
    """Refuse a removal of a parameter that a lookup of another rule reads; `read` has the place of each."""
    if removal.keeps or removal.prefixes:
        is_removed = re.compile(_parameter(removal))
        met: Iterable[str] = (name for name in read if is_removed.fullmatch(f"{name}="))
    else:
        met = sorted(read.keys() & removal.names, key=read.__getitem__)
    for name in met:
        refuse(f"another rule reads the parameter {name}, and a lookup goes one step")


def as_lookups(found: Sequence[Removal]) -> Iterator[str]:
    """Yield one lookup for each site, with all parameters that its rules remove."""
    by_site = sorted(found, key=lambda each: (each.rule.site == ANY_SITE, each.rule.site))
    for site, group in groupby(by_site, key=lambda each: each.rule.site):
        own = list(group)
        # A site has one lookup: the first that fits. So it removes what rules of all sites remove too.
        shared = [each for each in found if each.rule.site == ANY_SITE and site not in each.rule.except_sites]
        yield _lookup(site, own if site == ANY_SITE else own + shared, own)


def _lookup(site: str, removing: Sequence[Removal], own: Sequence[Removal]) -> str:
    either = "|".join(dict.fromkeys(map(_parameter, removing)))
    start = ANY_HOST if site == ANY_SITE else host_expression(site)
    excepted = "".join(f"(?!{host_expression(each)})" for each in _excepted(own)) if site == ANY_SITE else ""
    match = rf"^({excepted}{start}[^?]*(?:\?[^&]*(?:&[^&]*)*?)??)[?&](?:{either})(?:&(?:{either}))*$"
    prefixes = _FIRST_CHARACTERS if site == ANY_SITE else [prefix_of(site)]
    comments = "".join(f"  # {each.numbered}\n" for each in own)
    return (
        f"{comments}  - url_prefix: [{', '.join(map(quoted, prefixes))}]\n    fuzzy_lookup:\n"
        f"      match: {quoted(match)}\n      type: host\n      filter:\n        - {quoted('=urlkey:{0}')}\n"
    )


def _excepted(own: Sequence[Removal]) -> list[str]:
    return sorted({site for each in own for site in each.rule.except_sites})


def _parameter(removal: Removal) -> str:
    """Return the expression of a parameter that is removed, with its value."""
    names = [
        escaped(name.removesuffix("*")) + ("[^=&]*" if name.endswith("*") else "") for name in removal.names
    ]
    if not removal.keeps:
        return f"(?:{'|'.join(names)})(?:=[^&]*)?"
    return f"(?!(?:{'|'.join(names)})(?:[=&]|$))[^&]*" if names else "[^&]*"


def prefix_of(site: str) -> str:
    """Return with which the keys of a site start."""
    return ",".join(reversed(site.split(".")))


def host_expression(site: str) -> str:
    """Return the expression of the start of a key, up to the path, for all hosts of a site."""
    return rf"{escaped(prefix_of(site))}(?:,[^):]*)?(?::[0-9]+)?\)"


_EXACT = (
    "lookups of URLs that pywb's keys keep apart: lower case, parameters sorted, no `www.`, no session ids;"
    " it finds the page under its other URLs, and does not say which to prefer; a parameter is removed where"
    " it sorts behind those that stay"
)
_HEAD = """\
# Written by undust, for pywb: name this file in config.yaml (rules_file: rules.yaml).
# It has none of pywb's own rules; 'undust export --base FILE' writes these rules into pywb's rules.yaml.
default_filters:
  fuzzy_search_limit: '100'
  not_exts: []
  mimes: []
  url_normalize: []
"""
"""What pywb does not start without."""
_LIST = "rules:"
_CARRIED = "{0}"


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the rules as YAML."""
    refused: list[ExportRefusal] = []
    lost_keeps = LostKeeps()
    found: list[tuple[ExportedRule, _Lookup]] = []
    removed: list[Removal] = []
    indexes: defaultdict[str, PathIndex] = defaultdict(PathIndex)
    led_to: set[tuple[tuple[str, str, str], Pattern]] = set()
    for each in in_order(rules):
        try:
            each.require_taken()
            lost_keeps.require_none_for(each)
            removal = removal_of(each)
            if removal is not None:
                removed.append(removal)
                continue
            lookup = _Lookup(each.rule)
            index = indexes[each.rule.site]
            near = {place for side in lookup.sides for place in index.candidates(side)}
            for other, known in (found[place] for place in sorted(near)):
                if lookup.meets(known):
                    refuse(f"rule {other.number} may send a URL on, and a lookup goes one step")
            index.add(lookup.source, len(found))
            # Of those that lead to one form, the first is enough.
            if (lookup.family, lookup.image) not in led_to:
                led_to.add((lookup.family, lookup.image))
                index.add(lookup.image, len(found))
            found.append((each, lookup))
        except CannotExpress as error:
            refused.append(ExportRefusal(each.number, each.rule, str(error)))
            if each.rule.kind == "keep":
                lost_keeps.add(each)
    patterns = [side for _, lookup in found for side in (lookup.source, lookup.target)]
    said, more = _apart(removed, patterns)
    families: defaultdict[tuple[str, str, str], list[_Lookup]] = defaultdict(list)
    for _, lookup in found:
        families[lookup.family].append(lookup)
    text = "".join(
        f"  # {each}\n{lookup.as_yaml(families[lookup.family], each.number)}" for each, lookup in found
    )
    text += "".join(as_lookups(said))
    return ExportedText(f"{_HEAD}{_LIST}\n{text}" if text else f"{_HEAD}{_LIST} []\n", (*refused, *more))


def _apart(
    removed: Sequence[Removal], patterns: Sequence[Pattern]
) -> tuple[list[Removal], list[ExportRefusal]]:
    """Return the removals that no lookup depends on, and the others with reasons."""
    entries = [entry for pattern in patterns for entry in pattern.query or () if not entry.several]
    read = {name: place for place, name in enumerate(dict.fromkeys(entry.name for entry in entries))}
    said: list[Removal] = []
    refused: list[ExportRefusal] = []
    for each in removed:
        try:
            require_other_names(each, read)
            said.append(each)
        except CannotExpress as error:
            refused.append(ExportRefusal(each.numbered.number, each.rule, str(error)))
    return said, refused


def into_rules_file(base: str, text: str) -> str:
    """Return a rules.yaml of pywb with exported rules at the top of its list of rules."""
    head, found, rest = base.partition(f"\n{_LIST}\n")
    if not found:
        message = "there is no line 'rules:' in it; give the rules.yaml of pywb"
        raise RuleError(message)
    own = text.partition(f"\n{_LIST}\n")[2]
    # A list goes on with the indentation of its first item.
    indent = re.search(r"^( *)- ", rest, re.MULTILINE)
    wider = " " * (len(indent[1]) if indent else 2)
    shifted = "".join(f"{wider}{line.removeprefix('  ')}\n" for line in own.splitlines())
    return f"{head}{found}{shifted}{rest}"


class _Lookup:
    """One rule as a set of keys."""

    def __init__(self, rule: Rule) -> None:
        if rule.kind != "rewrite" or rule.when or rule.unless:
            refuse("a lookup has no word for it")
        if ":any}" in (rule.target or ""):
            refuse(CHANGES_KEY_ONLY)
        if rule.site == ANY_SITE or not has_subdomains(rule.site):
            refuse("it is not for the hosts of one registered domain")
        hosts_of(rule.site)
        self.site = rule.site
        self.source = Pattern.parse(rule.source)
        self.target = Pattern.parse(rule.target or "")
        self.image = image(self.source, self.target)
        if not same_host(self.source, self.target):
            refuse("it changes the host, or is for some hosts only, and a lookup stays on the host")
        self.carried = self._carried()
        self.forms = (self._source_form(), self._target_form())
        if may_meet(self.image, self.source) or self.forms[0] == self.forms[1]:
            refuse("what it writes may be found again by itself, and a lookup goes one step")
        if any(form != form.lower() for form in self.forms):
            refuse("pywb's keys are in lower case")

    def meets(self, other: _Lookup) -> bool:
        """Whether some URL may belong to both, other than by one target that both lead to."""
        sides = [(self.source, other.source), (self.source, other.image), (self.image, other.source)]
        if self.family != other.family:
            sides.append((self.image, other.image))
        return any(may_meet(one, two) for one, two in sides)

    @property
    def sides(self) -> tuple[Pattern, Pattern]:
        """What it matches, and what it leads to."""
        return self.source, self.image

    @property
    def family(self) -> tuple[str, str, str]:
        """What those share that lead to one form, so that the pages of all their forms are the same."""
        return self.site, self.forms[-1], self.carried

    def _carried(self) -> str:
        """Return the expression of the one piece that both forms share; a filter has it unchanged."""
        refs = [p for segment in self.target.path or () for p in segment if isinstance(p, Capture)]
        refs += [p for entry in self.target.query or () for p in entry.value or () if isinstance(p, Capture)]
        if any(entry.several for entry in self.target.query or ()):
            refuse("it keeps other parameters, and a lookup carries one piece over")
        names = {ref.name for ref in refs}
        if len(names) > 1 or len(refs) > 1 or any(ref.detail for ref in refs):
            refuse("a lookup carries one piece over, as it is")
        if not refs:
            return ""
        detail = captured_as(self.source)[refs[0].name or ""][1].detail
        if detail is None or not is_of_class(detail):
            refuse("a piece that is carried over must have a class, such as int or word")
        return run_of_class(detail).replace("A-Za-z", "a-z").replace("A-F", "")

    def _source_form(self) -> str:
        names = {p.name for segment in self.target.path or () for p in segment if isinstance(p, Capture)}
        names |= {p.name for e in self.target.query or () for p in e.value or () if isinstance(p, Capture)}
        used = {name for name in names if name is not None}
        variants = Query(self.source.query or (), (), used, lean=True).variants()
        if len(variants) > 1:
            refuse("its parameters may be in any order")
        return _printed((*path_pieces(self.source.path or ((),), used, lean=True), *variants[0][0]))

    def _target_form(self) -> str:
        path = "".join(
            "/"
            + "".join(
                _CARRIED if isinstance(p, Capture) else _doubled(escaped(path_literal(p))) for p in segment
            )
            for segment in self.target.path or ((),)
        )
        entries = [
            _doubled(escaped(query_literal(entry.name)))
            + ("" if entry.value is None else "=")
            + "".join(
                _CARRIED if isinstance(p, Capture) else _doubled(escaped(query_literal(p)))
                for p in entry.value or ()
            )
            for entry in self.target.query or ()
        ]
        if len(entries) > 1:
            refuse("its parameters may be in any order")
        return path + (rf"\?{entries[0]}" if entries else "")

    def as_yaml(self, family: Sequence[_Lookup], number: int) -> str:
        """Return a lookup for each form in which a page may be asked for; of a family, the first has all."""
        if family[0] is not self:
            return ""
        forms = [*(each.forms[0] for each in family), self.forms[1]]
        start = host_expression(self.site)
        answers = quoted(f"~urlkey:{_doubled(start)}(?:{'|'.join(forms)})$")
        # The forms of many rules are written once, or the file would grow with the square of the rules.
        first, others = (f"&rule{number} {answers}", f"*rule{number}") if len(family) > 1 else (answers,) * 2
        texts: list[str] = []
        for form in forms:
            asked = _single(form).replace(_CARRIED, f"({self.carried})")
            asked = asked if self.carried else f"{asked}()"
            texts.append(
                f"  - url_prefix: {quoted(prefix_of(self.site))}\n    fuzzy_lookup:\n"
                f"      match: {quoted(f'^{start}{asked}$')}\n      type: host\n      filter:\n"
                f"        - {others if texts else first}\n"
            )
        return "".join(texts)


def _printed(pieces: Pieces) -> str:
    return "".join(_CARRIED if isinstance(piece, CaptureGroup) else _doubled(piece) for piece in pieces)


def _doubled(text: str) -> str:
    # pywb fills a filter with str.format, in which braces stand for themselves when they are doubled.
    return text.replace("{", "{{").replace("}", "}}")


def _single(text: str) -> str:
    kept = text.replace(_CARRIED, "\0")
    return kept.replace("{{", "{").replace("}}", "}").replace("\0", _CARRIED)


PYWB = Target("pywb", "fuzzy lookups: a rules.yaml for pywb", _EXACT, write, into=into_rules_file)
