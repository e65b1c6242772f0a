"""pywb: `rules.yaml`, fuzzy lookups that find a page under its other URLs.

pywb looks for a URL by its key (`test,shop)/a?b=1`: no scheme, no `www.`, lower case, parameters sorted).
Where it finds nothing, a rule tells which other keys of the host will do. So a rule is written as the set of
all keys that are one page: an expression of the key asked for, and a filter of the keys that answer, into
which one piece of the key can be carried over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, ExportRefusal, Target, refuse
from undust.exchange.exports.expressible import CHANGES_KEY_ONLY
from undust.exchange.exports.expressions import CaptureGroup, is_of_class, run_of_class
from undust.exchange.exports.hosts import has_subdomains, hosts_of
from undust.exchange.exports.literals import escaped, path_literal, query_literal, quoted
from undust.exchange.exports.overlap import captured_as, image, may_meet
from undust.exchange.exports.queries import Query
from undust.exchange.exports.removals import same_host
from undust.exchange.exports.shields import LostKeeps
from undust.exchange.exports.statements import in_order
from undust.exchange.exports.steps import path_pieces
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Capture, Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.expressions import Pieces
    from undust.rules import Rule

_EXACT = (
    "lookups of URLs that pywb's keys keep apart: lower case, parameters sorted, no `www.`, no session ids;"
    " it finds the page under its other URLs, and does not say which to prefer"
)
_HEAD = "# Written by undust: add these rules to the rules.yaml of pywb.\nrules:\n"
_CARRIED = "{0}"


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the rules as YAML."""
    refused: list[ExportRefusal] = []
    lost_keeps = LostKeeps()
    found: list[tuple[ExportedRule, _Lookup]] = []
    for each in in_order(rules):
        try:
            lost_keeps.require_none_for(each)
            lookup = _Lookup(each.rule)
            for other, known in found:
                if each.rule.site == other.rule.site and lookup.meets(known):
                    refuse(f"rule {other.number} may send a URL on, and a lookup goes one step")
            found.append((each, lookup))
        except CannotExpress as error:
            refused.append(ExportRefusal(each.number, each.rule, str(error)))
            if each.rule.kind == "keep":
                lost_keeps.add(each)
    text = "".join(f"  # {each}\n{lookup.as_yaml()}" for each, lookup in found)
    return ExportedText(_HEAD + text if text else f"{_HEAD.rstrip()} []\n", tuple(refused))


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
        """Whether some URL may belong to both."""
        sides = [(one, two) for one in (self.source, self.image) for two in (other.source, other.image)]
        return any(may_meet(one, two) for one, two in sides)

    def _carried(self) -> str:
        """Return the expression of the one piece that both forms share; it stands in a filter as it is."""
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
            refuse("its parameters may stand in any order")
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
            refuse("its parameters may stand in any order")
        return path + (rf"\?{entries[0]}" if entries else "")

    def as_yaml(self) -> str:
        """Return a lookup for each form in which the page may be asked for."""
        start = rf"{','.join(map(escaped, reversed(self.site.split('.'))))}(?:,[^):]*)?(?::[0-9]+)?\)"
        either = f"(?:{self.forms[0]}|{self.forms[1]})"
        prefix = ",".join(reversed(self.site.split(".")))
        texts = []
        for form in self.forms:
            asked = _single(form).replace(_CARRIED, f"({self.carried})")
            asked = asked if self.carried else f"{asked}()"
            texts.append(
                f"  - url_prefix: {quoted(prefix)}\n    fuzzy_lookup:\n"
                f"      match: {quoted(f'^{start}{asked}$')}\n      type: host\n      filter:\n"
                f"        - {quoted(f'~urlkey:{_doubled(start)}{either}$')}\n"
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


PYWB = Target("pywb", "fuzzy lookups for the rules.yaml of pywb", _EXACT, write)
