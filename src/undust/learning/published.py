"""The published learners as proposers: late, on what the cheap proposals left, judged like any other.

Alone, each of them is timid or reckless on real sites. From current images, with www and session ids gone,
what they see is small and repeats itself, and their finds are judged by the state as everybody's are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.edits import is_somebodys
from undust.learning.differences import LONG_NAME
from undust.pages.clustering import find_in_site
from undust.proposing.papers import LEARNERS, propose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.learning.url_forms import UrlForms
    from undust.rules import Rule

_CANDIDATES = 300
"""The number of the best candidates of each learner."""
BOUNDS: dict[str, object] = {
    "tree.max_pairs": 3000,
    "tree.common": "target",
    "tree.salience": "site",
    "tree.min_pages": 1,
    "alignment.word_runs": False,
}
"""Options of the learners: no real site of ours has as many pairs, and a proposal needs no number of pages,
for it is proved later like any other. The other three are readings with fewer candidates, since what the
wider ones find is proposed here already, and the bound of the set is shared by all candidates (on one of
seven crawls they took 7 points from `undust learn`)."""
_CAPTURE = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[A-Za-z0-9]+")


def published(forms: UrlForms) -> Iterator[Rule]:
    """Yield what each learner proposes; of rules that belong together, each by itself."""
    forms = forms.usual
    if not forms.of_page:
        return
    seen = pa.table({"url": forms.urls, "cluster": [str(page) for page in forms.pages]})
    site = find_in_site(seen, forms.site)
    for learner in LEARNERS:
        for candidate in propose(site, [learner.name], BOUNDS)[learner.name].candidates[:_CANDIDATES]:
            yield from (rule for rule in candidate.rules if not _is_odd(rule))


def _is_odd(rule: Rule) -> bool:
    """Return whether a rule is not worth a trial."""
    return _grows(rule) or _has_a_name(rule) or is_somebodys(f"{rule.source} {rule.target}")


def _grows(rule: Rule) -> bool:
    """Return whether a rule finds again what it wrote: it never ends, and takes all its steps to show it."""
    return rule.kind == "replace" and rule.source in (rule.target or "")


def _has_a_name(rule: Rule) -> bool:
    """Return whether one side has a long word that the other has not: a page's own name, no scheme."""
    left, right = (set(_WORD.findall(_CAPTURE.sub(" ", side or ""))) for side in (rule.source, rule.target))
    return any(len(word) >= LONG_NAME for word in left ^ right)
